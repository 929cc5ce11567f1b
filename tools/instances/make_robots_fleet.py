"""Write the instances of robot fleets, kind "robots", anew: python tools/instances/make_robots_fleet.py (some seconds).

The files are plain data and stand on their own; this script only saves typing. Every `best_known` is found and proved
by policy iteration here and judged again by `optmodels check`.
"""

from pathlib import Path

import optmodels as om

FOLDER = Path(__file__).parents[2] / "instances" / "robots"
SOURCE = "optmodels: the queue of Talim et al. (2001) with more to it; all numbers are made up"
UNIT = "The unit of time is the mean time of indexing a page."

TWO_STAGES = {"initial": [1, 0], "generator": [[-0.06, 0.06], [0, -0.06]]}
HOURS = {
    "generator": [[-0.004, 0.004, 0], [0.002, -0.006, 0.004], [0, 0.01, -0.01]],
    "factors": [1.5, 1, 0.5],
}


def write(name: str, notes: str, weights: dict[str, float], **data: object) -> None:
    """Solve one instance and write it."""
    content: dict[str, object] = {"format": 1, "kind": "robots", "name": name, "source": SOURCE}
    content |= {"notes": f"{notes} {UNIT}", "data": data | {"service_rate": 1.0}}
    content["cost"] = {"name": "weighted-sum", "weights": weights}
    answer = om.solve(om.Instance.from_data(content).problem(), "policy-iteration")
    lower, upper = answer.extra["bracket"]
    assert answer.status == "optimal" and upper - lower <= 1e-10 * lower, answer
    content["best_known"] = {
        "objective": answer.objective,
        "decision": list(answer.decision),
        "proved": True,
        "by": f"policy iteration, bracket {lower!r} to {upper!r}",
    }
    om.write_instance(om.Instance.from_data(content), FOLDER / f"{name}.json")
    print(name, answer.extra["states"], answer.objective, answer.extra["best_static"], f"{answer.seconds:.3f} s")


def main() -> None:
    """Write all files."""
    FOLDER.mkdir(exist_ok=True)
    write(
        "fleet-any-50",
        "Fifty fetchers, each of which takes as long for a page as the indexer for 25. After a page was brought or "
        "indexed the dispatcher may start as many fetches as it likes.",
        {"starvation": 7 / 6, "loss_rate": 1},
        robots=50, capacity=12, arrival_rate=0.04, switching="any",
    )  # fmt: skip
    write(
        "fleet-classes-2",
        "Thirty fetchers in a data centre near the sites and thirty that are three times as slow, far away. The near "
        "ones alone do not keep the indexer busy. Who is sent, and when?",
        {"starvation": 1.2, "loss_rate": 1},
        classes=[
            {"name": "near", "robots": 30, "arrival_rate": 0.03},
            {"name": "far", "robots": 30, "arrival_rate": 0.01},
        ],
        capacity=10,
    )  # fmt: skip
    write(
        "fleet-environment",
        "Sites answer half as fast again at night, and half as fast in the rush hours, as by day. The dispatcher knows "
        "the hour: a night lasts 250 times of indexing, a stretch of day 167, a rush hour 100.",
        {"starvation": 1.2, "loss_rate": 1},
        robots=60, capacity=10, arrival_rate=0.03, environment=HOURS,
    )  # fmt: skip
    write(
        "fleet-erlang",
        "A fetch has two stages, looking up the name and loading the page, equally long on average. The dispatcher "
        "sees how many fetches are in each.",
        {"starvation": 1.2, "loss_rate": 1},
        robots=60, capacity=10, travel_time=TWO_STAGES,
    )  # fmt: skip
    write(
        "fleet-two-robots",
        "Two slow robots, both of which may be sent out at once: small enough to list all policies. One at a time the "
        "least cost is 0.790826.",
        {"starvation": 5 / 3, "loss_rate": 1},
        robots=2, capacity=3, arrival_rate=0.3, switching="any",
    )  # fmt: skip
    write(
        "fleet-all-small",
        "A few robots of everything: quick ones, slow ones whose journeys have two stages, and a network that is "
        "congested a third of the time, which slows the quick ones more. Pages in the system have a price too.",
        {"starvation": 1.5, "loss_rate": 1, "mean_length": 0.01},
        classes=[
            {"name": "quick", "robots": 4, "arrival_rate": 0.3},
            {"name": "slow", "robots": 3, "travel_time": {"initial": [1, 0], "generator": [[-0.4, 0.4], [0, -0.2]]}},
        ],
        capacity=5,
        environment={"generator": [[-0.05, 0.05], [0.1, -0.1]], "factors": [[1, 1], [0.3, 0.8]]},
    )  # fmt: skip


if __name__ == "__main__":
    main()
