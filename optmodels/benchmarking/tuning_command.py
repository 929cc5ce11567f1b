"""The command ``tune``: a race of configurations on one half of a set, and a test on the other."""

from __future__ import annotations

from typing import Annotated

import typer

from ..cli import (
    ANSWERED,
    NOTHING_FEASIBLE,
    Evaluations,
    Json,
    Seconds,
    Seed,
    Workers,
    batch_progress,
    check_target,
    deliver,
    note,
    say,
    whole_number,
)
from .commands import complete_set


def complete_name(incomplete: str) -> list[str]:
    """Complete the name of a strategy."""
    from ..registry import strategies

    return [name for name in strategies if name.startswith(incomplete)]


def tune(
    strategy: Annotated[
        str,
        typer.Argument(
            metavar="STRATEGY[:p=v,...]",
            help="Strategy to tune; parameters that are given stay as they are.",
            autocompletion=complete_name,
        ),
    ],
    on: Annotated[
        str,
        typer.Option(
            "--on",
            metavar="SET",
            help="Name of a benchmark set, or the path of one (.toml): half of it trains, the other half tests.",
            autocompletion=complete_set,
        ),
    ],
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="P=RANGE",
            help="Vary this parameter: population=10..200:log, swaps=0,10,50, or its name for the declared range; by "
            "default all that the strategy declares. May be repeated.",
        ),
    ] = None,
    seconds: Seconds = None,
    evaluations: Evaluations = None,
    runs: Annotated[
        int | None,
        typer.Option(
            parser=whole_number,
            metavar="N",
            help="Runs in all, training and test, never exceeded; 500 unless given.",
        ),
    ] = None,
    seed: Seed = 0,
    workers: Workers = 1,
    out: Annotated[
        str | None,
        typer.Option(metavar="F.json|DIR", help="Write what is found to a file; or, to a folder, that and every run."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Skip runs that are already in the folder --out.")] = False,
    json: Json = False,
) -> int:
    """Tune the parameters of a strategy on a benchmark set.

    Configurations race on training instances: all have the same runs, after each round the worse half falls, and who is
    shown to be worse than the leader. The winner is then compared with the default on test instances, which are others,
    by seeds that are others; what is said of it is said of the test.

    For example:
        optmodels tune annealing --on gautam-25 --evaluations 20000 --runs 300
        optmodels tune genetic --on gautam-25 --vary population=20..200:log polish --seconds 1 --out runs
        optmodels tune genetic --on gautam-25 --vary population=20..200:log polish --seconds 1 --out runs --resume
    """
    from .tuning import FILE, RUNS
    from .tuning import tune as run

    if out is not None and out.endswith(".json"):
        check_target(out)
    with batch_progress(f"tuning {strategy}", quiet=json, seconds=seconds, workers=workers) as progress:
        found = run(
            strategy,
            on,
            vary=vary or None,
            seconds=seconds,
            evaluations=evaluations,
            runs=RUNS if runs is None else runs,
            seed=seed,
            workers=workers,
            out=out,
            resume=resume,
            progress=progress,
        )
    deliver(found.to_data, found.report, as_json=json)
    for sentence in found.warnings:
        say(sentence)
    if out is not None:
        note(f"wrote {out}" if out.endswith(".json") else f"wrote {FILE} and all runs to {out}")
    if not found.complete:
        say(f"interrupted; finished runs: {found.training_runs + found.test_runs}.")
    return ANSWERED if found.training_runs else NOTHING_FEASIBLE
