"""Commands that make many runs, or make instances: pareto, simulate, compare, sweep, generate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..registry import AUTO
from .arguments import (
    ANSWERED,
    NOTHING_FEASIBLE,
    ChosenName,
    ClusterAddress,
    DecisionAt,
    Evaluations,
    File,
    Files,
    Json,
    KindName,
    Seconds,
    Seed,
    Seeds,
    Workers,
    complete_kind,
    complete_strategy,
    instance_files,
    parse_decision,
    parse_options,
    whole_number,
)
from .output import batch_progress, deliver, note, print_rows, say, terminal_width

if TYPE_CHECKING:
    from heuristics import Result


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
    from ..studies import pareto as find_front

    _check_picture(plot)
    with batch_progress("front", quiet=json, seconds=seconds) as progress:
        front = find_front(
            file,
            measures,
            strategy=strategy,
            seconds=seconds,
            evaluations=evaluations,
            seed=seed,
            runs=runs,
            progress=progress,
        )
    deliver(front.to_data, front.table, as_json=json)  # before files are written: a full disk takes none of it back
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


def time_of(text: str) -> float:
    """A length of time in the units of a problem."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a length of time such as 1000 or 2.5e4.") from None


def simulate(
    file: File,
    at: DecisionAt,
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
    some = found.replications > 1
    deliver(found.to_data, found.table if some else None, as_json=json)
    if not some:
        say("the simulation ended before two replications were finished; give it more time, or a smaller --time.")
        return NOTHING_FEASIBLE
    if found.stopped_by == "interrupt":
        say(f"interrupted; finished replications: {found.replications}.")
    return ANSWERED


def compare(
    files: Files,
    strategies: Annotated[
        list[str],
        typer.Option(
            "--strategies",
            metavar="A B C",
            help="Strategies, NAME[:p=v,...] each.",
            autocompletion=complete_strategy,
        ),
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

    with batch_progress("comparing", quiet=json, seconds=seconds, workers=workers) as progress:
        comparison = comparing.compare(
            instance_files(files),
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
    deliver(comparison.to_data, lambda: comparison.table(terminal_width()), as_json=json)
    for sentence in comparison.warnings:
        say(sentence)
    chosen = [run for run in comparison.runs if AUTO in run.result.extra]
    for sentence in dict.fromkeys(f"{run.problem}: auto chose {_choice_of(run.result)}." for run in chosen):
        note(sentence)
    if not comparison.complete:
        say(f"interrupted; finished runs: {len(comparison.runs)}.")
    return ANSWERED if comparison.runs else NOTHING_FEASIBLE


def sweep(
    file: File,
    vary: Annotated[
        list[str], typer.Option(metavar="PATH=VALUES", help="data.capacity=1..30, a..b..step, or x,y,z; repeatable.")
    ],
    strategy: ChosenName = AUTO,
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
    """Solve an instance with some of its values varied: a parameter study, by one strategy or by auto's choice.

    Several --vary make all combinations. A sweep that was ended goes on from its CSV file.

    Example: optmodels sweep instances/placement/gautam-6x6.json --vary data.service_rate=40..60..5 --strategy annealing
    """
    from ..studies import sweeping

    _check_picture(plot)
    with batch_progress("sweeping", quiet=json, seconds=seconds, workers=workers) as progress:
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
    for sentence in study.warnings:
        say(sentence)
    if plot and study.points:
        sweeping.plot_sweep(study, plot, measure)
    deliver(study.to_data, study.table, as_json=json)
    if not study.complete:
        say(f"interrupted; finished points: {len(study.points)}.")
    return ANSWERED if any(point.record["objective"] is not None for point in study.points) else NOTHING_FEASIBLE


def generate(
    context: typer.Context,
    kind: KindName,
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
    from ..instance import pretty, read

    options = parse_options(context.args)
    if out is None:
        text = pretty(make(kind, **options).to_data())
        deliver(None, text, as_json=False)
        return ANSWERED
    with batch_progress(f"writing {out}", quiet=json) as bar:
        progress = None if bar is None else lambda done, total: bar(done, total, f"writing {out}")
        files = generate_to(out, kind, options, progress)

    def data() -> dict[str, Any]:
        content = read(files[-1])
        return {"file": files[-1], "files": files, "kind": content.kind, "name": content.name}

    deliver(data, lambda: note(f"wrote {' and '.join(files)}"), as_json=json)
    return ANSWERED


def schema(
    kind: Annotated[
        str | None,
        typer.Argument(metavar="[KIND]", help="Describe the data of this kind, too.", autocompletion=complete_kind),
    ] = None,
    json: Json = False,
) -> int:
    """What stands in instance files: JSON Schema, for editors and other programs; of a kind a table of its fields.

    The table tells type, unit, default, rule and meaning of each field of `data`; with --json it is JSON Schema of the
    whole file. Without KIND, `data` is any object, and it is JSON with and without --json.

    Examples: optmodels schema routing; optmodels schema routing --json > routing.schema.json
    """
    from ..instance import data_fields, pretty
    from ..instance import schema as described

    if kind is None or json:
        deliver(None, pretty(described(kind)), as_json=False)
        return ANSWERED
    rows = data_fields(kind)
    deliver(None, lambda: print_rows(rows), as_json=False)
    return ANSWERED


def _choice_of(result: Result) -> str:
    return f"{result.strategy}: {result.extra[AUTO]}"


def _check_picture(path: str | None) -> None:
    """Tell of a missing extra, or of a path that no picture goes to, before the work is done."""
    if path:
        from ..plotting import check_path, house_style

        check_path(path)
        with house_style():
            pass
