"""Sweeps over levels without a matrix: small queues against the reference, larger ones against Krylov."""

import numpy as np
import pytest

from queueing import BMAP, PhaseType, ThresholdQueue
from queueing.threshold import MEASURES
from queueing.threshold.methods.matrix_free import matrix_free_flows

LAWS = ("none", "exponential", "erlang", "hyperexponential", "general", "defective", "upstream", "circular")


def agree(found, expected, relative):
    for name in MEASURES:
        value = getattr(expected, name)
        assert getattr(found, name) == (None if value is None else pytest.approx(value, rel=relative, abs=0)), name
    assert found.level_probabilities == pytest.approx(expected.level_probabilities, rel=relative, abs=0)
    assert found.mode_probabilities == pytest.approx(expected.mode_probabilities, rel=relative, abs=0)


@pytest.mark.parametrize("admission", ["partial", "whole-batch", "complete"])
@pytest.mark.parametrize("patience", LAWS)
@pytest.mark.parametrize("seed", range(4))
def test_measures_are_those_of_the_reference(seed, patience, admission, random_queue):
    queue, thresholds = random_queue(seed, patience, admission)
    found = queue.measures(thresholds, method="matrix-free")
    agree(found, queue.measures(thresholds, method="reference"), 1e-11)
    assert found.error_estimate < 1e-11


@pytest.mark.parametrize("patience", [PhaseType.erlang(3, 1.0), PhaseType([0.3, 0.7], [[-1.5, 0.4], [0.1, -0.1]])])
@pytest.mark.parametrize("thresholds", [(-1, 2, 2), (9, 9, 9)])
def test_larger_queues_agree_with_krylov(thresholds, patience, paper_queue):
    queue = paper_queue(9, patience)
    agree(queue.measures(thresholds, method="matrix-free"), queue.measures(thresholds, method="krylov"), 1e-9)


def test_room_for_one_page_needs_no_phases_of_patience():
    queue = ThresholdQueue((BMAP.poisson(1.0),), PhaseType.erlang(2, 3.0), PhaseType.erlang(3, 1.0), capacity=1)
    assert queue.measures((), method="matrix-free").loss == pytest.approx(2 / 5, rel=1e-13)  # Erlang's formula


def test_a_single_unknown_is_its_own_solution():
    # Batches of two enter an empty system only: a sweep reads level 0 alone, and any number is a fixed point.
    batches = BMAP(([[-0.59162044]], [[0.0]], [[0.59162044]]))
    patience = PhaseType([0.6, 0.4], [[-1.0, 0.5], [0.0, -1.0]])
    for service in (PhaseType.exponential(0.3), PhaseType.erlang(2, 1.0), PhaseType.erlang(3, 0.7)):
        queue = ThresholdQueue((batches,), service, patience, capacity=2, admission="whole-batch")
        agree(queue.measures((), method="matrix-free"), queue.measures((), method="reference"), 1e-12)


def test_small_losses_keep_their_digits():
    # Loss of 1e-10 at 8 pages; losses are summed, never 1 minus something.
    queue = ThresholdQueue((BMAP.poisson(0.05),), PhaseType.exponential(1.0), PhaseType.erlang(2, 1.0), capacity=8)
    found, expected = queue.measures((), method="matrix-free"), queue.measures((), method="reference")
    assert expected.loss < 1e-10
    assert found.loss == pytest.approx(expected.loss, rel=1e-9)
    assert abs(found.loss / expected.loss - 1) <= found.errors["loss"] < 1e-8


def test_a_looser_tolerance_gives_a_larger_error_and_says_so(paper_queue):
    queue = paper_queue(7, PhaseType.erlang(2, 1.0))
    modes = queue.mode_by_level((0, 2, 2))
    exact = queue.measures((0, 2, 2), method="reference")
    loose, tight = (matrix_free_flows(queue.model, modes, tolerance) for tolerance in (1e-4, 1e-10))
    assert tight.error_estimate < 1e-7 < loose.error_estimate
    assert abs(tight.lost / exact.loss_rate - 1) < 1e-8 < abs(loose.lost / exact.loss_rate - 1) < 1e-3


def test_rates_far_apart_are_taken_too():
    patience = PhaseType.hyperexponential([0.5, 0.5], [1e4, 1e-4])
    service = PhaseType.hyperexponential([0.9, 0.1], [50.0, 0.02])
    queue = ThresholdQueue((BMAP.poisson(3.0),), service, patience, capacity=7)
    agree(queue.measures((), method="matrix-free"), queue.measures((), method="reference"), 1e-9)


def test_the_same_queue_gives_the_same_numbers(paper_queue):
    queue = paper_queue(8, PhaseType.erlang(2, 1.0))
    first, second = (queue.measures((-1, 2, 2), method="matrix-free") for _ in range(2))
    assert first == second
    assert np.isfinite(first.level_probabilities).all()
