"""Small placements of many shapes, drawn at random: what clauses are tried on."""

import networkx as nx
import numpy as np

from optmodels.placement import PlacementProblem

SHAPES = ("grid", "tree", "star", "hub", "one", "cycle")

#: Servers with room for two or three cells.
RATES = (50.0, 40.0)


def graph_of(shape, sites, rng):
    if shape == "one" or sites == 1:
        return nx.empty_graph(1)
    if shape == "tree":
        return nx.random_labeled_tree(sites, seed=int(rng.integers(2**31)))
    if shape == "star":
        return nx.star_graph(sites - 1)
    if shape == "hub":
        return nx.barabasi_albert_graph(sites, 1 + (sites > 3), seed=int(rng.integers(2**31)))
    return nx.cycle_graph(sites)


def random_placement(seed, most=10):
    """A placement with at most `most` sites: some without clients, some with ties, some that nobody can serve."""
    rng = np.random.default_rng(seed)
    shape = SHAPES[seed % len(SHAPES)]
    if shape == "grid":
        rows = int(rng.integers(1, 4))
        layout = {"shape": [rows, int(rng.integers(1, most // rows + 1))]}
        sites = layout["shape"][0] * layout["shape"][1]
    else:
        graph = graph_of(shape, int(rng.integers(2, most + 1)), rng)
        sites = graph.number_of_nodes()
        layout = {"network": {"nodes": sites, "edges": [list(edge) for edge in graph.edges]}}
    demand = rng.integers(1, 13, sites) * (rng.random(sites) < 0.85)
    if seed % 7 == 3:  # a crowd that only several sites can share, or none
        demand[int(rng.integers(sites))] = 25
    law = int(rng.integers(4))
    prices = {
        0: rng.integers(1, 4, sites).astype(float),
        1: rng.uniform(1.0, 3.0, sites),
        2: np.ones(sites),
        3: rng.integers(0, 3, sites) * 0.25,
    }[law]
    rate = RATES[int(rng.integers(2))]
    data = {
        **layout,
        "demand": demand.reshape(layout["shape"]).tolist() if "shape" in layout else demand.tolist(),
        "opening_cost": prices.reshape(layout["shape"]).tolist() if "shape" in layout else prices.tolist(),
        "service_rate": rate,
        "think_time": {"base": 0.48, "per_distance": float(rng.choice([0.02, 0.05]))},
        "quality": {
            "min_throughput": float(rng.choice([1.2, 1.7])),
            "max_delay_probability": 0.1,
            "delay": 0.16,
            "guarantee": str(rng.choice(["worst-case", "farthest"])),
        },
    }
    return PlacementProblem.from_data(data, name=f"{shape}-{seed}")
