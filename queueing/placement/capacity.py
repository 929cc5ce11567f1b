r"""How many clients a server can take at which distance.

A client at distance d = 1, 2, ... from its server thinks for a mean time f(d), f non-decreasing. The capacity psi(d) is
the largest n such that every crowd of up to n clients, none of them beyond d, is served well enough.

**The worst mix.** By the arrival theorem the delay of a client depends on the *others* alone. Let the others be i =
1..n-1 with :math:`y_i = 1 / (\lambda m_i)`. A request meets j of them with probability proportional to :math:`c_j
e_j(y)`, where e_j are the elementary symmetric polynomials and the c_j do not depend on y. Single out one of them:
with :math:`e'_j` the polynomials of the rest, :math:`e_j = e'_j + y\, e'_{j-1}`. By Newton's inequalities :math:`r_j
= e'_{j-1}/e'_j` is non-decreasing in j, so for Y > y the quotient :math:`(1 + Y r_j)/(1 + y r_j)` is non-decreasing
too: j rises in likelihood ratio when a client moves nearer, and, from y = 0, when a client joins. A request that
meets more others waits longer. Hence, for any number of processors and any non-decreasing f,

* the greatest P(W > delta) is met with all others at distance 1: pi(n; f(1)), the same for a client at any distance;
* the least throughput is that of one client at d with all others at distance 1:
  :math:`1 / (f(d) + E[W](n; f(1))) = 1 / (f(d) - f(1) + 1/\tau(n; f(1)))`, no estimate but the value of this very mix;
* both get worse with n: if n clients are fine, so are fewer, and psi is found by bisection.

The rule of Gautam (2002), "farthest" here, takes the throughput of n clients *all* at d. It is not conservative: near
clients come back sooner and make the server busier than that.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from ..numerics import positive, whole
from .finite_source import POPULATION_CAP, FiniteSourceQueue, check_limits, checked_requests, largest_true
from .tokens import largest_crowds

Guarantee = Literal["worst-case", "farthest"]


def capacity_by_distance(
    service_rate: float,
    think_times: Sequence[float],
    processors: int = 1,
    *,
    min_throughput: float | None = None,
    max_delay_probability: float | None = None,
    delay: float | None = None,
    guarantee: Guarantee = "worst-case",
    most: int = POPULATION_CAP,
    requests: int = 1,
    request_share: float = 0.0,
) -> tuple[int, ...]:
    """The capacities psi(1), psi(2), ... of a server by the distance of its farthest client, a non-increasing sequence.

    Parameters
    ----------
    service_rate, processors
        of the server.
    think_times
        f(1), f(2), ..., non-decreasing.
    min_throughput
        theta: throughput per client is at least this; None for no such limit.
    max_delay_probability, delay
        epsilon and delta: P(W > delay) < max_delay_probability, strictly; both None for no such limit.
    guarantee
        "worst-case": no client of any mix of distances up to d falls short. "farthest": the rule of Gautam (2002),
        throughput with all clients at d and delay with all clients at distance 1.
    most
        look no further than this many clients, such as all there are: with many processors the states of a crowd are
        summed, and crowds far larger than any that can come would take the time.
    requests, request_share
        requests that each client may have under way, and the share of the think time that an answer spends at the first
        of two stations of its client (0: there is one); theta is the throughput of a client over all its requests.

    Returns
    -------
    tuple of int
        0 where not even one client is served well enough; `most`, but no more than `POPULATION_CAP` (with several
        requests `TOKEN_LIMIT` of them), where the answer would be larger.

    Notes
    -----
    psi(d) is the largest n such that every crowd of up to n clients, none of them beyond d, is served well enough; see
    :mod:`queueing.placement.capacity` for why "farthest" does not keep this promise.

    References
    ----------
    .. [1] N. Gautam, "Performance analysis and optimization of web proxy servers and mirror sites", *European Journal
       of Operational Research* 142 (2002), 396-418; Algorithm RHS of section 4.2.1.

    Examples
    --------
    >>> from queueing import capacity_by_distance
    >>> capacity_by_distance(10.0, (1.0, 1.1, 1.3, 1.5), min_throughput=0.6)
    (16, 15, 12, 6)
    >>> capacity_by_distance(10.0, (1.0, 1.1, 1.3, 1.5), min_throughput=0.6, guarantee="farthest")
    (16, 16, 14, 8)
    >>> capacity_by_distance(10.0, (1.0, 1.1, 1.3, 1.5), min_throughput=0.6, requests=2)
    (16, 15, 14, 11)
    """
    if guarantee not in ("worst-case", "farthest"):
        raise ValueError(f"guarantee must be 'worst-case' or 'farthest', but it is {guarantee!r}; give one of the two.")
    times = tuple(positive("think_times", time) for time in think_times)
    if not times:
        raise ValueError("think_times must hold at least f(1), but it is empty; give one time for each distance.")
    if any(later < earlier for earlier, later in pairwise(times)):
        raise ValueError(
            f"think_times must not fall with the distance, but they are {times}; give non-decreasing times."
        )
    check_limits(min_throughput, max_delay_probability, delay)
    capacity = min(whole("most", most, least=0), POPULATION_CAP)
    tokens, share = checked_requests(requests, request_share)
    if tokens > 1:
        limits = min_throughput, max_delay_probability, delay
        return _of_tokens(service_rate, times, processors, tokens, share, *limits, guarantee, capacity)

    nearest = FiniteSourceQueue(service_rate, times[0], processors)
    if max_delay_probability is not None:
        capacity = nearest.largest_population(None, max_delay_probability, delay, most=capacity)
    capacities = []
    for time in times:
        # Each capacity is sought below the one before it: psi never rises with the distance.
        if min_throughput is not None:
            queue = nearest if guarantee == "worst-case" else FiniteSourceQueue(service_rate, time, processors)
            capacity = _largest_with_throughput(queue, time, min_throughput, capacity)
        capacities.append(capacity)
    return tuple(capacities)


def _largest_with_throughput(crowd: FiniteSourceQueue, think_time: float, min_throughput: float, most: int) -> int:
    """Largest n <= most for which a client with `think_time` keeps its throughput in a crowd of n (itself included)."""
    return largest_true(lambda clients: 1.0 / (think_time + crowd.mean_delay(clients)) >= min_throughput, most)


def _of_tokens(
    rate: float,
    times: Sequence[float],
    processors: int,
    requests: int,
    share: float,
    min_throughput: float | None,
    max_delay_probability: float | None,
    delay: float | None,
    guarantee: Guarantee,
    most: int,
) -> tuple[int, ...]:
    """Capacities where clients send several requests; `queueing.placement.tokens` tells the worst mix."""
    FiniteSourceQueue(rate, times[0], processors, requests, share)  # refuses what is no server
    tokens = processors, requests, share
    late = max_delay_probability, delay
    if guarantee == "worst-case":
        return largest_crowds(rate, times[0], times, *tokens, min_throughput, *late, most)
    if max_delay_probability is not None:
        most = largest_crowds(rate, times[0], times[:1], *tokens, None, *late, most)[0]
    capacities = []
    for time in times:
        if min_throughput is not None:
            most = largest_crowds(rate, time, (time,), *tokens, min_throughput, None, None, most)[0]
        capacities.append(most)
    return tuple(capacities)
