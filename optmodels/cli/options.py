"""Options that several commands share, and the exit codes."""

from __future__ import annotations

from typing import Annotated

import typer

from ..data import whole_from_text

ANSWERED, DEFECT, NOT_UNDERSTOOD, NOTHING_FEASIBLE = 0, 1, 2, 3


def seconds_of(text: str) -> float:
    """A time after a flag."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number of seconds such as 60 or 0.5.") from None


def whole_number(text: str | int) -> int:
    """A whole number after a flag; ``1e6`` is one."""
    try:
        return whole_from_text(str(text))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a whole number such as 10 or 1e6.") from None


File = Annotated[str, typer.Argument(metavar="FILE", help="An instance file (JSON).")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON alone on stdout.")]
Seconds = Annotated[
    float | None,
    typer.Option(parser=seconds_of, metavar="S", help="Time limit of a run; imports and compilation excluded."),
]
ClusterAddress = Annotated[
    str | None, typer.Option("--cluster", metavar="ADDRESS|local", help="Dask cluster whose workers share the runs.")
]
Evaluations = Annotated[
    int | None, typer.Option(parser=whole_number, metavar="E", help="Most decisions a run may judge.")
]
Seed = Annotated[int, typer.Option(parser=whole_number, metavar="N", help="Seed of the random numbers.")]
Seeds = Annotated[
    int, typer.Option(parser=whole_number, metavar="N", help="Runs of each strategy that draws random numbers.")
]
StrategyName = Annotated[str, typer.Option("--strategy", metavar="NAME[:p=v,...]", help="See `optmodels list`.")]
Workers = Annotated[int, typer.Option(parser=whole_number, metavar="W", help="Processes that share the runs.")]
