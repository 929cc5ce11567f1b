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
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, bicgstab

from ...numerics import Integers, Matrix, Vector
from ..methods import ELIMINATION, SAFETY, Blocks, outcomes_ahead, rates_of
from ..methods import outcomes_of as outcomes_by_elimination
from ..model import Flows, ThresholdModel, direct_error
from ..queue import ThresholdMeasures, ThresholdQueue
from .stationary import DENSE_STATES, Iterates, eliminated, stationary_of_states
from .transitions import StateOrder, arrival_blocks, generator_rows, patience_rates_of, state_order

#: Most states of a chain whose moves are written down for every mode, and for one policy at a time.
POLICY_LIMIT, SINGLE_LIMIT = 100_000, 300_000

#: What a unit of time yields, in the order of `PolicyChain.yields`: pages that come, find no room, go out of date, are
#: served; as those that enter see it, pages that will be served and their time, that will go out of date and theirs.
YIELDS = (
    "arriving",
    "lost",
    "obsolete",
    "served",
    "will_serve",
    "served_time",
    "will_fade",
    "obsolete_time",
)

# Residual of an iteration, relative, and the one above which there is no result.
_TOLERANCE, _HOPELESS = 1e-13, 1e-9


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
        """Generator under a policy, one mode for each state."""
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
    """Relative error left in flows that moved from `coarse` to `fine` while the residual shrank by so much."""
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
    """The same with something to judge it by, and the method that found it."""
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
    """All flows, by direct sums over the states."""
    here = chain.yields[:, modes, np.arange(chain.states)]
    sums = dict(zip(YIELDS, (here @ probabilities).tolist(), strict=True))
    error = direct_error(
        chain.model.top, sums["served"], sums.pop("will_serve"), sums["obsolete"], sums.pop("will_fade")
    )
    levels = np.zeros(chain.model.top + 1)
    np.add.at(levels, chain.order.level, probabilities)
    return Flows(levels=levels, error_estimate=error, **sums)


def closed_classes(generator: csr_array) -> list[Integers]:
    """Sets of states that are never left, each with its states in order."""
    moves = coo_array(generator)
    real = (moves.data > 0) & (moves.row != moves.col)
    graph = csr_array((np.ones(int(real.sum())), (moves.row[real], moves.col[real])), shape=generator.shape)
    count, labels = connected_components(graph, directed=True, connection="strong")
    leaves = np.zeros(count, dtype=bool)
    leaves[labels[moves.row[real]][labels[moves.row[real]] != labels[moves.col[real]]]] = True
    return [np.flatnonzero(labels == one) for one in np.flatnonzero(~leaves)]


def yields_of(model: ThresholdModel, order: StateOrder) -> Blocks:
    """Return what a unit of time yields, by name in `YIELDS`, mode and state."""
    blocks, entering = arrival_blocks(model)
    coming = blocks.sum(axis=3)  # by mode, batch and arrival phase
    result = np.zeros((len(YIELDS), len(model.arrivals), order.states))
    sizes = np.arange(coming.shape[1])
    result[0] = np.einsum("k,akn->an", sizes, coming)[:, order.arrival]
    lost = sizes - entering
    result[1] = np.einsum("lk,akn->aln", lost, coming)[:, order.level, order.arrival]
    result[2] = _fading_by_state(model, order)
    result[3] = np.where(order.level > 0, model.service.exit_rates[order.service], 0.0)
    if ELIMINATION.refusal(model) is None:
        _add_outcomes_of_numbers(model, order, coming, entering, result)
        return result
    outcomes = [np.array(columns) for columns in outcomes_ahead(model, _solve_leaving)]
    for level in range(model.top + 1):
        first, last = int(order.offsets[level]), int(order.offsets[level + 1])
        for batch in range(1, coming.shape[1]):
            told = _told(model, outcomes, level, int(entering[level, batch]))
            for row, column in zip(range(4, 8), told, strict=True):
                part = coming[:, batch, :, np.newaxis] * column
                result[row, :, first:last] += part.reshape(len(model.arrivals), last - first)
    return result


def _add_outcomes_of_numbers(
    model: ThresholdModel, order: StateOrder, coming: Blocks, entering: Integers, result: Blocks
) -> None:
    """What pages that enter will see, where those that wait are only a number: all levels at once."""
    outcomes = outcomes_by_elimination(rates_of(model))  # by outcome, pages ahead, phase of service
    first = outcomes @ model.service.initial  # in a batch that meets nobody: the service ahead is about to begin
    phases, levels = model.arrivals[0].phases, np.arange(model.top + 1)
    busy = order.level > 0
    for batch in range(1, coming.shape[1]):
        told = np.zeros((4, model.top + 1, model.service.order))
        empty = np.zeros(4)
        for position in range(1, int(entering[:, batch].max()) + 1):
            here = levels[entering[:, batch] >= position]
            told[:, here] += outcomes[:, here + position - 1]
            if entering[0, batch] >= position:
                empty += first[:, position - 1]
        result[4:, :, :phases] += empty[:, np.newaxis, np.newaxis] * coming[:, batch]
        result[4:, :, busy] += (
            coming[:, batch][:, order.arrival[busy]] * told[:, np.newaxis, order.level[busy], order.service[busy]]
        )


def _told(model: ThresholdModel, outcomes: list[Matrix], level: int, enter: int) -> list[Vector]:
    """By outcome and (service phase, waiting pages): sum over the pages of a batch of which so many enter.

    `outcomes` has, by pages ahead, a row for each outcome and a column for each (service phase, patience phases of
    those that wait and of the page itself).
    """
    gamma = model.patience_rates[0]
    size = 1 if level == 0 else model.level_size(level) // model.arrivals[0].phases
    totals: Any = np.zeros((4, size))
    for position in range(1, enter + 1):
        column = outcomes[level + position - 1]
        for _ in range(position if level > 0 else position - 1):
            column = column.reshape(4, -1, len(gamma)) @ gamma
        totals = totals + (column @ model.service.initial[:, np.newaxis] if level == 0 else column)
    return list(totals)


def _fading_by_state(model: ThresholdModel, order: StateOrder) -> Vector:
    """Rate at which pages go out of date, in each state."""
    fading, phases = patience_rates_of(model)[2], model.arrivals[0].phases
    if len(fading) == 1:
        return np.asarray(fading[0] * np.maximum(order.level - 1, 0))
    parts: list[Vector] = [np.zeros(phases)]
    total = np.zeros(1)
    for _ in range(model.top):
        parts.append(np.tile(total, phases * model.service.order))
        total = np.add.outer(total, fading).ravel()
    return np.concatenate(parts)


def _solve_leaving(leaving: csr_array, rights: Matrix) -> Matrix:
    """Solve (-A) X = rights, A the generator of phases that are left for good, one column at a time."""
    columns = np.ascontiguousarray(rights.T)
    if leaving.shape[0] <= DENSE_STATES:
        return np.column_stack([np.linalg.solve(leaving.toarray(), right) for right in columns])
    return np.column_stack([_iterate_leaving(leaving, right) for right in columns])


def _iterate_leaving(leaving: csr_array, right: Vector) -> Vector:
    """Solve one such system by BiCGSTAB, preconditioned by the diagonal."""
    diagonal = leaving.diagonal()
    scaling = LinearOperator(leaving.shape, matvec=lambda x: x / diagonal, dtype=np.float64)
    found, _ = bicgstab(leaving, right, rtol=_TOLERANCE, atol=0.0, M=scaling, maxiter=2000)
    left = float(np.linalg.norm(right - leaving @ found))
    if not left <= _HOPELESS * float(np.linalg.norm(right)):
        raise ValueError(
            f"what becomes of a page must be found to {_HOPELESS}, but {left:.1e} is left after all attempts; bring "
            "the rates of the queue nearer to one another."
        )
    return np.asarray(found)
