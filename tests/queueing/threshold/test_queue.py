"""Threshold queues: published numbers, laws that hold for every queue, and what is refused."""

import pickle

import numpy as np
import pytest

from queueing import BMAP, Mode, PhaseType, ThresholdMeasures, ThresholdQueue, independent_modes
from queueing.threshold import MEASURES
from queueing.threshold.model import ThresholdModel
from queueing.threshold.queue import METHODS

WEIGHTS = {"loss_rate": 5, "obsolescence_rate": 10, "response_time": 2, "active_robots": 20, "starvation": 300}

# K: best j of "3 or 1 robots" and its cost, then the cost of always 1, 2, 3, 4 robots. Table 2 of the paper with its
# misprints put right (j* for K = 3, 6, 7; the column C_1 from K = 8 on), to three places.
TABLE_2 = {
    1: (0, 147.499, 244.781, 233.453, 187.200, 258.843),
    2: (1, 96.830, 199.243, 174.001, 128.852, 194.423),
    3: (1, 79.117, 172.669, 140.378, 105.476, 160.081),
    4: (2, 68.329, 158.187, 121.760, 94.705, 140.697),
    5: (2, 63.543, 149.912, 110.009, 89.405, 130.312),
    6: (2, 60.823, 144.741, 102.352, 86.760, 124.185),
    7: (2, 59.331, 141.600, 97.246, 85.501, 120.512),
    8: (3, 58.463, 139.713, 93.762, 84.997, 118.350),
    9: (3, 57.891, 138.587, 91.367, 84.914, 117.148),
    10: (3, 57.576, 137.925, 89.715, 85.061, 116.559),
    20: (3, 57.232, 137.084, 86.331, 87.255, 120.075),
    30: (3, 57.232, 137.083, 86.310, 87.420, 123.606),
    100: (3, 57.232, 137.083, 86.310, 87.421, 124.849),
}


def cost(measures: ThresholdMeasures) -> float:
    """J, equation (2) of the paper."""
    return sum(weight * getattr(measures, name) for name, weight in WEIGHTS.items())


@pytest.mark.parametrize(
    ("thresholds", "value"),
    [
        ((-1, -1, -1), 149.9115),
        ((-1, -1, 5), 110.0090),
        ((-1, 5, 5), 89.4051),
        ((5, 5, 5), 130.3125),
        ((-1, 2, 2), 63.5425),
    ],
)
def test_costs_of_the_papers_example(thresholds, value, paper_queue):
    assert cost(paper_queue(5).measures(thresholds)) == pytest.approx(value, abs=5e-5)


def test_all_measures_of_the_papers_best_policy(paper_queue):
    measures = paper_queue(5).measures((-1, 2, 2))
    known = {
        "loss": 0.173437,
        "obsolescence": 0.171669,
        "starvation": 0.064800,
        "active_robots": 1.75198,
        "response_time": 1.72406,
        "obsolete_time": 0.92987,
        "arrival_rate": 2.17307,
    }
    for name, value in known.items():
        assert getattr(measures, name) == pytest.approx(value, abs=5.1e-6 if value > 0.5 else 5.1e-7), name
    assert measures.mode_probabilities[1] == measures.mode_probabilities[3] == 0.0


@pytest.mark.parametrize("capacity", TABLE_2)
def test_table_2_for_small_and_large_systems(capacity, paper_queue):
    queue = paper_queue(capacity)
    best, least, *single = TABLE_2[capacity]
    costs = [cost(queue.measures((-1, j, j))) for j in range(min(capacity, 8))]
    assert int(np.argmin(costs)) == best
    assert min(costs) == pytest.approx(least, abs=5.5e-4)
    never, always = (-1,), (capacity,)
    for robots, value in enumerate(single, start=1):
        thresholds = never * (4 - robots) + always * (robots - 1)
        assert cost(queue.measures(thresholds)) == pytest.approx(value, abs=5.5e-4)


def test_figure_4_needs_two_phases_of_patience(paper_queue):
    """Hyperexponential patience of mean 5, 3 or 1 robots, thresholds 0..4."""
    law = PhaseType.hyperexponential([0.9, 0.1], [0.5, 0.1 / (5 - 0.9 / 0.5)])
    assert law.mean == pytest.approx(5.0)
    costs = [cost(paper_queue(5, law).measures((-1, j, j))) for j in range(5)]
    assert costs == pytest.approx([92.64, 77.60, 76.01, 79.64, 86.67], abs=5.1e-3)


def test_figure_4_law_with_four_or_three_or_one_robots(paper_queue):
    law = PhaseType.hyperexponential([0.9, 0.1], [3.0, 0.1 / (5 - 0.9 / 3.0)])
    measures = paper_queue(5, law).measures((0, 2, 2))
    assert cost(measures) == pytest.approx(146.529, abs=5.1e-4)
    assert measures.response_time == pytest.approx(1.02302, abs=5.1e-6)
    assert measures.obsolescence == pytest.approx(0.610952, abs=5.1e-7)
    assert measures.method == "krylov"


def test_the_method_follows_the_size_of_the_queue(paper_queue):
    """Exact elimination where patience has one phase, else what was measured to be fastest."""
    law = PhaseType.erlang(2, 1.0)
    assert paper_queue(1000).method().name == "elimination"
    assert paper_queue(10, law).method().name == "krylov"
    assert paper_queue(11, law).method().name == "matrix-free"
    assert paper_queue(20, law).method().name == "matrix-free"
    assert paper_queue(16, law).method("krylov").name == "krylov"


@pytest.mark.parametrize("patience", ["none", "exponential", "erlang", "hyperexponential", "general"])
@pytest.mark.parametrize("seed", range(6))
def test_what_enters_leaves(seed, patience, random_queue):
    queue, thresholds = random_queue(seed, patience)
    measures = queue.measures(thresholds)
    assert measures.loss + measures.obsolescence + measures.success == pytest.approx(1.0, rel=1e-12)
    assert measures.loss_rate == pytest.approx(measures.loss * measures.arrival_rate, rel=1e-14)
    # Little's law, between a mean over levels and a mean over pages.
    assert measures.mean_length == pytest.approx(measures.arrival_rate * measures.sojourn_time, rel=1e-12)
    # The server is busy with served pages only: nobody leaves it unserved.
    served = measures.success * measures.arrival_rate
    assert 1 - measures.starvation == pytest.approx(served * queue.service.mean, rel=1e-12)
    assert sum(measures.level_probabilities) == pytest.approx(1.0, rel=1e-13)
    assert sum(measures.mode_probabilities) == pytest.approx(1.0, rel=1e-13)


@pytest.mark.parametrize("patience", ["exponential", "erlang"])
@pytest.mark.parametrize("seed", range(4))
def test_equal_modes_make_thresholds_irrelevant(seed, patience, random_queue):
    queue, _ = random_queue(seed, patience)
    alike = ThresholdQueue(
        tuple(Mode(robots, queue.modes[0].arrivals) for robots in (1, 2, 5)),
        queue.service,
        queue.patience,
        capacity=queue.capacity,
        admission=queue.admission,
    )
    first, second = alike.measures((-1, 0)), alike.measures((1, queue.capacity))
    for name in MEASURES:
        if name != "active_robots":
            assert getattr(first, name) == pytest.approx(getattr(second, name), rel=1e-12), name


@pytest.mark.parametrize("patience", ["exponential", "general"])
def test_time_may_be_measured_in_any_unit(patience, random_queue):
    queue, thresholds = random_queue(5, patience)
    faster = ThresholdQueue(
        tuple(Mode(mode.robots, mode.arrivals.scaled(60.0)) for mode in queue.modes),
        queue.service.scaled(60.0),
        queue.patience.scaled(60.0),
        capacity=queue.capacity,
        admission=queue.admission,
    )
    slow, fast = queue.measures(thresholds), faster.measures(thresholds)
    assert fast.loss == pytest.approx(slow.loss, rel=1e-12)
    assert fast.arrival_rate == pytest.approx(60 * slow.arrival_rate, rel=1e-12)
    assert fast.response_time == pytest.approx(slow.response_time / 60, rel=1e-12)
    assert fast.obsolete_time == pytest.approx(slow.obsolete_time / 60, rel=1e-12)


def test_single_pages_are_admitted_alike_by_all_rules(paper_queue):
    single = BMAP.map([[-2.0, 1.0], [0.5, -3.0]], [[1.0, 0.0], [0.0, 2.5]])
    results = [
        ThresholdQueue(
            (single,), PhaseType.erlang(2, 3.0), PhaseType.erlang(2, 1.0), capacity=4, admission=rule
        ).measures(())
        for rule in ("partial", "whole-batch", "complete")
    ]
    for name in MEASURES:
        values = [getattr(result, name) for result in results]
        assert values[1] == pytest.approx(values[0], rel=1e-13) and values[2] == pytest.approx(values[0], rel=1e-13)


def test_complete_admission_goes_above_the_capacity_and_loses_least():
    batches = BMAP.batches(BMAP.poisson(0.5), [0.2, 0.3, 0.5])
    loss = {}
    for rule in ("whole-batch", "partial", "complete"):
        queue = ThresholdQueue((batches,), PhaseType.exponential(2.0), capacity=4, admission=rule)
        loss[rule] = queue.measures(()).loss
        assert len(queue.measures(()).level_probabilities) == (7 if rule == "complete" else 5)
    assert loss["complete"] < loss["partial"] < loss["whole-batch"]


def test_thresholds_choose_modes_from_the_most_robots_down(paper_queue):
    queue = paper_queue(5)
    assert queue.mode_by_level((-1, 2, 2)).tolist() == [2, 2, 2, 0, 0, 0]
    assert queue.mode_by_level((0, 1, 3)).tolist() == [3, 2, 1, 1, 0, 0]
    assert queue.mode_by_level((-1, -1, 5)).tolist() == [1] * 6
    above = paper_queue(5, admission="complete")
    assert above.mode_by_level((-1, -1, 5)).tolist() == [1] * 9  # "always" is always, above the capacity too


def test_processes_without_numbers_are_one_two_three_robots():
    queue = ThresholdQueue((BMAP.poisson(1.0), BMAP.poisson(2.0)), PhaseType.exponential(1.0), capacity=3)
    assert [mode.robots for mode in queue.modes] == [1, 2]
    assert queue.measures((1,)).active_robots == pytest.approx(1 + queue.measures((1,)).mode_probabilities[1])


def test_independent_poisson_robots_are_the_birth_and_death_queue():
    modes = independent_modes([BMAP.poisson(1.0), BMAP.poisson(0.5)])
    queue = ThresholdQueue(modes, PhaseType.exponential(2.0), capacity=3)
    weights = np.cumprod([1.0, 1.5 / 2, 1.5 / 2, 1.0 / 2])
    assert queue.measures((1,)).level_probabilities == pytest.approx(weights / weights.sum(), rel=1e-14)


def test_a_mode_may_bring_nothing():
    nothing = BMAP(([[0.0]], [[0.0]]))
    modes = (Mode(0, nothing), Mode(3, BMAP.poisson(2.0)))
    queue = ThresholdQueue(modes, PhaseType.exponential(1.0), capacity=4)
    paused = queue.measures((1,))
    assert paused.loss == 0.0
    assert paused.level_probabilities == pytest.approx([1 / 7, 2 / 7, 4 / 7, 0, 0], rel=1e-14)
    asleep = queue.measures((-1,))
    assert asleep.starvation == 1.0 and asleep.arrival_rate == 0.0
    assert asleep.loss is None and asleep.response_time is None and asleep.sojourn_time is None


def test_queues_and_measures_survive_pickling(paper_queue):
    queue = paper_queue(4)
    measures = queue.measures((-1, 1, 2))
    assert pickle.loads(pickle.dumps(queue)) == queue
    assert pickle.loads(pickle.dumps(queue)).measures((-1, 1, 2)) == measures == pickle.loads(pickle.dumps(measures))


def test_every_method_can_be_asked_for_by_name(paper_queue):
    queue = paper_queue(4)
    taking = [name for name, method in METHODS.items() if method.refusal(queue.model) is None]
    # the one takes no batches, the other no queue that can be evaluated exactly
    assert taking == [name for name in METHODS if name not in ("recursion", "truncated")]
    results = {name: queue.measures((0, 1, 2), method=name) for name in taking}
    for name, result in results.items():
        assert result.method == name
        assert 0 < result.error_estimate < 1e-12
        assert cost(result) == pytest.approx(cost(results["elimination"]), rel=1e-13)


@pytest.mark.parametrize(
    ("thresholds", "sentence"),
    [
        ((1, 2), r"4 modes need 3 thresholds, but 2 came, \(1, 2\)"),
        ((2, 1, 3), r"thresholds must not decrease, but they are \(2, 1, 3\)"),
        ((-2, 1, 3), r"thresholds\[0\] must be between -1 and the capacity 5, but it is -2"),
        ((0, 1, 6), r"thresholds\[2\] must be between -1 and the capacity 5, but it is 6"),
        ((0, 1, 2.5), "thresholds must be whole numbers"),
        (3, "thresholds must be whole numbers"),
    ],
)
def test_wrong_thresholds_are_refused(thresholds, sentence, paper_queue):
    with pytest.raises(ValueError, match=sentence):
        paper_queue(5).measures(thresholds)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"capacity": 0}, "capacity must be a whole number of at least 1, but it is 0"),
        ({"capacity": 2.5}, "capacity must be a whole number"),
        ({"admission": "some"}, "admission must be one of partial, whole-batch, complete, but it is 'some'"),
        ({"modes": ()}, "modes must not be empty"),
        ({"modes": (BMAP.poisson(1.0), 3)}, r"modes\[1\] must be a Mode or a BMAP, but it is 3"),
        ({"modes": (Mode(2, BMAP.poisson(1.0)), Mode(2, BMAP.poisson(2.0)))}, r"modes\[1\] must have more robots"),
        (
            {"modes": (BMAP.poisson(1.0), BMAP.mmpp([[-1, 1], [1, -1]], [1, 2]))},
            "mode 1 has 2 phases and mode 0 has 1",
        ),
        ({"service": 3.0}, r"service must be a PhaseType, but it is 3\.0"),
        ({"patience": 3.0}, r"patience must be a PhaseType or None, but it is 3\.0"),
    ],
)
def test_wrong_queues_are_refused(change, sentence):
    parts = {"modes": (BMAP.poisson(1.0),), "service": PhaseType.exponential(1.0), "patience": None, "capacity": 3}
    with pytest.raises((ValueError, TypeError), match=sentence):
        ThresholdQueue(**(parts | change))


def test_what_a_method_does_not_take_is_refused_with_its_size(paper_queue):
    queue = paper_queue(40, PhaseType.erlang(2, 1.0))
    states = 2 * (1 + 2 * (2**40 - 1))
    with pytest.raises(
        ValueError, match=f"Method 'block' takes at most 10000 states, but this queue has {states} states"
    ):
        queue.measures((0, 1, 2), method="block")
    with pytest.raises(ValueError, match="Method 'elimination' takes patience of one phase"):
        queue.measures((0, 1, 2), method="elimination")
    with pytest.raises(LookupError, match="No method is called 'magic'; there are elimination, krylov, matrix-free"):
        queue.measures((0, 1, 2), method="magic")


def test_rates_too_far_apart_end_in_a_sentence_not_in_nan():
    queue = ThresholdQueue((BMAP.poisson(1e300),), PhaseType.exponential(1e-300), capacity=3)
    with pytest.raises(ValueError, match="too far apart for doubles"):
        queue.measures(())


@pytest.mark.parametrize("method", [name for name in METHODS if name != "truncated"])
def test_batch_sizes_that_never_come_change_nothing(method):
    service, zero = PhaseType.exponential(1.0), [[0.0]]
    plain = ThresholdQueue((BMAP.poisson(1.0),), service, capacity=3, admission="complete")
    padded = ThresholdQueue((BMAP(([[-1.0]], [[1.0]], zero, zero)),), service, capacity=3, admission="complete")
    assert padded.measures((), method=method) == plain.measures((), method=method)


@pytest.mark.parametrize("share", [1e-12, 2e-11, 5e-11])
@pytest.mark.parametrize("service", [False, True])
def test_what_order_reduction_drops_is_part_of_the_error(share, service):
    """A second phase that differs by some 1e-11 is left out, and all measures are that of another law."""
    nearly = PhaseType([0.5, 0.5], [[-0.3, 0.1], [0.05, -(0.05 + 0.2 * (1 + share))]])
    one = PhaseType.exponential(1.0)
    laws = (nearly.scaled(5.0), one) if service else (one, nearly)
    queue = ThresholdQueue((Mode(1, BMAP.poisson(2.0)),), *laws, capacity=4)
    assert queue.model.service.order == queue.model.patience.order == 1
    modes = queue.mode_by_level(())
    whole = ThresholdModel(queue.model.arrivals, *laws, queue.capacity, queue.admission)
    exact = queue._measures(METHODS["reference"].flows(whole, modes), modes, "reference")
    found = queue.measures(())
    true = max(abs(getattr(found, name) / value - 1) for name, value in exact.scalars().items() if value)
    assert share / 1000 < true < found.error_estimate < 10 * share
    assert all(error >= queue.reduction_error for error in found.errors.values())


def test_laws_with_the_same_phases_or_none_too_many_lose_nothing():
    same = PhaseType([0.3, 0.7], [[-0.3, 0.1], [0.2, -0.4]])  # rates out are equal: exponential to the last digit
    queue = ThresholdQueue((Mode(1, BMAP.poisson(2.0)),), PhaseType.erlang(2, 3.0), same, capacity=4)
    assert queue.model.patience.order == 1
    assert queue.reduction_error == 0.0
