"""Relative value iteration over its protocol: a process that a sweep halves."""

from dataclasses import dataclass, field

import pytest

from heuristics import BinaryVectors, Budget, Evaluation, Status, UnsupportedProblem, run
from heuristics.dynamic import Closing, Swept, ValueIteration


@dataclass(frozen=True)
class Halving:
    """Brackets around 1 that every sweep halves, down to a floor; the greedy policy is right after three sweeps."""

    name: str = "halving"
    floor: float = 0.0
    space: BinaryVectors = field(default_factory=lambda: BinaryVectors(2))

    def evaluate(self, decision):
        return Evaluation(1.0 + sum(decision))

    def unsweepable(self, rule):
        return "it is printed nowhere." if rule == "paper" and self.floor else None

    def sweeps(self, rule):
        return HalvingSweeps(self)


@dataclass(frozen=True)
class HalvingSweeps:
    problem: Halving
    tolerance: float = 1e-3

    def start(self):
        return 0

    def sweep(self, values):
        width = max(0.5 ** (values + 1), self.problem.floor)
        return Swept(values + 1, 1.0 - width, 1.0 + width, change=0.5 ** (values + 1))

    def greedy(self, values):
        return (0, 0) if values >= 3 else (1, 0)

    def close(self, values):
        return Closing(details={"last": values})


def test_sweeps_end_when_the_bracket_is_narrow_enough():
    result = run(Halving(), ValueIteration(accuracy=1e-3))
    assert result.extra["sweeps"] == 11  # 2 * 2^-11 is the first width below 1e-3
    assert result.extra["last"] == 11
    assert result.extra["bracket"] == [1 - 0.5**11, 1 + 0.5**11]
    assert result.status == Status.FEASIBLE and result.bound == 1 - 0.5**11
    assert result.decision == (0, 0)


def test_the_rule_of_the_paper_looks_at_changes():
    result = run(Halving(), ValueIteration(rule="paper"))
    assert result.extra["sweeps"] == 10  # 2^-10 is the first change below 1e-3


def test_brackets_that_no_longer_narrow_end_the_run_and_say_why():
    result = run(Halving(floor=0.01), ValueIteration(accuracy=1e-6))
    assert result.stopped_by == "rounding"
    assert result.extra["bracket"] == [0.99, 1.01]
    assert result.decision == (0, 0) and result.status == Status.FEASIBLE


def test_sweeps_can_be_limited():
    result = run(Halving(), ValueIteration(sweeps=2))
    assert result.stopped_by == "sweeps" and result.decision == (1, 0)


def test_policies_on_the_way_are_shown():
    result = run(Halving(), ValueIteration(accuracy=1e-6), Budget(evaluations=1))
    assert result.stopped_by == "evaluations" and result.decision == (1, 0)


def test_a_rule_the_problem_does_not_know_is_refused():
    with pytest.raises(UnsupportedProblem, match="printed nowhere"):
        run(Halving(floor=0.1), ValueIteration(rule="paper"))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"accuracy": 0.0}, "accuracy must be between 0 and 1"),
        ({"rule": "guess"}, "rule must be 'certified' or 'paper'"),
        ({"sweeps": 0}, "sweeps must be 1 or more"),
    ],
)
def test_parameters_out_of_range_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        ValueIteration(**options)
