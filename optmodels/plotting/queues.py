"""Pictures of queues."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from queueing import POPULATION_CAP, FiniteSourceQueue

from ..errors import RequestError
from .canvas import COLOURS, WIDE, check_path, house_style, number, save
from .panels import entitle, label_axes, open_panels, whole_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_finite_source(
    service_rate: float = 10.0,
    think_time: float = 1.0,
    clients: Sequence[int] = range(1, 31),
    delay: float = 0.6,
    *,
    processors: int = 1,
    min_throughput: float | None = None,
    max_delay_probability: float | None = None,
    path: str | os.PathLike[str] | None = None,
    ax: Axes | None = None,
    panel: str | None = None,
) -> Figure:
    """Draw how a server bears a growing crowd: throughput per client, probability of a long delay, utilisation.

    With the default values these are Figures 3 to 5 of Gautam (2002).

    Parameters
    ----------
    service_rate, think_time, processors
        Of the queue, see `queueing.FiniteSourceQueue`.
    clients
        Numbers of clients to draw.
    delay
        Delay whose probability to be exceeded is drawn.
    min_throughput, max_delay_probability
        Limits to draw, each with the largest number of clients that keeps it.
    path
        Where to write the picture.
    ax
        Axes of the caller to draw one panel into; ``None``: a figure of its own.
    panel
        ``"throughput"``, ``"delay"`` or ``"utilisation"``; by default all of them, with `ax` the first.

    Returns
    -------
    matplotlib.figure.Figure
        Three panels, or the one asked for.
    """
    crowd = sorted(set(clients))
    if not crowd:
        raise RequestError("there is nothing to draw: name at least one number of clients.")
    queue = FiniteSourceQueue(service_rate, think_time, processors)
    check_path(path)
    with house_style():
        layout = [["throughput", "delay", "utilisation"]]
        panels = open_panels(layout, ax, panel, size=(WIDE, 2.9))
        late = partial(queue.delay_probability, delay=delay)
        for name, axes in panels.axes.items():
            if name == "throughput":
                _draw_curve(axes, crowd, queue.throughput_per_client, "requests per client\nand unit of time")
                if min_throughput is not None:
                    largest = queue.largest_population(min_throughput=min_throughput)
                    _draw_limit(axes, min_throughput, "at least", largest)
            elif name == "delay":
                _draw_curve(axes, crowd, late, f"probability of a\ndelay above {number(delay)}")
                if max_delay_probability is not None:
                    largest = queue.largest_population(max_delay_probability=max_delay_probability, delay=delay)
                    _draw_limit(axes, max_delay_probability, "below", largest)
            else:
                _draw_curve(axes, crowd, queue.utilisation, "share of the time that\nthe server is busy")
            entitle(axes, name.capitalize(), [line for line in axes.get_lines() if line.get_gid() != "curve"])
        servers = "" if processors == 1 else f", {processors} processors"
        rates = f"service rate {number(service_rate)}, mean think time {number(think_time)}{servers}"
        panels.head("A server with a finite crowd of clients", [rates])
        save(panels.figure, path)
    return panels.figure


def _draw_curve(axes: Axes, crowd: Sequence[int], measure: Callable[[int], float], label: str) -> None:
    """Marks at whole numbers of clients, joined by steps: there is no half a client."""
    values = [measure(count) for count in crowd]
    axes.plot(crowd, values, "o-", drawstyle="steps-mid", color=COLOURS[0], ms=2.5, lw=0.8, label=label, gid="curve")
    axes.set_ylim(0.0, None)
    whole_ticks(axes.xaxis)
    label_axes(axes, "number of clients", label, grid="y")


def _draw_limit(axes: Axes, limit: float, words: str, largest: int) -> None:
    """A line at the limit, and one at the largest crowd that keeps it, where it is in the picture."""
    axes.axhline(limit, color=COLOURS[1], lw=1.0, ls="--", label=f"limit: {words} {number(limit)}", gid="limit")
    left, right = axes.get_xlim()
    always = largest >= POPULATION_CAP
    kept = "never kept" if largest == 0 else "always kept" if always else f"kept up to {largest} clients"
    if not always and max(left, 1) <= largest <= right:
        axes.axvline(largest, color=COLOURS[1], lw=1.0, ls=":", label=kept, gid="largest")
    else:
        axes.plot([], [], " ", label=kept)
