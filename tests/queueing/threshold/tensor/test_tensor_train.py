"""Threshold queues in small spaces of patience phases: against methods that know every state, and by what must hold."""

import dataclasses
from typing import NamedTuple

import numpy as np
import pytest

from queueing import BMAP, Mode, PhaseType, ThresholdQueue
from queueing.threshold.methods import chain_of
from queueing.threshold.methods.krylov import krylov_flows
from queueing.threshold.methods.matrix_free import matrix_free_flows
from queueing.threshold.model import ThresholdModel
from queueing.threshold.tensor import TENSOR_TRAIN
from queueing.threshold.tensor.bases import first_cores, marginal_cores, scaled_law, spaces_of
from queueing.threshold.tensor.levels import eliminate, moves_of, stationary_rows
from queueing.threshold.tensor.tensor_train import FINEST, tensor_flows

RULES = ("partial", "whole-batch", "complete")
LAWS = {
    "gen": PhaseType([0.3, 0.7], [[-1.5, 0.4], [0.1, -0.1]]),
    "hyp": PhaseType.hyperexponential([0.9, 0.1], [3.0, 0.1 / (5 - 0.9 / 3.0)]),
    "erlang-2": PhaseType.erlang(2, 0.4),
    "erlang-3": PhaseType.erlang(3, 0.6),
}


def random_patience(rng: np.random.Generator, order: int, kind: str) -> PhaseType:
    if kind == "erlang":
        return PhaseType.erlang(order, rng.uniform(0.2, 3) * order)
    if kind == "hyperexponential":
        return PhaseType.hyperexponential(rng.dirichlet(np.ones(order)), np.exp(rng.uniform(-3, 1.5, order)))
    if kind == "cycle":  # complex eigenvalues
        rates = rng.uniform(0.5, 3, order)
        generator = -np.diag(rates + rng.uniform(0.05, 0.3, order))
        generator[np.arange(order), (np.arange(order) + 1) % order] = rates
        return PhaseType(rng.dirichlet(np.ones(order)), generator)
    rates = rng.uniform(0.1, 2.0, (order, order)) * (1 - np.eye(order))
    return PhaseType(rng.dirichlet(np.ones(order)), rates - np.diag(rates.sum(axis=1) + rng.uniform(0.02, 2.0, order)))


def random_arrivals(rng: np.random.Generator, phases: int, largest: int) -> BMAP:
    blocks = rng.random((largest + 1, phases, phases)) * (rng.random((largest + 1, phases, phases)) < 0.7)
    blocks[rng.integers(1, largest + 1)] += 0.05
    np.fill_diagonal(blocks[0], 0.0)
    blocks[0] -= np.diag(blocks.sum(axis=(0, 2)))
    return BMAP(tuple(blocks))


def random_case(seed: int) -> tuple[ThresholdQueue, tuple[int, ...]]:
    """Patience of 2 to 4 phases, 5 to 10 pages, batches up to 4, all rules of admission."""
    rng = np.random.default_rng([seed, 2011])
    order = int(rng.integers(2, 5))
    kind = str(rng.choice(["erlang", "hyperexponential", "cycle", "any"]))
    rule = RULES[seed % 3]
    capacity = int(rng.integers(5, {2: 11, 3: 8, 4: 7}[order]))
    phases, largest = int(rng.integers(1, 3)), int(rng.integers(1, 3 if rule == "complete" else 5))
    count = int(rng.integers(1, 4))
    modes = tuple(Mode(robots + 1, random_arrivals(rng, phases, largest)) for robots in range(count))
    service = random_patience(rng, int(rng.integers(1, 3)), "any").scaled(np.exp(rng.uniform(-1, 2)))
    patience = random_patience(rng, order, kind)
    queue = ThresholdQueue(modes, service, patience, capacity=capacity, admission=rule)
    return queue, tuple(int(value) for value in np.sort(rng.integers(-1, capacity + 1, count - 1)))


def measured(queue: ThresholdQueue, thresholds, flows):
    modes = queue.mode_by_level(thresholds)
    return queue._measures(flows(queue.model, modes), modes, "test")


class Judged(NamedTuple):
    """Estimates by true errors: the largest told by the largest there is, and the least of all measures."""

    largest: float
    least: float


def judged(seeds: range) -> list[Judged]:
    """Of random queues, as far as they are not solved exactly; errors of a measure below `FINEST` are rounding."""
    found = []
    for seed in seeds:
        queue, thresholds = random_case(seed)
        told, exact = measured(queue, thresholds, tensor_flows), measured(queue, thresholds, krylov_flows)
        if not told.errors:
            continue
        true = {name: abs(getattr(told, name) / value - 1) for name, value in exact.scalars().items() if value}
        least = min((told.errors[name] + exact.errors[name]) / error for name, error in true.items() if error > FINEST)
        found.append(Judged(told.error_estimate / max(*true.values(), FINEST), least))
    return found


@pytest.mark.parametrize(
    ("law", "capacity", "thresholds"),
    [
        ("gen", 9, (9, 9, 9)),
        ("hyp", 9, (-1, 2, 2)),
        ("erlang-2", 8, (8, 8, 8)),
        ("erlang-3", 6, (0, 2, 4)),
        ("gen", 8, (1, 3, 5)),
    ],
)
def test_errors_are_within_their_estimates_and_below_the_target(law, capacity, thresholds, paper_queue):
    queue = paper_queue(capacity, LAWS[law])
    found, exact = measured(queue, thresholds, tensor_flows), measured(queue, thresholds, krylov_flows)
    assert set(found.errors) == {name for name, value in exact.scalars().items() if value}
    for name, error in found.errors.items():
        true = abs(getattr(found, name) / getattr(exact, name) - 1)
        assert true <= error + exact.errors[name], name
        if name not in ("loss", "loss_rate", "starvation"):  # where they are small, fewer digits are asked for
            assert error < 1e-5, name
    np.testing.assert_allclose(found.level_probabilities, exact.level_probabilities, rtol=0, atol=1e-5)


@pytest.mark.parametrize("start", [30_000, 30_006])
def test_estimates_are_near_the_errors_of_random_queues(start):
    found = judged(range(start, start + 6))
    assert len(found) >= 5
    assert all(1 <= one.largest < 100 for one in found)
    assert all(one.least >= 1 for one in found)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_estimates_are_near_the_errors_of_two_hundred_random_queues():
    """Seeds that no constant of the estimate was chosen by; those were below 6000."""
    found = judged(range(30_000, 30_200))
    assert len(found) > 180
    assert np.mean([one.largest >= 1 for one in found]) >= 0.97  # estimates are no bounds
    assert np.mean([one.least >= 1 for one in found]) >= 0.97  # nor are those of single measures
    assert np.mean([one.largest < 100 for one in found]) >= 0.95  # an estimate of 1 covers all and says nothing
    assert max(one.largest for one in found) < 1000


def test_a_lower_target_gives_smaller_errors_in_more_rounds(paper_queue):
    queue = paper_queue(8, LAWS["gen"])
    exact = measured(queue, (8, 8, 8), krylov_flows)
    errors = []
    for target in (0.1, 1e-3, 1e-5):
        flows = tensor_flows(queue.model, queue.mode_by_level((8, 8, 8)), target=target)
        assert flows.errors["response_time"] < target
        errors.append(abs(flows.served_time / flows.served / exact.response_time - 1))
    assert errors[0] > errors[1] > errors[2]


def test_what_is_told_after_too_few_rounds_is_what_was_reached(paper_queue):
    queue = paper_queue(9, LAWS["erlang-2"])
    modes = queue.mode_by_level((9, 9, 9))
    exact = measured(queue, (9, 9, 9), krylov_flows)
    for rounds, dimensions in ((2, 100), (4, 100), (12, 10)):
        flows = tensor_flows(queue.model, modes, rounds=rounds, dimensions=dimensions)
        assert flows.error_estimate > 1e-5
        found = queue._measures(flows, modes, "test")
        for name in ("loss", "success", "response_time", "mean_length", "starvation"):
            assert abs(getattr(found, name) / getattr(exact, name) - 1) < found.errors[name], name
    assert tensor_flows(queue.model, modes, rounds=1).error_estimate == np.inf


@pytest.mark.parametrize("patience", ["none", "exponential", "erlang", "hyperexponential", "general"])
@pytest.mark.parametrize("seed", range(4))
def test_small_queues_are_solved_exactly_once_spaces_hold_all_words(seed, patience, random_queue):
    queue, thresholds = random_queue(seed, patience)
    found, exact = measured(queue, thresholds, tensor_flows), queue.measures(thresholds, method="reference")
    for name, value in exact.scalars().items():
        error = found.errors.get(name, found.error_estimate)
        if value is None:
            assert getattr(found, name) is None, name
        else:
            assert getattr(found, name) == pytest.approx(value, rel=max(1e-9, error), abs=1e-14), name


def test_a_queue_that_nothing_enters_is_empty():
    still = BMAP((np.array([[-0.5, 0.5], [1.0, -1.0]]), np.zeros((2, 2))))
    queue = ThresholdQueue((Mode(1, still),), PhaseType.exponential(1.0), LAWS["gen"], capacity=3)
    flows = tensor_flows(queue.model, queue.mode_by_level(()))
    assert flows.levels[0] == pytest.approx(1.0)
    assert flows.served == flows.obsolete == flows.lost == 0.0


def test_one_page_needs_no_space():
    queue = ThresholdQueue((Mode(1, BMAP.poisson(2.0)),), PhaseType.exponential(1.0), LAWS["gen"], capacity=1)
    flows = tensor_flows(queue.model, queue.mode_by_level(()))
    assert flows.levels == pytest.approx([1 / 3, 2 / 3])
    assert flows.lost == pytest.approx(4 / 3)


def test_seen_in_small_spaces_probabilities_still_balance(paper_queue):
    """Crude spaces, and yet what comes in at each level goes out of it."""
    queue = paper_queue(20, LAWS["hyp"])
    chain = chain_of(queue.model, queue.mode_by_level((3, 6, 9)))
    law = scaled_law(*queue.model.patience_rates, 0.3)
    spaces, moves = spaces_of(law, first_cores(law, chain.top - 1)), moves_of(chain)
    rows = stationary_rows(moves, spaces, eliminate(moves, spaces))
    assert sum(row[:, 0].sum() for row in rows) == pytest.approx(1.0, rel=1e-12)
    for level in range(2, chain.top):
        down = (rows[level] @ (spaces.fading[level - 1][:, 0])).sum()
        down += (moves.renewing.T @ rows[level])[:, 0].sum()
        up = sum(
            (moves.climbing[below][count].T @ rows[below])[:, 0].sum()
            for below in range(level)
            for count in range(level - below, moves.reach(below) + 1)
        )
        assert up == pytest.approx(down, rel=1e-9)


def test_spaces_begin_with_e_and_single_pages_in_orthonormal_rows(paper_queue):
    queue = paper_queue(15, LAWS["erlang-3"])
    chain = chain_of(queue.model, queue.mode_by_level((15, 15, 15)))
    law, moves = scaled_law(*queue.model.patience_rates, 0.1), moves_of(chain)
    spaces = spaces_of(law, first_cores(law, chain.top - 1))
    rows = stationary_rows(moves, spaces, eliminate(moves, spaces))
    for pages, core in enumerate(marginal_cores(chain, law, *queue.model.patience_rates, rows)):
        flat = core.reshape(len(core), -1)
        np.testing.assert_allclose(flat @ flat.T, np.eye(len(core)), atol=1e-10)
        np.testing.assert_allclose(core[0, :, 0], law.whole, atol=1e-15)
        assert len(core) > 2 or pages == 0


def test_a_queue_that_is_always_full_needs_few_rounds(paper_queue):
    """Oldest pages are far from new ones: by what is left over alone, news of them would travel a page a round."""
    queue = ThresholdQueue((Mode(1, BMAP.poisson(30.0)),), PhaseType.exponential(1.0), LAWS["gen"], capacity=13)
    modes = queue.mode_by_level(())
    exact = measured(queue, (), krylov_flows)
    found = queue._measures(tensor_flows(queue.model, modes, rounds=6), modes, "test")
    for name in ("loss", "obsolescence", "response_time", "mean_length"):
        assert abs(getattr(found, name) / getattr(exact, name) - 1) < min(1e-3, found.errors[name]), name


def test_many_pages_obey_littles_law_and_balance(paper_queue):
    queue = paper_queue(40, LAWS["gen"])
    modes = queue.mode_by_level((5, 20, 30))
    flows = tensor_flows(queue.model, modes, target=1e-4)
    assert flows.lost + flows.served + flows.obsolete == pytest.approx(flows.arriving, rel=1e-10)
    pages = float(np.arange(41) @ flows.levels)
    assert flows.served_time + flows.obsolete_time == pytest.approx(pages, rel=flows.errors["sojourn_time"])
    assert 1 - flows.levels[0] == pytest.approx(flows.served * queue.service.mean, rel=1e-10)
    assert (flows.levels >= 0).all()


def test_light_tails_are_positive_however_high_the_level(paper_queue):
    queue = paper_queue(60, LAWS["hyp"])
    flows = tensor_flows(queue.model, queue.mode_by_level((-1, 1, 1)), target=1e-4)
    assert (flows.levels > 0).all()
    assert flows.levels[60] < 1e-12
    assert flows.errors["success"] < 1e-4


def test_runs_repeat_to_the_last_digit(paper_queue):
    queue = paper_queue(12, LAWS["gen"])
    modes = queue.mode_by_level((2, 4, 12))
    first, second = (tensor_flows(queue.model, modes, target=1e-3) for _ in range(2))
    assert dataclasses.asdict(first).keys() == dataclasses.asdict(second).keys()
    assert first.served_time == second.served_time
    assert first.error_estimate == second.error_estimate


def test_too_many_levels_or_phases_are_refused():
    model = ThresholdModel((BMAP.poisson(1.0),), PhaseType.exponential(1.0), LAWS["gen"], 5000, "partial")
    assert "at most 1000 pages" in TENSOR_TRAIN.refusal(model)
    model = ThresholdModel((BMAP.poisson(1.0),), PhaseType.erlang(100, 1.0), LAWS["gen"], 50, "partial")
    assert "at most 64 pairs" in TENSOR_TRAIN.refusal(model)
    assert TENSOR_TRAIN.refusal(dataclasses.replace(model, service=PhaseType.exponential(1.0))) is None


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_twenty_pages_as_the_method_without_a_matrix_finds_them(paper_queue):
    """Four million states."""
    queue = paper_queue(20, LAWS["gen"])
    found = measured(queue, (20, 20, 20), tensor_flows)
    known = {
        "starvation": 0.001991127849522569,
        "loss": 0.3360434472838087,
        "success": 0.32710658685868493,
        "response_time": 7.582538527821348,
    }
    for name, value in known.items():
        assert abs(getattr(found, name) / value - 1) < found.errors[name], name
        assert found.errors[name] < 1e-5 / min(1.0, value / 0.01), name  # small shares count less
    exact = measured(queue, (20, 20, 20), matrix_free_flows)
    for name, value in known.items():
        assert getattr(exact, name) == pytest.approx(value, rel=1e-9)
