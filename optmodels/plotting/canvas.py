"""What all pictures share: one style, figures without a window, plain texts, files that are whole or not there.

Nothing here is drawn through ``pyplot``: a figure belongs to its caller, and no state of matplotlib is left changed.
Sizes are chosen for print: a figure of one panel is `NARROW` inches wide and stands in a column of 80 mm with letters
of 6 points, one with panels side by side is `WIDE` and stands across two columns.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data import as_path, replaced
from ..errors import RequestError, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.text import Text

SUFFIXES = (".svg", ".png", ".pdf")

#: Colours of Okabe and Ito, told apart with every common colour blindness; black and the pale yellow are left out.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
#: Beside colours, so that a grey print still tells lines apart.
MARKERS = ("o", "s", "^", "D", "v", "P")

#: Dashes beside colours, for lines without marks.
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.5)), (0, (6, 1.5, 1.5, 1.5)), (0, (3, 1)), (0, (9, 2)))
#: What is neither an answer nor a rival: bounds, frames, marks of failure; and lines behind everything.
INK, PALE = "#444444", "#DDDDDD"

#: Widths in inches of a figure with one panel, and with two side by side.
NARROW, WIDE = 4.2, 7.0
#: Points of letters: of headings, of titles of panels, of labels of axes, of ticks and legends, of notes in a panel.
HEADING, TITLE, LABEL, TICK, NOTE = 9.0, 8.5, 8.0, 7.5, 6.5

_FONT = "DejaVu Sans"  # comes with matplotlib: the same picture on every machine
_STYLE: dict[Any, Any] = {
    "font.family": [_FONT],
    "font.size": LABEL,
    "figure.titlesize": HEADING,
    "axes.titlesize": TITLE,
    "axes.titlelocation": "left",
    "axes.labelsize": LABEL,
    "axes.linewidth": 0.7,
    "axes.axisbelow": True,
    "xtick.labelsize": TICK,
    "ytick.labelsize": TICK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "grid.color": PALE,
    "grid.linewidth": 0.5,
    "legend.fontsize": TICK,
    "legend.frameon": False,
    "legend.handlelength": 1.8,
    "legend.columnspacing": 1.4,
    "lines.linewidth": 1.3,
    "lines.markersize": 4.0,
    "text.usetex": False,
    "text.parse_math": False,  # a dollar sign in a name is no mathematics
    "svg.fonttype": "path",
    "svg.hashsalt": "optmodels",  # otherwise ids differ from run to run
}
#: Settings of windows, which no picture here has: to touch them could open one.
_THEIRS = frozenset({"backend", "backend_fallback", "interactive", "toolbar"})


@contextlib.contextmanager
def house_style() -> Iterator[None]:
    """Draw with the same settings whatever the reader's own are, and give those back afterwards.

    Yields
    ------
    None
        The settings are in force.

    Raises
    ------
    RequestError
        If matplotlib is not installed.
    """
    try:
        import matplotlib
    except ImportError:
        raise RequestError("plots need an extra: pip install 'optmodels[plots]'") from None
    usual: dict[Any, Any] = {k: value for k, value in matplotlib.rcParamsDefault.items() if k not in _THEIRS}
    with matplotlib.rc_context(usual | _STYLE):
        yield


def new_figure(width: float, height: float, **options: Any) -> Figure:
    """Make an empty figure that no window and no pyplot knows of.

    Parameters
    ----------
    width, height
        In inches.
    options
        Of `matplotlib.figure.Figure`, such as its layout.

    Returns
    -------
    matplotlib.figure.Figure
        It belongs to the caller.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=200, facecolor="white", **options)
    FigureCanvasAgg(figure)
    vars(figure)["_repr_png_"] = partial(_as_png, figure)  # notebooks show other figures only after pyplot was imported
    return figure


def _as_png(figure: Figure) -> bytes:
    """A figure as a notebook shows it."""
    stream = io.BytesIO()
    with house_style():
        figure.savefig(stream, format="png", metadata={"Software": None})
    return stream.getvalue()


def check_path(path: str | os.PathLike[str] | None) -> None:
    """Refuse a file name from whose end no format can be told, before anything is drawn.

    Parameters
    ----------
    path
        Of a picture to be; ``None``: none is written.

    Raises
    ------
    RequestError
        If it ends in none of `SUFFIXES`.
    """
    target = as_path("path", path)
    if path is not None and target is not None and target.suffix.lower() not in SUFFIXES:
        raise RequestError(
            f"a picture is written as {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, and {short(os.fspath(path))} ends "
            "in none of them; choose a name that does."
        )


def save(figure: Figure, path: str | os.PathLike[str] | None) -> None:
    """Write the figure in the format its name asks for, whole or not at all; the same figure gives the same bytes.

    Parameters
    ----------
    figure
        What was drawn.
    path
        Where to write it; ``None``: nowhere.
    """
    if path is None:
        return
    check_path(path)
    target = Path(path)
    kind = target.suffix.lower()[1:]
    undated: dict[str, dict[str, Any]] = {
        "svg": {"Date": None, "Creator": None},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
        "png": {"Software": None},
    }
    with replaced(target) as stream:
        figure.savefig(stream, format=kind, metadata=undated[kind])


@contextlib.contextmanager
def sheet(width: float, height: float, path: str | os.PathLike[str] | None) -> Iterator[Figure]:
    """Draw on a new figure in the house style, and write it when the block ends well.

    Parameters
    ----------
    width, height
        Of the figure, in inches.
    path
        Where to write it, in the format its name ends in; ``None``: nowhere.

    Yields
    ------
    matplotlib.figure.Figure
        To draw on; it belongs to the caller afterwards, too.
    """
    check_path(path)
    with house_style():
        figure = new_figure(width, height, layout="constrained")
        yield figure
        save(figure, path)


def ordered_colours(count: int) -> list[str]:
    """Choose colours for things that have an order, from light to dark: a grey print keeps it.

    Parameters
    ----------
    count
        How many.

    Returns
    -------
    list of str
        As ``"#rrggbb"``.

    Examples
    --------
    >>> ordered_colours(2)
    ['#9bd93c', '#482475']
    """
    import matplotlib
    from matplotlib.colors import to_hex

    shades = matplotlib.colormaps["viridis"]
    return [to_hex(shades(0.85 - 0.75 * place / max(count - 1, 1))) for place in range(count)]


def plain(text: object, width: int = 80) -> str:
    r"""Write a text from a file as one line that the font can draw; what it cannot is written as an escape.

    Parameters
    ----------
    text
        Anything; its words are kept.
    width
        Longer lines are cut off.

    Returns
    -------
    str
        To be drawn with `literal`.

    Examples
    --------
    >>> plain("two\nlines $x$")
    'two lines $x$'
    """
    from matplotlib.font_manager import FontProperties, findfont, get_font

    font = get_font(findfont(FontProperties(family=[_FONT])))
    line = " ".join(str(text).split())
    line = line if len(line) <= width else f"{line[: width - 1]}…"

    def drawable(letter: str) -> bool:
        return letter.isprintable() and font.get_char_index(ord(letter)) != 0

    return "".join(c if drawable(c) else c.encode("ascii", "backslashreplace").decode() for c in line)


def text_width(text: str, size: float) -> float:
    """Measure a line of text as it will be drawn.

    Parameters
    ----------
    text
        One line.
    size
        Points of its letters.

    Returns
    -------
    float
        Inches.

    Examples
    --------
    >>> round(text_width("mean number of pages in the system", 8.0), 1)
    2.2
    """
    from matplotlib.font_manager import FontProperties, findfont, get_font

    font = get_font(findfont(FontProperties(family=[_FONT])))
    font.set_size(size, 72)
    font.set_text(text, 0.0)
    return float(font.get_width_height()[0]) / 64 / 72


def literal(text: Text) -> Text:
    """Have a text drawn letter by letter: a dollar sign in a name is no mathematics.

    Parameters
    ----------
    text
        Of a figure.

    Returns
    -------
    matplotlib.text.Text
        The same.
    """
    text.set_parse_math(False)
    return text


def number(value: float) -> str:
    """Write a number as a reader would.

    Parameters
    ----------
    value
        A finite number.

    Returns
    -------
    str
        Six digits, or all those of a large whole number.

    Examples
    --------
    >>> number(163.0), number(0.123456789)
    ('163', '0.123457')
    """
    return f"{value:.6g}" if abs(value) < 1e6 or not float(value).is_integer() else f"{value:.0f}"
