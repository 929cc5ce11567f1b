"""Clauses made shorter: literals that the others make superfluous are dropped."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..clauses.pool import Clause


def available() -> bool:
    """Whether python-sat is installed."""
    return importlib.util.find_spec("pysat") is not None


class Shortener:
    """Incremental solvers that know all clauses so far (python-sat's Glucose 4): one propagates, one finds models.

    What the second learns on its way stays with it, so that what the first finds follows by propagation alone.

    Parameters
    ----------
    clauses
        Those known.
    rng
        Literals are tried in random order, closed sites first.
    """

    def __init__(self, clauses: Iterable[Clause], rng: np.random.Generator) -> None:
        from pysat.solvers import Glucose4

        listed = [list(clause) for clause in clauses]
        self._solver: Any = Glucose4(bootstrap_with=listed)
        self._finder: Any = Glucose4(bootstrap_with=listed)
        self._rng = rng
        self.lemmas: list[Clause] = []  #: what was found, in an order in which each follows from those before it

    def know(self, clauses: Iterable[Clause]) -> None:
        """Take in more clauses."""
        for clause in clauses:
            self._solver.add_clause(list(clause))
            self._finder.add_clause(list(clause))

    def shorten(self, clause: Clause) -> Clause:
        """Drop literals from a clause that follows from those known, while the rest still does.

        To see whether the rest follows, all its literals are assumed false: if that leads to a contradiction by unit
        clauses alone, the rest is a clause that holds, and is known from now on. No more is asked, so that a checker of
        proofs sees it, too.
        """
        closed = [literal for literal in clause if literal < 0]
        opened = self._rng.permutation([literal for literal in clause if literal > 0])
        kept = list(clause)
        for literal in [*closed, *opened.tolist()]:
            rest = [other for other in kept if other != literal]
            if not self._solver.propagate(assumptions=[-other for other in rest])[0]:
                kept = rest
        if len(kept) == len(clause):
            return clause
        shorter = tuple(sorted(kept))
        self.lemmas.append(shorter)
        self.know([shorter])
        return shorter

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
        self._finder.set_phases(phases.tolist())
        self._finder.conf_budget(conflicts)
        if not self._finder.solve_limited(expect_interrupt=True):
            return None
        found = np.zeros(sites, np.uint8)
        for literal in self._finder.get_model():
            if 0 < literal <= sites:
                found[literal - 1] = 1
        return found

    def close(self) -> None:
        """Let go of the solver's memory."""
        self._solver.delete()
        self._finder.delete()
