"""The command ``demo``: every kind once, exact strategies beside heuristics: a table, pictures, and one page."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..data import columns, number, write_text
from ..errors import RequestError
from .arguments import ANSWERED, NOTHING_FEASIBLE, Json
from .output import batch_progress, decision_words, deliver, note, say

if TYPE_CHECKING:
    from ..studies import Comparison, Run


@dataclass(frozen=True)
class Part:
    """What is shown of a kind: a small shipped instance, the strategy that proves, and those that it is held against.

    Parameters
    ----------
    name
        Of the instance.
    exact
        The strategy that proves; it is given the time it needs.
    others
        Strategies that search, or follow a rule.
    evaluations
        Limit of each of these: answers are then the same on every machine.
    """

    name: str
    exact: str
    others: tuple[str, ...]
    evaluations: int

    @property
    def strategies(self) -> tuple[str, ...]:
        """All of them, in the order of the table."""
        return (self.exact, *self.others)


SHOWN = {
    "placement": Part("gautam-4x4", "highs", ("dejavu", "annealing", "genetic"), 5000),
    "threshold": Part("avrachenkov-k20", "exhaustive", ("annealing", "local-search", "genetic"), 500),
    "robots": Part("talim-fig2", "policy-iteration", ("linear-program", "static", "annealing"), 1000),
    "freshness": Part("lognormal-100", "lagrangian", ("whittle", "greedy", "randomized", "uniform"), 1000),
    "routing": Part("loss-3", "min-mean-cycle", ("multimodular", "whittle", "local-search"), 4000),
}

#: No run takes longer, however busy the machine is.
SECONDS = 10.0

#: Where everything goes unless said.
FOLDER = "demo"

#: The page, and by what one of ours is known: no other page is overwritten.
PAGE, MARK = "index.html", '<meta name="generator" content="optmodels demo">'


@dataclass(frozen=True)
class Shown:
    """What was run for one kind, its best decision in words, and a picture of it as SVG, if there is one."""

    kind: str
    name: str
    comparison: Comparison
    words: tuple[str, ...] = ()
    picture: str | None = None

    @property
    def best(self) -> Run | None:
        """The best run; a proof counts more than rounding."""
        best = self.comparison.best(self.name)
        proved = [run for run in self.comparison.runs if run.result.status == "optimal"]
        if best is None or best.result.objective is None or not proved:
            return best
        return proved[0] if proved[0].result.gap(best.result.objective) == 0 else best


def demo(
    out: Annotated[str, typer.Option(metavar="DIR", help="Folder for the page and the pictures.")] = FOLDER,
    json: Json = False,
) -> int:
    """Try all five kinds: exact strategies against heuristics.

    Takes less than a minute on a small instance of each kind. Prints one table, draws five pictures (with the extra
    `plots`), and writes a self-contained page, DIR/index.html. The first run takes longer, because code is compiled;
    `optmodels warm-up` does that in advance.

    For example:
        optmodels demo --out demo
    """
    folder = _folder(out)
    began = time.perf_counter()
    with batch_progress("demo", quiet=json, seconds=SECONDS) as progress:
        shown = _compared(progress)
    complete = len(shown) == len(SHOWN) and all(part.comparison.complete for part in shown)
    rows = [_told(part.kind, row) for part in shown for row in part.comparison.rows()]
    if not complete:
        deliver(_data(rows, None, [], began), lambda: print_table(rows), as_json=json)
        say("interrupted; no page was written.")
        return ANSWERED if rows else NOTHING_FEASIBLE
    shown, missing = _drawn([_told_in_words(part) for part in shown], folder)
    from .demo_page import page_of

    page = folder / PAGE
    seconds = time.perf_counter() - began
    write_text(page, page_of(shown, rows, missing, seconds))
    pictures = [str(folder / f"{part.kind}.svg") for part in shown if part.picture is not None]
    deliver(_data(rows, str(page), pictures, began), lambda: print_table(rows), as_json=json)
    if missing is not None:
        say(missing)
    _say_next(page, len(pictures), seconds)
    return ANSWERED


def _compared(progress: Callable[[int, int, str], None] | None) -> list[Shown]:
    """Compare kind after kind; Ctrl-C ends it."""
    from ..studies import compare

    total = sum(len(part.strategies) for part in SHOWN.values())
    shown: list[Shown] = []
    before = 0
    for kind, part in SHOWN.items():
        found: list[Comparison] = []
        for strategies, evaluations in (((part.exact,), None), (part.others, part.evaluations)):

            def tell(done: int, _: int, what: str, before: int = before, kind: str = kind) -> None:
                if progress is not None:
                    progress(before + done, total, f"{kind}: {what}")

            found.append(compare(part.name, strategies, evaluations=evaluations, seconds=SECONDS, progress=tell))
            before += len(strategies)
            if not found[-1].complete:
                break
        runs = tuple(run for comparison in found for run in comparison.runs)
        complete = all(comparison.complete for comparison in found)
        shown.append(Shown(kind, part.name, replace(found[0], runs=runs, complete=complete)))
        if not complete:
            break
    return shown


def _told_in_words(part: Shown) -> Shown:
    """Tell the best decision of a kind in words."""
    from ..instance import load
    from ..results import result_to_data

    if part.best is None:
        return part
    return replace(part, words=tuple(decision_words(load(part.name), result_to_data(part.best.result, files=False))))


def _drawn(shown: Sequence[Shown], folder: Path) -> tuple[list[Shown], str | None]:
    """Draw the best answer of each kind; a sentence where pictures cannot be had."""
    from ..instance import load
    from ..plotting import house_style, plot_problem
    from ..results import result_to_data

    try:
        with house_style():
            pass
    except RequestError as failure:
        return list(shown), f"no pictures were drawn: {failure}."
    drawn = []
    for part in shown:
        best = part.best
        answer = None if best is None else result_to_data(best.result, files=False)
        file = folder / f"{part.kind}.svg"
        plot_problem(load(part.name), answer, file)
        drawn.append(replace(part, picture=file.read_text(encoding="utf-8")))
    return drawn, None


def _folder(out: str) -> Path:
    """Make the folder, before any work; refuse one that cannot be written to, or holds a page that is not ours."""
    folder = Path(out)
    if folder.is_file():
        raise RequestError(f"{out}: the folder cannot be created: this is a file; name a folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        raise RequestError(f"{out}: the folder cannot be created: {failure.strerror or failure}.") from None
    if not os.access(folder, os.W_OK):
        raise RequestError(f"{out}: cannot be written: the folder is not yours to write to.")
    page = folder / PAGE
    try:
        theirs = page.exists() and MARK not in page.read_text(encoding="utf-8", errors="replace")
    except OSError:
        theirs = True
    if theirs:
        raise RequestError(f"{page}: this page is not one of the demo's; choose another folder with --out.")
    return folder


def _told(kind: str, row: dict[str, Any]) -> dict[str, Any]:
    """What the table has of a run."""
    names = ("problem", "strategy", "status", "objective", "bound", "gap_to_reference", "evaluations", "seconds")
    return {"kind": kind} | {name: row[name] for name in names}


def cells_of(row: dict[str, Any]) -> list[str]:
    """Write a run as the cells of a table, without its kind and instance."""
    gap = row["gap_to_reference"]
    told = "-" if gap is None else f"{100 * gap:.2f}%"
    values = [number(row["objective"]), number(row["bound"]), told, number(row["evaluations"])]
    return [row["strategy"], row["status"], *values, f"{row['seconds']:.2f}"]


#: The heads of these cells.
HEADS = ("strategy", "status", "objective", "bound", "gap", "evaluations", "seconds")


def print_table(rows: Sequence[dict[str, Any]]) -> None:
    """Print all runs as one table."""
    print(columns([["kind", "instance", *HEADS], *([row["kind"], row["problem"], *cells_of(row)] for row in rows)]))


def _data(rows: list[dict[str, Any]], page: str | None, pictures: list[str], began: float) -> dict[str, Any]:
    return {
        "format": 1,
        "page": page,
        "pictures": pictures,
        "seconds": time.perf_counter() - began,
        "compiling": _compiling(),
        "runs": rows,
    }


def _compiling() -> float:
    from heuristics import clock

    return clock.lost()


def _say_next(page: Path, pictures: int, seconds: float) -> None:
    """Tell what was written, how long it took, and what to do next."""
    compiling = _compiling()
    first = "" if compiling < 1 else f" (of which {compiling:.0f} s to compile or load code, mostly at the first use)"
    drawn = f" and {pictures} pictures beside it" if pictures else ""
    note(f"wrote {page}{drawn} in {seconds:.0f} s{first}.")
    note("next: optmodels list placement (what a kind offers); optmodels solve gautam-6x6 (an answer, with its proof);")
    note("optmodels new placement --out mine.json (a problem of your own), then check, solve and plot it.")
