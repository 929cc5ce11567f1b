"""The states of a threshold queue in order, the rates of all transitions, and what a unit of time yields, by mode.

The order of states is the one in which a policy names their modes.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from scipy.sparse import coo_array, csr_array
from scipy.sparse.linalg import LinearOperator, bicgstab

from ...numerics import Integers, Matrix, Vector
from ..methods import ELIMINATION, Blocks, outcomes_ahead, rates_of
from ..methods import outcomes_of as outcomes_by_elimination
from ..model import ThresholdModel

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

#: Most states that are eliminated as one dense matrix.
DENSE_STATES = 1000

# Residual of an iteration, relative, and the one above which there is no result.
_TOLERANCE, _HOPELESS = 1e-13, 1e-9


@dataclass(frozen=True, eq=False)
class StateOrder:
    """The states of a model, in order.

    Attributes
    ----------
    offsets
        by level, where its states begin, and at last their number.
    level, arrival, service
        of each state: pages in the system, phase of arrivals, phase of service (-1 with no page).
    pair
        of each state: its place among the states (level, arrival phase, service phase).
    pairs
        how many of these there are.
    """

    offsets: Integers
    level: Integers
    arrival: Integers
    service: Integers
    pair: Integers
    pairs: int

    @property
    def states(self) -> int:
        """Number of states."""
        return int(self.offsets[-1])


def state_order(model: ThresholdModel) -> StateOrder:
    """List all states of a model, level by level."""
    phases, order = model.arrivals[0].phases, model.service.order
    letters = model.patience_order if model.top > 1 else 1
    sizes = np.array([phases, *(phases * order * letters**waiting for waiting in range(model.top))], dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    level = np.repeat(np.arange(model.top + 1), sizes)
    within = np.arange(offsets[-1]) - offsets[level]
    block = sizes[level] // phases  # states of one arrival phase
    arrival = within // block
    service = np.where(level > 0, (within % block) // np.maximum(block // order, 1), -1)
    pair = np.where(level > 0, phases + ((level - 1) * phases + arrival) * order + service, arrival)
    return StateOrder(offsets, level, arrival, service, pair, model.pairs)


def generator_rows(model: ThresholdModel, order: StateOrder, chosen: Integers) -> csr_array:
    """Write the rows of the generators of all modes, or of the generator under the chosen mode of each state."""
    gamma, change, fading = patience_rates_of(model)
    states, modes = order.states, 1 if len(chosen) else len(model.arrivals)
    service = np.array(model.service.generator), np.array(model.service.initial), np.array(model.service.exit_rates)
    life = _life_moves(order.offsets, model.arrivals[0].phases, *service, change, fading)
    climbs = _climb_moves(model, order, gamma, chosen)
    shifts = np.repeat(np.arange(modes, dtype=np.int64) * states, len(life[0]))
    rows = np.concatenate([np.tile(life[0], modes) + shifts, climbs[0]])
    columns = np.concatenate([np.tile(life[1], modes), climbs[1]])
    rates = np.concatenate([np.tile(life[2], modes), climbs[2]])
    return csr_array(coo_array((rates, (rows, columns)), shape=(modes * states, states)))


def patience_rates_of(model: ThresholdModel) -> tuple[Vector, Matrix, Vector]:
    """Return gamma, Gamma and Gamma_0 of patience, of one phase where nobody ever waits."""
    if model.top == 1:
        return np.ones(1), np.zeros((1, 1)), np.zeros(1)
    gamma, change, fading = model.patience_rates
    return np.array(gamma), np.array(change), np.array(fading)


def arrival_blocks(model: ThresholdModel) -> tuple[Blocks, Integers]:
    """Return D_k by mode and k, and the number of pages that enter by level and k."""
    blocks = rates_of(model).blocks
    batches = range(blocks.shape[1])
    return blocks, np.array([[model.admitted(level, batch) for batch in batches] for level in range(model.top + 1)])


@njit(cache=True)
def _life_moves(
    offsets: Integers,
    phases: int,
    service: Matrix,
    start: Vector,
    ending: Vector,
    change: Matrix,
    fading: Vector,
) -> tuple[Integers, Integers, Vector]:
    """Write the moves of service and patience, whatever the mode: sources, targets, rates; diagonals too."""
    order, letters, top = len(start), len(fading), len(offsets) - 2
    count = 0
    for level in range(1, top + 1):
        places = min(level - 1, (level - 1) * (letters - 1) + 1)  # where letters do not differ, pages are a number
        count += (offsets[level + 1] - offsets[level]) * (2 * order + places * letters + 1)
    rows, columns = np.zeros(count, np.int64), np.zeros(count, np.int64)
    rates = np.zeros(count)
    entry = 0
    for level in range(1, top + 1):
        waiting = level - 1
        words = letters**waiting
        for nu in range(phases):
            for phase in range(order):
                for word in range(words):
                    state = offsets[level] + (nu * order + phase) * words + word
                    below = offsets[level - 1] + (nu * order + phase) * (words // letters)
                    staying = service[phase, phase]
                    for other in range(order):
                        if other != phase and service[phase, other] != 0.0:
                            rows[entry], columns[entry] = state, state + (other - phase) * words
                            rates[entry] = service[phase, other]
                            entry += 1
                    stride, alike = words, 0
                    for place in range(waiting):  # from the oldest page on
                        stride //= letters
                        letter = (word // stride) % letters
                        staying += change[letter, letter]
                        for other in range(letters):
                            if other != letter and change[letter, other] != 0.0:
                                rows[entry], columns[entry] = state, state + (other - letter) * stride
                                rates[entry] = change[letter, other]
                                entry += 1
                        alike += 1
                        # Of neighbours in the same phase it does not matter which one goes.
                        last = place + 1 == waiting or (word // (stride // letters)) % letters != letter
                        if last and fading[letter] != 0.0:
                            rows[entry] = state
                            columns[entry] = below + (word // (stride * letters)) * stride + word % stride
                            rates[entry] = alike * fading[letter]
                            entry += 1
                        if last:
                            alike = 0
                    rows[entry], columns[entry], rates[entry] = state, state, staying
                    entry += 1
                    if waiting == 0:
                        if ending[phase] != 0.0:
                            rows[entry], columns[entry], rates[entry] = state, offsets[0] + nu, ending[phase]
                            entry += 1
                        continue
                    for other in range(order):
                        if ending[phase] * start[other] != 0.0:
                            rows[entry] = state
                            columns[entry] = below + (other - phase) * (words // letters) + word % (words // letters)
                            rates[entry] = ending[phase] * start[other]
                            entry += 1
    return rows[:entry], columns[:entry], rates[:entry]


def _climb_moves(
    model: ThresholdModel, order: StateOrder, gamma: Vector, chosen: Integers
) -> tuple[Integers, Integers, Vector]:
    """Write the moves of arrivals by mode: sources (with the mode), targets, rates; diagonal entries among them."""
    blocks, entering = arrival_blocks(model)
    likely = [np.ones(1)]  # by length, by word: probability that so many new pages begin with it
    for _ in range(int(entering.max())):
        likely.append(np.outer(likely[-1], gamma).ravel())
    chances = np.zeros((2, len(likely), model.service.order * len(likely[-1])))  # on an empty system, and on another
    for count, law in enumerate(likely):
        chances[1, count, : len(law)] = law
        begun = np.outer(model.service.initial, likely[count - 1]).ravel() if count else law
        chances[0, count, : len(begun)] = begun
    nothing = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    count = _write_climbs(order.offsets, blocks, entering, chances, chosen, *nothing, False)
    rows, columns, rates = np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count)
    _write_climbs(order.offsets, blocks, entering, chances, chosen, rows, columns, rates, True)
    return rows, columns, rates


@njit(cache=True)
def _write_climbs(
    offsets: Integers,
    blocks: Blocks,
    entering: Integers,
    chances: Blocks,
    chosen: Integers,
    rows: Integers,
    columns: Integers,
    rates: Vector,
    writing: bool,
) -> int:
    """Count the moves of arrivals, or write them: of all modes, or in each state of the one chosen."""
    modes, batches, phases, _ = blocks.shape
    single = len(chosen) > 0
    entry = 0
    for mode in range(modes):
        for level in range(len(offsets) - 1):
            block = (offsets[level + 1] - offsets[level]) // phases
            for batch in range(batches):
                enter = entering[level, batch]
                above = level + enter
                larger = (offsets[above + 1] - offsets[above]) // phases
                begun = larger // block
                for nu in range(phases):
                    for after in range(phases):
                        rate = blocks[mode, batch, nu, after]
                        if rate == 0.0:
                            continue
                        for place in range(block):
                            state = offsets[level] + nu * block + place
                            if single and chosen[state] != mode:
                                continue
                            for new in range(begun):
                                chance = chances[0 if level == 0 else 1, enter, new]
                                if chance == 0.0:
                                    continue
                                if writing:
                                    rows[entry] = state if single else mode * offsets[-1] + state
                                    columns[entry] = offsets[above] + after * larger + place * begun + new
                                    rates[entry] = rate * chance
                                entry += 1
    return entry


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
    """Add what pages that enter will see, where those that wait are only a number: all levels at once."""
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
    """Sum outcomes, by (service phase, waiting pages), over the pages of a batch of which so many enter.

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
    """Return the rate at which pages go out of date, in each state."""
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
