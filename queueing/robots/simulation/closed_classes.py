"""In which states may a fleet end up? A question of what can follow what, in which no rate occurs.

A policy may lead, by chance, into one of several *closed classes* of states, none of which is ever left. A simulation
that happens to miss one of them would be sure of a wrong answer; one that knows that there are several can begin anew
often enough.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from ...simulation import Whole
from .kernel import Rules, place_of, places_of

#: More pairs of a state and one that may follow it are not looked through.
MOST_PAIRS = 20_000_000


@dataclass(frozen=True, eq=False)
class Closed:
    """Closed classes that can be reached from the beginning.

    Attributes
    ----------
    number
        of classes.
    states, labels
        in rising order, the states between events that can be reached, and the class of each; -1: none, it is left for
        ever.
    """

    number: int
    states: Whole
    labels: Whole

    def label(self, state: int) -> int:
        """Tell the closed class of a state, -1 if it is in none."""
        return int(self.labels[np.searchsorted(self.states, state)])


def closed_classes(rules: Rules, most: int = MOST_PAIRS) -> Closed | None:
    """The closed classes that a policy can lead to from the beginning; None if there is too much to look through."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    phases = len(rules.rates)
    found = np.empty((2 * phases + 1) * rules.starts.shape[1] + len(rules.turning), dtype=np.int64)
    amount = _decide(rules, 0, np.zeros(phases, dtype=np.int64), 0, found, 0)
    known, states, starts, ends = _followers(rules, found[: max(0, amount)].copy(), found, most)
    if not known:
        return None
    states, starts, ends = states[:known], starts[: known + 1], ends[: starts[known]]
    graph = csr_array((np.ones(len(ends), dtype=np.int8), ends, starts), shape=(len(states), len(states)))
    count, parts = connected_components(graph, connection="strong")
    sources = np.repeat(parts, np.diff(starts))
    left = np.zeros(count, dtype=bool)
    left[sources[sources != parts[ends]]] = True
    names = np.where(left, -1, np.cumsum(~left) - 1)
    order = np.argsort(states)
    return Closed(int((~left).sum()), states[order], names[parts[order]])


@njit(cache=True)
def _followers(rules: Rules, roots: Whole, found: Whole, most: int) -> tuple[int, Whole, Whole, Whole]:
    """Number of states that can be reached; the states; by state, where its followers begin; followers by place."""
    states = np.empty((rules.capacity + 1) * len(rules.turning) * _tuples(rules), dtype=np.int64)
    place = np.full(len(states), -1, dtype=np.int64)
    starts = np.zeros(len(states) + 1, dtype=np.int64)
    counts = np.zeros(len(rules.rates), dtype=np.int64)
    ends = np.empty(1024, dtype=np.int64)
    known = 0
    for state in roots:
        place[state] = known
        states[known] = state
        known += 1
    done = 0
    while done < known:
        amount, pairs = _next(rules, states[done], counts, found), starts[done]
        if amount < 0 or pairs + amount > most:
            return 0, states, starts, ends
        if pairs + amount > len(ends):
            ends = np.concatenate((ends, np.empty(len(ends) + amount, dtype=np.int64)))
        for state in found[:amount]:
            if place[state] < 0:
                place[state] = known
                states[known] = state
                known += 1
            ends[pairs] = place[state]
            pairs += 1
        done += 1
        starts[done] = pairs
    return known, states, starts, ends


@njit(cache=True)
def _next(rules: Rules, state: int, counts: Whole, found: Whole) -> int:
    """Write down what may follow a state between events, and say how many there are; -1: the policy is impossible."""
    environments, places = len(rules.turning), _tuples(rules)
    environment = state % environments
    level = state // environments // places
    _count(rules, state // environments % places, counts)
    amount = 0
    for index in range(environments):
        low = rules.turns[environment, index - 1] if index else 0.0
        if rules.turning[environment] > 0 and rules.turns[environment, index] > low:
            found[amount] = state - environment + index
            amount += 1
    if level > 0:
        amount = _decide(rules, level - 1, counts, environment, found, amount)
    end = rules.moves.shape[1] - 1
    for index in range(len(rules.robots)):
        if rules.paces[environment, index] == 0:
            continue
        for phase in range(rules.first[index], rules.first[index + 1]):
            if counts[phase] == 0 or amount < 0:
                continue
            counts[phase] -= 1
            for target in range(end):
                low = rules.moves[phase, target - 1] if target else 0.0
                if rules.moves[phase, target] > low:
                    counts[rules.first[index] + target] += 1
                    found[amount] = number_of(rules, level, counts, environment)
                    counts[rules.first[index] + target] -= 1
                    amount += 1
            if rules.moves[phase, end] > rules.moves[phase, end - 1]:
                amount = _decide(rules, min(level + 1, rules.capacity), counts, environment, found, amount)
            counts[phase] += 1
    return amount


@njit(cache=True)
def _decide(rules: Rules, level: int, counts: Whole, environment: int, found: Whole, amount: int) -> int:
    """Write down where a decision may lead; -1: it is impossible."""
    action = rules.actions[number_of(rules, level, counts, environment)]
    index, robots = (0, action) if rules.several else (action - 1, min(action, 1))
    if amount < 0 or action < 0 or index >= len(rules.robots):
        return -1
    if action == 0:
        found[amount] = number_of(rules, level, counts, environment)
        return amount + 1
    first, beyond = rules.first[index], rules.first[index + 1]
    if counts[first:beyond].sum() + robots > rules.robots[index]:
        return -1
    for phase in range(first, beyond):
        low = rules.starts[index, phase - first - 1] if phase > first else 0.0
        if rules.starts[index, phase - first] > low:
            counts[phase] += robots  # several are sent out only where all begin in one phase
            found[amount] = number_of(rules, level, counts, environment)
            counts[phase] -= robots
            amount += 1
    return amount


@njit(cache=True)
def _tuples(rules: Rules) -> int:
    return places_of(rules.robots, rules.first, rules.ways)


@njit(cache=True)
def number_of(rules: Rules, level: int, counts: Whole, environment: int) -> int:
    """Of a state: pages, robots by phase, environment."""
    place = place_of(rules.robots, rules.first, rules.ways, counts)
    return (level * _tuples(rules) + place) * len(rules.turning) + environment


@njit(cache=True)
def _count(rules: Rules, place: int, counts: Whole) -> None:
    """Robots by phase, from the number that `place_of` gives them."""
    for index in range(len(rules.robots) - 1, -1, -1):
        parts, left = rules.first[index + 1] - rules.first[index], rules.robots[index]
        rank = place % rules.ways[index, parts, left]
        place //= rules.ways[index, parts, left]
        for phase in range(rules.first[index], rules.first[index + 1]):
            row = rules.ways[index, parts, : left + 1]
            rest = np.searchsorted(row, row[left] - rank)
            rank -= row[left] - row[rest]
            counts[phase] = left - rest
            left = rest
            parts -= 1
