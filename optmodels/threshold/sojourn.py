"""How long pages stay in a threshold queue: quantiles for results, and a panel for pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from queueing import SojournLaw, SojournTimes, ThresholdQueue

from ..plotting import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Quantiles that are told.
LEVELS = (0.5, 0.95, 0.99)
#: States of the chain of one page, at most, where sojourn times are told unasked.
MOST_STATES = 20_000
#: Times the mean up to which distributions must be had at once.
FAR = 50.0

_NAMES = {"served": "served", "obsolete": "out of date", "all": "all, lost ones 0"}


def cheap_sojourn(queue: ThresholdQueue, thresholds: Sequence[int]) -> SojournTimes | None:
    """Sojourn times under a policy; ``None`` where they would take more than a moment or cannot be had."""
    if queue.model.states > MOST_STATES:
        return None
    try:
        times = queue.sojourn(thresholds)
    except ValueError:  # rates too far apart for doubles: the measures say so, where they cannot be had either
        return None
    laws = [law for law in (times.served, times.obsolete, times.all) if law is not None]
    return times if all(law.is_quick(FAR * law.mean) for law in laws) else None


def sojourn_quantiles(times: SojournTimes | None) -> dict[str, dict[str, float] | None] | None:
    """Quantiles by kind of page and level; ``None`` for kinds without pages, or whose times no double can hold."""
    return None if times is None else {name: _quantiles(getattr(times, name)) for name in _NAMES}


def _quantiles(law: SojournLaw | None) -> dict[str, float] | None:
    try:
        return None if law is None else {f"{level:g}": law.quantile(level) for level in LEVELS}
    except ValueError:
        return None


def draw_sojourn(axes: Axes, times: SojournTimes) -> None:
    """Draw P(time in the system <= t) of served, obsolete and all pages; dots mark medians and 95 % quantiles."""
    laws: dict[str, SojournLaw] = {
        name: law for name in _NAMES if (law := getattr(times, name)) is not None and law.mean > 0.0
    }
    last = max((law.quantile(0.995) for law in laws.values()), default=1.0)
    grid = np.linspace(0.0, last, 161)
    for index, (name, law) in enumerate(laws.items()):
        colour = COLOURS[index]
        median, most = law.quantile(0.5), law.quantile(0.95)
        share = f" ({100 * law.probability:.1f} % of pages)" if name != "all" else ""
        axes.plot(
            grid,
            [law.cdf(time) for time in grid],
            color=colour,
            linestyle=("-", "--", ":")[index],
            linewidth=1.4,
            label=f"{_NAMES[name]}{share}: half by {median:.3g}, 95 % by {most:.3g}",
            gid=f"sojourn-{name}",
        )
        axes.plot([median, most], [law.cdf(median), law.cdf(most)], "o", color=colour, markersize=4, gid=f"mark-{name}")
    axes.set_xlim(0.0, last)
    axes.set_ylim(0.0, 1.02)
    axes.set_xlabel("time in the system")
    axes.set_ylabel("share of pages that have left")
    axes.set_title("how long pages stay")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7, loc="lower right")
