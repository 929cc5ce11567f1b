"""Policies that see the state: the chain, its stationary distribution, and every measure, by two roads."""

from dataclasses import replace

import numpy as np
import pytest

from queueing import BMAP, Mode, PhaseType, ThresholdQueue
from queueing.numerics import stationary_of_rates
from queueing.threshold.methods import full_generator, level_blocks
from queueing.threshold.policies import (
    YIELDS,
    checked_policy,
    policy_chain,
    policy_measures,
    stationary_of_policy,
)
from queueing.threshold.policies.chain import closed_classes, flows_of_policy
from queueing.threshold.policies.transitions import state_order

LAWS = ("none", "exponential", "erlang", "hyperexponential", "general")
RULES = ("partial", "whole-batch", "complete")


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(3))
def test_a_policy_that_looks_at_the_level_alone_is_a_threshold_policy(law, rule, seed, random_queue):
    queue, thresholds = random_queue(seed, law, rule)
    by_level = queue.mode_by_level(thresholds)
    chain = policy_chain(queue.model)
    policy = by_level[chain.order.level]
    difference = abs(chain.generator(policy) - full_generator(queue.model, by_level))
    assert difference.max() < 1e-14
    found, expected = policy_measures(queue, policy, chain), queue.measures(thresholds, "reference")
    for name, value in expected.scalars().items():
        assert getattr(found, name) == (None if value is None else pytest.approx(value, rel=1e-11, abs=1e-300)), name
    assert found.level_probabilities == pytest.approx(expected.level_probabilities, rel=1e-11)
    assert found.mode_probabilities == pytest.approx(expected.mode_probabilities, rel=1e-11)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("seed", range(3))
def test_any_policy_has_the_distribution_of_the_generator_put_together_row_by_row(law, seed, random_queue):
    queue, _ = random_queue(seed, law)
    chain = policy_chain(queue.model)
    rng = np.random.default_rng(seed)
    policy = rng.integers(0, len(queue.modes), chain.states)
    rows = np.zeros((chain.states, chain.states))
    for mode in range(len(queue.modes)):
        everywhere = np.full(queue.model.top + 1, mode)
        rows[policy == mode] = full_generator(queue.model, everywhere).toarray()[policy == mode]
    expected = stationary_of_rates(rows)
    probabilities = stationary_of_policy(chain, policy)
    assert probabilities == pytest.approx(expected, rel=1e-10, abs=1e-300)
    flows = flows_of_policy(chain, policy, probabilities)
    assert flows.error_estimate < 1e-12  # rates of service and obsolescence, seen by the server and by entering pages
    assert flows.arriving == pytest.approx(flows.lost + flows.obsolete + flows.served, rel=1e-12)
    length = float(np.arange(len(flows.levels)) @ flows.levels)
    assert length == pytest.approx(flows.served_time + flows.obsolete_time, rel=1e-11)  # Little's law


def test_states_are_ordered_by_pages_then_arrival_then_service_then_patience_of_the_oldest(random_queue):
    modes = (Mode(1, BMAP(([[-2.0, 1.0], [0.5, -1.5]], [[1.0, 0.0], [0.0, 1.0]]))),)
    queue = ThresholdQueue(modes, PhaseType.erlang(2, 1.0), PhaseType.erlang(2, 0.5), capacity=3)
    order = state_order(queue.model)
    expected = [(0, nu, -1) for nu in range(2)]
    for pages in (1, 2, 3):
        expected += [(pages, nu, m) for nu in range(2) for m in range(2) for _ in range(2 ** (pages - 1))]
    assert list(zip(order.level, order.arrival, order.service, strict=True)) == expected
    assert order.states == queue.model.states == 30
    assert order.pairs == queue.model.pairs == 14
    # Three pages, the phases of the two that wait: from (first, first) the oldest moves two places on, the younger one.
    chain = policy_chain(queue.model)
    first = int(order.offsets[3])
    row = chain.generator(np.zeros(30, dtype=np.int64)).toarray()[first]
    assert row[first + 2] == row[first + 1] == pytest.approx(0.5)
    assert row[first + 3] == 0.0


def test_a_page_that_goes_out_of_date_closes_the_gap_it_leaves():
    queue = ThresholdQueue(
        (Mode(1, BMAP.poisson(1.0)),),
        PhaseType.exponential(1.0),
        PhaseType.hyperexponential([0.5, 0.5], [3.0, 0.1]),
        capacity=3,
    )
    chain = policy_chain(queue.model)
    blocks = level_blocks(queue.model, np.zeros(4, dtype=np.int64))
    offsets = chain.order.offsets
    down = chain.rates.toarray()[offsets[3] : offsets[4], offsets[2] : offsets[3]]
    assert down == pytest.approx(blocks[3][2].toarray())


@pytest.mark.parametrize("law", ["exponential", "erlang"])
def test_a_policy_on_level_and_phases_of_arrival_and_service_ignores_those_of_patience(law, random_queue):
    queue, _ = random_queue(2, law)
    chain = policy_chain(queue.model)
    rng = np.random.default_rng(0)
    short = rng.integers(0, len(queue.modes), chain.order.pairs)
    long = checked_policy(chain, short)
    assert len(long) == chain.states
    for state in range(chain.states):
        same = (chain.order.level == chain.order.level[state]) & (chain.order.arrival == chain.order.arrival[state])
        same &= chain.order.service == chain.order.service[state]
        assert len(set(long[same])) == 1
    assert policy_measures(queue, short, chain) == policy_measures(queue, long, chain)


def test_small_probabilities_keep_their_digits_where_levels_are_eliminated():
    queue = ThresholdQueue(
        (Mode(1, BMAP.poisson(1e-3)), Mode(2, BMAP.poisson(1.0))), PhaseType.exponential(10.0), capacity=12
    )
    chain = policy_chain(queue.model)
    policy = np.array([1] * 3 + [0] * 10)
    weights = np.cumprod([1.0] + [(1.0 if level < 3 else 1e-3) / 10.0 for level in range(12)])
    loss = 1e-3 * weights[-1] / weights.sum()
    found = policy_measures(queue, policy, chain)
    assert loss < 1e-35
    assert found.loss_rate == pytest.approx(loss, rel=1e-12)


def test_an_iteration_stands_in_for_elimination_on_larger_chains(monkeypatch, random_queue):
    queue, _ = random_queue(1, "general", "partial")
    queue = replace(queue, capacity=6)
    chain = policy_chain(queue.model)
    policy = np.random.default_rng(0).integers(0, len(queue.modes), chain.states)
    exact = policy_measures(queue, policy, chain)
    monkeypatch.setattr("queueing.threshold.policies.chain.DENSE_STATES", 10)
    iterated = policy_measures(queue, policy, chain)
    assert (exact.method, iterated.method) == ("reference", "krylov")
    for name, value in exact.scalars().items():
        assert getattr(iterated, name) == pytest.approx(value, rel=1e-9)
    assert iterated.error_estimate < 1e-8


def two_rings() -> ThresholdQueue:
    """Arrival phases go round in opposite directions in two modes; mixed by phase, two of them are never left."""
    forward = np.roll(np.eye(4), 1, axis=1)
    modes = tuple(
        Mode(robots, BMAP((turn - 2.0 * np.eye(4), np.eye(4)))) for robots, turn in ((1, forward), (2, forward.T))
    )
    return ThresholdQueue(modes, PhaseType.exponential(1.0), capacity=2)


def test_a_policy_that_never_settles_is_refused():
    queue = two_rings()
    chain = policy_chain(queue.model)
    policy = np.array([0, 1, 0, 1])[chain.order.arrival]
    assert len(closed_classes(chain.generator(policy))) == 2
    with pytest.raises(ValueError, match="one stationary distribution, but this one stays for ever with state 0 or"):
        policy_measures(queue, policy, chain)


def test_states_that_a_policy_leaves_for_ever_have_no_probability():
    queue = two_rings()
    chain = policy_chain(queue.model)
    policy = np.array([0, 1, 1, 1])[chain.order.arrival]
    found = stationary_of_policy(chain, policy)
    assert found[chain.order.arrival >= 2] == pytest.approx(0.0, abs=1e-300)
    assert found.sum() == pytest.approx(1.0)


def test_policies_of_the_wrong_length_or_with_unknown_modes_are_refused(paper_queue):
    chain = policy_chain(paper_queue(5).model)
    with pytest.raises(ValueError, match="a mode for each of 22 states, but 21 came"):
        checked_policy(chain, [0] * 21)
    with pytest.raises(ValueError, match="entry 3 is 4; modes are numbered from 0 to 3"):
        checked_policy(chain, [0, 0, 0, 4, *[0] * 18])


def test_a_chain_that_is_too_large_is_refused_before_it_is_built(paper_queue):
    with pytest.raises(ValueError, match="at most 300000 states, and this queue has"):
        policy_chain(paper_queue(40, PhaseType.erlang(3, 1.0)).model)


def test_one_place_and_no_waiting_need_no_phases_of_patience(paper_queue):
    queue = paper_queue(1, PhaseType.erlang(2, 1.0))
    chain = policy_chain(queue.model)
    assert chain.states == 2 + 4
    found, expected = policy_measures(queue, [2] * 6, chain), queue.measures((-1, 1, 1))
    assert found.response_time == pytest.approx(expected.response_time)
    assert found.obsolete_time is None
    assert len(YIELDS) == len(chain.yields)
