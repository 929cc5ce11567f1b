"""Pareto fronts: what dominates, what a weighted sum finds, both roads to a front, and pictures of it."""

import csv
import doctest
import itertools
import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import optmodels.studies.pareto_search
from heuristics import Evaluation, Exhaustive, Problem, UnsupportedProblem, interrupting
from heuristics.spaces import IntegerBox
from optmodels.costs import Limit, Limits
from optmodels.errors import RequestError
from optmodels.instance import load
from optmodels.studies import Front, pareto, pareto_search, plot_front
from optmodels.studies.pareto_search import Archive, Candidate, Objective, non_dominated, supports


@dataclass(frozen=True)
class Table:
    """A problem whose measures stand in a list."""

    rows: tuple[tuple[float | None, float], ...]
    cost: Any = None
    limits: Limits = field(default_factory=Limits)
    name: str = "table"
    measure_names: ClassVar[tuple[str, ...]] = ("first", "second")

    @property
    def space(self) -> IntegerBox:
        return IntegerBox((0,), (len(self.rows) - 1,))

    def evaluate(self, decision: Any) -> Evaluation:
        first, second = self.rows[decision[0]]
        measures = {"first": first, "second": second}
        violations = self.limits.violations(measures)
        if first is None:
            return Evaluation(0.0, violations, measures)
        return Evaluation(first if self.cost is None else self.cost(measures), violations, measures)


@dataclass(frozen=True)
class Proving:
    """Proves its answers, and is no enumeration that the front could take a short cut with."""

    name: ClassVar[str] = "proving"
    needs: ClassVar[type] = Problem

    def solve(self, oracle: Any, rng: np.random.Generator) -> Any:
        return Exhaustive().solve(oracle, rng)


@dataclass(frozen=True)
class Unlimited(Proving):
    """Takes no limits."""

    name: ClassVar[str] = "unlimited"
    takes_limits: ClassVar[bool] = False


@pytest.fixture(scope="module")
def paper(instances):
    """The example of section 7, K = 5."""
    return load(instances / "threshold" / "avrachenkov-k5.json")


def values(front: Front) -> list[tuple[float, float]]:
    return [point.values for point in front.points]


def slow_front(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """By the definition, every pair compared."""
    return sorted({p for p in points if not any(q[0] <= p[0] and q[1] <= p[1] and q != p for q in points)})


# -- points ------------------------------------------------------------------------------------------------------------

numbers = st.integers(0, 12).map(float)
clouds = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=30)


@hypothesis.given(clouds)
def test_the_front_is_what_the_definition_says_and_counts_equal_points(points):
    front = non_dominated([Candidate(a, b, (index,)) for index, (a, b) in enumerate(points)])
    assert [(one.first, one.second) for one in front] == slow_front(points)
    assert [one.equivalent for one in front] == [points.count((one.first, one.second)) for one in front]
    assert [one.decision for one in front] == [(points.index((one.first, one.second)),) for one in front]


@hypothesis.given(clouds)
def test_a_point_is_supported_if_and_only_if_some_weighted_sum_has_it_as_its_least(points):
    front = slow_front(points)
    pairs = [(p, q) for p, q in itertools.combinations(front, 2)]
    slopes = sorted({(q[0] - p[0]) / (p[1] - q[1]) for p, q in pairs})
    middles = [(a + b) / 2 for a, b in itertools.pairwise(slopes)]
    weights = [1e-9, *slopes, *middles, 1e9]
    for point, support in zip(front, supports(front), strict=True):
        least = [w for w in weights if point[0] + w * point[1] <= min(a + w * b for a, b in points) * (1 + 1e-12)]
        assert (support.weights is not None) == bool(least)
        if support.weights is not None:
            low, high = support.weights
            assert all(low * (1 - 1e-9) <= w <= high * (1 + 1e-9) or w in (1e-9, 1e9) for w in least)
            assert all(w in least for w in weights if low < w < high)
            assert support.gap == 0
        else:
            # The best mixture of other points that is as good in the second number, by trying all pairs.
            mixed = [
                (p[0] * (point[1] - q[1]) + q[0] * (p[1] - point[1])) / (p[1] - q[1])
                for p, q in pairs
                if q[1] <= point[1] <= p[1]
            ]
            assert support.gap == pytest.approx(point[0] - min(mixed))


def test_a_single_point_is_supported_by_every_weight():
    assert supports([(1.0, 1.0)])[0].weights == (0.0, math.inf)
    assert supports([]) == []


def test_numbers_that_differ_by_rounding_are_one_point():
    tiny = 1 + 1e-13
    front = non_dominated([Candidate(1.0, 2.0, "a"), Candidate(tiny, 2.0 / tiny, "b"), Candidate(1.0 / tiny, 3.0, "c")])
    assert [(one.decision, one.equivalent) for one in front] == [("a", 2)]
    apart = non_dominated([Candidate(1e-12, 2.0, "a"), Candidate(2e-12, 1.0, "b")])
    assert len(apart) == 2  # small numbers are told apart by their own size


def test_points_shown_one_by_one_give_the_same_front_as_all_at_once(monkeypatch):
    monkeypatch.setattr(pareto_search, "MERGED_AT_ONCE", 7)
    monkeypatch.setattr(pareto_search, "SHOWN", 20)
    rng = np.random.default_rng(1)
    points = [Candidate(float(a), float(b), (i,)) for i, (a, b) in enumerate(rng.integers(0, 30, (200, 2)))]
    archive = Archive()
    for point in points:
        archive.add(point)
    assert list(archive.front()) == non_dominated(points)
    assert archive.count == 200
    shown = archive.dominated()
    assert 0 < len(shown) <= 20
    assert set(shown) <= {(one.first, one.second) for one in points}
    assert not set(shown) & {(one.first, one.second) for one in archive.front()}


# -- enumeration -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "measures",
    [("starvation", "response_time"), ("active_robots", "starvation"), ("max:success", "starvation")],
    ids=str,
)
def test_the_front_of_the_paper_s_example_is_what_the_definition_says(measures, paper):
    front = pareto(paper, measures)
    (a, b), signs = front.names, [objective.sign for objective in front.objectives]
    judged = [one.measures for one in paper.evaluate_many(list(paper.space))]
    expected = slow_front([(signs[0] * round(one[a], 12), signs[1] * round(one[b], 12)) for one in judged])
    assert front.exact
    found = [(signs[0] * x, signs[1] * y) for x, y in values(front)]
    assert found == [pytest.approx(point, rel=1e-9) for point in expected]
    assert front.evaluations == front.feasible == 84
    for point in front.points:
        assert paper.evaluate(point.decision).measures[a] == pytest.approx(point.values[0], rel=1e-12)


def test_a_supported_point_is_found_by_its_weighted_sum_and_no_other_point_is(paper):
    front = pareto(paper, ("starvation", "response_time"))
    assert [point.supported for point in front.points].count(True) == 6
    judged = [
        (one.measures["starvation"], one.measures["response_time"]) for one in paper.evaluate_many(list(paper.space))
    ]
    for point in front.points:
        if point.weights is not None:
            low, high = point.weights
            middle = low + 1.0 if math.isinf(high) else (low + high) / 2
            least = min(a + middle * b for a, b in judged)
            assert point.values[0] + middle * point.values[1] == pytest.approx(least, rel=1e-12)
            assert point.gap == 0
        else:
            assert point.gap > 0


def test_only_decisions_that_keep_the_limits_are_on_the_front(paper):
    limited = replace(paper, limits=Limits({"loss": Limit(maximum=0.2)}))
    front = pareto(limited, ("starvation", "response_time"))
    judged = paper.evaluate_many(list(paper.space))
    kept = [
        (one.measures["starvation"], one.measures["response_time"]) for one in judged if one.measures["loss"] <= 0.2
    ]
    assert values(front) == [pytest.approx(point) for point in slow_front(kept)]
    assert front.feasible == len(kept) < 84


def test_a_problem_without_a_cost_has_a_front(paper):
    assert values(pareto(replace(paper, cost=None), ("loss", "starvation"))) == values(
        pareto(paper, ("loss", "starvation"))
    )


def test_decisions_without_the_measure_are_no_points():
    front = pareto(Table(((None, 0.0), (1.0, 5.0), (2.0, 1.0))), ("first", "second"))
    assert [point.decision for point in front.points] == [(1,), (2,)]


def test_ties_give_one_point_and_the_number_of_decisions():
    front = pareto(Table(((1.0, 5.0), (2.0, 1.0), (1.0, 5.0), (2.0, 3.0))), ("first", "second"))
    assert [(point.decision, point.equivalent) for point in front.points] == [((0,), 2), ((1,), 1)]
    assert front.dominated == ((2.0, 3.0),)


def test_a_front_without_feasible_decisions_is_empty_and_exact(paper):
    front = pareto(replace(paper, limits=Limits({"loss": Limit(maximum=0.02)})), ("loss", "starvation"))
    assert front.points == ()
    assert front.exact


def test_a_spent_budget_keeps_the_points_so_far_and_claims_nothing(paper):
    front = pareto(paper, ("loss", "starvation"), evaluations=30)
    assert front.evaluations == 30
    assert (front.exact, front.stopped_by) == (False, "evaluations")
    judged = paper.evaluate_many(list(itertools.islice(paper.space, 30)))
    assert values(front) == slow_front([(one.measures["loss"], one.measures["starvation"]) for one in judged])


def test_an_interrupt_keeps_the_points_so_far(paper):
    def stop(done: int, total: int, what: str) -> None:
        if done >= 40:
            interrupting.interrupt()

    front = pareto(paper, ("loss", "starvation"), progress=stop)
    assert front.stopped_by == "interrupt"
    assert 40 <= front.evaluations < 84
    assert front.points
    assert not front.exact
    interrupting.check()  # nothing is left to be answered


def test_placements_have_fronts_too(instances):
    front = pareto(instances / "placement" / "gautam-2x3.json", ("opening", "mean_delay"))
    assert front.exact
    assert values(front)[0] == pytest.approx((8.0, 0.12591), abs=5e-6)
    assert values(front)[-1] == pytest.approx((23.0, 0.086124), abs=5e-7)
    assert len(front.points) == 9


# -- limits on the second measure --------------------------------------------------------------------------------------


@pytest.mark.parametrize("measures", [("starvation", "response_time"), ("starvation", "max:success")], ids=str)
def test_a_proving_strategy_finds_the_whole_front_by_limits(measures, paper):
    exact, found = pareto(paper, measures), pareto(paper, measures, strategy=Proving())
    assert found.exact
    assert found.strategy == "proving"
    assert values(found) == [pytest.approx(point, rel=1e-9) for point in values(exact)]
    assert [point.weights for point in found.points] == [
        None if point.weights is None else pytest.approx(point.weights) for point in exact.points
    ]


@hypothesis.given(clouds)
@hypothesis.settings(max_examples=25)
def test_fronts_by_limits_are_exact_on_any_table(points):
    found = pareto(Table(tuple(points)), ("first", "second"), strategy=Proving(), runs=200)
    assert found.exact
    assert values(found) == slow_front(points)


def test_few_runs_spread_over_the_front_and_say_that_they_are_few(paper):
    found = pareto(paper, ("starvation", "active_robots"), strategy=Proving(), runs=6)
    assert (found.runs, found.stopped_by, found.exact) == (6, "runs", False)
    exact = values(pareto(paper, ("starvation", "active_robots")))
    assert {exact[0], exact[-1]} <= set(values(found)) <= set(exact)


def test_a_heuristic_claims_nothing(paper):
    found = pareto(paper, ("starvation", "response_time"), strategy="local-search", evaluations=200)
    assert not found.exact
    assert not any(point.proved for point in found.points)
    exact = pareto(paper, ("starvation", "response_time"))
    assert {point.decision for point in found.points} <= {point.decision for point in exact.points}
    again = pareto(paper, ("starvation", "response_time"), strategy="local-search", evaluations=200)
    assert values(again) == values(found)


def test_limits_of_the_instance_stay_when_the_front_adds_its_own(paper):
    limited = replace(paper, limits=Limits({"response_time": Limit(maximum=1.9), "loss": Limit(maximum=0.3)}))
    exact = pareto(limited, ("starvation", "response_time"))
    found = pareto(limited, ("starvation", "response_time"), strategy=Proving())
    assert found.exact
    assert values(found) == [pytest.approx(point) for point in values(exact)]
    assert max(second for _, second in values(found)) <= 1.9


def test_a_strategy_without_limits_is_refused_with_what_to_do(paper):
    with pytest.raises(UnsupportedProblem, match=r"does not handle limits .* limits on 'starvation'; choose one"):
        pareto(paper, ("loss", "starvation"), strategy=Unlimited())


# -- requests ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measures", "sentence"),
    [
        (("loss",), "a Pareto front needs two measures, got 1"),
        ("loss", "a Pareto front needs two measures, got 1"),
        (("loss", "loss"), "two different measures"),
        (("loss", "sucess"), "Did you mean 'success'"),
        (("loss", "most:success"), "written loss, min:loss or max:success"),
        (("loss", "max:"), "written loss, min:loss or max:success"),
    ],
)
def test_requests_that_make_no_sense_are_answered_with_a_sentence(measures, sentence, paper):
    with pytest.raises(RequestError, match=sentence):
        pareto(paper, measures)


def test_large_spaces_ask_for_a_strategy(instances):
    with pytest.raises(RequestError, match=r"6\.87e\+10 decisions, too many .* name a strategy"):
        pareto(instances / "placement" / "gautam-6x6.json", ("opening", "mean_delay"))


@pytest.mark.parametrize("runs", [0, -1, True, 2.5, "3"])
def test_runs_are_counted_from_1_on(paper, runs):
    with pytest.raises(RequestError, match="runs are counted from 1 on"):
        pareto(paper, ("loss", "starvation"), runs=runs)


def test_a_problem_that_takes_no_cost_and_has_none_has_no_front(paper):
    class Priceless:
        name, has_objective, measure_names, space = "priceless", False, ("loss", "starvation"), paper.space

        def evaluate(self, decision: Any) -> Evaluation:
            return Evaluation(math.nan, {}, {"loss": 1.0, "starvation": 1.0})

    with pytest.raises(RequestError, match="the problem takes no other cost"):
        pareto(Priceless(), ("loss", "starvation"))


def test_min_and_nothing_mean_the_same():
    assert Objective.parse("min:loss") == Objective.parse("loss") == Objective("loss")
    assert doctest.testmod(optmodels.studies.pareto_search).failed == 0


# -- what is written ---------------------------------------------------------------------------------------------------


def test_the_csv_file_has_one_line_per_point(paper, tmp_path):
    front = pareto(paper, ("starvation", "response_time"))
    front.to_csv(tmp_path / "front.csv")
    rows = list(csv.DictReader((tmp_path / "front.csv").open()))
    assert [(float(row["starvation"]), float(row["response_time"])) for row in rows] == values(front)
    assert rows[0]["decision"] == "[-1, 4, 4]"
    assert rows[-1]["weight_to"] == "inf"
    assert [row["supported"] for row in rows].count("True") == 6
    assert list(tmp_path.iterdir()) == [tmp_path / "front.csv"]


def test_the_data_are_plain_and_tell_both_measures(paper):
    data = pareto(paper, ("starvation", "max:success")).to_data()
    assert data["measures"] == [{"name": "starvation", "sense": "min"}, {"name": "success", "sense": "max"}]
    last = data["points"][-1]
    assert last["decision"] == [-1, 0, 0]
    assert last["values"] == [last["measures"]["starvation"], last["measures"]["success"]]
    assert last["weights"][1] is None
    assert (data["exact"], data["strategy"], data["problem"]) == (True, "exhaustive", "avrachenkov-k5")


def test_the_picture_has_the_front_its_hull_and_the_dominated_points(paper, tmp_path):
    front = pareto(paper, ("starvation", "response_time"))
    figure = plot_front(front, tmp_path / "front.svg")
    (axes,) = figure.axes
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert len(lines["dominated"].get_xdata()) == len(front.dominated) == 72
    assert len(lines["hull"].get_xdata()) == 6
    assert len(lines["above the hull: no weighted sum does"].get_xdata()) == 6
    assert axes.get_xlabel().replace("\n", " ") == (
        "mean time in the system of pages that are indexed, in units of time (less is better)"
    )
    assert axes.get_ylabel().replace("\n", " ") == "probability that the server has nothing to do (less is better)"
    assert figure.get_suptitle() == "avrachenkov-k5\n12 points, 6 of them on the hull, all of the front"
    assert (tmp_path / "front.svg").read_text().startswith("<?xml")


def test_between_two_points_the_picture_has_the_value_that_is_attained(paper):
    front = pareto(paper, ("starvation", "max:success"))
    (axes,) = plot_front(front).axes
    steps = next(line for line in axes.get_lines() if line.get_drawstyle().startswith("steps"))
    assert steps.get_drawstyle() == "steps-pre"  # to have this much success, one takes the next point to the right


def test_there_is_no_picture_of_an_empty_front(paper):
    with pytest.raises(RequestError, match="no point of a front"):
        plot_front(pareto(replace(paper, limits=Limits({"loss": Limit(maximum=0.02)})), ("loss", "starvation")))
