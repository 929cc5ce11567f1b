from .canvas import COLOURS as COLOURS
from .canvas import DASHES as DASHES
from .canvas import HEADING as HEADING
from .canvas import INK as INK
from .canvas import LABEL as LABEL
from .canvas import MARKERS as MARKERS
from .canvas import NARROW as NARROW
from .canvas import NOTE as NOTE
from .canvas import PALE as PALE
from .canvas import TICK as TICK
from .canvas import TITLE as TITLE
from .canvas import WIDE as WIDE
from .canvas import check_path as check_path
from .canvas import house_style as house_style
from .canvas import literal as literal
from .canvas import new_figure as new_figure
from .canvas import number as number
from .canvas import ordered_colours as ordered_colours
from .canvas import plain as plain
from .canvas import save as save
from .canvas import sheet as sheet
from .canvas import text_width as text_width
from .panels import Panels as Panels
from .panels import best_known_of as best_known_of
from .panels import columns_of as columns_of
from .panels import entitle as entitle
from .panels import finite as finite
from .panels import heading as heading
from .panels import label_axes as label_axes
from .panels import legend_below as legend_below
from .panels import log_ticks as log_ticks
from .panels import measure_words as measure_words
from .panels import name_ticks as name_ticks
from .panels import open_panels as open_panels
from .panels import told_by as told_by
from .panels import whole_ticks as whole_ticks
from .panels import width_of as width_of
from .problems import as_row as as_row
from .problems import decision_of as decision_of
from .problems import plot as plot
from .problems import plot_problem as plot_problem
from .queues import plot_finite_source as plot_finite_source
from .runs import plot_gaps as plot_gaps
from .runs import plot_sweep as plot_sweep
from .traces import plot_trace as plot_trace

__all__ = [
    "COLOURS",
    "DASHES",
    "HEADING",
    "INK",
    "LABEL",
    "MARKERS",
    "NARROW",
    "NOTE",
    "PALE",
    "TICK",
    "TITLE",
    "WIDE",
    "Panels",
    "as_row",
    "best_known_of",
    "check_path",
    "columns_of",
    "decision_of",
    "entitle",
    "finite",
    "heading",
    "house_style",
    "label_axes",
    "legend_below",
    "literal",
    "log_ticks",
    "measure_words",
    "name_ticks",
    "new_figure",
    "number",
    "open_panels",
    "ordered_colours",
    "plain",
    "plot",
    "plot_finite_source",
    "plot_gaps",
    "plot_problem",
    "plot_sweep",
    "plot_trace",
    "save",
    "sheet",
    "text_width",
    "told_by",
    "whole_ticks",
    "width_of",
]
