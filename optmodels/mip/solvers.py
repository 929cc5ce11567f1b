"""Solvers by name: those built in, and those that other distributions offer in the group ``optmodels.solvers``.

A solver is a record (`Solver`) that says where its backend is found and what must be installed. Nothing of the solver
itself is imported here: that is done by the process in which it runs.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass

from ..errors import RequestError
from ..registry import solvers, tell_once


@dataclass(frozen=True)
class Solver:
    """A solver one can name.

    Parameters
    ----------
    backend
        ``"module:function"``, imported by the solver's own process only; see `optmodels.mip.worker`.
    package
        What must be installed.
    extra
        The extra of optmodels that installs it, ``None`` if it is always there.
    about
        What it is, and which programs it takes, in one line.

    Examples
    --------
    >>> from optmodels.mip import Solver
    >>> Solver("mine:solve", "no_such_package").missing("mine")
    "solver 'mine' needs the package no_such_package: pip install no_such_package"
    """

    backend: str
    package: str
    extra: str | None = None
    about: str = ""

    def missing(self, name: str) -> str | None:
        """What to install, in a sentence, if anything."""
        if importlib.util.find_spec(self.package) is not None:
            return None
        if self.extra is None:
            return f"solver {name!r} needs the package {self.package}: pip install {self.package}"
        return f"solver {name!r} needs the extra: pip install optmodels[{self.extra}]"


HIGHS = Solver("optmodels.mip.highs:solve", "highspy", about="HiGHS: linear programs, with whole numbers or without")
SCIP = Solver("optmodels.mip.scip:solve", "pyscipopt", "scip", "SCIP: linear programs, with whole numbers or without")
CPSAT = Solver("optmodels.mip.cpsat:solve", "ortools", "cpsat", "CP-SAT of OR-Tools: programs of whole numbers only")


class Solvers(MutableMapping[str, Solver]):
    """Solvers by name, loaded when they are asked for; what is put in holds for the life of this process."""

    def __init__(self) -> None:
        self._own: dict[str, Solver] = {}

    def __getitem__(self, name: str) -> Solver:
        if name not in self:  # as mappings have it; whoever chooses a solver is told in a sentence
            raise KeyError(name)
        found: Solver = self._own[name] if name in self._own else solvers[name]
        return found

    def __setitem__(self, name: str, solver: Solver) -> None:
        self._own[name] = solver

    def __delitem__(self, name: str) -> None:
        del self._own[name]

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in solvers

    def __iter__(self) -> Iterator[str]:
        order = {"highs": 0, "scip": 1, "cpsat": 2}
        return iter(sorted({*solvers, *self._own}, key=lambda name: (order.get(name, len(order)), name)))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def sound(self) -> dict[str, Solver]:
        """All that can be loaded; one that cannot is named once, and passed by."""
        found = {}
        for name in self:
            try:
                found[name] = self[name]
            except RequestError as failure:
                tell_once(f"{solvers.group}:{name}", f"{failure} It is ignored.")
        return found


#: Solvers by name.
SOLVERS = Solvers()
