r"""Threshold queues whose pages go out of date after a constant time, as the limit of Erlang times of n phases.

Measures are computed for some n and continued to n = infinity. Two roads lead there:

`"own"`
    every page has an Erlang patience of its own: the queue of :mod:`queueing.threshold` as it is. With one page
    waiting at most (K = 2) errors are a series in 1/n. Else it matters when two pages leave in the wrong order, as
    deadlines nearer to one another than :math:`t / \sqrt n` do: errors are a series in
    :math:`n^{-1}, n^{-3/2}, n^{-2}, \ldots`, and with batches, whose pages all have one deadline, already in
    :math:`n^{-1/2}, n^{-1}, \ldots`
`"common"`
    all pages count the ticks of one clock (:mod:`queueing.threshold.deterministic_clock`): each has the same Erlang
    patience, but deadlines keep their order. Errors are a series in 1/n, batches or not, and there are far fewer
    states, so that n = 64 or 128 is no trouble for small K.

Pages that go out of date stay exactly the constant time t, so V2 = t; the total time follows from Little's law,
:math:`\lambda V = E[i]`, and V1 from :math:`V = V_1 P_{success} + t P_{obs}`. With one clock these are used for
every n, so that V1 is that of the limit only in the limit.

With room for one waiting page there is a closed form (used by the tests): the age of that page is a density
:math:`\pi(x) = \pi(0) e^{(D(1) \oplus S) x}` on [0, t). With room for w of them, densities live on w ages and satisfy
integral equations; one clock is what remains exact in all but n.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, SupportsIndex, get_args

import numpy as np

from ..numerics import Vector, positive, whole
from ..processes import PhaseType
from .deterministic_clock import CLOCK_LIMIT, clock_flows, clock_states
from .methods import ELIMINATION, MATRIX_FREE, MATRIX_FREE_LIMIT
from .model import ThresholdModel

if TYPE_CHECKING:
    from .queue import ThresholdMeasures, ThresholdQueue

#: Whose ticks a page counts.
Clock = Literal["common", "own"]
CLOCKS: tuple[str, ...] = get_args(Clock)

# Orders that are tried unless said, as far as they have at most so many states; so many of the largest are taken.
_ORDERS, _STATES, _TAKEN = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128), 250_000, 7


@dataclass(frozen=True)
class DeterministicPatience:
    """Measures of a queue whose pages go out of date after a constant time.

    Attributes
    ----------
    time
        the constant.
    clock
        the road that was taken.
    orders, measures
        numbers of phases n, rising, and the measures with Erlang times of n phases.
    limits
        scalar measures by name, continued to n = infinity; None where there are none.
    errors
        absolute error of each limit: how far it moves when the largest or the smallest n is left out; three times that
        where errors fall in half powers of n.

    Examples
    --------
    >>> from queueing import BMAP, PhaseType, ThresholdQueue, deterministic_patience
    >>> queue = ThresholdQueue((BMAP.poisson(1.0),), PhaseType.exponential(1.0), capacity=2)
    >>> found = deterministic_patience(queue, 1.0, (), orders=(2, 4, 8, 16))
    >>> found.clock, found.orders, round(found.limits["obsolete_time"], 9)
    ('common', (2, 4, 8, 16), 1.0)
    """

    time: float
    clock: Clock
    orders: tuple[int, ...]
    measures: tuple["ThresholdMeasures", ...]
    limits: Mapping[str, float | None] = field(hash=False)
    errors: Mapping[str, float | None] = field(hash=False)


def deterministic_patience(
    queue: "ThresholdQueue",
    time: float,
    thresholds: Sequence[SupportsIndex],
    orders: Sequence[SupportsIndex] | None = None,
    clock: Clock = "common",
) -> DeterministicPatience:
    r"""Compute the measures of a threshold policy where waiting pages go out of date after exactly `time`.

    Parameters
    ----------
    queue
        the queue; its own patience does not count.
    time
        how long a page may wait.
    thresholds
        as in `ThresholdQueue.measures`.
    orders
        two numbers of phases at least; unless said, up to seven that make at most 250000 states.
    clock
        `"common"`: all pages count the ticks of one clock; `"own"`: each has an Erlang patience of its own.

    Returns
    -------
    DeterministicPatience
        measures for Erlang times of n phases, their limits for n = infinity, and errors of these.

    Notes
    -----
    With one clock errors are a series in 1/n, which is continued to n = infinity; with a clock for each page they may
    be a series in half powers of n: see :mod:`queueing.threshold.deterministic`. Pages that go out of date stay exactly
    t, so that :math:`V_2 = t` and, by Little's law, :math:`V_1 = (E[i] / \lambda - t P_{obs}) / P_{success}`.

    Examples
    --------
    >>> from queueing import BMAP, PhaseType, ThresholdQueue, deterministic_patience
    >>> queue = ThresholdQueue((BMAP.poisson(1.0),), PhaseType.exponential(1.0), capacity=2)
    >>> found = deterministic_patience(queue, 1.0, ())
    >>> round(found.limits["obsolescence"], 6), found.errors["obsolescence"] < 1e-6
    (0.139765, True)
    """
    span = positive("time", time)
    if clock not in CLOCKS:
        raise ValueError(f"clock must be one of {', '.join(CLOCKS)}, but it is {clock!r}; name one.")
    modes = queue.mode_by_level(thresholds)
    numbers = _orders(queue, span, orders, clock)
    found = []
    for order in numbers:
        if clock == "own":
            model = _erlang(queue, span, order)
            method = ELIMINATION if ELIMINATION.refusal(model) is None else MATRIX_FREE
            flows, name = method.flows(model, modes), method.name
        else:
            flows, name = clock_flows(queue.model, modes, span, order), "common-clock"
        found.append(queue._measures(flows, modes, name))
    powers = _powers(queue, clock)
    limits: dict[str, float | None] = {}
    errors: dict[str, float | None] = {}
    for name in found[0].scalars():
        values = [measures.scalars()[name] for measures in found]
        known = np.array([value for value in values if value is not None])
        limits[name], errors[name] = _limit(numbers, known, powers) if len(known) == len(values) else (None, None)
    return DeterministicPatience(span, clock, numbers, tuple(found), limits, errors)


def _erlang(queue: "ThresholdQueue", time: float, order: int) -> ThresholdModel:
    """Return the queue with Erlang patience, which no fewer phases can tell."""
    return replace(queue.model, patience=PhaseType.deterministic(time, order))


def _powers(queue: "ThresholdQueue", clock: Clock) -> tuple[float, float]:
    """Return the first power of 1/n in the errors, and the step to the next."""
    if clock == "common" or queue.model.top <= 2:
        return 1.0, 1.0
    return (1.0, 0.5) if queue.model.largest_batch <= 1 else (0.5, 0.5)


def _limit(orders: Sequence[int], values: Vector, powers: tuple[float, float]) -> tuple[float, float]:
    """Return the value at n = infinity and how far it moves when an end of the orders is left out."""
    everything = _continued(orders, values, powers)
    fewer = _continued(orders[:-1], values[:-1], powers), _continued(orders[1:], values[1:], powers)
    # A series in half powers falls slowly: what its last term moved is about what is still missing.
    safety = 1.0 if powers[1] == 1.0 else 3.0
    return everything, safety * max(abs(everything - one) for one in fewer)


def _continued(orders: Sequence[int], values: Vector, powers: tuple[float, float]) -> float:
    """Return the constant term of the sum of as many powers of 1/n as there are values."""
    exponents = [0.0, *(powers[0] + powers[1] * place for place in range(len(orders) - 1))]
    scaled = np.array(orders, dtype=np.float64) / orders[-1]
    return float(np.linalg.solve(scaled[:, np.newaxis] ** -np.array(exponents), values)[0])


def _orders(
    queue: "ThresholdQueue", time: float, given: Sequence[SupportsIndex] | None, clock: Clock
) -> tuple[int, ...]:
    def states(order: int) -> int:
        if clock == "common":
            return clock_states(queue.model, order)
        return _erlang(queue, time, order).states

    if given is None:
        numbers = tuple([order for order in _ORDERS if order <= 2 or states(order) <= _STATES][-_TAKEN:])
    else:
        numbers = tuple(sorted({whole(f"orders[{place}]", order, least=1) for place, order in enumerate(given)}))
    if len(numbers) < 2:
        raise ValueError(f"orders must be two different numbers at least, but they are {numbers!r}; give more.")
    limit = CLOCK_LIMIT if clock == "common" else MATRIX_FREE_LIMIT
    largest = states(numbers[-1])
    if largest > limit:
        raise ValueError(
            f"Constant patience with clock {clock!r} takes at most {limit} states, but {numbers[-1]} phases make "
            f"{largest}; take lower orders or a smaller capacity."
        )
    return numbers
