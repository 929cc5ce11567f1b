r"""Finitely many packets, both ends in sight: the best servers for them by dynamic programming.

A state tells for each server how many slots ago it got its last packet, :math:`x_m \ge 1`. A packet for server a costs
:math:`f_a(x_a)`, after which :math:`x_a = 1` and all others are one more; after T packets every server is charged for
the gap that is cut off there [1]_, so that the whole costs

.. math::  \sum_{t=1}^{T} f_{a_t}(x_{a_t}(t)) + \sum_m f_m(x_m(T + 1)).                       \tag{1}

The states that can be reached after t packets are those in which the servers used so far had their last ones in
different slots, one of them in slot t: :math:`\sum_k \binom{M}{k} k (t-1)(t-2)\dots(t-k+1)`. Two servers get their
packets in runs, L for one and then some for the other, and the cost is a sum over runs, :math:`(L - 1) f_m(1) +
f_o(L + 1)` but for the first: a shortest path through T nodes, found in memory of the order of T.

References
----------
.. [1] E. Altman, S. Bhulai, B. Gaujal, A. Hordijk, "Open-loop routeing to M parallel servers with no buffers",
   *Journal of Applied Probability* 37 (2000), 668-684.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from .. import interrupting
from ..oracle import BudgetSpent, Oracle
from ..protocols import Matrix, Problem, Vector, Whole
from ..result import Result
from ..running import word_of
from .problem import GapTable, refuses_prices

#: States, over all slots, that are looked at for three servers and more (some 10 bytes each).
MOST_STATES = 10_000_000

#: Runs tried between two looks at the clock.
SLICE = 20_000_000


@runtime_checkable
class HorizonProblem(Problem, Protocol):
    """A problem whose decisions are server numbers, one for each of `horizon` packets; its objective is formula (1).

    ``initial`` has the slots since each server's last packet, at the first one: whole numbers, 1 or more, or infinity
    where there never was one. ``gap_table(count)`` has the costs of gaps up to `count`.
    """

    @property
    def server_count(self) -> int: ...
    @property
    def horizon(self) -> int: ...
    @property
    def initial(self) -> Sequence[float]: ...
    def gap_table(self, count: int) -> GapTable: ...


@dataclass(frozen=True, eq=False)
class HorizonCosts:
    """What formula (1) is made of.

    Attributes
    ----------
    later
        Costs of gaps of 1, 2, ..., T slots between packets, or at the end, a row for each server.
    first
        Costs of first gaps that end after 0, 1, ..., T packets, the last where a server gets none.

    Examples
    --------
    >>> HorizonCosts(later=np.array([[1.0, 4.0]] * 2), first=np.array([[1.0, 4.0, 9.0]] * 2)).total([0, 1])
    10.0
    """

    later: Matrix
    first: Matrix

    @property
    def horizon(self) -> int:
        """Number of packets."""
        return int(self.later.shape[1])

    def total(self, actions: ArrayLike) -> float:
        """Compute what the packets cost together."""
        return float(horizon_total(self.later, self.first, np.ascontiguousarray(actions, dtype=np.int64)))


def horizon_costs(problem: HorizonProblem) -> HorizonCosts:
    """Tabulate the costs of all gaps that may occur.

    Parameters
    ----------
    problem
        With a finite horizon.

    Returns
    -------
    HorizonCosts
        Costs of first gaps, which depend on the initial state, and of all others.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> def squares(count):
    ...     return GapTable(np.array([np.arange(1.0, count + 1) ** 2] * 2), np.full(2, np.inf), np.full(2, np.nan))
    >>> horizon_costs(SimpleNamespace(horizon=2, initial=(1, 3), gap_table=squares)).first.tolist()
    [[1.0, 4.0, 9.0], [9.0, 16.0, 25.0]]
    """
    horizon = problem.horizon
    ages = [float(age) for age in problem.initial]
    finite = [int(age) for age in ages if math.isfinite(age)]
    table = problem.gap_table(horizon + max(finite, default=1))
    return costs_from(table, horizon, ages)


def costs_from(table: GapTable, horizon: int, initial: Sequence[float]) -> HorizonCosts:
    """Take the costs of all gaps from a table that is long enough."""
    first = np.empty((table.servers, horizon + 1))
    for m, age in enumerate(initial):
        if math.isfinite(age):
            first[m] = table.costs[m, int(age) - 1 : int(age) + horizon]
        else:  # a gap without end: its slope, for ever, and its limit
            first[m] = table.limits[m] if table.slopes[m] == 0 else math.inf
    return HorizonCosts(np.ascontiguousarray(table.costs[:, :horizon]), first)


@njit(cache=True)
def horizon_total(later: Matrix, first: Matrix, actions: Whole) -> float:
    r"""Compute what packets cost together, for kernels: formula (1) of the module.

    Parameters
    ----------
    later
        Costs of gaps of 1, 2, ..., T slots, a row for each server.
    first
        Costs of first gaps that end after 0, 1, ..., T packets.
    actions
        The server of each of T packets.

    Returns
    -------
    float
        :math:`\sum_t f_{a_t}(x_{a_t}(t)) + \sum_m f_m(x_m(T + 1))`.

    References
    ----------
    E. Altman, S. Bhulai, B. Gaujal, A. Hordijk, "Open-loop routeing to M parallel servers with no buffers", *Journal of
    Applied Probability* 37 (2000), 668-684, eq. (1).

    Examples
    --------
    >>> horizon_total(np.array([[1.0, 4.0]] * 2), np.array([[1.0, 4.0, 9.0]] * 2), np.array([0, 1]))
    10.0
    """
    servers, horizon = later.shape
    last = np.full(servers, -1)
    total = 0.0
    for slot in range(horizon):
        m = actions[slot]
        total += first[m, slot] if last[m] < 0 else later[m, slot - last[m] - 1]
        last[m] = slot
    for m in range(servers):
        total += first[m, horizon] if last[m] < 0 else later[m, horizon - last[m] - 1]
    return total


def states(servers: int, horizon: int, enough: float = math.inf) -> int:
    """Count the states that can be reached, over all slots, until there are enough."""
    total = 1
    for slot in range(1, horizon + 1):
        ways = 1
        for used in range(1, servers + 1):
            total += math.comb(servers, used) * used * ways
            ways *= slot - used
            if ways == 0:
                break
        if total > enough:
            break
    return total


def by_runs(costs: HorizonCosts) -> tuple[Whole, float]:
    """Find the servers, if there are two, by a shortest path over the slots at which the server changes."""
    horizon = costs.horizon
    values, runs = np.zeros((2, horizon + 1)), np.zeros((2, horizon + 1), dtype=np.int64)
    values[0, horizon], values[1, horizon] = costs.later[1, 0], costs.later[0, 0]  # the run before was of the other
    slot = horizon
    while slot > 0:
        interrupting.check()
        until = max(0, slot - max(1, SLICE // (2 * horizon)))
        _follow_runs(costs.later, values, runs, until, slot)
        slot = until
    server, length, total = _first_run(costs.later, costs.first, values)
    actions = np.empty(horizon, dtype=np.int64)
    slot = 0
    while slot < horizon:
        actions[slot : slot + length] = server
        slot += length
        server = 1 - server
        length = runs[server, slot]
    return actions, float(total)


@njit(cache=True)
def _follow_runs(later: Matrix, values: Matrix, runs: Whole, until: int, slot: int) -> None:
    """Compute the least cost of what is left when a run begins, for slots from `slot` - 1 down to `until`."""
    horizon = later.shape[1]
    for begin in range(slot - 1, max(until, 1) - 1, -1):
        for m in range(2):
            least, best = np.inf, 1
            for length in range(1, horizon - begin + 1):
                cost = (length - 1) * later[m, 0] + later[1 - m, length] + values[1 - m, begin + length]
                if cost < least:
                    least, best = cost, length
            values[m, begin], runs[m, begin] = least, best


@njit(cache=True)
def _first_run(later: Matrix, first: Matrix, values: Matrix) -> tuple[int, int, float]:
    """Find the server and the length of the first run, and the least cost of all packets."""
    horizon = later.shape[1]
    least, server, best = np.inf, 0, 1
    for m in range(2):
        for length in range(1, horizon + 1):
            cost = first[m, 0] + (length - 1) * later[m, 0] + first[1 - m, length] + values[1 - m, length]
            if cost < least:
                least, server, best = cost, m, length
    return server, best, least


def by_states(costs: HorizonCosts) -> tuple[Whole, float]:
    """Find any number of servers by all states, layer by layer, numbered by their gaps (0: no packet yet)."""
    servers, horizon = costs.later.shape
    radix = horizon + 1
    weights = np.array([radix**m for m in range(servers)], dtype=np.int64)
    layers = [np.zeros(1, dtype=np.int64)]
    for _ in range(horizon):
        interrupting.check()
        layers.append(np.unique(np.concatenate(_successors(layers[-1], weights, radix))))
    values = np.zeros(len(layers[-1]))
    for m in range(servers):
        values += _charged(costs, m, _digits(layers[-1], weights[m], radix), horizon)
    choices: list[NDArray[np.int8]] = []
    for slot in range(horizon - 1, -1, -1):
        interrupting.check()
        codes = layers[slot]
        least, choice = np.full(len(codes), np.inf), np.zeros(len(codes), dtype=np.int8)
        for m, after in enumerate(_successors(codes, weights, radix)):
            cost = _charged(costs, m, _digits(codes, weights[m], radix), slot)
            cost = cost + values[np.searchsorted(layers[slot + 1], after)]
            better = cost < least
            least[better], choice[better] = cost[better], m
        values = least
        choices.append(choice)
    return _followed(layers, choices[::-1], weights, radix), float(values[0])


def _digits(codes: Whole, weight: int, radix: int) -> Whole:
    """Read the gap of one server off the numbers of states."""
    return codes // weight % radix


def _successors(codes: Whole, weights: Whole, radix: int) -> list[Whole]:
    """Find the states after a packet for each server: servers used before are one slot older, this one has gap 1."""
    gaps = [_digits(codes, weight, radix) for weight in weights]
    older = codes.copy()
    for gap, weight in zip(gaps, weights, strict=True):
        older += (gap > 0) * weight
    return [older + (1 - gap - (gap > 0)) * weight for gap, weight in zip(gaps, weights, strict=True)]


def _charged(costs: HorizonCosts, server: int, gaps: Whole, slot: int) -> Vector:
    """Look up what a packet in this slot costs, or the end after that many."""
    charged: Vector = np.where(gaps > 0, costs.later[server, np.maximum(gaps, 1) - 1], costs.first[server, slot])
    return charged


def _followed(layers: list[Whole], choices: list[NDArray[np.int8]], weights: Whole, radix: int) -> Whole:
    """Follow the choices from the first state."""
    actions = np.empty(len(choices), dtype=np.int64)
    code = layers[0]
    for slot, choice in enumerate(choices):
        actions[slot] = choice[np.searchsorted(layers[slot], code[0])]
        code = _successors(code, weights, radix)[actions[slot]]
    return actions


@dataclass(frozen=True)
class BackwardInduction:
    """Find the optimum over a finite horizon by dynamic programming, from the last packet to the first.

    Two servers are solved run by run in time of the order of the horizon squared; more servers by all states, up to
    ten million of them.

    References
    ----------
    E. Altman, S. Bhulai, B. Gaujal, A. Hordijk, "Open-loop routeing to M parallel servers with no buffers", *Journal of
    Applied Probability* 37 (2000), 668-684, eq. (1).

    Examples
    --------
    >>> costs = HorizonCosts(later=np.array([[1.0, 4.0]] * 2), first=np.array([[1.0, 4.0, 9.0], [4.0, 9.0, 16.0]]))
    >>> actions, least = by_runs(costs)
    >>> actions.tolist(), least
    ([1, 0], 13.0)
    """

    name: ClassVar[str] = "backward-induction"
    needs: ClassVar[type] = HorizonProblem
    deterministic: ClassVar[bool] = True
    takes_limits: ClassVar[bool] = False
    linear_cost_only: ClassVar[bool] = True

    def refuses(self, problem: HorizonProblem) -> str | None:
        """Refuse other prices than those of gaps, and more states than fit."""
        servers, horizon = problem.server_count, problem.horizon
        sentence = refuses_prices(self.name, problem)
        if sentence is not None or servers == 2:
            return sentence
        if states(servers, horizon, MOST_STATES) > MOST_STATES or (horizon + 1) ** servers >= 2**62:
            return (
                f"strategy {self.name!r} handles up to {MOST_STATES} states, and {problem.name!r} with {servers} "
                f"servers and {horizon} packets has more."
            )
        return None

    def solve(self, oracle: Oracle[HorizonProblem], rng: np.random.Generator) -> Result:
        """Find the best servers; when time is over, take them in turns."""
        problem = oracle.problem
        turns = tuple(slot % problem.server_count for slot in range(problem.horizon))
        try:
            oracle.require()
            with oracle.in_time():
                actions, cost = (by_runs if problem.server_count == 2 else by_states)(horizon_costs(problem))
        except (BudgetSpent, KeyboardInterrupt) as ended:
            return oracle.result(turns, stopped_by=word_of(ended))
        decision = tuple(actions.tolist())
        oracle.charge(1)
        return oracle.result(decision, claimed=cost, proved=True)
