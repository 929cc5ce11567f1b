"""The simulation against closed forms and exact evaluators, and mistakes in the order of service that it must find."""

import ast
import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest
from joint_chances import joint_chance
from scipy.stats import binom, erlang

import queueing.threshold.simulation.runs
from queueing import BMAP, PhaseType, ThresholdQueue
from queueing.simulation import Estimate, Phases, jackknife, joint_limit
from queueing.simulation.intervals import student_quantile
from queueing.threshold.simulation import Replication, Seen, SimulatedQueue, Simulation, replicate, usual_time
from queueing.threshold.simulation.runs import simulate

LAWS = ("none", "exponential", "erlang", "hyperexponential", "general")
ADMISSIONS = ("partial", "whole-batch", "complete")
FIGURE_4 = PhaseType.hyperexponential([0.9, 0.1], [3.0, 1 / 47])  # a1 = 3
LEVEL_MEASURES = ("arrival_rate", "loss", "obsolescence", "success", "starvation", "active_robots", "mean_length")


def simulated(queue: ThresholdQueue, thresholds, **options) -> SimulatedQueue:
    """The data of a queue, and nothing else of it."""
    return SimulatedQueue(
        arrivals=[mode.arrivals.blocks for mode in queue.modes],
        service=queue.service,
        patience=queue.patience,
        thresholds=thresholds,
        capacity=queue.capacity,
        admission=queue.admission,
        robots=[mode.robots for mode in queue.modes],
        **options,
    )


def observed(queue: SimulatedQueue, events: float = 6e5, replications: int = 25, seed: int = 0, **options):
    time = usual_time(queue, int(events / replications), seed)
    return simulate(queue, time=time, replications=replications, seed=seed, **options)


def deviations(found: Simulation, exact, names=None) -> list[float]:
    """Standard errors between simulated and exact values: of all measures, and of the levels unless names are given."""
    measures = found.measures()
    result = []
    for name, value in exact.scalars().items():
        if names is None or name in names:
            assert (measures[name].value is None) == (value is None), name
            if value is not None:
                result.append(measures[name].deviation(value))
    if names is None:
        result += [
            one.deviation(value)
            for one, value in zip(found.level_probabilities(), exact.level_probabilities, strict=True)
        ]
    return result


def chance(found: Simulation, exact, names=None) -> float:
    """A bound on the chance of what was seen, if the exact values are right: all comparisons taken together."""
    values = deviations(found, exact, names)
    return joint_chance(max(map(abs, values)), len(values), len(found.observations) - 1)


# -- independence -----------------------------------------------------------------------------------------------------


def test_the_simulation_imports_no_evaluator():
    allowed = {"numpy", "numba", "scipy", "math", "collections", "dataclasses", "functools", "itertools", "typing"}
    room = Path(queueing.threshold.simulation.runs.__file__).parent
    shared = room.parents[1] / "simulation"
    files = [
        *sorted(room.glob("[!_]*.py")),
        *(shared / name for name in ("draws.py", "intervals.py", "replications.py")),
    ]
    assert len(files) == 6
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert {name.name.split(".")[0] for name in node.names} <= allowed, file
            elif isinstance(node, ast.ImportFrom) and node.level:
                assert node.level == 1 or node.module == "simulation", (file, node.module)
            elif isinstance(node, ast.ImportFrom):
                assert node.module.split(".")[0] in allowed, file
                if node.module.startswith("scipy"):
                    assert node.module == "scipy.special"  # quantiles of Student's law


# -- closed forms -----------------------------------------------------------------------------------------------------


def single(rate: float, **options) -> SimulatedQueue:
    return SimulatedQueue(
        arrivals=[[[[-rate]], [[rate]]]], service=Phases([1.0], [[-1.0]]), thresholds=(), **{"patience": None} | options
    )


def assert_near(pairs: list[tuple[Estimate, float]], wrong: float = 0.01) -> None:
    largest = max(abs(one.deviation(value)) for one, value in pairs)
    assert largest < joint_limit(len(pairs), pairs[0][0].degrees, wrong)


def test_poisson_input_gives_the_mm1k_levels_and_loss():
    found = observed(single(0.8, capacity=4), seed=1)
    weights = 0.8 ** np.arange(5)
    levels = weights / weights.sum()
    measures = found.measures()
    assert measures["obsolete_time"].value is None
    assert measures["active_robots"].value == pytest.approx(1.0, rel=1e-12)
    assert measures["active_robots"].deviation(1.0) == 0
    assert_near(
        [
            *zip(found.level_probabilities(), levels, strict=True),
            (measures["loss"], levels[4]),
            (measures["arrival_rate"], 0.8),
            (measures["starvation"], levels[0]),
            (measures["response_time"], np.arange(1, 5) @ levels[:4] / levels[:4].sum()),
        ]
    )


def test_exponential_patience_gives_the_mm1_queue_with_reneging():
    found = observed(single(1.5, patience=Phases([1.0], [[-0.5]]), capacity=40), seed=1)
    weights = np.cumprod(np.concatenate([[1.0], 1.5 / (1.0 + 0.5 * np.arange(40))]))
    levels = weights / weights.sum()
    waiting = np.maximum(np.arange(41) - 1, 0)
    measures = found.measures()
    assert_near(
        [
            *zip(found.level_probabilities()[:8], levels[:8], strict=True),
            (measures["obsolescence_rate"], 0.5 * waiting @ levels),
            (measures["success"], (1 - levels[0]) / 1.5),
            (measures["sojourn_time"], np.arange(41) @ levels / 1.5),
        ]
    )


def test_constant_patience_gives_the_work_of_barrer():
    """The time an arrival would wait has density rate P0 e^(-(1 - rate) x) up to the patience, e^(-x) beyond it."""
    rate, limit = 1.4, 2.0
    below = rate * (1 - math.exp(-(1 - rate) * limit)) / (1 - rate)
    beyond = rate * math.exp(-(1 - rate) * limit)
    empty = 1 / (1 + below + beyond)
    found = observed(single(rate, patience=limit, capacity=60), seed=2, samples=10**5)
    measures = found.measures()
    assert measures["loss"].value < 1e-5
    assert_near(
        [
            (measures["starvation"], empty),
            (measures["obsolescence"], empty * beyond),
            (measures["success"], (1 - empty) / rate),
        ]
    )
    kept = np.concatenate(found.obsolete)
    assert len(kept) > 1e4
    np.testing.assert_allclose(kept, limit, rtol=1e-6)  # whoever goes out of date has waited just so long


def test_times_of_served_pages_follow_the_mixture_of_erlang_laws():
    found = observed(single(0.8, capacity=4), seed=3, samples=10**6)
    weights = 0.8 ** np.arange(4)
    weights /= weights.sum()

    def law(time: float) -> float:
        return float(weights @ [erlang.cdf(time, stages) for stages in range(1, 5)])

    pairs = [(found.cdf(time), law(time)) for time in (0.2, 0.5, 1.0, 2.0, 4.0, 8.0)]
    assert_near(pairs)
    for probability in (0.1, 0.5, 0.9):
        one = found.quantile(probability)
        low, high = one.value - 4 * one.error, one.value + 4 * one.error
        assert law(low) < probability < law(high)
        assert one.error < 0.05
    assert found.cdf(1.0, obsolete=True).value is None
    assert found.quantile(0.5, obsolete=True).value is None


def test_the_last_first_has_the_same_mean_time_but_not_the_same_law():
    first, last = (observed(single(0.8, capacity=4, order=order), seed=4, samples=10**6) for order in ("first", "last"))
    both = [found.measures()["response_time"] for found in (first, last)]
    assert abs(both[0].value - both[1].value) < 4 * math.hypot(*(one.error for one in both))
    tails = [found.cdf(6.0) for found in (first, last)]
    assert abs(tails[0].value - tails[1].value) > 10 * math.hypot(*(one.error for one in tails))


def test_nothing_arrives_nothing_happens():
    found = simulate(single(0.0, capacity=3), time=10.0, replications=3)
    assert found.events == 0
    measures = found.measures()
    assert measures["starvation"].value == 1.0
    assert measures["loss"].value is None
    assert usual_time(single(0.0, capacity=3), 100) == 1.0


# -- exact evaluators -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("admission", ADMISSIONS)
@pytest.mark.parametrize("patience", LAWS)
@pytest.mark.parametrize("seed", [0, 1])
def test_simulated_and_exact_measures_agree(random_queue, patience, admission, seed):
    """All 30 cases together go wrong by chance in one of a hundred choices of seeds."""
    queue, thresholds = random_queue(seed, patience, admission)
    found = observed(simulated(queue, thresholds), seed=seed)
    assert chance(found, queue.measures(thresholds)) > 0.01 / 30


@pytest.mark.parametrize(
    ("patience", "thresholds"),
    [("paper", (-1, 2, 2)), ("paper", (0, 2, 2)), ("figure 4", (0, 2, 2)), ("erlang", (0, 2, 3))],
)
def test_the_example_of_the_paper_agrees(paper_queue, patience, thresholds):
    law = {"figure 4": FIGURE_4, "erlang": PhaseType.erlang(3, 1.5)}.get(patience)
    queue = paper_queue(5) if law is None else paper_queue(5, law)
    found = observed(simulated(queue, thresholds), events=1.5e6, seed=6)
    assert chance(found, queue.measures(thresholds)) > 0.01 / 4


# -- mistakes in the order of service ---------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["last", "random"])
@pytest.mark.parametrize("law", ["figure 4", "erlang", "general"])
def test_an_order_that_is_not_first_come_first_served_is_found(paper_queue, order, law):
    patience = {
        "figure 4": FIGURE_4,
        "erlang": PhaseType.erlang(3, 1.5),
        "general": PhaseType([0.3, 0.7], [[-1.5, 0.4], [0.1, -0.3]]),
    }[law]
    queue = paper_queue(5, patience)
    exact = queue.measures((0, 2, 2))
    found = observed(simulated(queue, (0, 2, 2), order=order), events=3e6, seed=7)
    assert chance(found, exact) < 1e-6
    assert chance(found, exact, LEVEL_MEASURES) < 1e-6


@pytest.mark.parametrize("order", ["last", "random"])
def test_the_data_of_the_paper_hide_a_wrong_order(paper_queue, order):
    """Patience of the paper is exponential in disguise: whoever is served, as many pages wait, are lost and fade."""
    queue = paper_queue(5)
    exact = queue.measures((0, 2, 2))
    found = observed(simulated(queue, (0, 2, 2), order=order), events=1.5e6, seed=8)
    assert chance(found, exact, LEVEL_MEASURES) > 0.01
    assert chance(found, exact, ["response_time", "obsolete_time"]) < 1e-6  # times do tell


def lumped_levels(queue: ThresholdQueue, thresholds) -> np.ndarray:
    """Level probabilities if the phases of waiting pages were only counted: right where a random page is served next.

    States are (pages, phase of arrivals, phase of service, waiting pages in the first of two phases of patience).
    """
    modes, capacity = queue.mode_by_level(thresholds), queue.capacity
    start, moves = queue.patience.initial, queue.patience.generator
    beta, service, ends = queue.service.initial, queue.service.generator, queue.service.exit_rates
    size = queue.modes[0].arrivals.phases
    states = [(0, nu, 0, 0) for nu in range(size)] + [
        (level, nu, m, count)
        for level in range(1, capacity + 1)
        for nu in range(size)
        for m in range(len(beta))
        for count in range(level)
    ]
    place = {state: index for index, state in enumerate(states)}
    rates = np.zeros((len(states), len(states)))

    def flow(state, level, nu, m, count, rate):
        rates[place[state], place[level, nu, m, count]] += rate

    for state in states:
        level, nu, m, count = state
        for batch, block in enumerate(queue.modes[modes[level]].arrivals.blocks):
            entering = min(batch, capacity - level)
            for target in range(size):
                rate = block[nu, target] if batch or target != nu else 0.0
                waiting = entering if level else max(0, entering - 1)
                for added in range(waiting + 1):
                    share = math.comb(waiting, added) * start[0] ** added * start[1] ** (waiting - added)
                    if level == 0 and entering:
                        for phase, first in enumerate(beta):
                            flow(state, entering, target, phase, added, rate * share * first)
                    else:
                        flow(state, level + entering, target, m, count + added, rate * share)
        if level == 0:
            continue
        for phase in range(len(beta)):
            if phase != m:
                flow(state, level, nu, phase, count, service[m, phase])
            if level == 1:
                continue
            for which, number in ((0, count), (1, level - 1 - count)):
                rate = ends[m] * beta[phase] * number / (level - 1)
                if number:
                    flow(state, level - 1, nu, phase, count - (which == 0), rate)
        if level == 1:
            flow(state, 0, nu, 0, 0, ends[m])
        other = level - 1 - count
        if count:
            flow(state, level - 1, nu, m, count - 1, -count * moves[0].sum())
            flow(state, level, nu, m, count - 1, count * moves[0, 1])
        if other:
            flow(state, level - 1, nu, m, count, -other * moves[1].sum())
            flow(state, level, nu, m, count + 1, other * moves[1, 0])
    np.fill_diagonal(rates, 0.0)
    np.fill_diagonal(rates, -rates.sum(axis=1))
    equations = np.vstack([rates.T, np.ones(len(states))])
    solution = np.linalg.lstsq(equations, np.eye(len(states) + 1)[-1], rcond=None)[0]
    return np.bincount([state[0] for state in states], weights=solution)


def level_chance(found: Simulation, levels) -> float:
    values = [one.deviation(value) for one, value in zip(found.level_probabilities(), levels, strict=True)]
    return joint_chance(max(map(abs, values)), len(values), len(found.observations) - 1)


def test_counting_phases_instead_of_ordering_them_is_found(paper_queue):
    queue, policy = paper_queue(5, FIGURE_4), (0, 2, 2)
    wrong = lumped_levels(queue, policy)
    right = queue.measures(policy).level_probabilities
    assert level_chance(observed(simulated(queue, policy), events=1.5e6, seed=9), wrong) < 1e-6
    assert level_chance(observed(simulated(queue, policy), events=1.5e6, seed=9), right) > 0.01
    # It is the right answer to another question.
    assert level_chance(observed(simulated(queue, policy, order="random"), events=1.5e6, seed=9), wrong) > 0.01


def test_the_data_of_the_paper_hide_counted_phases_altogether(paper_queue):
    queue, policy = paper_queue(5), (0, 2, 2)
    exact = queue.measures(policy).level_probabilities
    np.testing.assert_allclose(lumped_levels(queue, policy), exact, rtol=1e-10)


# -- intervals --------------------------------------------------------------------------------------------------------


def test_intervals_cover_as_often_as_they_say():
    queue = single(0.7, patience=Phases([1.0], [[-0.3]]), capacity=2)
    exact = ThresholdQueue(
        (BMAP.poisson(0.7),), PhaseType.exponential(1.0), PhaseType.exponential(0.3), capacity=2
    ).measures(())
    seeds = range(200)
    hits = dict.fromkeys(exact.scalars(), 0)
    for seed in seeds:
        for name, one in simulate(queue, time=500.0, replications=10, seed=seed).measures().items():
            if name != "active_robots":
                hits[name] += one.covers(exact.scalars()[name])
    del hits["active_robots"]  # a constant here
    low, high = binom.ppf([0.0005, 0.9995], len(seeds), 0.95)
    assert all(low <= count <= high for count in hits.values()), hits


def test_the_jackknife_of_a_mean_is_the_usual_error():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(12, 1))
    one = jackknife(lambda means: float(means[0]), rows)
    assert one.value == pytest.approx(rows.mean())
    assert one.error == pytest.approx(rows.std(ddof=1) / math.sqrt(12))
    assert one.half_width(0.95) == pytest.approx(2.200985 * one.error, rel=1e-6)


def test_the_jackknife_of_a_quotient_is_the_delta_method():
    rng = np.random.default_rng(2)
    rows = rng.normal([5.0, 10.0], [0.05, 0.08], size=(30, 2))
    one = jackknife(lambda means: float(means[0] / means[1]), rows)
    left = rows[:, 0] - one.value * rows[:, 1]
    assert one.error == pytest.approx(left.std(ddof=1) / rows[:, 1].mean() / math.sqrt(30), rel=1e-3)


def test_an_estimate_without_an_error_has_no_interval():
    alone = jackknife(lambda means: float(means[0]), np.array([[3.0]]))
    assert (alone.value, alone.error, alone.half_width(), alone.deviation(3.0)) == (3.0, None, None, None)
    assert not alone.covers(3.0)
    seen_once = jackknife(lambda means: means[0] / means[1] if means[1] > 0 else None, np.array([[1.0, 1.0], [0, 0]]))
    assert (seen_once.value, seen_once.error) == (1.0, None)


def test_a_constant_that_is_another_deviates_without_end():
    constant = Estimate(2.0, 0.0, 9)
    assert constant.deviation(2.0) == 0.0
    assert constant.deviation(2.1) == -math.inf
    assert joint_chance(math.inf, 3, 9) == 0.0


def test_joint_limits_are_those_of_bonferroni():
    assert joint_limit(10, 24, 0.05) == pytest.approx(student_quantile(1 - 0.0025, 24))
    assert joint_chance(joint_limit(10, 24, 0.05), 10, 24) == pytest.approx(0.05)


# -- runs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["first", "last", "random"])
@pytest.mark.parametrize("admission", ADMISSIONS)
def test_every_page_is_accounted_for(random_queue, admission, order):
    for seed in range(4):
        queue, thresholds = random_queue(seed, "general", admission)
        one = Replication(simulated(queue, thresholds, order=order), seed, 0, 300.0, 0.0, 10**5)
        assert one.advance(10**7)
        seen = one.seen
        arrived, lost, obsolete, served, obsolete_time, served_time = seen.observation[:6] * 300.0
        assert arrived - lost - obsolete - served == pytest.approx(one.state.places[1])
        assert seen.observation[6:].sum() == pytest.approx(1.0)
        assert [len(kept) for kept in (seen.served, seen.obsolete)] == pytest.approx([served, obsolete])
        assert [kept.sum() for kept in (seen.served, seen.obsolete)] == pytest.approx([served_time, obsolete_time])
        # Pages times time, counted by levels and by pages; those inside at the end have not told theirs yet.
        inside = np.arange(len(seen.observation) - 6) @ seen.observation[6:] * 300.0
        assert served_time + obsolete_time <= inside * (1 + 1e-9)
        assert served_time + obsolete_time > 0.5 * inside


def test_the_same_seed_gives_the_same_answer_in_steps_of_any_size(paper_queue):
    queue = simulated(paper_queue(5, FIGURE_4), (0, 2, 2))
    whole = simulate(queue, time=200.0, replications=3, seed=5).observations
    steps = replicate(queue, time=200.0, seed=5, step=7)
    done = [one.observation for one in (next(steps) for _ in range(2000)) if one is not None][:3]
    np.testing.assert_array_equal(np.array(done), whole)
    assert not np.array_equal(simulate(queue, time=200.0, replications=3, seed=6).observations, whole)


def test_a_warm_up_is_not_observed():
    queue = single(50.0, capacity=1000)
    cold = simulate(queue, time=20.0, warm_up=0.0, replications=3)
    warm = simulate(queue, time=20.0, warm_up=40.0, replications=3)
    assert cold.measures()["loss"].value < 0.2
    assert warm.measures()["loss"].value == pytest.approx(0.98, abs=0.01)
    assert warm.observations[:, 6:].sum(axis=1) == pytest.approx(1.0)


def test_many_waiting_pages_leave_in_order_of_their_deadlines():
    """Two thousand places: the heap of deadlines, not only a handful."""
    queue = single(900.0, patience=Phases([0.5, 0.5], [[-1.0, 0.0], [0.0, -0.25]]), capacity=2000)
    found = simulate(queue, time=200.0, warm_up=50.0, replications=4, samples=10**6)
    measures = found.measures()
    # Nearly all pages go out of date: their time is the patience itself, mean 2.5.
    assert measures["obsolete_time"].value == pytest.approx(2.5, rel=0.02)
    assert found.cdf(2.5, obsolete=True).value == pytest.approx(
        1 - 0.5 * math.exp(-2.5) - 0.5 * math.exp(-2.5 / 4), abs=0.01
    )


# -- refusals ---------------------------------------------------------------------------------------------------------

GOOD = {
    "arrivals": [[[[-1.0]], [[1.0]]]],
    "service": Phases([1.0], [[-1.0]]),
    "patience": None,
    "thresholds": (),
    "capacity": 3,
}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"admission": "half"}, "admission must be one of"),
        ({"order": "middle"}, "order must be one of"),
        ({"capacity": 0}, "capacity must be 1 or more"),
        ({"thresholds": (1,)}, "1 modes need 0 thresholds"),
        ({"arrivals": []}, "modes need"),
        ({"arrivals": [[[[-1.0]]]]}, "D0 and D1 at least"),
        ({"arrivals": [[[[-1.0]], [[1.0, 0.0]]]]}, r"arrivals\[0\]\[1\] must have 1 rows"),
        ({"arrivals": [[[[1.0]], [[-1.0]]]]}, r"arrivals\[0\]\[1\] must hold rates of 0 or more"),
        ({"patience": 0.0}, "patience must be a law or a finite time"),
        ({"patience": math.nan}, "patience must be a law or a finite time"),
        ({"service": Phases([1.0], [[-1.0, 0.0]])}, "generator of service"),
        ({"service": Phases([1.0], [[0.0]])}, "leave every phase"),
        ({"service": Phases([1.0, 0.0], [[-1.0, 1.0], [1.0, -1.0]])}, "service must pass through"),
        ({"service": Phases([1.0, 0.0], [[-1e9, 1e9], [1e9, -1e9 - 1e-3]])}, "service must pass through"),
    ],
)
def test_a_queue_that_cannot_be_simulated_is_refused(changed, words):
    with pytest.raises(ValueError, match=words):
        SimulatedQueue(**GOOD | changed)


@pytest.mark.parametrize("options", [{"time": 0.0}, {"time": math.inf}, {"time": 1.0, "warm_up": -1.0}])
def test_times_that_are_none_are_refused(options):
    with pytest.raises(ValueError, match="must be a finite number above 0"):
        simulate(SimulatedQueue(**GOOD), **options)


def test_a_time_in_which_clocks_lose_their_digits_is_refused():
    queue = SimulatedQueue(**GOOD | {"service": Phases([1.0], [[-1e9]])})
    assert queue.shortest == pytest.approx(1e-9)
    with pytest.raises(ValueError, match=r"time must be at most 1e\+12 times the shortest mean time"):
        simulate(queue, time=1e4)


def test_events_too_far_apart_for_doubles_are_refused():
    queue = SimulatedQueue(**GOOD | {"arrivals": [[[[-1e-299]], [[1e-299]]]]})
    with pytest.raises(ValueError, match="less than 1e\\+300 units of time apart"):
        usual_time(queue, 1000)


def test_a_queue_that_comes_to_rest_has_a_usual_time_too():
    """The mode of an empty queue brings nothing: what is served is the last of it."""
    arrivals = [[[[-1.0]], [[1.0]]], [[[0.0]], [[0.0]]]]
    queue = SimulatedQueue(**GOOD | {"arrivals": arrivals, "thresholds": (0,)})
    assert usual_time(queue, 1000) == 1.0
    assert simulate(queue, time=1.0, replications=2).measures()["starvation"].value == 1.0


def test_a_chain_that_moves_rarely_is_watched_for_long_and_from_all_its_phases():
    rare = 1e-5
    arrivals = [[[[-1 - rare, rare], [rare, -3 - rare]], [[1.0, 0.0], [0.0, 3.0]]]]
    queue = SimulatedQueue(**GOOD | {"arrivals": arrivals})
    assert queue.slowest == pytest.approx(1e5)
    assert usual_time(queue, 1000) == pytest.approx(1e7)
    starts = [Replication(queue, 1, index, 1.0, 0.0).state.places[0] for index in range(40)]
    assert 10 < sum(starts) < 30
    # Watched for too short a time, the error still tells that half of the replications see another queue.
    found = simulate(queue, time=1000.0, replications=20).measures()["arrival_rate"]
    assert found.error > 0.1
    assert found.covers(2.0)


def test_no_replication_is_no_simulation():
    with pytest.raises(ValueError, match="replications must not be empty"):
        Simulation.of(SimulatedQueue(**GOOD), [])


# -- the rival --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("admission", ADMISSIONS)
def test_the_plain_loop_of_the_benchmark_agrees_with_the_exact_measures(root, paper_queue, admission):
    """A second simulation, written without regard to the first: with a calendar of events, not three clocks."""
    place = importlib.util.spec_from_file_location("bench_simulation", root / "benchmarks" / "bench_simulation.py")
    benchmark = importlib.util.module_from_spec(place)
    place.loader.exec_module(benchmark)
    queue, thresholds = paper_queue(4, FIGURE_4, admission=admission), (0, 2, 2)
    data = simulated(queue, thresholds)
    time = usual_time(data, 8000)
    rows = [benchmark.plain_loop(data, time, seed)[0] for seed in range(20)]
    assert chance(Simulation.of(data, [Seen(row, 0, row, row) for row in rows]), queue.measures(thresholds)) > 0.01 / 3
