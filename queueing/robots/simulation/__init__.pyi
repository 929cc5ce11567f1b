from .kernel import SERVED as SERVED
from .model import SimulatedFleet as SimulatedFleet
from .runs import FleetRun as FleetRun
from .runs import FleetSimulation as FleetSimulation
from .runs import Seen as Seen
from .runs import drifting as drifting
from .runs import measures_of as measures_of
from .runs import occurrences_of as occurrences_of
from .runs import replicate as replicate
from .runs import resolution_of as resolution_of
from .runs import usual_time as usual_time

__all__ = [
    "SERVED",
    "FleetRun",
    "FleetSimulation",
    "Seen",
    "SimulatedFleet",
    "drifting",
    "measures_of",
    "occurrences_of",
    "replicate",
    "resolution_of",
    "usual_time",
]
