"""What a policy of robots achieves, of one queue or of a fleet."""

from dataclasses import dataclass

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
    """What a policy achieves.

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
    """

    starvation: float
    loss_rate: float
    active_robots: float
    mean_length: float
    response_time: float | None
    fewest_robots: int
    most_robots: int

    def scalars(self) -> dict[str, float | None]:
        """The measures by name."""
        return {name: getattr(self, name) for name in MEASURES}
