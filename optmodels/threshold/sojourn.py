"""How long pages stay in a threshold queue: quantiles for results."""

from __future__ import annotations

from collections.abc import Sequence

from queueing import SojournLaw, SojournTimes, ThresholdQueue

#: Quantiles that are told.
LEVELS = (0.5, 0.95, 0.99)
#: States of the chain of one page, at most, where sojourn times are told unasked.
MOST_STATES = 20_000
#: Times the mean up to which distributions must be had at once.
FAR = 50.0

#: Kinds of pages, as results and pictures call them.
NAMES = {"served": "served", "obsolete": "out of date", "all": "all, lost ones 0"}


def cheap_sojourn(queue: ThresholdQueue, thresholds: Sequence[int]) -> SojournTimes | None:
    """Return the sojourn times under a policy; ``None`` where they would take more than a moment or cannot be had."""
    if queue.model.states > MOST_STATES:
        return None
    try:
        times = queue.sojourn(thresholds)
    except ValueError:  # rates too far apart for doubles: the measures say so, where they cannot be had either
        return None
    laws = [law for law in (times.served, times.obsolete, times.all) if law is not None]
    return times if all(law.is_quick(FAR * law.mean) for law in laws) else None


def sojourn_quantiles(times: SojournTimes | None) -> dict[str, dict[str, float] | None] | None:
    """Return quantiles by kind of page and level; ``None`` for kinds without pages, or whose times no double holds."""
    return None if times is None else {name: _quantiles(getattr(times, name)) for name in NAMES}


def _quantiles(law: SojournLaw | None) -> dict[str, float] | None:
    try:
        return None if law is None else {f"{level:g}": law.quantile(level) for level in LEVELS}
    except ValueError:
        return None
