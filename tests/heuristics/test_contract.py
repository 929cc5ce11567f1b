"""Budget, evaluation and result: plain data that tells the truth."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from types import MappingProxyType

import numpy as np
import pytest

import heuristics
from heuristics import Budget, Evaluation, Result, Status, TracePoint


def test_importing_the_package_loads_neither_deap_nor_numba_nor_scipy() -> None:
    code = "import heuristics, sys; print([m for m in ('deap', 'numba', 'scipy', 'pyomo') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there() -> None:
    assert all(hasattr(heuristics, name) for name in heuristics.__all__)
    assert list(heuristics.__all__) == sorted(heuristics.__all__)


@pytest.mark.parametrize("name", ["seconds", "evaluations", "stall"])
@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, "3", True])
def test_a_limit_that_is_no_positive_number_is_refused(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be a positive number, got "):
        Budget(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["evaluations", "stall"])
def test_a_limit_on_evaluations_is_a_whole_number(name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be a whole number, got 2.5"):
        Budget(**{name: 2.5})  # type: ignore[arg-type]
    for whole in (3.0, np.int64(3)):
        assert type(getattr(Budget(**{name: whole}), name)) is int  # type: ignore[arg-type]


def test_a_kept_constraint_counts_neither_as_violation_nor_as_credit() -> None:
    evaluation = Evaluation(2.0, {"one": -3.0, "two": 0.0})
    assert evaluation.feasible and evaluation.violation == 0.0 and evaluation.penalised == 2.0


def test_violations_add_up_and_are_priced_on_the_scale_of_the_objective() -> None:
    evaluation = Evaluation(-4.0, {"one": 1.0, "two": 0.5, "three": -9.0})
    assert not evaluation.feasible and evaluation.violation == 1.5
    assert evaluation.penalised == -4.0 + 5.0 * 1.5
    assert Evaluation(-4.0, {"one": 1.0}, penalty=7.0).penalised == 3.0
    assert Evaluation(-4.0, {"one": 0.0}, penalty=7.0).penalised == -4.0


def test_a_violation_that_is_no_number_is_not_feasible() -> None:
    assert not Evaluation(1.0, {"strange": math.nan}).feasible


def test_evaluations_travel_between_processes() -> None:
    evaluation = Evaluation(1.0, MappingProxyType({"a": 1.0}), MappingProxyType({"b": None}), penalty=2.0)
    assert pickle.loads(pickle.dumps(evaluation)) == evaluation
    assert pickle.loads(pickle.dumps(Evaluation(1.0))) == Evaluation(1.0)


def made(objective: float | None, bound: float | None = None) -> Result:
    evaluation = None if objective is None else Evaluation(objective)
    trace = (TracePoint(0.5, 1, 9.0), TracePoint(0.7, 2, None, 1.0), TracePoint(0.6, 3, objective))
    return Result("toy", Status.FEASIBLE, (0,), evaluation, bound=bound, trace=trace)


def test_the_gap_is_relative_to_the_reference_or_to_the_proved_bound() -> None:
    assert made(12.0).gap(10.0) == pytest.approx(0.2)
    assert made(12.0, bound=8.0).gap() == pytest.approx(0.5)
    assert made(-8.0).gap(-10.0) == pytest.approx(0.2)
    assert made(9.0).gap(10.0) == pytest.approx(-0.1)
    assert made(10.0 + 1e-12).gap(10.0) == 0.0
    assert made(1.0).gap(0.0) == math.inf
    assert made(12.0).gap() is None and made(None).gap(3.0) is None


def test_the_time_to_the_best_is_that_of_the_last_improvement() -> None:
    assert made(8.0).seconds_to_best == 0.6
    assert Result("toy", Status.UNKNOWN, None, None).seconds_to_best is None


def test_a_result_reads_as_one_line() -> None:
    line = str(made(12.0, bound=8.0))
    assert line.startswith("toy: feasible, objective 12, bound 8 (") and "\n" not in line
