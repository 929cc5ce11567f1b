"""The engine `sat`: clauses made shorter, and a SAT solver that decides whether anything is cheaper."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from ..clauses.counter import Counter, counter
from ..clauses.operating import Operated
from ..clauses.pool import Clause
from ..clauses.refutation import Limited
from ..clauses.units import Units
from . import deciding
from .deciding import Decider
from .shortening import Shortener

if TYPE_CHECKING:
    from ..clauses.search import Search
    from ..problem import PlacementProblem

#: Most units in the best cost: a counter grows with them.
FINEST = 4096

#: Sites so near to a cell, by rank, are neighbours where distances are no steps.
NEAREST = 3

#: Seconds of work on clauses between two looks at everything else.
SLICE = 0.1

#: Placements that a solver of the clauses known proposes, from which others are made: for each site so many before
#: other engines begin, and the square of the number of sites divided by this before anything is decided here,
#: unless a batch of so many gives nothing new; as many after an answer that gave something.
FIRST, DIVISOR, BATCH = 8, 6, 100

#: Shares of sites that are open in them where nothing speaks against it.
WANTED = (0.02, 0.1, 0.25)

#: The first try to raise a bound may take so long; a try that takes longer is followed by a smaller step.
PATIENCE = 1.0


def counting_order(problem: PlacementProblem) -> list[int]:
    """Sites in an order in which neighbours stand near: along the short side of a grid, else reverse Cuthill-McKee."""
    sites = problem.layout.sites
    if problem.shape is not None:
        rows, columns = problem.shape
        cells = np.arange(sites).reshape(rows, columns)
        return [int(site) for site in (cells.T if rows < columns else cells).ravel()]
    if problem.layout.stepwise:
        near = csr_array(problem.distances <= 2)
    else:  # sites that are both among the nearest of some cell
        close = csr_array((problem.layout.ranks <= NEAREST).astype(np.int64))
        near = csr_array((close.T @ close) > 0)
    return [int(site) for site in reverse_cuthill_mckee(near, symmetric_mode=True)]


@dataclass(eq=False)
class Question:
    """A decider at work on a limit."""

    most: int
    best: float  #: the best cost known when it was asked
    units: Units
    clauses: tuple[Clause, ...]  #: those known when it was asked, as they were made
    lemmas: tuple[Clause, ...]  #: and as they were shortened
    dear: tuple[Clause, ...]
    limits: tuple[Limited, ...]
    drat: Path | None
    decider: Decider
    began: float
    patience: float


@dataclass(eq=False)
class Sat:
    """Shortens clauses, and asks whether anything is cheaper than the best, until nothing is.

    Parameters
    ----------
    search
        What all engines share.
    alone
        Whether no other engine proves bounds: then a second process raises one from below.
    """

    search: Search
    alone: bool
    order: list[int] = field(init=False)
    strong: dict[Clause, None] = field(default_factory=dict)
    top: Question | None = None
    rising: Question | None = None
    counts: dict[str, int] = field(default_factory=lambda: {"decided": 0, "proposed": 0})
    shortener: Shortener | None = None
    work: Iterator[None] | None = None
    step: float = 0.5  #: of the gap, by which the bound is to rise
    ready: bool = False  #: to let other engines begin
    whole: bool = False  #: whether all clauses known are among the strong ones, or follow from them
    limits: list[Counter] = field(default_factory=list)  #: of the source, as clauses
    first: int = 1  #: the first variable free for others

    def __post_init__(self) -> None:
        self.order = counting_order(self.search.problem)
        source = self.search.source
        if isinstance(source, Operated):  # steps stand beside their site
            steps = [
                range(source.first_step(site) - 1, source.first_step(site + 1) - 1) for site in range(source.sites)
            ]
            self.order = [variable for site in self.order for variable in (site, *steps[site])]
        self.first = source.variables + 1
        for limit in source.limits:
            weights = np.zeros(source.variables, np.int64)
            weights[list(limit.variables)] = limit.weights
            self.limits.append(counter(weights.tolist(), list(limit.variables), limit.most, self.first))
            self.first = self.limits[-1].variables + 1

    # -- clauses ------------------------------------------------------------------------------------------------------

    def preparing(self) -> Iterator[None]:
        """Shorten all clauses, let a solver propose placements that keep them, shorten what these give."""
        search = self.search
        self.shortener = Shortener(search.pool, search.rng)
        for limit in self.limits:
            self.shortener.know(limit.tuples())
        for clause in list(search.pool):
            self.strong[self.shortener.shorten(clause)] = None
            yield
        self.whole = True
        yield from self.proposing(max(BATCH, FIRST * search.source.sites) // search.source.copies)
        yield from self.again()

    def completing(self) -> Iterator[None]:
        """Let it propose more, until little is left to find."""
        source = self.search.source
        while self.counts["proposed"] < source.sites**2 // DIVISOR // source.copies:
            known, before = len(self.search.pool), self.counts["proposed"]
            yield from self.proposing(BATCH)
            if len(self.search.pool) == known or self.counts["proposed"] == before:
                break
        yield from self.again()

    def again(self) -> Iterator[None]:
        """Shorten all clauses once more."""
        assert self.shortener is not None
        twice: dict[Clause, None] = {}
        for clause in list(self.strong):
            twice[self.shortener.shorten(clause)] = None
            yield
        self.strong = twice

    def proposing(self, count: int) -> Iterator[None]:
        """Let a solver propose placements that keep all clauses known, and learn from those that are infeasible."""
        search = self.search
        assert self.shortener is not None
        for _ in range(count):
            proposed = self.shortener.model(search.source.sites, wanted=float(search.rng.choice(WANTED)))
            if proposed is None:
                return
            self.counts["proposed"] += 1
            self.take(search.learn(proposed))
            if search.source.keeps(proposed):
                search.judge(proposed)
            yield

    def take(self, clauses: list[Clause]) -> None:
        """Take in clauses that were made elsewhere."""
        if self.shortener is None:
            return
        self.shortener.know(clauses)
        for clause in clauses:
            self.strong[self.shortener.shorten(clause)] = None

    # -- questions ----------------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """Do what there is to do, for about `SLICE` seconds."""
        until = time.monotonic() + SLICE
        if not self.ready and self.work is None:
            self.work = self.preparing()
        while self.work is not None and time.monotonic() < until:
            if next(self.work, self) is self:
                self.work = None if self.ready else self.completing()
                self.ready = True
        if self.work is not None:
            return
        self.ask_for_cheaper()
        if self.alone:
            self.raise_bound()

    def ask_for_cheaper(self) -> None:
        """Keep the question whether anything is cheaper than the best under way, and take its answer."""
        best = self.search.cost
        if self.top is not None and self.top.best > best:
            self.top.decider.close()
            self.top = None
        if self.top is None:
            units = self.search.units(FINEST)
            self.top = self.ask(units, units.most_below(best))
            return
        if not self.top.decider.done():
            return
        question, self.top = self.top, None
        with question.decider as decider:
            if decider.impossible:
                self.refuted(question)
            else:
                self.answered(decider.placement())

    def raise_bound(self) -> None:
        """Keep a question under way whose answer "no" raises the bound: half the gap, less if that takes too long."""
        units = self.search.units(FINEST)
        known = int(np.floor(self.search.bound / units.unit * (1 + 1e-12) + 1e-9)) if units.unit else 0
        target = units.most_below(self.search.cost)
        if self.rising is None:
            most = known + max(0, int(self.step * (target - known)) - 1)
            if known <= most < target:
                self.rising = self.ask(units, most)
            return
        question = self.rising
        late = time.monotonic() - question.began > question.patience
        if not question.decider.done() and not (late and question.most > known):
            return
        self.rising = None
        with question.decider as decider:
            if not decider.done():
                self.step *= 0.5
            elif decider.impossible:
                self.search.prove_bound(units.worth(question.most + 1))
            else:
                self.answered(decider.placement())

    def ask(self, units: Units, most: int) -> Question:
        """Ask whether a placement keeps all clauses known and costs `most` units at most."""
        search = self.search
        keeper = search.keeper
        priced = counter(units.prices.tolist(), self.order, most, self.first)
        limits = (Limited("cost", most, tuple(self.order), priced), *search.cardinality(priced.variables + 1))
        strong, dear = tuple(self.strong), tuple(search.dear)
        drat = None if keeper is None else keeper.folder / f"most-{most}.drat"
        counters = [*self.limits, *(limit.counter for limit in limits)]
        decider = Decider(search.source.variables, [*strong, *dear], counters, search.oracle.remaining_seconds, drat)
        now = time.monotonic()
        patience = PATIENCE + 0.5 * search.oracle.seconds
        known, lemmas = tuple(search.pool), tuple(self.shortener.lemmas if self.shortener else ())
        return Question(most, search.cost, units, known, lemmas, dear, limits, drat, decider, now, patience)

    def refuted(self, question: Question) -> None:
        """Nothing is cheaper: the best is optimal."""
        search = self.search
        self.counts["decided"] += 1
        if question.best != search.cost:
            return
        search.prove("sat")
        if search.keeper is not None:
            search.keeper.keep(
                search.known(
                    question.units,
                    clauses=question.clauses,
                    lemmas=question.lemmas,
                    dear=question.dear,
                    limits=question.limits,
                    bound=None if search.oracle.best is None else search.cost,
                    engine="sat",
                    versions=deciding.version(),
                    drat=question.drat,
                )
            )

    def answered(self, placement: NDArray[np.uint8] | None) -> None:
        """Learn from a placement that keeps all clauses known; ``None``: the time was over."""
        if placement is None:
            return
        source = self.search.source
        point, placement = placement, placement[: source.sites]
        self.counts["decided"] += 1
        new = self.search.learn(placement)
        self.take(new)
        if new:  # one answer may have taken long: nobody should get another like it
            self.work = self.proposing(BATCH)
        if isinstance(source, Operated) and source.keeps(placement):
            self.take(self.search.pool.add(source.rises(point, self.search.rng)))
        if self.search.judge(placement) is False:  # what was rounded down lets such placements through
            self.search.cut_off(placement)

    def close(self) -> None:
        """End all processes."""
        for question in (self.top, self.rising):
            if question is not None:
                question.decider.close()
        if self.shortener is not None:
            self.shortener.close()
