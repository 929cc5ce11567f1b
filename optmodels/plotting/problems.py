"""Pictures of problems and answers; matplotlib is needed only when one is drawn.

Every function takes results as runs make them or as files have them, returns a matplotlib figure, and writes it if a
path is given, in the format its name ends in.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any

from heuristics import Problem
from heuristics import Result as Answer

from ..errors import InstanceError, RequestError, short
from ..instance import load
from ..protocols import has_objective, kind_of, origin_of
from ..registry import kinds
from ..results import read_result, result_to_data
from .canvas import check_path, house_style, number, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..solving import ProblemLike


def plot_problem(
    problem: Any,
    result: Mapping[str, Any] | Answer | None = None,
    path: str | os.PathLike[str] | None = None,
    *,
    ax: Axes | None = None,
    panel: str | None = None,
    best_known: float | None = None,
) -> Figure:
    """Draw a problem and, if given, an answer to it.

    Parameters
    ----------
    problem
        Of a kind whose record (`optmodels.kinds.Kind`) names a picture.
    result
        Of a run, or as a result file has it: ``decision``, ``objective``, ``bound``, ``status``, ``strategy``; each may
        be absent. ``None`` draws the instance alone.
    path
        Where to write the picture.
    ax
        Axes of the caller to draw one panel into; ``None``: a figure of its own, with all panels.
    panel
        Name of the panel to draw, where a picture has several: the label of its axes. By default all of them or, with
        `ax`, the first.
    best_known
        Best objective known of this instance, for the heading; the result may have it, too.

    Returns
    -------
    matplotlib.figure.Figure
        What was drawn; with `ax`, the figure of these axes.

    Raises
    ------
    RequestError
        If the kind has no picture, or one that takes no `ax` and no `panel`, or the path no format.

    Examples
    --------
    >>> import optmodels as om
    >>> from optmodels.plotting import plot_problem
    >>> problem = om.load("instances/placement/gautam-2x3.json")
    >>> plot_problem(problem, om.solve(problem, "exhaustive"), best_known=8.0).get_suptitle().splitlines()[1]
    'exhaustive: objective 8, bound 8, best known 8, optimal,'
    """
    kind = kinds.of(problem)
    if kind is None or kind.picture is None:
        name = kind_of(problem) or type(problem).__name__
        known = ", ".join(kinds.having("picture"))
        raise RequestError(f"no picture is known of problems of kind {name!r}; known are {known}.")
    check_path(path)
    if panel is not None and not isinstance(panel, str):
        raise RequestError(f"a panel is the name of one, as text, got {short(panel)}.")
    told = as_row(result)
    if told is not None and best_known is not None:
        told = {**told, "best_known": best_known}
    with house_style():
        draw: Callable[..., Figure] = kinds.part(kind.name, "picture")
        with kinds.blame(kind.name, "picture"):
            asked = {name: value for name, value in (("ax", ax), ("panel", panel)) if value is not None}
            _check_takes(draw, kind.name, asked)
            figure = draw(problem, told, **asked)
            save(figure, path)
    return figure


def plot(
    problem: ProblemLike,
    result: Answer | Mapping[str, Any] | str | os.PathLike[str] | None = None,
    path: str | os.PathLike[str] | None = None,
    *,
    ax: Axes | None = None,
    panel: str | None = None,
) -> Figure:
    """Draw a problem, with an answer if one is given.

    Parameters
    ----------
    problem
        A problem, its instance, the path of its file, or the name of a shipped instance.
    result
        An answer to it: a result, the path of one, or the object that such a file holds; or a decision alone.
    path
        Where to write the picture, in the format its name ends in; without it none is written.
    ax
        Axes of matplotlib to draw one panel into; by default a new figure with all panels.
    panel
        Name of the panel to draw, where a picture has several: the label of its axes.

    Returns
    -------
    matplotlib.figure.Figure
        What was drawn.

    Raises
    ------
    RequestError
        If the kind has no picture, or none that fits into given axes, the result answers another problem, or matplotlib
        is not installed.

    Examples
    --------
    >>> from optmodels import evaluate, plot
    >>> figure = plot("gautam-2x3", evaluate("gautam-2x3", [0, 0, 1, 1, 1, 0]))
    >>> type(figure).__name__
    'Figure'
    """
    asked = load(problem)
    if isinstance(result, (str, os.PathLike)):
        result = read_result(result)
    if result is not None and not _is_answer(result):
        from ..solving import evaluate

        result = evaluate(asked, result)
    told = as_row(result)
    if told is not None and told.get("problem") not in (None, asked.name):
        raise RequestError(f"this is an answer to {told['problem']!r}, not to {asked.name!r}.")
    best = origin_of(asked).best_known
    known = None if best is None else best.objective
    return plot_problem(asked, told, path, ax=ax, panel=panel, best_known=known)


def _is_answer(given: Any) -> bool:
    """Tell a result, or the object that stands for one in files, from a decision."""
    return isinstance(given, Answer) or (isinstance(given, Mapping) and "decision" in given)


def _check_takes(draw: Callable[..., Figure], kind: str, asked: Iterable[str]) -> None:
    """Refuse what the picture of a kind does not take: the record promises a function of problem and result only."""
    for name in asked:
        if name not in signature(draw).parameters:
            raise RequestError(
                f"the picture of kind {kind!r} takes no {name}; leave it out, and a figure of its own is drawn."
            )


def as_row(result: Any) -> Mapping[str, Any] | None:
    """Give a result as files have it: that of a run is written as one, anything else is left as it came.

    Parameters
    ----------
    result
        Of a run, a JSON object, or ``None``.

    Returns
    -------
    Mapping or None
        With a very long decision in it, not beside it.
    """
    if isinstance(result, Answer):
        return result_to_data(result, files=False)
    found: Mapping[str, Any] | None = result
    return found


def decision_of(problem: Problem, result: Mapping[str, Any] | None) -> Any:
    """Take the decision from a result, and refuse a result of another problem or of another version of it.

    Parameters
    ----------
    problem
        What is drawn.
    result
        As a result file has it.

    Returns
    -------
    Decision or None
        As the space of the problem writes it; ``None`` if the result has none.

    Raises
    ------
    InstanceError
        With the field that does not fit.
    """
    if result is None or result.get("decision") is None:
        return None
    of, given, stated = result.get("problem"), result["decision"], result.get("objective")
    if of is not None and of != problem.name:
        raise InstanceError("problem", of, f"the picture is of {problem.name!r}; give a result of that instance.")
    try:
        decision = problem.space.check(given)
    except (TypeError, ValueError) as failure:
        raise InstanceError("decision", given, f"it is not a valid decision for {problem.name!r}: {failure}") from None
    if stated is not None and has_objective(problem):
        found = problem.evaluate(decision).objective
        if not math.isclose(found, stated, rel_tol=1e-6):
            raise InstanceError(
                "objective", stated, f"for this instance it is {number(found)}; the result is of another version of it."
            )
    return decision
