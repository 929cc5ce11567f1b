from .runs import RoutingSimulation as RoutingSimulation
from .runs import Seen as Seen
from .runs import SimulatedRouting as SimulatedRouting
from .runs import fractions as fractions
from .runs import losses as losses
from .runs import replicate as replicate
from .runs import resolution_of as resolution_of
from .runs import usual_time as usual_time

__all__ = [
    "RoutingSimulation",
    "Seen",
    "SimulatedRouting",
    "fractions",
    "losses",
    "replicate",
    "resolution_of",
    "usual_time",
]
