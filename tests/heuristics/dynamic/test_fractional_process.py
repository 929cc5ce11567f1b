"""An average plus a quotient of averages: enumeration, linear programs, and policies that must be randomised."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from heuristics.dynamic import DecisionProcess, FractionalSearch
from heuristics.dynamic.decision_process import evaluate_policy


def random_process(seed: int, states: int = 4, actions: int = 3, lowest: float = 0.2) -> DecisionProcess:
    rng = np.random.default_rng(seed)
    rates = rng.uniform(0.1, 2.0, (actions, states, states))
    for one in rates:
        np.fill_diagonal(one, 0.0)
        np.fill_diagonal(one, -one.sum(axis=1))
    costs = np.stack(
        [
            rng.uniform(-1.0, 3.0, (actions, states)),
            rng.uniform(0.0, 4.0, (actions, states)),
            rng.uniform(lowest, 2.0, (actions, states)),
        ]
    )
    return DecisionProcess(csr_array(rates.reshape(actions * states, states)), costs)


def value_of(process: DecisionProcess, policy) -> float:
    linear, numerator, denominator = evaluate_policy(process, (1.0, 0.0, 0.0), np.array(policy)).gains
    return float(linear + numerator / denominator)


def solved(process: DecisionProcess) -> FractionalSearch:
    search = FractionalSearch(process)
    search.descend()
    search.certify()
    return search


def one_state(*actions: tuple[float, float, float]) -> DecisionProcess:
    """A single state: shares of time are all there is to choose."""
    return DecisionProcess(csr_array((len(actions), 1)), np.array(actions, dtype=float).T[:, :, np.newaxis])


@pytest.mark.parametrize("seed", range(15))
def test_the_best_of_all_policies_lies_between_bound_and_value(seed):
    process = random_process(seed)
    search = solved(process)
    least = min(value_of(process, policy) for policy in product(range(3), repeat=4))
    assert search.bound <= least + 1e-10
    assert search.value >= least - 1e-12
    assert search.value == pytest.approx(value_of(process, search.policy))
    if search.randomised > search.value:
        assert search.bound == pytest.approx(search.value, rel=1e-9)
        assert search.value == pytest.approx(least, rel=1e-10)
    else:
        assert search.bound == pytest.approx(search.randomised, rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_no_randomised_policy_is_below_the_bound(seed):
    """At a fixed denominator the best randomised policy is a linear program; the bound is the least over all."""
    process = random_process(seed, states=5)
    search = solved(process)
    linear, numerator, denominator = (column.ravel() for column in process.costs)
    balance = np.vstack([process.rates.toarray().T, np.ones(len(linear))])
    right = np.append(np.zeros(process.states), 1.0)

    def least(cost, *more):
        rows = np.vstack([balance, *(row for row, _ in more)])
        found = linprog(cost, A_eq=rows, b_eq=np.append(right, [value for _, value in more]), method="highs")
        return found.fun if found.status == 0 else np.inf

    low, high = least(denominator), -least(-denominator)
    curve = [least(linear + numerator / at, (denominator, at)) for at in np.linspace(low, high, 300)[1:-1]]
    assert search.bound <= min(curve) + 1e-7
    assert search.bound >= min(curve) - 0.02 * (max(curve) - min(curve))  # the grid is coarse
    assert min(search.value, search.randomised) == pytest.approx(search.bound, rel=1e-9)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("scale", [-300.0, -1.0, 100.0])
def test_the_bound_is_attained_whatever_the_sign_and_size_of_the_numerator(seed, scale):
    process = random_process(seed, states=3)
    process.costs[1] *= scale
    search = solved(process)
    assert min(search.value, search.randomised) == pytest.approx(search.bound, rel=1e-9)
    assert search.bound <= min(value_of(process, policy) for policy in product(range(3), repeat=3)) + 1e-7


def test_a_mixture_that_beats_every_policy_leaves_a_gap_and_is_told():
    """c = 3s/2 and n/d = 1/(1/2 + 3s/2): 2 at either end, 3/2 at s = 1/3."""
    search = solved(one_state((0.0, 1.0, 0.5), (1.5, 1.0, 2.0)))
    assert search.value == pytest.approx(2.0)
    assert search.bound == pytest.approx(1.5, rel=1e-9)
    assert search.bound <= 1.5
    assert search.randomised == pytest.approx(1.5, rel=1e-9)


def test_where_mixtures_are_worse_the_gap_closes():
    search = solved(one_state((0.0, 0.0, 0.5), (1.5, 1.0, 2.0), (0.7, 1.0, 1.0)))
    assert search.value == pytest.approx(0.0)
    assert search.bound == pytest.approx(0.0, abs=1e-9)


def test_a_descent_that_ends_too_early_is_found_out():
    """From the first action no step leads on; the bound, and with it the better policy, still comes out."""
    process = one_state((0.0, 2.0, 1.0), (1.0, 0.1, 0.1), (-1.0, 40.0, 14.0))
    search = FractionalSearch(process)
    search.descend(np.array([0]))
    search.certify()
    least = min(value_of(process, [action]) for action in range(3))
    assert search.value == pytest.approx(least)
    assert search.bound <= least + 1e-10


def test_a_denominator_that_can_vanish_is_no_obstacle():
    search = solved(one_state((0.0, 0.0, 0.0), (1.0, 2.0, 1.0), (0.5, 6.0, 2.0)))
    everything = {1: 3.0, 2: 3.5}
    assert search.value == pytest.approx(min(everything.values()))
    # Mixed with idling, the quotient of action 1 stays 2 and c falls to 0 in the limit.
    assert search.bound == pytest.approx(2.0, abs=0.01)
    assert search.bound <= 2.0 + 1e-9


def test_without_any_denominator_there_is_no_cost():
    with pytest.raises(ValueError, match="denominator is 0 under every policy"):
        FractionalSearch(one_state((1.0, 0.0, 0.0), (2.0, 1.0, 0.0))).descend()


def test_a_search_that_is_ended_keeps_what_it_knows():
    process = random_process(2, states=30, actions=4)
    calls = []

    def watch(_):
        calls.append(1)
        if len(calls) > 12:
            raise TimeoutError

    search = FractionalSearch(process, watch=watch)
    with pytest.raises(TimeoutError):
        search.descend()
        search.certify()
    assert search.policy is not None
    assert search.value == pytest.approx(value_of(process, search.policy))
    assert search.bound <= solved(process).value


@pytest.mark.parametrize("power", [-600, -40, 40, 600])
@pytest.mark.parametrize("seed", [1, 4])
def test_costs_may_be_of_any_size(seed, power):
    """A power of two rounds nothing: the same search, step by step, in another unit."""
    usual, unit = random_process(seed), 2.0**power
    costs = usual.costs * np.array([unit, unit, 1.0])[:, np.newaxis, np.newaxis]
    one, other = solved(usual), solved(DecisionProcess(usual.rates, costs))
    assert (other.value, other.bound) == (unit * one.value, unit * one.bound)
    assert (other.evaluations, other.pieces) == (one.evaluations, one.pieces)
