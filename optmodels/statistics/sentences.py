"""A comparison in words: who is better, where, and how surely; never more than the tests support.

"Better" is said only of a corrected p-value below the level. A difference that is not shown is called so, which does
not say that there is none; and without six problems that differ there is no test.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .pairs import FEWEST_DIFFERENT, PairedTest
from .scores import Standing, Statistics


def sentences_of(statistics: Statistics) -> tuple[str, ...]:
    """Tell a comparison in whole sentences, the verdict first.

    Parameters
    ----------
    statistics
        All but its sentences.

    Returns
    -------
    tuple of str
        Plain text; names of problems and strategies stand in it as they are.
    """
    if not statistics.strategies:
        return ("No run was finished.",)
    return (
        _verdict(statistics),
        *(_pair(test, sum(one.p_value is not None for one in statistics.tests)) for test in statistics.tests),
        *(_standing(standing) for standing in statistics.standings.values() if standing.runs),
        *_where(statistics),
        *_doubts(statistics),
    )


def _verdict(statistics: Statistics) -> str:
    count = len(statistics.problems)
    if len(statistics.strategies) == 1:
        return f"Only {statistics.strategies[0]} was run: there is nothing to compare it with."
    made = [test for test in statistics.tests if test.p_value is not None]
    if not made:
        return (
            f"On {_count(count, 'problem')} nobody can be said to be better: six or more that differ are needed for a "
            "test."
            if count < FEWEST_DIFFERENT
            else f"Nobody can be said to be better: no two strategies differ on six or more of the {count} problems."
        )
    for name in statistics.strategies:
        own = [test for test in statistics.tests if name in (test.first, test.second)]
        if all(test.winner == name for test in own):
            others = "the other strategy" if len(own) == 1 else f"each of the {len(own)} other strategies"
            shared = max(test.pairs for test in own)
            return f"{name} is better than {others}, by median gap on {_count(shared, 'problem')}."
    if any(test.winner for test in made):
        return "No strategy is shown to be better than all others; some are better than some."
    return "No strategy is shown to be better than another."


def _pair(test: PairedTest, made: int) -> str:
    first, second, tally = test.first, test.second, _tally(test)
    if not test.pairs:
        return f"{first} and {second} have no problem in common."
    if not test.differing:
        return f"{first} and {second} have the same median gap on {_every(test.pairs)}."
    if test.p_value is None or test.adjusted is None or test.effect is None:
        return (
            f"{first} and {second} differ on {test.differing} of {_count(test.pairs, 'problem', figures=True)}, "
            f"too few for a test: {tally}."
        )
    corrected = f" after Holm's correction for {made} tests" if made > 1 else ""
    sure = f"p = {test.adjusted:.2g}{corrected}, effect {abs(test.effect):.2f}"
    if test.winner is None:
        return f"Between {first} and {second} no difference is shown: {tally} ({sure})."
    loser = second if test.winner == first else first
    return f"{test.winner} is better than {loser}: {tally} ({sure})."


def _tally(test: PairedTest) -> str:
    equal = f", the same on {test.ties}" if test.ties else ""
    return f"{test.first} has the lower gap on {test.wins}, {test.second} on {test.losses}{equal}"


def _standing(standing: Standing) -> str:
    said = f"{standing.strategy}: median gap {percent(standing.median_gap)}"
    if standing.interval is not None:
        low, high = percent(standing.interval.low), percent(standing.interval.high)
        said += f" ({100 * standing.interval.confidence:.2g}% interval {low} to {high})"
    said += f", worst {percent(standing.worst_gap)}"
    reached = round(standing.solved * standing.runs)
    return f"{said}; {reached} of {_count(standing.runs, 'run', figures=True)} reached the best value known."


def _where(statistics: Statistics) -> list[str]:
    if len(statistics.strategies) < 2 or len(statistics.problems) < 2:
        return []
    ahead = sorted(statistics.standings.values(), key=lambda standing: -standing.best_on)
    told = ", ".join(f"{standing.strategy} on {standing.best_on}" for standing in ahead)
    return [f"Lowest median gap, ties counted for all, of {len(statistics.problems)} problems: {told}."]


def _doubts(statistics: Statistics) -> list[str]:
    """What a reader must know before believing the rest."""
    said = [one.contradiction for one in statistics.references.values() if one.contradiction]
    references = statistics.references.values()
    open_ones = [one.problem for one in references if one.value is not None and not one.proved]
    if open_ones:
        said.append(
            f"{_count(len(open_ones), 'problem', capital=True)} of {len(statistics.problems)} "
            f"{'has' if len(open_ones) == 1 else 'have'} no proved optimum: gaps there are to the best value known, "
            "and may be too small."
        )
    empty = [one.problem for one in references if one.value is None]
    if empty:
        said.append(f"Nobody found a feasible decision for {_listed(empty)}.")
    for standing in statistics.standings.values():
        name, runs = standing.strategy, _count(standing.runs, "run", figures=True)
        if standing.failed:
            said.append(f"{name} failed in {standing.failed} of {runs}, which counts as worse than any answer.")
        if standing.unanswered:
            said.append(f"{name} found nothing feasible in {standing.unanswered} of {runs}.")
        if standing.not_applicable:
            said.append(f"{name} is not applicable to {_listed(standing.not_applicable)}.")
    if statistics.scores and all(score.runs == 1 for score in statistics.scores.values()):
        said.append("Each strategy had one run per problem: nothing is known of how it varies with the seed.")
    return said


def percent(gap: float) -> str:
    """Write a gap in percent, so that one that is not 0 never looks like 0.

    Parameters
    ----------
    gap
        Relative; infinite without an answer, and beside a reference of 0.

    Returns
    -------
    str
        Such as ``1.25%``, ``<0.01%`` or ``inf``.
    """
    if math.isnan(gap):
        return "-"
    if math.isinf(gap):
        return "inf"
    return "<0.01%" if 0 < gap < 5e-5 else f"{gap:.2%}"


def _count(number: int, noun: str, *, figures: bool = False, capital: bool = False) -> str:
    word = str(number) if number != 1 or figures else "One" if capital else "one"
    return f"{word} {noun}{'' if number == 1 else 's'}"


def _every(number: int) -> str:
    return "the one problem" if number == 1 else f"all {number} problems"


def _listed(names: Sequence[str]) -> str:
    """Name a few, and count the rest."""
    shown = list(names[:5])
    rest = len(names) - len(shown)
    return ", ".join(shown) + (f" and {_count(rest, 'other', figures=True)}" if rest else "")
