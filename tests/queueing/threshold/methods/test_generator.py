"""The references against a chain spelled out state by state, with patience laws that show the order of the queue.

The paper's own patience is exponential: it cannot show whether the oldest page is served first, or whether phases are
kept in order. Erlang, hyperexponential and non-diagonal laws can.
"""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest

from queueing import BMAP, PhaseType, ThresholdQueue
from queueing.threshold import MEASURES
from queueing.threshold.methods import full_generator

LAWS = ("none", "exponential", "erlang", "hyperexponential", "general")


class State(NamedTuple):
    """Phase of arrivals, of service (None: nothing to serve), of the patience of each waiting page, oldest first."""

    arrivals: int
    service: int | None
    waiting: tuple[int, ...]

    @property
    def pages(self) -> int:
        return 0 if self.service is None else 1 + len(self.waiting)


class Event(NamedTuple):
    rate: float
    after: State
    arrived: int = 0
    entered: int = 0
    served: int = 0
    obsolete: int = 0


class Spelled:
    """The queue as a list of events, from the very laws the user gave, and its measures by dense linear algebra."""

    def __init__(self, queue: ThresholdQueue, thresholds: tuple[int, ...], last_in_first_out: bool = False) -> None:
        self.queue, self.thresholds, self.last_in_first_out = queue, thresholds, last_in_first_out
        self.patience = queue.patience
        self.states = [State(0, None, ())]
        known = set(self.states)
        for state in self.states:  # grows as it is walked
            for event in self.events(state):
                if event.after not in known:
                    known.add(event.after)
                    self.states.append(event.after)
        index = {state: number for number, state in enumerate(self.states)}
        matrix = np.zeros((len(index), len(index)))
        for state in self.states:
            for event in self.events(state):
                matrix[index[state], index[event.after]] += event.rate
        self.generator = matrix - np.diag(matrix.sum(axis=1))
        system = np.vstack([self.generator.T, np.ones(len(index))])
        right = np.zeros(len(index) + 1)
        right[-1] = 1.0
        self.probabilities = np.linalg.lstsq(system, right)[0]

    def mode(self, pages: int) -> int:
        """Most robots while pages <= j_1, and so on; above the capacity as at it."""
        for number, threshold in enumerate(self.thresholds):
            if min(pages, self.queue.capacity) <= threshold:
                return len(self.queue.modes) - 1 - number
        return 0

    def entering(self, pages: int, batch: int) -> int:
        room = max(0, self.queue.capacity - pages)
        if self.queue.admission == "partial":
            return min(batch, room)
        if self.queue.admission == "whole-batch":
            return batch if batch <= room else 0
        return batch if pages < self.queue.capacity else 0

    def begun(self, count: int) -> Iterator[tuple[float, tuple[int, ...]]]:
        """Patience phases of so many new pages with their probability."""
        if self.patience is None:
            yield 1.0, (0,) * count
            return
        for phases in itertools.product(range(self.patience.order), repeat=count):
            yield float(np.prod([self.patience.initial[phase] for phase in phases])), phases

    def patience_moves(self, waiting: tuple[int, ...]) -> Iterator[tuple[float, int, tuple[int, ...]]]:
        """Rate, obsolete page or -1, phases after."""
        if self.patience is None:
            return
        for place, phase in enumerate(waiting):
            for other in range(self.patience.order):
                if other != phase:
                    yield self.patience.generator[phase, other], -1, (*waiting[:place], other, *waiting[place + 1 :])
            yield self.patience.exit_rates[phase], place, (*waiting[:place], *waiting[place + 1 :])

    def service_moves(self, phase: int) -> Iterator[tuple[float, int | None]]:
        service = self.queue.service
        for other in range(service.order):
            if other != phase:
                yield service.generator[phase, other], other
        yield service.exit_rates[phase], None

    def events(self, state: State) -> Iterator[Event]:
        nu, phase, waiting = state
        for batch, block in enumerate(self.queue.modes[self.mode(state.pages)].arrivals.blocks):
            for other in range(len(block)):
                if batch == 0 and other == nu:
                    continue
                entered = self.entering(state.pages, batch)
                if entered and phase is None:
                    for first, chance in enumerate(self.queue.service.initial):
                        for more, phases in self.begun(entered - 1):
                            yield Event(block[nu, other] * chance * more, State(other, first, phases), batch, entered)
                else:
                    for more, phases in self.begun(entered):
                        after = State(other, phase, waiting + phases)
                        yield Event(block[nu, other] * more, after, batch, entered)
        if phase is None:
            return
        for rate, after_phase in self.service_moves(phase):
            if after_phase is not None:
                yield Event(rate, State(nu, after_phase, waiting))
            elif not waiting:
                yield Event(rate, State(nu, None, ()), served=1)
            else:
                rest = waiting[:-1] if self.last_in_first_out else waiting[1:]
                for first, chance in enumerate(self.queue.service.initial):
                    yield Event(rate * chance, State(nu, first, rest), served=1)
        for rate, gone, phases in self.patience_moves(waiting):
            yield Event(rate, State(nu, phase, phases), obsolete=int(gone >= 0))

    def tagged(self) -> dict[tuple[int, tuple[int, ...]], tuple[float, float, float]]:
        """For a page in its patience phase behind others: P(served), E[time; served], E[time; obsolete].

        The key is the phase of service and the patience phases of the pages before it and its own; a page in service
        has the key (phase, ()).
        """
        orders = range(self.queue.service.order)
        kinds = range(1 if self.patience is None else self.patience.order)
        longest = max(state.pages for state in self.states)
        keys = [
            (phase, line) for n in range(longest) for phase in orders for line in itertools.product(kinds, repeat=n)
        ]
        index = {key: number for number, key in enumerate(keys)}
        moves = np.zeros((len(keys), len(keys)))
        served, obsolete = np.zeros(len(keys)), np.zeros(len(keys))
        for (phase, line), number in index.items():
            for rate, after in self.service_moves(phase):
                if after is not None:
                    moves[number, index[after, line]] += rate
                elif not line:
                    served[number] += rate
                else:
                    for first, chance in enumerate(self.queue.service.initial):
                        moves[number, index[first, line[1:]]] += rate * chance
            for rate, gone, phases in self.patience_moves(line):
                if gone == len(line) - 1:
                    obsolete[number] += rate
                else:
                    moves[number, index[phase, phases]] += rate
        leaving = np.diag(moves.sum(axis=1) + served + obsolete) - moves
        will_serve, will_fade = np.linalg.solve(leaving, served), np.linalg.solve(leaving, obsolete)
        times = np.linalg.solve(leaving, np.column_stack([will_serve, will_fade]))
        return {key: (float(will_serve[n]), float(times[n, 0]), float(times[n, 1])) for key, n in index.items()}

    def measures(self) -> dict[str, float | None]:
        arrived = lost = served = obsolete = robots = length = starved = 0.0
        served_time = obsolete_time = 0.0
        tagged = self.tagged()
        for state, p in zip(self.states, self.probabilities, strict=True):
            robots += p * self.queue.modes[self.mode(state.pages)].robots
            length += p * state.pages
            starved += p * (state.service is None)
            for event in self.events(state):
                arrived += p * event.rate * event.arrived
                lost += p * event.rate * (event.arrived - event.entered)
                served += p * event.rate * event.served
                obsolete += p * event.rate * event.obsolete
                line = event.after.waiting
                for place in range(event.after.pages - event.entered, event.after.pages) if event.entered else ():
                    _, one, other = tagged[event.after.service, line[:place]]
                    served_time += p * event.rate * one
                    obsolete_time += p * event.rate * other
        return {
            "arrival_rate": arrived,
            "loss": lost / arrived,
            "obsolescence": obsolete / arrived,
            "success": served / arrived,
            "starvation": starved,
            "active_robots": robots,
            "mean_length": length,
            "response_time": served_time / served,
            "obsolete_time": obsolete_time / obsolete if obsolete else None,
            "sojourn_time": (served_time + obsolete_time) / arrived,
            "loss_rate": lost,
            "obsolescence_rate": obsolete,
        }


def agree(measures: dict[str, float | None], expected: dict[str, float | None]) -> None:
    assert set(measures) == set(expected) == set(MEASURES)
    for name, value in expected.items():
        if value is None:
            assert measures[name] is None
        else:
            assert measures[name] == pytest.approx(value, rel=1e-9, abs=1e-13), name


@pytest.mark.parametrize("admission", ["partial", "whole-batch", "complete"])
@pytest.mark.parametrize("patience", LAWS)
@pytest.mark.parametrize("seed", range(2))
def test_references_agree_with_the_chain_spelled_out(seed, patience, admission, random_queue):
    queue, thresholds = random_queue(seed, patience, admission)
    expected = Spelled(queue, thresholds).measures()
    agree(queue.measures(thresholds, method="reference").scalars(), expected)
    agree(queue.measures(thresholds, method="block").scalars(), expected)


@pytest.mark.parametrize("patience", ["erlang", "hyperexponential", "general"])
def test_serving_the_youngest_first_would_be_seen(patience, random_queue):
    queue, thresholds = random_queue(3, patience, "partial")
    queue = ThresholdQueue(queue.modes, queue.service, queue.patience, capacity=4)
    right = queue.measures(thresholds, method="reference")
    wrong = Spelled(queue, thresholds, last_in_first_out=True).measures()
    assert abs(wrong["obsolescence"] / right.obsolescence - 1) > 1e-4


def test_the_papers_law_cannot_see_the_order_of_service(paper_queue):
    queue = paper_queue(3)
    right = queue.measures((-1, 1, 1), method="reference")
    wrong = Spelled(queue, (-1, 1, 1), last_in_first_out=True).measures()
    assert wrong["obsolescence"] == pytest.approx(right.obsolescence, rel=1e-10)


def test_states_are_counted_as_they_are():
    """The paper prints W (1 + M (R^(K-1) - 1) / (R - 1)), 2046 for W = M = R = 2 and K = 10."""
    arrivals = BMAP.mmpp([[-1, 1], [1, -1]], [1.0, 2.0])
    service, patience = PhaseType.erlang(2, 1.0), PhaseType.erlang(2, 1.0)
    queue = ThresholdQueue((arrivals,), service, patience, capacity=10)
    assert queue.model.states == 2 * (1 + 2 * (2**10 - 1)) == 4094
    small = ThresholdQueue((arrivals,), service, patience, capacity=3)
    generator = full_generator(small.model, small.mode_by_level(()))
    assert generator.shape == (small.model.states, small.model.states) == (30, 30)
    assert len(Spelled(small, ()).states) == 30


@pytest.mark.parametrize("seed", range(3))
def test_rows_of_the_generator_sum_to_zero(seed, random_queue):
    queue, thresholds = random_queue(seed, "general")
    generator = full_generator(queue.model, queue.mode_by_level(thresholds)).toarray()
    assert np.abs(generator.sum(axis=1)).max() < 1e-13
    assert (generator - np.diag(np.diag(generator)) >= 0).all()
