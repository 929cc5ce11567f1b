r"""Whether a site serves every class of clients well enough, and how many clients are too many.

Classes share one queue, first come first served, and differ in their think times :math:`f_c(d)` and in what they are
promised. With equal exponential service this is a product-form network (BCMP), and a request of class c meets the
others as they are without its sender. How long it waits depends on the others alone: not on how far its own client is.
The worst others are at distance 1 (`queueing.placement.capacity` proves it for any think times of the others, and so
for any classes), and so the worst client of class c, of :math:`L_c` of which the farthest is at :math:`d_c`, gets

.. math::  \tau_c = \frac{1}{f_c(d_c) + W_c(L)}, \qquad P(W_c > \delta_c) = \pi_c(L),

where the mean delay W and the delay probability are those of the crowd L with everybody at distance 1. A class is kept
if :math:`\tau_c \ge \theta_c` and :math:`\pi_c < \epsilon_c`. Both get worse with every client of any class, so what
keeps all classes is closed downwards in L: fewer clients of any class will do, and a class that is gone asks nothing.

**Clients too many**: the least number, of whatever classes, that must go, while the farthest of each class that stays
is where it was,

.. math::  \sum_c L_c - \max \Bigl\{ \sum_c K_c :\ K \le L,\ \text{all classes of } K \text{ are kept} \Bigr\}.

For one class this is the load beyond the capacity. It is 0 exactly if all classes are kept, and never falls when a
client joins: of the best K for L + e_c, K or K - e_c keeps all classes within L.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from queueing import placement as queues  # what it offers is loaded when used

from ..measures import ServiceReport

if TYPE_CHECKING:
    from ..problem import PlacementProblem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Most crowds of all servers that are not alike, for which tables are made: about 20 s.
MOST_CROWDS = 200_000

#: Clients by class, or the distance of the farthest of each class.
ByClass: TypeAlias = tuple[int, ...]


class ClassServer:
    """Servers that are alike, with what they were asked before.

    Parameters
    ----------
    parts
        The problem of each class alone.
    site
        One of the sites with such a server.
    """

    def __init__(self, parts: Sequence[PlacementProblem], site: int) -> None:
        self.parts = parts
        self.rate, self.processors = float(parts[0].service_rate[site]), int(parts[0].processors[site])
        self.curves = [part.think_times[site] for part in parts]
        self.alone = [part.capacity[site] for part in parts]
        self._waits: dict[ByClass, tuple[tuple[float, float], ...]] = {}
        self._too_many: dict[tuple[ByClass, ByClass], int] = {}

    @cached_property
    def near(self) -> queues.MixedSourceQueue:
        """The queue with all clients at distance 1."""
        return queues.MixedSourceQueue(self.rate, tuple(float(curve[0]) for curve in self.curves), self.processors)

    def waits(self, loads: ByClass) -> tuple[tuple[float, float], ...]:
        """Mean delay and delay probability of each class, everybody at distance 1; nan for a class without clients."""
        found = self._waits.get(loads)
        if found is None:
            late = {}
            for delay in {part.quality.delay for part in self.parts}:
                late[delay] = measures = self.near.measures(loads, delay)
            found = self._waits[loads] = tuple(
                (measures.mean_delay[c], (late[part.quality.delay].delay_probability or ())[c])
                for c, part in enumerate(self.parts)
            )
        return found

    def keeps(self, loads: ByClass, farthest: ByClass) -> bool:
        """Tell whether all classes that are here are served well enough."""
        present = [c for c, load in enumerate(loads) if load]
        if any(loads[c] > self.alone[c][farthest[c] - 1] for c in present):
            return False
        if len(present) < 2:
            return True
        waits = self.waits(loads)
        for c in present:
            quality, (wait, late) = self.parts[c].quality, waits[c]
            if quality.min_throughput and 1.0 / (self.curves[c][farthest[c] - 1] + wait) < quality.min_throughput:
                return False
            # P(W > delay) is below 1 for every delay above 0, though it rounds to 1 for large crowds.
            sure = quality.max_delay_probability == 1.0 and quality.delay > 0
            if not sure and not late < quality.max_delay_probability:
                return False
        return True

    @property
    def room(self) -> ByClass:
        """Most clients of each class, alone and near."""
        return tuple(int(alone[0]) for alone in self.alone)

    def table(self) -> Ints:
        """Per crowd within the room, and class: the largest level of its farthest client at which it is kept, else 0.

        Crowds come in the order of `numpy.ndindex`. Where a smaller crowd is not kept, nobody asks for the queue.
        """
        room = np.array(self.room)
        shape = tuple(int(most) + 1 for most in room)
        deepest = np.zeros((*shape, len(room)), np.int64)
        for loads in np.ndindex(shape):
            present = [c for c, load in enumerate(loads) if load]
            here = np.array([int((alone >= load).sum()) for alone, load in zip(self.alone, loads, strict=True)])
            for c in present:
                fewer = (*loads[:c], loads[c] - 1, *loads[c + 1 :])
                left = [k for k in present if fewer[k]]
                here[left] = np.minimum(here[left], deepest[fewer][left])
            if len(present) > 1 and all(here[present] > 0):
                for c, (wait, late) in enumerate(self.waits(loads)):
                    if loads[c]:
                        here[c] = min(here[c], self._deepest(c, wait, late))
            deepest[loads] = here
        return deepest.reshape(-1, len(room))

    def _deepest(self, c: int, wait: float, late: float) -> int:
        """The largest level at which a class that waits so long, and is late so often, is kept: as `keeps` has it."""
        quality, curve = self.parts[c].quality, self.curves[c]
        sure = quality.max_delay_probability == 1.0 and quality.delay > 0
        if not sure and not late < quality.max_delay_probability:
            return 0
        if not quality.min_throughput:
            return len(curve)
        return int((1.0 / (curve + wait) >= quality.min_throughput).sum())

    def too_many(self, loads: ByClass, farthest: ByClass) -> int:
        """Count the clients that must go at least, so that all classes are kept."""
        most = tuple(
            min(load, int(room[d - 1])) if load else 0
            for load, d, room in zip(loads, farthest, self.alone, strict=True)
        )
        key = most, farthest
        if key not in self._too_many:
            self._too_many[key] = self._most_kept(most, farthest, (), 0)
        return sum(loads) - self._too_many[key]

    def _most_kept(self, most: ByClass, farthest: ByClass, chosen: ByClass, best: int) -> int:
        """Most clients within `most` that are kept, of those with the chosen numbers of the first classes."""
        left = len(most) - len(chosen)
        rest = (0,) * (left - 1)
        top = most[len(chosen)]
        while top >= 0 and sum(chosen) + top + sum(most[len(chosen) + 1 :]) > best:
            if self.keeps((*chosen, top, *rest), farthest):
                if left == 1:
                    return sum(chosen) + top
                best = max(best, self._most_kept(most, farthest, (*chosen, top), best))
            top -= 1
        return best


class ClassServers:
    """The servers of all sites, those alike together.

    Parameters
    ----------
    parts
        The problem of each class alone.

    Examples
    --------
    >>> import optmodels as om
    >>> quality = {"min_throughput": 0.6, "max_delay_probability": 0.2, "delay": 0.6}
    >>> problem = om.PlacementProblem(
    ...     classes=[
    ...         {"name": "browsing", "demand": [[4, 7]], "think_time": {"base": 0.8, "per_distance": 0.2}},
    ...         {"name": "saving", "demand": [[2, 1]], "think_time": {"base": 0.4, "per_distance": 0.2}},
    ...     ],
    ...     opening_cost=[[2, 9]],
    ...     service_rate=10,
    ...     quality=quality,
    ... )
    >>> problem.servers.too_many(0, (7, 3), (1, 2)), problem.servers.too_many(0, (11, 3), (2, 2))
    (0, 3)
    """

    def __init__(self, parts: Sequence[PlacementProblem]) -> None:
        self.parts = parts
        groups: dict[tuple[float, int, bytes], ClassServer] = {}
        self.by_site: list[ClassServer] = []
        for site in range(len(parts[0].service_rate)):
            curves = b"".join(part.think_times[site].tobytes() for part in parts)
            key = (float(parts[0].service_rate[site]), int(parts[0].processors[site]), curves)
            if key not in groups:
                groups[key] = ClassServer(parts, site)
            self.by_site.append(groups[key])
        self.different = tuple(groups.values())

    @property
    def crowds(self) -> int:
        """How many crowds the tables of all servers have."""
        return sum(math.prod(most + 1 for most in server.room) for server in self.different)

    @cached_property
    def numbers(self) -> Ints:
        """Per site: which of the different servers it has."""
        known = {id(server): number for number, server in enumerate(self.different)}
        return np.array([known[id(server)] for server in self.by_site], np.int64)

    @cached_property
    def tables(self) -> tuple[Ints, Ints, Ints]:
        """For each of the different servers: where its table begins, the step of each class, and all tables in one."""
        offsets, strides, tables = [0], [], []
        for server in self.different:
            room = server.room
            strides.append([math.prod(most + 1 for most in room[c + 1 :]) for c in range(len(room))])
            tables.append(server.table())
            offsets.append(offsets[-1] + len(tables[-1]))
        return np.array(offsets[:-1], np.int64), np.array(strides, np.int64), np.concatenate(tables)

    def too_many(self, site: int, loads: ByClass, farthest: ByClass) -> int:
        """Count the clients of a site that must go at least, so that it keeps all classes; see the module.

        Parameters
        ----------
        site
            Which one.
        loads, farthest
            By class: clients, and the distance of the farthest (0 without any).

        Returns
        -------
        int
            0 if all classes are served well enough.
        """
        return self.by_site[site].too_many(loads, farthest)

    def report(self, mixes: Ints) -> tuple[ServiceReport, Floats, Floats]:
        """Evaluate the queue of every site with its exact crowd.

        Parameters
        ----------
        mixes
            Clients by class, site and distance.

        Returns
        -------
        tuple
            The service of each site, that of its worst client; throughput and delay probability of the worst client
            by site and class, ``nan`` where there is none.
        """
        classes, sites, _ = mixes.shape
        report = ServiceReport(*(np.full(sites, np.nan) for _ in range(5)))
        throughput, late = np.full((sites, classes), np.nan), np.full((sites, classes), np.nan)
        for site in np.flatnonzero(mixes.sum(axis=(0, 2))):
            server = self.by_site[site]
            present = [
                (int(c), int(d), int(mixes[c, site, d]))
                for c, d in np.argwhere(mixes[:, site] > 0)
                if np.isfinite(server.curves[c][d])
            ]
            report.utilisation[site] = report.requests[site] = report.delay[site] = 0.0
            if present:
                times = tuple(float(server.curves[c][d]) for c, d, _ in present)
                counts = [count for _, _, count in present]
                queue = queues.MixedSourceQueue(server.rate, times, server.processors)
                found = {delay: queue.measures(counts, delay) for delay in {p.quality.delay for p in self.parts}}
                for at, (c, _, count) in enumerate(present):
                    measures = found[self.parts[c].quality.delay]
                    assert measures.delay_probability is not None
                    throughput[site, c] = np.fmin(throughput[site, c], measures.throughput[at])
                    late[site, c] = np.fmax(late[site, c], measures.delay_probability[at])
                    report.requests[site] += count * measures.throughput[at]
                    report.delay[site] += count * measures.throughput[at] * measures.mean_delay[at]
                report.utilisation[site] = measures.utilisation
                report.delay[site] /= report.requests[site]
            for c, d in np.argwhere(mixes[:, site] > 0):
                if not np.isfinite(server.curves[c][d]):  # beyond the end of a list nobody is served
                    throughput[site, c], late[site, c] = 0.0, 1.0
            report.throughput[site] = np.nanmin(throughput[site])
            report.delay_probability[site] = np.nanmax(late[site])
        return report, throughput, late
