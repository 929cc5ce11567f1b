from .canvas import COLOURS as COLOURS
from .canvas import MARKERS as MARKERS
from .canvas import check_path as check_path
from .canvas import figure_of as figure_of
from .canvas import house_style as house_style
from .canvas import literal as literal
from .canvas import new_figure as new_figure
from .canvas import number as number
from .canvas import plain as plain
from .canvas import save as save
from .canvas import sheet as sheet
from .canvas import single_panel as single_panel
from .problems import decision_of as decision_of
from .problems import plot as plot
from .problems import plot_problem as plot_problem
from .queues import plot_finite_source as plot_finite_source
from .runs import plot_gaps as plot_gaps
from .runs import plot_sweep as plot_sweep
from .runs import plot_trace as plot_trace

__all__ = [
    "COLOURS",
    "MARKERS",
    "check_path",
    "decision_of",
    "figure_of",
    "house_style",
    "literal",
    "new_figure",
    "number",
    "plain",
    "plot",
    "plot_finite_source",
    "plot_gaps",
    "plot_problem",
    "plot_sweep",
    "plot_trace",
    "save",
    "sheet",
    "single_panel",
]
