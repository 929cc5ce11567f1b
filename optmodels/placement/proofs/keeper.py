"""A run that keeps its proof: checkpoints on the way, the proof at the end, and how to go on from a checkpoint."""

from __future__ import annotations

import contextlib
import math
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heuristics import Decision, interrupting

from ...data import refuse_device, replaced
from ...errors import InstanceError, RequestError, UnwritableFile
from ...studies import problem_digest
from ..clauses.refutation import KEEPER, Limited, Refutation
from .matching import refuse, refuse_other
from .proof import Clause, Counted, Header, Proof, checksum, read_proof, write_proof
from .verifying import is_overload

if TYPE_CHECKING:
    from ..problem import PlacementProblem

#: Seconds between two checkpoints: some, and a share of the seconds so far.
EVERY, SHARE = 20.0, 0.05


@dataclass(eq=False)
class ProofKeeper:
    """Writes the proof of a run on a problem, and what an earlier run knew.

    Parameters
    ----------
    problem
        What is asked.
    path
        Of the file.
    folder
        For the files of solvers.
    clauses, decision
        To go on from; they were checked.
    complete
        Whether the file holds a proof.
    unwritten
        Why the file could not be written, a sentence.
    sha256
        Of the clauses that were proved to be contradictory.
    began, written
        When the run began, and when the file was written, in seconds of a clock.
    """

    problem: PlacementProblem
    path: Path
    folder: Path
    clauses: tuple[Clause, ...] = ()
    decision: NDArray[np.uint8] | None = None
    complete: bool = False
    unwritten: str | None = None
    sha256: str | None = None
    began: float = field(default_factory=time.monotonic)
    written: float = -math.inf

    @property
    def due(self) -> bool:
        """Whether the last checkpoint is old."""
        now = time.monotonic()
        return not self.complete and now - self.written > EVERY + SHARE * (now - self.began)

    def keep(self, found: Refutation) -> None:
        """Write a proof, or a checkpoint; that a disk is full costs a run nothing but the file."""
        if self.complete:
            return
        counted = [(limit, limit.counter.tuples()) for limit in found.limits]
        header = Header(
            format=1,
            problem=self.problem.name,
            digest=problem_digest(self.problem),
            complete=found.complete,
            objective=found.objective,
            decision=found.decision,
            bound=found.bound,
            prices=found.prices,
            unit=found.unit,
            overloads=len(found.clauses),
            dear=len(found.dear),
            counters=tuple(_counted(limit, len(clauses)) for limit, clauses in counted),
            engine=found.engine,
            versions=dict(found.versions),
            log=found.log,
        )
        clauses = [*found.clauses, *found.dear, *(clause for _, some in counted for clause in some)]
        self.written = time.monotonic()
        try:
            write_proof(self.path, header, clauses, found.drat, lemmas=found.lemmas)
        except UnwritableFile as failure:
            self.unwritten = str(failure)
        else:
            self.unwritten, self.complete = None, found.complete
            self.sha256 = checksum(clauses) if found.complete else None


def _counted(limit: Limited, clauses: int) -> Counted:
    counter = limit.counter
    return Counted(
        sum=limit.sum,
        most=limit.most,
        order=limit.order,
        first=counter.first,
        places=tuple(counter.places.tolist()),
        levels=tuple(counter.levels.tolist()),
        clauses=clauses,
    )


@contextmanager
def keeping(
    problem: PlacementProblem, path: str | os.PathLike[str], *, resume: bool = False, start: Decision | None = None
) -> Iterator[ProofKeeper]:
    """Keep the proof of a run of the strategy `clauses` on a problem in this block.

    Parameters
    ----------
    problem
        What is asked.
    path
        Of the file. While the run goes on it is a checkpoint, at the end the proof.
    resume
        Go on from the checkpoint that this file is. It is data: its clauses and its placement are judged by the
        evaluator before they are taken over, and its bound is not taken over, but proved anew.
    start
        A placement to begin with, where there is no checkpoint.

    Yields
    ------
    ProofKeeper
        It says whether the proof is complete, and why the file could not be written.

    Raises
    ------
    InstanceError
        If a checkpoint cannot be read, or is about another problem, or something in it does not hold.

    Examples
    --------
    >>> import tempfile
    >>> import optmodels as om
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with keeping(om.load("gautam-2x3"), f"{folder}/six.proof") as keeper:
    ...         pass  # a run of the strategy would be here
    >>> keeper.complete
    False
    """
    refuse_other(problem)
    refuse_unwritable(path)
    with tempfile.TemporaryDirectory(prefix="optmodels-") as folder:
        keeper = ProofKeeper(problem, Path(path), Path(folder))
        if start is not None:
            keeper.decision = np.array(problem.space.check(start), np.uint8)
        if resume:
            proof = read_proof(path, drat=False)
            try:
                keeper.decision = resumed(proof, problem)
            except InstanceError as failure:
                raise failure.at(str(path)) from None
            keeper.clauses = proof.overloads
        token = KEEPER.set(keeper)
        try:
            yield keeper
        finally:
            KEEPER.reset(token)


def refuse_unwritable(path: str | os.PathLike[str]) -> None:
    """Refuse, before any work, a file that cannot be written; nothing is written.

    Parameters
    ----------
    path
        Of the file.

    Raises
    ------
    RequestError
        One sentence with the file and the reason.
    """
    if not os.fspath(path):
        raise RequestError("the file for the proof has no name; give it one, or leave the option out.")
    if Path(path).is_dir():
        raise UnwritableFile("cannot be written: it is a folder.", os.fspath(path))
    refuse_device(path)
    with contextlib.suppress(_Tried), replaced(path):
        raise _Tried


class _Tried(Exception):  # noqa: N818 - carries nothing, and stays here
    """A file could be written, and what was written is given up."""


def resumed(proof: Proof, problem: PlacementProblem) -> NDArray[np.uint8] | None:
    """Judge a checkpoint by the evaluator, every clause of it, and return its placement; ``None`` if it has none.

    Parameters
    ----------
    proof
        As it was read.
    problem
        What it must be about.

    Raises
    ------
    InstanceError
        One sentence: it is a complete proof, or about another problem, or something in it does not hold.
    """
    refuse(proof, problem, complete=False)
    header = proof.header
    if header.complete:
        raise RequestError(
            "this proof is complete, there is nothing to go on with; check it with `optmodels verify-proof`."
        )
    for number, clause in enumerate(proof.overloads):
        interrupting.check()
        if not is_overload(problem, clause):
            shown = " ".join(map(str, clause[:12])) + (" ..." if len(clause) > 12 else "")
            rule = "it does not follow: with its open sites closed nobody is overloaded."
            raise InstanceError(f"clause {number + 1}", shown, rule)
    if header.decision is None:
        return None
    try:
        decision = problem.space.check(header.decision)
    except (ValueError, TypeError, OverflowError) as failure:
        raise InstanceError("decision", None, " ".join(str(failure).split())) from None
    if not problem.evaluate(decision).feasible:
        raise InstanceError("decision", "a placement", "it is not feasible, and a checkpoint keeps the best that is.")
    return np.array(decision, np.uint8)
