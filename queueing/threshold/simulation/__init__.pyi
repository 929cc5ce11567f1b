from .model import SimulatedQueue as SimulatedQueue
from .runs import Replication as Replication
from .runs import Seen as Seen
from .runs import Simulation as Simulation
from .runs import measures_of as measures_of
from .runs import replicate as replicate
from .runs import settled as settled
from .runs import usual_time as usual_time

__all__ = [
    "Replication",
    "Seen",
    "SimulatedQueue",
    "Simulation",
    "measures_of",
    "replicate",
    "settled",
    "usual_time",
]
