r"""The compiled events of a simulated fleet of robots.

Every robot that is out carries the *work* left in the phase of its journey, drawn when the phase was entered. Robots
of a class work at one pace, that of the environment: they are kept as a heap by work, and one counter for each class
says what they have worn off since all were looked at. Clocks of the server and of the environment hold the time that is
left, a page its distance to the page before it. Nothing is told in time since the beginning: rates that lie far apart
cost no digits.

A decision is read from the list of actions by the number of the state, which is found by counting: of the tuples
:math:`(a_1, \dots, a_m)` with :math:`\sum a_i \le N`, in their order,
:math:`W_m(N) - W_m(N - a_1)` begin with less than :math:`a_1`, where :math:`W_m(N) = \binom{N+m}{m}`, and so on with
what is left.

All functions become one (`inline`), and only single arrays are handed to them: an array that is handed on inside a
tuple is counted as held once more, which made an event take seven times as long.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from ...simulation import Matrix, Vector, Whole, choose

# What is counted, in this order, before the times by robots out and by pages.
BROUGHT, LOST, SERVED, SERVED_TIME = range(4)
COUNTS = 4

# Places of the clocks: time since the beginning, time left of a service and of a stay of the environment, age of the
# page in service, time since the last page came in. Places of the whole numbers of a state.
NOW, FINISH, TURN, AGE, SINCE = range(5)
LEVEL, ENVIRONMENT, HEAD, EVENTS, BAD = range(5)

NOBODY = -1

#: What `run` says: there is more to come, the end was reached, or an action cannot be done (in the state `BAD`).
MORE, DONE, REFUSED = range(3)


class Rules(NamedTuple):
    """All that stays the same during a simulation.

    Attributes
    ----------
    robots, slots, first
        by class: how many there are, its first place among all robots, its first phase among all phases.
    starts, rates, moves
        by class, sums of the chances to begin in its phases; by phase, the rate of leaving it, and sums of the chances
        to go to the phases of its class, and, in the last column, to the end.
    ways
        by class, number of phases m and of robots n: tuples of m counts with a sum of at most n.
    turning, turns, paces
        by state of the environment: the rate of leaving it, sums of the chances of what is next, paces by class.
    actions
        by state.
    capacity, service_rate, several
        K, mu, and whether an action is a number of robots, not a class.
    """

    robots: Whole
    slots: Whole
    first: Whole
    starts: Matrix
    rates: Vector
    moves: Matrix
    ways: Whole
    turning: Vector
    turns: Matrix
    paces: Matrix
    actions: Whole
    capacity: int
    service_rate: float
    several: bool


class State(NamedTuple):
    """All that changes in the course of a run.

    Attributes
    ----------
    clocks, places
        see the names above.
    out, worn, steps
        by class: robots that are out; the work each has done, and phases that have ended, since all were looked at.
    work, phase
        by place of a robot: its work, to be reduced by `worn`; its phase. Robots that are out come first, as a heap.
    counts
        robots by phase.
    gaps
        by place in the circle of pages: how much later than the one before it a page came.
    seen
        see the names above, followed by the time with 0, 1, ... robots of each class out, and with 0, 1, ... pages.
    """

    clocks: Vector
    places: Whole
    out: Whole
    worn: Vector
    steps: Whole
    work: Vector
    phase: Whole
    counts: Whole
    gaps: Vector
    seen: Vector


def first_state(rules: Rules) -> State:
    """The beginning: no pages, no robots, the environment in its first state, a decision due."""
    classes, phases, robots = len(rules.robots), len(rules.rates), int(rules.robots.sum())
    return State(
        clocks=np.array([0.0, np.inf, -1.0, 0.0, 0.0]),
        places=np.array([0, 0, 0, 0, NOBODY], dtype=np.int64),
        out=np.zeros(classes, dtype=np.int64),
        worn=np.zeros(classes),
        steps=np.zeros(classes, dtype=np.int64),
        work=np.zeros(robots),
        phase=np.zeros(robots, dtype=np.int64),
        counts=np.zeros(phases, dtype=np.int64),
        gaps=np.zeros(rules.capacity),
        seen=np.zeros(COUNTS + robots + classes + rules.capacity + 1),
    )


@njit(cache=True)
def run(rules: Rules, state: State, rng: np.random.Generator, begin: float, end: float, events: int) -> int:
    """Go on to time `end`, or for so many events; counts begin at `begin`. Says how it ended; it can be taken up."""
    clocks, places, seen = state.clocks, state.places, state.seen
    out, worn, steps = state.out, state.worn, state.steps
    work, phase, counts, gaps = state.work, state.phase, state.counts, state.gaps
    robots, slots, first, ways, actions = rules.robots, rules.slots, rules.first, rules.ways, rules.actions
    starts, rates, moves = rules.starts, rules.rates, rules.moves
    turning, turns, paces = rules.turning, rules.turns, rules.paces
    capacity, service_rate, several = rules.capacity, rules.service_rate, rules.several
    classes, environments, home = len(robots), len(turning), moves.shape[1] - 1
    levels = COUNTS + len(work) + classes
    tuples = places_of(robots, first, ways)
    for _ in range(events):
        environment = places[ENVIRONMENT]
        if clocks[TURN] < 0:  # nothing has happened yet
            clocks[TURN] = _stay(turning, environment, rng)
        else:
            due, what = clocks[FINISH], NOBODY
            if clocks[TURN] < due:
                due, what = clocks[TURN], classes
            for index in range(classes):
                pace = paces[environment, index]
                if out[index] > 0 and pace > 0:
                    left = max(0.0, work[slots[index]] - worn[index]) / pace
                    if left < due:
                        due, what = left, index
            now = clocks[NOW]
            after = now + due
            stop = after >= end
            if stop:
                due, after = min(due, end - now), end
            if after > begin:
                spent = due if now >= begin else after - begin
                for index in range(classes):
                    seen[COUNTS + slots[index] + index + out[index]] += spent
                seen[levels + places[LEVEL]] += spent
            clocks[NOW] = after
            clocks[FINISH] -= due
            clocks[TURN] -= due
            clocks[AGE] += due
            clocks[SINCE] += due
            for index in range(classes):
                worn[index] += due * paces[environment, index]
            if stop:
                return DONE
            counted = after >= begin
            places[EVENTS] += 1
            if what == classes:
                places[ENVIRONMENT] = choose(turns, environment, rng)
                clocks[TURN] = _stay(turning, places[ENVIRONMENT], rng)
                continue
            if what == NOBODY:
                _serve(clocks, places, gaps, seen, capacity, counted)
                if places[LEVEL] > 0:
                    clocks[FINISH] = rng.standard_exponential() / service_rate
            else:
                robot = slots[what]  # the foremost
                target = choose(moves, phase[robot], rng)
                counts[phase[robot]] -= 1
                if target < home:
                    phase[robot] = first[what] + target
                    counts[phase[robot]] += 1
                    work[robot] = worn[what] + rng.standard_exponential() / rates[phase[robot]]
                else:
                    out[what] -= 1
                    work[robot] = work[robot + out[what]]
                    phase[robot] = phase[robot + out[what]]
                _sink(work, phase, robot, out[what])
                steps[what] += 1
                if steps[what] >= out[what]:
                    work[robot : robot + out[what]] -= worn[what]
                    worn[what], steps[what] = 0.0, 0
                if target < home:
                    continue
                _bring(clocks, places, gaps, seen, capacity, counted)
                if places[LEVEL] == 1:
                    clocks[FINISH] = rng.standard_exponential() / service_rate
        number = places[LEVEL] * tuples + place_of(robots, first, ways, counts)
        number = number * environments + places[ENVIRONMENT]
        action = actions[number]
        index, many = (0, action) if several else (action - 1, min(action, 1))
        if action < 0 or index >= classes or (action > 0 and out[index] + many > robots[index]):
            places[BAD] = number
            return REFUSED
        if action > 0 and out[index] == 0:
            worn[index], steps[index] = 0.0, 0
        for _ in range(many):
            robot = slots[index] + out[index]
            phase[robot] = first[index] + choose(starts, index, rng)
            counts[phase[robot]] += 1
            work[robot] = worn[index] + rng.standard_exponential() / rates[phase[robot]]
            _rise(work, phase, slots[index], out[index])
            out[index] += 1
        if places[LEVEL] == 0 and out.sum() == 0:
            places[BAD] = number
            return REFUSED
    return MORE


@njit(cache=True, inline="always")
def _stay(turning: Vector, environment: int, rng: np.random.Generator) -> float:
    """Time that the environment will stay in its state."""
    rate = turning[environment]
    return rng.standard_exponential() / rate if rate > 0 else np.inf


@njit(cache=True, inline="always")
def _serve(clocks: Vector, places: Whole, gaps: Vector, seen: Vector, capacity: int, counted: bool) -> None:
    """The page in service leaves, and the next one's turn comes, if there is one."""
    if counted:
        seen[SERVED] += 1.0
        seen[SERVED_TIME] += clocks[AGE]
    places[LEVEL] -= 1
    places[HEAD] = (places[HEAD] + 1) % capacity
    clocks[AGE] -= gaps[places[HEAD]]
    clocks[FINISH] = np.inf


@njit(cache=True, inline="always")
def _bring(clocks: Vector, places: Whole, gaps: Vector, seen: Vector, capacity: int, counted: bool) -> None:
    """A page comes, and is lost if there is no room."""
    level = places[LEVEL]
    if counted:
        seen[BROUGHT] += 1.0
        if level == capacity:
            seen[LOST] += 1.0
    if level < capacity:
        gaps[(places[HEAD] + level) % capacity] = clocks[SINCE]
        clocks[SINCE] = 0.0
        if level == 0:
            clocks[AGE] = 0.0
        places[LEVEL] = level + 1


@njit(cache=True, inline="always")
def _sink(work: Vector, phase: Whole, low: int, out: int) -> None:
    """The first robot of a heap that begins at `low` finds its place."""
    mine, at, spot = work[low], phase[low], 0
    while True:
        child = 2 * spot + 1
        if child >= out:
            break
        if child + 1 < out and work[low + child + 1] < work[low + child]:
            child += 1
        if mine <= work[low + child]:
            break
        work[low + spot] = work[low + child]
        phase[low + spot] = phase[low + child]
        spot = child
    work[low + spot] = mine
    phase[low + spot] = at


@njit(cache=True, inline="always")
def _rise(work: Vector, phase: Whole, low: int, spot: int) -> None:
    """The robot at a spot of a heap that begins at `low` finds its place."""
    mine, at = work[low + spot], phase[low + spot]
    while spot > 0:
        parent = (spot - 1) // 2
        if work[low + parent] <= mine:
            break
        work[low + spot] = work[low + parent]
        phase[low + spot] = phase[low + parent]
        spot = parent
    work[low + spot] = mine
    phase[low + spot] = at


# -- numbers of states -------------------------------------------------------------------------------------------------


@njit(cache=True, inline="always")
def places_of(robots: Whole, first: Whole, ways: Whole) -> int:
    """Ways to have robots of each class in each phase."""
    total = 1
    for index in range(len(robots)):
        total *= ways[index, first[index + 1] - first[index], robots[index]]
    return total


@njit(cache=True, inline="always")
def place_of(robots: Whole, first: Whole, ways: Whole, counts: Whole) -> int:
    """The number of these counts of robots by phase among all, in the order of tuples."""
    place = 0
    for index in range(len(robots)):
        left = robots[index]
        parts = first[index + 1] - first[index]
        place *= ways[index, parts, left]
        for phase in range(first[index], first[index + 1]):
            place += ways[index, parts, left] - ways[index, parts, left - counts[phase]]
            left -= counts[phase]
            parts -= 1
    return place
