"""Write the instances of kind "robots" with areas anew: python tools/instances/make_robots_areas.py (some seconds).

Every `best_known` is proved here, by enumeration where all splits can be listed and by dynamic programming over the
costs of areas where not, and judged again by `optmodels check`.
"""

from pathlib import Path

import optmodels as om

FOLDER = Path(__file__).parents[2] / "instances" / "robots"
SOURCE = "made up; queues as in J. Talim et al., Controlling the robots of web search engines, Sigmetrics 2001"

#: Name, capacity, rate of a robot, rate of service, importance.
THREE = (("news", 5, 0.3, 1.0, 2.0), ("shops", 8, 0.2, 1.0, 1.0), ("archive", 3, 0.5, 2.0, 0.5))
EIGHT = (
    ("news", 10, 0.1, 1.0, 3.0), ("weather", 5, 0.2, 1.0, 1.0), ("shops", 15, 0.1, 1.2, 2.0),
    ("forums", 8, 0.05, 0.8, 1.0), ("libraries", 20, 0.15, 0.9, 0.5), ("maps", 6, 0.25, 2.0, 1.5),
    ("blogs", 12, 0.08, 0.4, 0.5), ("archive", 4, 0.04, 0.5, 0.25),
)  # fmt: skip


def write(name: str, notes: str, robots: int, areas: tuple, control: str, strategy: str, by: str) -> None:
    """Solve one instance and write it."""
    fields = ("name", "capacity", "arrival_rate", "service_rate", "importance")
    listed = [dict(zip(fields, area, strict=True)) for area in areas]
    content: dict[str, object] = {"format": 1, "kind": "robots", "name": name, "source": SOURCE, "notes": notes}
    content |= {
        "data": {"robots": robots, "areas": listed, "control": control},
        "cost": {"name": "weighted-sum", "weights": {"starvation": 1.2, "loss_rate": 1}},
    }
    answer = om.solve(om.Instance.from_data(content).problem(), strategy)
    assert answer.status == "optimal", answer
    content["best_known"] = {
        "objective": answer.objective,
        "decision": list(answer.decision),
        "proved": True,
        "by": by.format(evaluations=answer.evaluations),
    }
    om.write_instance(om.Instance.from_data(content), FOLDER / f"{name}.json")
    print(name, answer.objective, list(answer.decision), answer.status, f"{answer.seconds:.3f} s")


def main() -> None:
    """Write all files."""
    write(
        "areas-3",
        "Small enough to list all splits; each area runs its best activation policy.",
        12, THREE, "dynamic", "exhaustive", "enumeration of all {evaluations} splits",
    )  # fmt: skip
    for control, how in (("dynamic", "runs its best activation policy"), ("static", "keeps all its robots active")):
        write(
            f"areas-8-{control}",
            f"60 robots where 74.5 would balance arrivals and services; each area {how}.",
            60, EIGHT, control, "marginal-analysis", "dynamic programming over the costs of areas by number of robots",
        )  # fmt: skip


if __name__ == "__main__":
    main()
