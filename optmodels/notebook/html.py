"""Results as HTML, as notebooks ask for it: a table, and the picture where matplotlib can draw it.

Names, texts and numbers come from files, and are escaped one and all. A picture is an image inside the page: it fetches
nothing, and nothing in it is executed.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..data import number
from ..errors import printable, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..solving import Result

#: Rows of a table that are shown; more are counted.
MOST_ROWS = 60

#: Letters of a decision that are shown.
LONGEST = 160

#: Pictures with longer descriptions are sent as dots: a page of megabytes is slow.
LARGEST_DRAWING = 400_000


def page(
    title: str,
    head: Sequence[str],
    rows: Sequence[Sequence[Any]],
    draw: Callable[[], Figure] | None = None,
    notes: Iterable[str] = (),
) -> str:
    """Write a title, a table, notes and a picture as HTML.

    Parameters
    ----------
    title
        Above the table.
    head, rows
        Of the table: texts and numbers, which are escaped; of very many rows the first ones are shown.
    draw
        Makes the picture; if it cannot, a note says why.
    notes
        Sentences below the table.

    Returns
    -------
    str
        Elements to stand in a page.
    """
    told = list(notes)
    if len(rows) > MOST_ROWS:
        told.insert(0, f"{len(rows) - MOST_ROWS} more rows are not shown")
    lines = [_row("td", row) for row in islice(rows, MOST_ROWS)]
    if head:
        lines.insert(0, _row("th", head))
    picture = ""
    if draw is not None:
        try:
            picture = image(draw(), title)
        except Exception as failure:  # whatever it is, the answer is shown
            told.append(f"no picture: {printable(' '.join(str(failure).split()) or type(failure).__name__)}")
    parts = [f"<p><b>{_text(title)}</b></p>", f"<table>{''.join(lines)}</table>"]
    parts += [f"<p>{_text(note)}</p>" for note in told]
    return f"<div>{''.join(parts)}{picture}</div>"


def result_html(result: Result) -> str:
    """Write a result as HTML: what is known of the answer, its measures, and its picture.

    Parameters
    ----------
    result
        Of a run, or of `optmodels.evaluate`; without its problem there is no picture.

    Returns
    -------
    str
        Elements to stand in a page.
    """
    known: dict[str, Any] = {"status": str(result.status), "objective": result.objective}
    if result.bound is not None:
        known |= {"bound": result.bound, "gap to bound": _percent(result.gap())}
    if result.best_known is not None:
        known |= {"best known": result.best_known, "gap to best known": _percent(result.gap_to_best_known)}
    violations = {} if result.evaluation is None else result.evaluation.violations
    known |= {f"broken: {name}": f"by {number(amount)}" for name, amount in violations.items() if amount > 0}
    if result.decision is not None:
        known["decision"] = short(_plain(result.decision), LONGEST)
    known |= dict(result.measures)
    known["strategy"] = result.strategy or "none: one decision was evaluated"
    known["took"] = f"{result.evaluations} evaluations, {result.seconds:.2f} s, ended by {result.stopped_by}"
    title = result.problem if result.kind is None else f"{result.problem} ({result.kind})"
    return page(title, (), list(known.items()), None if result.asked is None else result.plot)


def _percent(gap: float | None) -> str:
    return "-" if gap is None else f"{gap:.3%}"


def _plain(decision: Any) -> Any:
    """A decision of several parts as a plain object; one list stays as it is."""
    return dict(decision.items()) if isinstance(decision, Mapping) else decision


def _row(tag: str, cells: Iterable[Any]) -> str:
    return f"<tr>{''.join(f'<{tag}>{_cell(cell)}</{tag}>' for cell in cells)}</tr>"


def _cell(value: Any) -> str:
    return _text(value if isinstance(value, str) else number(value))


def _text(value: str) -> str:
    """A text as HTML shows it, letter by letter; what has no letter is written as an escape."""
    return escape(printable(value))


def image(figure: Figure, title: str) -> str:
    """Write a picture as an image inside a page."""
    from ..plotting import house_style

    with house_style():
        content, kind = _drawn(figure, "svg"), "svg+xml"
        if len(content) > LARGEST_DRAWING:
            content, kind = _drawn(figure, "png"), "png"
    address = f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
    return f'<img alt="{_text(title)}" style="max-width: 100%; background: white" src="{address}">'


def _drawn(figure: Figure, kind: str) -> bytes:
    stream = io.BytesIO()
    undated: dict[str, dict[str, Any]] = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}
    figure.savefig(stream, format=kind, metadata=undated[kind])
    return stream.getvalue()
