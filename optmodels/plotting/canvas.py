"""What all pictures share: figures without a window, plain texts, safe colours, files that are whole or not there.

Nothing here is drawn through ``pyplot``: a figure belongs to its caller, and no state of matplotlib is left changed.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data import replaced
from ..errors import RequestError, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

SUFFIXES = (".svg", ".png", ".pdf")

#: Colours of Okabe and Ito, told apart with every common colour blindness; black and the pale yellow are left out.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
#: Beside colours, so that a grey print still tells lines apart.
MARKERS = ("o", "s", "^", "D", "v", "P")

_FONT = "DejaVu Sans"  # comes with matplotlib: the same picture on every machine
_STYLE: dict[Any, Any] = {
    "font.family": [_FONT],
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.labelsize": 9.0,
    "axes.linewidth": 0.8,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "legend.fontsize": 8.0,
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

    figure = Figure(figsize=(width, height), dpi=150, facecolor="white", **options)
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
    if path is not None and Path(path).suffix.lower() not in SUFFIXES:
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


@contextlib.contextmanager
def single_panel(
    width: float, height: float, path: str | os.PathLike[str] | None = None, ax: Axes | None = None
) -> Iterator[Axes]:
    """Draw one panel in the house style: on a new figure, or into axes that were given.

    Parameters
    ----------
    width, height
        Of a new figure, in inches.
    path
        Where to write the figure, in the format its name ends in; ``None``: nowhere.
    ax
        Axes of somebody else's figure; ``None``: a new figure is made.

    Yields
    ------
    matplotlib.axes.Axes
        To draw on.
    """
    if ax is None:
        with sheet(width, height, path) as figure:
            yield figure.subplots()
        return
    check_path(path)
    with house_style():
        yield ax
        save(figure_of(ax), path)


def figure_of(axes: Axes) -> Figure:
    """Find the figure that axes belong to, however deep they stand in it.

    Parameters
    ----------
    axes
        Of any figure.

    Returns
    -------
    matplotlib.figure.Figure
        The whole figure.
    """
    figure: Any = axes.figure
    while getattr(figure, "figure", figure) is not figure:  # a part of a figure
        figure = figure.figure
    whole: Figure = figure
    return whole


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
