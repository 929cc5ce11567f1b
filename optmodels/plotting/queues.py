"""Pictures of queues."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from queueing import POPULATION_CAP, FiniteSourceQueue

from ..errors import RequestError
from .canvas import COLOURS, number, sheet

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

    Returns
    -------
    matplotlib.figure.Figure
        Three panels.
    """
    crowd = sorted(set(clients))
    if not crowd:
        raise RequestError("there is nothing to draw: name at least one number of clients.")
    queue = FiniteSourceQueue(service_rate, think_time, processors)
    with sheet(10.5, 3.6, path) as figure:
        panels = figure.subplots(1, 3)
        late = partial(queue.delay_probability, delay=delay)
        _draw_curve(panels[0], crowd, queue.throughput_per_client, "throughput per client")
        _draw_curve(panels[1], crowd, late, f"P(delay > {number(delay)})")
        _draw_curve(panels[2], crowd, queue.utilisation, "utilisation of the server")
        if min_throughput is not None:
            largest = queue.largest_population(min_throughput=min_throughput)
            _draw_limit(panels[0], min_throughput, "at least", largest, "upper right")
        if max_delay_probability is not None:
            largest = queue.largest_population(max_delay_probability=max_delay_probability, delay=delay)
            _draw_limit(panels[1], max_delay_probability, "below", largest, "lower right")
        servers = "" if processors == 1 else f", {processors} processors"
        figure.suptitle(
            f"Server with a finite crowd of clients: service rate {number(service_rate)}, mean think time "
            f"{number(think_time)}{servers}",
            fontsize=10,
        )
    return figure


def _draw_curve(axes: Axes, crowd: Sequence[int], measure: Callable[[int], float], label: str) -> None:
    from matplotlib.ticker import MaxNLocator

    values = [measure(count) for count in crowd]
    axes.plot(crowd, values, "o-", color=COLOURS[0], ms=3, lw=1.0, label=label, gid="curve")
    axes.set_xlabel("number of clients")
    axes.set_ylabel(label)
    axes.set_ylim(0.0, None)
    axes.xaxis.set_major_locator(MaxNLocator(7, integer=True))
    axes.grid(alpha=0.3, lw=0.5)


def _draw_limit(
    axes: Axes, limit: float, words: str, largest: int, corner: Literal["upper right", "lower right"]
) -> None:
    """A line at the limit, and one at the largest crowd that keeps it, where it is in the picture."""
    axes.axhline(limit, color=COLOURS[1], lw=1.0, ls="--", label=f"limit: {words} {number(limit)}", gid="limit")
    left, right = axes.get_xlim()
    always = largest >= POPULATION_CAP
    kept = "never kept" if largest == 0 else "always kept" if always else f"kept up to {largest} clients"
    if not always and max(left, 1) <= largest <= right:
        axes.axvline(largest, color=COLOURS[1], lw=1.0, ls=":", label=kept, gid="largest")
    else:
        axes.plot([], [], " ", label=kept)
    handles = [handle for handle in axes.get_lines() if handle.get_gid() != "curve"]
    axes.legend(handles=handles, loc=corner, framealpha=0.9, edgecolor="none", handlelength=1.6)
