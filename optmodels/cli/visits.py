"""The command ``visits``: when pages are visited next."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import RequestError
from .options import ANSWERED, File, Json, Seed, whole_number
from .output import check_target, print_json, say, settle


def visits(
    file: File,
    result: Annotated[str, typer.Option(metavar="R.json", help="The answer to follow, as `solve --out` wrote it.")],
    out: Annotated[str, typer.Option(metavar="F.csv|parquet", help="Where the table goes.")],
    slots: Annotated[
        int | None,
        typer.Option(parser=whole_number, metavar="N", help="Slots of each robot; by default the longest cycle."),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> int:
    """A table of next visits, a line for each: page, URL and host where known, robot, slot, time.

    Frequencies are turned into visits by the rule of `greedy`, draws are made with the seed.

    Example: optmodels visits instances/freshness/lognormal-100.json --result answer.json --out visits.csv --slots 1000
    """
    from .. import instance as instances
    from ..freshness import FreshnessProblem
    from ..freshness.schedules import write_visits
    from ..results import read_result

    problem = instances.load(file)
    if not isinstance(problem, FreshnessProblem):
        kind = getattr(problem, "kind", type(problem).__name__)
        raise RequestError(f"{file}: visits are made in problems of kind 'freshness', and this is of kind {kind!r}.")
    check_target(out, file, result, problem.pages.place(Path(file).parent))
    answer = read_result(result)
    if answer.problem != problem.name:
        raise RequestError(f"{result}: this is an answer to {answer.problem!r}, not to {problem.name!r}.")
    if answer.decision is None:
        raise RequestError(f"{result}: this result has no decision.")
    written = write_visits(problem, answer.decision, out, slots=slots, seed=seed)
    settle()
    if json:
        print_json(written.to_data())
    else:
        say(f"wrote {written.rows} visits to {out}")
    return ANSWERED


def add_to(app: typer.Typer) -> None:
    """Give the command to the command line."""
    app.command()(visits)
