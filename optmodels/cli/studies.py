"""Commands that make many runs, or make instances: pareto, simulate, compare, sweep, generate."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import RequestError
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
    SharedBy,
    Workers,
    complete_kind,
    complete_strategy,
    instance_files,
    parse_decision,
    parse_options,
    whole_number,
)
from .output import batch_progress, check_page, check_target, deliver, note, say, tell_written, terminal_width

if TYPE_CHECKING:
    from heuristics import Result


def pareto(
    file: File,
    measures: Annotated[
        list[str],
        typer.Option(metavar="A B", help="Two measures to minimise; max:B maximises B."),
    ],
    strategy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[:p=v,...]",
            help="exhaustive (the default up to a million decisions), or a strategy that handles limits on measures.",
        ),
    ] = None,
    seconds: Seconds = None,
    evaluations: Evaluations = None,
    seed: Seed = 0,
    runs: Annotated[
        int,
        typer.Option(
            parser=whole_number, metavar="N", help="Limit on the number of runs, where decisions are not enumerated."
        ),
    ] = 50,
    out: Annotated[
        str | None, typer.Option(metavar="F.csv", help="Write the front to this file, a line per point.")
    ] = None,
    plot: Annotated[str | None, typer.Option(metavar="F.svg|png", help="Draw the front.")] = None,
    json: Json = False,
) -> int:
    """Find the Pareto front of two measures.

    These are the feasible decisions that no other feasible decision dominates. Small spaces are enumerated, and the
    front is exact. For larger ones a strategy minimises A again and again, under different limits on B; the front is
    exact if each of these answers is proved optimal. A point is "supported" if it minimises a weighted sum A + w B; the
    table gives the range of w, and for other points the gap to the convex hull.

    Ctrl-C keeps the points found so far. --seconds and --evaluations apply to each run.

    For example:
        optmodels pareto avrachenkov-k5 --measures starvation response_time
        optmodels pareto gautam-6x6 --measures opening mean_delay --strategy annealing --seconds 2
    """
    from ..studies import pareto as find_front

    check_target(out, file)
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
            parser=whole_number, metavar="N", help="Independent runs; by default 30, or as many as --seconds allow."
        ),
    ] = None,
    time: Annotated[
        float | None,
        typer.Option(parser=time_of, metavar="T", help="Simulated time of each run, in the problem's unit of time."),
    ] = None,
    seconds: Seconds = None,
    seed: Seed = 0,
    json: Json = False,
) -> int:
    """Compare exact and simulated measures of one decision.

    The simulation shares no code with the exact evaluation. For each measure it prints both values, a confidence
    interval, and z, the difference in standard errors. Ctrl-C keeps the runs that are finished.

    For example:
        optmodels simulate avrachenkov-k5 --at -1,2,2
    """
    from .. import solving
    from ..studies import simulating

    problem = solving.as_problem(file)
    decision = parse_decision(at, problem.name)
    with batch_progress("simulating", quiet=json) as progress:
        found = simulating.simulate(
            problem,
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
        list[str] | None,
        typer.Option(
            "--strategies",
            metavar="A B C",
            help="Strategies to compare, each NAME[:p=v,...]; needed unless a study file names them.",
            autocompletion=complete_strategy,
        ),
    ] = None,
    seeds: Seeds = None,
    seconds: Seconds = None,
    evaluations: Evaluations = None,
    workers: SharedBy = None,
    threads: Annotated[
        int | None, typer.Option(parser=whole_number, metavar="N", help="Threads that each run may use (default 1).")
    ] = None,
    memory: Annotated[
        bool, typer.Option("--memory", help="Give each run a process of its own, and measure its peak memory.")
    ] = False,
    cluster: ClusterAddress = None,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Folder for all runs, tables and the best results.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Skip runs that are already in --out.")] = False,
    append: Annotated[
        bool, typer.Option("--append", help="Add to the runs in --out; the table covers all of them.")
    ] = False,
    parquet: Annotated[str | None, typer.Option(metavar="F.parquet", help="Write the runs to this file.")] = None,
    ioh: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write the runs for IOHanalyzer to this new folder.")
    ] = None,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="text|md|latex|csv|json",
            help="text, md and latex print the table; csv and json one record per run.",
        ),
    ] = "text",
    sort: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Sort by this column; --sort=-COLUMN sorts downwards.")
    ] = None,
    statistics: Annotated[
        bool,
        typer.Option(
            "--statistics", help="Also print intervals, times to targets and tests: who is better, and how surely."
        ),
    ] = False,
    columns: Annotated[
        str | None, typer.Option(metavar="A,B", help="Print these columns only, such as problem,strategy,worst_gap.")
    ] = None,
    report: Annotated[str | None, typer.Option(metavar="F.html", help="Write a report, one HTML page.")] = None,
    json: Json = False,
) -> int:
    """Compare several strategies on several instances.

    All runs have the same limits and the same number of threads. Where a strategy does not apply to an instance, its
    line says so. The name of a benchmark set (see `optmodels bench`) stands for its instances. A study file (TOML) in
    place of FILE says all at once; options override it. Ctrl-C keeps the runs that are finished.

    Over several seeds the table shows medians and the worst run. It has two gaps: to the best value known (marked *
    where that is proved optimal), and to the bound that the run itself proved.

    For example:
        optmodels compare gautam-4x4 --strategies highs dejavu genetic --seconds 10
        optmodels compare gautam-4x4 gautam-6x6 --strategies dejavu genetic --seeds 5 --seconds 10 --out runs
        optmodels compare gautam-4x4 --strategies highs dejavu --format latex --columns strategy,objective,seconds
        optmodels compare study.toml
    """
    from ..studies import check_format, comparing
    from ..studies.store import check_exports

    chosen_columns = None if columns is None else [name.strip() for name in columns.split(",") if name.strip()]
    check_format(form, chosen_columns, sort)

    if statistics and form != "text" and not json:
        raise RequestError(f"--statistics are printed below the table or with --json, and not with --format {form}.")
    check_exports(parquet, ioh)
    check_page(report, *files)
    with batch_progress("comparing", quiet=json, seconds=seconds, workers=workers or 1) as progress:
        comparison = comparing.compare(
            instance_files(files),
            strategies or None,
            seeds=seeds,
            seconds=seconds,
            evaluations=evaluations,
            workers=workers,
            threads=threads,
            memory=memory or None,
            cluster=cluster,
            out=out,
            resume=resume,
            append=append,
            progress=progress,
        )

    def data() -> dict[str, Any]:
        from ..statistics import statistics_data

        more = {"statistics": statistics_data(comparison.statistics)} if statistics else {}
        return comparison.to_data() | more

    def written() -> str:
        if form == "text":
            from ..statistics import statistics_text

            width = terminal_width()
            table = comparison.table(width, columns=chosen_columns, sort=sort)
            return f"{table}\n\n{statistics_text(comparison.statistics, width)}" if statistics else table
        return comparison.write(form, columns=chosen_columns, sort=sort).rstrip("\n")

    deliver(data, written, as_json=json)
    if report:
        from ..reporting import study_text, write_report

        write_report(comparison, report, study=study_text(*files))
    for sentence in comparison.warnings:
        say(sentence)
    chosen = [run for run in comparison.runs if AUTO in run.result.extra]
    for sentence in dict.fromkeys(f"{run.problem}: auto chose {_choice_of(run.result)}." for run in chosen):
        note(sentence)
    if parquet:
        from ..studies import write_parquet

        write_parquet(comparison, parquet)
    if ioh:
        from ..studies import write_ioh

        for sentence in write_ioh(comparison, ioh):
            note(sentence)
    if not comparison.complete:
        say(f"interrupted; finished runs: {len(comparison.runs)}.")
    return ANSWERED if comparison.runs else NOTHING_FEASIBLE


def merge(
    folders: Annotated[list[str], typer.Argument(metavar="DIR...", help="Folders that `compare --out` has written.")],
    out: Annotated[str, typer.Option(metavar="DIR", help="New folder for all runs, tables and the best results.")],
    json: Json = False,
) -> int:
    """Merge the folders of comparisons, from several machines, say.

    Every stored answer is evaluated again. A run that is in two folders counts once; contradictions, and machines that
    differ, are said. The folders must have the same budget; they are left as they are.

    For example:
        optmodels merge runs-a runs-b --out runs
    """
    from ..studies import merge_comparisons

    comparison = merge_comparisons(folders, out)
    deliver(comparison.to_data, lambda: comparison.table(terminal_width()), as_json=json)
    for sentence in comparison.warnings:
        say(sentence)
    return ANSWERED if comparison.runs else NOTHING_FEASIBLE


def sweep(
    file: File,
    vary: Annotated[
        list[str],
        typer.Option(
            metavar="PATH=VALUES",
            help="A field and its values: data.capacity=1..30, a..b..step, or x,y,z; may be repeated.",
        ),
    ],
    strategy: ChosenName = AUTO,
    seconds: Seconds = None,
    evaluations: Evaluations = None,
    seed: Seed = 0,
    workers: Workers = 1,
    cluster: ClusterAddress = None,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="F.csv", help="Write a line per point; points that are already in the file are not run again."
        ),
    ] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="F.svg", help="Draw the objective against the first field that varies.")
    ] = None,
    measure: Annotated[
        str, typer.Option(metavar="NAME", help="What --plot draws: a measure, or a column of the CSV file.")
    ] = "objective",
    json: Json = False,
) -> int:
    """Solve an instance for several values of its fields.

    Prints a line for each point. Several --vary give all combinations. With --out, a sweep that was interrupted
    resumes from its CSV file.

    For example:
        optmodels sweep avrachenkov-k5 --vary data.capacity=1..10
        optmodels sweep gautam-6x6 --vary data.service_rate=40..60..5 --out rates.csv --plot rates.svg
    """
    from ..studies import sweeping

    check_target(out, file)
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
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the instance to this file instead of stdout.")
    ] = None,
    json: Json = False,
) -> int:
    """Generate a random instance from a seed.

    Further options depend on the kind: `optmodels list placement` lists them, under "generator". A file that exists is
    replaced only if `generate` wrote it.

    For example:
        optmodels generate placement --rows 8 --columns 8 --demand-law cluster --seed 1 --out 8x8.json
        optmodels generate placement --network gabriel --nodes 50 --out gabriel.json
        optmodels generate threshold --capacity 20 --patience-phases 2 --seed 1 --out crawler.json
        optmodels generate freshness --pages 1e6 --law pareto --hosts 1000 --seed 1 --out pages.parquet
        optmodels generate routing --servers 5 --application freshness --weights drawn --out servers.json
    """
    from ..generating import generate as make
    from ..generating import generate_to
    from ..instance import pretty, read

    options = parse_options(context.args)
    if out is None:
        text = pretty(make(kind, **options).to_data())
        deliver(None, text, as_json=False)
        return ANSWERED
    if not os.path.isdir(out):  # some kinds write folders
        check_target(out)
    with batch_progress(f"writing {out}", quiet=json) as bar:
        progress = None if bar is None else lambda done, total: bar(done, total, f"writing {out}")
        files = generate_to(out, kind, options, progress)

    def data() -> dict[str, Any]:
        content = read(files[-1])
        return {"file": files[-1], "files": files, "kind": content.kind, "name": content.name}

    deliver(data, lambda: tell_written(*files), as_json=json)
    return ANSWERED


def schema(
    kind: Annotated[
        str | None,
        typer.Argument(metavar="[KIND]", help="Kind of problem (see `optmodels list`).", autocompletion=complete_kind),
    ] = None,
    table: Annotated[bool, typer.Option("--table", help="Print the table, wherever it goes.")] = False,
    json: Json = False,
) -> int:
    """Describe the fields of instance files.

    On a terminal it prints, for a kind, a table of the fields of `data`: type, unit, default, rule and meaning.
    Elsewhere (a file, a pipe) and with --json it prints the JSON Schema of the whole file, for editors and other
    programs. Without KIND it prints the JSON Schema that all kinds share.

    For example:
        optmodels schema routing
        optmodels schema routing > routing.schema.json
    """
    from ..instance import data_fields, pretty
    from ..instance import schema as described
    from .listing import print_rows

    if kind is None or json or not (table or sys.stdout.isatty()):
        deliver(None, pretty(described(kind)), as_json=False)
        return ANSWERED
    rows = data_fields(kind)
    deliver(None, lambda: print_rows(rows), as_json=False)
    return ANSWERED


def _choice_of(result: Result) -> str:
    return f"{result.strategy}: {result.extra[AUTO]}"


def _check_picture(path: str | None) -> None:
    """Tell of a missing extra, or of a path that no picture goes to, before the work is done."""
    if path is not None:
        from ..plotting import check_path, house_style

        check_path(path)
        check_target(path)
        with house_style():
            pass
