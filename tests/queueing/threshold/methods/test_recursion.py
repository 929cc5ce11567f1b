"""Section 6 of the paper: pages that come one by one, against the methods that know nothing of it."""

import numpy as np
import pytest

from queueing import BMAP, Mode, PhaseType, ThresholdQueue
from queueing.threshold.methods import ELIMINATION, RECURSION, REFERENCE, block_levels

LAWS = {
    "none": None,
    "exponential": PhaseType.exponential(0.4),
    "erlang": PhaseType.erlang(3, 2.0),
    "hyperexponential": PhaseType.hyperexponential([0.8, 0.2], [2.5, 0.1]),
    "general": PhaseType([0.3, 0.7], [[-1.5, 0.4], [0.1, -0.3]]),
}


def single_arrivals(rng: np.random.Generator, phases: int) -> BMAP:
    blocks = rng.random((2, phases, phases))
    np.fill_diagonal(blocks[0], 0.0)
    blocks[0] -= np.diag(blocks.sum(axis=(0, 2)))
    return BMAP(tuple(blocks))


def single_queue(seed: int, law: str, admission: str = "partial") -> tuple[ThresholdQueue, tuple[int, ...]]:
    rng = np.random.default_rng([seed, *map(ord, law)])
    modes = tuple(Mode(robots, single_arrivals(rng, 2)) for robots in (1, 2, 5))
    rates = rng.uniform(0.1, 2.0, (2, 2)) * (1 - np.eye(2))
    service = PhaseType(rng.dirichlet([1, 1]), rates - np.diag(rates.sum(axis=1) + rng.uniform(0.2, 2.0, 2)))
    capacity = int(rng.integers(1, 6))
    queue = ThresholdQueue(modes, service, LAWS[law], capacity=capacity, admission=admission)
    return queue, tuple(int(value) for value in np.sort(rng.integers(-1, capacity + 1, 2)))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("seed", range(6))
def test_the_recursion_gives_the_flows_of_the_full_generator(seed, law):
    queue, thresholds = single_queue(seed, law)
    modes = queue.mode_by_level(thresholds)
    found = RECURSION.flows(queue.model, modes)
    for method in (REFERENCE, ELIMINATION):
        if method.refusal(queue.model) is not None:
            continue
        wanted = method.flows(queue.model, modes)
        np.testing.assert_allclose(found.levels, wanted.levels, rtol=1e-11)
        for name in ("arriving", "lost", "obsolete", "served", "served_time", "obsolete_time"):
            assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-11, abs=0), name
    assert found.error_estimate < 1e-12


@pytest.mark.parametrize("admission", ["whole-batch", "complete"])
def test_rules_for_batches_do_not_matter_to_pages_that_come_one_by_one(admission):
    queue, thresholds = single_queue(1, "erlang", admission)
    plain, _ = single_queue(1, "erlang")
    modes = queue.mode_by_level(thresholds)
    found, wanted = RECURSION.flows(queue.model, modes), RECURSION.flows(plain.model, modes)
    np.testing.assert_array_equal(found.levels, wanted.levels)
    assert found.lost == wanted.lost


@pytest.mark.parametrize("seed", range(4))
def test_the_printed_loss_holds_only_below_the_capacity(seed):
    """The paper's formula of section 6 takes the arrivals of the mode with the fewest robots at level K."""
    queue, _ = single_queue(seed, "general")
    capacity = queue.capacity
    for thresholds in ((0, capacity - 1), (0, capacity), (capacity, capacity)):
        modes = queue.mode_by_level(thresholds)
        flows = RECURSION.flows(queue.model, modes)
        full = block_levels(queue.model, modes)[capacity].reshape(2, -1).sum(axis=1)
        printed = float(full @ queue.modes[0].arrivals.blocks[1].sum(axis=1))
        right = float(full @ queue.modes[modes[capacity]].arrivals.blocks[1].sum(axis=1))
        assert flows.lost == pytest.approx(right, rel=1e-12)
        assert (printed == pytest.approx(right, rel=1e-6)) == (thresholds[-1] < capacity)


def test_levels_that_are_never_reached_have_no_probability():
    """The mode of two pages and more brings nothing."""
    quiet, busy = BMAP([[[0.0]], [[0.0]]]), BMAP.poisson(1.0)
    queue = ThresholdQueue((quiet, busy), PhaseType.exponential(1.0), LAWS["erlang"], capacity=4)
    flows = RECURSION.flows(queue.model, queue.mode_by_level((1,)))
    assert flows.levels[0] == pytest.approx(flows.levels[1], rel=1e-14)  # both rates are 1
    assert flows.served == pytest.approx(1 - flows.levels[0], rel=1e-14)
    assert flows.levels[3:].tolist() == [0.0, 0.0]
    assert flows.lost == 0.0


def test_batches_and_large_queues_are_refused_by_the_recursion():
    batches = ThresholdQueue((BMAP([[[-2.0]], [[1.0]], [[1.0]]]),), PhaseType.exponential(1.0), capacity=3)
    assert RECURSION.refusal(batches.model) == "takes pages that come one by one, and here come batches of up to 2"
    large = ThresholdQueue((BMAP.poisson(1.0),), PhaseType.exponential(1.0), LAWS["erlang"], capacity=12)
    assert RECURSION.refusal(large.model) == "takes at most 10000 states"


def test_the_recursion_is_there_by_name_and_not_preferred():
    queue, thresholds = single_queue(2, "general")
    assert queue.measures(thresholds).method != "recursion"
    found, wanted = queue.measures(thresholds, "recursion"), queue.measures(thresholds, "reference")
    assert found.method == "recursion"
    assert found.response_time == pytest.approx(wanted.response_time, rel=1e-11)
    assert found.loss == pytest.approx(wanted.loss, rel=1e-11)
