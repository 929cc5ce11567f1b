"""Uncapacitated p-median problems of the OR-Library.

The first line has the number of nodes n, that of edges and p; each line that follows has both ends of an edge, numbered
from 1, and its cost. Of lines about the same edge the last one counts, as the library says. Every node is a client and
a site, and distances are those of shortest paths.

References
----------
.. [1] J. E. Beasley, "OR-Library: distributing test problems by electronic mail", *Journal of the Operational Research
   Society* 41 (1990) 1069-1072.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..layout import MOST_SITES
from .lines import MOST_LINES, Lines

_FIRST = "the first line has three whole numbers: nodes, edges and p, the number of sites."
_EDGE = "an edge is a line of three numbers: both ends, from 1, and the cost."


@dataclass(frozen=True)
class Medians:
    """A p-median problem on a network.

    Parameters
    ----------
    nodes, sites
        How many nodes there are, and how many of them are to be sites: p.
    edges
        Each once: both ends, numbered from 0, smaller first, and the cost.
    repeated
        How many lines are about an edge that an earlier line has, too.
    """

    nodes: int
    sites: int
    edges: tuple[tuple[int, int, float], ...]
    repeated: int


def read_pmed(path: str | Path) -> Medians:
    """Read a p-median problem of the OR-Library.

    Parameters
    ----------
    path
        Of the file.

    Returns
    -------
    Medians
        What it says.

    Raises
    ------
    InstanceError
        One sentence with the file and the line.

    Examples
    --------
    >>> from optmodels.placement.sources import read_pmed
    >>> read_pmed("README.md")
    Traceback (most recent call last):
    optmodels.errors.InstanceError: README.md: line 1 is "# optmodels"; the first line has three whole numbers: ...
    """
    lines = Lines(path)
    texts = iter(lines)
    words = next(texts, "").split()
    if not words:
        lines.ended(_FIRST)
    if len(words) != 3:
        lines.refuse(_FIRST)
    nodes = lines.whole(words[0], 1, MOST_SITES, "the number of nodes")
    count = lines.whole(words[1], 0, MOST_LINES, "the number of edges")
    sites = lines.whole(words[2], 1, nodes, "p")
    costs: dict[tuple[int, int], float] = {}
    found = 0
    for text in texts:
        words = text.split()
        if found == count:
            lines.refuse(f"the first line says that there are {count} edges, and here is one more line.")
        if len(words) != 3:
            lines.refuse(_EDGE)
        ends = [lines.whole(word, 1, nodes, "an end of an edge") - 1 for word in words[:2]]
        cost = lines.real(words[2], "a cost")
        if cost <= 0:
            lines.refuse("costs are positive: nodes without a distance between them are one node.")
        found += 1
        if ends[0] != ends[1]:  # the way from a node to itself costs nothing, whatever is said
            edge = (min(ends), max(ends))
            costs[edge] = cost
    if found < count:
        lines.ended(f"the first line says that there are {count} edges, and there are {found}.")
    edges = tuple((u, v, cost) for (u, v), cost in sorted(costs.items()))
    return Medians(nodes, sites, edges, found - len(costs))
