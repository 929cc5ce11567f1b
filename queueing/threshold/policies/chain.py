r"""Threshold queues under any policy that sees the whole state, not only the number of pages.

A policy names the mode in force in every state :math:`(i, \nu, m, \eta_1, \ldots, \eta_{i-1})`, the states *in this
order*: by number of pages i, then by arrival phase, then by service phase, then by the phases of patience of the
waiting pages, the oldest first (lexicographic, as in the lemma of section 3 of the paper; with no page there is an
arrival phase only). Phases are those of the laws with as few phases as possible (`ThresholdQueue.model`): where
patience has one, a state is (i, nu, m), and :math:`W (1 + M K)` modes make a policy. A policy may also look at
(i, nu, m) alone where pages have phases; it then names a mode for each of these.

A mode acts on the moves of the arrival chain only. Pages are served first come, first served, so what becomes of a page
that enters does not depend on what comes later: every flow is a sum, over states, of the time spent there by what a
unit of time yields there under the mode in force. The chain and its yields, state by state and mode by mode, are
what a decision process is made of.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from ...numerics import Vector
from ..methods import ELIMINATION, rates_of
from ..model import Flows, ThresholdModel, direct_error
from ..queue import ThresholdMeasures, ThresholdQueue
from .states import Modes, StateOrder, state_order
from .stationary import Iterates, eliminated, stationary_of_states
from .transitions import generator_rows
from .yields import YIELDS, yields_of

#: Most states of a chain whose moves are written down for every mode, and for one policy at a time.
POLICY_LIMIT, SINGLE_LIMIT = 100_000, 300_000

#: Factor between the error that two iterates let expect and the one that is told.
SAFETY = 5.0


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
    yields: NDArray[np.float64]

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

    def generator(self, modes: Modes) -> csr_array:
        """Generator under a policy, one mode for each state."""
        if too_large(self.model) is None:
            return csr_array(self.rates[modes * self.states + np.arange(self.states)])
        return generator_rows(self.model, self.order, modes)


def too_large(model: ThresholdModel, limit: int | None = None) -> str | None:
    """Why policies that see the whole state cannot be compared, or None if they can; `POLICY_LIMIT` unless said."""
    limit = POLICY_LIMIT if limit is None else limit
    if ELIMINATION.refusal(model) is None or model.states <= limit:
        return None
    return (
        f"policies that see phases of waiting pages are taken for at most {limit} states, and this queue has "
        f"{model.states}; lower the capacity or give patience fewer phases"
    )


def policy_chain(model: ThresholdModel) -> PolicyChain:
    """The chain of a model under every mode at once."""
    refusal = too_large(model, SINGLE_LIMIT)
    if refusal is not None:
        raise ValueError(f"{refusal[0].upper()}{refusal[1:]}.")
    order = state_order(model)
    return PolicyChain(model, order, yields_of(model, order))


def checked_policy(chain: PolicyChain, policy: Sequence[int] | Modes) -> Modes:
    """The mode of each state, from a policy on all states or on (level, arrival phase, service phase) alone."""
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
    queue: ThresholdQueue, policy: Sequence[int] | Modes, chain: PolicyChain | None = None
) -> ThresholdMeasures:
    """All measures of a policy that sees the state.

    Parameters
    ----------
    queue
        what is controlled.
    policy
        for each state the index of the mode in force; the order of states is told at the top of this module.
    chain
        of ``queue.model``, where it is known already.
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


def stationary_of_policy(chain: PolicyChain, modes: Modes) -> Vector:
    """Probability of each state under a policy."""
    return iterates_of_policy(chain, modes)[0].fine


def iterates_of_policy(chain: PolicyChain, modes: Modes) -> tuple[Iterates, str]:
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


def flows_of_policy(chain: PolicyChain, modes: Modes, probabilities: Vector) -> Flows:
    """All flows, by direct sums over the states."""
    here = chain.yields[:, modes, np.arange(chain.states)]
    sums = dict(zip(YIELDS, (here @ probabilities).tolist(), strict=True))
    error = direct_error(
        chain.model.top, sums["served"], sums.pop("will_serve"), sums["obsolete"], sums.pop("will_fade")
    )
    levels = np.zeros(chain.model.top + 1)
    np.add.at(levels, chain.order.level, probabilities)
    return Flows(levels=levels, error_estimate=error, **sums)


def closed_classes(generator: csr_array) -> list[Modes]:
    """Sets of states that are never left, each with its states in order."""
    moves = coo_array(generator)
    real = (moves.data > 0) & (moves.row != moves.col)
    graph = csr_array((np.ones(int(real.sum())), (moves.row[real], moves.col[real])), shape=generator.shape)
    count, labels = connected_components(graph, directed=True, connection="strong")
    leaves = np.zeros(count, dtype=bool)
    leaves[labels[moves.row[real]][labels[moves.row[real]] != labels[moves.col[real]]]] = True
    return [np.flatnonzero(labels == one) for one in np.flatnonzero(~leaves)]
