"""What a policy of robots achieves, of one queue or of a fleet."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

#: Names of the measures, in the order of `RobotMeasures`.
MEASURES = (
    "starvation",
    "loss_rate",
    "active_robots",
    "mean_length",
    "response_time",
    "fewest_robots",
    "most_robots",
)


@dataclass(frozen=True)
class RobotMeasures:
    """What a policy of robots achieves, of one queue or of a fleet.

    Attributes
    ----------
    starvation
        probability that the server has nothing to do.
    loss_rate
        pages per unit of time that find the buffer full.
    active_robots
        mean number of active robots.
    mean_length
        mean number of pages, the one in service included.
    response_time
        mean time in the system of pages that are not lost, by Little's law; None if every page is.
    fewest_robots, most_robots
        among the states that recur.

    Examples
    --------
    >>> from queueing import RobotQueue, static_measures
    >>> found = static_measures(RobotQueue(4, 2, 0.25), robots=4)
    >>> round(found.mean_length, 12), round(found.response_time, 12)
    (1.0, 1.5)
    >>> sorted(found.scalars())[:3]
    ['active_robots', 'fewest_robots', 'loss_rate']
    """

    starvation: float
    loss_rate: float
    active_robots: float
    mean_length: float
    response_time: float | None
    fewest_robots: int
    most_robots: int

    @classmethod
    def of(cls, totals: Iterable[float], service_rate: float, fewest: int, most: int, **more: Any) -> Self:
        """Make measures of averages by state: starvation, losses, robots, pages, and the time in which it is busy."""
        starvation, lost, active, length, busy = (float(value) for value in totals)
        response = length / (service_rate * busy) if busy > 0 else None
        return cls(starvation, lost, active, length, response, fewest, most, **more)

    def scalars(self) -> dict[str, float | None]:
        """Take the measures by name."""
        return {name: getattr(self, name) for name in MEASURES}
