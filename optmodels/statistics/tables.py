"""Statistics as a table of strategies with sentences below it, and as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from textwrap import wrap
from typing import Any

from ..results import plain
from .scores import Standing, Statistics

#: Columns of the table, in order; those of the targets follow.
HEADS = ("strategy", "problems", "runs", "failed", "best on", "median gap", "interval", "worst gap", "integral")

#: What is left out of a table that is too wide, first things first.
DISPENSABLE = ("failed", "runs", "problems", "integral", "worst gap")


def statistics_text(statistics: Statistics, width: int | None = None) -> str:
    """Write statistics for people: a table of the strategies, then who is better, where, and how surely.

    Parameters
    ----------
    statistics
        As `judge` makes them.
    width
        Columns of the terminal; ``None``: no end.

    Returns
    -------
    str
        Lines without a last line break.
    """
    targets = [f"to {100 * target:g}%" for target in statistics.targets]
    heads = [*HEADS, *targets]
    rows = [_row(standing, statistics) for standing in statistics.standings.values()]
    shown = list(range(len(heads)))
    gone = [*(heads.index(name) for name in DISPENSABLE), *range(len(HEADS), len(heads))]
    while width is not None and gone and _width([heads, *rows], shown) > width:
        shown.remove(gone.pop(0))
    lines = _aligned([heads, *rows], shown)
    left = [head for place, head in enumerate(heads) if place not in shown]
    notes = [
        f"gaps: to the best value known; integral: mean gap over the run, by {statistics.clock}; "
        f"to G%: expected {statistics.clock} until the gap is G% or less",
        *([f"left out to fit into {width} columns: {', '.join(left)}"] if left else []),
        "",
        *statistics.sentences,
    ]
    folded = [
        piece for note in notes for piece in (wrap(note, width, subsequent_indent="  ") if width and note else [note])
    ]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:], "", *folded])


def statistics_data(statistics: Statistics) -> dict[str, Any]:
    """Put statistics as JSON can carry them; what is not finite is null.

    Parameters
    ----------
    statistics
        As `judge` makes them.

    Returns
    -------
    dict
        ``targets``, ``clock``, ``references``, ``standings``, ``scores``, ``tests``, ``ranking`` and ``sentences``.
    """
    scores = [
        {
            "problem": score.problem,
            "strategy": score.strategy,
            "runs": score.runs,
            "median_gap": score.median_gap,
            "worst_gap": score.worst_gap,
            "interval": score.interval,
            "gap_to_bound": score.bound_gap,
            "primal_integral": score.primal_integral,
            "primal_dual_integral": score.primal_dual_integral,
            "solved": score.solved,
            "expected_seconds": score.expected("seconds"),
            "expected_evaluations": score.expected("evaluations"),
        }
        for score in statistics.scores.values()
    ]
    told = {
        "targets": statistics.targets,
        "clock": statistics.clock,
        "references": {name: asdict(one) for name, one in statistics.references.items()},
        "standings": {name: asdict(one) for name, one in statistics.standings.items()},
        "scores": scores,
        "tests": [asdict(test) | {"winner": test.winner} for test in statistics.tests],
        "ranking": asdict(statistics.ranking),
        "sentences": statistics.sentences,
    }
    return dict(plain(told))


def _folded(note: str, width: int | None) -> list[str]:
    return wrap(note, width, subsequent_indent="  ") if width and note else [note]


def _row(standing: Standing, statistics: Statistics) -> list[str]:
    interval = standing.interval
    return [
        standing.strategy,
        str(standing.problems),
        str(standing.runs),
        str(standing.failed),
        str(standing.best_on),
        _gap(standing.median_gap),
        "-" if interval is None else f"{_gap(interval.low)} to {_gap(interval.high)}",
        _gap(standing.worst_gap),
        "-" if math.isnan(standing.primal_integral) else f"{standing.primal_integral:.3g}",
        *_expected(standing, statistics),
    ]


def _gap(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2%}" if math.isfinite(value) else "inf"


def _expected(standing: Standing, statistics: Statistics) -> list[str]:
    """Write the expected time to each target; a strategy that applies to none of the problems has none."""
    times = standing.expected[statistics.clock]
    return [_time(value) for value in times] if len(times) else ["-"] * len(statistics.targets)


def _time(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else "never"


def _width(rows: Sequence[Sequence[str]], shown: Sequence[int]) -> int:
    return sum(max(len(row[place]) for row in rows) for place in shown) + 2 * (len(shown) - 1)


def _aligned(rows: Sequence[Sequence[str]], shown: Sequence[int]) -> list[str]:
    widths = {place: max(len(row[place]) for row in rows) for place in shown}
    return [
        "  ".join(row[place].rjust(widths[place]) if place else row[place].ljust(widths[place]) for place in shown)
        for row in rows
    ]
