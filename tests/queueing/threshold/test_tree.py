"""Many policies at once: the same measures as one by one, with the work that policies share done once."""

from itertools import combinations_with_replacement
from math import comb

import numpy as np
import pytest

from queueing import BMAP, Mode, PhaseType, ThresholdQueue
from queueing.threshold import MEASURES, measures_of_many
from queueing.threshold.neighbours import in_small_steps

SHARED = ("none", "exponential")


def every_policy(queue):
    return list(combinations_with_replacement(range(-1, queue.capacity + 1), len(queue.modes) - 1))


def check_against_single_evaluations(queue, policies, relative=1e-12):
    found = measures_of_many(queue, policies)
    for policy, row in zip(policies, found.rows(), strict=True):
        single = queue.measures(policy).scalars()
        assert tuple(row) == MEASURES
        for name, value in single.items():
            assert row[name] == (None if value is None else pytest.approx(value, rel=relative, abs=0)), (policy, name)
    return found


@pytest.mark.parametrize("admission", ["partial", "whole-batch", "complete"])
@pytest.mark.parametrize("patience", SHARED)
@pytest.mark.parametrize("seed", range(12))
def test_all_measures_of_all_policies_are_those_of_single_evaluations(seed, patience, admission, random_queue):
    queue, _ = random_queue(seed, patience, admission)
    policies = every_policy(queue)
    found = check_against_single_evaluations(queue, policies)
    assert found.alone == 0
    capacity, modes = queue.capacity, len(queue.modes)
    above = queue.model.top - capacity  # levels above K share the mode of K
    assert found.levels == comb(capacity + modes + 1, modes) - 1 + above * modes


@pytest.mark.parametrize("seed", range(6))
def test_any_batch_of_policies_comes_back_in_its_own_order(seed, random_queue):
    queue, _ = random_queue(seed, "exponential")
    rng = np.random.default_rng(seed)
    everything = every_policy(queue)
    policies = [everything[index] for index in rng.integers(len(everything), size=7)]
    found = check_against_single_evaluations(queue, policies)
    # Levels that were computed: the different beginnings of the policies, read from the highest level down.
    modes = [tuple(queue.mode_by_level(policy)[::-1].tolist()) for policy in policies]
    assert found.levels == len({one[:depth] for one in modes for depth in range(1, len(one) + 1)})


@pytest.mark.parametrize("patience", ["erlang", "hyperexponential", "general", "circular"])
@pytest.mark.parametrize("seed", range(4))
def test_policies_of_queues_that_do_not_reduce_begin_with_the_solution_of_a_neighbour(seed, patience, random_queue):
    queue, _ = random_queue(seed, patience)
    policies = every_policy(queue)[:40]
    found = check_against_single_evaluations(queue, policies, relative=1e-10)
    assert found.alone == (1 if len(policies) == 1 else 0)


def test_neighbours_may_reach_other_levels_than_one_another():
    nothing, some = BMAP(([[0.0]], [[0.0]])), BMAP(([[-2.0]], [[1.5]], [[0.5]]))
    queue = ThresholdQueue(
        (Mode(0, nothing), Mode(1, some)), PhaseType.erlang(2, 3.0), PhaseType.erlang(2, 1.0), capacity=6
    )
    found = check_against_single_evaluations(queue, every_policy(queue), relative=1e-10)
    assert found.alone == 0


def test_queues_too_large_to_keep_what_policies_share_are_evaluated_one_by_one(monkeypatch, random_queue):
    queue, policy = random_queue(1, "erlang", "partial")
    monkeypatch.setattr("queueing.threshold.neighbours.NEIGHBOURS_LIMIT", 1)
    assert check_against_single_evaluations(queue, [policy, policy]).alone == 2


def test_policies_that_sweeps_do_not_settle_are_evaluated_alone(monkeypatch, random_queue):
    queue, _ = random_queue(2, "general", "partial")
    monkeypatch.setattr("queueing.threshold.neighbours._LEAST_RESIDUAL", 0.0)
    policies = every_policy(queue)[:5]
    assert check_against_single_evaluations(queue, policies).alone == len(policies)


def test_an_order_to_and_fro_changes_little_at_a_time():
    policies = np.array(list(combinations_with_replacement(range(-1, 11), 3)))
    order = in_small_steps(policies)
    assert sorted(order.tolist()) == list(range(364))
    steps = np.abs(np.diff(policies[order], axis=0)).sum(axis=1)
    assert steps.mean() < 1.25 < np.abs(np.diff(policies, axis=0)).sum(axis=1).mean()


def test_the_papers_patience_of_two_phases_is_exponential_and_shares_work(paper_queue):
    queue = paper_queue(20)
    policies = every_policy(queue)
    found = measures_of_many(queue, policies)
    assert len(policies) == 2024
    assert found.levels == 12649  # one by one, 2024 policies have 42504 levels
    assert found.alone == 0


def test_one_mode_has_one_policy_without_thresholds():
    queue = ThresholdQueue((Mode(2, BMAP.poisson(1.5)),), PhaseType.exponential(2.0), capacity=4)
    found = check_against_single_evaluations(queue, [()])
    assert found.levels == 5


def test_no_policies_have_no_measures(paper_queue):
    assert measures_of_many(paper_queue(3), []).rows() == []


def test_a_mode_without_arrivals_leaves_means_undefined():
    nothing = BMAP(([[0.0]], [[0.0]]))
    queue = ThresholdQueue((Mode(0, nothing), Mode(1, BMAP.poisson(1.0))), PhaseType.exponential(2.0), capacity=3)
    rows = check_against_single_evaluations(queue, [(-1,), (0,), (3,)])
    assert rows.rows()[0]["response_time"] is None
    assert rows.rows()[0]["starvation"] == 1.0


def test_passages_longer_than_a_double_holds_are_evaluated_alone():
    # From 400 pages down to 399 takes some 20^400 units of time where arrivals are twenty times as fast as service.
    queue = ThresholdQueue(
        (Mode(1, BMAP.poisson(0.5)), Mode(2, BMAP.poisson(20.0))), PhaseType.exponential(1.0), capacity=400
    )
    policies = [(-1,), (3,), (400,)]
    found = check_against_single_evaluations(queue, policies)
    assert 0 < found.alone < 3


def test_thresholds_are_checked(paper_queue):
    with pytest.raises(ValueError, match="must not decrease"):
        measures_of_many(paper_queue(5), [(0, 1, 2), (2, 1, 2)])


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
def test_a_chain_that_leaves_some_phases_for_ever_while_it_is_watched_at_level_0(order):
    # Arrivals happen in phase 2 only and lead to phase 0: whatever the numbering, the distribution is found.
    quiet = np.array([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0], [0.0, 0.0, -1.0]])
    batch = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    still = np.array([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0], [1.0, 0.0, -1.0]])
    select = np.ix_(order, order)
    modes = (Mode(0, BMAP((still[select], np.zeros((3, 3))))), Mode(1, BMAP((quiet[select], batch[select]))))
    queue = ThresholdQueue(modes, PhaseType.erlang(2, 3.0), PhaseType.exponential(0.3), capacity=3)
    check_against_single_evaluations(queue, every_policy(queue))
