"""What is visited when, if an answer is followed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import heuristics

from ..data import as_path, as_whole, check_options
from ..errors import RequestError, short
from ..protocols import kind_of
from ..registry import kinds
from ..solving import ProblemLike, Result, as_problem, check_seed


def visits(
    problem: ProblemLike | Result,
    result: heuristics.Result | str | os.PathLike[str] | Any = None,
    *,
    out: str | os.PathLike[str] | None = None,
    slots: int | None = None,
    seed: int = 0,
    **options: Any,
) -> Mapping[str, Any]:
    """Tell what is visited when, if an answer is followed.

    Parameters
    ----------
    problem
        A problem of a kind that makes visits, its instance, the path of its file, or the name of a shipped instance; or
        a result of `solve`, which knows its problem.
    result
        The answer to follow: a result, the path of one, or a decision.
    out
        File to write, ``.csv`` or ``.parquet``, instead of keeping the table in memory.
    slots
        How many visits of each robot; by default the longest cycle.
    seed
        Of draws, where the decision asks for them.
    **options
        More that the kind takes.

    Returns
    -------
    mapping
        Columns by name, which ``pandas.DataFrame`` takes as they are: for kind "freshness" ``page``, ``url`` and
        ``host`` where they are known, ``robot``, ``slot``, ``next_visit``. Of a file its name, rows and checksum.

    Raises
    ------
    RequestError
        If the kind makes no visits, or there is no decision to follow.

    Examples
    --------
    >>> from optmodels import solve, visits
    >>> table = visits(solve("coffman-4", "lagrangian"), slots=6)
    >>> list(table), len(table["page"])
    (['page', 'robot', 'slot', 'next_visit'], 6)
    """
    if isinstance(problem, Result):
        problem, result = problem.known_problem(), problem if result is None else result
    asked = as_problem(problem)
    kind = kinds.of(asked)
    function = None if kind is None else kinds.part(kind.name, "visits")
    if kind is None or function is None:
        known, name = ", ".join(kinds.having("visits")), kind_of(asked) or type(asked).__name__
        raise RequestError(f"visits are made in problems of kind {known}, and {asked.name!r} is of kind {name!r}.")
    if isinstance(result, (str, os.PathLike)):
        from ..results import read_result

        result = read_result(result)
    if isinstance(result, heuristics.Result):
        if result.problem != asked.name:
            raise RequestError(f"this is an answer to {result.problem!r}, not to {asked.name!r}.")
        result = result.decision
    if result is None:
        raise RequestError(f"there is no decision of {asked.name!r} to follow; solve it first: visits(solve(problem)).")
    check_options(function, options, f"visits of kind {kind.name!r}")
    count, out, seed = as_whole(slots), as_path("out", out), check_seed(seed)
    if slots is not None and (count is None or count < 1):
        raise RequestError(f"slots are a whole number, 1 or more, got {short(slots)}.")
    with kinds.blame(kind.name, "visits"):
        table: Mapping[str, Any] = function(asked, result, out=out, slots=count, seed=seed, **options)
    return table
