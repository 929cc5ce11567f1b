"""Write the p-median instance of kind "placement" anew: python tools/instances/make_placement_median.py (seconds).

The demand is that of a corner of `gautam-6x6`, servers are so fast that no capacity binds, and all sets of four sites
are tried.
"""

import itertools
import json
from pathlib import Path

import numpy as np

import optmodels as om

FOLDER = Path(__file__).parents[2] / "instances" / "placement"
SIDE, SITES = 5, 4


def main() -> None:
    """Write the file."""
    corner = json.loads((FOLDER / "gautam-6x6.json").read_text())
    content = {
        "format": 1,
        "kind": "placement",
        "name": "median-5x5",
        "source": "demand of a corner of gautam-6x6; S. L. Hakimi, Operations Research 12 (1964), states the problem",
        "notes": (
            "A p-median problem: four sites, so that the mean distance of a client to the nearest of them is least "
            "(1 is its own cell). Servers are so fast that no capacity binds."
        ),
        "data": {
            "shape": [SIDE, SIDE],
            "demand": [row[:SIDE] for row in corner["data"]["demand"][:SIDE]],
            "opening_cost": [[1] * SIDE] * SIDE,
            "service_rate": 2000,
            "think_time": {"base": 0.4, "per_distance": 0.02},
            "quality": {"min_throughput": 0.5, "max_delay_probability": 0.1, "delay": 0.16},
        },
        "cost": {"name": "weighted-sum", "weights": {"mean_distance": 1}},
        "limits": {"open_sites": {"max": SITES}},
    }
    problem = om.Instance.from_data(content).problem()
    assert problem.capacity.min() >= problem.demand.sum()
    sets = np.array(list(itertools.combinations(range(SIDE * SIDE), SITES)))
    total = np.concatenate(
        [problem.demand @ problem.distances[:, part].min(axis=2) for part in np.array_split(sets, 10)]
    )
    best = sets[total.argmin()]
    content["best_known"] = {
        "objective": float(total.min() / problem.demand.sum()),
        "decision": [int(site in best) for site in range(SIDE * SIDE)],
        "proved": True,
        "by": f"enumeration of all {len(sets)} sets of {SITES} sites, and highs",
    }
    om.write_instance(om.Instance.from_data(content), FOLDER / "median-5x5.json")
    print("median-5x5", content["best_known"]["objective"])


if __name__ == "__main__":
    main()
