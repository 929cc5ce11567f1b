from .crawlers import Adapting as Adapting
from .crawlers import Cycle as Cycle
from .crawlers import Draws as Draws
from .kernel import first_state as first_state
from .kernel import last_visits as last_visits
from .runs import STEP as STEP
from .runs import CrawlSimulation as CrawlSimulation
from .runs import Seen as Seen
from .runs import SimulatedCrawl as SimulatedCrawl
from .runs import measures_of as measures_of
from .runs import replicate as replicate
from .runs import resolution_of as resolution_of
from .runs import usual_time as usual_time

__all__ = [
    "STEP",
    "Adapting",
    "CrawlSimulation",
    "Cycle",
    "Draws",
    "Seen",
    "SimulatedCrawl",
    "first_state",
    "last_visits",
    "measures_of",
    "replicate",
    "resolution_of",
    "usual_time",
]
