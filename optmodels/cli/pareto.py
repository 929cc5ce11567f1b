"""The command that makes Pareto fronts."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import ANSWERED, NOTHING_FEASIBLE, Evaluations, File, Json, Seconds, Seed, whole_number
from .output import batch_progress, print_json, say, settle


def pareto(
    file: File,
    measures: Annotated[
        list[str],
        typer.Option(metavar="A B", help="Two measures, each as small as can be; max:B asks for as much as can be."),
    ],
    strategy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[:p=v,...]",
            help="exhaustive (default up to a million decisions), or a strategy that takes limits on measures.",
        ),
    ] = None,
    seconds: Seconds = None,
    evaluations: Evaluations = None,
    seed: Seed = 0,
    runs: Annotated[
        int, typer.Option(parser=whole_number, metavar="N", help="Most runs of a strategy that does not enumerate.")
    ] = 50,
    out: Annotated[str | None, typer.Option(metavar="F.csv", help="One line per point of the front.")] = None,
    plot: Annotated[str | None, typer.Option(metavar="F.svg|png", help="Draw the front.")] = None,
    json: Json = False,
) -> int:
    """The Pareto front of two measures: every decision not beaten in both, among those that keep all limits.

    Small spaces are enumerated, and the front is exact. For larger ones a strategy is asked again and again for the
    best A while B is limited; the front is exact if every answer was proved. Each point tells whether a weighted sum
    "A + w B" finds it (supported), for which w, and how far above the hull of the front it lies otherwise (gap).

    Ctrl-C keeps the points found so far. --seconds and --evaluations count for each run.

    Examples: optmodels pareto instances/threshold/avrachenkov-k5.json --measures starvation response_time;
    optmodels pareto instances/placement/gautam-6x6.json --measures opening mean_delay --strategy annealing --seconds 2
    """
    from ..studies import pareto as fronts

    if plot:
        from ..plotting import check_path, house_style

        check_path(plot)
        with house_style():  # a missing extra is told before the work is done
            pass
    with batch_progress("front", quiet=json) as progress:
        front = fronts.pareto_front(
            file,
            measures,
            strategy=strategy,
            seconds=seconds,
            evaluations=evaluations,
            seed=seed,
            runs=runs,
            progress=progress,
        )
        settle()
    if json:
        print_json(front.to_data())
    else:
        print(front.table())  # before files are written: a full disk takes none of it back
    if out:
        front.to_csv(out)
    if plot and front.points:
        from ..studies import plot_front

        plot_front(front, plot)
    if not front.points:
        say("no feasible decision was found." if not front.exact else "no decision keeps all limits.")
    elif front.stopped_by == "interrupt":
        say(f"interrupted; points found: {len(front.points)}.")
    return ANSWERED if front.points else NOTHING_FEASIBLE


def add_to(app: typer.Typer) -> None:
    """Give the command to the command line."""
    app.command()(pareto)
