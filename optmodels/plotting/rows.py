"""What pictures of runs share: rows of comparisons, what they are called, and what their marks mean."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import RequestError
from .canvas import DASHES, INK, number, plain
from .panels import finite
from .problems import as_row

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = Mapping[str, Any]

#: Dashes of what is proved.
BOUND = DASHES[1]
NONE_FOUND = "no feasible decision found"
NO_GAP = "no gap: nothing feasible found, or the reference is 0"


def rows_of(rows: Iterable[Any], what: str) -> list[Row]:
    """Read rows, each with a label; refuse none at all, and what is no row."""
    runs = [as_row(row) for row in rows]
    if not runs:
        raise RequestError("there is nothing to draw: no rows came; run something first.")
    kept: list[Row] = []
    for run in runs:
        if not isinstance(run, Mapping):
            raise RequestError(f"{what} is a dict, as a file has it, and {type(run).__name__} came.")
        kept.append(run)
    return _named(kept)


def distinct(values: Iterable[str]) -> list[str]:
    """List every value once, in order."""
    return list(dict.fromkeys(values))


def _named(runs: Sequence[Row]) -> list[Row]:
    """Give the runs, each with a label: that of a comparison, else the strategy and whatever parameters tell it apart.

    Results carry all parameters, most of them at their defaults: only those that differ between runs of the same
    strategy are worth reading.
    """
    values: dict[tuple[Any, Any], set[str]] = defaultdict(set)
    parameters = [given if isinstance(given := run.get("parameters"), Mapping) else {} for run in runs]
    for run, given in zip(runs, parameters, strict=True):
        for name, value in given.items():
            values[run.get("strategy"), name].add(str(value))
    named: list[Row] = []
    for run, given in zip(runs, parameters, strict=True):
        label, strategy = run.get("label"), run.get("strategy")
        if not isinstance(label, Mapping):
            told = ",".join(f"{k}={v}" for k, v in given.items() if len(values[strategy, k]) > 1)
            label = {"problem": run.get("problem"), "strategy": f"{strategy or 'decision'}{':' if told else ''}{told}"}
        named.append({**run, "label": label})
    return named


def label_of(run: Row) -> str:
    """Tell which strategy a run is of."""
    return str(run["label"].get("strategy"))


def problem_of(run: Row) -> str:
    """Tell which problem a run is of."""
    return str(run["label"].get("problem") or "")


def answer_of(run: Row, name: str = "objective") -> float | None:
    """Return a number of the run's decision; ``None`` if that is not feasible, and so compares with nothing."""
    if run.get("status") in ("infeasible", "unknown") or run.get("violations"):
        return None
    return finite(column_of(run, name))


def column_of(run: Row, name: str, absent: Any = None) -> Any:
    """Return a column of a row, or an entry of one; `absent` if there is none."""
    if name in run:
        return run[name]
    head, _, rest = name.partition(".")
    return column_of(run[head], rest, absent) if rest and isinstance(run.get(head), Mapping) else absent


def explained(panels: Iterable[Axes], labels: Sequence[str]) -> list[Artist]:
    """Return one legend entry for each label: the strategies, what is dashed, what is crossed."""
    from matplotlib.lines import Line2D

    panels = list(panels)
    drawn: dict[str, Any] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            drawn.setdefault(label, handle)

    def entry(handle: Any, label: str) -> Artist:
        return Line2D(
            [], [], color=handle.get_color(), lw=handle.get_linewidth(), ls=handle.get_linestyle(),
            marker=handle.get_marker(), ms=handle.get_markersize(), mec=handle.get_markeredgecolor(),
            mew=handle.get_markeredgewidth(), label=label,
        )  # fmt: skip

    entries = [entry(drawn[label], plain(label, 40)) for label in labels if label in drawn]
    if any(label.endswith(": bound") for label in drawn):
        entries.append(Line2D([], [], color=INK, lw=1.0, ls=BOUND, label="bound proved (same colour)"))
    if any(artist.get_gid() == "medians" for panel in panels for artist in panel.collections):
        entries.append(Line2D([], [], ls="none", marker="|", color=INK, ms=8, mew=2.0, label="median of the runs"))
    lines: list[Any] = [line for panel in panels for line in panel.get_lines() if line.get_gid() == "best-known"]
    known = {float(line.get_ydata()[0]) for line in lines}
    if "best known" in drawn:
        words = f"best known {number(known.pop())}" if len(known) == 1 else "best known"
        entries.append(Line2D([], [], color=INK, lw=1.0, ls=DASHES[2], label=words))
    entries += [entry(drawn[label], label) for label in (NONE_FOUND, NO_GAP) if label in drawn]
    return entries


def count_out(figure: Figure | None, left_out: int, noun: str) -> None:
    """Say how many were left out, if any."""
    if figure is not None and left_out:
        figure.suptitle(f"{left_out} more {noun}{'' if left_out == 1 else 's'} left out")
