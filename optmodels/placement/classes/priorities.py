r"""Where to put sites for classes of clients, of which some go first.

Whenever a server is free it takes a request of the class with the lowest priority number of those that wait, and of
that class the first that came; what is in service is never interrupted. There is no product form, and nobody has proved
which mix of distances is the worst, so a promise is kept, by definition, if the farthest client of each class gets what
its class is promised with *all others at distance 1*: one chain for each class (`queueing.PrioritySourceQueue`), which
is exact, and small enough for few clients alone.

Nor is it proved that fewer clients are never worse, so that nothing here claims that a site can never be open, or that
there is no feasible placement: `exhaustive` proves what it has evaluated, and the rest are searches.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from queueing import placement as queues  # what it offers is loaded when used

from ...data import natural
from ...errors import InstanceError
from ..measures import ServiceReport
from ..searching import Missing
from .problem import ClassPlacement

if TYPE_CHECKING:
    from ..problem import PlacementProblem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Clients by class, or the level of the farthest of each class.
ByClass = tuple[int, ...]


class PriorityServer:
    """Servers that are alike, with what they were asked before.

    Parameters
    ----------
    parts
        The problem of each class alone.
    order
        The classes, those that go first first.
    site
        One of the sites with such a server.
    """

    def __init__(self, parts: Sequence[PlacementProblem], order: Sequence[int], site: int) -> None:
        self.parts, self.order = parts, order
        self.curves = [part.think_times[site] for part in parts]
        times = tuple(float(self.curves[c][0]) for c in order)
        self.queue = queues.PrioritySourceQueue(float(parts[0].service_rate[site]), times)
        self._met: dict[tuple[ByClass, int, int], queues.PriorityMeasures] = {}
        self._too_many: dict[tuple[ByClass, ByClass], int] = {}

    def met(self, loads: ByClass, c: int, level: int) -> queues.PriorityMeasures:
        """What a client of a class at a level gets, all others at distance 1; nothing beyond the end of a list."""
        key = loads, c, level
        if key not in self._met:
            time, delay = float(self.curves[c][level - 1]), self.parts[c].quality.delay
            if math.isfinite(time):
                crowd = [loads[other] for other in self.order]
                found = self.queue.measures(crowd, self.order.index(c), think_time=time, delay=delay)
            else:
                found = queues.PriorityMeasures(0.0, 0.0, 1.0, 0.0)
            self._met[key] = found
        return self._met[key]

    def keeps(self, loads: ByClass, farthest: ByClass) -> bool:
        """Tell whether the farthest client of every class that is here is served well enough."""
        for c in (c for c in self.order if loads[c]):
            quality, found = self.parts[c].quality, self.met(loads, c, farthest[c])
            sure = quality.max_delay_probability == 1.0 and quality.delay > 0 and found.throughput > 0
            late = found.delay_probability
            assert late is not None
            if found.throughput < quality.min_throughput or not (sure or late < quality.max_delay_probability):
                return False
        return True

    def too_many(self, loads: ByClass, farthest: ByClass) -> int:
        """Count the clients that go, those of the last class first, until all are kept; 0 only if all are."""
        key = loads, farthest
        if key not in self._too_many:
            low, high = -1, sum(loads)  # with all of them gone nothing is promised
            if self.keeps(loads, farthest):
                high = 0
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if self.keeps(self._without(loads, middle), farthest) else (middle, high)
            self._too_many[key] = high
        return self._too_many[key]

    def _without(self, loads: ByClass, gone: int) -> ByClass:
        left = list(loads)
        for c in reversed(self.order):
            part = min(gone, left[c])
            left[c] -= part
            gone -= part
        return tuple(left)


class PriorityServers:
    """The servers of all sites, those alike together.

    Parameters
    ----------
    parts
        The problem of each class alone.
    order
        The classes, those that go first first.
    """

    def __init__(self, parts: Sequence[PlacementProblem], order: Sequence[int]) -> None:
        groups: dict[tuple[float, bytes], PriorityServer] = {}
        self.by_site: list[PriorityServer] = []
        for site in range(len(parts[0].service_rate)):
            curves = b"".join(part.think_times[site].tobytes() for part in parts)
            key = float(parts[0].service_rate[site]), curves
            if key not in groups:
                groups[key] = PriorityServer(parts, order, site)
            self.by_site.append(groups[key])

    def too_many(self, site: int, loads: ByClass, farthest: ByClass) -> int:
        """Count the clients of a site that are too many, see `PriorityServer.too_many`."""
        return self.by_site[site].too_many(loads, farthest)

    def report(self, mixes: Ints) -> tuple[ServiceReport, Floats, Floats]:
        """Evaluate every site with the crowd of its promise: by class its farthest client, all others at distance 1.

        Utilisation, requests and delay of a site are those of its crowd with everybody at distance 1.
        """
        classes, sites = mixes.shape[:2]
        report = ServiceReport(*(np.full(sites, np.nan) for _ in range(5)))
        throughput, late = np.full((sites, classes), np.nan), np.full((sites, classes), np.nan)
        for site in np.flatnonzero(mixes.sum(axis=(0, 2))).tolist():
            server, loads = self.by_site[site], tuple(mixes[:, site].sum(axis=1).tolist())
            report.requests[site] = report.delay[site] = 0.0
            for c in (c for c in range(classes) if loads[c]):
                far = server.met(loads, c, int(np.flatnonzero(mixes[c, site]).max()) + 1)
                throughput[site, c], late[site, c] = far.throughput, far.delay_probability
                near = server.met(loads, c, 1)
                report.requests[site] += loads[c] * near.throughput
                report.delay[site] += loads[c] * near.throughput * near.mean_delay
            report.delay[site] /= report.requests[site]
            report.utilisation[site] = report.requests[site] / server.queue.service_rate
            report.throughput[site] = np.nanmin(throughput[site])
            report.delay_probability[site] = np.nanmax(late[site])
        return report, throughput, late


@natural
@dataclass(eq=False, kw_only=True, repr=False)
class PriorityPlacement(ClassPlacement):
    """Choose the sites to open where some classes of clients go first at every server.

    A decision holds 0 or 1 for every site. DEJAVU and programs, which lean on proofs that there are none of here, do
    not apply.

    Parameters
    ----------
    classes
        As of a `ClassPlacement`, each with another ``priority``; 0 goes first.
    opening_cost, operating_cost, service_rate, processors, quality
        As of a `PlacementProblem`, with one processor at every site.
    shape, network, distances, clients, fixed_open, fixed_closed, names, coordinates, name, cost, limits
        As of a `PlacementProblem`, too.
    demand, think_time, requests, request_share
        Left out, as of a `ClassPlacement`.

    Examples
    --------
    >>> import optmodels as om
    >>> times = {"base": 0.8, "per_distance": 0.2}
    >>> problem = om.PlacementProblem(
    ...     classes=[
    ...         {"name": "saving", "demand": [[1, 0, 2], [0, 3, 0]], "think_time": times, "priority": 0},
    ...         {"name": "browsing", "demand": [[4, 7, 2], [8, 3, 5]], "think_time": times, "priority": 1},
    ...     ],
    ...     opening_cost=[[2, 9, 3], [4, 2, 2]],
    ...     service_rate=20,
    ...     quality={"min_throughput": 0.6, "max_delay_probability": 0.2, "delay": 0.6},
    ... )
    >>> om.solve(problem, "exhaustive").decision
    (1, 0, 0, 0, 0, 1)
    """

    #: What DEJAVU asks for, which leans on fewer clients never being worse.
    restrict = Missing()

    def _read(self, data: Mapping[str, Any], *, folder: Path | None, **beside: Any) -> None:
        super()._read(data, folder=folder, **beside)
        priorities = [one.priority for one in self.classes]
        for number, priority in enumerate(priorities):
            if priority in priorities[:number]:
                rule = "classes have one priority, or each another one; make those that share one a single class."
                raise InstanceError(f"data.classes[{number}].priority", priority, rule)
        if (self.processors > 1).any():
            rule = "priorities are for sites of one processor."
            raise InstanceError("data.processors", data["processors"], rule)
        crowd = [int(self.parts[c].demand.sum()) for c in self.order]
        for place, count in enumerate(crowd):
            if count:
                states = queues.PrioritySourceQueue(1.0, (1.0,) * len(crowd)).states(crowd, place)
                if states > queues.STATE_LIMIT:
                    rule = (
                        f"priorities are evaluated by chains of {queues.STATE_LIMIT} states at most, and {sum(crowd)} "
                        f"clients at one site need {states}; take fewer clients or classes, or leave out priorities."
                    )
                    raise InstanceError("data.classes", data["classes"], rule)
        self._check_delays(data)

    def _check_delays(self, data: Mapping[str, Any]) -> None:
        """Refuse delays in which more happens than is followed."""
        thinking = sum(part.demand.sum() / part.think_times[:, 0] for part in self.parts)
        fastest = float((self.service_rate + thinking).max())
        for number, part in enumerate(self.parts):
            if fastest * part.quality.delay > queues.EVENT_LIMIT:
                place = "data.quality" if self.classes[number].quality is None else f"data.classes[{number}].quality"
                rule = (
                    f"with priorities at most {queues.EVENT_LIMIT:.0f} events within a delay are followed, and "
                    f"{fastest * part.quality.delay:.3g} may happen."
                )
                raise InstanceError(f"{place}.delay", part.quality.delay, rule)

    @property
    def order(self) -> list[int]:
        """The classes, those that go first first."""
        return sorted(range(len(self.classes)), key=lambda c: self.classes[c].priority)

    @cached_property
    def servers(self) -> PriorityServers:  # type: ignore[override]
        """The servers of the sites, with what they were asked before."""
        return PriorityServers(self.parts, self.order)

    def algebraic_refusal(self) -> str | None:
        """Why there is no integer program for this problem, in one sentence."""
        return (
            f"no integer program is written for priorities of clients, as {self.name!r} has them; take exhaustive for "
            "few sites, or a search."
        )

    def clause_refusal(self) -> str | None:
        """Why no clauses can be made, in one sentence."""
        return (
            f"strategy 'clauses' leans on fewer clients never being worse, which nobody has proved for priorities, as "
            f"{self.name!r} has them; take exhaustive or a search."
        )

    def infeasibility(self) -> str | None:
        """Nothing is proved: fewer clients might be worse."""
        return None

    def lower_bound(self) -> float:
        """A value no feasible placement goes below: with clients, at least one site is open."""
        weights = self.weights
        if weights is None or any(weight < 0 for weight in weights.values()):
            return -math.inf
        return float(self.site_prices.min()) if self.demand.any() else 0.0
