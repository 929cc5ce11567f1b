r"""Policies by level, arrival phase and service phase: a table of any policy, and good ones found on these pairs alone.

Where waiting pages have too many phases to look at, policies are sought that see no more than that. Phases of patience
act on the pairs of phases of each level through means only: how fast pages go out of date there, and what a unit of
time yields. These means depend on the policy. Given those of one policy, the best policy on pairs is that of a small
decision process; it is evaluated on the whole chain, gives new means, and so on, while the cost falls. Nothing is
proved by that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, kron

from heuristics.dynamic import DecisionProcess, FractionalSearch, Watch, solve_process
from queueing.threshold.policies import PolicyChain, checked_policy, policy_chain, stationary_of_policy

if TYPE_CHECKING:
    from .problem import ThresholdProblem

Modes = NDArray[np.int64]
Costs = NDArray[np.float64]

#: Most times that means are taken anew.
ROUNDS = 8


def policy_map(problem: ThresholdProblem, decision: Mapping[str, Any]) -> list[list[int]]:
    """Tabulate the mode index by number of pages and pair (arrival phase, service phase), arrival phases outermost.

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


def modes_and_chances(problem: ThresholdProblem, decision: Mapping[str, Any]) -> tuple[Modes, NDArray[np.float64]]:
    """Return the mode of each state, and how likely the state is."""
    chain = problem.policies()
    modes = checked_policy(chain, decision["policy"])
    return modes, stationary_of_policy(chain, modes)


# -- improving ---------------------------------------------------------------------------------------------------------


def improve_by_pairs(
    chain: PolicyChain,
    costs: Costs,
    start: Modes,
    judge: Callable[[Modes], float],
    watch: Watch,
) -> None:
    """Go from policy to policy on pairs while the cost falls.

    Parameters
    ----------
    costs
        By column (c, or c, n and d), mode and state.
    start
        The first policy, a mode for each pair.
    judge
        Shows a policy to the evaluator and returns its cost.
    watch
        Called before each policy of the small process.
    """
    policy, value = start, judge(start)
    for _ in range(ROUNDS):
        better = best_of_means(small_process(chain, costs, policy), policy, watch)
        if np.array_equal(better, policy):
            return
        found = judge(better)
        if not found < value:
            return
        policy, value = better, found


def small_process(chain: PolicyChain, costs: Costs, policy: Modes) -> DecisionProcess:
    """Return the decision process on pairs, with the means of one policy."""
    order = chain.order
    chances = stationary_of_policy(chain, checked_policy(chain, policy))
    masses = np.bincount(order.pair, weights=chances, minlength=order.pairs)
    sizes = np.bincount(order.pair, minlength=order.pairs)
    # States of a pair that is never met count alike.
    shares = np.where(masses[order.pair] > 0, chances / np.where(masses > 0, masses, 1.0)[order.pair], 0.0)
    shares = np.where(masses[order.pair] > 0, shares, 1.0 / sizes[order.pair])
    means = np.zeros((*costs.shape[:2], order.pairs))
    for column, taken in zip(costs, means, strict=True):
        for by_state, mean in zip(column, taken, strict=True):
            mean += np.bincount(order.pair, weights=shares * by_state, minlength=order.pairs)
    fading = np.zeros(order.pairs)
    np.add.at(fading, order.pair, shares * chain.yields[2, 0])
    return DecisionProcess(_rates_of_pairs(chain, fading), means)


def best_of_means(process: DecisionProcess, start: Modes, watch: Watch) -> Modes:
    """Return the best policy of the small process."""
    if len(process.costs) == 1:
        return solve_process(process, (1.0,), start, watch=watch).policy
    search = FractionalSearch(process, watch=watch)
    search.descend(start)
    assert search.policy is not None
    return search.policy


def _rates_of_pairs(chain: PolicyChain, fading: NDArray[np.float64]) -> csr_array:
    """Return the rates between pairs: those of pages that never go out of date, and one page fewer at the mean rate."""
    patient = policy_chain(replace(chain.model, patience=None))
    pairs, phases = chain.order.pairs, chain.model.arrivals[0].phases
    each = phases * chain.model.service.order
    waiting = np.arange(phases + each, pairs)  # two pages or more
    rows, columns = np.concatenate([waiting, waiting]), np.concatenate([waiting - each, waiting])
    values = np.concatenate([fading[waiting], -fading[waiting]])
    falling = csr_array((values, (rows, columns)), shape=(pairs, pairs))
    return csr_array(patient.rates + kron(np.ones((chain.modes, 1)), falling, format="csr"))
