r"""The compiled events of simulated servers without buffers.

After a drawn time a packet comes, and goes to the server whose turn it is. Whatever that server still does is lost; its
new service is drawn at once, and its end is compared with the clock when the next packet comes. Nothing happens to
other servers in between, so an arrival costs the same whatever their number.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from ...simulation import Drawn, Matrix, Vector, Whole, choose, draw_time

RENEWAL, MARKOV, TRACE = range(3)

# Columns of servers; places of the clocks and of the whole numbers of a state.
FINISH, LOST, IDLE = range(3)
NOW, BEGIN = range(2)
PHASE, PLACE, SLOTS = range(3)


class Source(NamedTuple):
    """Where packets come from.

    Attributes
    ----------
    form
        independent times, a Markovian process, or a trace.
    law
        of independent times.
    rates, moves
        of a Markovian process, by phase: the rate of moves, and sums of the chances to move without a packet to phase
        0, 1, ..., and with one.
    values
        of a trace.
    """

    form: int
    law: Drawn
    rates: Vector
    moves: Matrix
    values: Vector


class Services(NamedTuple):
    """Laws of service, filled up to equally many phases: a row for each server, for each server and phase in `moves`.

    Attributes
    ----------
    start, rates, moves
        sums of the chances to begin in phase 0, 1, ...; the rate of leaving each; sums of the chances to go to phase
        0, 1, ..., and to the end.
    """

    start: Matrix
    rates: Matrix
    moves: Matrix


class State(NamedTuple):
    """What changes in a run.

    Attributes
    ----------
    servers
        in a row for each: when its service ends or ended; packets lost there and time without service since counting
        began, up to the last arrival there.
    clocks, numbers
        see the names above; the phase of the source is the place in a trace.
    """

    servers: Matrix
    clocks: Vector
    numbers: Whole


def first_state(servers: int, phase: int) -> State:
    """Begin with nothing sent, and the source in this phase, or at this place of its trace."""
    state = State(np.zeros((servers, 3)), np.zeros(2), np.zeros(3, dtype=np.int64))
    state.numbers[PHASE] = phase
    return state


@njit(cache=True, inline="always")
def _until_arrival(source: Source, state: State, rng: np.random.Generator) -> float:
    numbers = state.numbers
    if source.form == RENEWAL:
        return float(draw_time(source.law, rng))
    phase = numbers[PHASE]
    if source.form == TRACE:
        numbers[PHASE] = phase + 1 if phase + 1 < len(source.values) else 0
        return float(source.values[phase])
    spent, phases = 0.0, len(source.rates)
    while True:
        spent += rng.standard_exponential() / source.rates[phase]
        move = choose(source.moves, phase, rng)
        if move >= phases:
            numbers[PHASE] = move - phases
            return float(spent)
        phase = move


@njit(cache=True, inline="always")
def _service(services: Services, server: int, rng: np.random.Generator) -> float:
    phases = services.rates.shape[1]
    phase = choose(services.start, server, rng)
    spent = 0.0
    while phase < phases:
        spent += rng.standard_exponential() / services.rates[server, phase]
        phase = choose(services.moves, server * phases + phase, rng)
    return spent


@njit(cache=True)
def send(word: Whole, source: Source, services: Services, state: State, rng: np.random.Generator, slots: int) -> None:
    """Send the next so many packets."""
    servers, clocks, numbers = state.servers, state.clocks, state.numbers
    place = numbers[PLACE]
    for _ in range(slots):
        clocks[NOW] += _until_arrival(source, state, rng)
        now, server = clocks[NOW], word[place]
        finish = servers[server, FINISH]
        if finish > now:
            servers[server, LOST] += 1.0
        else:
            servers[server, IDLE] += now - max(finish, clocks[BEGIN])
        servers[server, FINISH] = now + _service(services, server, rng)
        place = place + 1 if place + 1 < len(word) else 0
    numbers[PLACE] = place
    numbers[SLOTS] += slots


def begin_counting(state: State) -> None:
    """Forget what was counted so far."""
    state.clocks[BEGIN] = state.clocks[NOW]
    state.servers[:, LOST] = state.servers[:, IDLE] = 0.0


def end_counting(state: State) -> None:
    """Count servers that have nothing to do now, and had not since their service ended."""
    since = np.maximum(state.servers[:, FINISH], state.clocks[BEGIN])
    state.servers[:, IDLE] += np.maximum(0.0, state.clocks[NOW] - since)
