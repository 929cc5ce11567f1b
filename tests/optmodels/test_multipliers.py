"""Multipliers of limits: bounds that hold, true gaps, mixtures that attain the bounds, and the paper's weights."""

import json
import math
from dataclasses import dataclass, field, replace
from typing import Any

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from heuristics import Evaluation
from heuristics.spaces import IntegerBox
from optmodels.cli import main
from optmodels.costs import Limit, Limits, WeightedSum
from optmodels.errors import RequestError
from optmodels.instance import load
from optmodels.multipliers import Multipliers, find_multipliers
from optmodels.solving import evaluate, solve
from optmodels.studies import pareto
from optmodels.threshold import ThresholdProblem
from queueing import BMAP, Mode, PhaseType

#: The paper's weights; starvation has 300.
PRICES = {"loss_rate": 5, "obsolescence_rate": 10, "response_time": 2, "active_robots": 20}


@dataclass(frozen=True)
class Table:
    """A problem whose cost and measures stand in a list."""

    rows: tuple[tuple[float, ...], ...]
    limits: Limits = field(default_factory=Limits)
    name: str = "table"

    @property
    def space(self) -> IntegerBox:
        return IntegerBox((0,), (len(self.rows) - 1,))

    def evaluate(self, decision: Any) -> Evaluation:
        cost, *values = self.rows[decision[0]]
        measures = {f"m{index}": value for index, value in enumerate(values)}
        return Evaluation(cost, self.limits.violations(measures), measures)


@pytest.fixture(scope="module")
def paper(instances) -> ThresholdProblem:
    """The example of section 7, K = 5."""
    return load(instances / "threshold" / "avrachenkov-k5.json")


def at_most(**limits: float) -> Limits:
    return Limits({name: Limit(maximum=value) for name, value in limits.items()})


def dual_value(problem: Any, prices: dict[str, float]) -> float:
    """The dual function by its definition: all limits from above."""
    judged = problem.evaluate_many(list(problem.space))
    return min(
        one.objective
        + sum(price * (one.measures[name] - problem.limits.by_measure[name].maximum) for name, price in prices.items())
        for one in judged
    )


def random_problem(seed: int) -> ThresholdProblem:
    """Three modes with batches and random laws, room for four pages."""
    rng = np.random.default_rng(seed)
    modes = []
    for robots in (1, 2, 3):
        blocks = [rng.uniform(0, 1, (2, 2)) * robots for _ in range(3)]
        np.fill_diagonal(blocks[0], 0.0)
        blocks[0] -= np.diag(sum(blocks).sum(axis=1))
        modes.append(Mode(robots, BMAP(tuple(blocks))))
    patience = PhaseType.exponential(rng.uniform(0.05, 2.0))
    weights = {"loss_rate": rng.uniform(1, 30), "active_robots": rng.uniform(1, 10), "starvation": rng.uniform(50, 300)}
    return ThresholdProblem(
        name=f"random-{seed}",
        modes=modes,
        service=PhaseType.erlang(2, 5.0),
        patience=patience,
        capacity=4,
        cost=weights,
    )


# -- small tables ------------------------------------------------------------------------------------------------------


def test_on_the_line_between_two_decisions_the_multiplier_is_its_slope():
    # Half-way in the measure between two decisions a third one is dearer than the line: the gap is what it is above.
    table = Table(((10.0, 0.0), (0.0, 10.0), (9.0, 5.0)), at_most(m0=5.0))
    found = find_multipliers(table)
    (price,) = found.prices
    assert (price.multiplier, price.lowest, price.highest) == pytest.approx((1.0, 1.0, 1.0))
    assert (found.objective, found.decision) == (9.0, (2,))
    assert found.bound == pytest.approx(5.0)
    assert found.gap == pytest.approx(4.0)
    assert {share.decision: share.probability for share in found.mixture} == pytest.approx({(0,): 0.5, (1,): 0.5})
    assert found.expected == pytest.approx({"m0": 5.0})
    assert found.time_shared is None


@pytest.mark.parametrize("unit", [1e-12, 1e-4, 1e8])
def test_a_limit_may_be_small_or_large_and_is_broken_by_five_percent(unit):
    table = Table(((10.0, 0.0), (0.0, 10.0 * unit), (1.0, 5.25 * unit)), at_most(m0=5.0 * unit))
    found = find_multipliers(table)
    (price,) = found.prices
    assert price.multiplier * unit == pytest.approx(9.0 / 5.25)
    assert (found.objective, found.decision) == (10.0, (0,))
    assert found.bound == pytest.approx(1.0 + 0.25 * 9.0 / 5.25)


def test_at_a_corner_of_the_hull_there_is_no_gap_and_a_range_of_multipliers():
    found = find_multipliers(Table(((10.0, 0.0), (3.0, 2.0), (0.0, 10.0)), at_most(m0=2.0)))
    (price,) = found.prices
    assert found.gap == 0.0
    assert found.bound == pytest.approx(3.0)
    assert (price.lowest, price.highest) == pytest.approx((0.375, 3.5))
    assert price.multiplier == pytest.approx(0.375)
    assert [share.decision for share in found.mixture] == [(1,)]


def test_a_limit_that_does_not_bind_is_worth_nothing():
    found = find_multipliers(Table(((10.0, 0.0), (0.0, 10.0)), at_most(m0=11.0)))
    assert [price.multiplier for price in found.prices] == [0.0]
    assert (found.bound, found.gap) == (0.0, 0.0)


def test_at_the_smallest_value_there_is_the_multiplier_has_no_end():
    found = find_multipliers(Table(((10.0, 1.0), (0.0, 10.0)), at_most(m0=1.0)))
    (price,) = found.prices
    assert (price.lowest, price.highest) == (pytest.approx(10 / 9), math.inf)
    assert found.gap == 0.0
    assert found.to_data()["limits"][0]["highest"] is None


def test_no_single_decision_may_keep_limits_that_a_mixture_keeps():
    both = at_most(m0=6.0, m1=6.0)
    found = find_multipliers(Table(((1.0, 0.0, 10.0), (2.0, 10.0, 0.0)), both))
    assert (found.objective, found.gap) == (None, None)
    assert found.bound == pytest.approx(1.4)
    assert "no single decision keeps the limits" in str(found)


def test_limits_that_no_mixture_keeps_have_no_finite_dual():
    found = find_multipliers(Table(((1.0, 5.0), (2.0, 4.0)), at_most(m0=3.0)))
    assert found.bound == math.inf
    assert (found.prices, found.mixture, found.decision) == ((), (), None)
    assert found.to_data()["bound"] is None
    assert "no mixture of decisions keeps the limits" in str(found)


def test_limits_from_below_and_from_both_sides_have_prices_too():
    found = find_multipliers(Table(((0.0, 0.0), (10.0, 10.0)), Limits({"m0": Limit(minimum=4.0, maximum=6.0)})))
    prices = {(price.side, price.limit): price.multiplier for price in found.prices}
    assert prices == pytest.approx({("max", 6.0): 0.0, ("min", 4.0): 1.0})
    assert found.bound == pytest.approx(4.0)


def test_decisions_that_break_another_rule_are_on_neither_side():
    class Barred(Table):
        def evaluate(self, decision: Any) -> Evaluation:
            judged = super().evaluate(decision)
            return replace(judged, violations={**judged.violations, "barred": 1.0}) if decision[0] == 0 else judged

    found = find_multipliers(Barred(((0.0, 0.0), (10.0, 1.0), (5.0, 3.0)), at_most(m0=2.0)))
    assert found.decisions == 2
    assert found.bound == pytest.approx(7.5)


tables = st.integers(1, 3).flatmap(
    lambda limits: st.tuples(
        st.lists(st.tuples(*[st.integers(0, 9).map(float)] * (limits + 1)), min_size=1, max_size=12),
        st.tuples(*[st.integers(1, 8).map(float)] * limits),
    )
)


@hypothesis.given(tables)
@hypothesis.settings(max_examples=60)
def test_the_dual_bound_is_the_cost_of_its_mixture_and_of_no_decision_within_the_limits_exceeded(case):
    rows, limits = case
    table = Table(tuple(rows), at_most(**{f"m{index}": limit for index, limit in enumerate(limits)}))
    found = find_multipliers(table)
    within = [cost for cost, *values in rows if all(v <= b for v, b in zip(values, limits, strict=True))]
    assert found.objective == (min(within) if within else None)
    if math.isinf(found.bound):
        assert not within
        return
    # From both sides: prices bound from below, a mixture within the limits from above.
    prices = [price.multiplier for price in found.prices]
    assert min(prices) >= 0
    value = min(
        cost + sum(p * (v - b) for p, v, b in zip(prices, values, limits, strict=True)) for cost, *values in rows
    )
    assert value == pytest.approx(found.bound, abs=1e-7)
    assert sum(share.probability for share in found.mixture) == pytest.approx(1.0)
    assert len(found.mixture) <= len(limits) + 1
    mixed = np.sum([share.probability * np.array(rows[share.decision[0]]) for share in found.mixture], axis=0)
    assert mixed[0] == pytest.approx(found.bound, abs=1e-6)
    assert all(mixed[1:] <= np.array(limits) + 1e-6)
    if within:
        assert found.gap >= 0
        assert found.bound <= min(within) + 1e-7


@hypothesis.given(tables)
@hypothesis.settings(max_examples=30)
def test_no_prices_on_a_grid_give_a_better_bound(case):
    rows, limits = case
    table = Table(tuple(rows), at_most(**{f"m{index}": limit for index, limit in enumerate(limits)}))
    found = find_multipliers(table)
    data = np.array(rows)
    grid = np.stack(np.meshgrid(*[np.linspace(0, 9, 10)] * len(limits), indexing="ij"), axis=-1).reshape(
        -1, len(limits)
    )
    values = (data[:, 0] + grid @ (data[:, 1:] - np.array(limits)).T).min(axis=1)
    assert values.max() <= found.bound + 1e-7


# -- threshold queues --------------------------------------------------------------------------------------------------


def test_weak_duality_holds_on_random_queues():
    gaps, binding = [], 0
    for seed in range(30):
        free, rng = random_problem(seed), np.random.default_rng(seed)
        judged = free.evaluate_many(list(free.space))
        cheapest = min(judged, key=lambda one: one.objective).measures
        limits = {}
        for name in ("active_robots", "obsolescence"):  # both beyond what the cheapest policy has
            least = min(one.measures[name] for one in judged)
            limits[name] = float(least + rng.uniform(0.2, 1.0) * (cheapest[name] - least))
        problem = replace(free, limits=at_most(**limits))
        found, best = find_multipliers(problem), solve(problem, "exhaustive")
        assert found.objective == (None if best.objective is None else pytest.approx(best.objective, rel=1e-12))
        if math.isinf(found.bound):
            assert best.objective is None
            continue
        prices = {price.measure: price.multiplier for price in found.prices}
        binding += any(price > 0 for price in prices.values())
        assert dual_value(problem, prices) == pytest.approx(found.bound, rel=1e-9)
        for factor in (0.0, 0.5, 0.9, 1.1, 2.0):
            for name in prices:
                changed = prices | {name: factor * prices[name]}
                assert dual_value(problem, changed) <= found.bound * (1 + 1e-9)
        if best.objective is not None:
            assert found.bound <= best.objective * (1 + 1e-12)
            gaps.append(found.gap)
    assert binding >= 10
    assert sum(gap > 0 for gap in gaps) >= 10


def test_points_on_the_hull_have_no_gap_and_others_have_theirs(paper):
    front = pareto(paper, ("starvation", "response_time"))
    for point in front.points:
        limited = replace(paper, cost=WeightedSum({"starvation": 1}), limits=at_most(response_time=point.values[1]))
        found = find_multipliers(limited)
        (price,) = found.prices
        assert found.decision == point.decision
        assert found.gap == pytest.approx(point.gap, rel=1e-6, abs=1e-12)
        if point.weights is not None:
            assert found.gap == 0.0
            assert (price.lowest, price.highest) == pytest.approx(point.weights, rel=1e-6)
        else:
            assert found.gap > 1e-4


def test_the_paper_s_weights_are_multipliers_for_the_limits_its_optimum_meets(paper):
    at_optimum = paper.evaluate((-1, 2, 2)).measures
    limited = replace(
        paper, cost=WeightedSum({"starvation": 1}), limits=at_most(**{name: at_optimum[name] for name in PRICES})
    )
    found = find_multipliers(limited)
    assert found.decision == (-1, 2, 2)
    assert found.gap == 0.0
    weights = {name: price / 300 for name, price in PRICES.items()}
    assert dual_value(limited, weights) == pytest.approx(found.bound, rel=1e-12)
    # ... but so are others: limits do not tell the weights.
    assert all(price.lowest < weights[price.measure] < price.highest for price in found.prices)
    assert dual_value(limited, dict.fromkeys(PRICES, 0.0) | {"obsolescence_rate": 0.2}) == pytest.approx(found.bound)


def test_the_paper_s_weights_are_multipliers_for_no_other_limits(paper):
    # Multipliers are optimal only together with a mixture of policies that are cheapest at these prices; one is, and
    # each positive price asks that it meets its limit exactly.
    priced = sorted(one.objective for one in paper.evaluate_many(list(paper.space)))
    assert priced[1] > priced[0] + 0.5
    at_optimum = paper.evaluate((-1, 2, 2)).measures
    for name in PRICES:
        wider = {other: at_optimum[other] * (1.001 if other == name else 1.0) for other in PRICES}
        limited = replace(paper, cost=WeightedSum({"starvation": 1}), limits=at_most(**wider))
        weights = {other: price / 300 for other, price in PRICES.items()}
        assert dual_value(limited, weights) < find_multipliers(limited).bound - 1e-6


def test_a_shipped_instance_tells_its_multipliers_with_the_answer(instances):
    found = solve(instances / "threshold" / "avrachenkov-k5-loss-15.json", "exhaustive")
    told = found.extra["multipliers"]
    assert told["objective"] == pytest.approx(found.objective, rel=1e-12)
    assert told["limits"][0]["multiplier"] == pytest.approx(147.5246, abs=5e-5)
    assert told["bound"] == pytest.approx(67.00012, abs=5e-6)
    assert told["gap"] == pytest.approx(0.44372, abs=5e-6)
    assert [one["decision"] for one in told["mixture"]] == [[-1, 1, 1], [-1, 2, 2]]
    # Drawn once, 15 % are expected to be lost; used in turn, more pages come while the lossier policy runs.
    assert told["expected"]["loss"] == pytest.approx(0.15)
    assert told["time_shared"]["loss"] > 0.1502
    assert "multipliers" not in solve(instances / "threshold" / "avrachenkov-k5.json", "exhaustive").extra


def test_measures_of_policies_used_in_turn_are_ratios_of_mixed_rates(instances):
    found = find_multipliers(instances / "threshold" / "avrachenkov-k5-loss-15.json")
    turns = [(share.probability, share.evaluation.measures) for share in found.mixture]
    arrivals = sum(part * one["arrival_rate"] for part, one in turns)
    lost = sum(part * one["loss_rate"] for part, one in turns)
    served = sum(part * one["arrival_rate"] * one["success"] for part, one in turns)
    waiting = sum(part * one["mean_length"] for part, one in turns)
    told = found.time_shared
    assert told["loss"] == pytest.approx(lost / arrivals, rel=1e-12)
    assert told["success"] == pytest.approx(served / arrivals, rel=1e-12)
    assert told["loss"] + told["obsolescence"] + told["success"] == pytest.approx(1.0)
    # Little's law holds for the whole, which it would not if ratios were mixed by time.
    assert told["sojourn_time"] * told["arrival_rate"] == pytest.approx(waiting, rel=1e-9)
    assert told["success"] * told["response_time"] + told["obsolescence"] * told["obsolete_time"] == pytest.approx(
        told["sojourn_time"], rel=1e-9
    )


def test_the_relative_profit_is_over_a_single_mode_within_the_limits(paper, instances):
    assert (
        evaluate(instances / "threshold" / "avrachenkov-k5-loss-15.json", (-1, 1, 1)).extra["relative_profit"] is None
    )
    dear = replace(paper, limits=at_most(active_robots=2.0))
    told = evaluate(dear, (-1, 2, 2)).extra
    assert told["relative_profit"] == pytest.approx(
        1 - 63.54255 / 110.00900, abs=1e-6
    )  # two robots: three are too many
    assert told["single_mode_costs"]["3"] == pytest.approx(89.40512, abs=5e-6)


def test_a_verified_answer_includes_its_multipliers(instances, tmp_path, capsys):
    file, answer = instances / "threshold" / "avrachenkov-k5-loss-15.json", tmp_path / "answer.json"
    assert main(["solve", str(file), "--strategy", "exhaustive", "--out", str(answer)]) == 0
    out = capsys.readouterr().out
    assert "loss  at most 0.15  multiplier  147.525" in out
    assert "dual bound 67.00011552, gap 0.443721, attained by a draw of -1,1,1 with 0.886263; -1,2,2 with" in out
    assert main(["verify", str(answer), str(file)]) == 0
    changed = json.loads(answer.read_text())
    changed["extra"]["multipliers"]["bound"] += 0.1
    answer.write_text(json.dumps(changed))
    assert main(["verify", str(answer), str(file)]) == 2
    assert "extra.multipliers" in capsys.readouterr().err


# -- requests ----------------------------------------------------------------------------------------------------------


def test_without_limits_there_is_nothing_to_price(paper):
    with pytest.raises(RequestError, match="has no limits on measures"):
        find_multipliers(paper)


def test_without_a_cost_there_is_nothing_to_bound(paper):
    with pytest.raises(RequestError, match="has no cost to minimise"):
        find_multipliers(replace(paper, cost=None, limits=at_most(loss=0.2)))


def test_large_spaces_are_refused_with_their_size(instances):
    large = replace(load(instances / "placement" / "gautam-6x6.json"), limits=at_most(mean_delay=0.1))
    with pytest.raises(RequestError, match=r"at most 1000000 decisions; 'gautam-6x6' has 6\.87e\+10"):
        find_multipliers(large)


def test_placements_have_multipliers_too(instances):
    problem = replace(load(instances / "placement" / "gautam-2x3.json"), limits=at_most(mean_delay=0.123))
    found: Multipliers = find_multipliers(problem)
    assert found.objective == 10.0
    assert found.prices[0].multiplier == pytest.approx(154.361, abs=5e-4)
    assert found.gap == pytest.approx(10 - (8 + 154.361 * (0.12591 - 0.123)), abs=2e-3)
