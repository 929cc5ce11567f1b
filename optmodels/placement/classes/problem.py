"""Where to put sites for several classes of clients, as a problem.

Every class has a demand, a think time and a promise of its own, and all share the queues of the sites, first come first
served; `optmodels.placement.classes.service` tells when a site keeps all of them. Of one class, this is the plain
problem.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heuristics import Decision, Evaluation, Walk

from ...costs import Limits, price_of
from ...data import OPTIONAL, REQUIRED, Takes, natural, read_as
from ...errors import InstanceError
from .. import measures as service
from ..data import PlacementData, read_fields
from ..geometry import nested
from ..geometry.fixed import FREE, OPEN, fixed_violations
from ..measures import DefinedMeasures, PlacementMeasures, ServiceReport
from ..problem import PlacementProblem, default_cost
from ..searching import closing_order
from .data import OWN, ClientClass, natural_classes
from .service import MOST_CROWDS, ClassServers

if TYPE_CHECKING:
    from ..clauses.sources import Source

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@natural
@dataclass(eq=False, kw_only=True, repr=False)
class ClassPlacement(PlacementProblem):
    """Choose the sites to open where clients are of several classes.

    A decision holds 0 or 1 for every site.

    Parameters
    ----------
    classes
        Each with ``name``, ``demand``, ``think_time`` and, where it is not that of the instance, ``quality``; with
        different numbers ``priority``, see `PriorityPlacement`.
    opening_cost, operating_cost, service_rate, processors, quality
        As of a `PlacementProblem`.
    shape, network, distances, clients, fixed_open, fixed_closed, names, coordinates, name, cost, limits
        As of a `PlacementProblem`, too.
    demand, think_time, requests, request_share
        Left out: the classes have their own, and every client has one request under way.

    Attributes
    ----------
    parts
        The problem of each class alone.

    Examples
    --------
    >>> import optmodels as om
    >>> times = {"base": 0.8, "per_distance": 0.2}
    >>> quality = {"min_throughput": 0.6, "max_delay_probability": 0.2, "delay": 0.6}
    >>> strict = {"min_throughput": 0.5, "max_delay_probability": 0.05, "delay": 0.6}
    >>> problem = om.PlacementProblem(
    ...     classes=[
    ...         {"name": "browsing", "demand": [[4, 7, 2], [8, 3, 5]], "think_time": times},
    ...         {"name": "saving", "demand": [[1, 0, 2], [0, 3, 0]], "think_time": times, "quality": strict},
    ...     ],
    ...     opening_cost=[[2, 9, 3], [4, 2, 2]],
    ...     service_rate=20,
    ...     quality=quality,
    ... )
    >>> result = om.solve(problem, "exhaustive")
    >>> result.decision, result.extra["load"]
    ((1, 0, 0, 0, 0, 1), [[19, 1], None, None, None, None, [10, 5]])
    """

    classes: Takes[Sequence[Mapping[str, Any] | ClientClass], tuple[ClientClass, ...]] = REQUIRED
    demand: Takes[None, Ints] = OPTIONAL
    think_time: Takes[None, Any] = OPTIONAL

    accepted: ClassVar[tuple[str, ...]] = ("names", "coordinates")
    quick_walks: ClassVar[bool] = False

    if TYPE_CHECKING:

        @property
        def parts(self) -> tuple[PlacementProblem, ...]: ...

    # -- from and to files --------------------------------------------------------------------------------------------

    @classmethod
    def _natural(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        return super()._natural(natural_classes(given))

    def _read(self, data: Mapping[str, Any], *, folder: Path | None, **beside: Any) -> None:
        found: PlacementData = read_as(PlacementData, data)
        shared = {name: value for name, value in data.items() if name not in ("classes", "demand", "think_time")}
        parts: list[PlacementProblem] = []
        classes: list[ClientClass] = []
        for number, one in enumerate(found.classes):
            if one.name in [earlier.name for earlier in classes]:
                raise InstanceError(f"data.classes[{number}].name", one.name, "every class has another name.")
            alone = shared | {name: data["classes"][number][name] for name in OWN if name in data["classes"][number]}
            try:
                fields = read_fields(alone)
            except InstanceError as failure:
                name = failure.field.removeprefix("data.")
                if name.split(".")[0].split("[")[0] in OWN:
                    failure.field = f"data.classes[{number}].{name}"
                raise failure from None
            for values in fields.values():
                if isinstance(values, np.ndarray):
                    values.setflags(write=False)
            if fields["quality"].guarantee != "worst-case" and len(found.classes) > 1:
                place = "data.quality" if one.quality is None else f"data.classes[{number}].quality"
                rule = 'more than one class knows the guarantee "worst-case" alone.'
                raise InstanceError(f"{place}.guarantee", fields["quality"].guarantee, rule)
            part: PlacementProblem = object.__new__(PlacementProblem)
            part._keep(**fields, **beside | {"name": one.name, "limits": Limits()})
            parts.append(part)
            own_quality = None if one.quality is None else part.quality
            classes.append(ClientClass(one.name, part.demand, part.think_time, own_quality, one.priority))
        demand = np.sum([part.demand for part in parts], axis=0)
        demand.setflags(write=False)
        _check_crowd(demand, len(parts), data["classes"])
        own = {"demand": demand, "think_time": None, "quality": found.quality, "classes": tuple(classes)}
        self._keep(**fields | beside | own, parts=tuple(parts))

    def to_data(self) -> dict[str, Any]:
        """The data of an instance file that `from_data` reads back to the same problem."""
        own = ("demand", "think_time")
        data = {name: value for name, value in self.parts[0].to_data().items() if name not in own}
        listed = [one.to_data() for one in self.classes]
        for one in listed:
            one["demand"] = nested(one["demand"], self.layout)
        return data | {"classes": listed, "quality": self.quality.to_data()}

    # -- what follows from the data -----------------------------------------------------------------------------------

    @cached_property
    def servers(self) -> ClassServers:
        """The servers of the sites, with what they were asked before."""
        return ClassServers(self.parts)

    @property
    def capacity(self) -> Ints:
        """There is none: how many clients of a class a site can take depends on the others."""
        raise AttributeError("sites have no capacity where clients are of several classes; see `servers`.")

    def infeasibility(self) -> str | None:
        """Why no placement can be feasible, in one sentence; ``None`` if all allowed sites together are one."""
        if self.allowed.any() or not self.demand.any():
            return None
        for part in self.parts:
            reason = part.infeasibility()
            if reason is not None:
                return f"of class {part.name!r} alone, {reason}"
        return "every site would be overloaded even with all other possible sites open."

    # -- evaluating ---------------------------------------------------------------------------------------------------

    def evaluate(self, decision: Decision) -> Evaluation:
        """Loads by class, measures and price of a placement."""
        is_open = np.asarray(decision, np.uint8)
        excess = self._excess(is_open)
        measures = PlacementMeasures(self, is_open, self.layout.away(self.parts[0]._assigned(is_open)[0]))
        violations: dict[str, float] = {}
        if excess.any():
            violations["overload"] = float(excess.sum())
        if not is_open.any() and self.demand.any():
            violations["clients without a site"] = float(self.demand.sum())
        violations |= fixed_violations(self.fixed, is_open)
        objective = price_of(self.cost or default_cost, DefinedMeasures(measures) if violations else measures)
        if self.limits:
            violations |= self.limits.violations(measures)
            return Evaluation(objective, violations, measures)
        return Evaluation(objective, violations, measures, self.penalty_rate * sum(violations.values()))

    def _crowds(self, is_open: NDArray[np.uint8]) -> tuple[Ints, Ints, Ints]:
        """Clients by class and site, the levels of the farthest of them, and clients by class, site and level."""
        found = [part._assigned(is_open) for part in self.parts]
        load, farthest = (np.array([one[at] for one in found]) for at in (2, 3))
        # With think times by pair each class has levels of its own, some fewer than others.
        mixes = np.zeros((*load.shape, max(one[4].shape[1] for one in found)), np.int64)
        for mix, one in zip(mixes, found, strict=True):
            mix[:, : one[4].shape[1]] = one[4]
        return load, farthest, mixes

    def _excess(self, is_open: NDArray[np.uint8]) -> Ints:
        load, farthest, _ = self._crowds(is_open)
        excess = np.zeros(self.layout.sites, np.int64)
        for site in np.flatnonzero(load.any(axis=0)):
            crowd, far = tuple(load[:, site].tolist()), tuple(farthest[:, site].tolist())
            excess[site] = self.servers.too_many(int(site), crowd, far)
        return excess

    def report(self, is_open: NDArray[np.uint8]) -> ServiceReport:
        """How well every site serves: what its worst client gets."""
        if len(self.parts) == 1:
            return self.parts[0].report(is_open)
        return self.servers.report(self._crowds(is_open)[2])[0]

    def describe(self, decision: Decision) -> dict[str, Any]:
        """What a placement means site by site, in lists by class; ``None`` where a site, or a class, has no clients."""
        is_open = np.asarray(decision, np.uint8)
        load, _, mixes = self._crowds(is_open)
        nearest = self.parts[0]._assigned(is_open)[0]
        farthest = np.array([part._farthest(nearest, is_open) for part in self.parts])
        if len(self.parts) == 1:
            report = self.parts[0].report(is_open)
            throughput, late = report.throughput[:, None], report.delay_probability[:, None]
        else:
            report, throughput, late = self.servers.report(mixes)
        told: dict[str, Any] = {"load": load.T, "farthest": farthest.T, "capacity": None}
        told |= {"throughput": throughput, "delay_probability": late, "utilisation": report.utilisation}
        served = load.sum(axis=0) > 0
        for name, values in told.items():
            if values is None:
                continue
            rows = values.tolist()
            if name in ("farthest", "throughput", "delay_probability"):
                rows = [
                    [value if here else None for value, here in zip(row, present, strict=True)]
                    for row, present in zip(rows, (load.T > 0).tolist(), strict=True)
                ]
            told[name] = [row if kept else None for row, kept in zip(rows, served.tolist(), strict=True)]
        return told | {"assignment": service.assignment(self, nearest, is_open)}

    def pictured(self, decision: Decision | None) -> tuple[PlacementProblem, list[str]]:
        """The class with the most clients, alone, and what the picture says of that."""
        shown = max(self.parts, key=lambda part: int(part.demand.sum()))
        words = [f"class {shown.name!r}, one of {len(self.parts)}"]
        if decision is not None:
            words.append(f"{int((self.overloaded(decision) > 0).sum())} sites overloaded by all classes together")
        return shown, words

    def load_and_farthest(self, decision: Decision) -> tuple[Ints, Ints]:
        """Clients of all classes per site, and the distance of the farthest."""
        load, farthest, _ = self._crowds(np.asarray(decision, np.uint8))
        return load.sum(axis=0), farthest.max(axis=0)

    def overloaded_behind(self, site: int, closed: Sequence[int]) -> bool:
        """Tell whether an open site is overloaded with everything open but `closed`: monotone in that set.

        What clauses are made of: if so, the site is closed, or one of `closed` is open, in every feasible placement.
        """
        is_open = np.ones(self.layout.sites, np.uint8)
        is_open[list(closed)] = 0
        is_open[site] = 1
        return bool(self._excess(is_open)[site] > 0)

    # -- searching ----------------------------------------------------------------------------------------------------

    def lower_bound(self) -> float:
        """A value no feasible placement goes below: the best of the bounds of the classes alone, without the others."""
        bounds = []
        for part in self.parts:
            crowd: PlacementProblem = object.__new__(PlacementProblem)
            crowd._keep(**vars(part) | {"allowed": self.allowed, "cost": self.cost})
            bounds.append(crowd.lower_bound())
        return max(bounds)

    def start(self, decision: Decision) -> Walk:
        """Begin a walk by full evaluations."""
        from heuristics.search import EvaluatedWalk

        return EvaluatedWalk(self, decision)

    def window_refusal(self) -> str | None:
        """Why there is no walk window by window, in one sentence."""
        return f"strategy 'large-neighbourhood' counts clients of one class, {self.name!r} has several; take annealing."

    def repair(self, decision: Decision, rng: np.random.Generator) -> Decision:
        """A feasible placement near `decision`, see `PlacementProblem.repair`."""
        if not self.allowed.any():
            return decision
        is_open = np.where(self.allowed, np.asarray(decision, np.uint8), 0).astype(np.uint8) | (self.fixed == OPEN)
        order = rng.permutation(self.layout.sites)
        if self.demand.any() and not is_open.any():
            is_open[next(site for site in order if self.allowed[site])] = 1
        while (excess := self._excess(is_open)).any():
            site = next(site for site in order if excess[site])
            is_open[self._helper(is_open, site)] = 1
        for site in closing_order(self.layout.around(self.demand), self.opening_cost, rng):
            if is_open[site] and self.fixed[site] == FREE:
                is_open[site] = 0
                if self._excess(is_open).any() or (self.demand.any() and not is_open.any()):
                    is_open[site] = 1
        return tuple(int(value) for value in is_open)

    def _helper(self, is_open: NDArray[np.uint8], site: int) -> int:
        """A site to open where another is overloaded: near its farthest clients, or else near itself."""
        closed, ranks = np.flatnonzero(self.allowed & (is_open == 0)), self.layout.ranks
        nearest = self.parts[0]._assigned(is_open)[0]
        theirs = np.flatnonzero((ranks[:, site] == nearest) & (self.demand > 0))
        away = self.distances[site, theirs]
        for cell in theirs[np.lexsort((theirs, -self.demand[theirs], -away))]:
            if self.distances[site, cell] < away.max():
                break
            closer = closed[ranks[cell, closed] <= nearest[cell]]
            if len(closer):
                return int(closer[ranks[cell, closer].argmin()])
        return int(closed[ranks[self.layout.anchors[site], closed].argmin()])

    def restrict(self, cells: Sequence[int]) -> ClassPlacement:
        """The problem of these cells alone, at the distances they have in the whole, with the default cost."""
        part: ClassPlacement = object.__new__(ClassPlacement)
        parts = tuple(one.restrict(cells) for one in self.parts)
        demand = self.demand[np.array(cells, dtype=np.int64)]
        own = {"demand": demand, "think_time": None, "quality": self.quality, "parts": parts}
        part._keep(**vars(parts[0]) | own | {"classes": self.classes, "name": f"{self.name} ({len(cells)} cells)"})
        return part

    # -- proofs -------------------------------------------------------------------------------------------------------

    def clause_refusal(self) -> str | None:
        """Why no clauses can be made, in one sentence; ``None`` if they can."""
        if self.servers.crowds <= MOST_CROWDS:
            return super().clause_refusal()
        return (
            f"strategy 'clauses' keeps a table of all crowds that a server can have, and those of {self.name!r} have "
            f"{self.servers.crowds} together, more than {MOST_CROWDS}; take fewer classes, or a search."
        )

    def clause_source(self) -> Source:
        """What makes clauses that every feasible placement keeps, for strategy `clauses`."""
        from ..clauses.sources import source_of_classes

        return source_of_classes(self)

    def algebraic_refusal(self) -> str | None:
        """Why there is no integer program for this problem, in one sentence."""
        return (
            f"no integer program is written for classes of clients, as {self.name!r} has them; take clauses for a "
            "proof, or a search."
        )


def _check_crowd(demand: Ints, classes: int, data: Any) -> None:
    from queueing.placement import CLIENT_LIMIT

    if classes > 1 and demand.sum() > CLIENT_LIMIT:
        rule = f"at most {CLIENT_LIMIT} clients of all classes are supported, and there are {demand.sum()}."
        raise InstanceError("data.classes", data, rule)
