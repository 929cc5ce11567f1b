"""The picture of kind "staffing": servers by the hour, above the load they have to carry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from optmodels.plotting import COLOURS, literal, open_panels, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .problem import StaffingProblem


def draw_staffing(
    problem: StaffingProblem, result: Mapping[str, Any] | None, *, ax: Axes | None = None, panel: str | None = None
) -> Figure:
    """Draw the load of each hour, and the servers of `result` if there is one."""
    panels = open_panels([["servers"]], ax, panel, size=(7.0, 3.5))
    axes = panels["servers"]
    hours = range(len(problem.arrival_rates))
    servers = (result or {}).get("decision")
    if servers is not None:
        axes.bar(hours, servers, color=COLOURS[0], alpha=0.5, label="servers")
    load = [rate / problem.service_rate for rate in problem.arrival_rates]
    axes.step(hours, load, where="mid", color=COLOURS[1], label="load")
    axes.set_xlabel("hour")
    axes.set_ylabel("servers")
    axes.legend()
    literal(axes.set_title(plain(problem.name)))
    return panels.figure
