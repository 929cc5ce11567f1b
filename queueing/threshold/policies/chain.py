r"""Threshold queues under any policy that sees the whole state, not only the number of pages.

A policy names the mode in force in every state :math:`(i, \nu, m, \eta_1, \ldots, \eta_{i-1})`, the states *in this
order*: by number of pages i, then by arrival phase, then by service phase, then by the phases of patience of the
waiting pages, the oldest first (lexicographic, as in the lemma of section 3 of Avrachenkov et al., 2011; with no page
there is an arrival phase only). Phases are those of the laws with as few phases as possible (`ThresholdQueue.model`):
where patience has one, a state is (i, nu, m), and :math:`W (1 + M K)` modes make a policy. A policy may also look at
(i, nu, m) alone where pages have phases; it then names a mode for each of these.

A mode acts on the moves of the arrival chain only. Pages are served first come, first served, so what becomes of a page
that enters does not depend on what comes later: every flow is a sum, over states, of the time spent there by what a
unit of time yields there under the mode in force. The chain and its yields, state by state and mode by mode, are
what a decision process is made of.

Where patience has one phase, the stationary distribution is found level by level from the top as in
:mod:`queueing.threshold.methods.elimination`, without a subtraction, every state with a mode of its own. Otherwise the
chain is eliminated as one dense matrix if it is small, and else iterated by :mod:`queueing.threshold.methods.krylov`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array
from scipy.sparse.csgraph import connected_components

from ...numerics import Integers, Vector, stationary_of_rates
from ..methods import ELIMINATION, SAFETY, Blocks, Incoming, Rates, krylov_iterates, rates_of, stationary_by_state
from ..model import Flows, ThresholdModel, direct_flows
from ..queue import ThresholdMeasures, ThresholdQueue
from .transitions import DENSE_STATES, StateOrder, generator_rows, state_order, yields_of

#: Most states of a chain whose moves are written down for every mode, and for one policy at a time.
POLICY_LIMIT, SINGLE_LIMIT = 100_000, 300_000

# Residuals of the iteration, relative: to learn how heavy levels are, and in the end.
_FIRST, _TOLERANCE = 1e-8, 1e-13


class Iterates(NamedTuple):
    """Probabilities of states, as good as they got and somewhat worse, and how much the residual fell in between."""

    fine: Vector
    coarse: Vector
    shrinking: float


@dataclass(frozen=True, eq=False)
class PolicyChain:
    """What every mode does in every state.

    Attributes
    ----------
    model, order
        the queue, and its states in order.
    yields
        by name in `YIELDS`, mode and state: what a unit of time yields.
    """

    model: ThresholdModel
    order: StateOrder
    yields: Blocks

    @property
    def states(self) -> int:
        """Number of states."""
        return self.order.states

    @property
    def modes(self) -> int:
        """Number of modes."""
        return len(self.model.arrivals)

    @cached_property
    def rates(self) -> csr_array:
        """Rows of generators, one for each mode and state: row ``mode * states + state``."""
        return generator_rows(self.model, self.order, np.zeros(0, dtype=np.int64))

    def generator(self, modes: Integers) -> csr_array:
        """Return the generator under a policy, one mode for each state."""
        if too_large(self.model) is None:
            return csr_array(self.rates[modes * self.states + np.arange(self.states)])
        return generator_rows(self.model, self.order, modes)


def too_large(model: ThresholdModel, limit: int | None = None) -> str | None:
    """Tell why policies that see the whole state cannot be compared.

    Parameters
    ----------
    model
        the queue.
    limit
        most states; `POLICY_LIMIT` if None.

    Returns
    -------
    str or None
        the reason; None if they can be compared.
    """
    limit = POLICY_LIMIT if limit is None else limit
    if ELIMINATION.refusal(model) is None or model.states <= limit:
        return None
    return (
        f"policies that see phases of waiting pages are taken for at most {limit} states, and this queue has "
        f"{model.states}; lower the capacity or give patience fewer phases"
    )


def policy_chain(model: ThresholdModel) -> PolicyChain:
    """Describe the chain of a model under every mode at once.

    Parameters
    ----------
    model
        the queue.

    Returns
    -------
    PolicyChain
        states in order, and what each yields under each mode.

    Raises
    ------
    ValueError
        if there are more than `SINGLE_LIMIT` states.
    """
    refusal = too_large(model, SINGLE_LIMIT)
    if refusal is not None:
        raise ValueError(f"{refusal[0].upper()}{refusal[1:]}.")
    order = state_order(model)
    return PolicyChain(model, order, yields_of(model, order))


def checked_policy(chain: PolicyChain, policy: Sequence[int] | Integers) -> Integers:
    """Return the mode of each state, or refuse the policy.

    Parameters
    ----------
    chain
        states and modes.
    policy
        a mode for each state, or for each (level, arrival phase, service phase).

    Returns
    -------
    Integers
        the mode of each state.

    Raises
    ------
    ValueError
        if their number is wrong, or one of them is no mode.
    """
    modes = np.asarray(policy, dtype=np.int64)
    if modes.shape not in {(chain.states,), (chain.order.pairs,)}:
        raise ValueError(
            f"a policy names a mode for each of {chain.states} states"
            + ("" if chain.order.pairs == chain.states else f" or {chain.order.pairs} pairs of level and phases")
            + f", but {modes.size} came; give as many."
        )
    wrong = (modes < 0) | (modes >= chain.modes)
    if wrong.any():
        place = int(np.argmax(wrong))
        raise ValueError(f"entry {place} is {modes[place]}; modes are numbered from 0 to {chain.modes - 1}.")
    return modes if len(modes) == chain.states else np.asarray(modes[chain.order.pair])


def policy_measures(
    queue: ThresholdQueue, policy: Sequence[int] | Integers, chain: PolicyChain | None = None
) -> ThresholdMeasures:
    """Evaluate a policy that sees the state.

    Parameters
    ----------
    queue
        what is controlled.
    policy
        for each state the index of the mode in force; the order of states is told at the top of this module.
    chain
        of ``queue.model``, where it is known already.

    Returns
    -------
    ThresholdMeasures
        all measures of the policy.
    """
    known = chain or policy_chain(queue.model)
    modes = checked_policy(known, policy)
    found, method = iterates_of_policy(known, modes)
    probabilities = found.fine
    flows = flows_of_policy(known, modes, probabilities)
    if method == "krylov":
        coarse = flows_of_policy(known, modes, found.coarse)
        flows = replace(flows, error_estimate=flows.error_estimate + _moved(flows, coarse, found.shrinking))
    by_mode = np.bincount(modes, weights=probabilities, minlength=known.modes)
    robots = np.array([mode.robots for mode in queue.modes], dtype=np.float64)
    everywhere = np.zeros(known.model.top + 1, dtype=np.int64)
    return replace(
        queue._measures(flows, everywhere, method),
        active_robots=float(robots @ by_mode),
        mode_probabilities=tuple(float(value) for value in by_mode),
    )


def _moved(fine: Flows, coarse: Flows, shrinking: float) -> float:
    """Return the relative error of flows that moved from `coarse` to `fine` while the residual shrank by so much."""
    names = ("arriving", "lost", "obsolete", "served", "served_time", "obsolete_time")
    pairs = [(getattr(fine, name), getattr(coarse, name)) for name in names]
    moves = [abs(float(old) / float(new) - 1.0) for new, old in pairs if new > 0]
    return SAFETY * min(1.0, shrinking) * max([*moves, float(np.abs(fine.levels - coarse.levels).sum())])


def stationary_of_policy(chain: PolicyChain, modes: Integers) -> Vector:
    """Find the stationary distribution of a policy.

    Parameters
    ----------
    chain
        states and modes.
    modes
        the mode of each state.

    Returns
    -------
    Vector
        the probability of each state.
    """
    return iterates_of_policy(chain, modes)[0].fine


def iterates_of_policy(chain: PolicyChain, modes: Integers) -> tuple[Iterates, str]:
    """Find the stationary distribution with an estimate of its error, and the method that found it."""
    generator = chain.generator(modes)
    closed = closed_classes(generator)
    if len(closed) > 1:
        first, second = (int(states[0]) for states in closed[:2])
        raise ValueError(
            f"a policy must have one stationary distribution, but this one stays for ever with state {first} or with "
            f"state {second}, whichever it meets first; let it lead from one to the other."
        )
    if ELIMINATION.refusal(chain.model) is None:
        found = eliminated(rates_of(chain.model), modes)
        return Iterates(found, found, 0.0), "elimination"
    return stationary_of_states(generator, closed[0], chain.order.level)


def flows_of_policy(chain: PolicyChain, modes: Integers, probabilities: Vector) -> Flows:
    """Return all flows, by direct sums over the states."""
    here = chain.yields[:, modes, np.arange(chain.states)]
    arriving, lost, obsolete, served, *seen = (here @ probabilities).tolist()
    levels = np.zeros(chain.model.top + 1)
    np.add.at(levels, chain.order.level, probabilities)
    return direct_flows(chain.model.top, levels, arriving, lost, obsolete, served, seen)


def closed_classes(generator: csr_array) -> list[Integers]:
    """Return the sets of states that are never left, each with its states in order."""
    moves = coo_array(generator)
    real = (moves.data > 0) & (moves.row != moves.col)
    graph = csr_array((np.ones(int(real.sum())), (moves.row[real], moves.col[real])), shape=generator.shape)
    count, labels = connected_components(graph, directed=True, connection="strong")
    leaves = np.zeros(count, dtype=bool)
    leaves[labels[moves.row[real]][labels[moves.row[real]] != labels[moves.col[real]]]] = True
    return [np.flatnonzero(labels == one) for one in np.flatnonzero(~leaves)]


def stationary_of_states(generator: csr_array, inside: Integers, level: Integers) -> tuple[Iterates, str]:
    """Return the probability of each state, and the method used; `inside` are the states of the one closed class."""
    core = csr_array(generator[inside][:, inside])
    if len(inside) <= DENSE_STATES:
        found = stationary_of_rates(core.toarray())
        coarse, fine, shrinking, method = found, found, 0.0, "reference"
    else:
        coarse, fine, shrinking = _iterated(core, level[inside])
        method = "krylov"
    rows = np.zeros((2, generator.shape[0]))
    rows[:, inside] = fine, coarse
    return Iterates(rows[0], rows[1], shrinking), method


def _iterated(generator: csr_array, level: Integers) -> tuple[Vector, Vector, float]:
    diagonal = generator.diagonal()
    moves = coo_array(generator)
    real = moves.row != moves.col
    shape = generator.shape
    incoming = csc_array((moves.data[real], (moves.row[real], moves.col[real])), shape=shape)
    entries = Incoming(
        incoming.indptr.astype(np.uint64), incoming.indices.astype(np.uint32), np.array(incoming.data), diagonal
    )
    scale, solution = np.ones(len(diagonal)), np.full(len(diagonal), 1.0 / len(diagonal))
    for tolerance in (_FIRST, _TOLERANCE):
        coarse, fine, shrinking = krylov_iterates(entries, scale, solution, tolerance)
        solution = np.maximum(fine, 0.0)
        solution /= solution.sum()
        if tolerance == _FIRST:  # levels of little mass are held to the same relative accuracy as others
            masses: Vector = np.zeros(int(level.max()) + 1)
            np.add.at(masses, level, solution)
            sizes = np.maximum(np.bincount(level), 1)
            scale = np.asarray((np.maximum(masses, 1e-250) / np.sqrt(sizes))[level])
    before = np.maximum(coarse, 0.0)
    return before / before.sum(), solution, shrinking


def eliminated(rates: Rates, modes: Integers) -> Vector:
    """Return the probability of each state (level, arrival phase, service phase), in order, under the mode of each."""
    phases, order = rates.blocks.shape[2], len(rates.start)
    by_level = np.zeros((rates.top + 1, phases * order), dtype=np.int64)
    by_level[0, :phases] = modes[:phases]
    by_level[1:] = modes[phases:].reshape(rates.top, phases * order)
    levels = stationary_by_state(rates, by_level)
    return np.concatenate([levels[0, : phases * order].reshape(phases, order).sum(axis=1), levels[1:].ravel()])
