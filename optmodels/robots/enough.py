"""How many robots ever help: numbers are doubled until the best policy never wants more than half of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from heuristics.search import spelled
from queueing import RobotQueue, best_policy
from queueing.robots import static_shares
from queueing.robots.fleet import best_fleet_policy, fleet_cost, mean_loads

from ..errors import RequestError
from .data import QueueData
from .pricing import of_states, state_costs

#: States up to which a search for the number of robots that help is finished whatever the clock says: some hundredths
#: of a second.
UNPAUSED = 100_000

#: States up to which the number is looked for at all. A policy may need values of twice the digits, and 250 bytes a
#: state with them: no more than 700 MB in all.
MOST_TRIED = 2_000_000

#: The same two for fleets: pages times robots up to which the number is looked for at all, and whatever the clock says.
MOST_SEARCHED, UNPAUSED_STATES = 100_000, 2_000

#: Powers of two above the number that keeps the server busy at which fixed numbers of robots are looked at.
SCANNED = 32

#: Golden section: what is left of a range.
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def enough_robots(capacity: int, first: int, wanted: Callable[[int], int], most_states: int = MOST_TRIED) -> int:
    """How many robots are as good as any number: as many as the best policy ever wants to have.

    `wanted(robots)` tells this of the best policy with so many robots. Numbers are doubled, from the `first` guess on,
    until it never wants more than half of them. It is then the best for every number in between. Where that would take
    more than `most_states`, it is said before anything that large is begun.
    """
    robots = max(2, first)
    while True:
        states = (capacity + 1) * (robots + 1)
        if states > most_states:
            raise RequestError(
                f"how many robots ever help at these prices could not be found: with {spelled(robots)} of them there "
                f"are {spelled(states)} states, where {most_states} are supported; give a number of robots."
            )
        found = wanted(robots)
        if 2 * found <= robots:
            return found
        robots = 2 * max(robots, found)


def twice_the_best_fixed(queue: RobotQueue, weights: Mapping[str, float]) -> int:
    """Twice the fixed number of robots that costs least, about, and some more: how many may help as a first guess.

    Fixed numbers are M/M/1/K queues. Their costs fall, then rise with the number, so that they are looked at where
    powers of two say; which number exactly is the best does not matter here. Starvation at a price of 1e200 makes it
    too large to be searched, which is then known before the first policy is computed.
    """

    def cost(robots: float) -> float:
        shares = static_shares(queue, robots)[:, 0]
        lengths = np.arange(queue.capacity + 1)
        return float(
            weights.get("starvation", 0.0) * shares[0]
            + weights.get("loss_rate", 0.0) * shares[-1] * robots * queue.arrival_rate
            + weights.get("mean_length", 0.0) * (lengths @ shares)
            + weights.get("active_robots", 0.0) * robots
        )

    powers = [2.0**power for power in range(max(0, math.ceil(math.log2(queue.balanced))) + SCANNED)]
    best = min(powers, key=cost)
    number = least_of(lambda robots: cost(float(robots)), max(1, int(best / 2)), int(2 * best))
    return 2 * number + 2 * math.isqrt(number) + queue.capacity


def least_of(value: Callable[[int], float], low: int, high: int) -> int:
    """A whole number between two where `value` is least among those looked at, by golden section."""
    while high - low > 3:
        step = round(GOLDEN * (high - low))
        left, right = high - step, low + step
        if left == right:
            right += 1
        low, high = (low, right) if value(left) <= value(right) else (left, high)
    return min(range(low, high + 1), key=value)


def enough_of_queue(queue: RobotQueue, weights: Mapping[str, float], pause: Callable[[], None] | None = None) -> int:
    """How many robots of the base model are as good as any number: one more than the best policy ever sends.

    `pause` is called now and then where the search is a large one; what it raises ends it.
    """

    def wanted(robots: int) -> int:
        larger = replace(queue, robots=robots)
        heeded = pause if (queue.capacity + 1) * robots > UNPAUSED else None
        if heeded is not None:
            heeded()  # a first stretch of it may take seconds, and the time may be up already
        found = best_policy(larger, state_costs(larger, weights), pause=heeded)
        return 1 + int(np.flatnonzero(found.policy.any(axis=0))[-1])

    return enough_robots(queue.capacity, twice_the_best_fixed(queue, weights), wanted)


def enough_of_fleet(plan: QueueData, weights: Mapping[str, float], pause: Callable[[], None]) -> int:
    """How many robots of one class are as good as any number: as many as the best policy ever wants to have out.

    `pause` is called now and then where the search is a large one; what it raises ends it.
    """

    def wanted(robots: int) -> int:
        fleet = plan.fleet(robots)
        heeded = pause if fleet.states > UNPAUSED_STATES else (lambda: None)
        found = best_fleet_policy(
            fleet, fleet_cost(fleet, **of_states(weights)), watch=lambda step: heeded(), pause=heeded
        )
        actions = found.actions.reshape(fleet.shape)
        out = fleet.robots_out.sum(axis=1)[np.newaxis, :, np.newaxis] + actions
        return int(out[actions > 0].max())

    # As a guess, journeys are exponential, and the world is what it is on average.
    rate = float(mean_loads(plan.fleet())[0]) * plan.service_rate
    alike = RobotQueue(1, plan.capacity, rate, plan.service_rate)
    return enough_robots(plan.capacity, twice_the_best_fixed(alike, weights), wanted, MOST_SEARCHED)
