"""Problems of kind "routing": what words cost, which words there are, what is proved, and the link to "freshness"."""

import json
import math
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

import optmodels as om
from heuristics.running import UnsupportedProblem
from optmodels.costs import Lexicographic, Limits, WeightedSum
from optmodels.errors import InstanceError, RequestError
from optmodels.freshness import FreshnessProblem
from optmodels.registry import gap_costs
from optmodels.routing import LinearExponential, Power, RoutingProblem, Table
from optmodels.routing.horizon import RoutingHorizonProblem
from optmodels.routing.problem import UNUSED
from optmodels.studies import simulate
from queueing.freshness import integer_bound

FOLDER = Path(__file__).parents[3] / "instances" / "routing"
POISSON = {"law": "poisson", "rate": 1.0}


def loss(*rates, arrivals=POISSON, **more):
    data = {"servers": [{"rate": rate} for rate in rates], "arrivals": arrivals, "application": "loss"}
    return RoutingProblem.from_data(data | more)


def plain_cost(functions, word):
    """Eq. (6) by walking through three periods and counting the gaps that end in the middle one."""
    total, length = 0.0, len(word)
    for slot in range(length, 2 * length):
        server = word[slot % length]
        gap = next(gap for gap in range(1, length + 1) if word[(slot - gap) % length] == server)
        total += functions[server](gap)
    return total / length


# -- what words cost ---------------------------------------------------------------------------------------------------


def test_words_cost_what_their_gaps_cost():
    problem = loss(0.5, 1.0, 3.0)
    functions = [lambda n, rate=rate: (1 / (1 + rate)) ** n for rate in (0.5, 1.0, 3.0)]
    rng = np.random.default_rng(1)
    for _ in range(100):
        word = tuple(rng.integers(3, size=rng.integers(1, 15)).tolist())
        judged = problem.evaluate(word)
        assert judged.objective == pytest.approx(plain_cost(functions, word), rel=1e-13)
        assert judged.measures == {"cost": judged.objective, "period": len(word)}


def test_many_words_at_once_are_judged_as_one_by_one():
    problem = loss(0.5, 1.0, 3.0)
    words = [tuple(word) for length in (1, 2, 5) for word in product(range(3), repeat=length)]
    np.random.default_rng(2).shuffle(words)
    assert problem.evaluate_many(words) == [problem.evaluate(word) for word in words]


def test_a_server_never_used_loses_nothing_and_a_page_never_visited_is_out_of_date():
    assert loss(1.0, 2.0).evaluate((1,)).objective == pytest.approx(1 / 3)
    pages = {"servers": [{"rate": 1.0, "weight": 5.0}, {"rate": 2.0, "weight": 7.0}], "arrivals": POISSON}
    problem = RoutingProblem.from_data(pages | {"application": "freshness"})
    # Visits at rate 1, changes at rate 2: after a visit the page is fresh for a mean of 1/3.
    assert problem.evaluate((1,)).objective == pytest.approx(5.0 + 7.0 * (2 / 3))


def test_shares_and_gaps_of_a_word_are_told():
    told = loss(1.0, 2.0, 3.0).describe((0, 1, 1, 0, 1))
    assert told["shares"] == pytest.approx([0.4, 0.6, 0.0])
    assert told["gaps"] == [{"2": 1, "3": 1}, {"1": 1, "2": 2}, {}]
    assert told["above_density_bound"] == pytest.approx(
        loss(1.0, 2.0, 3.0).evaluate((0, 1, 1, 0, 1)).objective / told["density_bound"] - 1
    )


def test_a_word_is_judged_whatever_its_rotation():
    problem = loss(1.0, 2.0, 3.0)
    assert om.evaluate(problem, [2, 1, 0, 1]).decision == (0, 1, 2, 1)
    assert om.evaluate(problem, [1, 2, 1, 0]).objective == om.evaluate(problem, [0, 1, 2, 1]).objective


# -- which words there are ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "word", "sentence"),
    [
        ({}, (), "the period is empty"),
        ({}, (0, 3), "entry 1 is 3; letters lie between 0 and 2."),
        ({}, 7, "the decision is 7; it is one period, a list of server numbers."),
        ({}, (0.5,), "entry 0 is 0.5"),
        ({"period": 3}, (0, 1), "the word has 2 letters; words have 3."),
        ({"max_period": 3}, (0, 1, 2, 1), "the word has 4 letters; words have 1 to 3."),
        ({"horizon": 3, "initial": [1, 1, 1]}, (0, 1), "2 server numbers are given; each of the 3 slots needs one."),
        ({"horizon": 3, "initial": [1, 1, 1]}, "012", "it is a list of server numbers, one for each slot."),
        ({"horizon": 3, "initial": [1, 1, 1]}, (0, 1, 3), "entry 2 is 3"),
    ],
)
def test_what_is_no_decision_is_refused(more, word, sentence):
    with pytest.raises(RequestError) as refused:
        om.evaluate(loss(1.0, 2.0, 3.0, **more), word)
    assert sentence in str(refused.value)


def test_without_a_period_words_of_all_lengths_are_decisions_and_those_up_to_twenty_are_listed():
    space = loss(1.0, 2.0).space
    assert space.lengths == tuple(range(1, 21))
    assert (0,) + (1,) * 99 in space
    assert space.size == sum(1 for _ in space) == 111_321
    assert not space.complete
    assert loss(1.0, 2.0, period=5).space.size == 8
    assert loss(1.0, 2.0, max_period=5).space.size == 2 + 3 + 4 + 6 + 8
    assert loss(1.0, 2.0, max_period=5).space.complete


def test_words_that_are_too_long_are_refused():
    with pytest.raises(ValueError, match="the period has 1000001 slots; it has 1000000 at most"):
        loss(1.0).space.check((0,) * 1_000_001)


# -- what is proved ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_no_word_is_below_the_density_bound(seed):
    rng = np.random.default_rng(seed)
    data = om.generate(
        "routing", servers=3, seed=seed, application=["loss", "freshness"][seed % 2], weights="drawn"
    ).data
    problem = RoutingProblem.from_data(data)
    bound = problem.lower_bound()
    assert bound > 0
    words = [tuple(rng.integers(3, size=rng.integers(1, 40)).tolist()) for _ in range(300)]
    assert min(one.objective for one in problem.evaluate_many(words)) >= bound
    best = om.solve(RoutingProblem.from_data(data | {"max_period": 7}), "exhaustive")
    assert best.status == "optimal"
    assert best.objective >= bound


@pytest.mark.parametrize("servers", [2, 5, 70])
@pytest.mark.parametrize("application", ["loss", "freshness"])
def test_the_density_bound_is_the_optimum_of_a_linear_program(servers, application):
    """y(m, d) gaps of d slots at server m, a slot: they add up to 1, and take no more slots than there are."""
    longest = 250
    spread, weights = (1.0, "drawn") if servers < 10 else (0.3, "rates")  # no gap is longer
    problem = om.generate(
        "routing", servers=servers, seed=servers, application=application, spread=spread, weights=weights
    ).problem()
    table, slopes = problem.costs.table(longest), problem.costs.slopes
    gaps = np.arange(1, longest + 1)
    excess = (table - slopes[:, None] * gaps).ravel()
    taken = np.kron(np.eye(servers), gaps)
    exact = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    totals = {"A_ub": taken, "b_ub": np.ones(servers), "A_eq": np.ones((1, excess.size)), "b_eq": [1.0]}
    found = linprog(excess, **totals, options=exact)
    assert problem.density_bound == pytest.approx(found.fun + slopes.sum(), rel=1e-9)


def test_the_list_of_short_words_proves_an_optimum_if_the_bound_does():
    proved = om.solve(loss(1.0, 3.0), "exhaustive")
    assert (proved.status, proved.decision, "unproved" in proved.extra) == ("optimal", (0, 1, 1), False)


def test_a_longer_word_is_best_where_short_ones_are_listed():
    """Of two servers of which one is a thousand million times as fast: nothing is proved by a list of short words."""
    problem = replace(loss(1.0, 1e9), name="far")
    listed, best = om.solve(problem, "exhaustive"), om.solve(problem, "min-mean-cycle")
    assert best.status == "optimal"
    assert len(best.decision) > 20
    assert (listed.status, listed.bound) == ("feasible", pytest.approx(best.objective))
    assert listed.extra["unproved"].startswith("all decisions that the space lists were evaluated")
    assert listed.objective > best.objective


def test_an_optimum_over_all_words_is_not_below_those_of_short_ones():
    short = om.solve(loss(0.5, 1.0, 2.0, max_period=8), "exhaustive")
    free = om.solve(loss(0.5, 1.0, 2.0), "min-mean-cycle")
    assert free.status == short.status == "optimal"
    assert free.objective <= short.objective + 1e-15
    assert free.bound <= short.objective


@pytest.mark.parametrize(
    ("name", "period", "cost"),
    [
        ("loss-3", 10, 0.0945038150),
        ("loss-3-wide", 35, 0.0585063581),
        ("loss-4", 10, 0.0277886283),
        ("loss-4-wide", 44, 0.0159276265),
        ("loss-5", 42, 0.0111047727),
    ],
)
def test_shipped_servers_have_the_optima_that_another_implementation_found(name, period, cost):
    found = om.solve(FOLDER / f"{name}.json", "min-mean-cycle")
    assert found.status == "optimal"
    assert found.objective == pytest.approx(cost, abs=1e-10)
    assert len(found.decision) == period


def test_value_iteration_agrees():
    for name in ("figure-1", "loss-3", "loss-4", "map-3", "freshness-weights"):
        swept = om.solve(FOLDER / f"{name}.json", "value-iteration:accuracy=1e-9")
        assert swept.objective == pytest.approx(om.solve(FOLDER / f"{name}.json", "min-mean-cycle").objective, rel=1e-9)
        assert swept.bound <= swept.objective
    with pytest.raises(UnsupportedProblem, match=r"Altman et al. \(2000\) iterate no values"):
        om.solve(FOLDER / "loss-3.json", "value-iteration:rule=paper")


@pytest.mark.parametrize("strategy", ["min-mean-cycle", "whittle", "two-server", "value-iteration"])
@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"period": 4}, "its period is fixed at 4 slots (data.period), and this strategy looks at all periods."),
        ({"max_period": 4}, "its period is 4 slots at most (data.max_period)"),
    ],
)
def test_strategies_for_all_periods_refuse_a_given_one(strategy, more, sentence):
    with pytest.raises(UnsupportedProblem) as refused:
        om.solve(loss(1.0, 2.0, **more), strategy)
    assert sentence in str(refused.value)


# -- prices and limits -------------------------------------------------------------------------------------------------


def test_a_price_of_the_cost_multiplies_objective_and_bound():
    plain = om.solve(loss(0.5, 1.0, 2.0), "min-mean-cycle")
    dear = om.solve(replace(loss(0.5, 1.0, 2.0), cost=WeightedSum({"cost": 1000.0})), "min-mean-cycle")
    assert (dear.status, dear.decision) == ("optimal", plain.decision)
    assert dear.objective == pytest.approx(1000 * plain.objective, rel=1e-12)


def test_other_prices_are_for_searches_only():
    problem = replace(loss(1.0, 5.0), cost=WeightedSum({"cost": 1.0, "period": 0.002}))
    assert problem.lower_bound() == -math.inf
    short = om.solve(replace(loss(1.0, 5.0, max_period=9), cost=problem.cost), "exhaustive")
    assert (short.status, len(short.decision)) == ("optimal", 3)
    assert len(om.solve(loss(1.0, 5.0), "min-mean-cycle").decision) == 4
    for cost in (problem.cost, WeightedSum({"cost": -1.0}), Lexicographic(("cost", "period"))):
        with pytest.raises(UnsupportedProblem):
            om.solve(replace(problem, cost=cost), "min-mean-cycle")


def test_limits_are_kept():
    limits = Limits.from_data({"period": 3})
    found = om.solve(replace(loss(1.0, 5.0, max_period=9), limits=limits), "exhaustive")
    assert (found.status, found.decision) == ("optimal", (0, 1, 1))
    problem = replace(loss(1.0, 5.0), limits=limits)
    with pytest.raises(UnsupportedProblem, match="does not handle limits on measures"):
        om.solve(problem, "min-mean-cycle")


# -- costs of one's own ------------------------------------------------------------------------------------------------


def test_functions_of_ones_own_are_routed():
    functions = [lambda n: n * n, lambda n: 2 * n * n, lambda n: 0.5 * n**3]
    problem = RoutingProblem.of_costs(functions, slopes=[math.inf] * 3)
    found = om.solve(problem, "min-mean-cycle")
    assert found.status == "optimal"
    assert found.objective == pytest.approx(plain_cost(functions, found.decision), rel=1e-14)
    listed = om.solve(RoutingProblem.of_costs(functions, slopes=[math.inf] * 3, max_period=9), "exhaustive")
    assert found.objective <= listed.objective + 1e-12


def test_nothing_is_proved_without_slopes():
    problem = RoutingProblem.of_costs([lambda n: 0.5**n, lambda n: 0.25**n])
    known = RoutingProblem.of_costs([lambda n: 0.5**n, lambda n: 0.25**n], slopes=[0.0, 0.0], limits=[0.0, 0.0])
    first, second = om.solve(problem, "min-mean-cycle"), om.solve(known, "min-mean-cycle")
    assert (first.status, first.bound, second.status) == ("feasible", None, "optimal")
    assert first.objective == pytest.approx(second.objective, rel=1e-12)
    assert problem.density_bound is None
    assert problem.describe((0, 1))["above_density_bound"] is None


def test_a_server_whose_cost_has_no_bound_must_be_used():
    problem = RoutingProblem.of_costs([lambda n: n * n, lambda n: n * n], slopes=[math.inf] * 2)
    judged = problem.evaluate((0, 0))
    assert not judged.feasible
    assert judged.violations == {UNUSED: 1.0}
    assert judged.measures == {"cost": None, "period": 2.0}
    assert problem.evaluate((0, 1)).feasible
    found = om.solve(problem, "local-search", evaluations=300).decision
    assert found == (0, 1) * (len(found) // 2)


def test_a_registered_cost_can_be_named_in_a_file():
    gap_costs.register("steep", Steep)
    try:
        problem = RoutingProblem.from_data({"servers": [{"gap_cost": "steep", "rate": 2.0}, {"gap_cost": "power"}]})
        assert problem.costs.table(3).tolist() == [[2.0, 22.0, 58.0], [1.0, 4.0, 9.0]]
        assert problem.to_data()["servers"][0] == {"gap_cost": "steep", "rate": 2.0}
    finally:
        gap_costs.unregister("steep")


@dataclass(frozen=True)
class Steep:
    """rate (4 n^2 - 2 n - 1)."""

    rate: float

    def __call__(self, gap):
        return self.rate * (4 * gap * gap - 2 * gap - 1)


def test_a_gap_too_long_for_its_cost_is_answered_with_a_sentence():
    problem = RoutingProblem.of_costs([LinearExponential(decay=-0.5), Power(exponent=1.0)])
    with pytest.raises(RequestError, match=r"'routing' cannot be evaluated at this decision: .* finite number"):
        problem.evaluate((0,) + (1,) * 2000)


@pytest.mark.parametrize(
    "cost",
    [
        Power(2.0, 1.5),
        Power(2.0, 1.0),
        Power(0.0, 2.0),
        LinearExponential(1.0, -2.0, 3.0, 0.05),
        LinearExponential(-1.0, 0.5, 3.0, 0.0),
        LinearExponential(0.0, 0.0, 1.0, -0.1),
        Table((5.0, 3.0, 2.0), -0.5),
    ],
    ids=str,
)
def test_slopes_and_limits_of_costs_are_those_of_long_gaps(cost):
    rises = [cost(n + 1) - cost(n) for n in (10, 1000)]
    if math.isinf(cost.slope):
        assert rises[1] > 2 * rises[0]
        assert math.isnan(cost.limit)
    else:
        assert rises[1] == pytest.approx(cost.slope, abs=1e-9)
        assert cost(1000) - 1000 * cost.slope == pytest.approx(cost.limit, abs=1e-9)


# -- finite horizons ---------------------------------------------------------------------------------------------------


def test_a_finite_horizon_is_charged_at_its_end():
    costs = [{"gap_cost": "power"}, {"gap_cost": "power", "factor": 2.0}]
    problem = RoutingProblem.from_data({"servers": costs, "horizon": 3, "initial": [1, 2]})
    assert isinstance(problem, RoutingHorizonProblem)
    # Gaps 1, then 3 (server 1 was used two slots before the first), then 2; open at the end: 1 of server 0, 2 of 1.
    assert problem.evaluate((0, 1, 0)).objective == 1 + 2 * 9 + 4 + 1 + 2 * 4
    assert problem.evaluate((0, 1, 0)).measures == {"cost": 32.0, "period": None}
    assert problem.describe((0, 1, 0)) == {"shares": pytest.approx([2 / 3, 1 / 3]), "final_gaps": [1, 2]}


@pytest.mark.parametrize("initial", [[1, 1, 2], [None, 4, 1]])
def test_all_actions_are_judged_or_dynamic_programming_finds_the_best(initial):
    problem = loss(0.3, 1.0, 4.0, horizon=7, initial=initial)
    listed, found = om.solve(problem, "exhaustive"), om.solve(problem, "backward-induction")
    assert listed.status == found.status == "optimal"
    assert found.objective == pytest.approx(listed.objective, rel=1e-13)


def test_a_server_never_used_has_no_gap_to_end():
    problem = loss(1.0, 2.0, horizon=2, initial=[None, None])
    assert problem.evaluate((0, 1)).objective == pytest.approx(0.5**2 + 1 / 3)  # open gaps of two slots and of one
    assert problem.describe((1, 1))["final_gaps"] == [None, 1]


def test_a_finite_horizon_has_no_period_to_be_priced():
    data = {"servers": [{"rate": 1.0}], "arrivals": POISSON, "application": "loss", "horizon": 2, "initial": [1]}
    with pytest.raises(InstanceError, match=r"cost.weights.period is 0.5; a finite horizon has no period"):
        RoutingProblem.from_data(data, cost=WeightedSum({"cost": 1.0, "period": 0.5}))
    with pytest.raises(InstanceError, match=r"limits.period is"):
        RoutingProblem.from_data(data, limits=Limits.from_data({"period": 3}))
    priced = RoutingProblem.from_data(data, cost=WeightedSum({"cost": 3.0}))
    assert om.solve(priced, "backward-induction").objective == pytest.approx(3 * (3 * 0.5))


def test_a_finite_horizon_is_not_simulated_nor_searched_for_words():
    problem = loss(1.0, 2.0, horizon=3, initial=[1, 1])
    with pytest.raises(RequestError, match="it has a finite horizon"):
        simulate(problem, (0, 1, 0))
    for strategy in ("min-mean-cycle", "whittle"):
        with pytest.raises(UnsupportedProblem):
            om.solve(problem, strategy)


# -- the link to kind "freshness" --------------------------------------------------------------------------------------

LAWS = [
    {"law": "constant", "value": 0.7},
    {"law": "exponential", "mean": 1.3},
    {"law": "erlang", "stages": 3, "mean": 2.0},
    {"law": "hyperexponential", "probabilities": [0.25, 0.75], "means": [4.0, 1.0]},
    {"law": "phase-type", "initial": [0.5, 0.5], "generator": [[-2.0, 1.0], [0.0, -3.0]]},
    {"law": "samples", "values": [0.0, 0.3, 5.0]},
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law["law"])
@pytest.mark.parametrize("proportional", [True, False])
def test_visits_and_packets_are_the_same_problem(law, proportional):
    """Change rates are rates of service, access times are times between packets, a cycle is a word."""
    rng = np.random.default_rng(3)
    rates = rng.lognormal(size=4)
    weights = 2.5 * rates if proportional else rng.lognormal(size=4)
    pages = FreshnessProblem.from_data(
        {"change_rates": rates.tolist(), "weights": weights.tolist(), "access_time": law}
    )
    servers = [{"rate": rate, "weight": weight} for rate, weight in zip(rates, weights, strict=True)]
    packets = RoutingProblem.from_data({"servers": servers, "arrivals": law, "application": "freshness"})
    for _ in range(20):
        word = tuple(rng.integers(4, size=rng.integers(1, 30)).tolist())
        visited = pages.evaluate(pages.space.check({"schedule": word})).objective
        assert packets.evaluate(word).objective == pytest.approx(visited, rel=1e-12)
    assert packets.density_bound == pytest.approx(integer_bound(pages.traits, 1.0), rel=1e-9)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law["law"])
def test_with_weights_equal_to_rates_the_freshest_pages_are_the_fewest_losses(law):
    """cost of freshness = sum of rates - (1 - losses per packet) / mean time between packets."""
    rates = [0.4, 1.1, 2.5]
    servers = [{"rate": rate} for rate in rates]
    lost = RoutingProblem.from_data({"servers": servers, "arrivals": law, "application": "loss"})
    weighted = [{"rate": rate, "weight": rate} for rate in rates]
    stale = RoutingProblem.from_data({"servers": weighted, "arrivals": law, "application": "freshness"})
    mean = stale.routing.arrivals.mean
    rng = np.random.default_rng(4)
    for _ in range(20):
        word = tuple(rng.integers(3, size=rng.integers(1, 30)).tolist())
        expected = sum(rates) - (1 - lost.evaluate(word).objective) / mean
        assert stale.evaluate(word).objective == pytest.approx(expected, rel=1e-12)


# -- services with phases, simulated -----------------------------------------------------------------------------------


def test_costs_that_are_not_convex_are_refused_by_those_who_need_them_so():
    law = {"initial": [1.0, *[0.0] * 7], "generator": (8 * (np.eye(8, k=1) - np.eye(8)) / 5).tolist()}
    servers = [{"service": law}, {"rate": 2.0}]
    problem = RoutingProblem.from_data(
        {"servers": servers, "arrivals": {"law": "deterministic", "interval": 1.0}, "application": "loss"}
    )
    assert "Costs of gaps must be convex, but server 0" in problem.not_convex
    with pytest.raises(UnsupportedProblem, match="Costs of gaps must be convex"):
        om.solve(problem, "min-mean-cycle")
    assert om.solve(problem, "local-search", evaluations=500).objective >= problem.lower_bound()


@pytest.mark.parametrize(("mean", "sentence"), [(20_000, "which bend down"), (1e9, "last too long to tell")])
def test_costs_that_bend_down_late_prove_nothing(mean, sentence):
    """Nearly all services last some 20 000 slots: turns were called optimal, though long runs cost less."""
    generator = np.diag([-1.0] + [-50 / mean] * 50) + np.diag([0.0] + [50 / mean] * 49, 1)
    service = {"initial": [1e-4, 1 - 1e-4] + [0.0] * 49, "generator": generator.tolist()}
    data = {"servers": [{"service": service}] * 2, "application": "loss"}
    problem = RoutingProblem.from_data(data | {"arrivals": {"law": "deterministic", "interval": 1.0}})
    assert sentence in problem.not_convex
    turns, runs = problem.evaluate((0, 1)).objective, problem.evaluate((0,) * 40_000 + (1,) * 40_000).objective
    assert runs < turns or mean > 20_000
    for strategy in ("balanced", "multimodular", "exhaustive"):
        answer = om.solve(problem, strategy, evaluations=300)
        assert answer.status == "feasible" and (answer.bound is None or answer.bound <= runs)
    with pytest.raises(UnsupportedProblem, match=sentence):
        om.solve(problem, "two-server")


def test_costs_too_large_to_count_with_get_a_sentence():
    """Costs leave the range of numbers beyond the gaps checked: words have a cost, strategies say what they lack."""
    costs = [LinearExponential(decay=-0.6), LinearExponential(decay=0.001), LinearExponential(factor=1e-5, decay=-1e-5)]
    problem = RoutingProblem.of_costs(costs)
    assert problem.evaluate((0, 1, 2)).feasible and problem.describe((0, 1, 2))["density_bound"] is None
    with pytest.raises(RequestError, match=r"needs costs of gaps up to 2048: .* at most 1e\+300, but server 0 has f\("):
        om.solve(problem, "whittle")
    with pytest.raises(ValueError, match=r"at most 1e\+300, but server 0 has f\(2\) = 4e\+300"):
        RoutingProblem.of_costs([Power(1e300), Power(1.0)])
    data = {"arrivals": {"law": "poisson", "rate": 1.0}, "application": "freshness"}
    with pytest.raises(ValueError, match=r"weights\[0\] must be at most 1e\+250, but it is 1e\+308"):
        RoutingProblem.from_data(data | {"servers": [{"rate": 1.0, "weight": 1e308}]})


def test_a_word_without_a_server_it_needs_does_not_end_the_search():
    """What the others cost in it was taken for the cost of an answer: the run ended 1 % above the optimum."""
    costs = [LinearExponential(-0.3353748, 1.3788409, 0.3690859, 0.106692)]
    costs += [Power(1.137674, 3.0), Power(1.5758986, 3.0), Power(0.1411556, 1.5)]
    answer = om.solve(RoutingProblem.of_costs(costs), "min-mean-cycle")
    assert answer.status == "optimal" and answer.objective == pytest.approx(12.28135, rel=1e-5)


@pytest.mark.parametrize("name", ["map-3", "trace-3", "phase-type-3", "freshness-weights"])
def test_the_best_words_of_instances_are_confirmed_packet_by_packet(name):
    problem = om.load(FOLDER / f"{name}.json")
    best = json.loads((FOLDER / f"{name}.json").read_text())["best_known"]["decision"]
    seen = simulate(problem, best, replications=20, seed=5)
    assert seen.agree
    assert {line.name for line in seen.lines} == {"cost", "period", "objective"}
    assert seen.lines[0].estimate.error < 0.02 * seen.lines[0].exact


def test_costs_of_gaps_alone_cannot_be_simulated():
    with pytest.raises(RequestError, match="it has costs of gaps, and no packets that come"):
        simulate(om.load(FOLDER / "example-3-4.json"), (0, 1))
