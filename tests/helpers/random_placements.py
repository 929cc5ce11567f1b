"""Small placements of many shapes, drawn at random: what clauses are tried on."""

from dataclasses import replace

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


QUALITY = {"min_throughput": 1.7, "max_delay_probability": 0.1, "delay": 0.16}


def random_matrix(seed, most=7):
    """Sites and cells at any distances, symmetric or not, with ties or without; think times may have another order."""
    rng = np.random.default_rng(seed)
    sites, cells = (int(number) for number in rng.integers(1, most + 1, 2))
    distances = rng.integers(1, int(rng.choice([2, 4, 9])), (sites, cells)) * float(rng.choice([1e-3, 0.37, 1e5]))
    if seed % 3 == 1:
        distances = rng.uniform(0.5, 9.0, (sites, cells))
    slope = float(rng.choice([0.0, 0.1, 0.2])) / float(distances.max())
    think_time = {"base": float(rng.uniform(0.4, 0.5)), "per_distance": slope}
    if rng.random() < 0.4:
        think_time = {"by_pair": rng.choice([0.45, 0.5, 0.52, 0.55, 0.9], (sites, cells)).tolist()}
    return PlacementProblem.from_data(
        {
            "distances": distances.tolist(),
            "clients": cells,
            "demand": np.where(rng.random(cells) < 0.2, 0, rng.integers(1, 13, cells)).tolist(),
            "opening_cost": (rng.integers(0, 5, sites) * float(rng.choice([1.0, 0.3]))).tolist(),
            "service_rate": rng.choice([40.0, 50.0, 60.0], sites).tolist(),
            "think_time": think_time,
            "quality": QUALITY | {"guarantee": str(rng.choice(["farthest", "worst-case"]))},
        },
        name=f"matrix-{seed}",
    )


def random_scenarios(seed, most=6):
    """One of several demands, of equal or of any probabilities, some without clients."""
    rng = np.random.default_rng(seed)
    graph = graph_of(("tree", "star", "cycle")[seed % 3], int(rng.integers(2, most + 1)), rng)
    sites, count = graph.number_of_nodes(), int(rng.integers(1, 7))
    weights = np.ones(count) if seed % 2 else rng.integers(1, 9, count)
    if seed % 5 == 4:
        weights = rng.uniform(0.001, 1.0, count)
    demands = rng.integers(0, 16, (count, sites)) * (rng.random((count, sites)) < rng.choice([0.3, 0.9]))
    return PlacementProblem.from_data(
        {
            "network": {"nodes": sites, "edges": [list(edge) for edge in graph.edges]},
            "scenarios": [
                {"probability": float(weight / weights.sum()), "demand": demand.tolist()}
                for weight, demand in zip(weights, demands, strict=True)
            ],
            "opening_cost": rng.integers(1, 5, sites).tolist(),
            "service_rate": rng.choice([26.0, 40.0, 50.0], sites).tolist(),
            "think_time": {"base": 0.48, "per_distance": float(rng.choice([0.005, 0.02]))},
            "quality": QUALITY
            | {
                "guarantee": str(rng.choice(["worst-case", "farthest"])),
                "scenario_probability": float(rng.choice([0.2, 0.5, 0.6, 0.75, 0.9, 1.0])),
            },
        },
        name=f"scenarios-{seed}",
    )


def random_classes(seed, most=6):
    """Two or three classes of clients with promises of their own; think times by distance or by pair."""
    rng = np.random.default_rng(seed)
    graph = graph_of(("tree", "star", "cycle")[seed % 3], int(rng.integers(2, most + 1)), rng)
    sites, count = graph.number_of_nodes(), 2 + (seed % 4 == 0)
    classes = []
    for number in range(count):
        think_time = {"base": float(rng.uniform(0.3, 0.8)), "per_distance": float(rng.choice([0.0, 0.02, 0.1]))}
        if rng.random() < 0.2:
            think_time = {"by_pair": rng.choice([0.4, 0.6, 0.8], (sites, sites)).tolist()}
        promised = {
            "min_throughput": float(rng.choice([0.0, 0.8, 1.0])),
            "max_delay_probability": float(rng.choice([0.05, 0.2, 1.0])),
            "delay": float(rng.choice([0.2, 0.6])),
        }
        demand = rng.integers(0, 9 if count == 2 else 4, sites) * (rng.random(sites) < 0.8)
        demand[0] += not demand.any()
        classes.append({"name": f"c{number}", "demand": demand.tolist(), "think_time": think_time, "quality": promised})
    return PlacementProblem.from_data(
        {
            "network": {"nodes": sites, "edges": [list(edge) for edge in graph.edges]},
            "classes": classes,
            "opening_cost": rng.integers(1, 5, sites).tolist(),
            "service_rate": rng.choice([14.0, 20.0, 26.0], sites).tolist(),
            "processors": int(rng.integers(1, 3)),
            "quality": QUALITY,
        },
        name=f"classes-{seed}",
    )


def random_operating(seed, most=6):
    """A network or a matrix with prices of utilisation, under the guarantee that holds for every mix of clients."""
    rng = np.random.default_rng(seed)
    plain = random_matrix(seed, most) if seed % 2 else random_placement(seed, most)
    sites = plain.layout.sites
    operating = rng.uniform(0.0, 3.0, sites) * (rng.random(sites) < 0.8)
    fields = {"quality": replace(plain.quality, guarantee="worst-case"), "operating_cost": operating}
    if seed % 3 == 0:
        fields |= {"requests": 2, "request_share": 0.3}
    return replace(plain, **fields, processors=rng.integers(1, 3, sites))
