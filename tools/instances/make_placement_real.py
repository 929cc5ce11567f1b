"""Write the instance of kind "placement" that is made of a real network: python tools/instances/make_placement_real.py.

Needs the extra `topohub`; the file that is written does not. The proofs take seconds.
"""

from pathlib import Path

import numpy as np

import optmodels as om
from optmodels.placement.sources import published_demand, read_topology

FOLDER = Path(__file__).parents[2] / "instances" / "placement"
PER_CLIENT = 20


def main() -> None:
    """Write the file, with the optimum and who proved it."""
    germany = read_topology("sndlib/germany50")
    edges = [[u, v, length] for (u, v), length in zip(germany.edges, germany.lengths, strict=True)]
    content = {
        "format": 1,
        "kind": "placement",
        "name": "germany50-demands",
        "source": (
            "topology sndlib/germany50 of topohub (nodes in its order), with its demands, kilometres and coordinates, "
            "written out so that the extra is not needed; S. Orlowski and others, Networks 55 (2010), describe SNDlib"
        ),
        "notes": (
            f"Clients: demands of all pairs, summed by node (each counts at both ends), over {PER_CLIENT}, rounded up. "
            "The rest is chosen: every site costs 1, and think times grow by 0.0002 a kilometre, so that a site takes "
            "up to 22 of them, and nobody from beyond 441 km."
        ),
        "data": {
            "network": {"nodes": len(germany.names), "edges": edges, "distance": "length"},
            "names": list(germany.names),
            "coordinates": germany.places.tolist(),
            "demand": published_demand({"topohub": "sum", "per_client": PER_CLIENT}, germany).tolist(),
            "opening_cost": [1] * len(germany.names),
            "service_rate": 50,
            "think_time": {"base": 0.48, "per_distance": 0.0002},
            "quality": {"min_throughput": 1.7, "max_delay_probability": 0.1, "delay": 0.16},
        },
    }
    problem = om.Instance.from_data(content).problem()
    reaches = np.broadcast_to(problem.layout.reaches, problem.capacity.shape)
    assert (problem.capacity[:, 0] == 22).all()  # as the notes say
    assert (problem.capacity[reaches > 441] == 0).all() and (problem.capacity[reaches <= 441] > 0).all()
    proved = om.solve(problem, "highs")
    assert proved.status == "optimal"
    content["best_known"] = {
        "objective": proved.objective,
        "decision": list(proved.decision),
        "proved": True,
        "by": "highs, and clauses",
    }
    assert om.solve(problem, "clauses").bound == proved.objective
    om.write_instance(om.Instance.from_data(content), FOLDER / "germany50-demands.json")
    print("germany50-demands", proved.objective)


if __name__ == "__main__":
    main()
