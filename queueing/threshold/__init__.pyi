from .deterministic import DeterministicPatience as DeterministicPatience
from .deterministic import deterministic_patience as deterministic_patience
from .model import ADMISSIONS as ADMISSIONS
from .model import Flows as Flows
from .modes import Mode as Mode
from .modes import independent_modes as independent_modes
from .modes import marked_modes as marked_modes
from .modes import thinned_modes as thinned_modes
from .queue import MEASURES as MEASURES
from .queue import ThresholdMeasures as ThresholdMeasures
from .queue import ThresholdQueue as ThresholdQueue
from .sojourn import SojournLaw as SojournLaw
from .sojourn import SojournTimes as SojournTimes
from .sojourn import sojourn_times as sojourn_times
from .tree import measures_of_many as measures_of_many
from .tree import shares_work as shares_work
from .unbounded import Truncation as Truncation
from .unbounded import open_measures as open_measures
from .unbounded import takes_open as takes_open
from .unbounded import unbounded_room as unbounded_room

__all__ = [
    "ADMISSIONS",
    "MEASURES",
    "DeterministicPatience",
    "Flows",
    "Mode",
    "SojournLaw",
    "SojournTimes",
    "ThresholdMeasures",
    "ThresholdQueue",
    "Truncation",
    "deterministic_patience",
    "independent_modes",
    "marked_modes",
    "measures_of_many",
    "open_measures",
    "shares_work",
    "sojourn_times",
    "takes_open",
    "thinned_modes",
    "unbounded_room",
]
