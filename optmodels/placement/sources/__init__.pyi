from .demands import published_demand as published_demand
from .importing import import_file as import_file
from .orlib import Medians as Medians
from .orlib import read_pmed as read_pmed
from .topologies import Topology as Topology
from .topologies import are_degrees as are_degrees
from .topologies import read_topology as read_topology
from .tsplib import Cities as Cities
from .tsplib import read_tsplib as read_tsplib
from .tsplib import whole_distances as whole_distances

__all__ = [
    "Cities",
    "Medians",
    "Topology",
    "are_degrees",
    "import_file",
    "published_demand",
    "read_pmed",
    "read_topology",
    "read_tsplib",
    "whole_distances",
]
