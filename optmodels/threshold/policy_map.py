"""A policy that sees the state, as a table: number of pages by phases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from queueing.threshold.policies import checked_policy, stationary_of_policy

if TYPE_CHECKING:
    from .problem import ThresholdProblem


def policy_map(problem: ThresholdProblem, decision: Mapping[str, Any]) -> list[list[int]]:
    """For each number of pages, the mode index of each pair (arrival phase, service phase), arrival phases outermost.

    With no page there are arrival phases only. Where waiting pages have phases of their own, a pair stands for many
    states; the mode told is the one most often in force there.
    """
    modes, chances = modes_and_chances(problem, decision)
    order = problem.policies().order
    counts = np.zeros((order.pairs, len(problem.modes)))
    np.add.at(counts, (order.pair, modes), chances)
    # Pairs that are never met have no chances: their states count alike.
    never = counts.sum(axis=1) == 0
    if never.any():
        alike = np.zeros_like(counts)
        np.add.at(alike, (order.pair, modes), 1.0)
        counts[never] = alike[never]
    usual = counts.argmax(axis=1)
    phases = problem.modes[0].arrivals.phases
    each = (order.pairs - phases) // max(1, problem.queue.model.top)
    rows = [usual[:phases].tolist()]
    rows += [usual[first : first + each].tolist() for first in range(phases, order.pairs, each)]
    return rows


def modes_and_chances(
    problem: ThresholdProblem, decision: Mapping[str, Any]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The mode of each state, and how likely the state is."""
    chain = problem.policies()
    modes = checked_policy(chain, decision["policy"])
    return modes, stationary_of_policy(chain, modes)
