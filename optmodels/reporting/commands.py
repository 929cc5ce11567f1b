"""The command ``report``: the report of folders that ``optmodels compare --out`` has written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..cli import ANSWERED, NOTHING_FEASIBLE, Json, check_page, deliver, note, say
from ..errors import RequestError

#: Name of the page in the folder of its comparison.
PAGE = "report.html"


def report(
    folders: Annotated[
        list[str], typer.Argument(metavar="DIR...", help="Folders of comparisons (`compare --out DIR`), put together.")
    ],
    out: Annotated[
        str | None, typer.Option(metavar="F.html", help=f"Where to write the page; by default DIR/{PAGE}.")
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the page.")] = None,
    json: Json = False,
) -> int:
    """Write a comparison as one HTML page.

    The page says in words who is better, where, and how sure that is, and has sortable tables, profiles, curves of
    every instance, pictures of the best answers, failures, versions and machines. It is one file that needs no network:
    for screens, phones and print. Every stored answer is evaluated again before it counts.

    For example:
        optmodels report runs --out runs.html
        optmodels report monday tuesday --out both.html --title "Two days"
    """
    from ..studies import read_comparison
    from .page import machines_of, read_further, study_text, write_report

    for folder in folders:
        if Path(folder).is_file():
            raise RequestError(f"{folder}: a report is made of a folder (`compare --out DIR`), and this is a file.")
    target = out or str(Path(folders[0]) / PAGE)
    check_page(target)
    further = read_further(*folders)
    comparison = read_comparison(*folders)
    write_report(
        comparison, target, title=title, study=study_text(*folders) if len(folders) == 1 else None,
        machines=machines_of(*folders), further=further,
    )  # fmt: skip
    told = {
        "format": 1,
        "page": target,
        "bytes": Path(target).stat().st_size,
        "runs": len(comparison.runs),
        "complete": comparison.complete,
        "warnings": list(comparison.warnings),
    }
    deliver(told, lambda: note(f"wrote {target}."), as_json=json)
    for sentence in comparison.warnings:
        say(sentence)
    return ANSWERED if comparison.runs else NOTHING_FEASIBLE
