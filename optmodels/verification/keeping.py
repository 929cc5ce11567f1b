"""Proofs that runs keep in files, by strategies that can."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, Protocol, TypeVar, runtime_checkable

import heuristics
from heuristics import Problem, Strategy

from ..errors import RequestError

R = TypeVar("R", bound=heuristics.Result)


class Kept(Protocol):
    """What became of a file."""

    @property
    def complete(self) -> bool:
        """Whether it holds a proof, not a checkpoint."""

    @property
    def unwritten(self) -> str | None:
        """Why it could not be written, a sentence."""

    @property
    def sha256(self) -> str | None:
        """Of what was proved to be contradictory."""


@runtime_checkable
class ProofKeeping(Protocol):
    """A strategy that can keep a proof of its answer in a file."""

    def keep_proof(
        self, problem: Problem, path: str | os.PathLike[str], *, resume: bool = False
    ) -> AbstractContextManager[Kept]: ...


@contextmanager
def kept_proof(
    strategy: Strategy, problem: Problem, path: str | os.PathLike[str] | None, *, resume: bool = False
) -> Iterator[Callable[[R], R]]:
    """Let the runs of a strategy on a problem keep their proof in this block.

    Parameters
    ----------
    strategy, problem
        Who is asked what.
    path
        Of the file; ``None``: nothing is kept.
    resume
        Whether to go on from the checkpoint that the file is.

    Yields
    ------
    Callable
        Adds to a result, as ``extra["proof"]``, what became of the file.

    Raises
    ------
    RequestError
        One sentence: the strategy keeps no proofs, the file cannot be written, or it is no checkpoint of this problem.
    """
    if path is None:
        if resume:
            raise RequestError("to go on from a checkpoint, name its file: --proof FILE --resume.")
        yield lambda result: result
        return
    if not isinstance(strategy, ProofKeeping):
        told = f"strategy {strategy.name!r} keeps no proof in a file"
        raise RequestError(f"{told}; take the strategy 'clauses', which is for problems of kind placement.")
    file = os.fspath(path)
    with strategy.keep_proof(problem, file, resume=resume) as kept:

        def with_proof(result: R) -> R:
            about: dict[str, Any] = {"file": file, "complete": kept.complete, "sha256": kept.sha256}
            if kept.unwritten is not None:
                about["unwritten"] = kept.unwritten
            return replace(result, extra={**result.extra, "proof": about})

        yield with_proof
