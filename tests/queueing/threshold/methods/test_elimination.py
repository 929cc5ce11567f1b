"""Level elimination against closed forms, rational arithmetic and the full generator."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from queueing import BMAP, PhaseType, ThresholdQueue
from queueing.threshold import MEASURES
from queueing.threshold.methods import full_generator


def birth_and_death(
    arrival_rates: list[Fraction], service_rate: Fraction, fading_rate: Fraction
) -> tuple[list[Fraction], Fraction]:
    """Probabilities of 0..K pages and the loss probability of M/M/1/K with rates by level, in rational numbers."""
    weights = [Fraction(1)]
    for level, rate in enumerate(arrival_rates[:-1], start=1):
        weights.append(weights[-1] * rate / (service_rate + (level - 1) * fading_rate))
    total = sum(weights)
    offered = sum(weight * rate for weight, rate in zip(weights, arrival_rates, strict=True))
    return [weight / total for weight in weights], weights[-1] * arrival_rates[-1] / offered


@pytest.mark.parametrize(("load", "capacity"), [(0.8, 7), (0.1, 12), (1e-3, 10), (3.0, 40)])
def test_poisson_input_gives_the_mm1k_loss(load, capacity):
    measures = ThresholdQueue((BMAP.poisson(load),), PhaseType.exponential(1.0), capacity=capacity).measures(())
    loss = (1 - load) * load**capacity / (1 - load ** (capacity + 1))
    assert measures.loss == pytest.approx(loss, rel=1e-13)  # 1e-12, 1e-30: all digits
    assert measures.method == "elimination"
    assert measures.obsolescence == 0.0 and measures.obsolete_time is None


@pytest.mark.parametrize("capacity", [1, 2, 5, 30, 200])
def test_reneging_pages_give_the_birth_and_death_probabilities(capacity):
    rates, service, fading = (Fraction(3, 2), Fraction(1, 10)), Fraction(1), Fraction(3, 16)
    threshold = capacity // 2
    by_level = [rates[0] if level <= threshold else rates[1] for level in range(capacity + 1)]
    exact, loss = birth_and_death(by_level, service, fading)
    queue = ThresholdQueue(
        (BMAP.poisson(0.1), BMAP.poisson(1.5)),
        PhaseType.exponential(1.0),
        PhaseType.exponential(0.1875),
        capacity=capacity,
    )
    measures = queue.measures((threshold,))
    exact_in_doubles = [float(value) for value in exact]
    assert measures.level_probabilities == pytest.approx(exact_in_doubles, rel=1e-11, abs=1e-300)
    assert measures.loss == pytest.approx(float(loss), rel=1e-11, abs=1e-300)
    waiting = sum(max(0, level - 1) * value for level, value in enumerate(exact))
    assert measures.obsolescence_rate == pytest.approx(float(waiting * fading), rel=1e-12)


@pytest.mark.parametrize("stages", [1, 3, 10])
def test_without_waiting_the_loss_is_erlangs_whatever_the_service(stages):
    service = PhaseType.deterministic(2.0, stages)
    measures = ThresholdQueue((BMAP.poisson(0.7),), service, PhaseType.erlang(3, 1.0), capacity=1).measures(())
    assert measures.loss == pytest.approx(1.4 / 2.4, rel=1e-14)
    assert measures.response_time == pytest.approx(2.0, rel=1e-14)
    assert measures.obsolescence == 0.0 and measures.obsolete_time is None
    assert measures.method == "elimination"  # nobody waits, so patience of any order will do


@pytest.mark.parametrize(
    "patience",
    [
        PhaseType.exponential(0.5),
        PhaseType.erlang(3, 2.0),
        PhaseType.hyperexponential([0.9, 0.1], [4.0, 0.2]),
        PhaseType([0.3, 0.7], [[-1.5, 0.4], [0.1, -0.3]]),
    ],
)
def test_one_waiting_page_races_its_patience_against_the_server(patience):
    """K = 2, M/M: a waiting page is obsolete with probability E[exp(-mu T)], after E[T exp(-mu T)] / E[exp(-mu T)]."""
    rate, mu = 0.8, 1.3
    queue = ThresholdQueue((BMAP.poisson(rate),), PhaseType.exponential(mu), patience, capacity=2)
    measures = queue.measures(())
    resolvent = np.linalg.inv(mu * np.eye(patience.order) - patience.generator)
    race = float(patience.initial @ resolvent @ patience.exit_rates)
    time = float(patience.initial @ resolvent @ resolvent @ patience.exit_rates)
    mean = (1 - race) / mu  # E[min(T, service)]
    busy_one, busy_two = rate / mu, rate / mu * rate * mean
    share = busy_one / (1 + busy_one + busy_two)
    assert measures.starvation == pytest.approx(1 / (1 + busy_one + busy_two), rel=1e-12)
    assert measures.obsolescence == pytest.approx(share * race, rel=1e-12)
    assert measures.obsolete_time == pytest.approx(time / race, rel=1e-12)
    empty = measures.starvation
    waited = empty / mu + share * ((mean - time) + (1 - race) / mu)
    assert measures.response_time == pytest.approx(waited / (empty + share * (1 - race)), rel=1e-12)


def exact_levels(queue: ThresholdQueue, thresholds: tuple[int, ...]) -> list[Fraction]:
    """Probabilities of the levels, by elimination in rational numbers of the full generator's rates."""
    rates = full_generator(queue.model, queue.mode_by_level(thresholds)).toarray()
    exact = [[Fraction(float(rate)) for rate in row] for row in rates]
    for x in range(len(exact) - 1, 0, -1):
        total = sum(exact[x][:x])
        for z in range(x):
            if exact[z][x]:
                exact[z][x] /= total
                for y in range(x):
                    exact[z][y] += exact[z][x] * exact[x][y]
    weights = [Fraction(1)]
    for x in range(1, len(exact)):
        weights.append(sum(weights[z] * exact[z][x] for z in range(x)))
    sizes = [queue.model.level_size(level) for level in range(queue.model.top + 1)]
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    return [sum(weights[a:b]) / sum(weights) for a, b in pairwise(bounds)]


@pytest.mark.parametrize("admission", ["partial", "whole-batch", "complete"])
def test_losses_far_below_1e_minus_12_keep_their_digits(admission):
    rare = BMAP.map([[-1.002, 1.0], [1.0, -1.0001]], [[0.001, 0.001], [0.0, 0.0001]])
    calm = BMAP.map([[-1.0001, 1.0], [1.0, -1.0001]], [[0.0001, 0.0], [0.0, 0.0001]])
    queue = ThresholdQueue(
        (calm, rare), PhaseType.erlang(2, 4.0), PhaseType.exponential(0.25), capacity=5, admission=admission
    )
    measures = queue.measures((2,))
    exact = exact_levels(queue, (2,))
    assert float(exact[5]) < 1e-15
    assert measures.level_probabilities == pytest.approx([float(value) for value in exact], rel=1e-13)
    assert 0 < measures.loss < 1e-15


@pytest.mark.parametrize("patience", ["none", "exponential"])
@pytest.mark.parametrize("seed", range(20))
def test_level_elimination_agrees_with_the_full_generator(seed, patience, random_queue):
    queue, thresholds = random_queue(seed, patience)
    assert queue.method().name == "elimination"
    fast, slow = queue.measures(thresholds), queue.measures(thresholds, method="reference")
    for name in MEASURES:
        if getattr(slow, name) is None:
            assert getattr(fast, name) is None, name
        else:
            assert getattr(fast, name) == pytest.approx(getattr(slow, name), rel=1e-12), name
    assert fast.level_probabilities == pytest.approx(slow.level_probabilities, rel=1e-12)
    assert fast.mode_probabilities == pytest.approx(slow.mode_probabilities, rel=1e-12)


def test_the_error_estimate_covers_the_rounding():
    """Against rational arithmetic: the estimate is not below the worst relative error of any level, nor far above."""
    covered = 0
    ratios = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        blocks = rng.integers(1, 16, (3, 2, 2)) / 8.0  # exact in doubles, so that both sides solve one chain
        np.fill_diagonal(blocks[0], 0.0)
        blocks[0] -= np.diag(blocks.sum(axis=(0, 2)))
        queue = ThresholdQueue(
            (BMAP(tuple(blocks)),), PhaseType.erlang(2, 2.0), PhaseType.exponential(0.25), capacity=5
        )
        measures = queue.measures(())
        exact = exact_levels(queue, ())
        error = max(
            abs(float(Fraction(value) / true - 1))
            for value, true in zip(measures.level_probabilities, exact, strict=True)
        )
        covered += error <= measures.error_estimate
        ratios.append(measures.error_estimate / max(error, 2.0**-53))
    assert covered >= 19
    assert max(ratios) < 100


@pytest.mark.parametrize("load", [0.9, 0.999, 1.001, 1.1])
def test_the_error_estimate_covers_the_rounding_of_a_thousand_levels(load):
    measures = ThresholdQueue((BMAP.poisson(load),), PhaseType.exponential(1.0), capacity=1000).measures(())
    exact = Fraction(load)
    loss = (1 - exact) * exact**1000 / (1 - exact**1001)
    assert abs(float(Fraction(measures.loss) / loss - 1)) <= measures.error_estimate < 1e-13


def test_a_thousand_pages_are_no_trouble(paper_queue):
    measures = paper_queue(1000).measures((3, 4, 600))
    assert measures.error_estimate < 1e-12
    assert sum(measures.level_probabilities) == pytest.approx(1.0, rel=1e-12)
    smaller = paper_queue(300).measures((3, 4, 300))
    assert measures.mean_length == pytest.approx(smaller.mean_length, rel=1e-9)


def test_a_queue_that_is_always_full_does_not_overflow():
    """Level probabilities that rise by a factor of 100, a thousand times."""
    queue = ThresholdQueue((BMAP.poisson(100.0),), PhaseType.exponential(1.0), capacity=1000)
    measures = queue.measures(())
    assert measures.loss == pytest.approx(0.99, rel=1e-13)
    assert measures.mean_length == pytest.approx(1000 - 1 / 99, rel=1e-13)
    assert measures.starvation == 0.0
    assert math.isfinite(measures.response_time)


def test_patience_of_reducible_order_is_eliminated_too(paper_queue):
    hidden = paper_queue(6)
    plain = paper_queue(6, PhaseType.exponential(0.2))
    assert hidden.measures((1, 2, 4)).method == "elimination"
    for name in MEASURES:
        assert getattr(hidden.measures((1, 2, 4)), name) == pytest.approx(
            getattr(plain.measures((1, 2, 4)), name), rel=1e-13
        )
