"""Pictures of problems, answers, runs and queues; matplotlib is needed only when one is drawn.

Every function takes plain lists and dicts, as results and comparisons are written to files, returns a matplotlib
figure, and writes it if a path is given, in the format its name ends in.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..errors import RequestError
from .canvas import check_path, house_style, save
from .queues import plot_finite_source
from .runs import plot_gaps, plot_sweep, plot_trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PICTURES", "plot_finite_source", "plot_gaps", "plot_problem", "plot_sweep", "plot_trace"]

Path = str | os.PathLike[str]

#: Kind of problem to where its picture is drawn: a function of the problem and a result or ``None``.
PICTURES: dict[str, str] = {
    "freshness": "optmodels.freshness.plots:draw_freshness",
    "placement": "optmodels.placement.plots:draw_placement",
    "robots": "optmodels.robots.plots:draw_robots",
    "routing": "optmodels.routing.plots:draw_routing",
    "threshold": "optmodels.threshold.plots:draw_threshold",
}


def plot_problem(problem: Any, result: Mapping[str, Any] | None = None, path: Path | None = None) -> Figure:
    """Draw a problem and, if given, an answer to it.

    Parameters
    ----------
    problem
        Of a kind in `PICTURES`.
    result
        As a result file has it: ``decision``, ``objective``, ``bound``, ``status``; each may be absent. ``None`` draws
        the instance alone.
    path
        Where to write the picture.
    """
    kind = getattr(problem, "kind", type(problem).__name__)
    if kind not in PICTURES:
        raise RequestError(
            f"no picture is known of problems of kind {kind!r}; known are {', '.join(sorted(PICTURES))}."
        )
    module, _, name = PICTURES[kind].partition(":")
    check_path(path)
    with house_style():
        draw: Callable[[Any, Mapping[str, Any] | None], Figure] = getattr(import_module(module), name)
        figure = draw(problem, result)
        save(figure, path)
    return figure
