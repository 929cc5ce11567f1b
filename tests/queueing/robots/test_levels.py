"""Falling curves of the robot queue, level by level: against the generator, rational numbers, and the cuts."""

from fractions import Fraction

import numpy as np
import pytest

from queueing.robots import RobotQueue, first_policy
from queueing.robots.control import cut_descended, descended
from queueing.robots.feedback_states import expectations
from queueing.robots.levels import curve_of, improved_curve, level_values, levels_of, policy_of
from queueing.robots.relative_values import greedy


def random_curve(queue, rng):
    """Falling, now slowly, now by many pages at once, with plateaus at both borders."""
    size, most = queue.robots + 1, queue.capacity
    drawn = rng.choice([-1, most, int(rng.integers(-1, most + 1))], size) if rng.random() < 0.3 else None
    curve = np.sort(rng.integers(-1, most + 1, size) if drawn is None else drawn)[::-1].astype(np.int64)
    curve[-1], curve[0] = -1, max(curve[0], 0)
    return curve


def random_queue(rng, largest=12):
    return RobotQueue(int(rng.integers(1, largest)), int(rng.integers(2, largest)), *rng.uniform(0.1, 2.0, 2))


def gain_of(levels):
    return levels.inside[0, levels.end] / levels.inside[1, levels.end]


def moves_of(queue, curve):
    """Rates by pair of states, written down event by event, in whole numbers of lambda and mu."""
    for q in range(queue.capacity + 1):
        for r in range(queue.robots + 1):
            if q > 0:
                yield (q, r), (q - 1, r + (q - 1 <= curve[r])), (0, 1)
            if r > 0:
                there = min(q + 1, queue.capacity)
                yield (q, r), (there, r - 1 + (there <= curve[r - 1])), (r, 0)


def exact_cost(queue, curve, arrival, service, cost):
    """Average cost in rational numbers: balance equations and Gauss."""
    states = [(q, r) for q in range(queue.capacity + 1) for r in range(queue.robots + 1) if q + r > 0]
    number, size = {state: index for index, state in enumerate(states)}, len(states)
    rows = [[Fraction(0)] * size + [Fraction(0)] for _ in states]
    for here, there, (brought, served) in moves_of(queue, curve):
        rate = brought * arrival + served * service
        rows[number[there]][number[here]] += rate
        rows[number[here]][number[here]] -= rate
    rows[-1] = [Fraction(1)] * (size + 1)
    for k in range(size):
        chosen = next(i for i in range(k, size) if rows[i][k] != 0)
        rows[k], rows[chosen] = rows[chosen], rows[k]
        rows[k] = [entry / rows[k][k] for entry in rows[k]]
        for i in range(size):
            if i != k and rows[i][k] != 0:
                rows[i] = [entry - rows[i][k] * pivot for entry, pivot in zip(rows[i], rows[k], strict=True)]
    return sum(rows[k][-1] * cost[state] for k, state in enumerate(states))


def rational(cost):
    return {place: Fraction(float(value)) for place, value in np.ndenumerate(cost)}


def test_values_and_cost_solve_the_equations_of_the_chain():
    """c - g + Q J = 0 in every state, the end included, makes g the average cost, whatever came before."""
    rng = np.random.default_rng(21)
    for _ in range(400):
        queue = random_queue(rng)
        curve, cost = random_curve(queue, rng), rng.random(queue.shape)
        levels = levels_of(curve, queue.arrival_rate, queue.service_rate, cost)
        gain = gain_of(levels)
        values = level_values(levels, queue.arrival_rate, queue.service_rate, cost, gain, 0, queue.robots)
        left = cost - gain
        for (q, r), there, (brought, served) in moves_of(queue, curve):
            left[q, r] += (brought * queue.arrival_rate + served * queue.service_rate) * (values[there] - values[q, r])
        left[0, 0] = 0.0
        assert np.abs(left).max() < 1e-12 * max(1.0, np.abs(values).max())


def test_costs_have_all_their_digits_however_small():
    """Rare starvation and rarer losses, down to 1e-20 and less, against rational numbers."""
    rng = np.random.default_rng(22)
    least = 1.0
    for _ in range(25):
        queue = RobotQueue(int(rng.integers(2, 5)), int(rng.integers(2, 6)), float(2.0 ** -rng.integers(0, 30)))
        curve = random_curve(queue, rng)
        for cost in (queue.cost(1.0, 0.0), queue.cost(0.0, 1.0)):
            exact = exact_cost(queue, curve, Fraction(queue.arrival_rate), Fraction(1), rational(cost))
            found = gain_of(levels_of(curve, queue.arrival_rate, 1.0, cost))
            assert abs(Fraction(found) - exact) <= exact * Fraction(1, 10**14)
            least = min(least, float(exact) or 1.0)
    assert least < 1e-15


def test_levels_and_cuts_find_the_same():
    """Two eliminations that share nothing, on systems of some size, with values at every state."""
    rng = np.random.default_rng(23)
    for _ in range(60):
        queue = RobotQueue(int(rng.integers(20, 90)), int(rng.integers(2, 25)), float(rng.uniform(0.01, 0.1)))
        width = float(rng.uniform(0.2, 4.0))
        aim = queue.balanced - width * (np.arange(queue.capacity + 1)[:, None] - queue.capacity / 2)
        policy = (np.arange(queue.robots + 1) < aim).astype(np.int8)
        policy[:, -1], policy[0, 0] = 0, 1
        curve, falls = curve_of(policy)
        assert falls
        assert (policy_of(curve, queue.capacity) == policy).all()
        cost = queue.cost(1.3, 1.0, 0.01, 0.02)
        levels = levels_of(curve, queue.arrival_rate, 1.0, cost)
        turns, reduced = queue.reduced(policy, np.stack([cost, np.ones(queue.shape)]))
        gain = reduced.loads[0, reduced.ends[0]] / reduced.loads[1, reduced.ends[0]]
        assert gain_of(levels) == pytest.approx(gain, rel=1e-13)
        loads = reduced.loads[0] - gain * reduced.loads[1]
        other = expectations(turns, reduced, loads, cost - gain, np.zeros(1))
        values = level_values(levels, queue.arrival_rate, 1.0, cost, gain, 0, queue.robots)
        apart = (values - other - (values - other)[-1, -1]).reshape(-1)[1:]
        assert np.abs(apart).max() < 1e-11 * np.abs(other).max()


def test_values_of_some_levels_are_those_of_all():
    queue = RobotQueue(60, 8, 1 / 30)
    curve, cost = curve_of(first_policy(queue))[0], queue.cost(1.2)
    levels = levels_of(curve, queue.arrival_rate, 1.0, cost)
    whole = level_values(levels, queue.arrival_rate, 1.0, cost, gain_of(levels), 0, 60)
    first, last = levels.low - 2, levels.high + 3
    part = level_values(levels, queue.arrival_rate, 1.0, cost, gain_of(levels), first, last)
    assert 0 < first < last < 60
    assert (part[:, first : last + 1] == whole[:, first : last + 1]).all()
    assert not part[:, :first].any()
    assert not part[:, last + 1 :].any()


def test_a_better_curve_falls_changes_only_what_is_better_so_and_costs_less():
    rng = np.random.default_rng(24)
    bent = 0
    for _ in range(150):
        queue = random_queue(rng)
        curve = random_curve(queue, rng)
        cost = queue.cost(*rng.uniform(0.1, 2.0, 2), *rng.uniform(0.0, 0.1, 2))
        arrival, service = queue.arrival_rate, queue.service_rate
        levels = levels_of(curve, arrival, service, cost)
        values = level_values(levels, arrival, service, cost, gain_of(levels), 0, queue.robots)
        policy = policy_of(curve, queue.capacity)
        wanted = greedy(policy, values, np.zeros(queue.shape))[0]
        following, changes = improved_curve(curve, values, 0, queue.robots)
        found = policy_of(following, queue.capacity)
        assert curve_of(found)[1]
        assert changes == (found != policy).sum()
        assert (wanted != policy)[found != policy].all()
        if curve_of(wanted)[1]:
            assert (found == wanted).all()
        else:
            bent += 1
        assert gain_of(levels_of(following, arrival, service, cost)) <= gain_of(levels) * (1 + 1e-13)
    assert bent > 10, "policies that do not fall must be among those that are wanted"


def test_descents_along_curves_and_through_cuts_end_alike():
    rng = np.random.default_rng(25)
    for _ in range(60):
        queue = random_queue(rng)
        cost, start = queue.cost(*rng.uniform(0.1, 2.0, 2)), first_policy(queue)
        arguments = (queue.arrival_rate, queue.service_rate, cost)
        found, other = descended(start, *arguments), cut_descended(start, *arguments)
        assert found[3] == 0
        assert found[4] <= found[1] * (1 + 1e-10)
        if other[3] == 0:
            assert found[1] == pytest.approx(other[1], rel=1e-12)


def test_what_is_no_falling_curve_is_told():
    falling = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]], dtype=np.int8)
    curve, falls = curve_of(falling)
    assert falls
    assert curve.tolist() == [2, 1, 0, -1]
    for q, r, value in ((1, 0, 0), (2, 2, 1), (0, 1, 0), (0, 0, 0), (0, 3, 1)):
        other = falling.copy()
        other[q, r] = value
        assert not curve_of(other)[1]


def test_rates_far_apart_leave_no_pivot_too_small():
    rng = np.random.default_rng(26)
    for _ in range(300):
        queue = RobotQueue(int(rng.integers(1, 9)), int(rng.integers(2, 30)), float(10.0 ** rng.uniform(-99, 99)))
        curve, cost = random_curve(queue, rng), np.ones(queue.shape)
        levels = levels_of(curve, queue.arrival_rate, 1.0, cost)
        assert gain_of(levels) == pytest.approx(1.0, rel=1e-14)
        assert np.isfinite(level_values(levels, queue.arrival_rate, 1.0, cost, 1.0, 0, queue.robots)).all()
