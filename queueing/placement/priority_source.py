r"""A server whose clients have priorities: the finite-source queue with non-preemptive priorities, by its chain.

One processor serves exponential times at the rate :math:`\lambda`. Whenever it is free it takes a request of the first
class that has any waiting, and of that class the one that came first; what is in service is never interrupted
(*head of the line*). There is no product form, so one client is followed through the whole chain: its own think time
:math:`f` may be another than that of the other clients of its class, who all are alike, as those of every other class
are. A state tells

* how many others of each class wait,
* of which class the request in service is, if there is one,
* whether the client thinks, is served, or waits, and behind how many of its class.

Others of one class are alike, so that their order does not matter, and the state is exact. With the stationary
probability :math:`p` that it thinks, the client gets :math:`\tau = p / f`, and is kept waiting
:math:`W = (1 - p) / \tau`. It comes to states as it left them thinking, at a constant rate, and from there the chain
that ends with its service tells the probability of a delay above :math:`\delta` (by uniformisation).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, lgamma, log, prod
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..numerics import DENSE_LIMIT, Vector, comparable, eliminate_all, not_negative, positive, whole

#: Most states of a chain; as many take a second for two classes, and some for three.
STATE_LIMIT = 20_000

#: Most events of the chain within a delay, on average, that are followed.
EVENT_LIMIT = 20_000.0

#: Chains of so many states are eliminated as dense matrices, which keeps small probabilities exact.
_DENSE = min(400, DENSE_LIMIT)

_THINKS, _SERVED, _WAITS = range(3)


class PriorityMeasures(NamedTuple):
    """What one client gets.

    Attributes
    ----------
    throughput
        answers per unit of time.
    mean_delay
        mean time of its requests at the server, service included.
    delay_probability
        P(delay > given delay); None where no delay was given.
    utilisation
        fraction of time in which the processor is busy.

    Examples
    --------
    >>> from queueing import PrioritySourceQueue
    >>> found = PrioritySourceQueue(4.0, (1.0, 2.0)).measures((2, 3), 0)
    >>> round(found.throughput, 4), found.delay_probability
    (0.7177, None)
    """

    throughput: float
    mean_delay: float
    delay_probability: float | None
    utilisation: float


@dataclass(frozen=True)
class PrioritySourceQueue:
    r"""A server with one processor and classes of clients, the first of which goes first.

    Parameters
    ----------
    service_rate
        lambda: requests served per unit of time.
    think_times
        mean think time of the clients of each class, in the order of their priorities.

    References
    ----------
    .. [1] N. Gautam, "Performance analysis and optimization of web proxy servers and mirror sites", *European Journal
       of Operational Research* 142 (2002), 396-418, section 7.2, names such classes.

    Examples
    --------
    >>> from queueing import MixedSourceQueue, PrioritySourceQueue
    >>> server = PrioritySourceQueue(service_rate=4.0, think_times=(1.0, 2.0))
    >>> [round(server.measures((2, 3), tagged, delay=0.5).throughput, 4) for tagged in (0, 1)]
    [0.7177, 0.3943]
    >>> [round(value, 4) for value in MixedSourceQueue(4.0, (1.0, 2.0)).measures((2, 3)).throughput]
    [0.6968, 0.4042]
    """

    service_rate: float
    think_times: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "service_rate", positive("service_rate", self.service_rate))
        object.__setattr__(self, "think_times", tuple(positive("think_times", time) for time in self.think_times))
        if not self.think_times:
            raise ValueError("think_times must name at least one class, but it is empty; give one time for each class.")
        for time in self.think_times:
            comparable(self.service_rate, time)

    def states(self, populations: Sequence[int], tagged: int) -> int:
        """Count the states of the chain that follows one client of a class.

        Parameters
        ----------
        populations
            clients of each class, the one that is followed included.
        tagged
            its class, from 0.

        Returns
        -------
        int
            at most `STATE_LIMIT` are solved.
        """
        others = self._others(populations, tagged)
        waiting = prod(count + 1 for count in others)
        total = 1 + waiting  # nobody is there, or the client is served
        for c, count in enumerate(others):
            fewer = waiting // (count + 1) * count  # of the class in service one fewer waits
            behind = others[tagged] - (c == tagged)  # the client waits behind 0, 1, ... up to those of its class
            total += fewer + fewer * (behind + 2) // 2
        return total

    def measures(
        self, populations: Sequence[int], tagged: int, *, think_time: float | None = None, delay: float | None = None
    ) -> PriorityMeasures:
        """Evaluate what one client gets.

        Parameters
        ----------
        populations
            clients of each class, the one that is followed included.
        tagged
            its class, from 0.
        think_time
            its own mean think time, or None for that of its class.
        delay
            delta of the delay probability, or None to leave it out.

        Returns
        -------
        PriorityMeasures
            what it gets, and how busy the server is.
        """
        others = self._others(populations, tagged)
        time = self.think_times[tagged] if think_time is None else positive("think_time", think_time)
        comparable(self.service_rate, time)
        count = self.states(populations, tagged)
        if count > STATE_LIMIT:
            raise ValueError(
                f"At most {STATE_LIMIT} states are solved, but populations {tuple(populations)} make {count}; give "
                "fewer clients or classes, or simulate them."
            )
        limit = None if delay is None else not_negative("delay", delay)
        rates = 1.0 / np.array(self.think_times)
        crowd = np.array(others, np.int64)
        index, kinds, busy = _states(crowd, tagged)
        assert len(kinds) == count
        starts, ends, speeds = _moves(index, crowd, tagged, self.service_rate, rates, 1.0 / time)
        shares = _stationary(starts, ends, speeds, count)
        throughput = float(shares[kinds == _THINKS].sum()) / time
        late = None if limit is None else self._late(starts, ends, speeds, kinds, shares, limit)
        wait = float(shares[kinds != _THINKS].sum()) / throughput
        return PriorityMeasures(throughput, wait, late, float(shares[busy].sum()))

    def _others(self, populations: Sequence[int], tagged: int) -> list[int]:
        counts = [whole("populations", count, least=0) for count in populations]
        if len(counts) != len(self.think_times):
            raise ValueError(
                f"populations must hold one count for each of the {len(self.think_times)} classes, but {len(counts)} "
                "came; give as many counts as classes."
            )
        if not 0 <= tagged < len(counts) or counts[tagged] < 1:
            raise ValueError(f"tagged must be a class with a client, but it is {tagged}; give the number of one.")
        counts[tagged] -= 1
        return counts

    def _late(
        self,
        starts: NDArray[np.int64],
        ends: NDArray[np.int64],
        speeds: Vector,
        kinds: NDArray[np.int64],
        shares: Vector,
        delay: float,
    ) -> float:
        """Probability that the chain, from where the client comes to the server, needs longer until it is served."""
        from scipy.sparse import csr_array

        here = kinds != _THINKS
        comes = ~here[starts] & here[ends]
        begun = np.zeros(len(kinds))
        np.add.at(begun, ends[comes], shares[starts[comes]] * speeds[comes])
        begun /= begun.sum()
        leaving = np.zeros(len(kinds))
        np.add.at(leaving, starts, speeds)
        pace = float(leaving[here].max())
        if pace * delay > EVENT_LIMIT:
            raise ValueError(
                f"At most {EVENT_LIMIT:.0f} events within a delay are followed, but {pace * delay:.3g} happen on "
                "average; give a shorter delay or longer think times."
            )
        inside = here[starts] & here[ends]
        order = np.cumsum(here) - 1
        size = int(here.sum())
        steps = csr_array((speeds[inside] / pace, (order[ends[inside]], order[starts[inside]])), shape=(size, size))
        stays, chances = 1.0 - leaving[here] / pace, begun[here]
        mean, total, done, step = pace * delay, 0.0, 0.0, 0
        while True:  # Poisson numbers of steps, until hardly any is left
            weight = exp(step * log(mean) - mean - lgamma(step + 1)) if mean > 0 else float(step == 0)
            left = float(chances.sum())
            total += weight * left
            done += weight
            if left < 1e-18 or 1.0 - done < 1e-15 or (step > mean and weight * left < 1e-18):
                return min(1.0, total)
            chances = steps @ chances + stays * chances
            step += 1


def _stationary(starts: NDArray[np.int64], ends: NDArray[np.int64], speeds: Vector, count: int) -> Vector:
    """Solve the chain, of which state 0 is reached from everywhere."""
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import splu

    if count <= _DENSE:
        rates = np.zeros((count, count))
        np.add.at(rates, (starts, ends), speeds)
        return np.asarray(eliminate_all(rates))
    leaving = np.zeros(count)
    np.add.at(leaving, starts, speeds)
    apart = (starts > 0) & (ends > 0)
    rows = np.concatenate([ends[apart] - 1, np.arange(count - 1)])
    columns = np.concatenate([starts[apart] - 1, np.arange(count - 1)])
    system = csc_array((np.concatenate([-speeds[apart], leaving[1:]]), (rows, columns)), shape=(count - 1, count - 1))
    right = np.zeros(count - 1)
    begins = (starts == 0) & (ends > 0)
    np.add.at(right, ends[begins] - 1, speeds[begins])
    # The system is that of rates: no pivoting is needed, and the order that keeps its factors sparse can be kept.
    factors = splu(system, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    found = np.concatenate([[1.0], np.maximum(0.0, factors.solve(right))])
    return np.asarray(found / found.sum())


@njit(cache=True)
def _states(others: NDArray[np.int64], tagged: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Number the states: place of each combination (-1: none), what the client does, whether the server is busy."""
    classes = len(others)
    size = _size(others, tagged)
    index = np.full(size, -1, np.int64)
    kinds = np.zeros(size, np.int64)
    busy = np.zeros(size, np.bool_)
    waiting = np.zeros(classes, np.int64)
    count = 0
    for place in range(size):
        served, own = _read(place, others, tagged, waiting)
        total = waiting.sum()
        if served == 0:
            good = total == 0 and own == _THINKS
        elif served == classes + 1:
            good = own == _SERVED
        else:
            good = waiting[served - 1] < others[served - 1] and own != _SERVED and own - _WAITS <= waiting[tagged]
        if good:
            index[place] = count
            kinds[count] = min(own, _WAITS)
            busy[count] = served > 0
            count += 1
    return index, kinds[:count], busy[:count]


@njit(cache=True)
def _moves(
    index: NDArray[np.int64], others: NDArray[np.int64], tagged: int, rate: float, rates: Vector, own_rate: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], Vector]:
    """List what may follow each state: from where, to where, how fast."""
    classes = len(others)
    most = (classes + 2) * int(index.max() + 1)
    starts, ends, speeds = np.zeros(most, np.int64), np.zeros(most, np.int64), np.zeros(most)
    waiting = np.zeros(classes, np.int64)
    count = 0
    for place in range(len(index)):
        state = index[place]
        if state < 0:
            continue
        served, own = _read(place, others, tagged, waiting)
        for c in range(classes):  # somebody stops thinking
            thinking = others[c] - waiting[c] - (1 if served == c + 1 else 0)
            if thinking > 0:
                if served == 0:
                    after = _place(others, tagged, waiting, c + 1, own)
                else:
                    waiting[c] += 1
                    after = _place(others, tagged, waiting, served, own)
                    waiting[c] -= 1
                starts[count], ends[count], speeds[count] = state, index[after], thinking * rates[c]
                count += 1
        if own == _THINKS:
            after = _place(
                others,
                tagged,
                waiting,
                served if served else classes + 1,
                _WAITS + waiting[tagged] if served else _SERVED,
            )
            starts[count], ends[count], speeds[count] = state, index[after], own_rate
            count += 1
        if served:  # the next is the first of the first class that waits
            left = _THINKS if served == classes + 1 else own
            chosen = 0
            for c in range(classes):
                if waiting[c] > 0 or (c == tagged and left >= _WAITS):
                    chosen = c + 1
                    break
            if chosen == tagged + 1 and left == _WAITS:
                after = _place(others, tagged, waiting, classes + 1, _SERVED)
            elif chosen:
                waiting[chosen - 1] -= 1
                ahead = left - 1 if chosen == tagged + 1 and left > _WAITS else left
                after = _place(others, tagged, waiting, chosen, ahead)
                waiting[chosen - 1] += 1
            else:
                after = _place(others, tagged, waiting, 0, left)
            starts[count], ends[count], speeds[count] = state, index[after], rate
            count += 1
    return starts[:count], ends[:count], speeds[:count]


@njit(cache=True)
def _size(others: NDArray[np.int64], tagged: int) -> int:
    size = (len(others) + 2) * (others[tagged] + 1 + _WAITS)
    for count in others:
        size *= count + 1
    return int(size)


@njit(cache=True, inline="always")
def _place(others: NDArray[np.int64], tagged: int, waiting: NDArray[np.int64], served: int, own: int) -> int:
    """Number a combination; `served`: 0 nobody, a class from 1, or one more than there are for the client itself."""
    place = 0
    for c in range(len(others)):
        place = place * (others[c] + 1) + waiting[c]
    return int((place * (len(others) + 2) + served) * (others[tagged] + 1 + _WAITS) + own)


@njit(cache=True, inline="always")
def _read(place: int, others: NDArray[np.int64], tagged: int, waiting: NDArray[np.int64]) -> tuple[int, int]:
    """Read a combination off its number: whom the server serves, and what the client does; others go to `waiting`."""
    place, own = divmod(place, others[tagged] + 1 + _WAITS)
    place, served = divmod(place, len(others) + 2)
    for c in range(len(others) - 1, -1, -1):
        place, waiting[c] = divmod(place, others[c] + 1)
    return served, own
