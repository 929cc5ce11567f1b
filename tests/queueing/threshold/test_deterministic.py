"""Constant patience: closed forms, a chain spelled out, a simulation, and how fast Erlang times come near it."""

import math

import numpy as np
import pytest
from scipy.linalg import expm

from queueing import BMAP, PhaseType, ThresholdQueue
from queueing.threshold import MEASURES, deterministic_patience
from queueing.threshold.deterministic import clock_flows, clock_states

SERVICE = PhaseType([0.3, 0.7], [[-1, 0.2], [0, -2]])
MODES = (
    BMAP(([[-1.0, 0.5], [0.2, -1.2]], [[0.5, 0], [0.4, 0.3]], [[0, 0], [0, 0.3]])),
    BMAP(([[-3.0, 0.5], [0.2, -3.2]], [[2.5, 0], [0.4, 2.6]])),
)
SINGLE = (BMAP.poisson(0.8), BMAP.poisson(1.6))
BATCHES = (BMAP(([[-0.6]], [[0.3]], [[0.3]])), BMAP(([[-1.2]], [[0.6]], [[0.6]])))


# Closed forms


def one_waiting_page(queue, time, thresholds):
    """Loss, obsolescence, starvation, V1 with room for one waiting page, its age a density on [0, time)."""
    modes = queue.mode_by_level(thresholds)
    arrivals = [queue.modes[mode].arrivals.blocks for mode in modes]
    service = queue.service
    phases, size = queue.modes[0].arrivals.phases, service.order
    unit, inner = np.eye(phases), np.eye(size)
    start, ending = service.initial[np.newaxis], service.exit_rates[:, np.newaxis]
    many = [sum(blocks[1:], np.zeros((phases, phases))) for blocks in arrivals]
    more = sum(arrivals[0][2:], np.zeros((phases, phases)))
    change = np.kron(sum(arrivals[2], np.zeros((phases, phases))), inner) + np.kron(unit, service.generator)
    aged = expm(change * time)
    stay = np.linalg.solve(-change, np.eye(len(change)) - aged)  # mean times at level 2, by the phase it begins in
    back = stay @ np.kron(unit, ending @ start) + aged
    within = np.kron(arrivals[1][0], inner) + np.kron(unit, service.generator)
    generator = np.block(
        [
            [arrivals[0][0], np.kron(arrivals[0][1], start) + np.kron(more, start) @ back],
            [np.kron(unit, ending), within + np.kron(many[1], inner) @ back],
        ]
    )
    watched = np.linalg.lstsq(np.vstack([generator.T, np.ones(len(generator))]), np.eye(len(generator) + 1)[-1])[0]
    empty, single = watched[:phases], watched[phases:]
    begun = empty @ np.kron(more, start) + single @ np.kron(many[1], inner)
    double = begun @ stay
    total = empty.sum() + single.sum() + double.sum()
    by_level = [empty, single.reshape(phases, -1).sum(axis=1), double.reshape(phases, -1).sum(axis=1)]
    sizes = [[batch * block.sum(axis=1) for batch, block in enumerate(blocks)] for blocks in arrivals]
    arriving = sum(level @ sum(sizes[number]) for number, level in enumerate(by_level))
    lost = by_level[2] @ sum(sizes[2])
    lost += sum((batch - 1) * (by_level[1] @ block.sum(axis=1)) for batch, block in enumerate(arrivals[1]) if batch > 1)
    lost += sum((batch - 2) * (by_level[0] @ block.sum(axis=1)) for batch, block in enumerate(arrivals[0]) if batch > 2)
    obsolete = (begun @ aged).sum()
    served = (single + double).reshape(phases, -1).sum(axis=0) @ service.exit_rates
    length = single.sum() + 2 * double.sum()
    return {
        "loss": lost / arriving,
        "obsolescence": obsolete / arriving,
        "starvation": empty.sum() / total,
        "mean_length": length / total,
        "obsolete_time": time,
        "response_time": (length - time * obsolete) / served,
    }


@pytest.mark.parametrize("clock", ["common", "own"])
@pytest.mark.parametrize("thresholds", [(-1,), (0,), (1,), (2,)])
@pytest.mark.parametrize("modes", [SINGLE, BATCHES, MODES])
def test_with_room_for_one_waiting_page_the_limit_is_the_closed_form(modes, thresholds, clock):
    queue = ThresholdQueue(modes, SERVICE, capacity=2)
    wanted = one_waiting_page(queue, 1.3, thresholds)
    found = deterministic_patience(queue, 1.3, thresholds, (4, 8, 16, 32, 64), clock)
    for name, value in wanted.items():
        assert found.limits[name] == pytest.approx(value, rel=2e-6), name
        assert abs(found.limits[name] - value) <= found.errors[name] + 1e-10, name
        last = found.measures[-1].scalars()[name]
        assert abs(found.limits[name] - value) <= 1e-3 * abs(last - value) + 1e-10, name


@pytest.mark.parametrize(("arriving", "time", "capacity"), [(0.5, 0.5, 7), (0.3, 1.0, 7), (1.1, 0.3, 7)])
def test_with_much_room_the_limit_is_that_of_the_queue_without_end(arriving, time, capacity):
    """M/M/1+D: P(obsolete) = (1 - r) r x / (1 - r^2 x) with r = arriving / speed, x = exp(-(speed - arriving) time)."""
    queue = ThresholdQueue((BMAP.poisson(arriving),), PhaseType.exponential(1.0), capacity=capacity)
    found = deterministic_patience(queue, time, ())
    x = math.exp(-(1 - arriving) * time)
    wanted = (1 - arriving) * arriving * x / (1 - arriving**2 * x)
    assert 0 <= found.limits["loss"] < 2e-6
    assert found.limits["obsolescence"] == pytest.approx(wanted, abs=1e-5)
    assert abs(found.limits["obsolescence"] - wanted) <= found.errors["obsolescence"] + 2 * found.limits["loss"]


# The chain of one clock


class Ticking:
    """One clock for all, state by state: (arrival phase, service phase or None, ages, oldest first)."""

    def __init__(self, queue, thresholds, time, ticks):
        modes = queue.mode_by_level(thresholds)
        service = queue.service
        states, moves = [(0, None, ())], {}
        known = set(states)
        self.arriving = self.lost = self.obsolete = self.length = 0.0
        for state in states:
            nu, phase, ages = state
            pages = 0 if phase is None else 1 + len(ages)
            events = []
            for batch, block in enumerate(queue.modes[modes[pages]].arrivals.blocks):
                enter = queue.model.admitted(pages, batch)
                for other in range(len(block)):
                    if phase is None and enter:
                        for first, chance in enumerate(service.initial):
                            events.append((block[nu, other] * chance, (other, first, (0,) * (enter - 1))))
                    elif (batch, other) != (0, nu):
                        events.append((block[nu, other], (other, phase, ages + (0,) * enter)))
            if phase is not None:
                events += [(service.generator[phase, o], (nu, o, ages)) for o in range(service.order) if o != phase]
                if ages:
                    ended = [(service.exit_rates[phase] * c, (nu, f, ages[1:])) for f, c in enumerate(service.initial)]
                    events += [*ended, (ticks / time, (nu, phase, tuple(a + 1 for a in ages if a + 1 < ticks)))]
                else:
                    events.append((service.exit_rates[phase], (nu, None, ())))
            moves[state] = [(rate, after) for rate, after in events if rate > 0]
            for _, after in moves[state]:
                if after not in known:
                    known.add(after)
                    states.append(after)
        index = {state: number for number, state in enumerate(states)}
        generator = np.zeros((len(states),) * 2)
        for state, events in moves.items():
            for rate, after in events:
                generator[index[state], index[after]] += rate
                generator[index[state], index[state]] -= rate
        p = np.linalg.lstsq(np.vstack([generator.T, np.ones(len(states))]), np.eye(len(states) + 1)[-1])[0]
        for (nu, phase, ages), chance in zip(states, p, strict=True):
            pages = 0 if phase is None else 1 + len(ages)
            self.length += chance * pages
            self.obsolete += chance * ticks / time * sum(age == ticks - 1 for age in ages)
            for batch, block in enumerate(queue.modes[modes[pages]].arrivals.blocks):
                self.arriving += chance * batch * block[nu].sum()
                self.lost += chance * (batch - queue.model.admitted(pages, batch)) * block[nu].sum()


@pytest.mark.parametrize("admission", ["partial", "whole-batch", "complete"])
@pytest.mark.parametrize(("capacity", "ticks"), [(1, 3), (2, 5), (3, 1), (3, 4), (4, 3)])
@pytest.mark.parametrize("modes", [BATCHES, MODES])
def test_one_clock_is_the_chain_spelled_out(modes, capacity, ticks, admission):
    queue = ThresholdQueue(modes, SERVICE, capacity=capacity, admission=admission)
    thresholds = (min(1, capacity),)
    wanted = Ticking(queue, thresholds, 1.3, ticks)
    found = clock_flows(queue.model, queue.mode_by_level(thresholds), 1.3, ticks)
    assert found.arriving == pytest.approx(wanted.arriving, rel=1e-10)
    assert found.lost == pytest.approx(wanted.lost, rel=1e-10)
    assert found.obsolete == pytest.approx(wanted.obsolete, rel=1e-10, abs=1e-14)
    assert np.arange(len(found.levels)) @ found.levels == pytest.approx(wanted.length, rel=1e-10)
    assert found.error_estimate < 1e-11


@pytest.mark.parametrize("order", [1, 3, 10])
def test_a_single_waiting_page_does_not_care_whose_clock_it_hears(order):
    queue = ThresholdQueue(MODES, SERVICE, capacity=2)
    common = deterministic_patience(queue, 0.8, (1,), (order, order + 1))
    own = deterministic_patience(queue, 0.8, (1,), (order, order + 1), "own")
    for first, second in zip(common.measures, own.measures, strict=True):
        for name in set(MEASURES) - {"response_time", "obsolete_time"}:  # exact in the limit only
            assert getattr(first, name) == pytest.approx(getattr(second, name), rel=1e-10), name


# Convergence


def moves_of(found, name):
    values = np.array([measures.scalars()[name] for measures in found.measures])
    return np.abs(values - found.limits[name])


@pytest.mark.parametrize("name", ["loss", "obsolescence", "mean_length", "starvation"])
@pytest.mark.parametrize("modes", [SINGLE, BATCHES])
def test_errors_with_one_clock_fall_like_one_over_n(modes, name):
    queue = ThresholdQueue(modes, PhaseType.exponential(1.0), capacity=3)
    found = deterministic_patience(queue, 1.0, (1,), (16, 32, 64, 128))
    errors = moves_of(found, name)
    assert errors[:-1] / errors[1:] == pytest.approx(2.0, rel=0.04)
    assert found.errors[name] < 2e-3 * errors[-1]  # what the series gains over the largest n


def test_pages_of_one_batch_make_clocks_of_their_own_slow():
    """Errors of order 1/sqrt(n): four times as many phases, and the loss is still not four times as near."""
    queue = ThresholdQueue(BATCHES, PhaseType.exponential(1.0), capacity=3)
    limit = deterministic_patience(queue, 1.0, (1,)).limits["loss"]
    own = deterministic_patience(queue, 1.0, (1,), (8, 16, 32, 64), "own")
    errors = np.array([abs(measures.loss - limit) for measures in own.measures])
    assert (errors[:-1] / errors[1:] < 1.85).all()
    assert errors[-1] > 1e-3
    assert abs(own.limits["loss"] - limit) < 5e-5  # continued in powers of 1/sqrt(n)


@pytest.mark.parametrize("modes", [SINGLE, BATCHES])
def test_both_clocks_have_one_limit(modes):
    queue = ThresholdQueue(modes, PhaseType.exponential(1.0), capacity=3)
    common = deterministic_patience(queue, 1.0, (1,))
    own = deterministic_patience(queue, 1.0, (1,), (2, 4, 8, 16, 32, 64), "own")
    for name in MEASURES:
        assert abs(common.limits[name] - own.limits[name]) <= common.errors[name] + own.errors[name] + 1e-9, name
        assert common.errors[name] < 1e-6
        assert own.errors[name] < 8e-3


# Simulation


def simulated(rng, rates, capacity, time, pages):
    """Shares of lost and obsolete pages and mean time of served ones; batches of 1 or 2, exponential service."""
    now, ends, line, current = 0.0, math.inf, [], None
    served, obsolete, lost = [], 0, 0
    while len(served) + obsolete + lost < pages:
        arrival = now + rng.exponential(1 / rates[0 if current is None else 1 + len(line)])
        deadline = line[0] + time if line else math.inf
        now = min(arrival, ends, deadline)
        if now == deadline:
            line.pop(0)
            obsolete += 1
        elif now == ends:
            served.append(now - current)
            current, ends = None, math.inf
        else:
            for _ in range(1 + int(rng.random() < 0.5)):
                if current is not None and 1 + len(line) >= capacity:
                    lost += 1
                elif current is None:
                    current, ends = now, now + rng.exponential()
                else:
                    line.append(now)
        if current is None and line:
            current, ends = line.pop(0), now + rng.exponential()
    return lost / pages, obsolete / pages, float(np.mean(served))


def test_simulated_pages_of_constant_patience_agree():
    queue = ThresholdQueue(BATCHES, PhaseType.exponential(1.0), capacity=4)
    found = deterministic_patience(queue, 0.9, (1,))
    wanted = [found.limits[name] for name in ("loss", "obsolescence", "response_time")]
    samples = [simulated(np.random.default_rng(seed), [1.2, 1.2, 0.6, 0.6, 0.6], 4, 0.9, 6000) for seed in range(12)]
    error = np.std(samples, axis=0, ddof=1) / math.sqrt(len(samples))
    assert (np.abs((np.mean(samples, axis=0) - wanted) / error) < 4.5).all()
    assert (error < [0.002, 0.002, 0.006]).all()


# What is told, and what is refused


def test_a_queue_of_one_place_never_sees_patience():
    queue = ThresholdQueue(MODES, SERVICE, PhaseType.exponential(3.0), capacity=1)
    plain = queue.measures((0,))
    for clock in ("common", "own"):
        found = deterministic_patience(queue, 1.0, (0,), clock=clock)
        assert found.limits["loss"] == pytest.approx(plain.loss, rel=1e-10)
        assert found.limits["obsolete_time"] is None
        assert found.errors["obsolete_time"] is None


def test_the_patience_of_the_queue_itself_does_not_count():
    with_patience = ThresholdQueue(SINGLE, SERVICE, PhaseType.erlang(3, 0.1), capacity=3)
    without = ThresholdQueue(SINGLE, SERVICE, capacity=3)
    first, second = (deterministic_patience(queue, 1.0, (1,), (2, 4)) for queue in (with_patience, without))
    assert first.limits == second.limits


def test_the_number_of_states_of_a_clock_is_what_it_says():
    queue = ThresholdQueue(MODES, SERVICE, capacity=5)
    assert clock_states(queue.model, 8) == 2 + 4 * (1 + 8 + 36 + 120 + 330)


def test_constant_patience_without_sense_is_refused():
    queue = ThresholdQueue(SINGLE, SERVICE, capacity=5)
    with pytest.raises(ValueError, match=r"time must be a finite number above 0, but it is 0"):
        deterministic_patience(queue, 0.0, (1,))
    with pytest.raises(ValueError, match=r"orders must be two different numbers at least, but they are \(4,\)"):
        deterministic_patience(queue, 1.0, (1,), (4, 4))
    with pytest.raises(ValueError, match=r"orders\[1\] must be a whole number of at least 1, but it is 0"):
        deterministic_patience(queue, 1.0, (1,), (4, 0))
    with pytest.raises(ValueError, match=r"clock must be one of common, own, but it is 'cuckoo'"):
        deterministic_patience(queue, 1.0, (1,), clock="cuckoo")
    with pytest.raises(ValueError, match=r"clock 'common' takes at most 4000000 states, but 1000 phases make"):
        deterministic_patience(queue, 1.0, (1,), (10, 1000))
    with pytest.raises(ValueError, match=r"clock 'own' takes at most"):
        deterministic_patience(queue, 1.0, (1,), (10, 1000), "own")
