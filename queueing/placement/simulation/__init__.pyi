from .runs import Seen as Seen
from .runs import ServerSimulation as ServerSimulation
from .runs import SimulatedServer as SimulatedServer
from .runs import replicate as replicate
from .runs import simulate as simulate
from .runs import usual_time as usual_time

__all__ = ["Seen", "ServerSimulation", "SimulatedServer", "replicate", "simulate", "usual_time"]
