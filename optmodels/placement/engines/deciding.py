"""Is there a placement that keeps all clauses? Asked of a SAT solver in a process of its own."""

from __future__ import annotations

import importlib.metadata
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from ..clauses.counter import Counter
from ..clauses.pool import Clause
from . import shortening

#: What solvers of the yearly competition answer by.
SATISFIABLE, UNSATISFIABLE = 10, 20


@cache
def kissat() -> str | None:
    """Where the program kissat is: on the path, or in the package passagemath-kissat; ``None`` if it is not here."""
    found = shutil.which("kissat")
    if found is not None:
        return found
    try:
        files = importlib.metadata.files("passagemath-kissat") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == "kissat" and (place := Path(str(file.locate()))).is_file() and os.access(place, os.X_OK):
            return str(place)
    return None


def missing() -> str | None:
    """Tell what to install for the engine `sat`, in a sentence; ``None`` if all is here.

    Returns
    -------
    str or None
        The sentence.

    Examples
    --------
    >>> missing() in (None, "engine 'sat' needs the extra: pip install 'optmodels[sat]'")
    True
    """
    if shortening.available():
        return None
    return "engine 'sat' needs the extra: pip install 'optmodels[sat]'"


@cache
def version() -> dict[str, str]:
    """Name and version of the program that decides."""
    program = kissat()
    if program is None:
        return {"cadical": f"1.9.5 of python-sat {importlib.metadata.version('python-sat')}"}
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    return {"kissat": told}


class Decider:
    """A question under way: these clauses, and a limit on cost.

    Parameters
    ----------
    sites
        How many variables are sites: the first ones.
    clauses
        Over sites.
    counters
        Clauses over sites and variables of their own.
    seconds
        Time limit.
    drat
        Where to write a proof, if anywhere: one whose steps follow by propagation.
    """

    def __init__(
        self,
        sites: int,
        clauses: Iterable[Clause],
        counters: Iterable[Counter] = (),
        seconds: float = math.inf,
        drat: Path | None = None,
    ) -> None:
        self.sites = sites
        self._folder = tempfile.TemporaryDirectory(prefix="optmodels-")
        question = Path(self._folder.name) / "question.cnf"
        question.write_bytes(dimacs(sites, clauses, counters))
        self._answer: IO[bytes] = (Path(self._folder.name) / "answer").open("w+b")
        program = kissat()
        if program is not None:
            command = [program, "-q", str(question)]
            if math.isfinite(seconds):
                command.insert(2, f"--time={max(1, math.ceil(seconds))}")
            if drat is not None:  # without bounded variable addition, whose steps only keep satisfiability
                command[2:2] = ["--factor=0", "--force"]
                command.append(str(drat))
        else:
            command = [sys.executable, "-P", str(Path(__file__).with_name("cadical.py")), str(question)]
            if drat is not None:
                command.append(str(drat))
        # A group of its own: a signal to the group of processes is for the parent, which decides what it means.
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self._answer, stderr=subprocess.DEVNULL, process_group=0
        )

    def done(self) -> bool:
        """Whether the program has ended."""
        return self._process.poll() is not None

    def wait(self, seconds: float) -> bool:
        """Wait for the end, but not for long."""
        try:
            self._process.wait(max(0.0, seconds))
        except subprocess.TimeoutExpired:
            return False
        return True

    @property
    def impossible(self) -> bool:
        """Whether the answer was that there is none."""
        return self._process.returncode == UNSATISFIABLE

    def placement(self) -> NDArray[np.uint8] | None:
        """The sites that are open in the answer; ``None`` if there is no answer, or there is none."""
        if self._process.returncode != SATISFIABLE:
            return None
        self._answer.seek(0)
        found = np.zeros(self.sites, np.uint8)
        for line in self._answer:
            if line.startswith(b"v"):
                for literal in map(int, line[1:].split()):
                    if 0 < literal <= self.sites:
                        found[literal - 1] = 1
        return found

    def close(self) -> None:
        """End the process if it still runs, and remove its files."""
        self._process.kill()
        self._process.wait()
        self._answer.close()
        self._folder.cleanup()

    def __enter__(self) -> Decider:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def dimacs(sites: int, clauses: Iterable[Clause], counters: Iterable[Counter] = ()) -> bytes:
    """Write clauses as solvers read them.

    Parameters
    ----------
    sites
        The least number of variables.
    clauses, counters
        What must hold.

    Returns
    -------
    bytes
        A file in the DIMACS format.

    Examples
    --------
    >>> print(dimacs(3, [(1, -2), (3,)]).decode())
    p cnf 3 2
    1 -2 0
    3 0
    <BLANKLINE>
    """
    lines = [" ".join(map(str, clause)) for clause in clauses]
    variables = sites
    for counted in counters:
        variables = max(variables, counted.variables)
        lines += [" ".join(map(str, clause)) for clause in counted.tuples()]
    body = " 0\n".join(lines) + " 0\n" if lines else ""
    return f"p cnf {variables} {len(lines)}\n{body}".encode()
