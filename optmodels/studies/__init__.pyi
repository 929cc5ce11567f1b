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
from .simulating import simulate as simulate
from .sweeping import Sweep as Sweep
from .sweeping import sweep as sweep
from .visiting import visits as visits

__all__ = [
    "Comparison",
    "Front",
    "Sweep",
    "call_all",
    "check_format",
    "compare",
    "comparing",
    "pareto",
    "plot_front",
    "simulate",
    "simulating",
    "sweep",
    "sweeping",
    "visits",
]
