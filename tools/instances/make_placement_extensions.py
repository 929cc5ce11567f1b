"""Write the instances of sections 7 and 8 anew: python tools/instances/make_placement_extensions.py [NAME...].

Demand and prices are those of corners of the paper's large example. All placements are evaluated; where sites have
types, all sets of open sites are, with the cheapest type that suffices at each.
"""

import json
import math
import sys
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

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


def priorities() -> dict[str, Any]:
    """Few clients save, and go first."""
    data = corner(3)
    demand, times = data.pop("demand"), data.pop("think_time")
    return {
        "name": "priorities-3x3",
        "source": "N. Gautam, EJOR 142 (2002), section 7.2, with the demand of a corner of section 6.1",
        "notes": (
            "Of the clients of a cell half browse (rounded up) and a sixth save (rounded down). Who saves goes first, "
            "without interrupting anybody, and is promised a smaller probability of delay: first come, first served, "
            "no placement keeps that promise. The paper states such classes and has no numbers for them."
        ),
        "data": {
            **data,
            "service_rate": 30,
            "classes": [
                {
                    "name": "saving",
                    "demand": [[clients // 6 for clients in row] for row in demand],
                    "think_time": times,
                    "quality": {"min_throughput": 1.2, "max_delay_probability": 0.03, "delay": 0.16},
                    "priority": 0,
                },
                {
                    "name": "browsing",
                    "demand": [[(clients + 1) // 2 for clients in row] for row in demand],
                    "think_time": times,
                    "priority": 1,
                },
            ],
        },
    }


def scenarios() -> dict[str, Any]:
    """A usual day, a busy one, and a crowd in one corner, of which the rarest may go wrong."""
    data = corner(4)
    usual = np.array(data.pop("demand"))
    crowd = usual // 2
    crowd[:2, :2] += 9
    days = [(0.7, usual), (0.2, (usual * 1.3).astype(int)), (0.1, crowd)]
    return {
        "name": "scenarios-4x4",
        "source": "N. Gautam, EJOR 142 (2002), section 8, with the demand of a corner of section 6.1",
        "notes": (
            "A usual day, one with 1.3 times the clients (rounded down), and one with a crowd in the upper left corner "
            "and half the clients elsewhere. Quality is kept with probability 0.9 at least. The paper names random "
            "demand as future work."
        ),
        "data": {
            **data,
            "scenarios": [{"probability": chance, "demand": day.tolist()} for chance, day in days],
            "quality": {**data["quality"], "scenario_probability": 0.9},
        },
    }


def types() -> dict[str, Any]:
    """Small servers at the price of the paper, and large ones for 1 more."""
    data = corner(4)
    prices = np.array(data.pop("opening_cost"))
    del data["service_rate"]
    servers = [("small", 40, prices), ("large", 60, prices + 1)]
    return {
        "name": "types-4x4",
        "source": "N. Gautam, EJOR 142 (2002), section 7, with the demand of a corner of section 6.1",
        "notes": (
            "Two types of servers: the paper's prices are those of small ones, slower than the paper's, and a large "
            "one costs 1 more at every site. The paper has no numbers for it."
        ),
        "data": {
            **data,
            "server_types": [
                {"name": name, "service_rate": rate, "opening_cost": cost.tolist()} for name, rate, cost in servers
            ],
        },
    }


def distances() -> dict[str, Any]:
    """Sites at the crossings between the cells, as the crow flies."""
    data = corner(4)
    del data["shape"]
    cells = np.array(list(product(range(4), repeat=2)), float)
    sites = np.array(list(product((0.5, 1.5, 2.5), repeat=2)))
    apart = np.round(1.0 + np.hypot(*(sites[:, None] - cells[None]).transpose(2, 0, 1)), 3)
    return {
        "name": "distances-9x16",
        "source": "N. Gautam, EJOR 142 (2002), with the demand of a corner of section 6.1",
        "notes": (
            "Clients live in the 16 cells of a 4 x 4 grid, and sites are at the 9 crossings between them: distances "
            "are 1 and the length of the straight line, rounded to three digits. Servers are faster than the paper's, "
            "since most cells have four nearest crossings."
        ),
        "data": {
            **data,
            "distances": apart.tolist(),
            "clients": 16,
            "demand": np.array(data["demand"]).ravel().tolist(),
            "opening_cost": [2, 3, 2, 1, 2, 2, 3, 1, 2],
            "service_rate": 90,
        },
    }


def pairs() -> dict[str, Any]:
    """Think times by site and cell, the paper's indices: some lines are slow."""
    data = corner(4)
    cells = np.array(list(product(range(4), repeat=2)))
    steps = np.abs(cells[:, None] - cells[None]).sum(axis=2) + 1
    linear = data["think_time"]
    site, cell = np.indices(steps.shape)
    late = 0.04 * ((5 * site + 3 * cell) % 7 == 0)
    return {
        "name": "pairs-4x4",
        "source": "N. Gautam, EJOR 142 (2002), section 3, with the demand of a corner of section 6.1",
        "notes": (
            "Mean think times by site and cell: those of the grid, and 0.04 more on every seventh line, so that they "
            "are no function of the distance."
        ),
        "data": {
            **data,
            "think_time": {"by_pair": np.round(linear["base"] + linear["per_distance"] * steps + late, 3).tolist()},
        },
    }


def write(content: Mapping[str, Any]) -> None:
    """Prove the optimum by enumeration and write the file."""
    whole = {"format": 1, "kind": "placement", **content}
    problem = om.Instance.from_data(whole).problem()
    if "server_types" in content["data"]:
        found = cheapest_types(problem)
        by = f"enumeration of all {2**problem.layout.sites} sets of open sites, and highs"
    else:
        best = om.solve(problem, "exhaustive")
        assert best.status == "optimal" and best.decision is not None
        found, by = tuple(best.decision), f"enumeration of all {2 ** len(best.decision)} placements"
    judged = problem.evaluate(found)
    assert judged.feasible
    whole["best_known"] = {"objective": judged.objective, "decision": list(found), "proved": True, "by": by}
    om.write_instance(om.Instance.from_data(whole), FOLDER / f"{content['name']}.json")
    print(content["name"], judged.objective)


def cheapest_types(problem: Any) -> tuple[int, ...]:
    """The best placement: who goes where depends on the open sites alone, and so every site may choose for itself."""
    best, found = math.inf, ()
    sites = range(problem.layout.sites)
    for is_open in product((0, 1), repeat=len(sites)):
        load, farthest = problem.load_and_farthest(is_open)
        fits = problem.capacities[:, sites, np.maximum(farthest, 1) - 1] >= load
        prices = np.where(fits, problem.costs, np.inf)
        price = prices.min(axis=0)[np.array(is_open, bool)].sum() if any(is_open) else math.inf
        if price < best:
            best, found = float(price), tuple((np.array(is_open) * (prices.argmin(axis=0) + 1)).tolist())
    assert found
    return found


MADE: tuple[Callable[[], dict[str, Any]], ...] = (
    requests,
    classes,
    priorities,
    scenarios,
    types,
    distances,
    pairs,
)


def main() -> None:
    """Write the files, or those that are named."""
    for make in MADE:
        content = make()
        if len(sys.argv) < 2 or content["name"] in sys.argv[1:]:
            write(content)


if __name__ == "__main__":
    main()
