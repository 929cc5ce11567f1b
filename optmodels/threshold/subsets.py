r"""The best thresholds of every sub-set of modes: the rows of Tables 1 and 5 of Avrachenkov et al. (2011).

A policy of the modes :math:`s_1 > s_2 > \cdots > s_k` (numbers of robots) has the thresholds :math:`t_1 \le \cdots \le
t_{k-1}`. Among all N modes it is the decision in which threshold q is :math:`t_c`, c the number of these modes among
the q with the most robots, with :math:`t_0 = -1` and :math:`t_k = K`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, combinations_with_replacement
from operator import itemgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .problem import ThresholdProblem

#: Tables are made in passing of at most so many policies.
LARGEST_TABLE = 10_000


def single_mode(problem: ThresholdProblem, index: int) -> tuple[int, ...]:
    """Return the decision that never leaves the mode of this index."""
    return of_subset(problem, (index,), ())


def of_subset(problem: ThresholdProblem, modes: Sequence[int], thresholds: Sequence[int]) -> tuple[int, ...]:
    """Return the decision of a policy that knows some of the modes only.

    Parameters
    ----------
    modes
        Their indices, in falling order: most robots first.
    thresholds
        One fewer, not decreasing.
    """
    bounds = (-1, *thresholds, problem.queue.capacity)
    passed, decision = 0, []
    for index in range(len(problem.modes) - 1, 0, -1):
        passed += index in modes
        decision.append(bounds[passed])
    return tuple(decision)


def subsets(problem: ThresholdProblem) -> Iterator[tuple[int, ...]]:
    """Yield indices of modes, most robots first: single modes, then pairs, and so on, in the order of those tables."""
    count = len(problem.modes)
    for size in range(1, count + 1):
        chosen = combinations(range(count), size)
        yield from sorted((tuple(reversed(one)) for one in chosen), key=lambda modes: modes[::-1])


def two_mode_policies(problem: ThresholdProblem) -> Iterator[tuple[int, ...]]:
    """Yield decisions to start a search from: two modes, switched at the levels 1, 2, 4, ..., then single modes."""
    space, top = problem.space, len(problem.modes) - 1
    levels = [1, 0] + [2**power for power in range(1, problem.queue.capacity.bit_length())]
    pairs = sorted(combinations(range(top, -1, -1), 2), key=lambda pair: pair[1] - pair[0])
    policies = [of_subset(problem, pair, (level,)) for level in levels for pair in pairs]
    policies += [single_mode(problem, index) for index in range(top + 1)]
    yield from dict.fromkeys(tuple(min(max(t, space.lower), space.upper) for t in policy) for policy in policies)


def best_by_subset(problem: ThresholdProblem) -> list[dict[str, Any]]:
    """Find the best feasible policy of each sub-set of modes, with and without the duty to use all of them.

    Each row has the numbers of ``robots``, most first, and under ``all_used`` (thresholds in 0..K-1) and ``free``
    (thresholds in -1..K: any of these modes may be left out) the ``thresholds``, the ``objective`` and the ``decision``
    among all modes, or ``None`` if no policy keeps the limits. Ties go to the policy that comes first in lexicographic
    order of thresholds.
    """
    room = problem.queue.capacity
    everything = list(combinations_with_replacement(range(-1, room + 1), len(problem.modes) - 1))
    known = dict(zip(everything, problem.evaluate_many(everything), strict=True))
    rows = []
    for modes in subsets(problem):
        row: dict[str, Any] = {"robots": [problem.modes[index].robots for index in modes]}
        for name, levels in (
            ("all_used", range(problem.queue.capacity)),
            ("free", range(-1, problem.queue.capacity + 1)),
        ):
            listed = combinations_with_replacement(levels, len(modes) - 1)
            policies = ((thresholds, of_subset(problem, modes, thresholds)) for thresholds in listed)
            kept = (
                {"thresholds": list(thresholds), "objective": known[decision].objective, "decision": list(decision)}
                for thresholds, decision in policies
                if known[decision].feasible
            )
            row[name] = min(kept, key=itemgetter("objective"), default=None)
        rows.append(row)
    return rows
