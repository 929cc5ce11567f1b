"""Loads of a placement step by step where sites have types, in compiled code.

Only the capacity of a site, and what it costs, depend on its type: a walk keeps those of the types that sites have now
in the tables of a plain one, and `flip` does the rest. To exchange a server touches its own site alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from heuristics import Decision, Followed, Moves
from heuristics.search import EvaluatedWalk

from ..geometry.fixed import OPEN
from ..repairing import closed_and_allowed, closer_to
from ..walk import Floats, Ints, Sites, Standing, flip, partners, price_of, refresh, settle, standing_of

if TYPE_CHECKING:
    from .problem import TypePlacement


class Tables(NamedTuple):
    """What types differ in (arrays only, so that compiled code can take it)."""

    opening: Floats  #: type x site: price of opening it
    operating: Floats  #: type x site x level x load: price of operating it; one entry if there is none
    capacity: Ints  #: type x site x level: largest load


def tables_of(problem: TypePlacement, *, priced: bool) -> Tables:
    """Read the tables off the problems of the types; not `priced`: opening costs, and nothing else."""
    found = [part._sites if priced else part._loads_only for part in problem.parts]
    sites = [one for one in found if one is not None]
    shape = max((one.operating.shape for one in sites), key=lambda shape: shape[-1])
    operating = np.zeros((len(sites), *shape))
    for number, one in enumerate(sites):
        loads = one.operating.shape[-1]
        operating[number, :, :, :loads] = one.operating
        operating[number, :, :, loads:] = one.operating[:, :, -1:]  # the last is that of all larger loads
    return Tables(
        np.array([one.opening for one in sites]), operating, np.array([one.capacity for one in sites], np.int64)
    )


def own_tables(sites: Sites, tables: Tables) -> Sites:
    """A copy of what a walk writes the types of its sites into."""
    return sites._replace(
        opening=tables.opening[0].copy(), operating=tables.operating[0].copy(), capacity=tables.capacity[0].copy()
    )


@njit(cache=True)
def put(sites: Sites, standing: Standing, tables: Tables, types: Ints, site: int, number: int) -> None:
    """Give a site another type, 0 to close it, and all that follows from it."""
    before = types[site]
    if before == number:
        return
    types[site] = number
    if number == 0:
        flip(sites, standing, site)
        return
    if before:
        standing.totals[0] -= sites.opening[site]
    sites.opening[site] = tables.opening[number - 1, site]
    sites.capacity[site] = tables.capacity[number - 1, site]
    if sites.operating.shape[2] > 1:
        sites.operating[site] = tables.operating[number - 1, site]
    if not before:
        flip(sites, standing, site)
        return
    standing.totals[0] += sites.opening[site]
    settle(
        sites.operating, sites.capacity, standing.is_open, standing.load, standing.farthest,
        standing.excess, standing.running, standing.totals, site,
    )  # fmt: skip


@njit(cache=True)
def exchange(sites: Sites, standing: Standing, tables: Tables, types: Ints, beside: Ints, move: int) -> None:
    """Make a move that undoes itself, see `moved`."""
    one, other, low, high = meant(len(tables.opening), beside, move)
    if other < 0:
        mine = types[one]
        if mine in (low, high):
            put(sites, standing, tables, types, one, low + high - mine)
        return
    mine, theirs = types[one], types[other]
    if mine != theirs:
        put(sites, standing, tables, types, one, theirs)
        put(sites, standing, tables, types, other, mine)


@njit(cache=True)
def meant(kinds: int, beside: Ints, move: int) -> tuple[int, int, int, int]:
    """Two sites that exchange their servers; or one, none (-1), and two values, one of which becomes the other.

    Moves of values are numbered first, site by site, and at a site 0 with 1, 0 with 2, ..., 1 with 2, ...; then those
    of a site with each of the sites `beside` it. All of them undo themselves.
    """
    pairs = kinds * (kinds + 1) // 2
    singles = len(beside) * pairs
    if move >= singles:
        site, place = divmod(move - singles, beside.shape[1])
        return site, beside[site, place], 0, 0
    site, left = divmod(move, pairs)
    low = 0
    while left >= kinds - low:
        left -= kinds - low
        low += 1
    return site, -1, low, low + 1 + left


def moved(decision: Decision, kinds: int, beside: Ints, move: int) -> Decision:
    """A decision after a move: two values exchanged at a site, where any third one stays, or two sites exchanged."""
    one, other, low, high = (int(value) for value in meant(kinds, beside, move))
    entries = list(decision)
    if other >= 0:
        entries[one], entries[other] = entries[other], entries[one]
    elif entries[one] in (low, high):
        entries[one] = low + high - entries[one]
    return tuple(entries)


def drawn(rng: np.random.Generator, count: int, choices: Ints, kinds: int, beside: Ints) -> Moves:
    """Draw moves: half exchange two values at a site, half two sites that are near."""
    pairs, nearby = kinds * (kinds + 1) // 2, beside.shape[1]
    site = rng.choice(choices, count)
    moves = np.full((count, 2), -1, np.int64)
    moves[:, 0] = site * pairs + rng.integers(0, pairs, count)
    if nearby:
        swapped = len(beside) * pairs + site * nearby + rng.integers(0, nearby, count)
        moves[:, 0] = np.where(rng.random(count) < 0.5, swapped, moves[:, 0])
    return moves


@njit(cache=True)
def follow_types(
    sites: Sites, standing: Standing, tables: Tables, types: Ints, beside: Ints, moves: Moves,
    tolerances: Floats, below: float, best: Ints,
) -> tuple[int, bool, float]:  # fmt: skip
    """Try moves in turn, keep those within tolerance; copy the best feasible placement below `below` into `best`."""
    kept, found = 0, False
    for step in range(len(moves)):
        first, second = moves[step]
        before = price_of(sites, standing)
        exchange(sites, standing, tables, types, beside, first)
        if second >= 0:
            exchange(sites, standing, tables, types, beside, second)
        price = price_of(sites, standing)
        if price - before > tolerances[step]:
            if second >= 0:
                exchange(sites, standing, tables, types, beside, second)
            exchange(sites, standing, tables, types, beside, first)
            continue
        kept += 1
        if standing.totals[2] + standing.totals[3] == 0 and price < below:
            refresh(sites, standing)  # what looks better may be rounding
            price = price_of(sites, standing)
            if below == np.inf or price < below - 1e-9 * abs(below):  # inf - inf is no number
                below, found = price, True
                best[:] = types
    return kept, found, below


@dataclass(eq=False)
class TypeWalk:
    """A placement of types that moves step by step (see `heuristics.protocols.Walk`).

    Parameters
    ----------
    sites, tables
        What does not change, but for the entries of the types that sites have now; and those of all types.
    standing, types
        Where the walk stands.
    choices
        Sites worth a step.
    beside
        Per site: some others that are near, one of which may take its server.
    """

    sites: Sites
    tables: Tables
    standing: Standing
    types: Ints
    choices: Ints
    beside: Ints
    full_penalty: float = field(init=False)

    def __post_init__(self) -> None:
        self.full_penalty = self.sites.penalty

    @classmethod
    def of(cls, sites: Sites, tables: Tables, decision: Decision, choices: Ints) -> TypeWalk:
        """Begin at a decision."""
        own = own_tables(sites, tables)
        types = np.zeros(len(decision), np.int64)
        standing = standing_of(own, types)
        for site, number in enumerate(decision):
            put(own, standing, tables, types, site, int(number))
        refresh(own, standing)
        return cls(own, tables, standing, types, choices, partners(own))

    @property
    def current(self) -> Decision:
        """The placement as a decision."""
        return tuple(self.types.tolist())

    @property
    def penalised(self) -> float:
        """Price, and penalty per client too many."""
        return float(price_of(self.sites, self.standing))

    @property
    def feasible(self) -> bool:
        """Whether every site keeps its capacity and every client has a site."""
        return bool(self.standing.totals[2] + self.standing.totals[3] == 0)

    def weigh(self, factor: float) -> None:
        """Charge `factor` times the penalty for a client too many (see `heuristics.protocols.Lenient`)."""
        self.sites = self.sites._replace(penalty=factor * self.full_penalty)

    def flip(self, index: int) -> float:
        """Make a move that undoes itself, see `moved`."""
        before = self.penalised
        exchange(self.sites, self.standing, self.tables, self.types, self.beside, index)
        return self.penalised - before

    def draw(self, rng: np.random.Generator, count: int) -> Moves:
        """Half the moves are of a site alone, half of two near ones."""
        return drawn(rng, count, self.choices, len(self.tables.opening), self.beside)

    def follow(self, moves: Moves, tolerances: Floats, below: float) -> Followed:
        """Try each move in turn and keep it if it costs no more than its tolerance."""
        best = np.zeros_like(self.types)
        refresh(self.sites, self.standing)
        kept, better, lowest = follow_types(
            self.sites, self.standing, self.tables, self.types, self.beside, moves, tolerances, below, best
        )
        return Followed(int(kept), *((tuple(best.tolist()), float(lowest)) if better else (None, None)))


@dataclass(eq=False)
class EvaluatedTypes(EvaluatedWalk):
    """A walk by the same moves where nothing is cheaper than to evaluate every step in full."""

    beside: Ints
    choices: Ints

    def flip(self, index: int) -> float:
        """Make a move that undoes itself, see `moved`."""
        return self._go(moved(self.decision, self._kinds, self.beside, index))

    def draw(self, rng: np.random.Generator, count: int) -> Moves:
        """Half the moves are of a site alone, half of two near ones."""
        return drawn(rng, count, self.choices, self._kinds, self.beside)

    def follow(self, moves: Moves, tolerances: Floats, below: float) -> Followed:
        """Try each move in turn and keep it if it costs no more than its tolerance."""
        kept, best = 0, None
        for move, tolerance in zip(moves.tolist(), tolerances.tolist(), strict=True):
            here, judged = self.decision, self.evaluation
            decision = here
            for index in move:
                decision = moved(decision, self._kinds, self.beside, index) if index >= 0 else decision
            if self._go(decision) > tolerance:
                self.decision, self.evaluation = here, judged
                continue
            kept += 1
            if self.feasible and self.penalised < below:
                below, best = self.penalised, self.decision
        return Followed(kept, best, None if best is None else below)

    @property
    def _kinds(self) -> int:
        problem: Any = self.problem
        return len(problem.server_types)


# -- feasible placements ----------------------------------------------------------------------------------------------


@njit(cache=True)
def mend(
    sites: Sites, standing: Standing, tables: Tables, types: Ints, fitting: NDArray[np.bool_], order: Ints
) -> None:
    """Exchange servers, and open sites, until nobody has too many clients: where the farthest clients of a site are.

    Of several overloaded sites the first in the given order is helped first: by the cheapest type that suffices or, if
    there is none, by a near site.
    """
    allowed = np.zeros(len(types), np.uint8)
    for site in range(len(types)):
        allowed[site] = fitting[:, site].any()
    while standing.totals[2] + standing.totals[3] > 0:  # open sites that are too few are among it
        chosen = -1
        for site in order:
            if standing.excess[site] == 0:
                continue
            number = sufficient(standing, tables, fitting, site)
            if number:
                put(sites, standing, tables, types, site, number)
                chosen = -2
                break
            most = 0
            for cell in range(len(sites.demand)):
                far = sites.levels[site, cell] == standing.farthest[site]
                if far and standing.nearest[cell] == sites.ranks[cell, site] and sites.demand[cell] > most:
                    closer = closer_to(sites, standing, allowed, cell)
                    if closer >= 0:
                        chosen, most = closer, sites.demand[cell]
            if chosen < 0:
                chosen = closed_and_allowed(sites, standing, allowed, site)
            break
        if chosen == -2:
            continue
        if chosen < 0:  # only clients without any site are left: open the first site that may
            chosen = closed_and_allowed(sites, standing, allowed, order[0])
        if chosen < 0:
            return
        put(sites, standing, tables, types, chosen, cheapest(tables, fitting, chosen))


@njit(cache=True)
def thin(
    sites: Sites, standing: Standing, tables: Tables, types: Ints, fitting: NDArray[np.bool_], order: Ints
) -> None:
    """Close sites in the given order wherever others can do without them, if they are given dearer servers at a gain.

    In the end all get the cheapest that suffice.
    """
    earlier = np.zeros(len(types), np.int64)
    for site in order:
        number = types[site]
        if not number:
            continue
        earlier[:] = types
        price, dearer = standing.totals[0], False
        put(sites, standing, tables, types, site, 0)
        for other in range(len(types)):
            if standing.excess[other] > 0:
                better = sufficient(standing, tables, fitting, other)
                if not better:
                    break
                put(sites, standing, tables, types, other, better)
                dearer = True
        if standing.totals[2] + standing.totals[3] > 0 or (dearer and standing.totals[0] > price):
            put(sites, standing, tables, types, site, number)
            for other in range(len(types)):
                put(sites, standing, tables, types, other, earlier[other])
    for site in order:
        if types[site]:
            number = sufficient(standing, tables, fitting, site)
            if number:
                put(sites, standing, tables, types, site, number)


@njit(cache=True)
def sufficient(standing: Standing, tables: Tables, fitting: NDArray[np.bool_], site: int) -> int:
    """Return the cheapest type that takes the clients a site has now; 0 if none does."""
    best = 0
    level = max(0, standing.farthest[site] - 1)
    for kind in range(len(tables.opening)):
        fits = fitting[kind, site] and tables.capacity[kind, site, level] >= standing.load[site]
        if fits and (best == 0 or tables.opening[kind, site] < tables.opening[best - 1, site]):
            best = kind + 1
    return best


@njit(cache=True)
def cheapest(tables: Tables, fitting: NDArray[np.bool_], site: int) -> int:
    """Return the cheapest type that a site can have in some feasible placement; 0 if there is none."""
    best = 0
    for kind in range(len(tables.opening)):
        if fitting[kind, site] and (best == 0 or tables.opening[kind, site] < tables.opening[best - 1, site]):
            best = kind + 1
    return best


def mended(problem: TypePlacement, sites: Sites, decision: Decision, order: Ints, closing: Ints) -> Decision:
    """A feasible placement near `decision`, see `TypePlacement.repair`."""
    tables, fitting = tables_of(problem, priced=False), problem.fitting
    own = own_tables(sites, tables)._replace(numbers=np.array([problem.numbers[0], np.inf]))  # too many overload nobody
    types = np.zeros(len(decision), np.int64)
    standing = standing_of(own, types)
    for site, number in enumerate(decision):
        if problem.allowed[site] and (number or problem.fixed[site] == OPEN):
            fits = number > 0 and bool(fitting[number - 1, site])
            put(own, standing, tables, types, site, number if fits else cheapest(tables, fitting, site))
    mend(own, standing, tables, types, fitting, order)
    # Where distance has a price, a site that costs nothing is superfluous only if there are more than may be.
    prices = problem.site_prices.reshape(len(problem.server_types), -1).min(axis=0)
    useful = (prices[closing] == 0) & (problem.distance_price > 0)
    thin(own, standing, tables, types, fitting, closing[~useful])
    for place in np.flatnonzero(useful):
        if standing.totals[5] <= problem.numbers[1]:
            break
        thin(own, standing, tables, types, fitting, closing[place : place + 1])
    return tuple(types.tolist())
