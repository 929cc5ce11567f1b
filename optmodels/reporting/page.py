"""A comparison as one HTML file: `report_html` and `write_report`.

The file asks nobody for anything: style, script, charts and pictures are inside, and its own policy of contents forbids
requests and any script but ours, which it names by checksum. The template escapes every text, so that a name in a file
stays a name, whatever letters it has.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..data import explained, read_json, write_text
from ..errors import UnreadableFile
from ..statistics import NOT_APPLICABLE, Reference, Statistics, judge
from ..studies.store import Record, machine, machine_digest
from .charts import HEIGHT, WIDTH, Chart
from .figures import anytime, overview
from .pictures import Picture, Styles, draw_answer
from .tables import cells_table, further_tables, pairs_table, runs_table, strategies_table
from .writing import counted, gap, lines_of, name_of, sentence_of, value

if TYPE_CHECKING:
    from jinja2 import Template

    from ..studies import Comparison, Run

#: Characters that all pictures together, and all anytime charts together, may have.
PICTURES, CHARTS = 560_000, 200_000

#: Characters of the markup around a cell of a further table, which takes its room from the pictures.
CELL = 30

#: File of a folder with tables that stand on the page as they are.
FURTHER = "further-tables.json"

#: Sentences of one kind that are shown; more are counted.
MOST_SENTENCES = 60


def write_report(
    comparison: Comparison,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    study: str | None = None,
    machines: Mapping[str, Mapping[str, Any]] | None = None,
    further: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Write a comparison as one HTML file that needs nothing else.

    Parameters
    ----------
    comparison
        Of `optmodels.compare`, or read back from a folder.
    path
        Of the file, which is whole or not written at all.
    title
        Of the page; by default it counts strategies and instances.
    study
        Text of the study file that asked for the runs, to be shown.
    machines
        Descriptions of the machines of the runs, by their checksums; this machine needs none.
    further
        Tables to stand below the results, each with ``caption``, ``columns`` and ``rows`` of texts, and ``notes``.

    Raises
    ------
    UnwritableFile
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from optmodels import compare
    >>> from optmodels.reporting import write_report
    >>> comparison = compare("instances/placement/gautam-2x3.json", ["exhaustive", "dejavu"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(comparison, f"{folder}/report.html", title="Two strategies")
    ...     Path(folder, "report.html").read_text(encoding="utf-8").count("<title>Two strategies</title>")
    1
    """
    write_text(path, report_html(comparison, title=title, study=study, machines=machines, further=further))


def report_html(
    comparison: Comparison,
    *,
    title: str | None = None,
    study: str | None = None,
    machines: Mapping[str, Mapping[str, Any]] | None = None,
    further: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Make the page of a comparison: words, tables, charts, pictures, failures, and how it was made.

    Parameters
    ----------
    comparison
        Of `optmodels.compare`, or read back from a folder.
    title
        Of the page; by default it counts strategies and instances.
    study
        Text of the study file that asked for the runs, to be shown.
    machines
        Descriptions of the machines of the runs, by their checksums; this machine needs none.
    further
        Tables to stand below the results, each with ``caption``, ``columns`` and ``rows`` of texts, and ``notes``.

    Returns
    -------
    str
        A whole HTML document.

    Examples
    --------
    >>> from optmodels import compare
    >>> from optmodels.reporting import report_html
    >>> page = report_html(compare("instances/placement/gautam-2x3.json", ["exhaustive", "dejavu"]))
    >>> page.splitlines()[0], "://" in page
    ('<!DOCTYPE html>', False)
    """
    statistics = judge(comparison)
    looks = {name: place for place, name in enumerate(statistics.strategies)}
    places = {problem: f"instance-{place}" for place, problem in enumerate(comparison.problems)}
    styles, tables_given = Styles(), further_tables(further)
    room = PICTURES - sum(len(cell) + CELL for table in tables_given for row in table.rows for cell in row.cells)
    shown = _instances(comparison, statistics, looks, places, styles, max(0, room))
    several = len(statistics.problems) > 1
    tables = [
        *([strategies_table(statistics)] if several and len(statistics.strategies) > 1 else []),
        cells_table(comparison, statistics, places),
        *([pairs_table(statistics)] if several and statistics.tests else []),
    ]
    sheet, script = _text("page.css"), _text("page.js")
    return _template().render(
        title=_title(comparison, statistics) if title is None else sentence_of(title),
        version=__version__,
        facts=_facts(comparison, statistics),
        summary=_summary(statistics),
        warnings=[sentence_of(one) for one in comparison.warnings],
        complete=comparison.complete,
        tables=[table for table in tables if table.rows],
        further=tables_given,
        charts=overview(statistics, looks),
        instances=shown,
        failures=_failures(run for run in comparison.runs if run.status != NOT_APPLICABLE),
        unfit=_failures(run for run in comparison.runs if run.status == NOT_APPLICABLE),
        runs=runs_table(comparison, statistics, places),
        origins=_origins(comparison, machines or {}),
        study=None if study is None else lines_of(study),
        size=(WIDTH, HEIGHT),
        sheet=sheet + styles.sheet,
        script=script,
        checksum=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def study_text(*places: str | os.PathLike[str]) -> str | None:
    """Find the text of the study file among files, or in the folder of a comparison.

    Parameters
    ----------
    *places
        Files and folders; those that are no study file, and have none, are passed over.

    Returns
    -------
    str or None
        The text of the first that is found.
    """
    for place in map(Path, places):
        file = place / "study.toml" if place.is_dir() else place
        if file.suffix == ".toml" and file.is_file():
            with explained(file):
                return file.read_text(encoding="utf-8", errors="replace")
    return None


def write_further(folder: str | os.PathLike[str], tables: Sequence[Mapping[str, Any]]) -> None:
    """Write tables into the folder of a comparison, for its report.

    Parameters
    ----------
    folder
        Of the comparison.
    tables
        As `write_report` takes them.
    """
    further_tables(tables)
    write_text(Path(folder) / FURTHER, json.dumps({"format": 1, "tables": list(tables)}, indent=0) + "\n")


def read_further(*folders: str | os.PathLike[str]) -> list[Mapping[str, Any]]:
    """Read the tables that the folders of comparisons hold beside their runs.

    Parameters
    ----------
    *folders
        Of comparisons; `optmodels bench papers --out DIR` writes such tables.

    Returns
    -------
    list
        As `write_report` takes them.

    Raises
    ------
    UnreadableFile
        If a file is not what it must be.
    """
    found: list[Mapping[str, Any]] = []
    for file in (Path(folder) / FURTHER for folder in folders):
        if file.is_file():
            given = read_json(file)
            tables = given.get("tables") if isinstance(given, Mapping) else None
            try:
                further_tables(tables)
            except ValueError as failure:
                raise UnreadableFile(f"{file}: {failure}") from None
            found.extend(tables or [])
    return found


def machines_of(*folders: str | os.PathLike[str]) -> dict[str, Mapping[str, Any]]:
    """Read the descriptions of machines that the folders of comparisons hold.

    Parameters
    ----------
    *folders
        Of comparisons.

    Returns
    -------
    dict
        Descriptions by their checksums.
    """
    records = [Record.read(Path(folder)) for folder in folders]
    return {
        digest: told
        for record in records
        if record is not None
        for digest, told in record.machines.items()
        if isinstance(told, Mapping)
    }


# -- inside ------------------------------------------------------------------------------------------------------------


@cache
def _template() -> Template:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_text), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("page.html")


def _text(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _title(comparison: Comparison, statistics: Statistics) -> str:
    if not comparison.runs:
        return "A comparison without runs"
    strategies = counted(len(statistics.strategies), "strategy", "strategies")
    return f"{strategies} on {counted(len(statistics.problems), 'instance')}"


def _facts(comparison: Comparison, statistics: Statistics) -> str:
    """What was asked for, in one line."""
    limits = {"seconds": "s", "evaluations": "evaluations", "stall": "evaluations without progress"}
    budget = [f"{given:g} {unit}" for name, unit in limits.items() if (given := getattr(comparison.budget, name))]
    seeds = max(Counter((run.problem, run.strategy) for run in comparison.runs).values(), default=0)
    told = [
        counted(len(comparison.runs), "run"),
        counted(len(statistics.strategies), "strategy", "strategies"),
        counted(len(statistics.problems), "instance"),
        f"up to {counted(seeds, 'seed')}",
        f"budget of a run: {', '.join(budget) or 'none'}",
    ]
    return "; ".join(told)


@dataclass(frozen=True)
class Summary:
    """The verdict, what else must be known, and every comparison in words."""

    verdict: str
    remarks: tuple[str, ...]
    details: tuple[str, ...]


def _summary(statistics: Statistics) -> Summary:
    """Take the sentences apart: the verdict, those on pairs and on strategies, which tables tell too, and the rest."""
    verdict, *rest = statistics.sentences
    told = len(statistics.tests) + sum(standing.runs > 0 for standing in statistics.standings.values())
    details = rest[:told] if statistics.strategies else []
    remarks = rest[len(details) :]
    return Summary(
        sentence_of(verdict), tuple(map(sentence_of, remarks)), tuple(map(sentence_of, details[:MOST_SENTENCES]))
    )


@dataclass(frozen=True)
class Shown:
    """One instance: where it stands, what is known of it, its curves and its picture."""

    place: str
    name: str
    kind: str
    sentence: str
    chart: Chart | None
    picture: Picture
    unseen: str = ""


def _instances(
    comparison: Comparison,
    statistics: Statistics,
    looks: dict[str, int],
    places: dict[str, str],
    styles: Styles,
    room: int,
) -> list[Shown]:
    """Tell about every instance, with pictures in as many characters as there is room for."""
    groups: dict[str, list[Run]] = {}
    for run in comparison.runs:
        groups.setdefault(run.problem, []).append(run)
    shown = []
    pictures, charts = float(room), float(CHARTS)
    for done, (problem, runs) in enumerate(groups.items()):
        reference = statistics.references[problem]
        left = len(groups) - done
        best = comparison.best(problem)
        chart = anytime(problem, runs, reference, looks)
        size = 0 if chart is None else 1500 + sum(len(line.path) + 80 for line in chart.lines)
        unseen = "" if size <= charts else "The curves are left out: they would make this page too large."
        charts -= size if not unseen else 0
        picture = Picture() if best is None else draw_answer(best, places[problem], styles, pictures / left)
        pictures -= len(picture.svg)
        shown.append(
            Shown(
                places[problem],
                name_of(problem),
                name_of(runs[0].result.kind or ""),
                _told(reference, best),
                None if unseen else chart,
                picture,
                unseen,
            )
        )
    return shown


def _told(reference: Reference, best: Run | None) -> str:
    """What is known of an instance, in words."""
    if best is None:
        bound = "" if reference.bound is None else f" The best bound proved is {value(reference.bound)}."
        return f"No run found a feasible decision.{bound}"
    worth = "proved optimal" if best.result.status == "optimal" else "not proved optimal by this run"
    if best.result.extra.get("attained") is False:
        worth = "a bound that no schedule can be below, attained by none"
    told = f"Best answer here: {value(best.result.objective)} by {name_of(best.strategy)}, {worth}."
    if reference.value is not None and reference.value != best.result.objective:
        told += f" The best value known is {value(reference.value)} ({reference.label})."
    elif reference.proved and best.result.status != "optimal":
        told += f" That this is the optimum is known ({reference.label})."
    if reference.bound is not None and not reference.proved and reference.value is not None:
        distance = best.result.gap(reference.bound)
        told += f" The best bound proved is {value(reference.bound)}, a gap of {gap(distance)}."
    return told


@dataclass(frozen=True)
class Failure:
    """One sentence, and the runs that ended with it."""

    status: str
    sentence: str
    where: str
    count: int


def _failures(asked: Iterable[Run]) -> list[Failure]:
    """Why runs have no answer, each sentence once."""
    groups: dict[tuple[str, str, str], list[Run]] = {}
    for run in asked:
        said = _complaint(run)
        if said:
            groups.setdefault((run.status, run.strategy, said), []).append(run)
    failures = []
    for (status, strategy, said), runs in groups.items():
        problems = list(dict.fromkeys(name_of(run.problem) for run in runs))
        rest = f" and {len(problems) - 6} more" if len(problems) > 6 else ""
        where = f"{name_of(strategy)} on {', '.join(problems[:6])}{rest}"
        failures.append(Failure(status, sentence_of(said), where, len(runs)))
    if len(failures) > MOST_SENTENCES:
        left = sum(failure.count for failure in failures[MOST_SENTENCES:])
        failures[MOST_SENTENCES:] = [Failure("", f"{counted(left, 'more run')} with other sentences.", "", left)]
    return failures


def _complaint(run: Run) -> str | None:
    """Why a run has no answer; ``None`` if it has one."""
    if run.error:
        return run.error
    if run.reason:
        return run.reason
    if run.result.objective is not None:
        return None
    if run.status == "infeasible":
        return "it is proved that no decision is feasible."
    hint = run.result.extra.get("hint")
    return f"{hint}." if isinstance(hint, str) else "no feasible decision was found."


def _origins(comparison: Comparison, machines: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Versions and machines, as the runs tell them."""
    told: list[tuple[str, str]] = []
    versions: dict[str, Counter[str]] = {}
    for run in comparison.runs:
        for name, version in run.result.versions.items():
            versions.setdefault(str(name), Counter())[str(version)] += 1
    for name, found in sorted(versions.items(), key=lambda item: item[0] != "optmodels"):
        told.append((name_of(name), _listed(found)))
    here = machine()
    known = {machine_digest(here): here, **machines}
    used = Counter(run.machine for run in comparison.runs if run.machine is not None)
    for digest, many in used.most_common(8):
        words = _described(known.get(digest, {})) or f"not described, checksum {name_of(digest)}"
        told.append(("machine", words if len(used) == 1 else f"{words} ({counted(many, 'run')})"))
    for label, values in (
        ("threads of a run", [run.threads for run in comparison.runs]),
        ("checksum of the study", [run.study for run in comparison.runs]),
    ):
        if some := Counter(str(one) for one in values if one is not None):
            told.append((label, _listed(some)))
    answers = [run.result for run in comparison.runs if run.result.objective is not None]
    checked = sum(answer.checked for answer in answers)
    told.append(("answers recomputed by the evaluator", f"{checked} of {len(answers)}"))
    return told


def _described(told: Mapping[str, Any]) -> str:
    """A machine in words, from what its description has."""
    words = [
        str(told[name]) if unit == "" else f"{told[name]} {unit}"
        for name, unit in (("cpu", ""), ("cores", "cores"), ("memory_gigabytes", "GB"), ("platform", ""))
        if told.get(name) is not None
    ]
    return sentence_of(", ".join(words))


def _listed(found: Counter[str]) -> str:
    """Values with the number of runs where there are several."""
    if len(found) == 1:
        return name_of(next(iter(found)))
    some: Sequence[tuple[str, Any]] = found.most_common(8)
    return ", ".join(f"{name_of(text)} ({counted(many, 'run')})" for text, many in some)
