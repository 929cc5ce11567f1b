"""Shares of one run: limits of their own, memory in common, and claims that are their own."""

import doctest

import pytest

from heuristics import Budget, BudgetSpent, Oracle, Share, oracle_share
from heuristics.testing import Separable

ONE, TWO, BEST = (0, 0, 0), (1, 0, 0), (1, 0, 1)


@pytest.fixture
def whole():
    return Oracle(Separable((1, 0, 1)), Budget(evaluations=4))


def test_the_examples_in_the_documentation_hold():
    assert doctest.testmod(oracle_share).failed == 0


def test_a_share_ends_with_its_own_limit_and_with_that_of_the_run(whole):
    small, large = (Share(whole, whole.problem, Budget(evaluations=count)) for count in (1, 100))
    small(ONE)
    with pytest.raises(BudgetSpent, match="evaluations"):
        small(TWO)
    assert large.remaining_evaluations == 3
    for decision in (TWO, BEST, (0, 1, 0)):
        large(decision)
    with pytest.raises(BudgetSpent, match="evaluations"):
        large((0, 1, 1))
    assert (whole.evaluations, small.evaluations, large.evaluations) == (4, 1, 3)


def test_what_one_has_asked_is_free_for_the_other_and_counts_as_its_own(whole):
    first, second = (Share(whole, whole.problem) for _ in range(2))
    first(BEST)
    assert second.best is None
    assert second.many([BEST])[0].objective == first.best.evaluation.objective
    assert (second.best.decision, second.evaluations, whole.evaluations) == (BEST, 0, 1)


def test_a_bound_of_one_ends_the_other_and_is_not_its_merit(whole):
    first, second = (Share(whole, whole.problem) for _ in range(2))
    lowest = second(BEST).objective
    first.report(lowest)
    assert whole.settled and second.settled
    with pytest.raises(BudgetSpent, match="settled"):
        second(ONE)
    assert (second.result().status, second.result().bound) == ("feasible", None)
    assert whole.result().status == "optimal"


def test_a_bound_that_does_not_hold_for_all_is_kept_apart(whole):
    first, second = (Share(whole, whole.problem, bounds=False) for _ in range(2))
    first.report(second(BEST).objective)
    assert whole.bound is None and not second.settled
    second(ONE)
