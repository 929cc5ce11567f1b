"""The compiled events of a simulated server and its clients.

Every client has a station, or two in tandem, where it works on answers one at a time; what it is done with comes to the
server as a request. The server has a queue for each priority. All times are exponential, so the next event is drawn
among those under way: services, and stations at work, which are taken to be as fast as the fastest of them and drawn in
vain as often as they are slower.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from ...simulation import Vector, Whole

# Columns of what is counted for each group of clients; places of the clocks and of the whole numbers of a state.
DONE, DELAY, LATE = range(3)
NOW, BUSY = range(2)
SERVED, STATIONS, EVENTS = range(3)


class Crowd(NamedTuple):
    """Who comes to the server.

    Attributes
    ----------
    group, rank
        by client: its group; the place of its priority among all, 0 first.
    rates
        by client, of its first and its second station; 0 for a second one that it has not.
    fastest
        the largest of them.
    requests
        of every client: answers it works on and requests at the server together.
    """

    group: Whole
    rank: Whole
    rates: Vector
    fastest: float
    requests: int


class State(NamedTuple):
    """What changes.

    Attributes
    ----------
    clients, since
        by priority, requests that wait, in a ring: whose, and when they came.
    heads, lengths
        by priority: where the ring begins, and how many wait.
    serving, begun
        requests in service: whose, and when they came.
    work
        by client and station: answers there.
    stations, places
        stations at work, in any order, and where each of them stands among them.
    clocks, numbers
        the time, and the time that processors were busy; requests in service, stations at work, events.
    seen
        by group: requests served, their delays, and how many of these were above the limit.
    """

    clients: Whole
    since: Vector
    heads: Whole
    lengths: Whole
    serving: Whole
    begun: Vector
    work: Whole
    stations: Whole
    places: Whole
    clocks: Vector
    numbers: Whole
    seen: Vector


def first_state(crowd: Crowd, groups: int, ranks: int, processors: int) -> State:
    """Begin with every client at work on all of its answers."""
    clients = len(crowd.group)
    room = clients * crowd.requests
    work = np.zeros((clients, 2), np.int64)
    work[:, 0] = crowd.requests
    stations = np.zeros(2 * clients, np.int64)
    stations[:clients] = 2 * np.arange(clients)
    places = np.full(2 * clients, -1, np.int64)
    places[stations[:clients]] = np.arange(clients)
    return State(
        np.zeros((ranks, room), np.int64),
        np.zeros((ranks, room)),
        np.zeros(ranks, np.int64),
        np.zeros(ranks, np.int64),
        np.zeros(processors, np.int64),
        np.zeros(processors),
        work,
        stations,
        places,
        np.zeros(2),
        np.array([0, clients, 0]),
        np.zeros((groups, 3)),
    )


@njit(cache=True)
def serve(
    crowd: Crowd, rate: float, delay: float, state: State, rng: np.random.Generator, until: float, events: int
) -> bool:
    """Follow so many events, and tell whether the time has come before that."""
    clocks, numbers = state.clocks, state.numbers
    for _ in range(events):
        services, thinking = numbers[SERVED] * rate, numbers[STATIONS] * crowd.fastest
        due = rng.standard_exponential() / (services + thinking)
        stop = clocks[NOW] + due >= until
        due = min(due, until - clocks[NOW])
        clocks[NOW] += due
        clocks[BUSY] += numbers[SERVED] * due
        if stop:  # what was due is drawn anew: nothing remembers
            return True
        numbers[EVENTS] += 1
        mark = rng.random() * (services + thinking)
        if mark < services:
            _finish(crowd, delay, state, min(int(mark / rate), numbers[SERVED] - 1))
            continue
        station = state.stations[int(rng.random() * numbers[STATIONS])]
        client, which = station // 2, station % 2
        if rng.random() * crowd.fastest >= crowd.rates[client, which]:
            continue
        _leave(state, client, which)
        if which == 0 and crowd.rates[client, 1] > 0:
            _join(state, client, 1)
        else:
            _come(crowd, state, client)
    return False


@njit(cache=True)
def _finish(crowd: Crowd, delay: float, state: State, processor: int) -> None:
    """A request leaves, and the first of the first priority that waits takes its processor."""
    numbers, client = state.numbers, state.serving[processor]
    spent = state.clocks[NOW] - state.begun[processor]
    counted = state.seen[crowd.group[client]]
    counted[DONE] += 1.0
    counted[DELAY] += spent
    counted[LATE] += spent > delay
    _join(state, client, 0)
    for rank in range(len(state.lengths)):
        if state.lengths[rank]:
            head = state.heads[rank]
            state.serving[processor] = state.clients[rank, head]
            state.begun[processor] = state.since[rank, head]
            state.heads[rank] = (head + 1) % state.clients.shape[1]
            state.lengths[rank] -= 1
            return
    last = numbers[SERVED] - 1
    state.serving[processor], state.begun[processor] = state.serving[last], state.begun[last]
    numbers[SERVED] = last


@njit(cache=True)
def _come(crowd: Crowd, state: State, client: int) -> None:
    """A request comes, and waits where all processors are busy."""
    numbers, now = state.numbers, state.clocks[NOW]
    if numbers[SERVED] < len(state.serving):
        state.serving[numbers[SERVED]], state.begun[numbers[SERVED]] = client, now
        numbers[SERVED] += 1
        return
    rank = crowd.rank[client]
    end = (state.heads[rank] + state.lengths[rank]) % state.clients.shape[1]
    state.clients[rank, end], state.since[rank, end] = client, now
    state.lengths[rank] += 1


@njit(cache=True, inline="always")
def _join(state: State, client: int, which: int) -> None:
    """One more answer at a station."""
    state.work[client, which] += 1
    if state.work[client, which] == 1:
        station, count = 2 * client + which, state.numbers[STATIONS]
        state.stations[count], state.places[station] = station, count
        state.numbers[STATIONS] = count + 1


@njit(cache=True, inline="always")
def _leave(state: State, client: int, which: int) -> None:
    """One answer fewer at a station."""
    state.work[client, which] -= 1
    if state.work[client, which] == 0:
        station, last = 2 * client + which, state.numbers[STATIONS] - 1
        place, moved = state.places[station], state.stations[last]
        state.stations[place], state.places[moved] = moved, place
        state.places[station] = -1
        state.numbers[STATIONS] = last


def begin_counting(state: State) -> None:
    """Forget what was counted so far."""
    state.clocks[BUSY] = 0.0
    state.seen[:] = 0.0
