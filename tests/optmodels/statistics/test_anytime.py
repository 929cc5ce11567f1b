"""Curves, integrals and targets against plain loops, and against numbers computed by hand."""

import math

import numpy as np
import plain_statistics as plain
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heuristics import Evaluation, Result, Status, TracePoint
from optmodels.errors import RequestError
from optmodels.statistics import (
    StepCurve,
    curve_of,
    ecdf,
    expected_running_time,
    primal_dual_gap,
    primal_dual_integral,
    primal_gap,
    primal_integral,
    times_to_targets,
)

MISSING = math.inf


def result(points, seconds=10.0, evaluations=1000, objective=None, bound=None):
    """A run with a trace of (seconds, evaluations, objective, bound)."""
    trace = tuple(TracePoint(*point) for point in points)
    return Result(
        "p", Status.FEASIBLE, None if objective is None else (1,), None if objective is None else Evaluation(objective),
        bound=bound, seconds=seconds, evaluations=evaluations, trace=trace,
    )  # fmt: skip


decades = st.builds(lambda sign, mantissa, power: sign * mantissa * 10.0**power,
                    st.sampled_from([-1, 1]), st.floats(1, 9.99), st.integers(-300, 300))  # fmt: skip
values = st.one_of(st.none(), st.sampled_from([-2.0, -1.0, 0.0, 1.0, 2.0]), st.floats(-10, 10), decades)
moments = st.one_of(st.sampled_from([0.0, 1.0, 2.0, 10.0]), st.floats(0, 20))


@st.composite
def runs(draw):
    """Traces in any order, with ties in time, missing values, and a last word of their own."""
    points = draw(st.lists(st.tuples(moments, st.integers(0, 50), values, values), max_size=8))
    return result(
        points,
        draw(moments),
        draw(st.integers(0, 60)),
        draw(values.filter(lambda value: value is not None)),
        draw(values),
    )


@given(runs(), st.sampled_from(["seconds", "evaluations"]), st.lists(st.floats(-1, 30), max_size=6))
def test_curves_are_the_best_so_far(run, clock, asked):
    curve = curve_of(run, clock)
    assert (np.diff(curve.times) >= 0).all()
    assert not (curve.objectives[1:] > curve.objectives[:-1]).any() and not (curve.bounds[1:] < curve.bounds[:-1]).any()
    assert (curve.end, curve.clock) == (getattr(run, clock), clock)
    steps = plain.steps(run, clock)
    for x in [*asked, *curve.times]:
        before = [step for step in steps if step[0] <= x]
        best, bound = before[-1][1:] if before else (None, None)
        objective, low = curve.at(x)
        assert objective == (math.inf if best is None else best)
        assert low == (-math.inf if bound is None else bound)


@given(runs(), st.sampled_from(["seconds", "evaluations"]), values, st.floats(1e-3, 1e3))
def test_integrals_agree_with_plain_loops(run, clock, reference, horizon):
    curve = curve_of(run, clock)
    if reference is not None:
        expected = plain.integral(run, clock, reference, horizon)
        assert primal_integral(curve, reference, horizon) == pytest.approx(expected, rel=1e-12, abs=1e-12 * horizon)
        mean = primal_integral(curve, reference, horizon, normalized=True)
        assert mean == pytest.approx(expected / horizon, rel=1e-12, abs=1e-12)
        assert -1e-12 <= mean <= 1 + 1e-12
    expected = plain.integral(run, clock, None, horizon)
    assert primal_dual_integral(curve, horizon) == pytest.approx(expected, rel=1e-12, abs=1e-12 * horizon)


@given(runs(), st.sampled_from(["seconds", "evaluations"]), values.filter(lambda value: value is not None))
def test_times_to_targets_agree_with_plain_loops(run, clock, reference):
    targets = [0.5, 0.1, 0.0, 1e-3, 10.0]
    times = times_to_targets(curve_of(run, clock), reference, targets)
    assert times.tolist() == [plain.time_to_target(run, clock, reference, target) for target in targets]


@given(st.lists(values, max_size=6), values.filter(lambda value: value is not None))
def test_gaps_agree_with_the_definition(found, reference):
    given_ = [MISSING if value is None else value for value in found]
    gaps = primal_gap(given_, reference)
    assert gaps.tolist() == [plain.gap(value, reference) for value in given_]
    assert ((gaps >= 0) & (gaps <= 1)).all()
    bounds = [reference] * len(given_)
    assert primal_dual_gap(given_, bounds).tolist() == gaps.tolist()


def test_gap_of_berthold_by_hand():
    """His three cases: both 0, signs that differ, and the distance relative to the larger of the two."""
    assert primal_gap([0.0], 0.0) == [0.0]
    assert primal_gap([5.0, 0.0], -5.0).tolist() == [1.0, 1.0]
    assert primal_gap([12.0, 20.0, 1e9], 10.0).tolist() == pytest.approx([1 / 6, 0.5, 1 - 1e-8])
    assert primal_gap([-8.0], -10.0).tolist() == pytest.approx([0.2])
    assert primal_gap([1e-9], 0.0) == [1.0]
    assert primal_gap([math.nan, math.inf], 3.0).tolist() == [1.0, 1.0]
    assert primal_dual_gap([1.0, math.inf, 1.0], [-math.inf, 0.5, -0.5]).tolist() == [1.0, 1.0, 1.0]


def test_integral_by_hand():
    """Nothing for 2 s, 20 against 10 until 5 s, 12.5 until 8 s, then the optimum: 2 + 3/2 + 3/5."""
    run = result([(2, 10, 20.0, None), (5, 30, 12.5, 5.0), (8, 70, 10.0, 5.0)], seconds=9.0, objective=10.0, bound=10.0)
    curve = curve_of(run)
    assert primal_integral(curve, 10.0, 20.0) == pytest.approx(4.1)
    assert primal_integral(curve, 10.0, 4.0) == pytest.approx(3.0)  # cut at the horizon
    assert primal_integral(curve, 10.0, 1.0) == 1.0  # before anything was found
    # the bound: none for 5 s, 5 against 12.5 for 3 s, 5 against 10 for 1 s, and the proof at the very end
    assert primal_dual_integral(curve, 20.0) == pytest.approx(5 + 3 * 0.6 + 0.5)
    assert primal_integral(curve_of(run, "evaluations"), 10.0, 100.0, normalized=True) == pytest.approx(
        (10 + 20 / 2 + 40 / 5) / 100
    )


def test_a_run_without_a_trace_counts_from_its_end():
    curve = curve_of(result([], seconds=3.0, objective=5.0))
    assert times_to_targets(curve, 5.0).tolist() == [3.0] * 4
    assert primal_integral(curve, 5.0, 10.0) == 3.0
    nothing = curve_of(result([], seconds=3.0))
    assert times_to_targets(nothing, 5.0).tolist() == [math.inf] * 4
    assert primal_integral(nothing, 5.0, 10.0) == primal_dual_integral(nothing, 10.0) == 10.0


@pytest.mark.parametrize(
    ("reference", "value", "target", "reached"),
    [
        (1.0, 1.1, 0.1, True),  # 1.1 - 1 is a little more than 0.1 in binary
        (10.0, 11.0, 0.1, True),
        (10.0, 11.0001, 0.1, False),
        (10.0, 10.0 * (1 + 0.9e-9), 0.0, True),  # within the tolerance of proofs
        (10.0, 10.0 * (1 + 2e-9), 0.0, False),
        (-10.0, -9.0, 0.1, True),
        (-10.0, -8.99, 0.1, False),
        (0.0, 0.0, 0.0, True),
        (0.0, 1e-300, 10.0, False),
        (1e300, 1.05e300, 0.1, True),
        (5.0, 4.0, 0.0, True),  # beaten
    ],
)
def test_what_reaches_a_target(reference, value, target, reached):
    curve = curve_of(result([(1.0, 1, value, None)], objective=value))
    assert (times_to_targets(curve, reference, target) < math.inf).tolist() == [reached]


# -- expected running time and ECDF ------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.one_of(st.just(math.inf), st.floats(0, 1e6)), st.floats(0, 1e6)), max_size=9))
def test_expected_running_time_agrees_with_a_loop(pairs):
    times, spent = [one for one, _ in pairs], [two for _, two in pairs]
    expected = plain.expected_running_time(times, spent)
    assert float(expected_running_time(times, spent)) == pytest.approx(expected)
    if pairs:
        both = expected_running_time(np.array([times, times]).T, spent)
        assert both.tolist() == pytest.approx([expected, expected])


def test_expected_running_time_by_hand():
    """Three of five runs succeed after 10, 20 and 30; the others end after 100 and 50."""
    times = [10.0, math.inf, 20.0, math.inf, 30.0]
    assert float(expected_running_time(times, [100, 100, 100, 50, 100])) == pytest.approx(210 / 3)
    assert float(expected_running_time([math.inf] * 2, [1.0, 1.0])) == math.inf
    assert float(expected_running_time([], [])) == math.inf


def test_expected_running_time_is_the_mean_of_restarts():
    """Repeat runs until one succeeds: the mean of the total is what the formula says."""
    rng = np.random.default_rng(1)
    times, spent = np.array([3.0, 5.0, np.inf, np.inf]), np.array([9.0, 9.0, 4.0, 8.0])
    totals = []
    for _ in range(20_000):
        total = 0.0
        while math.isinf(times[drawn := rng.integers(4)]):
            total += spent[drawn]
        totals.append(total + times[drawn])
    error = np.std(totals) / math.sqrt(len(totals))
    assert abs(np.mean(totals) - float(expected_running_time(times, spent))) < 4 * error


def test_ecdf_counts_triples():
    rng = np.random.default_rng(2)
    parts = [rng.choice([1.0, 2.0, 5.0, np.inf], size=(seeds, 4)) for seeds in (1, 3, 7)]
    flat = [value for part in parts for row in part for value in row]
    curve = ecdf(parts)
    assert curve.count == 44
    for x in (0.0, 1.0, 1.5, 2.0, 5.0, 100.0):
        assert curve.at(x) == plain.share_within(flat, x)
    assert ecdf([]).final == 0.0
    assert ecdf(parts[1]).count == 12  # one array is as good as a list of them


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda curve: curve_of(result([]), "hours"), "'seconds' or 'evaluations', got 'hours'"),
        (lambda curve: primal_integral(curve, 1.0, 0.0), "positive, finite number, got 0.0"),
        (lambda curve: primal_dual_integral(curve, math.inf), "positive, finite number, got inf"),
        (lambda curve: primal_gap([1.0], math.nan), "reference is a finite number, got nan"),
        (lambda curve: times_to_targets(curve, math.inf), "reference is a finite number, got inf"),
        (lambda curve: times_to_targets(curve, 1.0, [0.1, -0.1]), r"zero or more, got \[0.1, -0.1\]"),
    ],
)
def test_what_makes_no_sense_is_refused(call, words):
    curve = StepCurve(np.array([1.0]), np.array([2.0]), np.array([1.0]), 3.0)
    with pytest.raises(RequestError, match=words):
        call(curve)
