"""Options that several commands share, and the exit codes."""

from __future__ import annotations

from typing import Annotated

import typer

ANSWERED, DEFECT, NOT_UNDERSTOOD, NOTHING_FEASIBLE = 0, 1, 2, 3

File = Annotated[str, typer.Argument(metavar="FILE", help="An instance file (JSON).")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON alone on stdout.")]
Seconds = Annotated[
    float | None, typer.Option(metavar="S", help="Time limit of a run; imports and compilation excluded.")
]
Evaluations = Annotated[int | None, typer.Option(metavar="E", help="Most decisions a run may judge.")]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed of the random numbers.")]
StrategyName = Annotated[str, typer.Option("--strategy", metavar="NAME[:p=v,...]", help="See `optmodels list`.")]
Workers = Annotated[int, typer.Option(metavar="W", help="Processes that share the runs.")]
