"""Pictures of problems, answers, runs and queues; matplotlib is needed only when one is drawn.

Every function takes plain lists and dicts, as results and comparisons are written to files, returns a matplotlib
figure, and writes it if a path is given, in the format its name ends in.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import RequestError
from ..protocols import kind_of
from ..registry import kinds
from .canvas import check_path, house_style, save
from .queues import plot_finite_source
from .runs import plot_gaps, plot_sweep, plot_trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_finite_source", "plot_gaps", "plot_problem", "plot_sweep", "plot_trace"]

Path = str | os.PathLike[str]


def plot_problem(problem: Any, result: Mapping[str, Any] | None = None, path: Path | None = None) -> Figure:
    """Draw a problem and, if given, an answer to it.

    Parameters
    ----------
    problem
        Of a kind whose record (`optmodels.kinds.Kind`) names a picture.
    result
        As a result file has it: ``decision``, ``objective``, ``bound``, ``status``; each may be absent. ``None`` draws
        the instance alone.
    path
        Where to write the picture.
    """
    kind = kinds.of(problem)
    if kind is None or kind.picture is None:
        name = kind_of(problem) or type(problem).__name__
        known = ", ".join(kinds.having("picture"))
        raise RequestError(f"no picture is known of problems of kind {name!r}; known are {known}.")
    check_path(path)
    with house_style():
        draw: Callable[[Any, Mapping[str, Any] | None], Figure] = kinds.part(kind.name, "picture")
        with kinds.blame(kind.name, "picture"):
            figure = draw(problem, result)
            save(figure, path)
    return figure
