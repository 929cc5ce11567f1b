r"""A server whose clients think for different times: the finite-source queue with classes, exactly.

Equal exponential service, first come first served, and any think times make a product-form network (BCMP). Let i run
over the other clients a request may meet, :math:`a_i = \lambda m_i`. It meets j of them at the server with probability
proportional to

.. math::  p_j = \frac{j!}{\prod_{i \le j} \min(i, s)}\, e_j, \qquad
           \sum_j e_j z^j = \prod_i \left(1 + \frac{z}{a_i}\right),

so one more client is one pass over the vector p,

.. math::  p_j \leftarrow p_j + \frac{j}{a \min(j, s)}\, p_{j-1},

sums of positive terms, R passes for R clients, whatever the number of classes. By the arrival theorem a client of
class c meets the network with itself left out; taking a factor *out* of p would subtract, so p is built up to one
client short of each class, and the missing clients of the other classes are put in for each class in turn.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from ..numerics import Vector, comparable, not_negative, positive, whole
from .finite_source import LONGEST_WORK, checked_requests, delay_tails
from .tokens import measures_of_tokens

#: Most clients at one server; the work grows with their square, and takes about half a second here.
CLIENT_LIMIT = 20_000

_Counts = NDArray[np.int64]

# Weights are kept between _MIDDLE and 1 / _MIDDLE, powers of two so that scaling is exact.
_SCALE = 2.0**512
_MIDDLE = 2.0**-256

# A client who thinks this many service times is never met, and one who thinks 1 / this always: no digit shows more.
_EXTREME = 1e25


@dataclass(frozen=True)
class MixedSourceMeasures:
    """What each class of clients gets; entries of a class without clients are nan.

    Attributes
    ----------
    throughput
        answers per unit of time to one client of the class.
    mean_delay
        mean time at the server, service included.
    delay_probability
        P(delay > given delay); None where no delay was given.
    utilisation
        mean fraction of busy processors.

    See Also
    --------
    MixedSourceQueue.measures : computes them.

    Examples
    --------
    >>> from queueing import MixedSourceQueue
    >>> found = MixedSourceQueue(10.0, (1.0, 2.0)).measures((5, 3))
    >>> [round(value, 4) for value in found.throughput]
    [0.8492, 0.4572]
    >>> print(found.delay_probability)
    None
    """

    throughput: tuple[float, ...]
    mean_delay: tuple[float, ...]
    delay_probability: tuple[float, ...] | None
    utilisation: float


class MixedSourceTable(NamedTuple):
    """Measures of many populations, as `MixedSourceQueue.measures_many` computes them.

    Attributes
    ----------
    throughput, mean_delay
        arrays of shape (populations, classes): as in `MixedSourceMeasures`, nan for a class without clients.
    delay_probability
        an array of that shape, or None where no delay was given.
    utilisation
        an array of shape (populations,).

    Examples
    --------
    >>> from queueing import MixedSourceQueue
    >>> table = MixedSourceQueue(10.0, (1.0, 2.0)).measures_many([[5, 3], [8, 0]])
    >>> table.throughput.round(4)
    array([[0.8492, 0.4572],
           [0.8271,    nan]])
    >>> table.utilisation.round(4)
    array([0.5618, 0.6617])
    """

    throughput: Vector
    mean_delay: Vector
    delay_probability: Vector | None
    utilisation: Vector


@dataclass(frozen=True)
class MixedSourceQueue:
    r"""A server and classes of clients that differ in their think time, evaluated exactly.

    Parameters
    ----------
    service_rate
        lambda: requests one busy processor serves per unit of time.
    think_times
        mean think time of each class.
    processors
        s: number of equal processors fed by one queue.
    requests, request_share
        Requests that each client may have under way, and the share of the think time that an answer spends at the first
        of two stations of its client (0: there is one), see :mod:`queueing.placement.tokens`.

    Notes
    -----
    Equal exponential service, first come first served, makes a product-form network. With :math:`a_i = \lambda m_i` of
    the *other* clients i, a request meets j of them at the server with probability proportional to

    .. math::  p_j = \frac{j!}{\prod_{i \le j} \min(i, s)}\, e_j, \qquad
               \sum_j e_j z^j = \prod_i \left(1 + \frac{z}{a_i}\right).

    One more client is one pass over p, whatever the number of classes. At most `CLIENT_LIMIT` clients in all.

    References
    ----------
    .. [1] F. Baskett, K. M. Chandy, R. R. Muntz, F. G. Palacios, "Open, closed, and mixed networks of queues with
       different classes of customers", *Journal of the ACM* (1975).

    Examples
    --------
    >>> from queueing import MixedSourceQueue
    >>> server = MixedSourceQueue(service_rate=10.0, think_times=(1.0, 2.0))
    >>> found = server.measures((8, 4), delay=0.5)
    >>> [round(value, 4) for value in found.throughput]
    [0.7779, 0.4341]
    >>> [round(value, 4) for value in found.delay_probability]
    [0.1687, 0.1901]
    """

    service_rate: float
    think_times: tuple[float, ...]
    processors: int = 1
    requests: int = 1
    request_share: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "service_rate", positive("service_rate", self.service_rate))
        object.__setattr__(self, "think_times", tuple(positive("think_times", time) for time in self.think_times))
        object.__setattr__(self, "processors", whole("processors", self.processors, least=1))
        requests, share = checked_requests(self.requests, self.request_share)
        object.__setattr__(self, "requests", requests)
        object.__setattr__(self, "request_share", share)
        if not self.think_times:
            raise ValueError("think_times must name at least one class, but it is empty; give one time for each class.")
        for time in self.think_times:
            comparable(self.service_rate, time)

    def measures(self, populations: Sequence[int], delay: float | None = None) -> MixedSourceMeasures:
        """Evaluate the queue with populations[c] clients of class c.

        Parameters
        ----------
        populations
            clients of each class, in the order of `think_times`; some may be 0.
        delay
            delta of the delay probability, or None to leave it out.

        Returns
        -------
        MixedSourceMeasures
            what each class gets.
        """
        counts = [whole("populations", count, least=0) for count in populations]
        if len(counts) != len(self.think_times):
            raise ValueError(
                f"populations must hold one count for each of the {len(self.think_times)} think times, but "
                f"{len(counts)} came; give as many counts as classes."
            )
        table = self._solve(np.array([counts], dtype=np.int64), sum(counts), delay)
        late = table.delay_probability
        return MixedSourceMeasures(
            throughput=tuple(table.throughput[0].tolist()),
            mean_delay=tuple(table.mean_delay[0].tolist()),
            delay_probability=None if late is None else tuple(late[0].tolist()),
            utilisation=float(table.utilisation[0]),
        )

    def measures_many(self, populations: ArrayLike, delay: float | None = None) -> MixedSourceTable:
        """Evaluate many populations in one call.

        Parameters
        ----------
        populations
            one row of counts for each population, one count for each class.
        delay
            delta of the delay probability, or None to leave it out.

        Returns
        -------
        MixedSourceTable
            one row for each population; of a server without clients nan, and utilisation 0.
        """
        counts = np.asarray(populations)
        if counts.ndim != 2 or counts.shape[1] != len(self.think_times) or counts.dtype.kind not in "iu":
            raise ValueError(
                f"populations must hold rows of {len(self.think_times)} whole numbers, one for each class, but an "
                f"array of shape {counts.shape} and type {counts.dtype} came; give one count for each think time."
            )
        if counts.size and int(counts.min()) < 0:
            raise ValueError(f"populations must not be negative, but one is {counts.min()}; give counts of at least 0.")
        return self._solve(counts.astype(np.int64), int(counts.sum(axis=1).max(initial=0)), delay)

    @cached_property
    def _times(self) -> Vector:
        return np.array(self.think_times)

    def _solve(self, populations: _Counts, largest: int, delay: float | None) -> MixedSourceTable:
        if self.requests > 1:
            given = None if delay is None else not_negative("delay", delay)
            tokens = self.processors, self.requests, self.request_share
            found = measures_of_tokens(populations, self.service_rate, self._times, *tokens, given)
            return MixedSourceTable(found[0], found[1], None if delay is None else found[2], found[3])
        if largest > CLIENT_LIMIT:
            raise ValueError(
                f"At most {CLIENT_LIMIT} clients at one server are solved exactly, but populations hold {largest}; "
                "merge clients into a FiniteSourceQueue, which takes any number of equal clients."
            )
        limit = -1.0 if delay is None else not_negative("delay", delay)
        # One processor for each client is as good as more; those beyond only thin out the utilisation.
        useful = min(self.processors, max(1, largest))
        throughput, mean_delay, late, busy = _mixed_kernel(
            populations, self.service_rate, self._times, useful, limit, largest
        )
        return MixedSourceTable(
            throughput, mean_delay, None if delay is None else late, busy * (useful / self.processors)
        )


@njit(cache=True)
def _add_client(weights: Vector, scales: _Counts, links: Vector, others: int, offered: float, settle: bool) -> None:
    """Multiply one client into the weights of 0..others, which become those of 0..others + 1.

    The true weight of j is weights[j] * _SCALE ** scales[j], up to a common factor: for large crowds the weights span
    more than doubles can, and small ones may grow to be the largest later on. links[j] is what a unit of
    weights[j - 1] adds to weights[j], the quotient of the two scales included. Scales are set anew after every eighth
    client, or at once to `settle`: clients that come in the order of their think times multiply a weight by R + 1 at
    most, but one that thinks much less than those before it may multiply it by 1e50 or so. No weight becomes 0.
    """
    # (a + z) / (a + 1) in place of 1 + z / a: only proportions count, and neither factor can overflow.
    stay, join = offered / (1.0 + offered), 1.0 / (1.0 + offered)
    top = others + 1
    scales[top] = scales[others]
    for j in range(top, 0, -1):
        weights[j] = stay * weights[j] + join * links[j] * weights[j - 1]
    weights[0] *= stay
    if settle or top % 8 == 0:
        for j in range(top + 1):
            while weights[j] < _MIDDLE or weights[j] > 1 / _MIDDLE:
                down = weights[j] > 1
                factor = 1 / _SCALE if down else _SCALE
                weights[j] *= factor
                scales[j] += 1 if down else -1
                links[j] *= factor
                if j < top:
                    links[j + 1] /= factor


@njit(cache=True)
def _mixed_kernel(
    populations: _Counts, rate: float, times: Vector, processors: int, delay: float, largest: int
) -> tuple[Vector, Vector, Vector, Vector]:
    """The four measures of `MixedSourceTable`; a negative delay skips the delay probability."""
    rows, classes = populations.shape
    throughput = np.full((rows, classes), np.nan)
    mean_delay = np.full((rows, classes), np.nan)
    late = np.full((rows, classes), np.nan)
    busy = np.zeros(rows)
    offered = np.minimum(np.maximum(rate * times, 1 / _EXTREME), _EXTREME)
    order = np.argsort(times)
    work = min(rate * delay, LONGEST_WORK)
    tails = delay_tails(work, processors, largest) if work >= 0 else np.zeros(0)
    ratios = np.zeros(largest + 1)
    for j in range(1, largest + 1):
        ratios[j] = j / min(j, processors)
    base, weights = np.zeros(largest + 1), np.zeros(largest + 1)
    base_scales, scales = np.zeros(largest + 1, dtype=np.int64), np.zeros(largest + 1, dtype=np.int64)
    base_links, links = np.zeros(largest + 1), np.zeros(largest + 1)
    for row in range(rows):
        size = populations[row].sum() + 1
        base[:size] = 0.0
        base[0] = 1.0
        base_scales[:size] = 0
        base_links[:size] = ratios[:size]
        shared = 0
        for c in order:
            for _ in range(populations[row, c] - 1):
                _add_client(base, base_scales, base_links, shared, offered[c], False)
                shared += 1
        for tagged in range(classes):
            if populations[row, tagged] == 0:
                continue
            weights[:size] = base[:size]
            scales[:size] = base_scales[:size]
            links[:size] = base_links[:size]
            others = shared
            for c in order:
                if c != tagged and populations[row, c] > 0:
                    _add_client(weights, scales, links, others, offered[c], True)
                    others += 1
            most = scales[: others + 1].max()
            total = departures = tail = 0.0
            for j in range(others + 1):
                weight = weights[j]
                for _ in range(min(most - scales[j], 4)):  # four scales down, nothing is left of any weight
                    weight /= _SCALE
                total += weight
                departures += weight * max(0, j - processors + 1)
                if work >= 0:
                    tail += weight * tails[j]
            wait = (1.0 + departures / (total * processors)) / rate
            mean_delay[row, tagged] = wait
            throughput[row, tagged] = 1.0 / (times[tagged] + wait)
            busy[row] += populations[row, tagged] / (times[tagged] + wait) / (processors * rate)
            if work >= 0:
                late[row, tagged] = min(1.0, tail / total)
        busy[row] = min(1.0, busy[row])
    return throughput, mean_delay, late, busy
