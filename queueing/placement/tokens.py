r"""Clients that send several requests without waiting for the answers: closed networks of tokens.

Section 7.3 of N. Gautam, "Performance analysis and optimization of web proxy servers and mirror sites", *European
Journal of Operational Research* 142 (2002), 396-418, models each client by m tokens. A token is a request at the server
or an answer at its own client, who works on one at a time: exponential times of mean f at one station, or of means s f
and (1 - s) f at two in tandem. Equal exponential service, first come first served, makes the whole a product-form
network (Gordon and Newell; every client is a chain of its own). In mean service times, a = lambda f, client i has k
tokens at the server with weight :math:`g_{m-k}/k!`,

.. math::  P_i(y) = \sum_{k=0}^{m} g_{m-k} \frac{y^k}{k!}, \qquad g_n = a^n \sum_{u+v=n} s^u (1-s)^v,
           \qquad W_n = \prod_{j \le n} \frac{j}{\min(j, \text{processors})},

and n tokens in all with weight :math:`W_n [y^n] \prod_i P_i(y)`. Let Q be the product over the *other* clients, P the
polynomial of the client with all of its tokens and P' that with one less. By the arrival theorem its requests meet n
others with probability proportional to :math:`W_n [y^n]\, Q P'`, and its throughput over all of its tokens is

.. math::  \tau = \lambda \, \frac{\sum_n W_n [y^n]\, Q P'}{\sum_n W_n [y^n]\, Q P}.

All terms are positive. Coefficients are kept as mantissas and powers of two, as they span more than doubles can. With
m = 1 tandem or not makes no difference: think times enter by their mean alone.

**The worst mix.** Coefficients of P_j are log-concave, and so are their products, and where client j moves nearer, or
joins, the coefficients of Q rise in likelihood ratio (:math:`g_{m-k}(a')/g_{m-k}(a) = (a'/a)^{m-k}` rises in k for a'
< a). The weights W do not change that, so a request of i meets more others and waits longer: P(W > delta) of client i
rises. And :math:`\lambda/\tau = \sum_r q_r N_r / \sum_r q_r D_r`, where N_r and D_r sum :math:`W_{r+k} g_{m-k}/k!`
and :math:`W_{r+k} g_{m-1-k}/k!` over k. Their quotient does not fall in r: it is the mean of
:math:`g_{m-k}/g_{m-1-k}`, which rises in k, under weights that shift to larger k as r grows, plus
:math:`W_{r+m}/(m!\,D_r)`, in which each :math:`W_{r+m}/W_{r+k}` rises. So the throughput of i falls, too. For any
number of processors the worst others are therefore all at distance 1, and as many as there may be: as with one
request. The worst delay is that of a client at distance 1 among them (its own other requests come back soonest), the
least throughput that of one at d' <= d among them; :func:`largest_crowds` looks at every d' and need not know that it
is d.
"""

import math
from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..numerics import Vector
from .finite_source import LONGEST_WORK, delay_tails

#: Most tokens of all clients at one server; the work grows with their square, and takes about half a second here.
TOKEN_LIMIT = 10_000

Counts = NDArray[np.int64]

# Terms of a sum smaller than its largest by this many powers of two change no digit.
_SPAN = 128
_HALVES = 0.5 ** np.arange(_SPAN)

# How far a scan looks at first, in clients.
_FIRST_LOOK = 32


@njit(cache=True)
def _client(offered: float, tokens: int, share: float) -> tuple[Vector, Counts]:
    """Coefficients g_{tokens-k} / k! of a client, as mantissas and powers of two."""
    mantissas, powers = np.zeros(tokens + 1), np.zeros(tokens + 1, dtype=np.int64)
    splits, rest = 1.0, 1.0  # the sum of s^u (1-s)^v over u + v = n, and (1-s)^n
    value, power = 1.0, 0  # a^n
    scale, scale_power = math.frexp(offered)
    for n in range(tokens + 1):
        mantissas[tokens - n], more = math.frexp(value * splits)
        powers[tokens - n] = power + more
        rest *= 1.0 - share
        splits = share * splits + rest
        value, more = math.frexp(value * scale)
        power += more + scale_power
        if splits < 1e-200:
            splits, more = math.frexp(splits)
            rest = math.ldexp(rest, -more)
            power += more
    value, power = 1.0, 0  # k!
    for k in range(1, tokens + 1):
        value, more = math.frexp(value * k)
        power += more
        mantissas[k], more = math.frexp(mantissas[k] / value)
        powers[k] += more - power
    return mantissas, powers


@njit(cache=True)
def _join(product: Vector, powers: Counts, degree: int, client: Vector, client_powers: Counts) -> int:
    """Multiply a client's polynomial into the product of others, in place; return the new degree."""
    tokens = len(client) - 1
    top = degree + tokens
    for r in range(top, -1, -1):
        first, last = max(0, r - degree), min(tokens, r)
        largest = powers[r - first] + client_powers[first]
        for k in range(first + 1, last + 1):
            largest = max(largest, powers[r - k] + client_powers[k])
        total = 0.0
        for k in range(first, last + 1):
            below = largest - powers[r - k] - client_powers[k]
            if below < _SPAN:
                total += product[r - k] * client[k] * _HALVES[below]
        product[r], more = math.frexp(total)
        powers[r] = largest + more
    return top


@njit(cache=True)
def _arrangements(most: int, processors: int) -> tuple[Vector, Counts]:
    """W_0, ..., W_most."""
    mantissas, powers = np.zeros(most + 1), np.zeros(most + 1, dtype=np.int64)
    mantissas[0] = 1.0
    for n in range(1, most + 1):
        mantissas[n], more = math.frexp(mantissas[n - 1] * (n / min(n, processors)))
        powers[n] = powers[n - 1] + more
    return mantissas, powers


@njit(cache=True)
def _by_others(
    degree: int, client: Vector, client_powers: Counts, orders: Vector, order_powers: Counts, values: Vector
) -> tuple[Vector, Counts]:
    """Sum W_{r+k} g_{m-k} / k! times values[r+k] over k, for every number r <= degree of tokens of others."""
    tokens = len(client) - 1
    mantissas, powers = np.zeros(degree + 1), np.zeros(degree + 1, dtype=np.int64)
    for r in range(degree + 1):
        largest = order_powers[r] + client_powers[0]
        for k in range(1, tokens + 1):
            largest = max(largest, order_powers[r + k] + client_powers[k])
        total = 0.0
        for k in range(tokens + 1):
            below = largest - order_powers[r + k] - client_powers[k]
            if below < _SPAN:
                total += orders[r + k] * client[k] * values[r + k] * _HALVES[below]
        mantissas[r], more = math.frexp(total)
        powers[r] = largest + more
    return mantissas, powers


@njit(cache=True)
def _dot(one: Vector, one_powers: Counts, other: Vector, other_powers: Counts, degree: int) -> tuple[float, int]:
    """Sum of products of the first degree + 1 entries, as a mantissa and a power of two."""
    largest = one_powers[0] + other_powers[0]
    for r in range(1, degree + 1):
        if other[r] > 0.0:
            largest = max(largest, one_powers[r] + other_powers[r])
    total = 0.0
    for r in range(degree + 1):
        below = largest - one_powers[r] - other_powers[r]
        if below < _SPAN:
            total += one[r] * other[r] * _HALVES[max(below, 0)]
    return total, largest


@njit(cache=True)
def _quotient(above: tuple[float, int], below: tuple[float, int]) -> float:
    return math.ldexp(above[0] / below[0], above[1] - below[1])


@njit(cache=True)
def _measures_kernel(
    populations: Counts,
    rate: float,
    times: Vector,
    processors: int,
    requests: int,
    share: float,
    work: float,
    largest: int,
) -> tuple[Vector, Vector, Vector, Vector]:
    rows, classes = populations.shape
    throughput = np.full((rows, classes), np.nan)
    mean_delay = np.full((rows, classes), np.nan)
    late = np.full((rows, classes), np.nan)
    busy = np.zeros(rows)
    most = requests * largest
    orders, order_powers = _arrangements(most, processors)
    ones = np.ones(most + 1)
    waits = np.ones(most + 1)  # mean time at the server by the others met, in mean service times
    for n in range(processors, most + 1):
        waits[n] = 1.0 + (n - processors + 1) / processors
    tails = delay_tails(work, processors, most + 1) if work >= 0 else ones
    base, base_powers = np.zeros(most + 1), np.zeros(most + 1, dtype=np.int64)
    product, powers = np.zeros(most + 1), np.zeros(most + 1, dtype=np.int64)
    for row in range(rows):
        base[0], base_powers[0] = 1.0, 0
        shared = 0
        for c in range(classes):
            if populations[row, c] > 1:
                client, client_powers = _client(rate * times[c], requests, share)
                for _ in range(populations[row, c] - 1):
                    shared = _join(base, base_powers, shared, client, client_powers)
        for tagged in range(classes):
            if populations[row, tagged] == 0:
                continue
            product[: shared + 1], powers[: shared + 1] = base[: shared + 1], base_powers[: shared + 1]
            others = shared
            for c in range(classes):
                if c != tagged and populations[row, c] > 0:
                    client, client_powers = _client(rate * times[c], requests, share)
                    others = _join(product, powers, others, client, client_powers)
            client, client_powers = _client(rate * times[tagged], requests, share)
            fewer, fewer_powers = _client(rate * times[tagged], requests - 1, share)
            vector, vector_powers = _by_others(others, client, client_powers, orders, order_powers, ones)
            full = _dot(product, powers, vector, vector_powers, others)
            vector, vector_powers = _by_others(others, fewer, fewer_powers, orders, order_powers, ones)
            met = _dot(product, powers, vector, vector_powers, others)
            throughput[row, tagged] = rate * _quotient(met, full)
            vector, vector_powers = _by_others(others, fewer, fewer_powers, orders, order_powers, waits)
            mean_delay[row, tagged] = _quotient(_dot(product, powers, vector, vector_powers, others), met) / rate
            busy[row] += populations[row, tagged] * throughput[row, tagged] / (processors * rate)
            if work >= 0:
                vector, vector_powers = _by_others(others, fewer, fewer_powers, orders, order_powers, tails)
                late[row, tagged] = min(1.0, _quotient(_dot(product, powers, vector, vector_powers, others), met))
        busy[row] = min(1.0, busy[row])
    return throughput, mean_delay, late, busy


def measures_of_tokens(
    populations: Counts,
    rate: float,
    times: Vector,
    processors: int,
    requests: int,
    share: float,
    delay: float | None,
) -> tuple[Vector, Vector, Vector, Vector]:
    """Throughput, mean delay and P(W > delay) of each class, and the utilisation: one row for each population."""
    largest = int(populations.sum(axis=1).max(initial=0))
    check_tokens(largest, requests)
    work = -1.0 if delay is None else min(rate * delay, LONGEST_WORK)
    useful = min(processors, max(1, requests * largest))  # more processors than tokens only thin out the utilisation
    throughput, mean_delay, late, busy = _measures_kernel(
        populations, rate, times, useful, requests, share, work, largest
    )
    if work == 0:
        late = np.where(np.isnan(late), late, 1.0)
    return throughput, mean_delay, late, busy * (useful / processors)


def check_tokens(clients: int, requests: int) -> None:
    """Refuse crowds with more tokens than are solved."""
    if clients * requests > TOKEN_LIMIT:
        raise ValueError(
            f"At most {TOKEN_LIMIT} requests of all clients at one server are solved exactly, but {clients} clients "
            f"with {requests} each came; ask about fewer."
        )


@njit(cache=True)
def _crowds_kernel(
    rate: float,
    near: float,
    own: Vector,
    processors: int,
    requests: int,
    share: float,
    least: float,
    below: float,
    work: float,
    most: int,
) -> Counts:
    found = np.zeros(len(own), dtype=np.int64)
    tokens = requests * most
    orders, order_powers = _arrangements(tokens, processors)
    ones = np.ones(tokens + 1)
    client, client_powers = _client(rate * near, requests, share)
    fewer, fewer_powers = _client(rate * near, requests - 1, share)
    others = requests * (most - 1)
    full, full_powers = np.zeros((len(own), others + 1)), np.zeros((len(own), others + 1), dtype=np.int64)
    met, met_powers = np.zeros((len(own), others + 1)), np.zeros((len(own), others + 1), dtype=np.int64)
    for d in range(len(own) if least > 0 else 0):
        there, there_powers = _client(rate * own[d], requests, share)
        full[d], full_powers[d] = _by_others(others, there, there_powers, orders, order_powers, ones)
        there, there_powers = _client(rate * own[d], requests - 1, share)
        met[d], met_powers[d] = _by_others(others, there, there_powers, orders, order_powers, ones)
    tails = delay_tails(work, processors, tokens + 1) if work >= 0 else ones
    late, late_powers = _by_others(others, fewer, fewer_powers, orders, order_powers, tails)
    all_met, all_met_powers = _by_others(others, fewer, fewer_powers, orders, order_powers, ones)
    product, powers = np.zeros(tokens + 1), np.zeros(tokens + 1, dtype=np.int64)
    product[0] = 1.0
    degree, alive = 0, len(own)
    for clients in range(1, most + 1):
        if work >= 0:
            total = _dot(product, powers, all_met, all_met_powers, degree)
            beyond = _quotient(_dot(product, powers, late, late_powers, degree), total)
            if not min(1.0, beyond) < below:
                break
        if least > 0:
            for d in range(alive):
                above = _dot(product, powers, met[d], met_powers[d], degree)
                each = rate * _quotient(above, _dot(product, powers, full[d], full_powers[d], degree))
                if each < least:
                    alive = d  # nor is it enough for anybody farther
                    break
        if alive == 0:
            break
        found[:alive] = clients
        if clients < most:
            degree = _join(product, powers, degree, client, client_powers)
    return found


def largest_crowds(
    rate: float,
    near: float,
    own: Sequence[float],
    processors: int,
    requests: int,
    share: float,
    min_throughput: float | None,
    max_delay_probability: float | None,
    delay: float | None,
    most: int,
) -> tuple[int, ...]:
    """Largest crowds in which a client with each of the think times `own` is served well among others that are `near`.

    For the i-th number all of own[0], ..., own[i] are served well enough in crowds up to that size, and so are clients
    that are `near` as to their delay. `most`, but no more than `TOKEN_LIMIT` / `requests`, is as far as we look.
    """
    most = min(most, TOKEN_LIMIT // requests)
    limited = max_delay_probability is not None and delay is not None
    # P(W > delay) is below 1 for every delay above 0, though it rounds to 1 for large crowds.
    if max_delay_probability == 1.0 and delay:
        limited = False
    if most == 0 or (limited and delay == 0):  # every request takes some time
        return (0,) * len(own)
    work = min(rate * (delay or 0.0), LONGEST_WORK) if limited else -1.0
    limit = min(most, _FIRST_LOOK)
    while True:
        found = _crowds_kernel(
            rate,
            near,
            np.array(own),
            min(processors, requests * limit),
            requests,
            share,
            min_throughput or 0.0,
            max_delay_probability if limited and max_delay_probability is not None else 2.0,
            work,
            limit,
        )
        if limit == most or found.max() < limit:
            return tuple(int(value) for value in found)
        limit = min(most, 4 * limit)
