from .draws import CONSTANT as CONSTANT
from .draws import NEVER as NEVER
from .draws import Law as Law
from .draws import PhaseLaw as PhaseLaw
from .draws import Phases as Phases
from .draws import chain_tables as chain_tables
from .draws import choose as choose
from .draws import law_of as law_of
from .intervals import CONFIDENCE as CONFIDENCE
from .intervals import Estimate as Estimate
from .intervals import Matrix as Matrix
from .intervals import Vector as Vector
from .intervals import Whole as Whole
from .intervals import column_means as column_means
from .intervals import interval_columns as interval_columns
from .intervals import jackknife as jackknife
from .intervals import jackknife_columns as jackknife_columns
from .intervals import jackknives as jackknives
from .intervals import joint_limit as joint_limit
from .laws import Drawn as Drawn
from .laws import draw_time as draw_time
from .laws import drawn_law as drawn_law
from .replications import MANY as MANY
from .replications import STEP as STEP
from .replications import Observations as Observations
from .replications import Seen as Seen
from .replications import first_finished as first_finished
from .replications import run_replications as run_replications

__all__ = [
    "CONFIDENCE",
    "CONSTANT",
    "MANY",
    "NEVER",
    "STEP",
    "Drawn",
    "Estimate",
    "Law",
    "Matrix",
    "Observations",
    "PhaseLaw",
    "Phases",
    "Seen",
    "Vector",
    "Whole",
    "chain_tables",
    "choose",
    "column_means",
    "draw_time",
    "drawn_law",
    "first_finished",
    "interval_columns",
    "jackknife",
    "jackknife_columns",
    "jackknives",
    "joint_limit",
    "law_of",
    "run_replications",
]
