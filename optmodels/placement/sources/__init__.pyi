from .demands import published_demand as published_demand
from .topologies import Topology as Topology
from .topologies import read_topology as read_topology

__all__ = [
    "Topology",
    "published_demand",
    "read_topology",
]
