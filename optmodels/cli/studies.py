"""Commands that make many runs, or make instances: compare, sweep, generate."""

from __future__ import annotations

from typing import Annotated

import typer

from .arguments import parse_options
from .options import (
    ANSWERED,
    NOTHING_FEASIBLE,
    ClusterAddress,
    Evaluations,
    File,
    Json,
    Seconds,
    Seed,
    Seeds,
    StrategyName,
    Workers,
)
from .output import batch_progress, print_json, say, settle, terminal_width


def compare(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Instance files.")],
    strategies: Annotated[
        list[str], typer.Option("--strategies", metavar="A B C", help="Strategies, NAME[:p=v,...] each.")
    ],
    seeds: Seeds = 1,
    seconds: Seconds = None,
    evaluations: Evaluations = None,
    workers: Workers = 1,
    cluster: ClusterAddress = None,
    out: Annotated[str | None, typer.Option(metavar="DIR", help="Folder for runs, tables and best answers.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Skip the runs that --out holds already.")] = False,
    json: Json = False,
) -> int:
    """Run several strategies on several instances, under one budget.

    A strategy that cannot take an instance gives a line that says so. Ctrl-C keeps what is finished.

    Example: optmodels compare instances/placement/gautam-*.json --strategies highs dejavu genetic --seeds 5 --seconds
    10
    """
    from ..studies import comparing

    with batch_progress("comparing", quiet=json) as progress:
        comparison = comparing.compare(
            files,
            strategies,
            seeds=seeds,
            seconds=seconds,
            evaluations=evaluations,
            workers=workers,
            cluster=cluster,
            out=out,
            resume=resume,
            progress=progress,
        )
        settle()
    if json:
        print_json(comparison.to_data())
    else:
        print(comparison.table(terminal_width()))
    for sentence in comparison.warnings:
        say(sentence)
    if not comparison.complete:
        say(f"interrupted; finished runs: {len(comparison.runs)}.")
    return ANSWERED if comparison.runs else NOTHING_FEASIBLE


def sweep(
    file: File,
    vary: Annotated[
        list[str], typer.Option(metavar="PATH=VALUES", help="data.capacity=1..30, a..b..step, or x,y,z; repeatable.")
    ],
    strategy: StrategyName,
    seconds: Seconds = None,
    evaluations: Evaluations = None,
    seed: Seed = 0,
    workers: Workers = 1,
    cluster: ClusterAddress = None,
    out: Annotated[
        str | None, typer.Option(metavar="F.csv", help="One line per point; points in it are not run again.")
    ] = None,
    plot: Annotated[str | None, typer.Option(metavar="F.svg", help="Draw the objective over the first path.")] = None,
    measure: Annotated[
        str, typer.Option(metavar="NAME", help="What --plot draws instead: a measure, or a column of the CSV file.")
    ] = "objective",
    json: Json = False,
) -> int:
    """Solve an instance with some of its values varied: a parameter study.

    Several --vary make all combinations. A sweep that was ended goes on from its CSV file.

    Example: optmodels sweep instances/placement/gautam-6x6.json --vary data.service_rate=40..60..5 --strategy annealing
    """
    from ..studies import sweeping

    if plot:
        from ..plotting import check_path, house_style

        check_path(plot)
        with house_style():  # a missing extra is told before the work is done
            pass
    with batch_progress("sweeping", quiet=json) as progress:
        study = sweeping.sweep(
            file,
            vary,
            strategy,
            seconds=seconds,
            evaluations=evaluations,
            seed=seed,
            workers=workers,
            cluster=cluster,
            out=out,
            progress=progress,
        )
        settle()
    for sentence in study.warnings:
        say(sentence)
    if plot and study.points:
        sweeping.plot_sweep(study, plot, measure)
    if json:
        print_json(study.to_data())
    else:
        print(study.table())
    if not study.complete:
        say(f"interrupted; finished points: {len(study.points)}.")
    return ANSWERED if any(point.record["objective"] is not None for point in study.points) else NOTHING_FEASIBLE


def generate(
    context: typer.Context,
    kind: Annotated[str, typer.Argument(metavar="KIND", help="Kind of problem, see `optmodels list`.")],
    out: Annotated[str | None, typer.Option(metavar="FILE", help="Where the instance goes; else to stdout.")] = None,
    json: Json = False,
) -> int:
    """Make a seeded random instance.

    Further options depend on the kind; `optmodels list placement` tells them.

    Examples: optmodels generate placement --rows 8 --columns 8 --seed 1 --demand-law cluster --out 8x8.json;
    optmodels generate placement --network gabriel --nodes 50 --out gabriel.json;
    optmodels generate threshold --capacity 20 --patience-phases 2 --seed 1 --out crawler.json;
    optmodels generate freshness --pages 1e6 --law pareto --hosts 1000 --seed 1 --out pages.parquet;
    optmodels generate routing --servers 5 --application freshness --weights drawn --seed 1 --out servers.json
    """
    from ..generating import generate as make
    from ..generating import generate_to
    from ..instance import pretty

    options = parse_options(context.args)
    if out is None:
        instance = make(kind, **options)
        settle()
        print(pretty(instance.to_data()))
        return ANSWERED
    with batch_progress(f"writing {out}", quiet=json) as bar:
        progress = None if bar is None else lambda done, total: bar(done, total, f"writing {out}")
        files = generate_to(out, kind, options, progress)
    settle()
    if json:
        from ..instance import read

        content = read(files[-1])
        print_json({"file": files[-1], "files": files, "kind": content.kind, "name": content.name})
    else:
        say(f"wrote {' and '.join(files)}")
    return ANSWERED


def schema(json: Json = False) -> int:
    """JSON Schema of instance files, for editors and other programs; it is JSON with and without --json.

    Example: optmodels schema > instance.schema.json
    """
    from ..instance import pretty
    from ..instance import schema as envelope

    settle()
    print(pretty(envelope()))
    return ANSWERED


def add_to(app: typer.Typer) -> None:
    """Give the commands of this file to the command line."""
    app.command()(compare)
    app.command()(sweep)
    app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(generate)
    app.command()(schema)
