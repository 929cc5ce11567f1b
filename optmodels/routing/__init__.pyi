from .gap_costs import LinearExponential as LinearExponential
from .gap_costs import Power as Power
from .gap_costs import Table as Table
from .generate import RoutingGenerator as RoutingGenerator
from .kind import KIND as KIND
from .plots import draw_routing as draw_routing
from .plots import plot_periods as plot_periods
from .problem import RoutingProblem as RoutingProblem

__all__ = [
    "KIND",
    "LinearExponential",
    "Power",
    "RoutingGenerator",
    "RoutingProblem",
    "Table",
    "draw_routing",
    "plot_periods",
]
