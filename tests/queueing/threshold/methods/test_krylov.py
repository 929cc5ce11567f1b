"""BiCGSTAB on the assembled generator: the generator itself, its solution, and where it gives up."""

import numpy as np
import pytest

from queueing import BMAP, PhaseType, ThresholdQueue
from queueing.threshold import MEASURES
from queueing.threshold.methods import assemble, chain_of, full_generator, level_offsets, plain_letters
from queueing.threshold.methods.krylov import krylov_flows

LAWS = ("none", "exponential", "erlang", "hyperexponential", "general", "defective", "upstream", "circular")


def youngest_first(phases, order, inner_service, level):
    """Places of the states of a level in the full generator, in the order of the assembled one."""
    if level == 0:
        return np.arange(phases)
    shape = (phases, inner_service, *[order] * (level - 1))
    places = np.arange(np.prod(shape)).reshape(shape)
    return places.transpose(*range(places.ndim - 1, 1, -1), 0, 1).ravel()


@pytest.mark.parametrize("admission", ["partial", "whole-batch", "complete"])
@pytest.mark.parametrize("patience", LAWS)
@pytest.mark.parametrize("seed", range(2))
def test_the_generator_is_the_one_of_the_lemma(seed, patience, admission, random_queue):
    queue, thresholds = random_queue(seed, patience, admission)
    model, modes = queue.model, queue.mode_by_level(thresholds)
    chain, letters = chain_of(model, modes), plain_letters(*model.patience_rates)
    assembled = assemble(chain, letters).generator().toarray()
    sizes = [model.level_size(level) for level in range(model.top + 1)]
    begins = np.concatenate([[0], np.cumsum(sizes)])
    phases, service = model.arrivals[0].phases, model.service.order
    order = np.concatenate(
        [begins[level] + youngest_first(phases, model.patience_order, service, level) for level in range(chain.top + 1)]
    )
    expected = full_generator(model, modes).toarray()[np.ix_(order, order)]
    assert level_offsets(chain, letters.order)[-1] == len(assembled) == len(expected)
    np.testing.assert_allclose(assembled, expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("admission", ["partial", "whole-batch", "complete"])
@pytest.mark.parametrize("patience", LAWS)
@pytest.mark.parametrize("seed", range(4))
def test_measures_are_those_of_the_reference(seed, patience, admission, random_queue):
    queue, thresholds = random_queue(seed, patience, admission)
    found, expected = queue.measures(thresholds, method="krylov"), queue.measures(thresholds, method="reference")
    for name in MEASURES:
        value = getattr(expected, name)
        assert getattr(found, name) == (None if value is None else pytest.approx(value, rel=1e-11, abs=0)), name
    assert found.level_probabilities == pytest.approx(expected.level_probabilities, rel=1e-11, abs=0)
    assert found.error_estimate < 1e-10


def test_room_for_one_page_needs_no_phases_of_patience():
    queue = ThresholdQueue((BMAP.poisson(1.0),), PhaseType.erlang(2, 3.0), PhaseType.erlang(3, 1.0), capacity=1)
    assert queue.measures((), method="krylov").loss == pytest.approx(2 / 5, rel=1e-13)  # Erlang's formula


def test_levels_that_no_batch_reaches_have_no_probability(paper_queue):
    nothing = BMAP(([[-0.2, 0.2], [0.3, -0.3]], np.zeros((2, 2))))
    some = BMAP.mmpp([[-0.2, 0.2], [0.3, -0.3]], [1.0, 3.0])
    queue = ThresholdQueue((nothing, some), PhaseType.exponential(1.0), PhaseType.erlang(2, 1.0), capacity=6)
    for name in ("krylov", "matrix-free"):
        measures = queue.measures((1,), method=name)
        assert measures.level_probabilities[3:] == (0.0,) * 4
        assert measures.loss == 0.0
        asleep = queue.measures((-1,), method=name)
        assert asleep.starvation == 1.0 and asleep.loss is None and asleep.obsolete_time is None


def test_a_looser_tolerance_gives_a_larger_error_and_says_so(paper_queue):
    queue = paper_queue(7, PhaseType.erlang(2, 1.0))
    modes = queue.mode_by_level((0, 2, 2))
    exact = queue.measures((0, 2, 2), method="reference")
    loose, tight = (krylov_flows(queue.model, modes, tolerance) for tolerance in (1e-4, 1e-10))
    assert tight.error_estimate < 1e-6 < loose.error_estimate
    assert abs(tight.lost / exact.loss_rate - 1) < 1e-8 < abs(loose.lost / exact.loss_rate - 1) < 1e-3


def test_rates_far_apart_are_taken_too():
    patience = PhaseType.hyperexponential([0.5, 0.5], [1e4, 1e-4])
    queue = ThresholdQueue(
        (BMAP.poisson(3.0),), PhaseType.hyperexponential([0.9, 0.1], [50.0, 0.02]), patience, capacity=7
    )
    found, expected = queue.measures((), method="krylov"), queue.measures((), method="reference")
    for name in MEASURES:
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-8), name
