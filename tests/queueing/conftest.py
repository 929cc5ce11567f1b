"""Small random queues, and the paper's example."""

from collections.abc import Callable

import numpy as np
import pytest

from queueing import BMAP, Mode, PhaseType, ThresholdQueue

ADMISSIONS = ("partial", "whole-batch", "complete")
PATIENCE = {
    "none": None,
    "exponential": PhaseType.exponential(0.4),
    "erlang": PhaseType.erlang(2, 0.9),
    "hyperexponential": PhaseType.hyperexponential([0.8, 0.2], [2.5, 0.1]),
    "general": PhaseType([0.3, 0.7], [[-1.5, 0.4], [0.1, -0.3]]),
    # one eigenvalue twice, with one eigenvector
    "defective": PhaseType([0.6, 0.4], [[-1.0, 0.5], [0.0, -1.0]]),
    # phases that lead to earlier ones only
    "upstream": PhaseType([0.0, 0.3, 0.7], [[-0.8, 0.0, 0.0], [0.6, -1.1, 0.0], [0.2, 0.9, -1.3]]),
    # a circle: two of three eigenvalues are complex
    "circular": PhaseType([1.0, 0.0, 0.0], [[-1.0, 0.95, 0.0], [0.0, -1.0, 0.95], [0.9, 0.0, -1.0]]),
}


def random_law(rng: np.random.Generator, order: int) -> PhaseType:
    rates = rng.uniform(0.1, 2.0, (order, order)) * (1 - np.eye(order))
    return PhaseType(rng.dirichlet(np.ones(order)), rates - np.diag(rates.sum(axis=1) + rng.uniform(0.1, 2.0, order)))


def random_arrivals(rng: np.random.Generator, phases: int, largest: int) -> BMAP:
    blocks = rng.random((largest + 1, phases, phases)) * (rng.random((largest + 1, phases, phases)) < 0.7)
    blocks[rng.integers(1, largest + 1)] += 0.05
    np.fill_diagonal(blocks[0], 0.0)
    blocks[0] -= np.diag(blocks.sum(axis=(0, 2)))
    return BMAP(tuple(blocks))


@pytest.fixture(scope="session")
def random_queue() -> Callable[..., tuple[ThresholdQueue, tuple[int, ...]]]:
    """A maker of queues to 5 pages, 3 modes, 2 phases of arrivals and of service, batches to 4, with a policy."""

    def make(
        seed: int, patience: str = "general", admission: str | None = None
    ) -> tuple[ThresholdQueue, tuple[int, ...]]:
        rng = np.random.default_rng([seed, *map(ord, patience + (admission or ""))])
        phases, capacity = int(rng.integers(1, 3)), int(rng.integers(2, 6))
        robots = np.sort(rng.choice(np.arange(1, 7), size=int(rng.integers(1, 4)), replace=False))
        rule = admission or str(rng.choice(ADMISSIONS))
        # A batch that enters whole lifts the top level; the generator grows by powers with it.
        largest = int(rng.integers(1, 3 if rule == "complete" else 5))
        queue = ThresholdQueue(
            tuple(Mode(int(count), random_arrivals(rng, phases, largest)) for count in robots),
            random_law(rng, int(rng.integers(1, 3))),
            PATIENCE[patience],
            capacity=capacity,
            admission=rule,
        )
        thresholds = np.sort(rng.integers(-1, capacity + 1, len(robots) - 1))
        return queue, tuple(int(value) for value in thresholds)

    return make


@pytest.fixture(scope="session")
def paper_queue() -> Callable[..., ThresholdQueue]:
    """A maker of the queue of section 7 of the paper, 1 to 4 robots, with the three signs put right."""
    modes = (
        ([[-10, 2], [0, -0.5]], [[0.05, 3], [0.29, 0.005]], [[0.05, 4.9], [0.2, 0.005]]),
        ([[-5.65, 1.1], [0, -0.85]], [[0.01, 2.5], [0.25, 0]], [[0.02, 0.5], [0.25, 0]], [[0.02, 1.5], [0.1, 0.25]]),
        ([[-2.48, 0.48], [0.48, -3.48]], [[1.5, 0], [0, 2.25]], [[0.5, 0], [0, 0.75]]),
        (
            [[-1.45, 0.45], [0.6, -2.6]],
            [[0.25, 0], [0, 0.5]],
            [[0, 0], [0, 0]],
            [[0, 0], [0, 0]],
            [[0.75, 0], [0, 1.5]],
        ),
    )
    service = PhaseType([0.4, 0.6], [[-3, 1], [2, -3]])
    patience = PhaseType([0.3, 0.7], [[-0.6, 0.4], [0.1, -0.3]])

    def make(capacity: int, patience: PhaseType | None = patience, **options: str) -> ThresholdQueue:
        return ThresholdQueue(tuple(BMAP(blocks) for blocks in modes), service, patience, capacity=capacity, **options)

    return make
