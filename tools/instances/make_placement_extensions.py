"""Write the instances of sections 7.2 and 7.3 anew: python tools/instances/make_placement_extensions.py (a minute).

Demand and prices are those of corners of the paper's large example. All placements are evaluated.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import optmodels as om

FOLDER = Path(__file__).parents[2] / "instances" / "placement"


def corner(side: int) -> dict[str, Any]:
    """Data of a square corner of the paper's example, with the guarantee that holds for every mix."""
    data = json.loads((FOLDER / "gautam-6x6.json").read_text())["data"]
    data |= {name: [row[:side] for row in data[name][:side]] for name in ("demand", "opening_cost")}
    quality = {name: value for name, value in data["quality"].items() if name != "guarantee"}
    return {**data, "shape": [side, side], "quality": quality}


def requests() -> dict[str, Any]:
    """Two requests of each client at a time, and two stations in tandem."""
    return {
        "name": "requests-4x4",
        "source": "N. Gautam, EJOR 142 (2002), section 7.3, with the demand of a corner of section 6.1",
        "notes": (
            "Every client may have two requests under way, and works on an answer at two stations of equal mean times. "
            "The paper states the model and has no numbers for it."
        ),
        "data": {**corner(4), "requests": 2, "request_share": 0.5},
    }


def classes() -> dict[str, Any]:
    """Half of the clients of each cell save as well as browse, and are promised more."""
    data = corner(4)
    demand, times = data.pop("demand"), data.pop("think_time")
    browsing = [[(clients + 1) // 2 for clients in row] for row in demand]
    saving = [[clients // 3 for clients in row] for row in demand]
    quality = {"min_throughput": 1.2, "max_delay_probability": 0.02, "delay": 0.16}
    return {
        "name": "classes-4x4",
        "source": "N. Gautam, EJOR 142 (2002), section 7.2, with the demand of a corner of section 6.1",
        "notes": (
            "Of the clients of a cell half browse and a third save (the one rounded up, the other down). Who saves "
            "thinks longer and is promised a smaller probability of delay. The paper states the model and has no "
            "numbers for it."
        ),
        "data": {
            **data,
            "classes": [
                {"name": "browsing", "demand": browsing, "think_time": times},
                {
                    "name": "saving",
                    "demand": saving,
                    "think_time": {"base": 0.6, "per_distance": 0.05},
                    "quality": quality,
                },
            ],
        },
    }


def write(content: Mapping[str, Any]) -> None:
    """Prove the optimum by enumeration and write the file."""
    whole = {"format": 1, "kind": "placement", **content}
    problem = om.Instance.from_data(whole).problem()
    best = om.solve(problem, "exhaustive")
    assert best.status == "optimal" and best.objective is not None and best.decision is not None
    whole["best_known"] = {
        "objective": best.objective,
        "decision": list(best.decision),
        "proved": True,
        "by": f"enumeration of all {2 ** len(best.decision)} placements",
    }
    om.write_instance(om.Instance.from_data(whole), FOLDER / f"{content['name']}.json")
    print(content["name"], best.objective)


def main() -> None:
    """Write the files."""
    write(requests())
    write(classes())


if __name__ == "__main__":
    main()
