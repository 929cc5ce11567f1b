"""Policy iteration over its protocol: a small process with two actions in each state."""

import math
from dataclasses import dataclass, field

import numpy as np
import pytest

from heuristics import Budget, Evaluation, Oracle, Policies, Status, UnsupportedProblem, interrupting, run
from heuristics.dynamic import Closing, Improvement, PolicyIteration, Swept, ValueIteration
from heuristics.testing import Separable, check_strategy

#: By action and state: costs of a step, and probabilities of the next state; every state can be reached from every one.
COSTS = np.array([[5.0, 1.0, 3.0, 4.0], [4.0, 2.5, 2.0, 6.0]])
CHANCES = np.array(
    [
        [[0.5, 0.2, 0.2, 0.1], [0.1, 0.5, 0.3, 0.1], [0.3, 0.1, 0.2, 0.4], [0.2, 0.2, 0.1, 0.5]],
        [[0.1, 0.7, 0.1, 0.1], [0.4, 0.2, 0.2, 0.2], [0.1, 0.1, 0.7, 0.1], [0.6, 0.1, 0.1, 0.2]],
    ]
)


@dataclass(frozen=True)
class Process:
    """Four states, two actions, average cost per step, times a scale."""

    name: str = "process"
    scale: float = 1.0
    why_not: str | None = None
    space: Policies = field(default_factory=lambda: Policies((2, 2, 2, 2)))

    def _solved(self, decision):
        states = np.arange(4)
        chances, costs = CHANCES[list(decision), states], self.scale * COSTS[list(decision), states]
        system = np.column_stack([np.ones(4), (np.eye(4) - chances)[:, 1:]])
        found = np.linalg.solve(system, costs)
        return found[0], np.array([0.0, *found[1:]])

    def evaluate(self, decision):
        return Evaluation(float(self._solved(decision)[0]))

    def unimprovable(self):
        return self.why_not

    def first_policy(self, quick=False):
        return (1, 0, 0, 1) if quick else (0, 1, 0, 1)

    def policy_step(self, decision):
        _, values = self._solved(decision)
        ahead = self.scale * COSTS + CHANCES @ values
        moved = ahead.min(axis=0) - values
        better = tuple(ahead.argmin(axis=0).tolist())
        changes = sum(one != other for one, other in zip(better, decision, strict=True))
        return Improvement(decision, better, changes, float(moved.min()), float(moved.max()), lambda: {"told": True})

    def unsweepable(self, rule):
        return self.why_not if rule == "certified" else "there is no paper."

    def sweeps(self, rule):
        return ProcessSweeps(self)


@dataclass(frozen=True)
class ProcessSweeps:
    process: Process
    tolerance: float = 1e-5

    def start(self):
        return np.zeros(4)

    def sweep(self, values):
        image = (self.process.scale * COSTS + CHANCES @ values).min(axis=0)
        moved = image - values
        return Swept(image - image[0], float(moved.min()), float(moved.max()))

    def greedy(self, values):
        return tuple((self.process.scale * COSTS + CHANCES @ values).argmin(axis=0).tolist())

    def close(self, values):
        return Closing(details={"values": values.tolist()})


BEST = min(Process().evaluate(decision).objective for decision in Process().space)


@pytest.mark.parametrize("strategy", [PolicyIteration(), ValueIteration(accuracy=1e-12)])
def test_the_best_of_all_policies_is_found_and_proved(strategy):
    result = run(Process(), strategy)
    assert result.objective == pytest.approx(BEST, rel=1e-12)
    assert result.status == Status.OPTIMAL and result.stopped_by == "complete"
    lower, upper = result.extra["bracket"]
    assert lower <= BEST * (1 + 1e-14) and upper * (1 + 1e-14) >= BEST and upper - lower < 1e-10


@pytest.mark.parametrize("strategy", [PolicyIteration(), ValueIteration()])
def test_the_contract_is_kept(strategy):
    check_strategy(strategy, [Process()])


@pytest.mark.parametrize("strategy", [PolicyIteration(), ValueIteration()])
def test_other_problems_are_refused(strategy):
    with pytest.raises(UnsupportedProblem, match="and this one has no "):
        run(Separable(), strategy)
    with pytest.raises(UnsupportedProblem, match="not today"):
        run(Process(why_not="not today."), strategy)


def test_without_a_budget_the_problem_takes_the_first_steps_itself():
    quick, slow = run(Process(), PolicyIteration()), run(Process(), PolicyIteration(), Budget(evaluations=100))
    assert quick.objective == slow.objective
    assert quick.trace[0].objective < slow.trace[0].objective
    assert quick.extra["told"] and slow.extra["told"]


def test_a_spent_budget_leaves_the_best_policy_and_a_true_bound():
    result = run(Process(), PolicyIteration(), Budget(evaluations=1))
    assert result.stopped_by == "evaluations" and result.status == Status.FEASIBLE
    assert result.bound <= BEST < result.objective


def test_few_steps_are_told():
    result = run(Process(), PolicyIteration(steps=1), Budget(evaluations=100))
    assert result.stopped_by == "steps" and result.extra["iterations"] == 1


def test_no_steps_are_refused():
    with pytest.raises(ValueError, match="steps must be 1 or more"):
        PolicyIteration(steps=0)


def test_a_bound_near_in_absolute_terms_only_is_no_proof():
    oracle = Oracle(Process(scale=1e-12))
    oracle((1, 0, 1, 0))
    oracle.report(bound=0.5 * oracle.best.evaluation.objective)
    assert oracle.result().status == Status.FEASIBLE
    oracle.report(bound=oracle.best.evaluation.objective)
    assert oracle.result().status == Status.OPTIMAL


def test_a_bound_told_before_the_cost_became_small_is_no_proof_either():
    """0 is a bound of every cost; within 1e-9 of it lies one that another policy halves."""
    oracle = Oracle(Process(scale=1e-12))
    oracle.report(bound=0.0)
    oracle((0, 1, 0, 1))
    result = oracle.result()
    assert result.objective > 1.1e-12 * BEST
    assert (result.status, result.bound, result.gap()) == (Status.FEASIBLE, 0.0, math.inf)


def test_a_gap_to_a_bound_that_proves_nothing_is_told_as_it_is():
    oracle = Oracle(Process(scale=1e-2))
    best = oracle(min(Process().space, key=lambda one: Process().evaluate(one).objective)).objective
    oracle.report(bound=best * (1 - 1e-8))
    result = oracle.result()
    assert result.status == Status.FEASIBLE
    assert result.gap() == pytest.approx(1e-8, rel=1e-6)


@dataclass(frozen=True)
class Slow(Process):
    """Steps that look at the clock, and take longer than there is time."""

    def policy_step(self, decision):
        while True:
            interrupting.check()


def test_a_step_is_given_up_when_time_is_over_and_the_policy_at_hand_is_told():
    result = run(Slow(), PolicyIteration(), Budget(seconds=0.05))
    assert (result.status, result.stopped_by, result.evaluations) == (Status.FEASIBLE, "seconds", 0)
    assert result.decision == Process().first_policy()
    assert result.objective == Process().evaluate(result.decision).objective


@dataclass(frozen=True)
class Stopped(Process):
    """Somebody presses Ctrl-C during the second step, or before the first one."""

    at: int = 2
    steps: list = field(default_factory=list)

    def policy_step(self, decision):
        self.steps.append(decision)
        if len(self.steps) == self.at:
            interrupting.interrupt()
        return super().policy_step(decision)


@pytest.mark.parametrize("at", [1, 2])
def test_the_policy_of_an_interrupted_step_is_not_lost(at):
    problem = Stopped(at=at)
    result = run(problem, PolicyIteration(), Budget(evaluations=100))
    assert result.stopped_by == "interrupt" and result.evaluations == at - 1
    assert result.objective == Process().evaluate(problem.steps[-1]).objective
    interrupting.check()  # answered


def test_a_bound_before_any_policy_is_kept():
    oracle = Oracle(Process())
    oracle.report(bound=0.25)
    assert oracle.result().bound == 0.25 and math.isfinite(oracle.bound)


@dataclass(frozen=True)
class Plateau(Process):
    """Policies of equal cost lie between the first and the best: steps that change nothing for a while."""

    def evaluate(self, decision):
        return Evaluation(1.0 if all(decision) else 2.0)

    def first_policy(self, quick=False):
        return (0, 0, 0, 0)

    def policy_step(self, decision):
        done = sum(decision)
        better = tuple(int(place <= done) for place in range(4))
        lower = 1.0 if all(decision) else 0.5
        return Improvement(decision, better, int(better != decision), lower, 2.0, dict)


def test_steps_that_gain_nothing_are_no_reason_to_give_up():
    result = run(Plateau(), PolicyIteration())
    assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, 1.0, 1.0)
    assert result.decision == (1, 1, 1, 1)
