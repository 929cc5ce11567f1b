"""The command ``bench``: strategies compared on a benchmark set, and the tables of the papers remade."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..cli import (
    ANSWERED,
    NOTHING_FEASIBLE,
    Evaluations,
    Json,
    Seconds,
    Workers,
    batch_progress,
    check_page,
    check_target,
    deliver,
    note,
    say,
    terminal_width,
    whole_number,
)
from ..data import columns, write_text
from ..kinds import resolve

if TYPE_CHECKING:
    from .papers import Remade


def complete_set(incomplete: str) -> list[str]:
    """Complete the name of a shipped set."""
    from .sets import shipped_sets

    return [name for name in shipped_sets() if name.startswith(incomplete)]


def bench(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[SET]",
            help="Name of a benchmark set, or the path of one (.toml); without it, sets are listed.",
            autocompletion=complete_set,
        ),
    ] = None,
    strategies: Annotated[
        list[str] | None,
        typer.Option("--strategies", metavar="A B C", help="Strategies to compare; by default those of the set."),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(parser=whole_number, metavar="N", help="Runs of each strategy that draws random numbers."),
    ] = None,
    seconds: Seconds = None,
    evaluations: Evaluations = None,
    workers: Workers = 1,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Folder for all runs, tables and the best results.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Skip runs that are already in --out.")] = False,
    report: Annotated[str | None, typer.Option(metavar="F.html", help="Write a report on one page.")] = None,
    patch: Annotated[
        str | None,
        typer.Option(metavar="F.patch", help="Write better values and proofs as a patch of the solution file."),
    ] = None,
    json: Json = False,
) -> int:
    """Compare strategies on a benchmark set.

    A set is a fixed list of instances with a file of what is known about them. Gaps are to the best known value, and
    every claim of the file is evaluated again. A better value or a new proof is verified, said, and written to --patch
    as a unified diff; no file of the set is changed.

    The set `papers` also remakes the tables and figures of the five papers, beside the printed values.

    For example:
        optmodels bench
        optmodels bench routing-random --seconds 5 --workers 2
        optmodels bench gautam-25 --strategies dejavu annealing --seconds 10 --out runs --patch better.patch
    """
    if name is None:
        return _list_sets(json)
    from .benching import bench as run
    from .sets import read_set

    check_target(patch)
    check_page(report)
    write_report: Any = None if report is None else resolve("optmodels.reporting:write_report")
    chosen = read_set(name)
    remade = _remade(chosen.papers, workers, json)
    with batch_progress(f"benchmark {chosen.name}", quiet=json, seconds=seconds, workers=workers) as progress:
        found = run(
            chosen,
            strategies or None,
            seconds=seconds,
            evaluations=evaluations,
            seeds=seeds,
            workers=workers,
            out=out,
            resume=resume,
            progress=progress,
        )

    def text() -> str:
        tables = [] if remade is None else [remade.text(full=True)]
        return "\n\n".join([*tables, found.comparison.table(terminal_width()), found.table()])

    deliver(lambda: found.to_data() | ({} if remade is None else {"papers": remade.to_data()}), text, as_json=json)
    if remade is not None and out is not None:
        files = remade.to_csv(Path(out) / "papers")
        write_further: Any = resolve("optmodels.reporting:write_further")
        write_further(out, remade.page_tables())
        note(f"wrote {len(files)} tables to {Path(out) / 'papers'}")
    for sentence in found.comparison.warnings:
        say(sentence)
    _write_patch(found, patch)
    if report is not None:
        further_tables = [] if remade is None else remade.page_tables()
        write_report(found.comparison, report, title=f"Benchmark {chosen.name}: {chosen.title}", further=further_tables)
        note(f"wrote {report}")
    if not found.comparison.complete:
        say(f"interrupted; finished runs: {len(found.comparison.runs)}.")
    return ANSWERED if found.comparison.runs else NOTHING_FEASIBLE


def _remade(papers: tuple[str, ...], workers: int, quiet: bool) -> Remade | None:
    """Remake the tables of papers, where the set asks for it."""
    if not papers:
        return None
    from .papers import remake

    with batch_progress("remaking tables", quiet=quiet, workers=workers) as progress:
        return remake(workers, progress, papers)


def _write_patch(found: Any, patch: str | None) -> None:
    """Write what is offered, or say how to get it."""
    offered = len(found.offers)
    changes = "1 entry" if offered == 1 else f"{offered} entries"
    if patch is not None:
        if not offered:
            say(f"nothing better was found: {patch} is not written.")
            return
        write_text(Path(patch), found.patch())
        note(f"wrote {patch}: {changes} of {found.chosen.solution_file.name}, verified")
    elif offered:
        note(f"{changes} of {found.chosen.solution_file.name} can be improved; --patch FILE writes how.")


def _list_sets(json: bool) -> int:
    """List the sets that come with the package."""
    from .sets import read_set, shipped_sets
    from .solutions import read_solutions

    rows, data = [["set", "instances", "kinds", "proved", "what"]], []
    for name in shipped_sets():
        chosen = read_set(name)
        known = read_solutions(chosen).values()
        proved = sum(solution.proved for solution in known)
        kinds = "all five" if len(chosen.kinds) == 5 else ", ".join(chosen.kinds)
        rows.append([name, str(len(chosen)), kinds, str(proved), chosen.title])
        valued = sum(solution.value is not None for solution in known)
        data.append(
            {
                "set": name,
                "title": chosen.title,
                "about": chosen.about,
                "instances": [member.name for member in chosen.members],
                "kinds": list(chosen.kinds),
                "strategies": list(chosen.strategies),
                "seconds": chosen.seconds,
                "known": valued,
                "proved": proved,
            }
        )
    deliver(data, columns(rows), as_json=json)
    return ANSWERED
