r"""Markov decision processes with an average cost, and policy iteration with a certificate.

In state s the action a leads to state z at the rate :math:`q_a(s, z)` and costs :math:`c_a(s)` per unit of time (a
process in discrete time has :math:`Q = P - I`). For *any* vector h the number

.. math::  \min_{s, a} \, \bigl[ c_a(s) + (Q_a h)(s) \bigr]

is no more than the average cost of any policy, stationary or not, randomised or not, from any start: over a long time
the sum of :math:`Q_a h` along the way is the bounded change of h. With h the relative values of an optimal policy the
bound is attained, so a policy and its h prove each other; how h was found does not matter.

Several costs are carried side by side as columns, of which policies minimise a weighted sum (see
:mod:`heuristics.fractional_process`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csc_array, csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.sparse.linalg import LinearOperator, bicgstab, gmres, splu

Vector = NDArray[np.float64]
Actions = NDArray[np.int64]

#: Operations above which a factorisation gives way to an iteration: states times the square of the bandwidth.
LARGEST_FACTORISATION = 2e9

#: An action replaces another if it is better by this much of the numbers that are compared.
IMPROVEMENT = 1e-13

#: Residual at which iterations end, relative.
TOLERANCE = 1e-14

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
        """Generator under one action for each state."""
        return csr_array(self.rates[policy * self.states + np.arange(self.states)])

    def costs_of(self, policy: Actions) -> NDArray[np.float64]:
        """By column and state, costs under one action for each state."""
        return np.asarray(self.costs[:, policy, np.arange(self.states)])

    def prospects(self, weights: ArrayLike, bias: Vector) -> NDArray[np.float64]:
        """Costs and change of relative values, c + Q h, by action and state; infinite if not allowed."""
        found = np.tensordot(np.asarray(weights, dtype=np.float64), self.costs, axes=1)
        found = found + (self.rates @ bias).reshape(self.actions, self.states)
        return found if self.allowed is None else np.where(self.allowed, found, np.inf)


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
    bias: Vector
    bound: float


def policy_iteration(
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
    policy = first_policy(process) if start is None else np.array(start, dtype=np.int64)
    best: EvaluatedPolicy | None = None
    bound = -np.inf
    for _ in range(steps):
        if watch is not None:
            watch(best)
        found = evaluate_policy(process, share, policy, near=best)
        bound = max(bound, found.bound)
        better = best is None or found.gain < best.gain
        if better:
            best = found
        assert best is not None
        improved = _improved(process, share, found)
        # Gains fall from step to step; where they no longer do, only rounding is left to improve.
        if (improved == found.policy).all() or not better:
            break
        policy = improved
    assert best is not None
    return EvaluatedPolicy(best.policy, best.distribution, best.gains, best.gain, best.bias, bound)


def evaluate_policy(
    process: DecisionProcess, weights: ArrayLike, policy: Actions, *, near: EvaluatedPolicy | None = None
) -> EvaluatedPolicy:
    """Average costs, relative values and bound of a policy; one with several closed sets is first led to the cheapest.

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
    if process.states * float(process.bandwidth) ** 2 <= LARGEST_FACTORISATION:
        distribution, bias = _by_factors(generator, share @ columns)
    else:
        distribution, bias = _by_iteration(generator, share @ columns, near)
    gains = columns @ distribution
    prospects = process.prospects(share, bias)
    return EvaluatedPolicy(
        policy=policy,
        distribution=distribution,
        gains=gains,
        gain=float(share @ gains),
        bias=bias,
        bound=float((prospects - _rounding(process, share, bias)).min()),
    )


def first_policy(process: DecisionProcess) -> Actions:
    """The first allowed action in every state."""
    if process.allowed is None:
        return np.zeros(process.states, dtype=np.int64)
    return np.asarray(process.allowed.argmax(axis=0), dtype=np.int64)


def closed_sets(generator: csr_array) -> list[Actions]:
    """Sets of states that reach one another and nothing else."""
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


def _graph(rows: csr_array) -> csr_array:
    """Moves that have a rate."""
    moves = coo_array(rows)
    real = (moves.data > 0) & (moves.row != moves.col)
    return csr_array((np.ones(int(real.sum())), (moves.row[real], moves.col[real])), shape=rows.shape)


def _improved(process: DecisionProcess, share: Vector, found: EvaluatedPolicy) -> Actions:
    """In each state the best action against the relative values; the present one unless another is truly better."""
    prospects = process.prospects(share, found.bias)
    states = np.arange(process.states)
    present = prospects[found.policy, states]
    best = prospects.argmin(axis=0)
    sizes: csr_array = abs(process.generator(found.policy))
    scale = np.abs(share) @ np.abs(process.costs_of(found.policy)) + sizes @ np.abs(found.bias)
    return np.where(prospects[best, states] < present - IMPROVEMENT * scale, best, found.policy)


def _rounding(process: DecisionProcess, share: Vector, bias: Vector) -> NDArray[np.float64]:
    """By action and state, how far c + Q h may be off as it was computed."""
    terms = np.diff(process.rates.indptr).max(initial=0) + process.costs.shape[0] + 2
    size = np.tensordot(np.abs(share), np.abs(process.costs), axes=1)
    size = size + (abs(process.rates) @ np.abs(bias)).reshape(process.actions, process.states)
    return np.asarray(float(terms) * float(np.finfo(np.float64).eps) * size)


def _by_factors(generator: csr_array, cost: Vector) -> tuple[Vector, Vector]:
    """Distribution and relative values by one factorisation of -Q bordered by the gain and by h(reference) = 0."""
    states = len(cost)
    moves = coo_array(generator)
    edge = np.arange(states)
    rows = np.concatenate([moves.row, edge, [states]])
    columns = np.concatenate([moves.col, np.full(states, states), [0]])
    values = np.concatenate([-moves.data, np.ones(states), [1.0]])
    factors: Any = splu(csc_array((values, (rows, columns)), shape=(states + 1, states + 1)))
    distribution = factors.solve(np.append(np.zeros(states), 1.0), trans="T")[:states]
    distribution = np.maximum(distribution, 0.0)
    distribution = distribution / distribution.sum()
    bias, gain = np.zeros(states), 0.0
    for _ in range(3):  # what is left is solved again: the values are known to all digits
        left = cost - gain + generator @ bias
        step = factors.solve(np.append(left, 0.0))
        bias, gain = bias + step[:states], gain + step[states]
    return np.asarray(distribution), np.asarray(bias - distribution @ bias)


def _by_iteration(generator: csr_array, cost: Vector, near: EvaluatedPolicy | None) -> tuple[Vector, Vector]:
    r"""The same by Krylov's way: :math:`(e w^T - Q) h = c` and its transpose :math:`p (e w^T - Q) = w`."""
    states = len(cost)
    leaving = np.maximum(-generator.diagonal(), np.finfo(np.float64).tiny)
    weights = np.full(states, float(leaving.mean()) / states)
    turned = csr_array(generator.T)
    forward = LinearOperator(
        generator.shape, matvec=lambda h: np.full(states, weights @ h) - generator @ h, dtype=np.float64
    )
    backward = LinearOperator(generator.shape, matvec=lambda p: weights * p.sum() - turned @ p, dtype=np.float64)
    first = np.full(states, 1.0 / states) if near is None else near.distribution
    distribution = np.maximum(_krylov(backward, weights, first, leaving), 0.0)
    distribution = distribution / distribution.sum()
    # Of relative values only differences count: the gain is taken out of the costs, so that h stays small.
    about = np.zeros(states) if near is None else near.bias
    bias = _krylov(forward, cost - distribution @ cost, about, leaving)
    return np.asarray(distribution), np.asarray(bias - distribution @ bias)


def _krylov(matrix: LinearOperator, right: Vector, start: Vector, leaving: Vector) -> Vector:
    scaling = LinearOperator(matrix.shape, matvec=lambda x: x / leaving, dtype=np.float64)
    best, least = start, float(np.linalg.norm(right - matrix @ start))
    goal = TOLERANCE * float(np.linalg.norm(right))
    for attempt in range(4):
        if least <= goal:
            break
        if attempt < 3:
            found, _ = bicgstab(matrix, right, x0=best, rtol=TOLERANCE, atol=0.0, M=scaling, maxiter=1000)
        else:
            found, _ = gmres(matrix, right, x0=best, rtol=TOLERANCE, atol=0.0, M=scaling, maxiter=20, restart=60)
        left = float(np.linalg.norm(right - matrix @ found))
        if left < least:
            best, least = found, left
    return np.asarray(best)


def _led_to_the_cheapest(process: DecisionProcess, share: Vector, policy: Actions, closed: list[Actions]) -> Actions:
    """The policy with states outside the cheapest closed set led into it by whatever actions lead there."""
    cost = share @ process.costs_of(policy)
    generator = process.generator(policy)
    gains = []
    for states in closed:
        part = csr_array(generator[states][:, states])
        gains.append(float(_by_factors(part, cost[states])[0] @ cost[states]) if len(states) > 1 else cost[states[0]])
    target = closed[int(np.argmin(gains))]
    result = policy.copy()
    reached = np.zeros(process.states, dtype=bool)
    reached[target] = True
    own = _graph(generator)
    moves = coo_array(_graph_of_all(process))
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


def _graph_of_all(process: DecisionProcess) -> csr_array:
    """Moves of all allowed actions."""
    moves = coo_array(process.rates)
    real = (moves.data > 0) & (moves.row % process.states != moves.col)
    if process.allowed is not None:
        real &= process.allowed.ravel()[moves.row]
    return csr_array((np.ones(int(real.sum())), (moves.row[real], moves.col[real])), shape=process.rates.shape)


def _reaching(graph: csr_array, target: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """States from which the target can be reached."""
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
