"""Shapes of robot policies: found where they are, and missed where they were taken away."""

import numpy as np
import pytest

from queueing.robots import RobotQueue, best_policy, curves, is_monotone, robot_structure, structure_of


@pytest.fixture(scope="module")
def figure_3():
    queue = RobotQueue(16, 5, 0.1)
    return best_policy(queue, queue.cost(1.4))


def test_the_policy_of_figure_3_has_every_shape(figure_3):
    found = robot_structure(figure_3)
    assert found.monotone
    assert found.convex
    assert found.supermodular
    assert found.switching == 0.0
    assert found.gap > 1e-5
    assert not found.tied


def test_curves_say_what_the_policy_does(figure_3):
    """pi(q, r, 0) = phi(q-1, r) and pi(q, r, 1) = phi(min(q+1, K), r-1), state by state."""
    departure, arrival = curves(figure_3.policy)
    for r in range(17):
        for q in range(6):
            if q > 0:
                assert (q <= departure[r]) == bool(figure_3.policy[q - 1, r])
            if r > 0:
                assert (q <= arrival[r]) == bool(figure_3.policy[min(q + 1, 5), r - 1])
    assert arrival[0] is None
    assert departure[16] == 0, "no robot is left"


def test_curves_differ_by_two_and_one_robot_away_from_the_borders(figure_3):
    departure, arrival = curves(figure_3.policy)
    inner = [r for r in range(1, 17) if 2 < departure[r - 1] < 5]
    assert inner
    assert all(arrival[r] == departure[r - 1] - 2 for r in inner)


@pytest.mark.parametrize("place", [(1, 4), (3, 2), (0, 9)])
def test_a_hole_in_a_policy_is_seen(figure_3, place):
    policy = figure_3.policy.copy()
    assert policy[place] == 1
    policy[place] = 0
    assert not is_monotone(policy)
    assert not structure_of(policy, figure_3.values).monotone


@pytest.mark.parametrize("size", [1e-3, 1e-6, 1e-9])
def test_a_planted_bend_is_measured(size):
    """Values q r are supermodular and, but for one bend of a known size, linear in r."""
    lengths, robots = np.indices((6, 9), dtype=np.float64)
    values = lengths * robots
    policy = np.zeros((6, 9), dtype=np.int8)
    assert structure_of(policy, values).convexity == 0.0
    values[3, 5:] -= size * 40.0 * (robots[3, 5:] - 4.0)
    found = structure_of(policy, values)
    assert found.convexity == pytest.approx(size, rel=1e-2)
    assert not found.convex


def test_a_planted_fall_over_the_pages_is_measured():
    lengths, robots = np.indices((6, 9), dtype=np.float64)
    values = 0.1 * robots**2 + 0.0 * lengths
    values[4:] -= 1e-4 * robots[4:]
    found = structure_of(np.zeros((6, 9), dtype=np.int8), values)
    assert found.supermodularity == pytest.approx(1e-4 / np.ptp(values), rel=1e-6)
    assert found.convex
    assert found.switching == 0.0, "one robot more is worth nothing anywhere: no sign is wrong"


def test_a_planted_wrong_sign_is_measured(figure_3):
    """Make a robot less welcome at 2 pages than at 3, where it was welcome at both."""
    values = figure_3.values.copy()
    r = int(np.flatnonzero(figure_3.policy[3])[-1])
    worth = values[3, r + 1] - values[3, r]
    assert worth < 0
    values[2, r + 1 :] += 2.0 * abs(values[2, r + 1] - values[2, r])
    found = structure_of(figure_3.policy, values)
    assert found.switching > 1e-4
    assert not found.supermodular


def test_ties_are_visible():
    values = np.tile(np.arange(9.0) ** 2, (6, 1))
    values[2, 4] = values[2, 5]
    assert structure_of(np.zeros((6, 9), dtype=np.int8), values).tied


def test_prices_of_pages_and_robots_can_destroy_convexity_but_were_not_seen_to_destroy_the_curve():
    rng = np.random.default_rng(5)
    bent = 0
    for _ in range(60):
        queue = RobotQueue(int(rng.integers(2, 12)), int(rng.integers(2, 9)), float(rng.uniform(0.05, 1.0)))
        found = best_policy(queue, queue.cost(*rng.uniform(0.1, 3.0, 2), *rng.uniform(0.0, 0.3, 2)))
        report = robot_structure(found)
        assert report.switching <= 1e-11
        bent += report.convexity > 1e-6 or report.supermodularity > 1e-6
    assert bent > 5
