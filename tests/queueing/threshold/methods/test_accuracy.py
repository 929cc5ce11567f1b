"""What iterative methods say of their own errors, against the truth, on 200 random queues small enough to know it."""

from itertools import count

import numpy as np
import pytest

from queueing.threshold import MEASURES
from queueing.threshold.methods.krylov import krylov_flows
from queueing.threshold.methods.matrix_free import matrix_free_flows

FLOWS = {"krylov": krylov_flows, "matrix-free": matrix_free_flows}
LAWS = ("erlang", "hyperexponential", "general", "defective", "upstream", "circular")
MODELS, MOST_STATES = 200, 150

# Errors below are rounding, of the reference as well; iterations that met an exact answer by chance say nothing here.
MEASURABLE = 1e-12


@pytest.fixture(scope="module")
def told_and_true(random_queue):
    """By method and model: measures at a tolerance drawn from 1e-9 to 1e-4, and the true relative error of each."""
    rng = np.random.default_rng(7)
    found = {name: [] for name in FLOWS}
    for seed in count():
        queue, thresholds = random_queue(seed, LAWS[seed % len(LAWS)])
        tolerance = 10.0 ** rng.uniform(-9, -4)
        if queue.capacity < 3 or queue.model.states > MOST_STATES:  # the smallest are exact after a step or two
            continue
        exact = queue.measures(thresholds, method="reference")
        modes = queue.mode_by_level(thresholds)
        for name, flows in FLOWS.items():
            told = queue._measures(flows(queue.model, modes, tolerance), modes, name)
            true = {
                measure: abs(getattr(told, measure) / getattr(exact, measure) - 1)
                for measure in MEASURES
                if getattr(exact, measure)
            }
            if max(true.values()) > MEASURABLE:
                found[name].append((told, true))
        if min(map(len, found.values())) >= MODELS:
            return found


@pytest.mark.parametrize("name", FLOWS)
def test_the_error_told_covers_the_true_one_and_is_within_a_hundred_times(name, told_and_true):
    ratios = np.array([told.error_estimate / max(true.values()) for told, true in told_and_true[name]])
    assert len(ratios) >= MODELS
    assert np.mean(ratios >= 1) >= 0.95
    assert np.mean(ratios <= 100) >= 0.95


@pytest.mark.parametrize("name", FLOWS)
def test_errors_told_by_measure_cover_the_true_ones(name, told_and_true):
    pairs = np.array(
        [(told.errors[measure], error) for told, true in told_and_true[name] for measure, error in true.items()]
    )
    assert len(pairs) > 10 * MODELS
    assert np.mean(pairs[:, 0] >= pairs[:, 1]) >= 0.95
    # Some measures are met by chance, so fewer of the errors told are near the true ones.
    large = pairs[pairs[:, 1] > MEASURABLE]
    assert np.mean(large[:, 0] <= 100 * large[:, 1]) >= 0.85


@pytest.mark.parametrize("name", FLOWS)
def test_every_measure_has_an_error(name, random_queue):
    queue, thresholds = random_queue(3, "general")
    measures = queue.measures(thresholds, method=name)
    assert set(measures.errors) == {measure for measure in MEASURES if getattr(measures, measure)}
    assert measures.error_estimate == max(measures.errors.values())


@pytest.mark.parametrize("name", FLOWS)
def test_arrivals_that_no_iterate_can_miss_are_known_to_the_last_digits(name, random_queue):
    seed = next(seed for seed in count() if len(random_queue(seed, "erlang", "partial")[0].modes) == 1)
    queue, thresholds = random_queue(seed, "erlang", "partial")
    modes = queue.mode_by_level(thresholds)
    flows = FLOWS[name](queue.model, modes, 1e-4)
    assert flows.arriving == pytest.approx(queue.modes[0].arrivals.rate, rel=1e-13)
    assert flows.errors["arrival_rate"] < 1e-13 < 1e-8 < flows.error_estimate
