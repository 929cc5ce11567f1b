"""What panels share: titles and legends that hide nothing, ticks in plain numbers, headings that tell what is known.

A picture of several panels names each of them. Drawn into axes of the caller (``ax=``) it is one panel, the one asked
for (``panel=``) or its first; nothing of the figure around those axes is touched.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import TYPE_CHECKING, Any

from ..errors import RequestError, UnknownName, short, suggestion
from ..registry import kinds
from .canvas import HEADING, LABEL, NARROW, TICK, TITLE, WIDE, literal, new_figure, number, plain, text_width

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

#: Inches around the text of a legend entry: its handle, and the space to the next one.
_HANDLE = 3.8 * TICK / 72
_BETWEEN = 1.4 * TICK / 72


@dataclass(frozen=True)
class Panels:
    """The panels of one picture: those of a figure of its own, or one in axes of the caller.

    Attributes
    ----------
    figure
        Where they are.
    axes
        Name of a panel to its axes; those that are not there are not to be drawn.
    owned
        Whether the figure was made here, so that its heading and its layout are ours.
    """

    figure: Figure
    axes: Mapping[str, Axes]
    owned: bool = True

    def __contains__(self, name: str) -> bool:
        return name in self.axes

    def __getitem__(self, name: str) -> Axes:
        return self.axes[name]

    def head(self, name: object, words: Sequence[str]) -> None:
        """Write the heading: the name of the instance, and below it what is known, on as many lines as it takes.

        Parameters
        ----------
        name
            Of the instance.
        words
            What is known, in the order of importance; joined by commas.
        """
        if self.owned:
            width = self.figure.get_figwidth()
            literal(self.figure.suptitle(heading(name, words, width), fontsize=HEADING, linespacing=1.3))
            return
        (axes,) = self.axes.values()
        before = axes.get_title(loc="left")
        text = heading(name, words, width_of(axes))
        literal(axes.set_title(f"{text}\n{before}" if before else text, pad=_pad(axes), loc="left"))


def open_panels(
    layout: Sequence[Sequence[str]],
    ax: Axes | None = None,
    panel: str | None = None,
    *,
    size: tuple[float, float],
    heights: Sequence[float] | None = None,
    widths: Sequence[float] | None = None,
    **options: Any,
) -> Panels:
    """Make the panels of a picture: all of them, or the one that is asked for.

    Parameters
    ----------
    layout
        Names of panels, row by row, the same name for a panel that is several columns wide.
    ax
        Draw one panel into these axes; ``None``: a figure of its own.
    panel
        Its name; by default the first one.
    size
        Width and height in inches of a figure with all panels.
    heights, widths
        Ratios of rows and columns.
    options
        Of `matplotlib.figure.Figure.subplot_mosaic`.

    Returns
    -------
    Panels
        Whose axes have their names as labels.

    Raises
    ------
    UnknownName
        If there is no such panel; the sentence lists those that there are.
    RequestError
        If `ax` is none of matplotlib's axes.
    """
    names = list(dict.fromkeys(name for row in layout for name in row))
    if panel is not None and panel not in names:
        raise UnknownName(f"this picture has no panel {short(panel)}. {suggestion(panel, names)}")
    if ax is not None:
        return _borrowed(ax, panel or names[0])
    if panel is not None:
        figure = new_figure(NARROW, 3.2, layout="constrained")
        return Panels(figure, {panel: figure.add_subplot(label=panel)})
    figure = new_figure(*size, layout="constrained")
    given: Any = [list(row) for row in layout]  # its type knows lists of lists of one depth only
    axes = figure.subplot_mosaic(given, height_ratios=heights, width_ratios=widths, **options)
    for name, one in axes.items():
        one.set_label(name)
    return Panels(figure, axes)


def _borrowed(ax: Axes, name: str) -> Panels:
    from matplotlib.axes import Axes

    figure = ax.get_figure(root=True) if isinstance(ax, Axes) else None
    if figure is None:
        raise RequestError(
            f"ax is of type {type(ax).__name__}; give axes of matplotlib, as plt.subplots() makes them, or leave it "
            "out for a figure of its own."
        )
    return Panels(figure, {name: ax}, owned=False)


# -- titles and legends ------------------------------------------------------------------------------------------------


def width_of(axes: Axes) -> float:
    """Tell how wide a panel is, in inches, as far as its figure has been laid out.

    Parameters
    ----------
    axes
        A panel.

    Returns
    -------
    float
        Inches.
    """
    return float(axes.get_window_extent().width / axes.get_figure(root=True).dpi)  # type: ignore[union-attr]


def entitle(
    axes: Axes, title: str = "", handles: Sequence[Artist] | None = None, *, width: float | None = None
) -> None:
    """Write the title of a panel and below it, above the panel, its legend: there it hides nothing.

    Parameters
    ----------
    axes
        The panel.
    title
        In sentence case; empty for none.
    handles
        What the legend explains; by default everything that has a label, ``[]`` for no legend.
    width
        Inches that the legend may take; by default the width of the panel.
    """
    found = axes.get_legend_handles_labels()[0] if handles is None else list(handles)
    labels = [plain(handle.get_label(), 70) for handle in found]
    if found:
        columns = columns_of(labels, width_of(axes) if width is None else width)
        rows = math.ceil(len(found) / columns)
        legend = axes.legend(
            found, labels, loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, borderpad=0.1,
            labelspacing=0.25, handletextpad=0.5, ncols=columns, fontsize=TICK, frameon=False,
        )  # fmt: skip
        legend.set_gid(f"rows-{rows}")
        for text in legend.get_texts():
            literal(text)
    if text_width(title, TITLE) > (width_of(axes) if width is None else width):
        title = title.replace(" (", "\n(")
    literal(axes.set_title(title, loc="left", fontsize=TITLE, pad=_pad(axes)))


def _pad(axes: Axes) -> float:
    """Return the points between a panel and its title: room for the rows of the legend."""
    legend = axes.get_legend()
    gid = "" if legend is None else str(legend.get_gid())
    rows = int(gid.removeprefix("rows-")) if gid.startswith("rows-") else 0
    return 4.0 + rows * 1.5 * TICK


def columns_of(labels: Sequence[str], width: float) -> int:
    """Choose the columns of a legend: as many as fit side by side.

    Parameters
    ----------
    labels
        Its texts.
    width
        Inches that there are.

    Returns
    -------
    int
        One at least.

    Examples
    --------
    >>> columns_of(["dejavu", "genetic", "annealing"], 4.2), columns_of(["x" * 60] * 3, 4.2)
    (3, 1)
    """
    widths = [max(text_width(line, TICK) for line in label.split("\n")) + _HANDLE for label in labels]
    for columns in range(len(labels), 1, -1):
        # matplotlib fills one column after the other; the first ones have one more where they do not come out even.
        least, more = divmod(len(labels), columns)
        starts = [place * least + min(place, more) for place in range(columns + 1)]
        if sum(max(widths[low:high]) for low, high in pairwise(starts)) <= width + _BETWEEN:
            return columns
    return 1


def legend_below(figure: Figure, handles: Sequence[Artist]) -> None:
    """Explain marks that several panels share, below all of them.

    Parameters
    ----------
    figure
        With a constrained layout.
    handles
        Each with a label.
    """
    labels = [plain(handle.get_label(), 70) for handle in handles]
    columns = columns_of(labels, figure.get_figwidth() - 0.2)
    legend = figure.legend(
        handles=list(handles), labels=labels, loc="outside lower center", ncols=columns, fontsize=TICK, frameon=False,
        labelspacing=0.3, borderpad=0.2,
    )  # fmt: skip
    for text in legend.get_texts():
        literal(text)


def label_axes(axes: Axes, x: str | None = None, y: str | None = None, grid: str = "") -> None:
    """Label axes in words, letter by letter, and draw the lines behind a panel.

    Parameters
    ----------
    axes
        The panel.
    x, y
        What is measured, with its unit in brackets; ``None`` leaves a label as it is.
    grid
        ``"x"``, ``"y"``, ``"both"``, or nothing.
    """
    for axis, text in ((axes.xaxis, x), (axes.yaxis, y)):
        if text is not None:
            literal(axis.label).set_text(text)
            axis.label.set_fontsize(LABEL)
    axes.tick_params(labelsize=TICK)  # ticks are made late, and then by the settings of whoever looks
    if grid:
        axes.grid(axis=grid, color="#DDDDDD", linewidth=0.5)  # type: ignore[arg-type]
        axes.set_axisbelow(True)


# -- ticks -------------------------------------------------------------------------------------------------------------


def log_ticks(axis: Axis) -> None:
    """Label a logarithmic axis with numbers as people write them; powers would need mathematics, which is off.

    Parameters
    ----------
    axis
        Whose limits are set already.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    low, high = sorted(axis.get_view_interval())
    decades = math.log10(high / low) if low > 0 and math.isfinite(high / low) else 1.0
    if decades <= 0.7:
        axis.set_major_locator(LogLocator(subs=(1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)))
    elif decades <= 3:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if decades <= 1.8 else (1.0, 3.0)))
    else:
        axis.set_major_locator(LogLocator(numticks=7))
    if decades <= 1.8:
        axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def whole_ticks(axis: Axis, most: int = 8) -> None:
    """Mark whole numbers only.

    Parameters
    ----------
    axis
        Of counts.
    most
        Marks at most.
    """
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins=most, integer=True, min_n_ticks=1, steps=[1, 2, 5, 10]))


def name_ticks(axis: Axis, places: Sequence[float], names: Sequence[object], width: int = 24) -> None:
    """Write names at places of an axis, letter by letter.

    Parameters
    ----------
    axis
        Whose ticks they are.
    places, names
        Equally many.
    width
        Letters of a name at most.
    """
    ticks = axis.set_ticks(places, ["\n".join(plain(line, width) for line in str(name).split("\n")) for name in names])
    for tick in ticks:
        literal(tick.label1)


# -- words -------------------------------------------------------------------------------------------------------------


def heading(name: object, words: Sequence[str], width: float = WIDE) -> str:
    r"""Write a name, and below it what is known, on lines that are no wider than the picture.

    Parameters
    ----------
    name
        Of an instance.
    words
        What is known.
    width
        Inches.

    Returns
    -------
    str
        To be drawn with `literal`.

    Examples
    --------
    >>> heading("small", ["annealing: objective 8", "bound 8"])
    'small\nannealing: objective 8, bound 8'
    """
    room = 0.97 * width
    lines = [""]
    for word in words:
        piece = _cut(word, room)
        if lines[-1] and text_width(f"{lines[-1]}, {piece},", HEADING) > room:
            lines.append("")
        lines[-1] += f", {piece}" if lines[-1] else piece
    return "\n".join([_cut(name, room), *(f"{line}," for line in lines[:-1]), lines[-1]]).rstrip()


def _cut(text: object, room: float) -> str:
    """Write a text as one line, cut off where it is wider than `room` inches."""
    line = plain(text, 200)
    while len(line) > 8 and text_width(line, HEADING) > room:
        line = f"{line[: int(0.95 * len(line)) - 1]}…"
    return line


def told_by(
    result: Mapping[str, Any] | None,
    objective: float | None = None,
    value: str = "objective",
    bound: float | None = None,
) -> list[str]:
    """Put into words what a result claims: strategy, value, bound, best known, status.

    Parameters
    ----------
    result
        As a result file has it; ``best_known`` may be an objective, or an object that has one.
    objective
        Of its decision, as evaluated; by default what the result says.
    value
        What is minimised, in a word or two.
    bound
        Proved elsewhere; by default that of the result.

    Returns
    -------
    list of str
        For `heading`.

    Examples
    --------
    >>> told_by({"strategy": "annealing", "objective": 9.0, "bound": 8.0, "best_known": 8.0, "status": "feasible"})
    ['annealing: objective 9', 'bound 8', 'best known 8', 'feasible']
    """
    told = result or {}
    reached = objective if objective is not None else finite(told.get("objective"))
    proved = bound if bound is not None else finite(told.get("bound"))
    words = [] if reached is None else [f"{value} {number(reached)}"]
    words += [] if proved is None else [f"bound {number(proved)}"]
    known = best_known_of(told)
    words += [] if known is None else [f"best known {number(known)}"]
    words += [] if told.get("status") is None else [plain(told["status"], 20)]
    if told.get("strategy") is not None:
        who = plain(told["strategy"], 30)
        words = [f"{who}: {words[0]}", *words[1:]] if words else [who]
    return words


def best_known_of(row: Mapping[str, Any]) -> float | None:
    """Read the best known objective beside a result, or in the row of a comparison.

    Parameters
    ----------
    row
        Whose ``best_known`` is a number, or an object with an ``objective``; else its ``reference_value``, if its
        ``reference`` says that this is the best known.

    Returns
    -------
    float or None
        ``None`` if nothing is said.
    """
    known = row.get("best_known")
    if isinstance(known, Mapping):
        return finite(known.get("objective"))
    if known is None and "best known" in str(row.get("reference")):
        return finite(row.get("reference_value"))
    return finite(known)


def finite(value: Any) -> float | None:
    """Read a finite number.

    Parameters
    ----------
    value
        Anything.

    Returns
    -------
    float or None
        ``None`` if it is none.
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        return None
    return float(value)


def measure_words(kind: str | None, measure: str, width: int = 44) -> str:
    """Write what a measure means, as its kind tells it, on lines that fit beside an axis.

    Parameters
    ----------
    kind
        Name of a kind; one that is not known, or ``None``, leaves the name of the measure.
    measure
        Its name.
    width
        Letters of a line at most.

    Returns
    -------
    str
        Plain text.

    Examples
    --------
    >>> measure_words("robots", "starvation", 60)
    'probability that the server has nothing to do'
    """
    import textwrap

    words = kinds[kind].measures.get(measure) if kind is not None and kind in kinds else None
    text = plain(words if words is not None else measure.replace("_", " "), 160)
    return "\n".join(textwrap.wrap(text, max(width, 10))[:3])
