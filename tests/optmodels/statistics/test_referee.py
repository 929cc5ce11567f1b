"""All statistics with one call: against the parts they are made of, and against numbers computed by hand."""

import math
from dataclasses import dataclass, field
from statistics import median

import numpy as np
import plain_statistics as plain
import pytest

from heuristics import Budget, Evaluation, Result, Status, TracePoint, relative_gap
from optmodels.errors import RequestError
from optmodels.statistics import NOT_APPLICABLE, judge
from optmodels.studies import Comparison, compare
from optmodels.studies.runs import Run


@dataclass(frozen=True)
class Unfit:
    """A run whose strategy cannot treat its problem."""

    problem: str
    strategy: str
    seed: int
    result: Result
    error: str | None = "does not fit"
    status: str = NOT_APPLICABLE


@dataclass(frozen=True)
class Stored:
    """Runs as a comparison has them, with what its files say of proofs."""

    runs: tuple
    best_known: dict = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    proved: frozenset = frozenset()


def run(
    problem, strategy, seed, points=(), *, seconds=10.0, evaluations=100, status=Status.FEASIBLE, bound=None, error=None
):
    """A run whose trace is pairs of seconds and objective; ten evaluations a second."""
    trace = tuple(TracePoint(float(at), int(10 * at), value) for at, value in points)
    last = points[-1][1] if points else None
    result = Result(
        problem, status, None if last is None else (1,), None if last is None else Evaluation(last), bound=bound,
        seconds=seconds, evaluations=evaluations, trace=trace, strategy=strategy, seed=seed,
    )  # fmt: skip
    return Run(problem, strategy, seed, result, error)


@pytest.fixture(scope="module")
def many():
    """Three strategies on nine problems, five seeds, all decades, some failures; one cannot treat a problem."""
    rng = np.random.default_rng(1)
    runs = []
    for number in range(9):
        best = float(10.0 ** rng.integers(-100, 100))
        for strategy, worth in (("good", 0.02), ("poor", 0.2), ("lazy", 0.2)):
            for seed in range(5):
                if strategy == "lazy" and number == 4:
                    runs.append(Unfit("p4", "lazy", seed, Result("p4", Status.UNKNOWN, None, None)))
                    continue
                if strategy == "poor" and seed == number == 3:
                    runs.append(run("p3", "poor", 3, seconds=0.5, evaluations=5, error="fell over"))
                    continue
                end = best * (1 + worth * rng.random())
                values = sorted((best * (1 + 3 * rng.random()) for _ in range(4)), reverse=True)
                times = sorted(rng.random(5) * 10)
                values = [value for value in values if value > end]
                points = list(zip(times, [*values, end], strict=False))
                runs.append(run(f"p{number}", strategy, seed, points, bound=best * 0.9))
        runs.append(run(f"p{number}", "proof", 0, [(9.0, best)], status=Status.OPTIMAL, bound=best))
    return Stored(tuple(runs), budget=Budget(seconds=20.0))


@pytest.fixture(scope="module")
def statistics(many):
    return judge(many)


def mine(many, problem, strategy):
    return [one for one in many.runs if (one.problem, one.strategy) == (problem, strategy)]


def test_every_score_agrees_with_plain_loops(many, statistics):
    assert statistics.problems == tuple(f"p{number}" for number in range(9))
    assert statistics.strategies == ("good", "poor", "lazy", "proof")
    assert len(statistics.scores) == 35 and ("p4", "lazy") not in statistics.scores
    for (problem, strategy), score in statistics.scores.items():
        runs = mine(many, problem, strategy)
        reference = min(one.result.objective for one in many.runs if one.problem == problem and one.result.objective)
        assert statistics.references[problem].value == reference and statistics.references[problem].proved
        gaps = [math.inf if one.error else relative_gap(one.result.objective, reference) for one in runs]
        assert score.gaps == tuple(gaps)
        assert (score.median_gap, score.worst_gap) == (median(gaps), max(gaps))
        primal = [1.0 if one.error else plain.integral(one.result, "seconds", reference, 20.0) / 20 for one in runs]
        dual = [1.0 if one.error else plain.integral(one.result, "seconds", None, 20.0) / 20 for one in runs]
        assert score.primal_integral == pytest.approx(median(primal), rel=1e-12)
        assert score.primal_dual_integral == pytest.approx(median(dual), rel=1e-12)
        assert score.solved == sum(gap <= 1e-9 for gap in gaps) / len(gaps)
        for clock, charge in (("seconds", 20.0), ("evaluations", 100.0)):
            ends = [charge if one.error else getattr(one.result, clock) for one in runs]
            for place, target in enumerate(statistics.targets):
                times = [
                    math.inf if one.error else plain.time_to_target(one.result, clock, reference, target)
                    for one in runs
                ]
                assert score.times[clock][:, place].tolist() == times
                expected = plain.expected_running_time(times, ends)
                assert score.expected(clock)[place] == pytest.approx(expected)
        if len(runs) > 1:
            assert score.interval.low <= score.median_gap <= score.interval.high
        else:
            assert score.interval is None


def test_every_standing_agrees_with_its_scores(many, statistics):
    for strategy, standing in statistics.standings.items():
        scores = [score for (_, name), score in statistics.scores.items() if name == strategy]
        assert standing.median_gap == median(score.median_gap for score in scores)
        assert standing.worst_gap == max(score.worst_gap for score in scores)
        assert standing.primal_integral == median(score.primal_integral for score in scores)
        assert standing.runs == sum(score.runs for score in scores)
        everything = [gap for score in scores for gap in score.gaps]
        assert standing.solved == pytest.approx(sum(gap <= 1e-9 for gap in everything) / len(everything))
        times = [row for score in scores for row in score.times["seconds"]]
        ends = [end for score in scores for end in score.spent["seconds"]]
        for place in range(4):
            expected = plain.expected_running_time([row[place] for row in times], ends)
            assert standing.expected["seconds"][place] == pytest.approx(expected)
    assert statistics.standings["lazy"].not_applicable == ("p4",)
    assert statistics.standings["poor"].failed == 1 and statistics.standings["poor"].worst_gap == math.inf
    assert statistics.standings["proof"].best_on == 9 and statistics.standings["proof"].optimal == 9
    assert statistics.standings["proof"].mean_rank == 1.0


def test_profiles_and_ecdf_count_what_does_not_fit_as_never_done(many, statistics):
    costs = statistics.costs(0.1)
    assert costs.shape == (9, 4) and costs[4, 2] == math.inf and not np.isnan(costs).any()
    profiles = statistics.performance_profiles(0.1)
    assert list(profiles) == list(statistics.strategies)
    for place, strategy in enumerate(statistics.strategies):
        assert profiles[strategy].count == 9
        assert profiles[strategy].final == np.isfinite(costs[:, place]).mean()
    for clock in ("seconds", "evaluations"):
        reached = statistics.ecdf("lazy", clock)
        assert reached.count == 9 * 5 * 4
        flat = [
            time
            for (_, name), score in statistics.scores.items()
            if name == "lazy"
            for time in score.times[clock].ravel()
        ]
        assert reached.at(5.0) * reached.count == pytest.approx(sum(time <= 5.0 for time in flat))
    by_size = statistics.data_profiles(0.1, {f"p{number}": 9 for number in range(9)})
    plainly = statistics.data_profiles(0.1)
    assert by_size["good"].points * 10 == pytest.approx(plainly["good"].points)


def test_the_tests_are_on_medians_and_corrected(statistics):
    gaps = statistics.median_gaps()
    by_names = {(test.first, test.second): test for test in statistics.tests}
    test = by_names["good", "poor"]
    assert (test.pairs, test.wins) == (9, int((gaps[:, 0] < gaps[:, 1]).sum()))
    assert by_names["good", "lazy"].pairs == 8  # one does not fit
    assert all(test.adjusted >= test.p_value for test in statistics.tests if test.p_value is not None)
    assert by_names["good", "proof"].winner == "proof"


def test_the_same_seed_gives_the_same_statistics(many, statistics):
    again = judge(many)
    assert again.sentences == statistics.sentences
    assert [one.interval for one in again.scores.values()] == [one.interval for one in statistics.scores.values()]


def test_by_hand():
    """Two runs of a: 20 from 2 s, 10 from 6 s; 10 from 4 s. One of b: never below 15. Optimum 10, budget 10 s."""
    runs = (
        run("p", "a", 0, [(2, 20.0), (6, 10.0)]),
        run("p", "a", 1, [(4, 10.0)], seconds=5.0, evaluations=50),
        run("p", "b", 0, [(1, 15.0)]),
    )
    statistics = judge(Stored(runs, {"p": 10.0}, Budget(seconds=10.0), frozenset({"p"})), targets=[1.0, 0.5, 0.0])
    a, b = statistics.scores["p", "a"], statistics.scores["p", "b"]
    assert statistics.references["p"].label == "best known, proved"
    assert (a.median_gap, a.worst_gap, a.solved, b.median_gap, b.solved) == (0.0, 0.0, 1.0, 0.5, 0.0)
    assert a.primal_integral == pytest.approx((0.4 + 0.4) / 2)  # 2 s and half of 4 s; 4 s
    assert b.primal_integral == pytest.approx((1 + 9 / 3) / 10)
    assert a.expected().tolist() == [3.0, 5.0, 5.0]
    assert b.expected().tolist() == [1.0, 1.0, math.inf]
    assert a.expected("evaluations").tolist() == [30.0, 50.0, 50.0]
    assert a.bound_gap is None and a.primal_dual_integral == 1.0
    assert statistics.horizons == {"p": 10.0}
    assert judge(Stored(runs)).horizons == {"p": 10.0}  # the longest run
    assert judge(Stored(runs), clock="evaluations").horizons == {"p": 100.0}


def test_proofs_of_files_are_asked_for_or_found():
    runs = (run("p", "a", 0, [(1, 12.0)]),)
    assert not judge(Stored(runs, {"p": 10.0})).references["p"].proved
    assert judge(Stored(runs, {"p": 10.0}), proved={"p"}).references["p"].proved
    assert judge(Stored(runs, {"p": 10.0}, proved=frozenset({"p"}))).references["p"].proved
    assert not judge(Comparison(runs, {"p": 10.0})).references["p"].proved


def test_nothing_and_nothing_found():
    empty = judge(Comparison(()))
    assert (empty.problems, empty.scores, empty.tests) == ((), {}, ())
    assert empty.sentences == ("No run was finished.",)
    found = judge(Comparison((run("p", "a", 0, seconds=0.0, evaluations=0), run("p", "b", 0, error="fell over"))))
    a, b = found.scores["p", "a"], found.scores["p", "b"]
    assert (a.median_gap, a.primal_integral, a.unanswered, a.failed) == (math.inf, 1.0, 1, 0)
    assert (b.median_gap, b.primal_integral, b.unanswered, b.failed) == (math.inf, 1.0, 0, 1)
    assert found.standings["a"].best_on == 0
    assert found.costs(0.0).tolist() == [[math.inf, math.inf]]


def test_all_that_does_not_fit():
    nothing = Result("p", Status.UNKNOWN, None, None)
    statistics = judge(Stored((Unfit("p", "a", 0, nothing), run("p", "b", 0, [(1, 2.0)]))))
    assert statistics.standings["a"].runs == 0 and math.isnan(statistics.standings["a"].median_gap)
    assert statistics.costs(0.0).tolist() == [[math.inf, 1.0]]
    assert statistics.ecdf("a").final == 0.0
    only = judge(Stored((Unfit("p", "a", 0, nothing),)))
    assert only.references["p"].value is None and only.scores == {}


def test_a_comparison_that_was_ended_early_has_holes():
    statistics = judge(
        Comparison((run("p", "a", 0, [(1, 2.0)]), run("p", "b", 0, [(2, 2.0)]), run("q", "a", 0, [(1, 3.0)])))
    )
    assert np.isnan(statistics.costs(0.0)).tolist() == [[False, False], [False, True]]
    assert statistics.performance_profiles(0.0)["a"].count == 1


def test_no_time_at_all_is_the_last_gap():
    runs = (run("p", "a", 0, [(0, 10.0)], seconds=0.0), run("p", "b", 0, [(0, 20.0)], seconds=0.0, bound=10.0))
    statistics = judge(Comparison(runs))
    assert (statistics.scores["p", "a"].primal_integral, statistics.scores["p", "b"].primal_integral) == (0.0, 0.5)
    assert statistics.scores["p", "b"].primal_dual_integral == 0.5


def test_a_comparison_of_ours_is_judged(instances):
    comparison = compare(
        instances / "placement" / "gautam-2x3.json", ["exhaustive", "annealing"], seeds=2, evaluations=100
    )
    statistics = judge(comparison)
    assert statistics.references["gautam-2x3"].label == "best known, proved"
    assert statistics.scores["gautam-2x3", "exhaustive"].solved == 1.0
    assert repr(statistics) == "<Statistics: problems 1, strategies 2>"


def test_what_is_not_there_is_refused(statistics):
    with pytest.raises(RequestError, match=r"0\.3 is no target"):
        statistics.costs(0.3)
    with pytest.raises(RequestError, match=r"no run of .none.; strategies are good, poor, lazy, proof\."):
        statistics.ecdf("none")
