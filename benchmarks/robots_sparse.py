"""Rivals of the robot benchmarks: the paper's relative value iteration with sparse matrices, and in place.

The operator T of Talim, Liu, Nain and Coffman (2001), Proposition 2, on their chain of (q, r, event), in five ways:

=========== ============================================================================================================
two         the transition matrices of both actions (scipy, CSR), a product with each, the smaller of both
stacked     both in one matrix, one product
differing   one matrix for all states, one for those where the actions differ
shared      one row for each (q, r) after a decision, which the states that lead there share; the smaller of neighbours
in place    no matrix: whole arrays as in `robots_paper`, without a copy of any
=========== ============================================================================================================

The iteration around it, its stopping rules and its certificate are those of `robots_paper`, in place too.
Matrices are assembled once, by `sparse_operator`, before any clock starts.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from robots_paper import PaperIteration
from scipy.sparse import csr_array, vstack

from queueing.robots import PaperChain, paper_chain


@dataclass(frozen=True, eq=False)
class Operator:
    """T on values in a row, written to another row.

    Attributes
    ----------
    chain
        the paper's, by event, pages and robots.
    places
        in the flat arrays of the chain, where each value belongs.
    exists
        where in the row there is a state; None if everywhere.
    apply
        values, and where to write T of them.
    """

    chain: PaperChain
    places: np.ndarray
    exists: np.ndarray | None
    apply: Callable[[np.ndarray, np.ndarray], None]


def transitions(chain: PaperChain, numbers: np.ndarray, lengths: np.ndarray, robots: np.ndarray) -> csr_array:
    """By pair of pages and robots after a decision, the probabilities of the next state, events side by side."""
    rows, columns, chances = [], [], []
    for event in range(3):
        chance = chain.chances[event][lengths, robots]
        there = np.flatnonzero(chance > 0)
        rows.append(there)
        columns.append(numbers[event][lengths[there], robots[there]])
        chances.append(chance[there])
    shape = len(lengths), int(numbers.max()) + 1
    matrix = csr_array((np.concatenate(chances), (np.concatenate(rows), np.concatenate(columns))), shape=shape)
    matrix.sort_indices()
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return matrix


def sparse_operator(formulation: str, robots: int, capacity: int, arrival: float, service: float, gamma: float):
    """T in one of the ways above."""
    chain = paper_chain(robots, capacity, arrival, service, gamma)
    if formulation == "in place":
        return Operator(chain, np.arange(chain.states.size), chain.states.reshape(-1), in_place(chain))
    places = np.flatnonzero(chain.states)
    numbers = np.full(chain.states.shape, -1)
    numbers.reshape(-1)[places] = np.arange(len(places))
    events, lengths, active = np.unravel_index(places, chain.states.shape)
    left = np.where(events == 0, lengths - 1, np.where(events == 1, np.minimum(lengths + 1, capacity), lengths))
    kept = np.where(events == 1, active - 1, active)
    first = np.where((left == 0) & (kept == 0), 1, kept)  # the empty system without robots is forbidden
    second = np.where(events < 2, np.minimum(kept + 1, robots), kept)
    costs = chain.costs.reshape(-1)[places]
    if formulation == "shared":
        apply = shared(chain, numbers, costs, left * (robots + 1) + kept, events < 2)
    else:
        matrices = [transitions(chain, numbers, left, after) for after in (first, second)]
        apply = {"two": two, "stacked": stacked, "differing": differing}[formulation](matrices, costs, first != second)
    return Operator(chain, places, None, apply)


def two(matrices, costs, differ):
    def apply(values, found):
        np.minimum(matrices[0] @ values, matrices[1] @ values, out=found)
        np.add(found, costs, out=found)

    return apply


def stacked(matrices, costs, differ):
    both = vstack(matrices, format="csr")
    both.indices, both.indptr = both.indices.astype(np.int32), both.indptr.astype(np.int32)

    def apply(values, found):
        decided = both @ values
        np.minimum(decided[: len(found)], decided[len(found) :], out=found)
        np.add(found, costs, out=found)

    return apply


def differing(matrices, costs, differ):
    other, where = matrices[1][differ], np.flatnonzero(differ)

    def apply(values, found):
        decided = matrices[0] @ values
        decided[where] = np.minimum(decided[where], other @ values)
        np.add(decided, costs, out=found)

    return apply


def shared(chain, numbers, costs, left, decides):
    shape = chain.costs.shape[1:]
    lengths, robots = (index.reshape(-1) for index in np.indices(shape))
    robots[0] = 1  # (0, 0) is forbidden: one robot is activated
    matrix, size = transitions(chain, numbers, lengths, robots), len(lengths)
    source = np.where(decides, left, left + size)
    room = np.empty(2 * size)
    best, decided = room[:size].reshape(shape), room[size:].reshape(shape)

    def apply(values, found):
        decided[:] = (matrix @ values).reshape(shape)
        best[:, -1] = decided[:, -1]
        np.minimum(decided[:, :-1], decided[:, 1:], out=best[:, :-1])
        np.take(room, source, out=found, mode="clip")
        np.add(found, costs, out=found)

    return apply


def in_place(chain):
    shape = chain.costs.shape
    decided, best = np.empty(shape[1:]), np.empty(shape[1:])

    def apply(values, found):
        np.einsum("sqr,sqr->qr", chain.chances, values.reshape(shape), out=decided)
        decided[0, 0] = decided[0, 1]
        best[:, -1] = decided[:, -1]
        np.minimum(decided[:, :-1], decided[:, 1:], out=best[:, :-1])
        image = found.reshape(shape)  # what is no state is reached with probability 0: anything may stand there
        np.add(chain.costs[0, 1:], best[:-1], out=image[0, 1:])
        np.add(chain.costs[1, :-1, 1:], best[1:, :-1], out=image[1, :-1, 1:])
        np.add(chain.costs[1, -1, 1:], best[-1, :-1], out=image[1, -1, 1:])
        np.add(chain.costs[2], decided, out=image[2])

    return apply


def sparse_iteration(
    operator: Operator,
    tau: float = 0.99999,
    tolerance: float = 1e-5,
    *,
    certified: bool = False,
    most: int = 10_000_000,
) -> PaperIteration:
    """`robots_paper.paper_iteration` with an operator."""
    size, shape = len(operator.places), operator.chain.states.shape
    values, image, spare = np.zeros(size), np.zeros(size), np.zeros(size)
    reference = int(np.searchsorted(operator.places, np.ravel_multi_index((1, 1, 1), shape)))
    exists = slice(None) if operator.exists is None else operator.exists
    count = 0
    while True:
        operator.apply(values, image)
        if certified and count % 10 == 0:
            lower, upper = bracket(image, values, exists)
            if upper - lower <= tolerance * lower:
                break
        np.subtract(image, image[reference], out=spare)
        spare *= tau
        np.multiply(values, 1.0 - tau, out=image)
        spare += image
        count += 1
        settled = not certified and (np.abs(spare - values) <= tolerance * np.abs(values))[exists].all()
        values, spare = spare, values
        if settled or count >= most:
            operator.apply(values, image)
            lower, upper = bracket(image, values, exists)
            break
    whole = np.zeros(operator.chain.states.size)
    whole[operator.places] = values
    decided = operator.chain.decided(whole.reshape(shape))
    policy = np.zeros(decided.shape, dtype=np.int8)
    policy[:, :-1] = decided[:, 1:] < decided[:, :-1]
    policy[0, 0] = 1
    return PaperIteration(float(image[reference]), count, policy, lower, upper)


def bracket(image: np.ndarray, values: np.ndarray, exists: slice | np.ndarray) -> tuple[float, float]:
    moved = (image - values)[exists]
    return float(moved.min()), float(moved.max())
