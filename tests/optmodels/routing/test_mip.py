"""The integer program of words of a period against all necklaces, and against what is best over all periods."""

import math

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csc_array

import optmodels as om
from heuristics import Status
from optmodels.costs import Lexicographic, Limits, WeightedSum
from optmodels.mip import compile_model
from optmodels.mip.solvers import SOLVERS
from optmodels.routing import LinearExponential, Power, RoutingProblem, Table
from optmodels.routing import mip as program
from optmodels.routing.counting import Counts
from optmodels.routing.mip import plan_of

LAWS = (
    1.0,
    {"law": "deterministic", "interval": 1.0},
    {"law": "samples", "values": [0.2, 1.0, 3.0]},
    {"law": "erlang", "stages": 2, "mean": 1.0},
    {"law": "mmpp", "generator": [[-0.2, 0.2], [0.5, -0.5]], "rates": [0.5, 3.0]},
    {"law": "trace", "values": [0.5, 2.0, 0.1, 1.4]},
)

#: Ten phases one after another: nearly constant, so that losses are far from convex.
ERLANG = om.erlang(10, 3.0)


def solved(problem):
    """Least objective and decision by the model and scipy; None where the model has no solution."""
    compiled = compile_model(problem.to_pyomo())
    made, unit = compiled.program.in_unit()
    matrix = csc_array((made.values, made.rows, made.starts), shape=made.shape)
    answer = milp(
        made.cost,
        integrality=made.whole.astype(int),
        bounds=Bounds(made.column_lower, made.column_upper),
        constraints=LinearConstraint(matrix, made.row_lower, made.row_upper),
        options={"mip_rel_gap": 0.0},
    )
    if answer.status == 2:
        return None, None
    word = problem.space.check(problem.from_pyomo(compiled.load(answer.x)))
    return unit * (answer.fun + made.offset), word


def enumerated(problem):
    """Least objective of all necklaces."""
    judged = problem.evaluate_many(list(problem.space))
    return min((one.objective for one in judged if one.feasible), default=math.inf)


def agree(problem):
    best, (found, word) = enumerated(problem), solved(problem)
    if math.isinf(best):
        assert found is None and plan_of(problem).known is None
        return
    judged = problem.evaluate(word)
    assert judged.feasible
    assert judged.objective == pytest.approx(best, rel=1e-9, abs=1e-300)
    assert found == pytest.approx(best, rel=1e-6, abs=1e-300)


def random_served(rng):
    """Servers with rates and weights over decades, some of weight zero, some equal, some with phases."""
    servers, period = int(rng.integers(1, 5)), int(rng.integers(1, 9))
    rates, weights = 10.0 ** rng.uniform(-1.5, 1.5, servers), 10.0 ** rng.uniform(-3, 3, servers)
    weights[rng.random(servers) < 0.15] = 0.0
    entries = [{"rate": rate, "weight": weight} for rate, weight in zip(rates, weights, strict=True)]
    for m in range(servers):
        chance = rng.random()
        if chance < 0.2:
            entries[m] = {"service": ERLANG, "weight": float(weights[m])}
        elif chance < 0.5:
            entries[m] = dict(entries[int(rng.integers(servers))])
    return entries, period


@pytest.mark.parametrize("seed", range(24))
def test_no_necklace_is_better(seed):
    rng = np.random.default_rng(seed)
    servers, period = random_served(rng)
    arrivals, application = LAWS[seed % len(LAWS)], ("loss", "freshness")[seed // len(LAWS) % 2]
    agree(RoutingProblem(servers=servers, arrivals=arrivals, application=application, period=period))


def random_gap_cost(rng):
    kind, factor = rng.integers(3), 10.0 ** rng.uniform(-2, 2)
    if kind == 0:
        return Power(factor, float(rng.choice([1.0, 1.5, 2.0])))
    if kind == 1:
        return LinearExponential(rng.normal(), rng.normal(), factor, rng.uniform(-0.5, 1.0))
    steps = np.sort(rng.normal(size=4))
    return Table(tuple(np.cumsum(steps).tolist()), slope=float(steps[-1]) + abs(rng.normal()))


@pytest.mark.parametrize("seed", range(14))
def test_no_necklace_is_better_where_gaps_have_costs_of_their_own(seed):
    rng = np.random.default_rng(1000 + seed)
    costs = [random_gap_cost(rng) for _ in range(rng.integers(1, 5))]
    if seed % 3 == 0:
        costs[-1] = costs[0]
    slopes = [cost.slope if rng.random() < 0.9 else math.nan for cost in costs]
    agree(RoutingProblem.of_costs(costs, slopes=slopes, period=int(rng.integers(1, 8))))


@pytest.mark.parametrize("weight", [1e-200, 1e200])
def test_any_unit_will_do(weight):
    servers = [{"rate": rate, "weight": weight} for rate in (0.3, 1.0, 1.0, 4.0)]
    problem = RoutingProblem(servers=servers, arrivals=1.0, application="freshness", period=6)
    agree(problem)


@pytest.mark.parametrize(
    "cost",
    [WeightedSum({"cost": 3.0}), WeightedSum({"cost": -1.0}), WeightedSum({"cost": 2.0, "period": 5.0})],
    ids=["dearer", "worst", "period"],
)
def test_prices_of_measures_are_in_the_model(cost):
    servers = [0.3, 1.0, 1.0, 4.0]
    for application in ("loss", "freshness"):
        agree(RoutingProblem(servers=servers, arrivals=1.0, application=application, period=6, cost=cost))


def test_only_the_period_has_a_price():
    cost = WeightedSum({"period": 2.0})
    agree(RoutingProblem(servers=[0.3, 1.0], arrivals=1.0, application="loss", period=4, cost=cost))


def limited(**limits):
    return RoutingProblem(
        servers=[0.3, 1.0, 4.0], arrivals=1.0, application="loss", period=7, limits=Limits.from_data(limits)
    )


def test_limits_are_in_the_model():
    free = enumerated(limited())
    agree(limited(cost={"max": free}))
    agree(limited(cost={"max": 1.1 * free}, period={"min": 7, "max": 7}))
    agree(limited(cost={"min": 1.05 * free}))
    agree(limited(cost={"min": 1.05 * free, "max": 1.2 * free}))
    for infeasible in (limited(cost={"max": 0.99 * free}), limited(period=6), limited(period={"min": 8})):
        agree(infeasible)


def test_servers_that_must_be_used_are_more_than_slots():
    problem = RoutingProblem.of_costs([Power(), Power(2.0), Power(3.0)], period=2)
    agree(problem)
    assert om.solve(problem, "highs").status is Status.INFEASIBLE


def test_a_loss_that_is_not_convex_is_solved_all_the_same():
    problem = RoutingProblem(servers=[ERLANG, ERLANG, 0.5], arrivals=1.0, application="loss", period=9)
    assert problem.not_convex is not None
    agree(problem)
    assert om.solve(problem, "highs").status is Status.OPTIMAL


@pytest.mark.parametrize("solver", ["highs", "scip", "cpsat"])
@pytest.mark.parametrize("application", ["loss", "freshness"])
def test_the_strategy_proves_it_with_every_solver(solver, application):
    if SOLVERS[solver].missing(solver):
        pytest.skip(f"{solver} is not installed")
    problem = RoutingProblem(servers=[0.5, 1.0, 1.0, 4.0], arrivals=1.0, application=application, period=8)
    result = om.solve(problem, f"highs:solver={solver}")
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(enumerated(problem), rel=1e-9)


# -- numbers of packets ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_bounds_by_numbers_hold_for_every_necklace(seed):
    rng = np.random.default_rng(2000 + seed)
    servers, period = random_served(rng)
    period = min(period, 7)
    problem = RoutingProblem(servers=servers, arrivals=LAWS[seed % 6], application="loss", period=period)
    counts = Counts(problem.costs.table(period) / period, problem.costs.slopes)
    numbers, gaps = counts.with_number(), counts.with_gap()
    seen_numbers, seen_gaps = np.full(numbers.shape, np.inf), np.full(gaps.shape, np.inf)
    for word in problem.space:
        value = problem.evaluate(word).objective
        slack = 1e-12 * max(server.weight for server in problem.servers)
        assert counts.bound <= value + slack
        told = problem.describe(word)["gaps"]
        for m in range(problem.server_count):
            n = word.count(m)
            assert numbers[m, n] <= value + slack
            seen_numbers[m, n] = min(seen_numbers[m, n], value)
            for gap in map(int, told[m]):
                assert gaps[m, gap - 1] <= value + slack
                seen_gaps[m, gap - 1] = min(seen_gaps[m, gap - 1], value)
    assert sum(counts.best()) == period
    total = sum(counts.least[m, n] for m, n in enumerate(counts.best()))
    assert total == pytest.approx(counts.bound, rel=1e-12)
    if problem.server_count > 1:  # every number was looked at, and every gap
        assert np.isfinite(seen_numbers).all() and np.isfinite(seen_gaps).all()


def test_what_is_dearer_than_a_known_word_is_left_out():
    problem = RoutingProblem(servers=[0.3, 1.0, 4.0], arrivals=1.0, application="loss", period=20)
    plan = plan_of(problem)
    assert problem.evaluate(plan.known).objective == pytest.approx(0.09450381502864058, rel=1e-12)
    assert (plan.fewest, plan.most) == ([2, 6, 12], [2, 6, 12])
    assert plan.words.gaps == [[10], [3, 4], [1, 2]]
    assert plan.order == [0]


# -- start -------------------------------------------------------------------------------------------------------------


def test_every_word_that_is_good_enough_is_a_point_of_the_model(monkeypatch):
    monkeypatch.setattr(program, "good_word", lambda *arguments: None)  # then all words are
    problem = RoutingProblem(servers=[1.0, 1.0, 4.0], arrivals=1.0, application="loss", period=6)
    compiled = compile_model(problem.to_pyomo())
    assert plan_of(problem).known is None
    for word in problem.space:
        problem.start_pyomo(compiled.model, word)
        point = compiled.point()
        assert compiled.program.broken_row(point) is None
        assert compiled.program.objective(point) == pytest.approx(problem.evaluate(word).objective, rel=1e-9)
        assert problem.evaluate(problem.from_pyomo(compiled.model)).objective == pytest.approx(
            problem.evaluate(word).objective, rel=1e-12
        )
    agree(RoutingProblem(servers=[1.0, 1.0, 4.0], arrivals=1.0, application="loss", period=6))


def test_a_word_that_is_dearer_than_the_known_one_is_no_start():
    problem = RoutingProblem(servers=[0.3, 1.0, 4.0], arrivals=1.0, application="loss", period=12)
    compiled = compile_model(problem.to_pyomo())
    problem.start_pyomo(compiled.model, (0,) * 12)
    assert compiled.point() is None


def test_the_solver_starts_from_the_known_word():
    problem = RoutingProblem(servers=[0.5, 1.0, 1.5, 2.0, 4.0], arrivals=1.0, application="loss", period=10)
    result = om.solve(problem, "highs")
    known = problem.evaluate(plan_of(problem).known).objective
    assert result.extra["solver"]["start"] == pytest.approx(known, rel=1e-12)
    assert result.status is Status.OPTIMAL


def test_no_time_is_enough_for_an_answer():
    problem = RoutingProblem(servers=[0.5, 1.0, 4.0], arrivals=1.0, application="loss", period=150)
    result = om.solve(problem, "highs", seconds=0.01)
    assert result.status is Status.FEASIBLE
    assert (len(result.decision), result.stopped_by) == (150, "seconds")


# -- over all periods --------------------------------------------------------------------------------------------------


def test_no_period_beats_the_minimum_mean_cycle_and_its_own_meets_it():
    servers = [0.5, 1.0, 2.0, 4.0]
    least = om.solve(RoutingProblem(servers=servers, arrivals=1.0, application="loss"), "min-mean-cycle")
    assert least.status is Status.OPTIMAL and len(least.decision) == 10
    for period in range(1, 13):
        problem = RoutingProblem(servers=servers, arrivals=1.0, application="loss", period=period)
        found, _ = solved(problem)
        if period == 10:
            assert found == pytest.approx(least.objective, rel=1e-9)
        else:
            assert found > least.objective * (1 + 1e-9)


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({}, "set data.period, or take min-mean-cycle"),
        ({"max_period": 9}, r"Set data.period instead of data.max_period \(sweep --vary data.period=1..9"),
        ({"period": 259}, r"3 x 259 x 259 = 201243 gaps, and 200000 are the limit: a period of 258 slots"),
        ({"period": 4, "cost": Lexicographic(("cost", "period"))}, "take|use a search|linear"),
    ],
    ids=["free", "longest", "large", "cost"],
)
def test_what_the_model_cannot_say_is_named_with_what_can(more, sentence):
    problem = RoutingProblem(servers=[0.3, 1.0, 4.0], arrivals=1.0, application="loss", **more)
    with pytest.raises(om.UnsupportedProblem, match=sentence):
        om.solve(problem, "highs")
    if problem.algebraic_refusal():
        with pytest.raises(ValueError, match="the model of 'routing'"):
            problem.to_pyomo()
