r"""What gaps are measured from: for every problem the best value known, and whether it is proved to be best.

The value is the lowest of what the file of the problem calls best known and what the runs found. It is proved if the
file says so (``"proved": true``), if a run proved its answer optimal, or if the best bound of all runs meets the best
objective of all. Every such claim is a lower bound; an answer below one of them, by more than two computations of one
number may differ (1e-6, relative), contradicts it, and then nothing counts as proved.

An answer beyond the decisions that a problem lists (a policy by state, where thresholds are asked for) may be better
than the best of these. It contradicts nothing and is no reference, unless there is no other; its bounds hold for all.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from heuristics import AGREEMENT, OPTIMALITY_TOLERANCE, Budget, Result, Status

#: Where the value of a reference comes from: the file, a proof among the runs, or a run that proves nothing.
BEST_KNOWN, OPTIMUM, BEST_SEEN = "best known", "optimum", "best seen"

#: The status of a run whose strategy cannot treat its problem: no failure, and never held against it.
NOT_APPLICABLE = "not applicable"


class JudgedRun(Protocol):
    """One run of a comparison, as `optmodels.studies` makes them."""

    @property
    def problem(self) -> str: ...
    @property
    def strategy(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def result(self) -> Result: ...
    @property
    def error(self) -> str | None: ...
    @property
    def status(self) -> str: ...
    @property
    def beyond(self) -> bool: ...


class Compared(Protocol):
    """Runs under one budget, with the best known objectives of their problems: what `judge` takes."""

    @property
    def runs(self) -> Sequence[JudgedRun]: ...
    @property
    def best_known(self) -> Mapping[str, float]: ...
    @property
    def budget(self) -> Budget: ...


@dataclass(frozen=True)
class Reference:
    """What gaps on a problem are measured from.

    Parameters
    ----------
    problem
        Its name.
    value
        The best objective known; ``None`` if there is none.
    source
        ``"best known"`` (of the file), ``"optimum"`` (proved by the runs), ``"best seen"`` (found by a run, not
        proved), or empty without a value.
    proved
        Nothing better can exist.
    bound
        The highest bound that a run proved; ``None`` without one.
    contradiction
        What is wrong if an answer lies below what was claimed to be best, in a sentence.

    Examples
    --------
    >>> Reference("p", 8.0, "optimum", True).label
    'optimum'
    >>> Reference("p", 8.0, "best known", True).label
    'best known, proved'
    """

    problem: str
    value: float | None
    source: str
    proved: bool
    bound: float | None = None
    contradiction: str | None = None

    @property
    def label(self) -> str:
        """What it is, in a few words."""
        return f"{self.source}, proved" if self.proved and self.source != OPTIMUM else self.source


def references_of(
    runs: Sequence[JudgedRun], best_known: Mapping[str, float], proved: Collection[str] = ()
) -> dict[str, Reference]:
    """Find what gaps are measured from, for every problem of some runs.

    Parameters
    ----------
    runs
        Of the comparison; those that failed say nothing.
    best_known
        Best objectives that files give, by problem, as far as the evaluator has confirmed them.
    proved
        Problems whose file says that its best known is proved.

    Returns
    -------
    dict
        A reference per problem, in the order of the runs.
    """
    groups: dict[str, list[JudgedRun]] = {}
    for run in runs:
        group = groups.setdefault(run.problem, [])
        if run.error is None:
            group.append(run)
    return {
        problem: _reference(problem, group, best_known.get(problem), problem in proved)
        for problem, group in groups.items()
    }


def comparable(runs: Sequence[JudgedRun], known: float | None = None) -> list[Result]:
    """The results whose answers are held against one another: those that are listed, or all if none else is known.

    Parameters
    ----------
    runs
        On one problem.
    known
        What its file calls best known.

    Returns
    -------
    list
        In the order of the runs.
    """
    listed = [run.result for run in runs if not run.beyond]
    alone = known is None and all(result.objective is None for result in listed)
    return [run.result for run in runs] if alone else listed


def _reference(problem: str, runs: Sequence[JudgedRun], known: float | None, told: bool) -> Reference:
    results = comparable(runs, known)
    seen = [value for result in results if (value := result.objective) is not None and math.isfinite(value)]
    optima = [
        value
        for result in results
        if result.status == Status.OPTIMAL and (value := result.objective) is not None and math.isfinite(value)
    ]
    bounds = [value for run in runs if (value := run.result.bound) is not None and math.isfinite(value)]
    bound = max(bounds, default=None)
    values = [*seen, *([] if known is None else [known])]
    if not values:
        return Reference(problem, None, "", False, bound)
    value = min(values)
    claims = [(best, "a run proved {} optimal") for best in optima]
    claims += [(low, "a run proved the bound {}") for low in bounds]
    if known is not None and told:
        claims.append((known, "the file calls {} proved"))
        exact = [best for best in optima if abs(best - known) <= AGREEMENT * abs(known)]
        if exact and value == known:  # a file may round; what a run proved here has all digits
            value = min(exact)
    claim, words = max(claims, default=(-math.inf, ""))
    if value < claim - AGREEMENT * abs(claim):
        said = f"{problem}: {words.format(f'{claim:.10g}')}, but {value:.10g} was found; one of the two is wrong."
        return Reference(problem, value, BEST_KNOWN if value == known else BEST_SEEN, False, bound, said)
    if known is not None and told:
        return Reference(problem, value, BEST_KNOWN, True, bound)
    if any(value - low <= OPTIMALITY_TOLERANCE * abs(value) for low in [*optima, *bounds]):
        return Reference(problem, value, OPTIMUM, True, bound)
    return Reference(problem, value, BEST_KNOWN if value == known else BEST_SEEN, False, bound)
