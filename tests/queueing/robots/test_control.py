"""The best activation policy: against linear programming and enumeration, with a bracket that proves it."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from queueing.robots import RobotQueue, best_policy, best_static, control, policy_step, static_measures
from queueing.robots import queue as robots_queue
from queueing.robots.control import lead_to
from queueing.robots.feedback_states import closed_class
from queueing.robots.relative_values import residuals


def random_case(rng, largest=7):
    queue = RobotQueue(int(rng.integers(1, largest)), int(rng.integers(2, largest)), *rng.uniform(0.1, 2.0, 2))
    cost = queue.cost(rng.uniform(0.1, 3.0), rng.uniform(0.2, 2.0), rng.uniform(0.0, 0.2), rng.uniform(0.0, 0.2))
    return queue, cost


def least_cost_by_linear_program(queue, cost):
    """Least average cost over frequencies of (state, what is done after a service, what after an arrival)."""
    most, robots = queue.capacity, queue.robots
    states = [(q, r) for q in range(most + 1) for r in range(robots + 1) if q + r > 0]
    number = {state: index for index, state in enumerate(states)}

    def choices(q, r):
        if (q, r) == (0, 0):
            return [(0, 1)]
        return [(q, r + a) for a in (0, 1) if r + a <= robots]

    columns, prices = [], []
    for q, r in states:
        services = choices(q - 1, r) if q > 0 else [None]
        arrivals = choices(min(q + 1, most), r - 1) if r > 0 else [None]
        for one, other in product(services, arrivals):
            column = np.zeros(len(states))
            for there, rate in ((one, queue.service_rate), (other, queue.arrival_rate * r)):
                if there is not None:
                    column[number[there]] += rate
                    column[number[q, r]] -= rate
            columns.append(column)
            prices.append(cost[q, r])
    balance = np.vstack([np.array(columns).T, np.ones(len(columns))])
    return linprog(prices, A_eq=balance, b_eq=[*np.zeros(len(states)), 1.0], method="highs-ds").fun


def test_the_best_policy_costs_what_the_linear_program_says():
    rng = np.random.default_rng(11)
    for _ in range(40):
        queue, cost = random_case(rng)
        assert best_policy(queue, cost).gain == pytest.approx(least_cost_by_linear_program(queue, cost), rel=1e-8)


def test_the_best_policy_costs_the_least_of_all_policies():
    queue = RobotQueue(2, 2, 0.6)
    cost = queue.cost(1.3, 1.0, 0.05, 0.02)
    weights = np.array([1.3, 1.0, 0.02, 0.05])
    least = np.inf
    for free in product((0, 1), repeat=5):
        policy = np.zeros(queue.shape, dtype=np.int8)
        policy[0, 0], policy[0, 1], policy[1, 0], policy[1, 1], policy[2, 0], policy[2, 1] = 1, *free
        found = queue.measures(policy)
        values = [found.starvation, found.loss_rate, found.active_robots, found.mean_length]
        least = min(least, float(weights @ values))
    assert best_policy(queue, cost).gain == pytest.approx(least, rel=1e-13)


def test_the_bracket_is_as_narrow_as_doubles_are():
    rng = np.random.default_rng(12)
    for _ in range(60):
        queue, cost = random_case(rng, largest=12)
        found = best_policy(queue, cost)
        assert found.changes == 0
        assert found.lower <= found.gain <= found.upper
        assert found.upper - found.lower <= 1e-13 * found.gain


def test_every_step_brackets_the_optimum():
    rng = np.random.default_rng(13)
    for _ in range(40):
        queue, cost = random_case(rng)
        policy = (rng.random(queue.shape) < 0.5).astype(np.int8)
        policy[:, -1], policy[0, 0] = 0, 1
        best = best_policy(queue, cost).gain
        found = policy_step(queue, cost, policy)
        assert found.lower <= best * (1 + 1e-13)
        assert found.gain >= best * (1 - 1e-13)
        assert best_policy(queue, cost, policy).gain == pytest.approx(best, rel=1e-13)


def test_an_answer_of_given_accuracy_is_proved_so_far_and_the_same():
    rng = np.random.default_rng(16)
    for _ in range(40):
        queue, cost = random_case(rng, largest=12)
        exact, found = best_policy(queue, cost), best_policy(queue, cost, accuracy=1e-8)
        assert found.gain == pytest.approx(exact.gain, rel=1e-12)
        assert found.lower <= exact.gain * (1 + 1e-13)
        assert found.upper - found.lower <= 1e-8 * found.gain
    hard = RobotQueue(60, 40, 1 / 8)  # plain doubles do not prove a cost of 1e-12
    found = best_policy(hard, hard.cost(1.0), accuracy=1e-8)
    assert found.upper - found.lower <= 1e-8 * found.gain


def test_values_solve_the_equations_of_the_policy():
    queue = RobotQueue(30, 8, 0.1)
    cost = queue.cost(1.2)
    found = best_policy(queue, cost)
    left = residuals(found.policy, 0.1, 1.0, cost, found.gain, found.values, np.zeros(queue.shape))
    left[0, 0] = 0.0
    assert np.abs(left).max() < 1e-12 * np.abs(found.values).max()


def test_a_policy_is_led_to_the_class_it_is_led_to():
    rng = np.random.default_rng(14)
    several = 0
    for _ in range(200):
        queue, _ = random_case(rng)
        policy = (rng.random(queue.shape) < rng.random()).astype(np.int8)
        policy[:, -1], policy[0, 0] = 0, 1
        turns, reduced = queue.reduced(policy)
        if len(reduced.ends) < 2:
            continue
        several += 1
        aim = closed_class(policy, *turns.cuts[reduced.ends[-1]])
        led = lead_to(queue, policy, aim)
        turns, reduced = queue.reduced(led)
        assert len(reduced.ends) == 1
        assert (closed_class(led, *turns.cuts[reduced.ends[0]]) == aim).all()
    assert several > 20


def test_costs_of_a_trillionth_are_proved_too():
    """A long buffer and many robots: starvation and losses can both be made rare."""
    queue = RobotQueue(60, 40, 1 / 8)
    found = best_policy(queue, queue.cost(1.0))
    assert found.gain < 1e-11
    assert found.upper - found.lower < 1e-6 * found.gain


@pytest.mark.parametrize(("gamma", "exact"), [(1.0, 0.209074134655), (1.4, 0.259239596069), (2.0, 0.322114668871)])
def test_figures_2_to_4(gamma, exact):
    queue = RobotQueue(16, 5, 0.1)
    assert best_policy(queue, queue.cost(gamma)).gain == pytest.approx(exact, abs=6e-13)


def test_dynamic_control_never_costs_more_than_the_best_fixed_number_and_more_robots_never_hurt():
    rng = np.random.default_rng(15)
    for _ in range(20):
        gamma, capacity, rate = rng.uniform(0.2, 3.0), int(rng.integers(2, 9)), float(rng.uniform(0.05, 0.6))
        before = np.inf
        for robots in range(1, 14):
            queue = RobotQueue(robots, capacity, rate)
            cost = best_policy(queue, queue.cost(gamma)).gain
            assert cost <= before * (1 + 1e-13)
            fixed = static_measures(queue, min(robots, best_static(queue, gamma)))
            assert cost <= (gamma * fixed.starvation + fixed.loss_rate) * (1 + 1e-13)
            before = cost


def test_steps_that_gain_nothing_are_no_reason_to_give_up_the_iteration(monkeypatch):
    """Four steps in a row neither cost less nor prove more, and the fifth does."""
    queue = RobotQueue(2, 3, 1.0, 1.0)
    cost = queue.cost(starvation=1.0)
    real = policy_step(queue, cost, best_policy(queue, cost).policy)
    gains = iter([3.0, 3.0, 3.0, 3.0, 3.0, 1.0])

    def step(queue, cost, policy, pause=None):
        gain = next(gains)
        return replace(real, gain=gain, lower=0.0, changes=int(gain > 1.0))

    monkeypatch.setattr(control, "policy_step", step)
    monkeypatch.setattr(control, "descended", lambda policy, *rest: (policy, 9.0, real.values, 1, 0.0, 9.0, 0.0))
    assert best_policy(queue, cost).gain == 1.0


def test_many_pages_are_evaluated_state_by_state_and_cost_the_same(monkeypatch):
    """Tables of a level grow with the square of the pages: beyond some thousands the fleet's road is taken."""
    queue = RobotQueue(4, 300, 0.5)
    cost = queue.cost(0.7)
    usual, measures = best_policy(queue, cost), queue.measures(queue.base_stock(3))
    for module in (robots_queue, control):
        monkeypatch.setattr(module, "MOST_PAGES", 100)
    monkeypatch.setattr(robots_queue, "levels_of", None)
    monkeypatch.setattr(control, "refined_curve", None)
    again = best_policy(queue, cost)
    assert again.gain == pytest.approx(usual.gain, rel=1e-12)
    assert again.lower <= usual.gain * (1 + 1e-12) and usual.lower <= again.gain * (1 + 1e-12)
    monkeypatch.setattr(robots_queue, "FEW_CUTS", 10)
    assert queue.measures(queue.base_stock(3)).scalars() == pytest.approx(measures.scalars(), rel=1e-9)
