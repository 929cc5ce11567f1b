"""The problems that take part in a comparison, and the best that is known of each."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from heuristics import Problem

from ...data import shipped_files
from ...errors import InstanceError, RequestError, printable
from ...instance import Instance, check_best_known
from ...kinds import resolve
from ...protocols import origin_of
from ...solving import ProblemLike, as_problem
from ..pool import sentence
from ..runs import problem_digest


@dataclass(frozen=True)
class Subject:
    """A problem that takes part.

    Parameters
    ----------
    label
        What people call it: its name, with a number behind it if another problem has the same.
    problem
        The problem itself.
    digest
        Checksum of what it is, see `optmodels.studies.runs.problem_digest`.
    best_known
        Objective of its instance that the evaluator has confirmed.
    warning
        Why the best-known objective is not used, if it is not.
    proved
        Whether its instance says that nothing better exists.
    """

    label: str
    problem: Problem
    digest: str
    best_known: float | None = None
    warning: str | None = None
    proved: bool = False

    @classmethod
    def of(cls, problem: Problem, label: str | None = None, digest: str | None = None) -> Subject:
        """Look at a problem: what it is, and whether its best-known objective holds."""
        best, warning = confirmed(problem)
        stated = origin_of(problem).best_known
        proved = best is not None and stated is not None and stated.proved
        return cls(label or problem.name, problem, digest or problem_digest(problem), best, warning, proved)


def subjects_of(problems: ProblemLike | Iterable[ProblemLike], taken: Mapping[str, str] | None = None) -> list[Subject]:
    """Load problems, each once, and find a name for each.

    Parameters
    ----------
    problems
        One or several; problems, instances, files and names as in `optmodels.solve`, and names of benchmark sets.
    taken
        Names that have been given, and the checksum of the problem that each stands for.

    Returns
    -------
    list of Subject
        In the order of the problems.
    """
    one = isinstance(problems, (str, os.PathLike, Instance, Problem)) or not isinstance(problems, Iterable)
    given: list[Any] = [problems] if one else list(cast(Iterable[Any], problems))
    if not given:
        raise RequestError("a comparison needs at least one problem.")
    names = dict(taken or {})
    subjects: dict[str, Subject] = {}
    for each in itertools.chain.from_iterable(map(_members, given)):
        problem = as_problem(each)
        digest = problem_digest(problem)
        label = free_label(problem.name, digest, names)
        if label not in subjects:  # else the same file by two paths
            names[label] = digest
            subjects[label] = Subject.of(problem, label, digest)
    return list(subjects.values())


def is_set(thing: object) -> bool:
    """Tell whether a text names a benchmark set of the package, and neither a file nor a shipped instance."""
    if not isinstance(thing, str) or thing in shipped_files() or os.path.exists(thing):
        return False
    return thing in resolve("optmodels.benchmarking.sets:shipped_sets")()


def _members(thing: Any) -> list[Any]:
    """Put the instances of a benchmark set in the place of its name, with what its solution file knows of each."""
    if not is_set(thing):
        return [thing]
    return list(resolve("optmodels.benchmarking.solutions:known_instances")(thing))


def free_label(name: str, digest: str, taken: Mapping[str, str]) -> str:
    """Find what a problem is called: its name, or its name and the first number that no other problem has."""
    number, label = 1, name
    while taken.get(label, digest) != digest:
        number += 1
        label = f"{name} ({number})"
    return label


def confirmed(problem: Problem) -> tuple[float | None, str | None]:
    """The best-known objective if the evaluator confirms it; else a sentence on why it is not used."""
    origin = origin_of(problem)
    best, file = origin.best_known, origin.file or problem.name
    if best is None:
        return None, None
    if best.decision is None:
        return None, f"{file}: best_known has no decision that would confirm its objective; it is not used."
    try:
        check_best_known(best, problem)
    except InstanceError as failure:
        return None, f"{str(failure.at(file)).rstrip('.')}; it is not used."
    except Exception as failure:  # the runs will tell more; one instance must not take the others down
        return None, f"{file}: best_known cannot be evaluated ({printable(sentence(failure))}); it is not used."
    return best.objective, None
