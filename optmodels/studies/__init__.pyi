from . import comparing as comparing
from . import simulating as simulating
from . import sweeping as sweeping
from .comparing import compare as compare
from .comparison import Comparison as Comparison
from .comparison import check_format as check_format
from .pareto_front import Front as Front
from .pareto_front import pareto as pareto
from .pareto_plots import plot_front as plot_front
from .pool import call_all as call_all
from .runs import Run as Run
from .runs import label_of as label_of
from .runs import problem_digest as problem_digest
from .simulating import simulate as simulate
from .store import merge_comparisons as merge_comparisons
from .store import read_comparison as read_comparison
from .store import read_study as read_study
from .store import write_ioh as write_ioh
from .store import write_parquet as write_parquet
from .sweeping import Sweep as Sweep
from .sweeping import sweep as sweep
from .visiting import visits as visits

__all__ = [
    "Comparison",
    "Front",
    "Run",
    "Sweep",
    "call_all",
    "check_format",
    "compare",
    "comparing",
    "label_of",
    "merge_comparisons",
    "pareto",
    "plot_front",
    "problem_digest",
    "read_comparison",
    "read_study",
    "simulate",
    "simulating",
    "sweep",
    "sweeping",
    "visits",
    "write_ioh",
    "write_parquet",
]
