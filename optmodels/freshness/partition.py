"""Which robot visits which pages, how often, and frequencies in given proportions.

Several robots share the pages: each page belongs to one robot, because the time between two visits is then a sum of
access times of that robot, whatever the others do. The pages, or whole hosts where visits to a host must be apart, are
handed out by frequency, the largest first, to the robot with the least (longest processing time first: no robot gets
more than 4/3 of what the busiest one must get); then each robot spends its own slots in the best way.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, replace

import numpy as np

from queueing.freshness import Allocation, Traits, allocate

from .rules import TOLERANCE, Indices, Rules, Vector

#: Halvings of an interval of doubles, in logarithms.
HALVINGS = 120


@dataclass(frozen=True, eq=False)
class Part:
    """The pages of one robot.

    Attributes
    ----------
    pages
        Their numbers.
    traits
        What matters about them.
    frequencies
        How often they are visited; they add up to 1.
    hosts
        Number of the host of each of them; ``None``: nothing is asked of hosts.
    multiplier
        What one more visit per slot would save; ``None`` where frequencies were not made to cost least.
    rules
        What its visits must keep to; ``None`` as for `multiplier`.
    """

    pages: Indices
    traits: Traits
    frequencies: Vector
    hosts: Indices | None
    multiplier: float | None = None
    rules: Rules | None = None


def best_parts(traits: Traits, rules: Rules, whole: Allocation) -> list[Part]:
    """Hand out the pages to robots with the frequencies of least cost, evenly spaced.

    Parameters
    ----------
    whole
        The frequencies of least cost of all robots together.

    Raises
    ------
    ValueError
        If the rules leave a robot no room for its visits.
    """
    everything = np.arange(rules.pages)
    if rules.robots == 1:
        return [Part(everything, traits, whole.frequencies, rules.hosts, whole.multiplier, rules)]
    parts = []
    for pages in partition(whole.frequencies, rules):
        own = rules_of(rules, pages, whole.frequencies)
        found = allocate_within(traits.of(pages), own)
        parts.append(Part(pages, traits.of(pages), found.frequencies, own.hosts, found.multiplier, own))
    return parts


def given_parts(traits: Traits, rules: Rules, frequencies: Vector) -> list[Part]:
    """Hand out the pages to robots with frequencies that are proportional to those given."""
    everything = np.arange(rules.pages)
    chosen = [everything] if rules.robots == 1 else partition(frequencies, rules)
    parts = []
    for pages in chosen:
        own = frequencies[pages]
        shares = own / math.fsum(own) if own.any() else np.full(len(pages), 1.0 / len(pages))
        hosts = None if rules.hosts is None else rules.hosts[pages]
        parts.append(Part(pages, traits.of(pages), shares, hosts))
    return parts


def allocate_within(
    traits: Traits, rules: Rules, least: Vector | None = None, most: Vector | float = 1.0
) -> Allocation:
    """Find the frequencies of least cost, evenly spaced, within all rules but for `least`, if it is given."""
    lowest = rules.minimum if least is None else least
    hosts = None if rules.shares is None else rules.hosts
    return allocate(traits, float(rules.robots), 0.0 if lowest is None else lowest, most, hosts, rules.shares)


def partition(frequencies: Vector, rules: Rules) -> list[Indices]:
    """Hand out pages to robots, in increasing order; a host is not split where its visits must be apart."""
    keep_hosts = rules.gap > 1 and rules.hosts is not None
    units = rules.by_host(frequencies) if keep_hosts else frequencies
    if keep_hosts:
        assert rules.hosts is not None
        units = np.where(rules.by_host(np.ones(rules.pages)) > 0, units, -1.0)
    robots = _longest_first(units, rules.robots)
    of_page = robots[rules.hosts] if keep_hosts else robots
    return [np.flatnonzero(of_page == robot) for robot in range(rules.robots)]


def rules_of(rules: Rules, pages: Indices, frequencies: Vector) -> Rules:
    """Make rules for one robot: of the cap of a host it has the part that its pages have of the host's frequency."""
    minimum = None if rules.minimum is None else rules.minimum[pages]
    found = replace(rules, pages=len(pages), robots=1, minimum=minimum)
    if rules.hosts is None:
        return found
    hosts = rules.hosts[pages]
    if rules.caps is None:
        return replace(found, hosts=hosts)
    whole = rules.by_host(frequencies)
    own = np.bincount(hosts, weights=frequencies[pages], minlength=rules.host_count)
    part = np.divide(own, whole, out=np.full(rules.host_count, 1.0 / rules.robots), where=whole > 0)
    caps = np.where(part > 0, rules.caps * np.maximum(part, TOLERANCE), np.inf)  # inf * 0 is no number
    return replace(found, hosts=hosts, caps=caps[: int(hosts.max()) + 1])


def in_proportion(weights: Vector, rules: Rules) -> Vector:
    """Find frequencies in proportion to weights as far as the rules allow.

    All pages have weight times one factor, but no less than their minimum and no more than 1; hosts that would have
    more than their share have a smaller factor of their own. Where even the largest factor is not enough, pages without
    weight get the rest in equal parts.
    """
    if not weights.any():
        weights = np.ones(rules.pages)
    simple = weights * (rules.robots / math.fsum(weights))
    if rules.shares is None and rules.minimum is None and simple.max() <= 1:
        return simple
    least = np.zeros(rules.pages) if rules.minimum is None else rules.minimum

    def visits(factor: float) -> float:
        wished = _clipped(factor, weights, least)
        return math.fsum(wished if rules.shares is None else np.minimum(rules.by_host(wished), rules.shares))

    if visits(np.inf) < rules.robots * (1 - TOLERANCE):
        weights = np.where(weights > 0, weights, weights[weights > 0].min() * 1e-9)
    high = 1.0 / weights.max()
    while visits(high) < rules.robots and high < 1e300:
        high *= 4.0
    low = 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if visits(middle) < rules.robots else (low, middle)
    found = _clipped(high, weights, least)
    return found if rules.shares is None else _cut_down(found, high, weights, least, rules)


def _cut_down(found: Vector, factor: float, weights: Vector, least: Vector, rules: Rules) -> Vector:
    """Reduce frequencies of hosts beyond their shares by smaller factors, one for each host."""
    assert rules.hosts is not None and rules.shares is not None
    over = rules.by_host(found) > rules.shares
    if not over.any():
        return found
    low, high = np.zeros(rules.host_count), np.full(rules.host_count, factor)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        enough = rules.by_host(_clipped(middle[rules.hosts], weights, least)) > rules.shares
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.where(over[rules.hosts], _clipped(low[rules.hosts], weights, least), found)


def _clipped(factor: float | Vector, weights: Vector, least: Vector) -> Vector:
    with np.errstate(over="ignore", invalid="ignore"):
        wished = np.where(weights > 0, factor * weights, 0.0)
    return np.clip(wished, least, 1.0)


def _longest_first(units: Vector, robots: int) -> Indices:
    """Robot of each unit, the largest first to whoever has least; units below 0 are nobody's (-1)."""
    found = np.full(len(units), -1, dtype=np.int64)
    loads = [(0.0, 0, robot) for robot in range(robots)]
    for unit in np.argsort(-units, kind="stable").tolist():
        if units[unit] < 0:
            break
        load, count, robot = loads[0]
        found[unit] = robot
        heapq.heapreplace(loads, (load + float(units[unit]), count + 1, robot))
    return found
