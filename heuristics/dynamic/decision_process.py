r"""Markov decision processes with an average cost, and policy iteration with a certificate.

In state s the action a leads to state z at the rate :math:`q_a(s, z)` and costs :math:`c_a(s)` per unit of time (a
process in discrete time has :math:`Q = P - I`). For *any* vector h the number

.. math::  \min_{s, a} \, \bigl[ c_a(s) + (Q_a h)(s) \bigr]

is no more than the average cost of any policy, stationary or not, randomised or not, from any start: over a long time
the sum of :math:`Q_a h` along the way is the bounded change of h. With h the relative values of an optimal policy the
bound is attained, so a policy and its h prove each other; how h was found does not matter.

Several costs are carried side by side as columns, of which policies minimise a weighted sum (see
:mod:`heuristics.dynamic.fractional_process`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csc_array, csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.sparse.linalg import splu

from ..protocols import Vector

#: Relative values: the bound is a difference of large numbers where states are far away, so digits are kept to spare.
Values = NDArray[np.longdouble]
Actions = NDArray[np.int64]

#: Operations above which a factorisation gives way to an iteration: states times the square of the bandwidth.
LARGEST_FACTORISATION = 3e8

#: An action replaces another if it is better by this much of the numbers that are compared.
IMPROVEMENT = 1e-15

#: Most times that a solution is corrected by what is left of its equation, and what may be left of it, relative.
REFINEMENTS, PRECISION = 6, 1e-16

#: Part of the right side at which an iteration ends, and most of its steps; corrections do the rest.
TOLERANCE, STEPS = 1e-8, 2000

#: Where iterations leave more than this, states up to this many are factorised after all.
UNSOLVED, LAST_RESORT = 1e-9, 20_000

#: Called before each policy is evaluated, with the best so far if there is one; what it raises ends the iteration.
Watch = Callable[["EvaluatedPolicy | None"], None]


@dataclass(frozen=True, eq=False)
class DecisionProcess:
    """A finite set of states, in each a choice of actions.

    Parameters
    ----------
    rates
        A row of a generator for each action and state, row ``action * states + state``: rates to the other states, and
        on the diagonal minus their sum.
    costs
        By column, action and state: cost per unit of time.
    allowed
        By action and state, whether it can be chosen; ``None``: always. Every state needs an action.
    """

    rates: csr_array
    costs: NDArray[np.float64]
    allowed: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        columns, actions, states = self.costs.shape
        if self.rates.shape != (actions * states, states):
            raise ValueError(
                f"rates have a row for each of {actions} actions in {states} states and a column for each state, but "
                f"their shape is {self.rates.shape}; give {actions * states} rows and {states} columns."
            )
        if self.allowed is not None and (self.allowed.shape != (actions, states) or not self.allowed.any(axis=0).all()):
            raise ValueError(f"every one of {states} states needs an allowed action; say for {actions} each which are.")
        if columns == 0 or not np.isfinite(self.costs).all():
            raise ValueError("costs are finite numbers, one column at least; forbid actions instead of pricing them.")

    @property
    def states(self) -> int:
        """Number of states."""
        return int(self.costs.shape[2])

    @property
    def actions(self) -> int:
        """Number of actions."""
        return int(self.costs.shape[1])

    @cached_property
    def bandwidth(self) -> int:
        """Farthest move, as a difference of state numbers."""
        moves = coo_array(self.rates)
        return int(np.abs(moves.row % self.states - moves.col).max(initial=0))

    def generator(self, policy: Actions) -> csr_array:
        """Return the generator under one action for each state."""
        return csr_array(self.rates[policy * self.states + np.arange(self.states)])

    def costs_of(self, policy: Actions) -> NDArray[np.float64]:
        """Return costs under one action for each state, by column and state."""
        return np.asarray(self.costs[:, policy, np.arange(self.states)])

    def prospects(self, weights: ArrayLike, bias: Values) -> Values:
        """Compute c + Q h, costs and change of relative values, by action and state; infinite if not allowed."""
        found = self.weighted(weights) + (self.rates @ bias).reshape(self.actions, self.states)
        return found if self.allowed is None else np.where(self.allowed, found, np.longdouble(np.inf))

    def weighted(self, weights: ArrayLike) -> Values:
        """Weigh and add up the columns of costs, by action and state."""
        total = np.zeros(self.costs.shape[1:], dtype=np.longdouble)
        for weight, column in zip(np.asarray(weights, dtype=np.float64), self.costs, strict=True):
            total += np.longdouble(weight) * column
        return total


@dataclass(frozen=True, eq=False)
class EvaluatedPolicy:
    """A policy, what it costs, and why no policy costs much less.

    Attributes
    ----------
    policy
        One action for each state.
    distribution
        Share of time in each state.
    gains
        By column of the costs, the average under this policy.
    gain
        Their weighted sum.
    bias
        h: relative values of states for the weighted sum.
    bound
        No policy has a weighted sum below this.
    """

    policy: Actions
    distribution: Vector
    gains: Vector
    gain: float
    bias: Values
    bound: float


def solve_process(
    process: DecisionProcess,
    weights: ArrayLike,
    start: Actions | None = None,
    *,
    watch: Watch | None = None,
    steps: int = 1000,
) -> EvaluatedPolicy:
    r"""Find the policy with the least weighted average cost (Howard).

    Every state must be able to reach every other under some policy; then the least cost is the same from anywhere. A
    policy on the way that would stay for ever with one of several sets of states is led to the cheapest of them.

    Parameters
    ----------
    process
        States, actions, transitions and costs.
    weights
        One for each column of the costs.
    start
        The first policy; by default the first allowed action everywhere.
    watch
        Called before each evaluation of a policy, with the best so far.
    steps
        Most policies that are evaluated.

    Returns
    -------
    EvaluatedPolicy
        The best policy met, with the best bound met.
    """
    share = np.asarray(weights, dtype=np.float64)
    policy = np.zeros(process.states, dtype=np.int64) if process.allowed is None else process.allowed.argmax(axis=0)
    if start is not None:
        policy = np.array(start, dtype=np.int64)
    best: EvaluatedPolicy | None = None
    bound = -np.inf
    for _ in range(steps):
        if watch is not None:
            watch(best)
        found = evaluate_policy(process, share, policy, near=best)
        # Equal gains are no reason to stop: states that do not recur are put right last, and the bound needs them.
        higher, bound = found.bound > bound, max(bound, found.bound)
        better = best is None or found.gain < best.gain
        if better:
            best = found
        improved = _improved(process, share, found)
        # Where gains no longer fall and bounds no longer rise, only rounding is left to improve.
        if (improved == found.policy).all() or not (better or higher):
            break
        policy = improved
    assert best is not None
    return replace(best, bound=bound)


def evaluate_policy(
    process: DecisionProcess, weights: ArrayLike, policy: Actions, *, near: EvaluatedPolicy | None = None
) -> EvaluatedPolicy:
    """Compute average costs, relative values and bound of a policy.

    One with several closed sets of states is first led to the cheapest of them.

    Parameters
    ----------
    near
        A similar policy, from which iterations begin.
    """
    share = np.asarray(weights, dtype=np.float64)
    generator = process.generator(policy)
    closed = closed_sets(generator)
    if len(closed) > 1:
        policy = _led_to_the_cheapest(process, share, policy, closed)
        generator = process.generator(policy)
    columns = process.costs_of(policy)
    cost = process.weighted(share)[policy, np.arange(process.states)]
    if process.states * float(process.bandwidth) ** 2 <= LARGEST_FACTORISATION:
        distribution, bias = _by_factors(generator, cost)
    else:
        distribution, bias = _by_iteration(generator, cost, near)
    gains = columns @ distribution
    bound = float((process.prospects(share, bias) - _rounding(process, share, bias)).min())
    return EvaluatedPolicy(policy, distribution, gains, float(share @ gains), bias, bound)


def closed_sets(generator: csr_array) -> list[Actions]:
    """Find the sets of states that reach one another and nothing else."""
    graph = _graph(generator)
    count, labels = connected_components(graph, directed=True, connection="strong")
    if count == 1:
        return [np.arange(generator.shape[0])]
    moves = coo_array(graph)
    left = np.zeros(count, dtype=bool)
    outward = labels[moves.row] != labels[moves.col]
    left[labels[moves.row[outward]]] = True
    return [np.flatnonzero(labels == one) for one in np.flatnonzero(~left)]


# -- inside ------------------------------------------------------------------------------------------------------------


def _graph(rows: csr_array, allowed: NDArray[np.bool_] | None = None) -> csr_array:
    """Keep the transitions that have a rate, of one action for each state or of all that are allowed."""
    moves = coo_array(rows)
    real = (moves.data > 0) & (moves.row % rows.shape[1] != moves.col)
    if allowed is not None:
        real &= allowed.ravel()[moves.row]
    return csr_array((np.ones(int(real.sum())), (moves.row[real], moves.col[real])), shape=rows.shape)


def _improved(process: DecisionProcess, share: Vector, found: EvaluatedPolicy) -> Actions:
    """Find the best action of each state against the relative values; the present one unless another is better."""
    prospects = process.prospects(share, found.bias)
    states = np.arange(process.states)
    present = prospects[found.policy, states]
    best = prospects.argmin(axis=0)
    sizes: csr_array = abs(process.generator(found.policy))
    scale = np.abs(share) @ np.abs(process.costs_of(found.policy)) + sizes @ np.abs(found.bias)
    return np.where(prospects[best, states] < present - IMPROVEMENT * scale, best, found.policy)


def _rounding(process: DecisionProcess, share: Vector, bias: Values) -> Values:
    """Bound by action and state how far c + Q h may be off as it was computed."""
    terms = int(np.diff(process.rates.indptr).max(initial=0)) + process.costs.shape[0] + 2
    size = np.tensordot(np.abs(share), np.abs(process.costs), axes=1)
    size = size + (abs(process.rates) @ np.abs(bias)).reshape(process.actions, process.states)
    return np.asarray(terms * np.finfo(np.longdouble).eps * size)


def _by_factors(generator: csr_array, cost: Values) -> tuple[Vector, Values]:
    """Find distribution and relative values by one factorisation of -Q bordered by the gain and by h(reference) = 0."""
    states = len(cost)
    moves = coo_array(generator)
    edge = np.arange(states)
    rows = np.concatenate([moves.row, edge, [states]])
    columns = np.concatenate([moves.col, np.full(states, states), [0]])
    values = np.concatenate([-moves.data, np.ones(states), [1.0]])
    factors: Any = splu(csc_array((values, (rows, columns)), shape=(states + 1, states + 1)))
    distribution = _scaled(factors.solve(np.append(np.zeros(states), 1.0), trans="T")[:states])

    def solved(right: Vector) -> tuple[Vector, float]:
        found = factors.solve(np.append(right, 0.0))
        return found[:states], float(found[states])

    bias, _ = _refined(generator, cost, distribution, np.zeros(states, np.longdouble), solved)
    return distribution, bias


def _by_iteration(generator: csr_array, cost: Values, near: EvaluatedPolicy | None) -> tuple[Vector, Values]:
    r"""Find the same by Krylov's way: :math:`(e w^T - Q) h = c` and its transpose :math:`p (e w^T - Q) = w`."""
    states = len(cost)
    leaving = np.maximum(-generator.diagonal(), np.finfo(np.float64).tiny)
    weights = np.full(states, float(leaving.mean()) / states)
    turned = csr_array(generator.T)

    def forward(h: Vector) -> Vector:
        return np.asarray((weights * h).sum() - generator @ h)

    def backward(p: Vector) -> Vector:
        return np.asarray(weights * p.sum() - turned @ p)

    distribution = np.full(states, 1.0 / states) if near is None else near.distribution
    left = weights - backward(distribution)
    for _ in range(REFINEMENTS):
        better = distribution + _krylov(backward, left, leaving)
        after = weights - backward(better)
        if _size(after) >= 0.5 * _size(left):
            break
        distribution, left = better, after
    unsolved = float(np.abs(left).sum() / weights.sum())
    distribution = _scaled(distribution)

    def solved(right: Vector) -> tuple[Vector, float]:
        found = _krylov(forward, right, leaving)
        return found, float((weights * found).sum())

    start = np.zeros(states, np.longdouble) if near is None else near.bias
    bias, rest = _refined(generator, cost, distribution, start, solved)
    if max(unsolved, rest) > UNSOLVED and states <= LAST_RESORT:
        return _by_factors(generator, cost)
    return distribution, bias


def _scaled(distribution: Vector) -> Vector:
    """Clip what is negative by rounding, and scale to a sum of 1."""
    positive = np.maximum(distribution, 0.0)
    return np.asarray(positive / positive.sum())


def _refined(
    generator: csr_array,
    cost: Values,
    distribution: Vector,
    start: Values,
    solved: Callable[[Vector], tuple[Vector, float]],
) -> tuple[Values, float]:
    """Refine relative values by a solver of -Q h + g e = right, given again what it leaves; tell what is left."""
    bias, gain = start, np.longdouble(distribution @ cost)
    left = cost - gain + generator @ bias
    goal = PRECISION * float(np.abs(cost).max())
    for _ in range(REFINEMENTS):
        step, change = solved(left.astype(np.float64))
        better, moved = bias + step, gain + change
        after = cost - moved + generator @ better
        if not np.abs(after).max() < np.abs(left).max():
            break
        bias, gain, left = better, moved, after
        if np.abs(left).max() <= goal:
            break
    rest = float(np.abs(left).max()) / max(float(np.abs(cost).max()), 1e-300)
    return np.asarray(bias - distribution @ bias), rest


def _krylov(apply: Callable[[Vector], Vector], right: Vector, leaving: Vector) -> Vector:
    """Approximate the solution of a regular system by BiCGSTAB with a diagonal preconditioner, begun anew if it breaks.

    Sums are numpy's own: those of BLAS wait for threads, and with them a busy machine takes a hundred times as long.
    Numbers are counted in a power of two near the largest: nothing is rounded, and their squares are numbers.
    """
    unit = float(np.ldexp(1.0, np.frexp(np.abs(right).max(initial=0.0))[1]))
    right = right / unit
    solution, left = np.zeros_like(right), right.copy()
    best, least = solution, _size(left)
    goal = TOLERANCE * least
    shadow, rho, alpha, omega = left, 1.0, 1.0, 1.0
    direction, image = np.zeros_like(right), np.zeros_like(right)
    for _ in range(STEPS):
        new = _dot(shadow, left)
        if rho == 0.0 or omega == 0.0 or not abs(new) > 1e-14 * _size(shadow) * _size(left):
            left = right - apply(solution)
            shadow, rho, alpha, omega = left / leaving, 1.0, 1.0, 1.0
            direction, image = np.zeros_like(right), np.zeros_like(right)
            new = _dot(shadow, left)
        direction = left + (new / rho) * (alpha / omega) * (direction - omega * image)
        rho = new
        ahead = direction / leaving
        image = apply(ahead)
        along = _dot(shadow, image)
        alpha = rho / along if along != 0.0 else 0.0
        half = left - alpha * image
        second = half / leaving
        moved = apply(second)
        square = _dot(moved, moved)
        omega = _dot(moved, half) / square if square > 0.0 else 0.0
        solution = solution + alpha * ahead + omega * second
        left = half - omega * moved
        size = _size(left)
        if size < least:
            best, least = solution, size
        if least <= goal or not np.isfinite(size):
            break
    return unit * best


def _dot(first: Vector, second: Vector) -> float:
    """Multiply two vectors, with numpy's own sum."""
    return float((first * second).sum())


def _size(vector: Vector) -> float:
    """Compute the Euclidean norm, with numpy's own sum."""
    return float(np.sqrt((vector * vector).sum()))


def _led_to_the_cheapest(process: DecisionProcess, share: Vector, policy: Actions, closed: list[Actions]) -> Actions:
    """Lead the states outside the cheapest closed set into it, by whatever actions lead there."""
    cost = process.weighted(share)[policy, np.arange(process.states)]
    generator = process.generator(policy)
    gains = []
    for states in closed:
        part = csr_array(generator[states][:, states])
        inside = _by_factors(part, cost[states])[0] if len(states) > 1 else np.ones(1)
        gains.append(float(inside @ cost[states]))
    target = closed[int(np.argmin(gains))]
    result = policy.copy()
    reached = np.zeros(process.states, dtype=bool)
    reached[target] = True
    own = _graph(generator)
    moves = coo_array(_graph(process.rates, process.allowed))
    while True:
        # First by the policy's own moves, as far as they go; then by one step of any action.
        before = _reaching(own, reached)
        if before.all():
            return result
        choice = before[moves.col] & ~before[moves.row % process.states]
        if not choice.any():
            state = int(np.argmin(before))
            raise ValueError(
                f"every state must reach every other under some policy, but state {state} cannot reach state "
                f"{int(target[0])}; leave out states that are left for ever."
            )
        entry = int(np.argmax(choice))
        state = int(moves.row[entry]) % process.states
        result[state] = int(moves.row[entry]) // process.states
        reached = before
        reached[state] = True


def _reaching(graph: csr_array, target: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Find the states from which the target can be reached."""
    states = graph.shape[0]
    moves = coo_array(graph)
    inside = np.flatnonzero(target)
    # One more state stands for the target; from it, arrows are followed backwards.
    rows = np.concatenate([moves.col, np.full(len(inside), states)])
    columns = np.concatenate([moves.row, inside])
    turned = csr_array((np.ones(len(rows)), (rows, columns)), shape=(states + 1, states + 1))
    order = breadth_first_order(turned, states, directed=True, return_predecessors=False)
    found = np.zeros(states, dtype=bool)
    found[order[order < states]] = True
    return found
