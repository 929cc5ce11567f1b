r"""Robots that bring pages to one indexing server, sent out or kept back after every event.

Each of r active robots brings a page at rate :math:`\lambda`; a robot that comes back is idle until it is sent out
again. The server takes a page in an exponential time of rate :math:`\mu`; at most K pages wait or are served, a page
that finds K of them is lost. After a service or an arrival one more robot may be activated. The state is (q, r) *after*
that decision: the type of the last event, which Talim et al. (2001) [1]_ carry along, says nothing more.

A policy is one array: :math:`\varphi(q, r) = 1` if, when an event leaves q pages and r active robots, one more is
activated. In their words :math:`\pi(q, r, 0) = \varphi(q-1, r)` after a departure and
:math:`\pi(q, r, 1) = \varphi(\min(q+1, K), r-1)` after an arrival. The empty system without robots, (0, 0), is
excluded: there a robot is always activated.

References
----------
.. [1] J. Talim, Z. Liu, P. Nain, E. G. Coffman Jr., "Controlling the robots of web search engines", *Proc. ACM
   Sigmetrics* 2001, *Performance Evaluation Review* 29 (1), 236-244.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..numerics import positive, whole
from .feedback_states import Grid, Policy, Reduced, Turns, closed_class, expectations, solved, turns_of
from .levels import Curve, curve_of, levels_of
from .measures import RobotMeasures

if TYPE_CHECKING:
    from .fleet import RobotFleet

#: A policy with more cuts than the first is evaluated level by level if it is a falling curve, and with more than the
#: second state by state if it is none: through cuts takes the square of their number in memory, the cube in steps.
FEW_CUTS, MOST_CUTS = 1_000, 5_000

#: Pages up to which chains are eliminated level by level: a level holds a table of pages by pages, a gigabyte beside
#: some thousands of them, where taking states out one by one needs little more than the states themselves.
MOST_PAGES = 4_000


@dataclass(frozen=True)
class RobotQueue:
    r"""One server, and robots that are sent out one at a time.

    Parameters
    ----------
    robots
        N: how many there are.
    capacity
        K >= 2: most pages in the system, the one in service included.
    arrival_rate
        lambda: pages that one active robot brings per unit of time.
    service_rate
        mu.

    Notes
    -----
    Each of r active robots brings a page at rate :math:`\lambda` and is idle afterwards; after every event one more
    robot may be activated. The state is (q, r), pages and active robots after that decision; a policy is one array of
    shape (K + 1, N + 1) with :math:`\varphi(q, r) = 1` where one more is activated. `measures` evaluates any policy to
    full relative accuracy; the cost of Talim et al. (2001) is

    .. math::  W_\pi = \gamma S_\pi + L_\pi,

    with S the starvation probability and L the loss rate [1]_ (section 3, from equations 1 and 5).

    References
    ----------
    .. [1] J. Talim, Z. Liu, P. Nain, E. G. Coffman Jr., "Controlling the robots of web search engines", *Proc. ACM
       Sigmetrics* 2001, *Performance Evaluation Review* 29 (1), 236-244.

    Examples
    --------
    >>> from queueing import RobotQueue
    >>> queue = RobotQueue(robots=16, capacity=5, arrival_rate=0.1)
    >>> found = queue.measures(queue.base_stock(10))
    >>> round(found.starvation, 6), round(found.loss_rate, 6)
    (0.166667, 0.166667)
    """

    robots: int
    capacity: int
    arrival_rate: float
    service_rate: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "robots", whole("robots", self.robots, least=1))
        object.__setattr__(self, "capacity", whole("capacity", self.capacity, least=2))
        object.__setattr__(self, "arrival_rate", positive("arrival_rate", self.arrival_rate))
        object.__setattr__(self, "service_rate", positive("service_rate", self.service_rate))
        ratio = self.service_rate / self.arrival_rate
        if not 1e-100 < ratio < 1e100:
            raise ValueError(
                f"service_rate / arrival_rate must be between 1e-100 and 1e100, but it is {ratio!r}; "
                "bring the rates nearer to one another."
            )

    @property
    def shape(self) -> tuple[int, int]:
        """Queue lengths and numbers of robots: shape of a policy."""
        return self.capacity + 1, self.robots + 1

    @property
    def balanced(self) -> float:
        """Number of robots, not whole, that bring pages as fast as they are served."""
        return self.service_rate / self.arrival_rate

    @cached_property
    def fleet(self) -> "RobotFleet":
        """The queue as a fleet of one class, whose states have the same numbers."""
        from .fleet import fleet_of

        return fleet_of(self.robots, self.capacity, self.arrival_rate, self.service_rate)

    @cached_property
    def rates(self) -> Grid:
        """By state, what is counted per unit of time: starvation, losses, robots, pages, busy time, and time.

        That the server works is counted by itself: one minus starvation would lose it where it is small.
        """
        lengths, robots = np.indices(self.shape, dtype=np.float64)
        empty, full = lengths == 0, lengths == self.capacity
        found = np.stack(
            [empty, np.where(full, self.arrival_rate * robots, 0.0), robots, lengths, ~empty, np.ones(self.shape)]
        )
        found.flags.writeable = False
        return found

    def cost(self, starvation: float, loss_rate: float = 1.0, length: float = 0.0, robots: float = 0.0) -> Grid:
        """Cost per unit of time by state, for these weights of the measures."""
        lengths, active = np.arange(self.capacity + 1.0), np.arange(self.robots + 1.0)
        found: Grid = length * lengths[:, None] + robots * active
        found[0] += starvation
        found[-1] += loss_rate * (self.arrival_rate * active)
        return found

    # -- policies -----------------------------------------------------------------------------------------------------

    def policy(self, values: ArrayLike) -> Policy:
        """Return `values`, flat or by queue length and robots, as a policy of this queue, or refuse them."""
        array = np.asarray(values)
        if array.size != self.shape[0] * self.shape[1]:
            raise ValueError(
                f"a policy needs {self.shape[0]} x {self.shape[1]} entries, one for each queue length and number of "
                f"active robots, but {array.size} came; give one 0 or 1 each."
            )
        flat = array.reshape(-1)
        bad = np.flatnonzero((flat != 0) & (flat != 1))
        if len(bad):
            raise ValueError(f"policy[{bad[0]}] must be 0 or 1, but it is {flat[bad[0]]!r}; give such a number.")
        grid: Policy = np.ascontiguousarray(flat.reshape(self.shape), dtype=np.int8)
        most = np.flatnonzero(grid[:, -1])
        if len(most):
            raise ValueError(
                f"policy[{int(most[0]) * self.shape[1] + self.robots}] must be 0, but it is 1: with all "
                f"{self.robots} robots active none is left to activate."
            )
        if grid[0, 0] != 1:
            raise ValueError("policy[0] must be 1, but it is 0: without pages and robots nothing would ever happen.")
        return grid

    def base_stock(self, robots: int) -> Policy:
        """The policy that keeps this many robots active, whatever the queue."""
        grid: Policy = np.zeros(self.shape, dtype=np.int8)
        grid[:, :robots] = 1
        grid[0, 0] = 1
        return grid

    def reduced(self, policy: Policy, rates: Grid | None = None) -> tuple[Turns, Reduced]:
        """The chain of a policy on its cuts, with `rates` collected, those of all measures unless said."""
        collected = self.rates if rates is None else rates
        turns, reduced = solved(policy, self.arrival_rate, self.service_rate, collected)
        return turns, reduced

    def measures(self, policy: ArrayLike) -> RobotMeasures:
        """All measures of a policy, to full relative accuracy.

        If the policy has several closed classes of states, each one's measures count with the probability that the
        chain, which starts at (0, 1), ends there.
        """
        grid = self.policy(policy)
        cuts = len(turns_of(grid, self.arrival_rate, self.service_rate).cuts) if grid.size > FEW_CUTS else 0
        if cuts > FEW_CUTS:
            curve, falls = curve_of(grid)
            if falls and self.capacity <= MOST_PAGES:
                return self._along(grid, curve)
            if falls or cuts > MOST_CUTS:
                return self._as_a_fleet(grid)
        turns, reduced = self.reduced(grid)
        if not np.isfinite(reduced.loads[:, reduced.ends]).all():
            # Times between visits to a state are beyond all numbers: states are taken out one by one instead.
            return self._as_a_fleet(grid)
        shares = self._shares(turns, reduced)
        totals, fewest, most = np.zeros(5), self.robots, 0
        for share, end in zip(shares, reduced.ends, strict=True):
            if share > 0:
                totals += share * reduced.loads[:-1, end] / reduced.loads[-1, end]
                robots = np.flatnonzero(closed_class(grid, *(int(place) for place in turns.cuts[end])).any(axis=0))
                fewest, most = min(fewest, int(robots[0])), max(most, int(robots[-1]))
        return RobotMeasures.of(totals, self.service_rate, fewest, most)

    def _along(self, policy: Policy, curve: Curve) -> RobotMeasures:
        """Measures of a falling curve, level by level."""
        totals = np.zeros(5)
        for column, rates in enumerate(self.rates[:-1]):
            levels = levels_of(curve, self.arrival_rate, self.service_rate, np.ascontiguousarray(rates))
            totals[column] = levels.inside[0, levels.end] / levels.inside[1, levels.end]
        robots = np.flatnonzero(closed_class(policy, levels.end, levels.middle).any(axis=0))
        return RobotMeasures.of(totals, self.service_rate, int(robots[0]), int(robots[-1]))

    def _as_a_fleet(self, policy: Policy) -> RobotMeasures:
        from .fleet import fleet_measures

        return fleet_measures(self.fleet, policy)

    def _shares(self, turns: Turns, reduced: Reduced) -> NDArray[np.float64]:
        """Probabilities of ending in each closed class, from (0, 1)."""
        count = len(reduced.ends)
        if count == 1:
            return np.ones(1)
        nothing = np.zeros(self.shape)
        arguments = (turns, reduced, np.zeros(len(turns.cuts)), nothing)
        return np.array([expectations(*arguments, np.eye(count)[end])[0, 1] for end in range(count)])


def static_shares(queue: RobotQueue, robots: ArrayLike) -> Grid:
    r"""Stationary distribution of the queue length for fixed numbers of active robots, all at once: M/M/1/K.

    Parameters
    ----------
    queue
        the queue; its own number of robots does not count.
    robots
        one number of active robots, or several.

    Returns
    -------
    Grid
        by queue length (rows) and number of robots (columns), :math:`p_q = \rho^q / \sum_i \rho^i`,
        :math:`\rho = r \lambda / \mu`. Powers of loads above 1 are taken of their inverse, from the full queue down.

    Examples
    --------
    >>> from queueing.robots import RobotQueue, static_shares
    >>> static_shares(RobotQueue(8, 2, 0.25), [2, 4]).round(6).tolist()
    [[0.571429, 0.333333], [0.285714, 0.333333], [0.142857, 0.333333]]
    """
    load = np.atleast_1d(np.asarray(robots, dtype=np.float64)) * (queue.arrival_rate / queue.service_rate)
    lengths = np.arange(queue.capacity + 1.0)[:, np.newaxis]
    weights = np.where(load <= 1, 1.0, 0.0) * np.minimum(load, 1.0) ** lengths
    weights += np.where(load <= 1, 0.0, 1.0) * np.minimum(1.0 / load, 1.0) ** lengths[::-1]
    return np.asarray(weights / weights.sum(axis=0))


def static_measures(queue: RobotQueue, robots: int) -> RobotMeasures:
    r"""Measures with a fixed number of active robots: an M/M/1/K queue.

    Parameters
    ----------
    queue
        the queue; its own number of robots does not count.
    robots
        how many are always active, at least 1.

    Returns
    -------
    RobotMeasures
        of that policy.

    Notes
    -----
    Probabilities are quotients of sums of powers, :math:`p_q = \rho^q / \sum_i \rho^i` with
    :math:`\rho = r \lambda / \mu`, which equation (9) of Talim et al. (2001) writes with differences that vanish at
    :math:`\rho = 1`:

    .. math::  C_s(\rho, \gamma, K) = \frac{(1 - \rho)(\gamma + \mu \rho^{K+1})}{1 - \rho^{K+1}}
               = \gamma p_0 + \rho \mu \, p_K.

    Examples
    --------
    >>> from queueing import RobotQueue, static_measures
    >>> found = static_measures(RobotQueue(16, 5, 0.1), robots=10)
    >>> round(1.4 * found.starvation + found.loss_rate, 6)
    0.4
    """
    load = robots * queue.arrival_rate / queue.service_rate
    exponents = np.arange(queue.capacity + 1)
    weights = load ** (exponents if load <= 1 else exponents - queue.capacity)
    probabilities = weights / weights.sum()
    length = float(exponents @ probabilities)
    busy = float(probabilities[1:].sum())
    return RobotMeasures(
        starvation=float(probabilities[0]),
        loss_rate=float(probabilities[-1]) * robots * queue.arrival_rate,
        active_robots=float(robots),
        mean_length=length,
        response_time=length / (busy * queue.service_rate),
        fewest_robots=robots,
        most_robots=robots,
    )


def balancing_weight(capacity: int) -> float:
    r"""The weight of starvation at which arrivals should balance services.

    Parameters
    ----------
    capacity
        K.

    Returns
    -------
    float
        :math:`\gamma(K) = (K + 2) / K`.

    Notes
    -----
    For a smaller weight the best fixed number of robots is at most :math:`\lceil \mu / \lambda \rceil`, for a larger
    one at least :math:`\lfloor \mu / \lambda \rfloor`, and for this one it is one of the two: Talim et al. (2001),
    Proposition 3.

    Examples
    --------
    >>> from queueing import balancing_weight
    >>> balancing_weight(5)
    1.4
    """
    return (capacity + 2) / capacity


def best_static(queue: RobotQueue, starvation: float, loss_rate: float = 1.0) -> int:
    r"""The best fixed number of robots, however many there are.

    Parameters
    ----------
    queue
        the queue; its own number of robots does not count.
    starvation
        gamma: weight of the starvation probability.
    loss_rate
        weight of the loss rate.

    Returns
    -------
    int
        the number n of least cost :math:`C(n \lambda / \mu, \gamma, K)`; of two equal costs, the smaller number.

    Raises
    ------
    ValueError
        if it would be 2**60 or more.

    Notes
    -----
    The cost as a function of the load has one minimum; it is found by bisection on the sign of the difference between
    neighbours. Talim et al. (2001), Proposition 3 and equation (10).

    Examples
    --------
    >>> from queueing import RobotQueue, balancing_weight, best_static
    >>> queue = RobotQueue(16, 5, 0.1)
    >>> best_static(queue, balancing_weight(5)), best_static(queue, 10.0)
    (10, 16)
    """

    def cost(robots: int) -> float:
        found = static_measures(queue, robots)
        return starvation * found.starvation + loss_rate * found.loss_rate

    low, high = 1, 2
    while cost(high) < cost(high - 1):
        low, high = high, 2 * high
        if high > 2**60:
            raise ValueError(
                f"The best fixed number of robots must be below 2^60, but for weights {starvation!r} of starvation and "
                f"{loss_rate!r} of losses it is not; price losses higher."
            )
    while high - low > 1:  # cost falls from low - 1 to low, and does not from high - 1 to high
        middle = (low + high) // 2
        if cost(middle) < cost(middle - 1):
            low = middle
        else:
            high = middle
    return low if low == 1 or cost(low) <= cost(high) else high if math.isfinite(cost(high)) else low
