"""Costs in any currency: the same decision, proved, at a price that is that many times as high."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from optmodels import Instance, load, solve
from optmodels.costs import linear_weights, sole_price
from optmodels.mip import SOLVERS

INSTANCES = Path(__file__).parents[2] / "instances"

#: One small instance for each strategy that proves something, and what its cost is where the file does not say.
CASES = [
    ("placement/gautam-2x3", "exhaustive", {"opening": 1.0}),
    ("placement/gautam-2x3", "highs", {"opening": 1.0}),
    ("placement/gautam-2x3", "highs", {"opening": 0.37, "open_sites": 0.1234}),
    ("placement/gautam-2x3", "highs:solver=scip", {"opening": 1.0}),
    ("placement/gautam-2x3", "highs:solver=cpsat", {"opening": 1.0}),
    ("threshold/avrachenkov-k5", "exhaustive", None),
    ("threshold/avrachenkov-k5", "optimal-policy", None),
    ("robots/talim-two-robots", "policy-iteration", None),
    ("robots/talim-two-robots", "value-iteration", None),
    ("robots/talim-two-robots", "linear-program", None),
    ("robots/fleet-two-robots", "policy-iteration", None),
    ("robots/fleet-erlang", "policy-iteration", None),
    ("robots/areas-3", "marginal-analysis", None),
    ("freshness/coffman-4", "lagrangian", {"obsolescence": 1.0}),
    ("freshness/zipf-hosts-200", "lagrangian", {"obsolescence": 1.0}),
    ("routing/loss-3", "min-mean-cycle", {"cost": 1.0}),
    ("routing/figure-1", "two-server", {"cost": 1.0}),
    ("routing/figure-1", "balanced", {"cost": 1.0}),
    ("routing/figure-1", "multimodular", {"cost": 1.0}),
    ("routing/horizon-40", "backward-induction", {"cost": 1.0}),
]
SLOW = ("highs", "fleet-erlang", "optimal-policy")
POWERS = (-200, -100, -30, -10, -8, 8, 30, 100, 200)


def cases(powers: tuple[int, ...]) -> list[Any]:
    found = []
    for name, strategy, weights in CASES:
        marks = []
        solver = strategy.partition("solver=")[2]
        if solver and SOLVERS[solver].missing(solver):
            marks.append(pytest.mark.skip(reason=SOLVERS[solver].missing(solver)))
        found += [pytest.param(name, strategy, weights, power, marks=marks) for power in powers]
    return found


def content(name: str) -> dict[str, Any]:
    data = json.loads((INSTANCES / f"{name}.json").read_text())
    data.pop("best_known", None)
    return data


def priced(name: str, weights: dict[str, float] | None, factor: float) -> Any:
    """The instance with all weights of its cost times the factor."""
    data = content(name)
    weights = weights or data["cost"]["weights"]
    if data["kind"] == "robots":
        weights = {"loss_rate": 1.0} | weights
    data["cost"] = {"name": "weighted-sum", "weights": {key: weight * factor for key, weight in weights.items()}}
    return Instance.from_data(data).problem()


def same_answer(usual: Any, scaled: Any, factor: float) -> None:
    assert (usual.status, scaled.status) == ("optimal", "optimal")
    assert scaled.objective / factor == pytest.approx(usual.objective, rel=1e-9)
    assert scaled.bound / factor == pytest.approx(usual.bound, rel=1e-9)
    assert scaled.bound <= scaled.objective and scaled.gap() == 0.0
    for result in (usual, scaled):
        # Nothing found on the way, by the trace, lies below what was proved.
        assert all(point.objective is None or point.objective >= result.bound for point in result.trace)


def check_prices(name: str, strategy: str, weights: dict[str, float] | None, power: int) -> None:
    usual, factor = solve(priced(name, weights, 1.0), strategy), 10.0**power
    same_answer(usual, solve(priced(name, weights, factor), strategy), factor)


#: Without those that take long; one of two sizes each, all of them in the slow test.
FAST = [case for case in cases((-200, 200)) if not any(word in str(case.values) for word in SLOW)]
FAST = [case for place, case in enumerate(FAST) if place % 4 in (0, 3)]


@pytest.mark.parametrize(("name", "strategy", "weights", "power"), FAST)
def test_prices_of_measures_may_be_of_any_size(name, strategy, weights, power):
    check_prices(name, strategy, weights, power)


@pytest.mark.parametrize("power", [-10])
def test_an_integer_program_is_solved_whatever_the_size_of_its_costs(power):
    check_prices("placement/gautam-2x3", "highs", {"opening": 1.0}, power)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "strategy", "weights", "power"), cases(POWERS))
def test_prices_of_any_size_in_every_exact_strategy(name, strategy, weights, power):
    check_prices(name, strategy, weights, power)


def times(numbers: Any, factor: float) -> Any:
    return [times(number, factor) for number in numbers] if isinstance(numbers, list) else numbers * factor


def weighed(name: str, field: str, factor: float) -> Any:
    """The instance with the weights of its pages or servers, or the prices of its sites, times the factor."""
    data = content(name)
    if field == "servers":
        for server in data["data"]["servers"]:
            server["weight"] = server.get("weight", 1.0) * factor
    else:
        data["data"][field] = times(data["data"][field], factor)
    return Instance.from_data(data).problem()


WEIGHED = [
    ("freshness/lognormal-100-general", "weights", "lagrangian"),
    ("freshness/zipf-hosts-200", "weights", "lagrangian"),
    ("routing/loss-3", "servers", "min-mean-cycle"),
    ("routing/figure-1", "servers", "two-server"),
    ("routing/horizon-40", "servers", "backward-induction"),
    ("placement/gautam-2x3", "opening_cost", "exhaustive"),
]


@pytest.mark.parametrize("power", [-200, 200])
@pytest.mark.parametrize(("name", "field", "strategy"), WEIGHED[1::2])
def test_weights_in_the_data_may_be_of_any_size(name, field, strategy, power):
    usual, factor = solve(weighed(name, field, 1.0), strategy), 10.0**power
    same_answer(usual, solve(weighed(name, field, factor), strategy), factor)


@pytest.mark.slow
@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize(
    ("name", "field", "strategy"), [*WEIGHED, ("placement/gautam-2x3", "opening_cost", "highs:solver=scip")]
)
def test_weights_in_the_data_of_every_size(name, field, strategy, power):
    usual, factor = solve(weighed(name, field, 1.0), strategy), 10.0**power
    same_answer(usual, solve(weighed(name, field, factor), strategy), factor)


@pytest.mark.parametrize(
    ("name", "weights", "factor"),
    [
        ("robots/talim-two-robots", None, 1e280),
        ("routing/loss-3", "servers", 1e290),
        ("freshness/zipf-hosts-200", "weights", 1e-290),
    ],
)
def test_what_no_double_can_hold_is_refused_in_a_sentence(name, weights, factor):
    with pytest.raises(ValueError, match=r"at most|or more"):
        (priced(name, None, factor) if weights is None else weighed(name, weights, factor))


# -- costs of others --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Foreign:
    """A linear cost that is no `WeightedSum`: it says so, and has weights."""

    weights: dict[str, float]
    linear: ClassVar[bool] = True

    def __call__(self, measures):
        return math.fsum(weight * measures[name] for name, weight in self.weights.items())


@pytest.mark.parametrize(
    ("name", "strategy", "weights"),
    [
        ("placement/gautam-2x3", "highs", {"opening": 2.0, "open_sites": 0.5}),
        ("robots/talim-two-robots", "policy-iteration", {"starvation": 3.0, "loss_rate": 1.0}),
        ("robots/talim-two-robots", "linear-program", {"starvation": 3.0, "loss_rate": 1.0}),
        ("robots/fleet-two-robots", "policy-iteration", {"starvation": 3.0, "loss_rate": 1.0}),
        ("robots/areas-3", "marginal-analysis", {"starvation": 3.0, "loss_rate": 1.0}),
        ("freshness/coffman-4", "lagrangian", {"obsolescence": 3.0}),
        ("routing/loss-3", "min-mean-cycle", {"cost": 3.0}),
        ("routing/figure-1", "two-server", {"cost": 3.0}),
        ("threshold/avrachenkov-k5", "exhaustive", {"loss_rate": 3.0, "mean_length": 1.0}),
    ],
)
def test_a_cost_that_says_linear_and_weights_is_taken_for_a_weighted_sum(name, strategy, weights):
    data = content(name)
    kind = type(Instance.from_data(data).problem())
    foreign = kind.from_data(data["data"], name="foreign", cost=Foreign(weights))
    assert isinstance(foreign.cost, Foreign)
    own, other = solve(priced(name, weights, 1.0), strategy), solve(foreign, strategy)
    assert (own.status, other.status) == ("optimal", "optimal")
    assert (own.objective, own.decision) == (other.objective, other.decision)


def test_robots_of_a_foreign_cost_are_priced_as_it_says_and_losses_are_free_where_it_says_nothing():
    foreign = load_robots(Foreign({"starvation": 3.0}))
    weighted = solve(priced("robots/talim-two-robots", {"starvation": 3.0, "loss_rate": 0.0}, 1.0), "policy-iteration")
    assert solve(foreign, "policy-iteration").objective == weighted.objective


def load_robots(cost: Any) -> Any:
    data = content("robots/talim-two-robots")
    return type(load(INSTANCES / "robots/talim-two-robots.json")).from_data(data["data"], name="robots", cost=cost)


@dataclass(frozen=True)
class Curved(Foreign):
    """Has weights, and is not linear."""

    linear: ClassVar[bool] = False


def test_weights_count_only_where_a_cost_says_that_it_is_linear():
    assert linear_weights(Foreign({"cost": 2.0})) == {"cost": 2.0}
    assert linear_weights(Curved({"cost": 2.0})) is None
    assert linear_weights(None) is None
    assert linear_weights(Foreign({})) is None
    assert linear_weights(Foreign({"cost": math.nan})) is None
    assert linear_weights(lambda measures: 0.0) is None
    assert (sole_price(Foreign({"cost": 2.0}), "cost"), sole_price(Curved({"cost": 2.0}), "cost")) == (2.0, None)
