r"""Topologies of topohub, which ships SNDlib, the Topology Zoo and others.

Coordinates of a topology are degrees of longitude and latitude, or anything in a plane. Which of both nobody says; but
lengths of links are there, and where they are those of great circles the coordinates are degrees.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InstanceError

Floats = NDArray[np.float64]

#: Radius of the earth in kilometres, and how far lengths of links may be from great circles, in the median.
EARTH, ABOUT = 6371.0, 0.05


@dataclass(frozen=True, eq=False)
class Topology:
    """A named network.

    Parameters
    ----------
    topohub
        Its name there.
    names
        Of the nodes.
    places
        x and y of each node, as given.
    geographic
        Whether these are degrees of longitude and latitude.
    edges, lengths
        Pairs of nodes, each once, and the kilometres of the shortest link between them; ``nan`` where nobody says.
    demands
        What begins or ends at each node, in the unit of the topology: demands of all pairs, counted at both ends.

    Examples
    --------
    >>> from optmodels.placement.sources import read_topology
    >>> germany = read_topology("sndlib/germany50")
    >>> germany.names[14], germany.geographic, float(germany.demands[14])
    ('Essen', True, 110.0)
    """

    topohub: str
    names: tuple[str, ...]
    places: Floats
    geographic: bool
    edges: tuple[tuple[int, int], ...]
    lengths: tuple[float, ...]
    demands: Floats


def read_topology(name: Any) -> Topology:
    """Read a topology of topohub.

    Parameters
    ----------
    name
        Of the topology, such as ``"sndlib/germany50"``.

    Returns
    -------
    Topology
        What is known about it.

    Raises
    ------
    InstanceError
        If there is no such topology, or topohub is not installed.

    Examples
    --------
    >>> from optmodels.placement.sources import read_topology
    >>> len(read_topology("sndlib/germany50").edges)
    88
    """
    content = _content(name)
    number = {str(node["id"]): index for index, node in enumerate(content["nodes"])}
    lengths: dict[tuple[int, int], float] = {}
    for link in content.get("edges") or content.get("links") or []:
        ends = number[str(link["source"])], number[str(link["target"])]
        if ends[0] != ends[1]:
            lengths[ends] = min(lengths.get(ends, math.inf), float(link.get("dist", math.nan)))
    edges = tuple(sorted(lengths))
    demands = np.zeros(len(number))
    for here, others in (content["graph"].get("demands") or {}).items():
        for there, amount in others.items():
            for end in (here, there):
                demands[number[str(end)]] += float(amount)
    places = np.array([node["pos"] for node in content["nodes"]], dtype=float).reshape(-1, 2)
    kilometres = tuple(lengths[edge] for edge in edges)
    names = tuple(str(node.get("name", node["id"])) for node in content["nodes"])
    return Topology(name, names, places, are_degrees(places, edges, kilometres), edges, kilometres, demands)


def _content(name: Any) -> Mapping[str, Any]:
    try:
        import topohub
    except ImportError:
        raise InstanceError("", name, "named topologies need an extra: pip install 'optmodels[topohub]'.") from None
    # topohub.get reads a file by joining the name to its own folder: only plain names may pass.
    parts = name.split("/") if isinstance(name, str) else []
    if not parts or not all(part and part.strip(".") and "\\" not in part for part in parts):
        raise InstanceError("", name, 'a topology is named like "sndlib/germany50".')
    try:
        return dict(topohub.get(name))
    except (OSError, KeyError, ValueError):
        raise InstanceError("", name, "no such topology is shipped with topohub.") from None


def are_degrees(places: Floats, edges: Sequence[tuple[int, int]], lengths: Sequence[float]) -> bool:
    """Tell whether coordinates are degrees of longitude and latitude: links are as long as great circles then.

    Parameters
    ----------
    places
        x and y of each node.
    edges, lengths
        Pairs of nodes, and the kilometres between them.

    Returns
    -------
    bool
        Whether they are, by the median link.

    Examples
    --------
    >>> import numpy as np
    >>> from optmodels.placement.sources import are_degrees
    >>> berlin_to_munich = np.array([[13.48, 52.52], [11.57, 48.14]])
    >>> are_degrees(berlin_to_munich, [(0, 1)], [505.0]), are_degrees(berlin_to_munich, [(0, 1)], [4.8])
    (True, False)
    """
    if not edges or not (np.abs(places) <= (180.0, 90.0)).all():
        return False
    here, there = np.radians(places[np.array(edges)].transpose(1, 0, 2))
    angle = 2 * np.arcsin(
        np.sqrt(
            np.sin((here[:, 1] - there[:, 1]) / 2) ** 2
            + np.cos(here[:, 1]) * np.cos(there[:, 1]) * np.sin((here[:, 0] - there[:, 0]) / 2) ** 2
        )
    )
    known = np.array(lengths) > 0
    return bool(known.any()) and bool(np.median(np.abs(EARTH * angle[known] / np.array(lengths)[known] - 1)) < ABOUT)
