"""What visits must keep to: totals, least frequencies, caps and gaps of hosts, one robot for each page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InstanceError
from .space import IDLE

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]

#: Sums of frequencies and shares of hosts may miss what they should be by this much, relative.
TOLERANCE = 1e-9

#: Names of what may be broken.
TOTAL, MOST, LEAST = "sum of frequencies", "frequencies above 1", "frequencies below min_frequency"
CAPS, GAPS, SPLIT = "shares of hosts above their caps", "visits within host_gap", "hosts visited by several robots"
SHARES = "shares of robots"


@dataclass(frozen=True, eq=False)
class Rules:
    """What visits to so many pages must keep to.

    Attributes
    ----------
    pages
        How many there are.
    robots
        How many robots visit pages at the same time: frequencies add up to this, and none is above 1, because a page
        belongs to one robot.
    hosts
        Number of the host of each page, from 0, every one of them with a page; ``None``: nothing is asked of hosts.
    caps
        Most visits per slot to each host, ``inf`` where there is no limit; ``None``: no limit anywhere.
    gap
        Two visits to one host are at least so many slots apart; 1: no rule. With a rule, a host belongs to one robot.
    minimum
        Least frequency of each page; ``None``: no rule.
    labels
        What each host is called in the file, rising; ``None``: by its number.
    cycle
        The visits of a robot are a cycle of so many slots; ``None``: any length, and any form of a decision.
    """

    pages: int
    robots: int = 1
    hosts: Indices | None = None
    caps: Vector | None = None
    gap: int = 1
    minimum: Vector | None = None
    labels: Indices | None = None
    cycle: int | None = None

    def label(self, host: int) -> int:
        """Tell what a host is called in the file."""
        return host if self.labels is None else int(self.labels[host])

    @cached_property
    def host_count(self) -> int:
        """Hosts are numbered from 0 to one less than this."""
        return 0 if self.hosts is None else int(self.hosts.max()) + 1

    @cached_property
    def shares(self) -> Vector | None:
        """Most visits per slot to each host, whichever rule says so; ``None``: no limit anywhere."""
        if self.caps is None and self.gap <= 1:
            return None
        caps = np.full(self.host_count, math.inf) if self.caps is None else self.caps
        return np.minimum(caps, 1.0 / self.gap) if self.gap > 1 else caps

    def by_host(self, values: Vector) -> Vector:
        """Sum up values of pages, host by host."""
        assert self.hosts is not None
        sums: Vector = np.bincount(self.hosts, weights=values, minlength=self.host_count).astype(np.float64)
        return sums

    def room(self, shares: Vector) -> float:
        """Most visits per slot that all hosts together may have if these are their shares; a page has one at most."""
        return math.fsum(np.minimum(shares, self.by_host(np.ones(self.pages))))

    def to_data(self) -> dict[str, Any]:
        """The fields of an instance file; those that ask for nothing are left out."""
        found: dict[str, Any] = {}
        if self.caps is not None:
            found["host_caps"] = self._caps_by_label()
        if self.gap > 1:
            found["host_gap"] = self.gap
        if self.minimum is not None:
            same = bool((self.minimum == self.minimum[0]).all())
            found["min_frequency"] = float(self.minimum[0]) if same else self.minimum.tolist()
        if self.cycle is not None:
            found["cycle"] = self.cycle
        return found if self.robots == 1 else found | {"robots": self.robots}

    def _caps_by_label(self) -> float | list[float | None]:
        """Write caps by label, or as one number where there are labels without a host and it is enough."""
        assert self.caps is not None
        if self.labels is None:
            caps = self.caps
        elif (self.caps == self.caps[0]).all() and math.isfinite(self.caps[0]):
            return float(self.caps[0])
        else:
            caps = np.full(int(self.labels[-1]) + 1, math.inf)
            caps[self.labels] = self.caps
        return [cap if math.isfinite(cap) else None for cap in caps.tolist()]

    # -- what is broken, and by how much ------------------------------------------------------------------------------

    def broken(self, frequencies: Vector, idle: float = 0.0) -> dict[str, float]:
        """Find broken rules about frequencies: their sum, the least and the most of each, shares of hosts.

        `idle` is the part of the slots, of all robots together, that have no visit.
        """
        total = math.fsum(frequencies) + idle
        found = {TOTAL: _beyond(abs(total - self.robots), TOLERANCE * self.robots)}
        found[MOST] = _excess(frequencies, np.ones(1))
        if self.minimum is not None:
            found[LEAST] = _excess(self.minimum, frequencies)
        if self.shares is not None:
            found[CAPS] = _excess(self.by_host(frequencies), self.shares)
        return {name: amount for name, amount in found.items() if amount > 0}

    def broken_by_cycles(self, cycles: Sequence[Indices]) -> dict[str, float]:
        """Find broken rules about the order: visits that come too soon, hosts that are not left to one robot."""
        if self.gap <= 1 or self.hosts is None:
            return {}
        from heuristics.sequencing import visit_distances  # all rules of sequencing, which most questions do not need

        known = np.append(self.hosts, IDLE)  # a slot without a visit, -1, is at no host
        at_host = [cycle[cycle >= 0] for cycle in cycles]
        found = {GAPS: 0.0}
        for cycle, visited in zip(cycles, at_host, strict=True):
            apart = visit_distances(cycle, known)[len(cycle) - len(visited) :]  # by host, that of idle slots first
            found[GAPS] += float((apart < self.gap).sum())
        owners = np.zeros(self.host_count, dtype=np.int64)
        for cycle in at_host:
            owners[np.unique(self.hosts[cycle])] += 1
        found[SPLIT] = float(np.maximum(owners - 1, 0).sum())
        return {name: amount for name, amount in found.items() if amount > 0}

    def broken_by_chance(self, frequencies: Vector, robot: Indices | None) -> dict[str, float]:
        """Find rules that draws break: the part of the visits that comes too soon, shares of robots that are not 1."""
        found = {}
        if self.gap > 1:
            shares = np.minimum(self.by_host(frequencies), 1.0)
            found[GAPS] = math.fsum(shares * -np.expm1((self.gap - 1) * np.log1p(-np.minimum(shares, 1 - 1e-16))))
        if robot is not None:
            sums = np.bincount(robot, weights=frequencies, minlength=self.robots)
            found[SHARES] = _beyond(float(np.abs(sums - 1.0).max()), TOLERANCE)
        return {name: amount for name, amount in found.items() if amount > 0}


def numbered(labels: Indices) -> tuple[Indices, Indices | None]:
    """Number hosts from 0, none left out, in the order of their labels; and the labels, ``None`` if they are that.

    Labels are names that happen to be numbers: memory is for the pages, however large a label is.
    """
    if int(labels.max()) < 4 * len(labels) + 1024:
        there = np.bincount(labels) > 0
        if there.all():
            return labels, None
        return (np.cumsum(there) - 1)[labels], np.flatnonzero(there)
    found, hosts = np.unique(labels, return_inverse=True)
    return hosts.astype(np.int64), found


def refuse_crowding(data: Mapping[str, Any], rules: Rules) -> None:
    """Refuse what no field breaks alone: no room for the visits that are made, or for those that must be."""
    slack, made = 1 + TOLERANCE, f"{rules.robots} visit{'s are' if rules.robots > 1 else ' is'} made"
    least = np.zeros(rules.pages) if rules.minimum is None else rules.minimum
    if math.fsum(least) > rules.robots * slack:
        rule = f"least frequencies add up to {math.fsum(least):.6g} visits per slot, and {made}."
        raise InstanceError("data.min_frequency", data["min_frequency"], rule)
    if rules.shares is None:
        return
    room = rules.room(rules.shares)
    if room * slack < rules.robots:
        culprit = rules.caps is not None and rules.room(rules.caps) * slack < rules.robots
        field = "host_caps" if culprit else "host_gap"
        rule = f"there is room for {room:.6g} visits per slot to all hosts together, and {made}."
        raise InstanceError(f"data.{field}", data[field], rule)
    wanted = rules.by_host(least)
    beyond = wanted > rules.shares * slack
    if beyond.any():
        host = int(np.argmax(beyond))
        rule = (
            f"least frequencies of the pages on host {rules.label(host)} add up to {wanted[host]:.6g} visits per slot, "
            f"and the host may have {rules.shares[host]:.6g}."
        )
        raise InstanceError("data.min_frequency", data["min_frequency"], rule)


def _beyond(amount: float, tolerance: float) -> float:
    return amount if amount > tolerance else 0.0


def _excess(values: Vector, limits: Vector) -> float:
    """Sum up how far values lie above their limits, those within rounding left out."""
    above = values - limits
    return math.fsum(above[above > TOLERANCE * values])
