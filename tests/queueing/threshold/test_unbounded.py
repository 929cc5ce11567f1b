"""Room without bound: the tail that is promised is never exceeded, and more room changes nothing."""

import math
from dataclasses import replace

import numpy as np
import pytest

from queueing import BMAP, Mode, PhaseType, ThresholdQueue
from queueing.threshold import unbounded_room

LAWS = {
    "exponential": PhaseType.exponential(4.0),
    "Erlang": PhaseType.erlang(2, 9.0),
    "hyperexponential": PhaseType.hyperexponential((0.6, 0.4), (9.0, 3.0)),
    "not diagonal": PhaseType(np.array([0.3, 0.7]), np.array([[-7.0, 2.0], [1.0, -4.0]])),
}


def random_modes(seed: int) -> tuple[Mode, ...]:
    """Three modes with two phases and batches of up to three pages."""
    rng = np.random.default_rng(seed)
    modes = []
    for robots in (1, 2, 3):
        blocks = [rng.uniform(0, 0.5, (2, 2)) * robots for _ in range(4)]
        np.fill_diagonal(blocks[0], 0.0)
        blocks[0] -= np.diag(sum(blocks).sum(axis=1))
        modes.append(Mode(robots, BMAP(tuple(blocks))))
    return tuple(modes)


def test_poisson_input_and_exponential_patience_give_the_textbook_s_infinite_sum():
    arrivals, service, patience = 3.0, 1.0, 0.5
    room = unbounded_room((Mode(1, BMAP.poisson(arrivals)),), PhaseType.exponential(patience))
    found = ThresholdQueue(
        (Mode(1, BMAP.poisson(arrivals)),),
        PhaseType.exponential(service),
        PhaseType.exponential(patience),
        capacity=room.capacity,
    ).measures(())
    weights = [1.0]
    for pages in range(1, 2000):
        weights.append(weights[-1] * arrivals / (service + (pages - 1) * patience))
    total = math.fsum(weights)
    assert found.starvation == pytest.approx(1 / total, rel=1e-12)
    assert found.mean_length == pytest.approx(math.fsum(i * w for i, w in enumerate(weights)) / total, rel=1e-12)
    true_tail = math.fsum(weights[room.capacity :]) / total
    assert true_tail <= room.tail_mass <= 1e-12
    assert found.loss < 1e-12


@pytest.mark.parametrize("seed", range(6))
def test_under_no_policy_is_the_promised_tail_exceeded(seed):
    modes, patience = random_modes(seed), PhaseType.exponential(0.4)
    for tail in (1e-3, 1e-6, 1e-12):
        room = unbounded_room(modes, patience, tail)
        assert room.tail_mass <= tail
        # Twice the room stands for one without bound.
        wide = ThresholdQueue(modes, PhaseType.erlang(2, 3.0), patience, capacity=2 * room.capacity)
        top = wide.capacity
        for policy in [(top, top), (-1, top), (-1, -1), (3, 9), (room.capacity, top)]:
            assert math.fsum(wide.measures(policy).level_probabilities[room.capacity :]) <= room.tail_mass


@pytest.mark.parametrize("name", LAWS)
def test_the_tail_holds_for_patience_of_several_phases(name):
    modes = (Mode(1, BMAP.poisson(0.6)), Mode(2, BMAP.poisson(1.2)))
    room = unbounded_room(modes, LAWS[name], 0.05)
    assert 1 < room.capacity <= 12
    wide = ThresholdQueue(modes, PhaseType.exponential(1.0), LAWS[name], capacity=room.capacity + 2)
    for policy in [(-1,), (1,), (wide.capacity,)]:
        assert math.fsum(wide.measures(policy).level_probabilities[room.capacity :]) <= room.tail_mass <= 0.05


def test_more_room_changes_no_measure():
    modes, patience = random_modes(7), PhaseType.exponential(0.3)
    room = unbounded_room(modes, patience)
    queue = ThresholdQueue(modes, PhaseType.exponential(2.0), patience, capacity=room.capacity)
    found = queue.measures((4, 11))
    wider = replace(queue, capacity=room.capacity + 50).measures((4, 11))
    for name, value in found.scalars().items():
        assert value == pytest.approx(getattr(wider, name), rel=1e-9, abs=1e-12)


def test_patience_that_can_be_written_with_one_phase_counts_as_such():
    two = PhaseType(np.array([0.3, 0.7]), np.array([[-0.6, 0.4], [0.1, -0.3]]))
    modes = random_modes(1)
    assert unbounded_room(modes, two).capacity == unbounded_room(modes, PhaseType.exponential(0.2)).capacity


@pytest.mark.parametrize("tail", [0.0, 1.0, -1e-3, math.nan])
def test_a_tail_that_is_no_part_is_refused(tail):
    with pytest.raises(ValueError, match="tail_mass must lie between 0 and 1"):
        unbounded_room(random_modes(1), PhaseType.exponential(1.0), tail)
