"""The robot queue: any policy against the full generator, fixed numbers of robots against closed forms."""

from fractions import Fraction

import numpy as np
import pytest

from queueing.robots import RobotQueue, balancing_weight, best_static, static_measures
from queueing.robots.feedback_states import CUT, turns_of


def full_generator(queue, policy):
    """By state q (N + 1) + r, written down from the description of the model, event by event."""
    most, robots = queue.capacity, queue.robots
    size = (most + 1) * (robots + 1)
    rates = np.zeros((size, size))
    for q in range(most + 1):
        for r in range(robots + 1):
            here = q * (robots + 1) + r
            if q > 0:
                there = q - 1, r + int(policy[q - 1, r])
                rates[here, there[0] * (robots + 1) + there[1]] += queue.service_rate
            if r > 0:
                length = min(q + 1, most)
                there = length, r - 1 + int(policy[length, r - 1])
                rates[here, there[0] * (robots + 1) + there[1]] += queue.arrival_rate * r
    np.fill_diagonal(rates, 0.0)
    return rates - np.diag(rates.sum(axis=1))


def limits_from_one_robot(queue, policy):
    """Long-run probabilities of states from (0, 1): a power of the uniformised chain, whatever its classes."""
    generator = full_generator(queue, policy)
    chain = np.eye(len(generator)) + generator / (1.1 * np.abs(np.diagonal(generator)).max())
    for _ in range(60):
        chain = chain @ chain
        chain /= chain.sum(axis=1, keepdims=True)
    return chain[1].reshape(queue.shape)


def random_queue(rng, largest=7):
    return RobotQueue(int(rng.integers(1, largest)), int(rng.integers(2, largest)), *rng.uniform(0.1, 2.0, 2))


def random_policy(queue, rng):
    policy = (rng.random(queue.shape) < rng.random()).astype(np.int8)
    policy[:, -1] = 0
    policy[0, 0] = 1
    return policy


def test_measures_of_random_policies_are_those_of_the_full_generator():
    rng = np.random.default_rng(1)
    several = 0
    for _ in range(300):
        queue = random_queue(rng)
        policy = random_policy(queue, rng)
        found, exact = queue.measures(policy), limits_from_one_robot(queue, policy)
        lengths, robots = np.indices(queue.shape)
        assert found.starvation == pytest.approx(exact[0].sum(), abs=1e-13)
        assert found.loss_rate == pytest.approx(queue.arrival_rate * (exact[-1] * robots[-1]).sum(), abs=1e-13)
        assert found.active_robots == pytest.approx((exact * robots).sum(), abs=1e-12)
        assert found.mean_length == pytest.approx((exact * lengths).sum(), abs=1e-12)
        recurrent = np.flatnonzero((exact > 1e-200).any(axis=0))
        assert (found.fewest_robots, found.most_robots) == (recurrent[0], recurrent[-1])
        several += len(queue.reduced(policy)[1].ends) > 1
    assert several > 30, "policies with several closed classes must be among them"


def test_littles_law_gives_the_response_time():
    queue = RobotQueue(6, 4, 0.4)
    policy = random_policy(queue, np.random.default_rng(5))
    found = queue.measures(policy)
    assert found.response_time == pytest.approx(found.mean_length / (1.0 - found.starvation), rel=1e-12)


@pytest.mark.parametrize("robots", [1, 9, 10, 11, 40])
def test_a_fixed_number_of_robots_is_an_mm1k_queue(robots):
    queue = RobotQueue(50, 6, 0.1)
    load = Fraction(robots, 10)
    total = sum(load**i for i in range(7))
    exact = static_measures(queue, robots)
    assert exact.starvation == pytest.approx(float(1 / total), rel=1e-14)
    assert exact.loss_rate == pytest.approx(float(load**6 / total * load), rel=1e-14)
    found = queue.measures(queue.base_stock(robots))
    for name, value in exact.scalars().items():
        assert found.scalars()[name] == pytest.approx(value, rel=1e-13)


def test_equation_9_holds_away_from_one_and_its_limit_at_one():
    queue, gamma = RobotQueue(100, 5, 0.01), 1.3
    for robots in (50, 99, 101, 170):
        load = robots / 100
        printed = (1 - load) * (gamma + load**6) / (1 - load**6)
        found = static_measures(queue, robots)
        assert gamma * found.starvation + found.loss_rate == pytest.approx(printed, rel=1e-11)
    found = static_measures(queue, 100)
    assert gamma * found.starvation + found.loss_rate == pytest.approx((gamma + 1) / 6, rel=1e-14)


def test_small_probabilities_keep_their_digits():
    """Losses of 1e-35: each robot brings little, and the exact value is a quotient of whole numbers."""
    queue = RobotQueue(1, 12, 0.001)
    load = Fraction(1, 1000)
    exact = float(load**13 / sum(load**i for i in range(13)))
    assert exact < 1e-38
    assert queue.measures(queue.base_stock(1)).loss_rate == pytest.approx(exact, rel=1e-13)


def test_proposition_3_the_best_fixed_number_against_enumeration():
    rng = np.random.default_rng(3)
    for _ in range(200):
        capacity, gamma = int(rng.integers(2, 16)), float(rng.uniform(0.05, 4.0))
        queue = RobotQueue(1, capacity, float(rng.uniform(0.02, 0.7)))
        costs = [gamma * one.starvation + one.loss_rate for one in (static_measures(queue, n) for n in range(1, 400))]
        assert costs[best_static(queue, gamma) - 1] == min(costs)


def test_proposition_3_the_balancing_weight_tells_on_which_side_of_balance_it_lies():
    rng = np.random.default_rng(4)
    for _ in range(200):
        capacity = int(rng.integers(2, 16))
        queue = RobotQueue(1, capacity, float(rng.uniform(0.01, 0.4)))
        weight, balanced = balancing_weight(capacity), queue.balanced
        assert best_static(queue, 0.6 * weight) <= np.ceil(balanced)
        assert best_static(queue, weight) in (np.floor(balanced), np.ceil(balanced))
        assert best_static(queue, 1.6 * weight) >= np.floor(balanced)


def test_a_monotone_policy_has_about_one_cut_for_each_number_of_robots_on_its_curve():
    queue = RobotQueue(100, 60, 0.02)
    policy = np.zeros(queue.shape, dtype=np.int8)
    for q in range(61):
        policy[q, : 80 - q // 2] = 1
    turns = turns_of(policy, queue.arrival_rate, queue.service_rate)
    assert (turns.kinds == CUT).sum() == len(turns.cuts) <= 45


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((0, 5, 0.1), "robots must be a whole number of at least 1, but it is 0"),
        ((3, 1, 0.1), "capacity must be a whole number of at least 2, but it is 1"),
        ((3, 5, 0.0), "arrival_rate must be a finite number above 0, but it is 0.0"),
        ((3, 5, 0.1, -1.0), "service_rate must be a finite number above 0, but it is -1.0"),
        ((3, 5, 1e-200, 1e200), "service_rate / arrival_rate must be between"),
    ],
)
def test_parameters_that_make_no_queue_are_refused(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        RobotQueue(*arguments)


def test_what_is_no_policy_is_refused():
    queue = RobotQueue(2, 2, 0.1)
    good = queue.base_stock(1).reshape(-1).tolist()
    assert queue.policy(good).shape == (3, 3)
    for index, value, sentence in (
        (4, 2, r"policy\[4\] must be 0 or 1, but it is"),
        (5, 1, r"policy\[5\] must be 0, but it is 1: with all 2 robots active"),
        (0, 0, r"policy\[0\] must be 1, but it is 0"),
    ):
        bad = list(good)
        bad[index] = value
        with pytest.raises(ValueError, match=sentence):
            queue.policy(bad)
    with pytest.raises(ValueError, match="a policy needs 3 x 3 entries"):
        queue.policy(good[:-1])
