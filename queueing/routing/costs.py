r"""What it costs to send arriving packets to servers without buffers, in an order fixed beforehand.

A slot is one arrival. A packet sent to server m, d slots after the last one sent there, costs :math:`f_m(d)`; a word of
n servers repeated for ever, whose gaps at server m are :math:`\delta_j^m`, costs a slot [1]_

.. math::  g = \frac{1}{n} \sum_m \sum_j f_m(\delta_j^m).                                   \tag{6}

Gap costs are convex as a rule and, but for those that grow faster than any line, have an asymptote,

.. math::  f_m(d) = a_m d + C_m + r_m(d), \qquad r_m \ge 0 \text{ falling to } 0.

As gaps sum to time, :math:`a_m d` costs :math:`a_m` a slot whatever is done: also where server m is never used, which
then costs nothing else. With :math:`T_d` the time of d slots, :math:`S_m` a service and :math:`w_m` a weight:

=============  ===================================================  ============  ==============================
application    :math:`f_m(d)`                                       :math:`a_m`   :math:`C_m`
=============  ===================================================  ============  ==============================
losses         :math:`w_m P(S_m \ge T_d)`                           0             0
freshness      :math:`w_m E(T_d - S_m)^+ / E\tau`                   :math:`w_m`   :math:`-w_m E S_m / E\tau`
=============  ===================================================  ============  ==============================

A loss is a packet still in service when the next one comes to its server; g counts losses per arrival. For freshness a
service is the time until a page changes, and g is the weighted sum of fractions of time that pages are out of date.

References
----------
.. [1] E. Altman, S. Bhulai, B. Gaujal, A. Hordijk, "Open-loop routeing to M parallel servers with no buffers",
   *Journal of Applied Probability* 37 (2000), 668-684.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from ..numerics import Matrix, Vector, equally_many
from ..processes import PhaseType, not_negative_numbers
from .arrivals import Arrivals, Service, checked_service
from .cost_tables import GapCosts

Word = NDArray[np.int64]

#: Weights that come to more than this with the time of a service, in times between arrivals, are refused: sums of them
#: over gaps must be numbers.
LARGEST_WEIGHT = 1e250


@dataclass(frozen=True, eq=False)
class _Served:
    """Gap costs of services, for losses or freshness."""

    arrivals: Arrivals
    services: tuple[Service, ...]
    weights: Vector
    freshness: bool

    def rows(self, count: int) -> tuple[Matrix, Matrix]:
        table, remainders = np.empty((len(self.services), count)), np.empty((len(self.services), count))
        seen: dict[Service, tuple[Vector, Vector]] = {}
        mean = self.arrivals.mean
        for server, service in enumerate(self.services):
            if service not in seen:
                lives = self.arrivals.lives(service, count)
                seen[service] = (
                    (lives.stale / mean, lives.beyond / mean) if self.freshness else (lives.alive, lives.alive)
                )
            table[server] = self.weights[server] * seen[service][0]
            remainders[server] = self.weights[server] * seen[service][1]
        return table, remainders


def loss_costs(arrivals: Arrivals, services: Sequence[Service], weights: ArrayLike | None = None) -> GapCosts:
    r"""Make gap costs of lost packets: a packet in service is lost when the next one comes to its server.

    Parameters
    ----------
    arrivals
        `RenewalArrivals`, `MarkovArrivals` or `TraceArrivals`.
    services
        by server, its rate if services are exponential, else their law.
    weights
        what a loss costs, by server; 1 if left out.

    Returns
    -------
    GapCosts
        :math:`f_m(d) = w_m P(S_m \ge T_d)`, with slope and limit 0.

    Notes
    -----
    These are convex where services are exponential, and wherever their density falls; services of nearly constant
    length make them concave at first: see `not_convex`. Costs are per arrival, as in equation (6) of Altman et al.
    (2000); multiply by the arrival rate for losses per unit of time.

    Examples
    --------
    >>> from queueing import Exponential, RenewalArrivals, loss_costs, word_cost
    >>> costs = loss_costs(RenewalArrivals(Exponential(1.0)), [1.0, 2.0])
    >>> round(word_cost(costs, [0, 1, 1]), 6)
    0.189815
    """
    laws, prices = _servers(arrivals, services, weights)
    nothing = np.zeros(len(laws))
    return GapCosts(_Served(arrivals, laws, prices, freshness=False), nothing, nothing)


def freshness_costs(arrivals: Arrivals, services: Sequence[Service], weights: ArrayLike | None = None) -> GapCosts:
    r"""Make gap costs of pages out of date: a robot visits pages in a fixed order, page m changes after a time S_m.

    Parameters
    ----------
    arrivals
        the visits of the robot.
    services
        by page, its change rate, or the law of the time from a visit to the next change.
    weights
        what a page out of date costs per unit of time; 1 if left out.

    Returns
    -------
    GapCosts
        :math:`f_m(d) = w_m E(T_d - S_m)^+ / E\tau`, always convex, with slope :math:`w_m` and limit
        :math:`-w_m E S_m / E\tau`.

    Notes
    -----
    The cost of a slot is then the weighted sum of the fractions of time that pages are out of date: the robot of Altman
    et al. (2000), section 6, and the cost (4) of Coffman et al. (1998).

    Examples
    --------
    >>> from queueing import Constant, RenewalArrivals, freshness_costs, word_cost
    >>> costs = freshness_costs(RenewalArrivals(Constant(1.0)), [0.5, 0.1])
    >>> round(word_cost(costs, [0, 0, 1]), 6)
    0.452334
    """
    laws, prices = _servers(arrivals, services, weights)
    means = np.array([law.mean if isinstance(law, PhaseType) else 1.0 / law for law in laws])
    return GapCosts(_Served(arrivals, laws, prices, freshness=True), prices, -prices * means / arrivals.mean)


def _servers(
    arrivals: Arrivals, services: Sequence[Service], weights: ArrayLike | None
) -> tuple[tuple[Service, ...], Vector]:
    if not len(services):
        raise ValueError("services must not be empty, but there is no server; give a rate or a law for each server.")
    laws = tuple(checked_service(service, f"services[{index}]") for index, service in enumerate(services))
    longest = np.ones(len(laws))
    for index, law in enumerate(laws):
        load = arrivals.mean / law.mean if isinstance(law, PhaseType) else arrivals.mean * law
        if not 1e-150 < load < 1e150:
            raise ValueError(
                f"services[{index}] must end between 1e-150 and 1e150 times in the mean time between arrivals, but it "
                f"ends {load!r} times; give rates and times that are nearer to one another."
            )
        longest[index] = max(1.0, 1.0 / load)
    prices = np.ones(len(laws)) if weights is None else not_negative_numbers("weights", weights)
    equally_many("services and weights", len(laws), len(prices), "give one weight for each server.")
    dear = prices > LARGEST_WEIGHT / longest
    if dear.any():
        index = int(dear.argmax())
        raise ValueError(
            f"weights[{index}] must be at most {LARGEST_WEIGHT / float(longest[index])!r}, but it is "
            f"{float(prices[index])!r}; measure weights in a larger unit."
        )
    return laws, prices


# -- words ------------------------------------------------------------------------------------------------------------


def word_gaps(word: ArrayLike, servers: int) -> list[NDArray[np.int64]]:
    """Find, by server, the inter-visit gaps of a word repeated for ever.

    Parameters
    ----------
    word
        servers of one period, numbered from 0.
    servers
        how many there are.

    Returns
    -------
    list of array
        by server, its gaps in order from its first use; they sum to the word's length, and there are none if the server
        is not in the word.

    Examples
    --------
    >>> from queueing import word_gaps
    >>> [gaps.tolist() for gaps in word_gaps([0, 1, 0, 0, 2], servers=3)]
    [[2, 1, 2], [5], [5]]
    """
    slots = _words(np.asarray(word)[None], servers)[0]
    places = [np.flatnonzero(slots == server) for server in range(servers)]
    return [np.append(used[1:], used[:1] + len(slots)) - used for used in places]


def word_cost(costs: GapCosts, word: ArrayLike) -> float:
    r"""Compute the average cost of a slot when this word is repeated for ever.

    Parameters
    ----------
    costs
        of gaps, by server.
    word
        servers of one period, numbered from 0.

    Returns
    -------
    float
        the cost of a slot. A server that is not in the word costs its slope: inf if its costs grow faster than any
        line, nan if not known.

    Notes
    -----
    With :math:`\delta_j^m` the gaps of the word of length n at server m,

    .. math::  g = \frac{1}{n} \sum_m \sum_j f_m(\delta_j^m).

    References
    ----------
    .. [1] E. Altman, S. Bhulai, B. Gaujal, A. Hordijk, "Open-loop routeing to M parallel servers with no buffers",
       *Journal of Applied Probability* 37 (2000), 668-684; equation (6).

    Examples
    --------
    >>> from queueing import callable_costs, word_cost
    >>> costs = callable_costs([lambda d: d**2, lambda d: 2 * d**2])
    >>> word_cost(costs, [0, 0, 1])
    7.666666666666667
    """
    return float(words_cost(costs, np.asarray(word)[None])[0])


def words_cost(costs: GapCosts, words: ArrayLike) -> Vector:
    """Compute the average cost of a slot of each of several words of one length.

    Parameters
    ----------
    costs
        of gaps, by server.
    words
        one word in each row.

    Returns
    -------
    Vector
        `word_cost` of each row.

    Examples
    --------
    >>> from queueing import callable_costs, words_cost
    >>> costs = callable_costs([lambda d: d**2, lambda d: 2 * d**2])
    >>> words_cost(costs, [[0, 1, 1], [0, 0, 1]])
    array([6.33333333, 7.66666667])
    """
    slots = _words(words, costs.servers)
    found: Vector = _word_costs(slots, costs.table(_longest_gap(slots, costs.servers)), costs.slopes)
    return found


def horizon_cost(costs: GapCosts, actions: ArrayLike, initial: ArrayLike) -> float:
    r"""Compute the cost of finitely many slots: of all gaps that end in them and of those cut off at their end.

    Parameters
    ----------
    costs
        of gaps, by server.
    actions
        server of each slot.
    initial
        by server, slots since a packet was last sent there, at least 1; inf if none ever was.

    Returns
    -------
    float
        the sum over the horizon, not an average.

    Notes
    -----
    With :math:`x_m(t)` the slots since a packet was last sent to server m,

    .. math::  \sum_{t=1}^{T} f_{a_t}(x_{a_t}(t)) + \sum_m f_m(x_m(T + 1)).

    References
    ----------
    .. [1] E. Altman, S. Bhulai, B. Gaujal, A. Hordijk, "Open-loop routeing to M parallel servers with no buffers",
       *Journal of Applied Probability* 37 (2000), 668-684; equation (1) is the second sum.

    Examples
    --------
    The costs of Altman et al. (2000), Example 3.5, two slots from the state (1, 2).

    >>> from queueing import callable_costs, horizon_cost
    >>> costs = callable_costs([lambda d: d**2, lambda d: 2 * d**2])
    >>> horizon_cost(costs, [0, 1], initial=[1, 2])
    25.0
    """
    slots = _words(np.asarray(actions)[None], costs.servers)[0]
    ages = _ages(initial, costs.servers)
    terms = []
    for slot in slots:
        terms.append(_at(costs, int(slot), ages[slot]))
        ages = [age + 1 for age in ages]
        ages[slot] = 1
    terms += [_at(costs, server, age) for server, age in enumerate(ages)]
    return math.fsum(terms)


def _at(costs: GapCosts, server: int, age: float) -> float:
    if age < math.inf:
        return float(costs.table(int(age))[server, int(age) - 1])
    return float(costs.limits[server]) if costs.slopes[server] == 0 else math.inf


def _ages(initial: ArrayLike, servers: int) -> list[float]:
    ages = [float(age) for age in np.atleast_1d(np.asarray(initial, dtype=np.float64))]
    if len(ages) != servers:
        raise ValueError(
            f"initial must hold one number for each of {servers} servers, but it holds {len(ages)}; give one each."
        )
    for server, age in enumerate(ages):
        if not (age >= 1 and (age == math.inf or age == int(age))):
            raise ValueError(
                f"initial[{server}] must be a whole number of at least 1, or inf, but it is {age!r}; "
                "give the slots since a packet was last sent there."
            )
    return ages


def _words(words: ArrayLike, servers: int) -> Word:
    """Return words as whole numbers, or refuse them and name the first that is no server."""
    given = np.asarray(words)
    if given.ndim != 2 or given.size == 0 or given.dtype.kind not in "iu":
        raise ValueError(
            f"A word must be a list of one server or more, but {given.squeeze().tolist()!r:.60} is none; "
            f"give whole numbers from 0 to {servers - 1}."
        )
    slots = np.ascontiguousarray(given, dtype=np.int64)
    wrong = (slots < 0) | (slots >= servers)
    if wrong.any():
        row, slot = np.argwhere(wrong)[0]
        raise ValueError(
            f"A word must be made of servers from 0 to {servers - 1}, but slot {slot} holds {slots[row, slot]}; "
            "number servers from 0."
        )
    return slots


@njit(cache=True)
def _longest_gap(words: Word, servers: int) -> int:
    longest, length = 1, words.shape[1]
    for row in range(len(words)):
        last = np.full(servers, -1)
        first = np.full(servers, -1)
        for slot in range(length):
            server = words[row, slot]
            if first[server] < 0:
                first[server] = slot
            else:
                longest = max(longest, slot - last[server])
            last[server] = slot
        for server in range(servers):
            if first[server] >= 0:
                longest = max(longest, first[server] + length - last[server])
    return longest


@njit(cache=True)
def _word_costs(words: Word, table: Matrix, slopes: Vector) -> Vector:
    servers, length = len(table), words.shape[1]
    found = np.zeros(len(words))
    first, last = np.empty(servers, dtype=np.int64), np.empty(servers, dtype=np.int64)
    for row in range(len(words)):
        first[:] = -1
        total = 0.0
        for slot in range(length):
            server = words[row, slot]
            if first[server] < 0:
                first[server] = slot
            else:
                total += table[server, slot - last[server] - 1]
            last[server] = slot
        unused = 0.0
        for server in range(servers):
            if first[server] >= 0:
                total += table[server, first[server] + length - last[server] - 1]
            else:
                unused += slopes[server]
        found[row] = total / length + unused
    return found
