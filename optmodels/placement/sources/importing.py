"""Instances made of files of other collections, and what had to be chosen for that.

These collections have networks and cities; they have no queues. So every node is a client of its own and a site, a
given number p of sites is opened, and the cost is the sum of all distances, as the collections state it. Servers are as
they are asked for: by default so fast that no capacity binds, and the problem is the one of the collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ...errors import InstanceError, RequestError, suggestion
from ...instance import Instance
from ..layout import Network
from .lines import FORMATS
from .orlib import read_pmed
from .tsplib import read_tsplib

#: What a server is if nothing is asked for: nobody waits, and everybody is content.
CHOSEN: Mapping[str, float] = {
    "service_rate": 1e6,
    "base": 1.0,
    "per_distance": 0.0,
    "min_throughput": 0.0,
    "max_delay_probability": 1.0,
    "delay": 1.0,
}


def import_file(
    path: str | Path,
    format: Literal["orlib-pmed", "tsplib"],
    *,
    sites: int | None = None,
    clients: int = 1,
    name: str | None = None,
    **server: float,
) -> Instance:
    r"""Make an instance of a file of another collection.

    Parameters
    ----------
    path
        Of the file.
    format
        ``"orlib-pmed"``, a p-median problem of the OR-Library, or ``"tsplib"``, cities of TSPLIB with coordinates and a
        rule for distances (EUC_2D, CEIL_2D, ATT, GEO).
    sites
        How many sites are opened: that of the file by default; files of TSPLIB say nothing of that.
    clients
        At each node, or city.
    name
        Of the instance; by default that of the file.
    **server
        ``service_rate``, the think time a + b d as ``base`` and ``per_distance``, and the promise ``min_throughput``,
        ``max_delay_probability`` and ``delay``. What is left out is such that no capacity binds.

    Returns
    -------
    Instance
        Whose notes say what the file has and the model has not, and what was chosen.

    Raises
    ------
    InstanceError
        One sentence with file and line, if the file is no such file.
    RequestError
        If an option cannot be.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from optmodels.placement.sources import import_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "pmed0.txt")
    ...     _ = file.write_text("4 4 2\n1 2 3\n2 3 4\n3 4 5\n1 4 20\n")
    ...     problem = import_file(file, "orlib-pmed").problem()
    >>> problem.distances[0].tolist(), problem.evaluate((1, 0, 1, 0)).objective
    ([0.0, 3.0, 7.0, 12.0], 8.0)
    """
    if format not in FORMATS:
        raise RequestError(f"format must be one of {', '.join(FORMATS)}, got {format!r}.")
    for option in server:
        if option not in CHOSEN:
            raise RequestError(f"there is no option {option!r}. {suggestion(option, CHOSEN)}")
    for option, count in (("sites", sites), ("clients", clients)):
        if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
            raise RequestError(f"{option} must be a whole number from 1, got {count!r}.")
    stem = Path(path).stem.lower()
    if format == "orlib-pmed":
        given, nodes, found, told = _medians(path)
    else:
        given, nodes, found, told = _cities(path)
    count = found if sites is None else sites
    if count is None:
        raise RequestError(f"{path}: a file of TSPLIB does not say how many sites are opened; give sites (--sites P).")
    if count > nodes:
        raise RequestError(f"sites must be at most {nodes}, the number of nodes in {path}, got {count}.")
    asked = {**CHOSEN, **server}
    data = given | {
        "demand": [clients] * nodes,
        "opening_cost": [1] * nodes,
        "service_rate": asked["service_rate"],
        "think_time": {name: asked[name] for name in ("base", "per_distance")},
        "quality": {name: asked[name] for name in ("min_throughput", "max_delay_probability", "delay")},
    }
    content = {
        "format": 1,
        "kind": "placement",
        "name": name or stem or "imported",
        "source": f"{Path(path).name}, {told['source']}",
        "data": data,
        "cost": {"name": "weighted-sum", "weights": {"mean_distance": clients * nodes}},
        "limits": {"open_sites": {"min": count, "max": count}},
    }
    problem: Any = Instance.from_data(content).problem()
    everybody = clients * nodes
    binding = int(((problem.capacity < everybody) & np.isfinite(problem.think_times)).any(axis=1).sum())
    each = f"{clients} clients" if clients > 1 else "1 client"
    notes = [
        f"The file has {told['has']}; it has no clients, queues or promises.",
        f"So there is {each} at each node, every node is a site, exactly {count} are open, and the cost is the sum of "
        f"the distances of all clients{told['shift']}.",
        f"Service rate {asked['service_rate']:g}, think time {asked['base']:g} + {asked['per_distance']:g} d and "
        f"quality were {'given' if server else 'chosen'}.",
        f"At {binding} sites a capacity is below the number of all clients." if binding else "No capacity binds.",
    ]
    return Instance.from_data(content | {"notes": " ".join(notes)})


def _medians(path: str | Path) -> tuple[dict[str, Any], int, int | None, dict[str, str]]:
    found = read_pmed(path)
    network = Network(
        found.nodes, tuple((u, v) for u, v, _ in found.edges), None, tuple(cost for _, _, cost in found.edges)
    )
    try:
        network.distances  # noqa: B018 - says whether every node reaches every other
    except InstanceError as failure:
        rule = failure.rule.partition(";")[0]
        raise RequestError(f"{path}: {rule} (nodes are numbered from 0 here).") from None
    edges = [[u, v, int(cost) if cost.is_integer() else cost] for u, v, cost in found.edges]
    data = {
        "network": {"nodes": found.nodes, "edges": edges, "distance": "length"},
        "names": [str(node + 1) for node in range(found.nodes)],
    }
    repeated = ""
    if found.repeated:
        repeated = f" ({found.repeated} more lines repeat an edge, of which the last counts, or join a node to itself)"
    has = f"{found.nodes} nodes, {len(edges)} edges with costs{repeated}, and p = {found.sites}"
    source = "a p-median problem in the layout of the OR-Library (J. E. Beasley, JORS 41, 1990)"
    return data, found.nodes, found.sites, {"source": source, "has": has, "shift": ""}


def _cities(path: str | Path) -> tuple[dict[str, Any], int, int | None, dict[str, str]]:
    found = read_tsplib(path)
    distances = found.distances + 1  # a matrix of an instance has positive numbers
    count = len(found.labels)
    data = {
        "distances": distances.tolist(),
        "names": list(found.labels),
        "coordinates": found.drawn.tolist(),
    }
    has = f"{count} cities with coordinates, and the rule {found.rule} for their distances"
    shift = ", each 1 more than in TSPLIB, as a city is at distance 1 of itself"
    source = f"{found.name or 'cities'} in the layout of TSPLIB (G. Reinelt, ORSA J. Computing 3, 1991)"
    return data, count, None, {"source": source, "has": has, "shift": shift}
