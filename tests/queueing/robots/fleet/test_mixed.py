"""Randomised policies of robot fleets: against policies without chance, and against a dense generator."""

import numpy as np
import pytest

from queueing import PhaseType, RobotQueue
from queueing.robots.fleet import (
    Environment,
    RobotClass,
    RobotFleet,
    event_moves,
    fleet_measures,
    fleet_of,
    likeliest,
    mixed_chances,
    mixed_classes,
    mixed_measures,
)

WORLD = Environment(np.array([[-1.0, 1.0], [2.0, -2.0]]), np.array([1.0, 0.3]))
FLEETS = {
    "base": fleet_of(3, 3, 0.4),
    "classes": RobotFleet(
        (RobotClass(2, PhaseType.exponential(0.4)), RobotClass(1, PhaseType.erlang(2, 0.5))), 3, 1.0, WORLD
    ),
    "any": RobotFleet((RobotClass(4, PhaseType.exponential(0.4)),), 3, 1.0, WORLD, "any"),
}


def drawn(fleet: RobotFleet, rng: np.random.Generator, whole: bool) -> np.ndarray:
    """Random probabilities of possible actions, or one action each."""
    allowed = event_moves(fleet).allowed
    weights = rng.random(allowed.shape) * allowed
    if whole:
        weights = (weights == weights.max(axis=0)) * 1.0
    return weights / weights.sum(axis=0)


@pytest.mark.parametrize("sort", FLEETS)
def test_probabilities_of_zero_and_one_are_a_policy_without_chance(sort):
    fleet, rng = FLEETS[sort], np.random.default_rng(1)
    for _ in range(5):
        chances = drawn(fleet, rng, whole=True)
        actions = likeliest(event_moves(fleet), chances)
        assert (mixed_chances(fleet, actions) == chances).all()
        found, _ = mixed_measures(fleet, chances)
        assert found.scalars() == pytest.approx(fleet_measures(fleet, actions).scalars(), rel=1e-10)


def test_chance_is_averaged_as_a_dense_generator_does():
    fleet, rng = FLEETS["base"], np.random.default_rng(2)
    width, most = 4, 3
    for _ in range(5):
        chances = drawn(fleet, rng, whole=False)
        generator = np.zeros((16, 16))
        for state in range(1, 16):
            q, r = divmod(state, width)
            events = [(1.0, q - 1, r)] * (q > 0) + [(0.4 * r, min(q + 1, most), r - 1)] * (r > 0)
            for rate, there, left in events:
                for more in (0, 1):
                    if chances[more, there * width + left] > 0:
                        generator[state, there * width + left + more] += rate * chances[more, there * width + left]
            generator[state, state] -= sum(rate for rate, _, _ in events)
        generator[0, 1], generator[0, 0] = 1.0, -1.0  # (0, 0) is no state
        shares = np.linalg.lstsq(np.vstack([generator.T, np.ones(16)]), np.append(np.zeros(16), 1.0), rcond=None)[
            0
        ].reshape(4, 4)
        found, by_state = mixed_measures(fleet, chances)
        assert by_state == pytest.approx(shares.ravel(), abs=1e-12)
        assert found.starvation == pytest.approx(shares[0].sum(), rel=1e-10)
        assert found.loss_rate == pytest.approx(0.4 * (shares[-1] @ np.arange(4)), rel=1e-10)


def test_several_classes_count_as_often_as_they_are_reached():
    """Against the evaluator of the base model, which eliminates cuts and not states."""
    queue, rng, ends = RobotQueue(4, 3, 0.7), np.random.default_rng(4), []
    fleet = fleet_of(4, 3, 0.7)
    for _ in range(60):
        policy = rng.integers(0, 2, queue.shape)
        policy[:, -1], policy[0, 0] = 0, 1
        chances = mixed_chances(fleet, policy.ravel())
        ends.append(len(mixed_classes(fleet, chances)))
        found, _ = mixed_measures(fleet, chances)
        assert found.scalars() == pytest.approx(queue.measures(policy).scalars(), rel=1e-9)
    assert max(ends) > 1


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda chances: chances[:, :-1], "needs 2 x 16 probabilities"),
        (lambda chances: 2 * chances, "sum to 1"),
        (lambda chances: 1 - chances, "where no robot is idle"),
    ],
)
def test_what_are_no_probabilities_is_refused(change, complaint):
    fleet = FLEETS["base"]
    chances = drawn(fleet, np.random.default_rng(3), whole=True)
    with pytest.raises(ValueError, match=complaint):
        mixed_measures(fleet, change(chances))
