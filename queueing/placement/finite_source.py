r"""A server with a fixed crowd of clients: the finite-source queue M/M/s//R.

R clients think for an exponential time of mean m, send one request and wait for the answer; s processors of rate lambda
serve requests first come, first served. A request meets the others as they would be without its sender (arrival
theorem): j of n = R - 1 others at the server with probability proportional to

.. math::  w_j = \prod_{i=1}^{j} \frac{n - i + 1}{a \min(i, s)}, \qquad a = \lambda m.

**One processor.** For the delay W, lambda W has a density proportional to :math:`e^{-t} (1 + t/a)^{R-1}`: a + lambda
W is a Gamma(R) variable told to exceed a. All measures follow from it:

* :math:`P(W > \delta) = Q(R, a + \lambda\delta) / Q(R, a)`, where Q(R, x) = P(Poisson(x) <= R - 1);
* :math:`D_R = \lambda E[W] = R - a + a\,B(R-1, a)`, B the Erlang loss formula. Where R < a this cancels, so D is
  taken from mean value analysis, :math:`D_{n+1} = 1 + n D_n / (a + D_n)`, which is increasing in D_n and forgets
  where it began: begun at most some multiples of :math:`\sqrt a` below R, at the least and at the greatest value D_n
  can have (1 and n), the two runs meet.

**As many processors as clients, or more.** Nobody waits, W is the service alone, and further processors idle.

**Monotonicity.** One more client multiplies the density by 1 + t/a, an increasing function (s processors: the same in
j, by Newton's inequalities, see :mod:`queueing.placement.capacity`), so the delay rises with R in likelihood ratio:
throughput per client falls, P(W > delta) rises, and the largest population can be found by bisection.

**Several processors.** A request that meets j others spends an exponential service time of mean 1/lambda, and before
it, if j >= s, the time of k = j - s + 1 departures of rate s lambda. An exponential time of rate lambda is a geometric
number (mean s) of exponential times of rate s lambda, so that G(k) = P(Erlang(k, s lambda) + Exp(lambda) > delta) obeys

.. math::  G(k-1) = \frac{s-1}{s}\, G(k) + \frac1s\, P(\text{Poisson}(s\lambda\delta) \le k-1).

Run downwards in k this adds positive numbers and contracts errors; run upwards it would double them.
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.special import gammaincc

from ..numerics import Vector, comparable, not_negative, positive, whole

#: `largest_population` looks no further: a queue good for more clients is said to be good for this many.
POPULATION_CAP = 10_000_000

#: Most clients of a queue with one processor or one for each client; otherwise states are summed: `POPULATION_CAP`.
CLIENT_CAP = 10**12

#: Limits of more mean service times than this are not told apart; s times as much must still be a double.
LONGEST_WORK = 1e250


@dataclass(frozen=True)
class FiniteSourceQueue:
    r"""A server and clients that all think equally long: the finite-source queue M/M/s//R.

    Each of R clients thinks for an exponential time of mean m, sends one request, and waits for its answer before it
    thinks again; s processors serve the requests first come, first served, in exponential times of rate lambda.

    Parameters
    ----------
    service_rate
        lambda: requests one busy processor serves per unit of time.
    think_time
        m = 1/mu: mean time from an answer to the client's next request, the way through the network included.
    processors
        s: number of equal processors fed by one queue.
    requests
        How many requests each client may have under way, the answers that it works on included; see
        :mod:`queueing.placement.tokens`. Throughput is that of a client over all of them, delay that of one request.
    request_share
        Share of the think time that an answer spends at the first of two stations of its client; 0: there is one.

    Notes
    -----
    By the arrival theorem a request meets j of the other R - 1 clients at the server with probability proportional to

    .. math::  w_j = \prod_{i=1}^{j} \frac{R - i}{a \min(i, s)}, \qquad a = \lambda m.

    Throughput per client is :math:`\tau = 1 / (m + E[W])` [1]_ (equation 4); the delay probability
    :math:`\pi_\delta = P(W > \delta)` (equation 5) and the utilisation (equation 6) follow from the same weights. All
    three get worse with every client, so that the largest population is found by bisection. The methods hold for any s;
    Gautam (2002) has s = 1.

    References
    ----------
    .. [1] N. Gautam, "Performance analysis and optimization of web proxy servers and mirror sites", *European Journal
       of Operational Research* 142 (2002), 396-418; section 3.

    Examples
    --------
    >>> from queueing import FiniteSourceQueue
    >>> server = FiniteSourceQueue(service_rate=10.0, think_time=1.0)
    >>> round(server.throughput_per_client(13), 4), round(server.delay_probability(13, 0.2), 4)
    (0.7044, 0.7276)
    >>> server.largest_population(min_throughput=0.6)
    16
    """

    service_rate: float
    think_time: float
    processors: int = 1
    requests: int = 1
    request_share: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "service_rate", positive("service_rate", self.service_rate))
        object.__setattr__(self, "think_time", positive("think_time", self.think_time))
        object.__setattr__(self, "processors", whole("processors", self.processors, least=1))
        requests, share = checked_requests(self.requests, self.request_share)
        object.__setattr__(self, "requests", requests)
        object.__setattr__(self, "request_share", share)
        comparable(self.service_rate, self.think_time)

    @property
    def _offered(self) -> float:
        return self.service_rate * self.think_time

    def _checked(self, clients: int) -> int:
        number = whole("clients", clients, least=1)
        most = CLIENT_CAP if self.processors == 1 or self.processors >= number else POPULATION_CAP
        if number > most:
            raise ValueError(
                f"At most {most} clients can be asked about with {self.processors} processors, but {number} came; "
                "ask about fewer."
            )
        return number

    def throughput_per_client(self, clients: int) -> float:
        """Answers a client gets per unit of time: 1 / (m + E[W]), Gautam (2002), equation (4)."""
        if self.requests > 1:
            return self._of_tokens(clients, None)[0]
        return 1.0 / (self.think_time + self.mean_delay(clients))

    def utilisation(self, clients: int) -> float:
        """Mean fraction of busy processors; of one, the probability that it is busy: Gautam (2002), equation (6)."""
        # Neither quotient can overflow, a product of s and lambda could.
        each = self.throughput_per_client(clients) / self.service_rate
        return min(1.0, each * (clients / self.processors))

    def mean_delay(self, clients: int) -> float:
        """Mean time E[W] a request spends at the server, service included: 1/throughput - m without cancellation."""
        if self.requests > 1:
            return self._of_tokens(clients, None)[1]
        clients = self._checked(clients)
        if self.processors >= clients:
            return 1.0 / self.service_rate
        if self.processors == 1:
            return float(_mean_work(clients, self._offered)) / self.service_rate
        weights = _seen_by_arrival(clients - 1, self._offered, self.processors)
        return (1.0 + float(_mean_departures(weights, self.processors)) / self.processors) / self.service_rate

    def delay_probability(self, clients: int, delay: float) -> float:
        """P(W > delay), the service included: Gautam (2002), equation (5)."""
        if self.requests > 1:
            return self._of_tokens(clients, not_negative("delay", delay))[2]
        clients = self._checked(clients)
        work = min(not_negative("delay", delay) * self.service_rate, LONGEST_WORK)
        if work == 0:
            return 1.0  # and not a sum of probabilities, which may round to less
        if self.processors >= clients:
            return math.exp(-work)
        if self.processors == 1:
            return _gamma_tail_ratio(clients, self._offered, work)
        weights = _seen_by_arrival(clients - 1, self._offered, self.processors)
        return min(1.0, float(np.dot(weights, delay_tails(work, self.processors, clients))))

    def _of_tokens(self, clients: int, delay: float | None) -> tuple[float, float, float]:
        """Throughput, mean delay and delay probability where clients send several requests."""
        from .tokens import measures_of_tokens

        crowd = np.array([[whole("clients", clients, least=1)]], dtype=np.int64)
        throughput, mean_delay, late, _ = measures_of_tokens(
            crowd,
            self.service_rate,
            np.array([self.think_time]),
            self.processors,
            self.requests,
            self.request_share,
            delay,
        )
        return float(throughput[0, 0]), float(mean_delay[0, 0]), float(late[0, 0])

    def largest_population(
        self,
        min_throughput: float | None = None,
        max_delay_probability: float | None = None,
        delay: float | None = None,
        *,
        most: int = POPULATION_CAP,
    ) -> int:
        """Largest number of clients such that it and every smaller number keep the limits.

        Parameters
        ----------
        min_throughput
            theta: throughput per client is at least this.
        max_delay_probability, delay
            epsilon and delta: P(W > delay) is below max_delay_probability, strictly; given together.
        most
            look no further than this many clients.

        Returns
        -------
        int
            0 where not even one client is served well enough; `most`, but no more than `POPULATION_CAP` (with several
            requests `TOKEN_LIMIT` of them), where the answer would be larger.
        """
        most = min(whole("most", most, least=0), POPULATION_CAP)
        check_limits(min_throughput, max_delay_probability, delay)
        if self.requests > 1:
            from .tokens import largest_crowds

            limits = min_throughput, max_delay_probability, delay
            tokens = self.processors, self.requests, self.request_share
            return largest_crowds(self.service_rate, self.think_time, (self.think_time,), *tokens, *limits, most)[0]

        def kept(clients: int) -> bool:
            if min_throughput is not None and self.throughput_per_client(clients) < min_throughput:
                return False
            # P(W > delay) is below 1 for every delay above 0, though it rounds to 1 for large crowds.
            if max_delay_probability is None or delay is None or (max_delay_probability == 1.0 and delay > 0):
                return True
            return self.delay_probability(clients, delay) < max_delay_probability

        return largest_true(kept, most)


def checked_requests(requests: int, request_share: float) -> tuple[int, float]:
    """Requests of a client, and the share of the think time at the first of its stations, if they are good."""
    share = not_negative("request_share", request_share)
    if share >= 1.0:
        raise ValueError(
            f"request_share must be below 1, but it is {request_share!r}; give the part of the think time that an "
            "answer spends at the first of two stations, 0 where there is one."
        )
    return whole("requests", requests, least=1), share


def check_limits(min_throughput: float | None, max_delay_probability: float | None, delay: float | None) -> None:
    """Refuse limits that are no limits: none at all, half a delay limit, or values out of range."""
    if (max_delay_probability is None) != (delay is None):
        missing = "delay" if delay is None else "max_delay_probability"
        raise ValueError(
            f"A delay limit needs both max_delay_probability and delay, but {missing} is missing; give both."
        )
    if min_throughput is None and max_delay_probability is None:
        raise ValueError(
            "A largest population needs a limit, but neither min_throughput nor max_delay_probability with delay was "
            "given; without one every population will do, so give at least one."
        )
    if min_throughput is not None:
        positive("min_throughput", min_throughput)
    # 0 is a limit like any other, though nobody can keep it.
    if max_delay_probability is not None and not_negative("max_delay_probability", max_delay_probability) > 1:
        raise ValueError(
            f"max_delay_probability must be a probability, but it is {max_delay_probability!r}; "
            "give a number from 0 to 1."
        )
    if delay is not None:
        not_negative("delay", delay)


def largest_true(kept: Callable[[int], bool], most: int = POPULATION_CAP) -> int:
    """Largest n in 0..most with kept(1), ..., kept(n), for a `kept` that once false stays false."""
    good, step = 0, 1
    while good + step <= most and kept(good + step):
        good += step
        step *= 2
    between = range(good + 1, min(good + step, most + 1))
    return good + bisect_left(between, True, key=lambda clients: not kept(clients))


@njit(cache=True)
def _mean_work(clients: int, offered: float) -> float:
    """D_R = lambda E[W] for one processor: mean value analysis, begun as late as the answer allows."""
    # Contraction of one step of the recursion at its fixed point for R, the first guess of how many steps are needed.
    gap = clients - offered
    root = math.sqrt(gap * gap + 4 * offered)
    fixed = (gap + root) / 2 if gap > 0 else 2 * offered / (root - gap)
    contraction = (clients - 1) / (fixed + offered) * (offered / (fixed + offered))
    steps = 8 + int(min(40.0 / max(-math.log(contraction), 1e-17), 1e18)) if contraction > 0 else 8
    while True:
        first = max(1, clients - steps)
        low, high = 1.0, float(first)
        for n in range(first, clients):
            low = 1 + n * (low / (offered + low))
            high = 1 + n * (high / (offered + high))
        if first == 1 or high - low <= 4e-16 * high:
            return high
        steps *= 2


@njit(cache=True)
def _seen_by_arrival(others: int, offered: float, processors: int) -> Vector:
    """Probabilities that an arriving request meets 0, ..., others requests, by ratios from the likeliest number on."""
    weights = np.zeros(others + 1)
    low, high = 0, others  # the ratio w_{j+1} / w_j falls in j: the likeliest j is the first with a ratio below 1
    while low < high:
        middle = (low + high) // 2
        if others - middle >= offered * min(middle + 1, processors):
            low = middle + 1
        else:
            high = middle
    weights[low] = 1.0
    for j in range(low, others):
        weights[j + 1] = weights[j] * (others - j) / (offered * min(j + 1, processors))
    for j in range(low, 0, -1):
        weights[j - 1] = weights[j] * (offered * min(j, processors)) / (others - j + 1)
    return weights / np.sum(weights)


@njit(cache=True)
def _mean_departures(weights: Vector, processors: int) -> float:
    """Mean number of departures an arriving request waits for, j - s + 1 where it meets j >= s."""
    total = 0.0
    for j in range(processors, weights.size):
        total += weights[j] * (j - processors + 1)
    return total


def _gamma_tail_ratio(clients: int, offered: float, work: float) -> float:
    """Q(R, a + x) / Q(R, a): P(W > delta) with one processor, for x = lambda delta."""
    beyond = offered + work
    if offered >= clients:
        # Both tails may underflow. Q(R, y) = mass(R - 1; y) / B(R - 1, y), and the two masses have a short quotient.
        exponent = (clients - 1) * math.log1p(work / offered) - work
        return min(1.0, math.exp(exponent) * _erlang_loss(clients - 1, offered) / _erlang_loss(clients - 1, beyond))
    body = float(gammaincc(clients, offered))  # at least about a half, as R > a
    if beyond < clients:
        return min(1.0, float(gammaincc(clients, beyond)) / body)
    tail = math.exp(poisson_log_mass(clients - 1, beyond)) / _erlang_loss(clients - 1, beyond)
    return min(1.0, tail / body)


def _erlang_loss(lines: int, offered: float) -> float:
    """B(n, a) for a >= n + 1, from D_{n+1} = n + 1 - a + a B(n, a): a sum of positive terms there."""
    return ((offered - lines - 1) + float(_mean_work(lines + 1, offered))) / offered


# -- what an arriving request waits, given whom it meets --------------------------------------------------------------


@njit(cache=True)
def poisson_log_mass(count: int, mean: float) -> float:
    """Log of P(Poisson(mean) = count), by the saddle point: the terms that would cancel are never formed."""
    if count == 0:
        return -mean
    if mean == 0.0:
        return -math.inf
    if count < 16:
        return count * math.log(mean) - mean - math.lgamma(count + 1.0)
    inverse = 1.0 / count
    square = inverse * inverse
    stirling = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188))))
    excess = (mean - count) / count
    return count * (math.log1p(excess) - excess) - stirling - 0.5 * math.log(2 * math.pi * count)


@njit(cache=True)
def poisson_masses(mean: float, size: int) -> Vector:
    """P(Poisson(mean) = k) for k < size, by ratios from the most likely k on (no underflow where it matters)."""
    masses = np.zeros(size)
    start = size - 1 if mean >= size - 1 else int(mean)
    masses[start] = math.exp(poisson_log_mass(start, mean))
    for k in range(start + 1, size):
        masses[k] = masses[k - 1] * mean / k
    for k in range(start, 0, -1):
        masses[k - 1] = masses[k] * k / mean
    return masses


@njit(cache=True)
def delay_tails(work: float, processors: int, size: int) -> Vector:
    r"""P(delay > delta | j others met) for j < size.

    Parameters
    ----------
    work
        lambda delta, the limit in mean service times.
    processors
        s.
    size
        number of values wanted.
    """
    tails = np.full(size, math.exp(-work))
    most = size - processors  # the largest number k of departures to wait for
    if most <= 0:
        return tails
    total = processors * work
    masses = poisson_masses(total, most + 1)
    waiting = np.cumsum(masses)  # waiting[k] = P(Poisson <= k) = P(Erlang(k + 1) > delta)

    # G(most) = P(Erlang(most) > delta) + P(Erlang(most) <= delta < Erlang(most) + Exp); for the second term there are
    # two forms, neither of which cancels where it is used.
    rest = total - work  # (s - 1) lambda delta
    if most <= rest:
        # Here Poisson(rest) >= most is likely: nothing cancels in 1 - P(. < most), and the exponent is at most 0.
        reached = max(0.0, 1.0 - np.sum(poisson_masses(rest, most)))
        second = reached * math.exp(-work - most * math.log1p(-1.0 / processors))
    else:
        term, series, k = 1.0, 0.0, float(most)
        while term > 1e-18 * series:
            series += term
            k += 1.0
            term *= rest / k
        second = masses[most] * series
    value = min(1.0, waiting[most - 1] + second)
    tails[size - 1] = value
    for k in range(most, 1, -1):
        value = ((processors - 1) * value + waiting[k - 1]) / processors
        tails[processors + k - 2] = value
    return tails
