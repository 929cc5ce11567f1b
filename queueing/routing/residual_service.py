r"""A service that runs while packets arrive: what is left of it after 1, 2, 3, ... slots, for phases of any kind.

A slot is the time between two arrivals. Seen at arrivals only, a service and the source of arrivals are a Markov chain
whose states tell the phase of the source and that of the service, or that the service has ended. With :math:`x_n` the
chances that it still runs after n slots, by state, and :math:`y_n` that it has ended,

.. math::
    x_{n+1} = x_n H, \qquad y_{n+1} = x_n K + y_n P, \qquad
    P(S \ge T_n) = x_n e, \quad E(S - T_n)^+ = x_n v, \quad E(T_n - S)^+ = \sum_{k<n} (x_k c + y_k u),

v the mean rest of a service, c and u the mean time in a slot for which no service runs. For a source of arrivals with
rates C of moves without and D of moves with an arrival (Kronecker products over source and service :math:`\Gamma`),

.. math::
    H = Z (D \otimes I), \quad K = Z (I \otimes \Gamma_0) P, \quad c = Z (I \otimes \Gamma_0) u, \qquad
    Z = -(C \oplus \Gamma)^{-1}, \quad P = -C^{-1} D, \quad u = -C^{-1} e.

For slots of a given length t these are :math:`e^{\Gamma t}` and its integrals. All is made of sums of non-negative
numbers, so small chances and times have as many digits as large ones.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..numerics import Matrix, Vector, solve_in_place, transient_factors
from ..processes import PhaseType

Flows = NDArray[np.float64]


class Lives(NamedTuple):
    """What became of a service S at the n-th arrival after its beginning, for n = 1, 2, ..., count.

    Attributes
    ----------
    alive
        P(S >= T_n).
    beyond
        E(S - T_n)^+: for how long it will still run.
    stale
        E(T_n - S)^+: for how long nothing has been running.
    """

    alive: Vector
    beyond: Vector
    stale: Vector


class SlotChain(NamedTuple):
    """The chain of the module's formulas: x_0, H, K, P, c, u, v."""

    start: Vector
    running: Matrix
    ending: Matrix
    idle: Matrix
    idle_from_running: Vector
    idle_from_idle: Vector
    rest: Vector

    def lives(self, count: int) -> Lives:
        """Follow the chain for so many slots."""
        return Lives(*_follow(*self, count))


def mean_rests(service: PhaseType) -> Vector:
    """Return the mean time to the end from each phase, (-Gamma)^-1 e."""
    factors, totals = transient_factors(service.generator, service.exit_rates)
    column = np.ones((service.order, 1))
    solve_in_place(factors, totals, column)
    return column[:, 0]


def markov_chain(quiet: Matrix, arrival: Matrix, start: Vector, service: PhaseType) -> SlotChain:
    """Make the chain of a service and a Markovian source: C, D, and the law of its phase after an arrival."""
    running, ended, passed, spent = _slot(quiet, arrival, service)
    return SlotChain(
        np.outer(start, service.initial).ravel(),
        running,
        ended @ passed,
        passed,
        ended @ spent,
        spent,
        np.tile(mean_rests(service), len(quiet)),
    )


def renewal_chain(initial: Vector, quiet: Matrix, exits: Vector, service: PhaseType) -> SlotChain:
    """Make the chain of a service alone, where slots are independent times with phases: gamma, Gamma, Gamma_0."""
    running, ended, _, spent = _slot(quiet, exits[:, None], service)
    begun = np.kron(initial[None, :], np.eye(service.order))  # (service phase) x (source, service phase)
    ends = begun @ ended
    return SlotChain(
        service.initial,
        begun @ running,
        ends.sum(axis=1, keepdims=True),
        np.ones((1, 1)),
        ends @ spent,
        np.array([initial @ spent]),
        mean_rests(service),
    )


def _slot(quiet: Matrix, arrival: Matrix, service: PhaseType) -> tuple[Matrix, Matrix, Matrix, Vector]:
    """Return Z (D x I), Z (I x Gamma_0), P and u; D may have fewer columns than rows."""
    phases, order = len(quiet), service.order
    joint = np.kron(_off_diagonal(quiet), np.eye(order)) + np.kron(np.eye(phases), _off_diagonal(service.generator))
    arrivals = arrival.sum(axis=1)
    exits = (arrivals[:, None] + service.exit_rates).ravel()
    factors, totals = transient_factors(joint, exits)
    found = np.hstack([np.kron(arrival, np.eye(order)), np.kron(np.eye(phases), service.exit_rates[:, None])])
    solve_in_place(factors, totals, found)
    split = arrival.shape[1] * order
    factors, totals = transient_factors(quiet, arrivals)
    right = np.hstack([arrival, np.ones((phases, 1))])
    solve_in_place(factors, totals, right)
    return found[:, :split].copy(), found[:, split:].copy(), right[:, :-1].copy(), right[:, -1].copy()


def _off_diagonal(rates: Matrix) -> Matrix:
    found = np.array(rates)
    np.fill_diagonal(found, 0.0)
    return found


def flows(service: PhaseType, times: Vector) -> tuple[Flows, Matrix, Matrix]:
    r"""Return, for such slots, :math:`e^{\Gamma t}`, the chances of ending, and the mean time after the end.

    One exponential tells all: of the chain with its end as one more state and the time spent there as another,
    :math:`e^{Mt} = e^{-qt} e^{(M + qI)t}` with q the fastest rate, in which no number is negative.
    """
    size, fastest = service.order, float(-np.diagonal(service.generator).min())
    longest = fastest * float(times.max())
    if longest > 1e15:
        raise ValueError(
            f"time between arrivals x fastest rate of a service must be at most 1e15, but it is {longest!r}; "
            "give rates and times that are nearer to one another."
        )
    halvings = max(0, math.ceil(math.log2(longest))) if longest > 1 else 0
    rates = np.zeros((size + 2, size + 2))
    rates[:size, :size] = service.generator / fastest
    rates[:size, size] = service.exit_rates / fastest
    rates[size, size + 1] = 1.0
    rates += np.eye(size + 2)
    steps = (fastest * times / 2**halvings)[:, None, None]
    term = np.broadcast_to(np.eye(size + 2), (len(times), size + 2, size + 2))
    total = term.copy()
    for count in range(1, 26):  # the norm is 2 at most: 2**25 / 25! is below the last digit
        term = term @ rates * (steps / count)
        total += term
    total *= np.exp(-steps)
    for halving in range(halvings + 1):
        if halving:
            total = total @ total
        # What is known exactly is set, so that rounding does not double each time: chances sum to 1, an end is for
        # good, and time then passes by itself.
        total[:, :size, : size + 1] /= total[:, :size, : size + 1].sum(axis=2, keepdims=True)
        total[:, size, size] = total[:, size + 1, size + 1] = 1.0
        total[:, size, size + 1] = steps[:, 0, 0] * 2**halving
    return total[:, :size, :size].copy(), total[:, :size, size].copy(), total[:, :size, size + 1] / fastest


def chain_of_times(times: Vector, chances: Vector, service: PhaseType) -> SlotChain:
    """Make the chain of a service alone, where slots independently have one of these lengths."""
    moves, ended, idle = flows(service, times)
    return SlotChain(
        service.initial,
        np.tensordot(chances, moves, 1),
        (chances @ ended)[:, None],
        np.ones((1, 1)),
        chances @ idle,
        np.array([chances @ times]),
        mean_rests(service),
    )


@njit(cache=True)
def _follow(
    start: Vector, running: Matrix, ending: Matrix, idle: Matrix, rest_c: Vector, rest_u: Vector, v: Vector, count: int
) -> tuple[Vector, Vector, Vector]:
    states, phases = ending.shape
    x, y = start.copy(), np.zeros(phases)
    new_x, new_y = np.zeros(states), np.zeros(phases)
    alive, beyond, stale = np.zeros(count), np.zeros(count), np.zeros(count)
    total = 0.0
    for slot in range(count):
        new_x[:] = 0.0
        new_y[:] = 0.0
        for state in range(states):
            here = x[state]
            if here > 0.0:
                total += here * rest_c[state]
                for other in range(states):
                    new_x[other] += here * running[state, other]
                for phase in range(phases):
                    new_y[phase] += here * ending[state, phase]
        for phase in range(phases):
            here = y[phase]
            if here > 0.0:
                total += here * rest_u[phase]
                for other in range(phases):
                    new_y[other] += here * idle[phase, other]
        x[:] = new_x
        y[:] = new_y
        for state in range(states):
            alive[slot] += x[state]
            beyond[slot] += x[state] * v[state]
        stale[slot] = total
    return alive, beyond, stale
