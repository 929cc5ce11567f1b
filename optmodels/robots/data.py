"""Reading the data and prices of a robot instance: every field checked, every complaint one sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from heuristics.search import spelled
from queueing import RobotQueue, best_policy
from queueing.robots import static_shares

from ..costs import CostFunction, Limits, WeightedSum, linear_weights
from ..data import is_number, is_whole, refuse_unknown
from ..errors import InstanceError, MissingField, RequestError

FIELDS = {"robots", "capacity", "arrival_rate", "service_rate", "switching"}

#: Fields that the base model does not know: a file with one of them is about a fleet.
FLEET_FIELDS = ("classes", "travel_time", "environment")

SWITCHING = 'robots are switched "one" at a time, or "any" number of them.'

#: Measures that are means over time, and so costs of states: what exact methods take prices of.
PRICED = ("starvation", "loss_rate", "active_robots", "mean_length")

#: More states than this are refused: a decision has an entry for each.
MOST_STATES = 5_000_000

#: Powers of two above the number that keeps the server busy at which fixed numbers of robots are looked at.
SCANNED = 32

#: States up to which a search for the number of robots that help is finished whatever the clock says: some hundredths
#: of a second.
UNPAUSED = 100_000

#: Golden section: what is left of a range.
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0

#: Weights of prices beyond this are refused, rates beyond the second or below its inverse, and prices that come to more
#: than the third with the fastest rate or the longest time: products of them must be numbers.
HIGHEST, FASTEST, DEAREST = 1e50, 1e200, 1e250


def is_fleet(data: Mapping[str, Any]) -> bool:
    """Whether the data ask for more than the base model has."""
    return any(name in data for name in FLEET_FIELDS) or data.get("switching") == "any"


def read_fields(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the data, each checked on its own and with the others."""
    refuse_unknown(data, FIELDS, "data")
    for name in ("robots", "capacity", "arrival_rate", "service_rate"):
        if name not in data:
            raise MissingField(f"data.{name}", "a queue with robots needs it.")
    robots, capacity = data["robots"], data["capacity"]
    if robots is not None and (not is_whole(robots) or robots < 1):
        rule = "robots are counted in whole numbers, 1 or more; null stands for as many as ever help."
        raise InstanceError("data.robots", robots, rule)
    if not is_whole(capacity) or capacity < 2:
        raise InstanceError("data.capacity", capacity, "the capacity is a whole number of pages, 2 or more.")
    states = (int(capacity) + 1) * (int(robots or 1) + 1)
    if states > MOST_STATES:
        rule = f"numbers of pages and robots make {spelled(states)} states, and at most {MOST_STATES} are supported."
        name = "robots" if robots is not None and robots > capacity else "capacity"
        raise InstanceError(f"data.{name}", data[name], rule)
    rates = {name: read_rate(data[name], f"data.{name}") for name in ("arrival_rate", "service_rate")}
    switching = data.get("switching", "one")
    if switching != "one":
        raise InstanceError("data.switching", switching, SWITCHING)
    found: dict[str, Any] = {
        "robots": None if robots is None else int(robots),
        "capacity": int(capacity),
        **rates,
    }
    try:
        RobotQueue(**{**found, "robots": found["robots"] or 1})
    except ValueError as refusal:  # rates too far apart
        raise InstanceError("data.arrival_rate", data["arrival_rate"], str(refusal)) from None
    return found


def read_rate(value: Any, place: str) -> float:
    """Events per unit of time."""
    if not is_number(value) or value <= 0:
        raise InstanceError(place, value, "rates are finite numbers above 0.")
    if not 1 / FASTEST <= value <= FASTEST:
        rule = f"rates lie between {1 / FASTEST:g} and {FASTEST:g}; measure time in another unit."
        raise InstanceError(place, value, rule)
    return float(value)


def read_name(data: Mapping[str, Any], place: str) -> str | None:
    """The name of a class or an area, if it has one."""
    name = data.get("name")
    if name is not None and (not isinstance(name, str) or not name.strip() or not name.isprintable()):
        raise InstanceError(f"{place}.name", name, "names are printable text on one line.")
    return name


def refuse_same_names(names: Sequence[str | None], place: str) -> None:
    """Refuse two classes or areas that could not be told apart."""
    for index, name in enumerate(names):
        if name is not None and name in names[:index]:
            raise InstanceError(f"{place}[{index}].name", name, f"no two {place.split('.')[-1]} have the same name.")


def priced_cost(cost: CostFunction | None, *rates: float) -> CostFunction | None:
    """The cost with its defaults: a price on starvation is needed, losses cost 1 unless said.

    Parameters
    ----------
    cost
        Of the measures.
    rates
        Of the model: prices times rates, and times the longest times, must be numbers.
    """
    given = linear_weights(cost)
    if given is None:
        return cost
    weights = dict(given)
    highest = DEAREST / max(1.0, *rates, *(1.0 / rate for rate in rates))
    if "starvation" not in weights:
        raise MissingField("cost.weights.starvation", "the price of an idle server, a number above 0, is needed.")
    for name, weight in weights.items():
        place = f"cost.weights.{name}"
        if name == "starvation" and not weight > 0:
            raise InstanceError(place, weight, "the price of an idle server is a number above 0.")
        if weight < 0:
            raise InstanceError(place, weight, "prices are zero or more.")
        if weight > highest:
            raise InstanceError(place, weight, f"prices are {highest:g} at most where rates are as here.")
    if not isinstance(cost, WeightedSum):  # what it says is what it costs
        return cost
    return WeightedSum({"starvation": weights["starvation"], "loss_rate": 1.0} | weights)


def is_additive(cost: CostFunction | None) -> bool:
    """Whether a cost is a sum of prices of states: a weighted sum of measures that are means over time."""
    weights = linear_weights(cost)
    return weights is not None and all(weight == 0 or name in PRICED for name, weight in weights.items())


def refuse_unbounded(cost: CostFunction | None, limits: Limits) -> None:
    """Refuse what leaves the question open how many robots help."""
    if limits:
        rule = "with limits on measures the number of robots must be given."
        raise InstanceError("data.robots", None, rule)
    if not is_additive(cost):
        names = ", ".join(PRICED)
        rule = f"how many robots ever help is only known for a weighted sum of {names}; give their number."
        raise InstanceError("data.robots", None, rule)
    if not any((linear_weights(cost) or {}).get(name, 0) > 0 for name in PRICED[1:]):
        rule = "robots without end would help where only starvation has a price; give their number."
        raise InstanceError("data.robots", None, rule)


def enough_robots(capacity: int, first: int, wanted: Callable[[int], int], most_states: int = MOST_STATES) -> int:
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
        found = best_policy(larger, state_costs(larger, weights), pause=heeded)
        return 1 + int(np.flatnonzero(found.policy.any(axis=0))[-1])

    return enough_robots(queue.capacity, twice_the_best_fixed(queue, weights), wanted)


def state_costs(queue: RobotQueue, weights: Mapping[str, float]) -> Any:
    """Cost per unit of time by state, for these prices of measures."""
    return queue.cost(**of_states(weights))


def of_states(weights: Mapping[str, float]) -> dict[str, float]:
    """Prices of what is counted in states, as `RobotQueue.cost` and `fleet_cost` take them."""
    names = {"starvation": "starvation", "loss_rate": "loss_rate", "length": "mean_length", "robots": "active_robots"}
    return {price: weights.get(measure, 0.0) for price, measure in names.items()}
