"""The command ``simulate``: exact and simulated side by side."""

from __future__ import annotations

from typing import Annotated

import typer

from .arguments import parse_decision
from .options import ANSWERED, NOTHING_FEASIBLE, File, Json, Seconds, Seed, whole_number
from .output import batch_progress, print_json, say, settle


def time_of(text: str) -> float:
    """A length of time in the units of a problem."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a length of time such as 1000 or 2.5e4.") from None


def simulate(
    file: File,
    at: Annotated[
        str, typer.Option(metavar="DECISION", help="0,1,1 or -1,2,2 or @file.json (list, object or result).")
    ],
    replications: Annotated[
        int | None,
        typer.Option(
            parser=whole_number, metavar="N", help="Independent runs; 30 unless said, or as many as --seconds allow."
        ),
    ] = None,
    time: Annotated[
        float | None,
        typer.Option(parser=time_of, metavar="T", help="Length of a run in the problem's units of time."),
    ] = None,
    seconds: Seconds = None,
    seed: Seed = 0,
    json: Json = False,
) -> int:
    """Exact and simulated measures of one decision, side by side.

    The simulation shares nothing with the evaluator. z is the number of standard errors between the two. Ctrl-C keeps
    the runs that are finished.

    Example: optmodels simulate instances/threshold/avrachenkov-k5.json --at=-1,2,2
    """
    from ..studies import simulating

    decision = parse_decision(at)
    with batch_progress("simulating", quiet=json) as progress:
        found = simulating.simulate(
            file,
            decision,
            replications=replications,
            time=time,
            seconds=seconds,
            seed=seed,
            progress=progress,
        )
        settle()
    if json:
        print_json(found.to_data())
    if found.replications < 2:
        say("the simulation ended before two replications were finished; give it more time, or a smaller --time.")
        return NOTHING_FEASIBLE
    if not json:
        print(found.table())
    if found.stopped_by == "interrupt":
        say(f"interrupted; finished replications: {found.replications}.")
    return ANSWERED


def add_to(app: typer.Typer) -> None:
    """Give the command to the command line."""
    app.command()(simulate)
