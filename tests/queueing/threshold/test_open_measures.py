"""Systems without bound whose pages have patience of several phases: room grows until this policy needs no more."""

import math
from dataclasses import replace

import numpy as np
import pytest

from queueing import BMAP, Mode, PhaseType, ThresholdQueue
from queueing.threshold import MEASURES, open_measures, takes_open, unbounded_room
from queueing.threshold.methods import HeavyTailError

LOST = ("loss", "loss_rate")
# Nine of ten pages go out of date soon, one of ten after a long time: the law of Figure 4, alpha_1 = 3.
PATIENCE = PhaseType.hyperexponential([0.9, 0.1], [3.0, 1 / 47])


def open_queue(*rates: float, patience: PhaseType = PATIENCE, admission: str = "partial") -> ThresholdQueue:
    """Pages one by one and in pairs, with so much room that it is as good as none."""
    modes = tuple(
        Mode(robots, BMAP(([[-rate]], [[0.8 * rate]], [[0.2 * rate]]))) for robots, rate in enumerate(rates, 1)
    )
    room = unbounded_room(modes, patience)
    return ThresholdQueue(modes, PhaseType.exponential(2.0), patience, capacity=room.capacity, admission=admission)


@pytest.mark.parametrize("admission", ["partial", "whole-batch", "complete"])
def test_a_light_policy_has_the_measures_of_a_wide_finite_queue_within_its_errors(admission):
    queue = open_queue(0.4, 1.2, admission=admission)
    assert takes_open(queue) and queue.capacity < 100
    found = open_measures(queue, (3,))
    exact = replace(queue, capacity=16).measures((3,), method="matrix-free")
    assert found.truncated_at is not None and found.truncated_at < 16
    assert found.method.endswith(f"truncated at {found.truncated_at}")
    assert 0 < found.tail < 1e-5 and found.error_estimate < 1e-4
    for name in set(MEASURES) - set(LOST):
        assert getattr(found, name) == pytest.approx(getattr(exact, name), rel=found.errors[name]), name
    assert all(found.errors[name] > 1 for name in LOST)  # nothing is lost: only that it is small is told
    assert len(found.level_probabilities) == queue.model.top + 1


@pytest.mark.parametrize("rate", [0.6, 1.5, 2.5])
def test_told_errors_hold_the_more_pages_there_are(rate):
    queue = open_queue(rate)
    found = open_measures(queue, ())
    exact = replace(queue, capacity=19).measures((), method="matrix-free")
    for name in set(MEASURES) - set(LOST):
        assert getattr(found, name) == pytest.approx(getattr(exact, name), rel=found.errors[name] + 1e-4), name
    assert sum(found.mode_probabilities) == pytest.approx(1.0, rel=1e-12)


def test_levels_that_are_hard_to_reach_and_hard_to_leave_are_not_overlooked():
    """Beyond 14 pages robots bring so many that pages never get fewer again; below, they hardly ever come so far."""
    queue = open_queue(20.0, 20.5)
    quiet = replace(queue, modes=(queue.modes[0], Mode(2, BMAP.poisson(0.5))))
    low = replace(quiet, capacity=14).measures((14,))
    assert low.level_probabilities[14] < 1e-8  # so the quiet part alone says that all is well
    with pytest.raises(HeavyTailError):
        open_measures(quiet, (14,))


def test_a_full_system_is_refused_in_one_sentence():
    with pytest.raises(HeavyTailError, match=r"room for at most \d+ pages .* give a capacity, or patience fewer"):
        open_measures(open_queue(30.0), ())


@pytest.mark.parametrize("seed", range(4))
def test_of_patience_only_the_mean_counts_for_the_room(seed):
    rng = np.random.default_rng(seed)
    rates = rng.uniform(0.01, 5.0, 3)
    chances = rng.dirichlet(np.ones(3))
    law = PhaseType.hyperexponential(chances, rates)
    modes = (Mode(1, BMAP.poisson(2.0)),)
    room = unbounded_room(modes, law)
    same = unbounded_room(modes, PhaseType.erlang(4, 4 / law.mean))
    assert room.capacity == pytest.approx(same.capacity, abs=1)
    assert room.tail_mass <= 1e-12
    # Pages that need no server leave at the end of their patience: their number is Poisson, whatever the law.
    mean = 2.0 * law.mean
    logs = [count * math.log(mean) - mean - math.lgamma(count + 1) for count in range(room.capacity - 1, 3000)]
    assert math.fsum(map(math.exp, logs)) <= room.tail_mass
