"""Average-cost decision processes: policy iteration against enumeration and linear programs, and the certificates."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from heuristics.dynamic import DecisionProcess, decision_process, solve_process
from heuristics.dynamic.decision_process import closed_sets, evaluate_policy


def random_process(seed: int, states: int = 4, actions: int = 2, columns: int = 1, density: float = 1.0):
    rng = np.random.default_rng(seed)
    rates = rng.uniform(0.1, 2.0, (actions, states, states)) * (rng.random((actions, states, states)) < density)
    for one in rates:
        one[np.arange(states), (np.arange(states) + 1) % states] += 0.1  # a ring: every state reaches every other
        np.fill_diagonal(one, 0.0)
        np.fill_diagonal(one, -one.sum(axis=1))
    costs = rng.uniform(-1.0, 3.0, (columns, actions, states))
    return DecisionProcess(csr_array(rates.reshape(actions * states, states)), costs)


def gain_of(process: DecisionProcess, policy) -> np.ndarray:
    """Average costs by the plain linear system p Q = 0, p e = 1."""
    generator = process.generator(np.array(policy)).toarray()
    system = np.vstack([generator.T, np.ones(process.states)])
    share = np.linalg.lstsq(system, np.append(np.zeros(process.states), 1.0), rcond=None)[0]
    return process.costs_of(np.array(policy)) @ share


def least_by_program(process: DecisionProcess, weights) -> float:
    """The same by the linear program over shares of time in each state and action."""
    cost = np.tensordot(np.asarray(weights, float), process.costs, axes=1).ravel()
    balance = np.vstack([process.rates.toarray().T, np.ones(len(cost))])
    found = linprog(cost, A_eq=balance, b_eq=np.append(np.zeros(process.states), 1.0), method="highs")
    return float(found.fun)


@pytest.mark.parametrize("seed", range(12))
def test_policy_iteration_finds_the_best_of_all_policies_and_proves_it(seed):
    process = random_process(seed, states=4, actions=3)
    found = solve_process(process, (1.0,))
    everything = [gain_of(process, policy)[0] for policy in product(range(3), repeat=4)]
    assert found.gain == pytest.approx(min(everything), rel=1e-12)
    assert found.bound <= min(everything) + 1e-12
    assert found.bound == pytest.approx(found.gain, abs=1e-11)
    assert gain_of(process, found.policy)[0] == pytest.approx(found.gain, rel=1e-12)


def ladder(rungs: int):
    """State 0 is free and kept for ever; from rung k one steps to rung k - 1 for 2, or jumps to 0 for 11 (10 from 1).

    If all jump, a step from rung k looks dear until the rungs below it are put right: one by one, while nothing recurs
    there and the gain is 0 all the time.
    """
    states = rungs + 1
    rates, costs = np.zeros((2, states, states)), np.zeros((1, 2, states))
    rates[1, 0, rungs], costs[0, 1, 0] = 1.0, 100.0
    for k in range(1, states):
        rates[0, k, k - 1], costs[0, 0, k] = 1.0, 2.0
        rates[1, k, 0], costs[0, 1, k] = 1.0, 10.0 if k == 1 else 11.0
    for one in rates:
        np.fill_diagonal(one, -one.sum(axis=1))
    return DecisionProcess(csr_array(rates.reshape(2 * states, states)), costs)


def test_states_that_do_not_recur_are_put_right_although_the_gain_stands_still():
    found = solve_process(ladder(5), (1.0,), np.array([0, 1, 1, 1, 1, 1]))
    assert found.gain == 0.0
    assert found.bound == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_policy_iteration_agrees_with_the_linear_program_of_a_weighted_sum(seed):
    process = random_process(seed, states=25, actions=4, columns=3, density=0.3)
    weights = np.random.default_rng(seed).uniform(-1, 2, 3)
    found = solve_process(process, weights)
    assert found.gain == pytest.approx(least_by_program(process, weights), rel=1e-8)
    assert found.bound == pytest.approx(found.gain, abs=1e-10)
    assert found.gain == pytest.approx(float(weights @ found.gains))


def test_any_policy_and_any_start_bounds_all_others():
    process = random_process(3, states=4, actions=3)
    least = min(gain_of(process, policy)[0] for policy in product(range(3), repeat=4))
    bounds = [evaluate_policy(process, (1.0,), np.array(policy)).bound for policy in product(range(3), repeat=4)]
    assert max(bounds) == pytest.approx(least, abs=1e-11)
    assert all(bound <= least + 1e-12 for bound in bounds)
    assert min(bounds) < least - 0.1  # a bad policy proves little


@pytest.mark.parametrize("seed", range(4))
def test_iterations_give_what_factors_give(seed, monkeypatch):
    process = random_process(seed, states=60, actions=3, density=0.2)
    exact = solve_process(process, (1.0,))
    monkeypatch.setattr(decision_process, "LARGEST_FACTORISATION", 0.0)
    iterated = solve_process(process, (1.0,))
    assert iterated.gain == pytest.approx(exact.gain, rel=1e-11)
    assert iterated.bound == pytest.approx(exact.gain, rel=1e-9)
    assert iterated.bound <= exact.gain + 1e-12


def test_actions_that_are_not_allowed_are_not_chosen():
    process = random_process(5, states=5, actions=2)
    allowed = np.ones((2, 5), dtype=bool)
    best = solve_process(process, (1.0,)).policy
    allowed[best[2], 2] = False
    bound = DecisionProcess(process.rates, process.costs, allowed)
    found = solve_process(bound, (1.0,))
    assert found.policy[2] != best[2]
    allowed_policies = [p for p in product(range(2), repeat=5) if allowed[list(p), range(5)].all()]
    assert found.gain == pytest.approx(min(gain_of(process, policy)[0] for policy in allowed_policies))


def ring_of_four() -> DecisionProcess:
    """Two actions walk round four states in opposite directions; mixed, they can stay with two of them for ever."""
    forward = np.roll(np.eye(4), 1, axis=1) - np.eye(4)
    backward = np.roll(np.eye(4), -1, axis=1) - np.eye(4)
    costs = np.array([[[1.0, 1.0, 5.0, 5.0], [1.0, 1.0, 5.0, 5.0]]])
    return DecisionProcess(csr_array(np.vstack([forward, backward])), costs)


def test_a_policy_that_may_stay_with_either_of_two_sets_is_led_to_the_cheaper():
    process = ring_of_four()
    policy = np.array([0, 1, 0, 1])  # 0 <-> 1 and 2 <-> 3
    assert [states.tolist() for states in closed_sets(process.generator(policy))] == [[0, 1], [2, 3]]
    found = evaluate_policy(process, (1.0,), policy)
    assert found.gain == pytest.approx(1.0)
    assert found.distribution == pytest.approx([0.5, 0.5, 0.0, 0.0])
    assert len(closed_sets(process.generator(found.policy))) == 1
    assert solve_process(process, (1.0,), policy).gain == pytest.approx(1.0)


def test_from_the_dearer_of_two_sets_policy_iteration_finds_the_way_out():
    process = ring_of_four()
    found = solve_process(process, (1.0,), np.array([1, 0, 0, 1]))
    assert found.gain == pytest.approx(1.0)
    assert found.bound == pytest.approx(1.0)


def test_states_that_no_policy_connects_are_refused():
    apart = csr_array(np.kron(np.eye(2), [[-1.0, 1.0], [1.0, -1.0]]))
    process = DecisionProcess(apart, np.array([[[1.0, 1.0, 2.0, 2.0]]]))
    with pytest.raises(ValueError, match=r"state 2 cannot reach state 0"):
        solve_process(process, (1.0,))


def test_shapes_that_do_not_fit_are_refused():
    process = random_process(0)
    with pytest.raises(ValueError, match="a row for each of 2 actions in 4 states"):
        DecisionProcess(process.rates[:5], process.costs)
    with pytest.raises(ValueError, match="needs an allowed action"):
        DecisionProcess(process.rates, process.costs, np.zeros((2, 4), dtype=bool))
    with pytest.raises(ValueError, match="finite"):
        DecisionProcess(process.rates, process.costs * np.inf)


def test_a_watch_sees_the_best_so_far_and_can_end_the_iteration():
    process = random_process(1, states=30, actions=4, density=0.3)
    seen = []

    def watch(best):
        seen.append(best)
        if len(seen) == 3:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        solve_process(process, (1.0,), watch=watch)
    assert seen[0] is None
    assert seen[2].gain <= seen[1].gain
