"""The program of occupation measures against all policies, evaluated one by one, and against policy iteration."""

import math

import numpy as np
import pytest

pytest.importorskip("pyomo")

from heuristics import Budget, BudgetSpent, Oracle, Status, UnsupportedProblem, refusal
from optmodels import load, solve
from optmodels.costs import Limits
from optmodels.mip import Highs, compile_model
from optmodels.mip import load as load_program
from optmodels.robots import RobotFleetProblem, RobotsProblem
from optmodels.robots.mip import build, deciding, read, refuses, start
from optmodels.robots.mip.plan import Plan
from queueing.robots.fleet import chain_of, closed_classes, moves_of, shares_from_start
from queueing.robots.fleet.stationary import reachable

AVERAGES = ("starvation", "loss_rate", "active_robots", "mean_length", "response_time")

#: The cheapest mixture of two closed classes costs 0.8040, the best policy 0.9600.
MIXED = {"robots": 6, "capacity": 2, "arrival_rate": 0.701, "service_rate": 1.0}
MIXED_LIMITS = {"mean_length": {"max": 0.744}}


def drawn(rng, sort):
    """A constructor, data and prices: few policies, rates over two decades, or six where they are wide."""
    weights = {"starvation": 10 ** rng.uniform(-2, 2)}
    for name, share in (("mean_length", 0.4), ("active_robots", 0.3), ("loss_rate", 0.3)):
        if rng.random() < share:
            weights[name] = 10 ** rng.uniform(-3, 1)
    service = 10 ** rng.uniform(-3, 3)
    rate = service * 10 ** rng.uniform(*((-3, 3) if sort == "wide" else (-1, 1)))
    queue = {"capacity": 2, "service_rate": service}
    few, alone = {"robots": int(rng.integers(1, 3)), "arrival_rate": rate}, {"robots": 1, "arrival_rate": rate}
    fields = {
        "base": {"robots": int(rng.integers(1, 4)), "capacity": int(rng.integers(2, 4)), "arrival_rate": rate},
        "any": few | {"switching": "any"},
        "classes": {"classes": [alone, {"robots": 1, "arrival_rate": service * 10 ** rng.uniform(-1, 1)}]},
        "environment": alone
        | {
            "environment": {
                "generator": [[-0.3 * service, 0.3 * service], [0.7 * service, -0.7 * service]],
                "factors": [1.0, float(rng.choice([0.0, 0.3, 3.0]))],
            }
        },
        "journeys": {
            "robots": int(rng.integers(1, 3)),
            "travel_time": {"initial": [0.6, 0.4], "generator": [[-rate, rate * 0.8], [0.0, -2 * rate]]},
        },
    }
    base = sort in ("base", "wide")
    return (RobotsProblem if base else RobotFleetProblem), queue | fields["base" if base else sort], weights


def limits_among(evaluations, rng):
    """One or two limits: at the very value of a policy, near one, or beyond all."""
    found = {}
    names = (*AVERAGES, "most_robots", "fewest_robots")
    for name in rng.choice(names, size=int(rng.integers(1, 3)), replace=False).tolist():
        values = sorted(one.measures[name] for one in evaluations if one.measures[name] is not None)
        side = {"most_robots": "max", "fewest_robots": "min"}.get(name, "max" if rng.random() < 0.8 else "min")
        value = values[int(rng.integers(len(values)))]
        if name in AVERAGES and rng.random() < 0.4:
            value = values[0] * 0.9 if side == "max" and rng.random() < 0.3 else value * rng.uniform(0.95, 1.05)
        found[name] = {side: float(value)}
    return Limits.from_data(found)


def compared_with_enumeration(sort, seed, count):
    """Solve random limited problems; return how many were infeasible, after all answers were found right."""
    rng = np.random.default_rng(seed)
    infeasible = 0
    for _ in range(count):
        make, data, weights = drawn(rng, sort)
        free = make(cost=weights, **data)
        evaluations = [free.evaluate(decision) for decision in free.space]
        limits = limits_among(evaluations, rng)
        told = (data, weights, limits.by_measure)
        kept = [one.objective for one in evaluations if not limits.violations(one.measures)]
        answer = solve(make(cost=weights, limits=limits, **data), "highs")
        if not kept:
            infeasible += 1
            assert answer.status == Status.INFEASIBLE, told
            continue
        assert answer.objective == pytest.approx(min(kept), rel=1e-7), told
        if min(kept) > 1e-7 * max(weights.values()):  # less is nothing to a solver
            assert answer.status == Status.OPTIMAL, told
    return infeasible


@pytest.mark.parametrize(
    ("sort", "seed", "count"),
    [
        ("base", 101, 5),
        ("wide", 102, 5),
        ("any", 103, 3),
        ("classes", 104, 2),
        ("environment", 105, 2),
        ("journeys", 106, 2),
    ],
)
def test_the_optimum_under_limits_is_that_of_all_policies_judged(sort, seed, count):
    assert compared_with_enumeration(sort, seed, count) < count


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("sort", ["base", "wide", "any", "classes", "environment", "journeys"])
def test_the_optimum_under_limits_is_that_of_all_policies_judged_100_times(sort):
    assert 0 < compared_with_enumeration(sort, 7, 100) < 100


@pytest.mark.parametrize(("sort", "seed"), [("base", 1), ("wide", 2), ("any", 3), ("classes", 4), ("environment", 5)])
def test_without_limits_the_linear_program_ends_where_policy_iteration_does(sort, seed):
    rng = np.random.default_rng(seed)
    for _ in range(2):
        make, data, weights = drawn(rng, sort)
        problem = make(cost=weights, **data)
        answer = solve(problem, "highs")
        assert answer.extra["solver"]["whole_columns"] == 0
        assert answer.objective == pytest.approx(solve(problem, "policy-iteration").objective, rel=1e-8)
        assert answer.bound == pytest.approx(answer.objective, rel=1e-7)


@pytest.mark.parametrize(
    ("robots", "capacity", "rate", "weights"),
    [
        (5, 7, 0.02442, {"starvation": 0.1119}),
        (1, 8, 0.004112372377360166, {"starvation": 0.03933616854555225, "mean_length": 0.00910780126051821}),
        (3, 3, 1e-4, {"starvation": 1.0}),  # what rare states do cannot be read off the solver's digits
    ],
)
def test_slow_robots_whose_states_are_hardly_ever_left_are_controlled_best(robots, capacity, rate, weights):
    problem = RobotsProblem(robots=robots, capacity=capacity, arrival_rate=rate, service_rate=1.0, cost=weights)
    answer = solve(problem, "highs")
    assert answer.status == Status.OPTIMAL
    assert answer.objective == pytest.approx(solve(problem, "policy-iteration").objective, rel=1e-9)


def test_a_limit_that_one_policy_just_keeps_excludes_it_from_no_model():
    """With rows as tight as the limit, HiGHS's presolve took the next best policy, which costs 2009.88."""
    world = {"generator": [[-179.47930876363702, 179.47930876363702], [418.78505378181967, -418.78505378181967]]}
    problem = RobotFleetProblem(
        robots=1,
        capacity=2,
        arrival_rate=3590.1752819694475,
        service_rate=598.2643625454567,
        environment=world | {"factors": [1.0, 0.0]},
        cost={"starvation": 0.018469933884472906, "active_robots": 2.2398646398994333},
        limits={"starvation": {"max": 0.15508729910503774}},
    )
    for given in ("true", "false"):
        assert solve(problem, f"highs:start={given}").objective == pytest.approx(0.7691502800963, rel=1e-9)


def test_no_time_at_all_is_told_as_such():
    answer = solve(load("talim-fig3-starvation"), "highs", seconds=1e-6)
    assert (answer.status, answer.stopped_by) == (Status.UNKNOWN, "seconds")


def test_where_the_linear_program_takes_too_long_the_best_policy_without_limits_is_a_bound(monkeypatch):
    def too_long(*arguments, **options):
        raise BudgetSpent("seconds")

    monkeypatch.setattr("optmodels.robots.mip.beginning.solve_program", too_long)
    problem = load("talim-fig3-starvation")
    oracle = Oracle(problem, Budget(seconds=60))
    problem.begin_pyomo(oracle)
    free = solve(load("talim-fig3"), "policy-iteration").objective
    assert oracle.bound == pytest.approx(free, rel=1e-9)


@pytest.mark.slow
def test_two_limits_one_on_the_response_time_are_proved():
    problem = RobotsProblem(
        robots=6,
        capacity=5,
        arrival_rate=0.2,
        service_rate=1.0,
        cost={"starvation": 1.0},
        limits={"loss_rate": {"max": 0.01}, "response_time": {"max": 2.2}},
    )
    answer = solve(problem, "highs")
    assert (answer.status, round(answer.objective, 10)) == (Status.OPTIMAL, 0.2288336596)


@pytest.mark.slow
def test_of_the_policies_that_keep_figure_3_from_starving_the_best_known_is_best():
    problem = load("talim-fig3-starvation")
    answer = solve(problem, "highs")
    assert answer.status == Status.OPTIMAL
    assert answer.objective == pytest.approx(0.39901978881660155, rel=1e-9)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_fleet_of_two_classes_under_a_limit_is_proved():
    problem = RobotFleetProblem(
        classes=[{"robots": 3, "arrival_rate": 0.2}, {"robots": 3, "arrival_rate": 0.05}],
        capacity=5,
        service_rate=1.0,
        cost={"starvation": 1.0},
        limits={"loss_rate": {"max": 0.01}},
    )
    answer = solve(problem, "highs", seconds=200)
    assert (answer.status, round(answer.objective, 9)) == (Status.OPTIMAL, 0.332104995)


# -- closed classes ----------------------------------------------------------------------------------------------------


def test_from_the_beginning_of_the_base_model_one_closed_class_can_be_reached():
    rng = np.random.default_rng(5)
    several = 0
    for _ in range(200):
        problem = RobotsProblem(
            robots=int(rng.integers(1, 9)), capacity=int(rng.integers(2, 7)), arrival_rate=1.0, service_rate=1.0
        )
        chain = chain_of(moves_of(problem.fleet), problem.actions_of(problem.space.sample(rng)))
        several += len(closed_classes(chain, np.arange(1, problem.fleet.states))) > 1
        reached = np.flatnonzero(reachable(chain, np.array([1])))  # (0, 1)
        assert len(closed_classes(chain, reached)) == 1
    assert several > 10


def value_of(model):
    """The optimum of a model by HiGHS itself, without starts and judges; and the point in the model's variables."""
    compiled = compile_model(model)
    highs = load_program(compiled.program)
    for name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance", "mip_feasibility_tolerance"):
        highs.setOptionValue(name, 1e-9)
    highs.setOptionValue("mip_rel_gap", 0.0)
    highs.run()
    assert highs.getModelStatus().name == "kOptimal"
    compiled.load(np.array(highs.getSolution().col_value))
    return highs.getInfo().objective_function_value


def test_trails_keep_mixtures_of_closed_classes_out():
    problem = RobotsProblem(cost={"starvation": 1.633}, limits=MIXED_LIMITS, **MIXED)
    mixed = build(problem)
    mixed.trails_lead_to_states_in_use.deactivate()
    cheaper, best = value_of(mixed), value_of(model := build(problem))
    assert (round(cheaper, 4), round(best, 4)) == (0.8040, 0.9600)
    assert not math.isclose(problem.evaluate(read(mixed)).objective, cheaper, rel_tol=1e-3)
    assert problem.evaluate(read(model)).objective == pytest.approx(best, rel=1e-7)


def test_the_second_root_changes_the_relaxation_and_not_the_optimum():
    problem = RobotsProblem(cost={"starvation": 1.633}, limits=MIXED_LIMITS, **MIXED)
    below = build(problem)
    for root, state in list(below.trails_lead_to_states_in_use):
        if root == "all_out":
            below.trails_lead_to_states_in_use[root, state].deactivate()
    assert value_of(below) == pytest.approx(value_of(build(problem)), rel=1e-8)


# -- points ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sort", ["base", "any", "classes", "environment", "journeys"])
def test_every_policy_that_keeps_the_limits_is_a_point_of_the_model(sort):
    rng = np.random.default_rng(8)
    make, data, weights = drawn(rng, sort)
    data["capacity"] = 2
    free = make(cost=weights, **data)
    decisions = [decision for _, decision in zip(range(60), free.space, strict=False)]
    loss = float(np.median([free.evaluate(one).measures["loss_rate"] for one in decisions]))
    problem = make(cost=weights, limits={"loss_rate": {"max": loss}}, **data)
    compiled = compile_model(build(problem))
    met = 0
    for decision in decisions:
        evaluation = problem.evaluate(decision)
        if not evaluation.feasible:
            with pytest.raises(ValueError, match="breaks: loss_rate above"):
                start(problem, compiled.model, decision)
            continue
        # Mixtures by chance are points too: trails go to all classes that can be reached.
        start(problem, compiled.model, decision)
        point = compiled.point()
        assert compiled.program.broken_row(point) is None
        assert compiled.program.objective(point) == pytest.approx(evaluation.objective, rel=1e-8)
        assert problem.evaluate(read(compiled.model)).objective == pytest.approx(evaluation.objective, rel=1e-9)
        met += 1
    assert met > len(decisions) / 3


def test_policies_with_the_same_deciding_answers_are_worth_the_same():
    rng = np.random.default_rng(9)
    problem = RobotsProblem(
        robots=3, capacity=3, arrival_rate=0.4, service_rate=1.0, cost={"starvation": 1.0}, limits={"starvation": 0.99}
    )
    model = build(problem)
    compared = 0
    for _ in range(200):
        decision, other = problem.space.sample(rng), list(problem.space.sample(rng))
        keys = [variable.index() for variable in deciding(problem, model, decision)]
        for event, action in keys:
            assert decision[event] == action
            other[event] = action
        recurs = shares_from_start(problem.fleet, problem.actions_of(decision)).recurs
        if (shares_from_start(problem.fleet, problem.actions_of(tuple(other))).recurs == recurs).all():
            compared += 1
            assert problem.evaluate(tuple(other)).objective == problem.evaluate(decision).objective
        assert len(keys) < problem.fleet.states - 5
    assert compared > 20


def test_shares_are_written_in_parts_of_what_no_policy_exceeds():
    problem = RobotsProblem(robots=2, capacity=3, arrival_rate=0.3, service_rate=1.0, cost={"starvation": 1.0})
    largest = Plan.of(problem).largest
    shares = [shares_from_start(problem.fleet, problem.actions_of(decision)).best for decision in problem.space]
    highest = np.max(shares, axis=0)
    assert (highest[1:] <= largest[1:]).all()
    assert (largest[1:] <= highest[1:] * (1 + 1e-5)).all()  # some policy has as much


# -- what begins a run, and what is refused ----------------------------------------------------------------------------


def test_a_run_under_limits_begins_with_a_policy_and_a_bound():
    problem = RobotsProblem(cost={"starvation": 1.633}, limits=MIXED_LIMITS, **MIXED)
    oracle = Oracle(problem)
    problem.begin_pyomo(oracle)
    assert oracle.best is not None
    assert oracle.bound < 0.96 <= oracle.best.evaluation.objective + 1e-4
    free = Oracle(RobotsProblem(cost={"starvation": 1.633}, **MIXED))
    free.problem.begin_pyomo(free)
    assert free.best is free.bound is None  # the linear program stands on its own


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"cost": {"starvation": 1.0, "response_time": 0.05}}, "its cost is no weighted sum of starvation, loss_rate,"),
        ({"limits": {"most_robots": {"min": 2}}}, "can limit most_robots from above, not from below"),
        ({"limits": {"fewest_robots": {"max": 1}}}, "can limit fewest_robots from below, not from above"),
        ({"arrival_rate": 1e93}, "has rates more than 1e+10 apart"),
        ({"robots": 1000}, "has 6006 states, and at most 5000 are written; use linear-program."),
    ],
)
def test_what_the_model_cannot_express_is_told_with_what_can(given, sentence):
    fields = {"robots": 6, "capacity": 5, "arrival_rate": 0.2, "service_rate": 1.0, "cost": {"starvation": 1.0}}
    limits = {"loss_rate": {"max": 0.01}}
    problem = RobotsProblem(**{"limits": limits} | fields | given)
    assert sentence in refuses(problem)
    assert refusal(problem, Highs()) == refuses(problem)
    with pytest.raises(UnsupportedProblem, match=r"[uU]se "):
        build(problem)


def test_as_many_robots_as_ever_help_may_be_too_many():
    problem = RobotsProblem(
        robots=None, capacity=3, arrival_rate=1.0, service_rate=1e6, cost={"starvation": 1.67, "loss_rate": 1.0}
    )
    assert refuses(problem) is None  # it is found when it is needed
    with pytest.raises(UnsupportedProblem, match="has 30020 states"):
        solve(problem, "highs")
