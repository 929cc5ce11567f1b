"""Clauses made shorter: literals that the others make superfluous are dropped."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..clauses.pool import Clause

#: Conflicts a solver may spend on the question whether one literal is needed.
CONFLICTS = 100


def available() -> bool:
    """Whether python-sat is installed."""
    return importlib.util.find_spec("pysat") is not None


class Shortener:
    """An incremental solver that knows all clauses so far (python-sat's Glucose 4).

    Parameters
    ----------
    clauses
        Those known.
    rng
        Literals are tried in random order, closed sites first.
    """

    def __init__(self, clauses: Iterable[Clause], rng: np.random.Generator) -> None:
        from pysat.solvers import Glucose4

        self._solver: Any = Glucose4(bootstrap_with=[list(clause) for clause in clauses])
        self._rng = rng

    def know(self, clauses: Iterable[Clause]) -> None:
        """Take in more clauses."""
        for clause in clauses:
            self._solver.add_clause(list(clause))

    def shorten(self, clause: Clause) -> Clause:
        """Drop literals from a clause that follows from those known, while the rest still does.

        To see whether the rest follows, all its literals are assumed false: if that is impossible, those that the
        conflict needed are a clause that holds, perhaps shorter still. It is known from now on.
        """
        closed = [literal for literal in clause if literal < 0]
        opened = self._rng.permutation([literal for literal in clause if literal > 0])
        kept = list(clause)
        for literal in [*closed, *opened.tolist()]:
            if literal not in kept:
                continue
            rest = [other for other in kept if other != literal]
            if self._conflict([-other for other in rest]):
                core = set(self._solver.get_core() or [])
                kept = [other for other in rest if -other in core]
        if len(kept) == len(clause):
            return clause
        self._solver.add_clause(kept)
        return tuple(sorted(kept))

    def _conflict(self, assumed: list[int]) -> bool:
        self._solver.conf_budget(CONFLICTS)
        return self._solver.solve_limited(assumptions=assumed, expect_interrupt=True) is False

    def model(self, sites: int, conflicts: int = 20_000, wanted: float = 0.1) -> np.ndarray[Any, Any] | None:
        """A placement that keeps all clauses known, most of it closed where it can be; ``None`` if none was found.

        Parameters
        ----------
        sites
            How many there are.
        conflicts
            How long to look.
        wanted
            Share of sites that are opened if nothing speaks against it.
        """
        phases = np.arange(1, sites + 1) * np.where(self._rng.random(sites) < wanted, 1, -1)
        self._solver.set_phases(phases.tolist())
        self._solver.conf_budget(conflicts)
        if not self._solver.solve_limited(expect_interrupt=True):
            return None
        found = np.zeros(sites, np.uint8)
        for literal in self._solver.get_model():
            if 0 < literal <= sites:
                found[literal - 1] = 1
        return found

    def close(self) -> None:
        """Let go of the solver's memory."""
        self._solver.delete()
