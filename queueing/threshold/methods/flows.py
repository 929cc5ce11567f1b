r"""All flows of a threshold queue from its stationary distribution, with what lies before each page that enters.

Rows over words of patience phases (see :mod:`queueing.threshold.methods.phase_words`), one for each level, are first
brought to the level masses that their own rates of obsolescence imply, which are found without a subtraction; pages
arriving, lost, out of date and served follow from these. Sojourn times follow Avrachenkov et al. (2011), theorem 4, as
in :mod:`queueing.threshold.methods.generator`: for a page with a pages before it, v and w are columns over words of a
letters, its own first. They are solved in the coordinates of the words, a level at a time, in one pass over all words;
only two levels are ever kept.

How accurate the flows of an iterative method are is told by two iterates (`judged`): if one with residual r' moves by d
until its residual is r, its error was about d and what is left of it is about d r / r'. That is said of each measure,
`SAFETY` times over.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numba import njit

from ...numerics import Matrix, Vector
from ..model import Flows, ModeByLevel, ThresholdModel, direct_error, direct_flows, parts_of_measures
from .chain import Chain, level_offsets, masses_of_hazards
from .phase_words import (
    Letters,
    Numbers,
    classes_of_words,
    reversed_letters,
    solve_level,
    sum_of_words,
    weights_of_words,
)

#: By place in the batch: probabilities of the outcomes, and mean times with them, over words and phases of service.
Outcomes = list[tuple[Numbers, Numbers]]

#: Factor between the error that two iterates let expect and the one that is told.
SAFETY = 5.0

#: Residual of the iterate to compare with, at least, by the one to end at.
COARSER = 30.0

# A measure that hardly moved, while others did, may have done so by chance: part of the largest move counts for it.
# One that moved by far less than others is known whatever the iterate (arrivals, where all modes bring as many).
_SHARE, _STILL = 0.01, 1e-5


def guessed_row(chain: Chain, letters: Letters) -> tuple[Numbers, Matrix]:
    """Guess the stationary row: phases of waiting pages are taken as those of a page met at any time.

    Parameters
    ----------
    chain
        one policy, as `chain_of` writes it.
    letters
        patience of one page.

    Returns
    -------
    row : Numbers
        the guess, over all states, in the coordinates of `letters`.
    masses : Matrix
        by level, its probabilities of (arrival phase, service phase).
    """
    # gamma (-Gamma)^{-1}, the mean times in phases, or gamma where pages never go out of date
    endless = not np.diagonal(letters.change).all()
    times = letters.start if endless else np.linalg.solve(-letters.change.T, letters.start)
    phases = times / (times @ letters.whole)
    rate = float((phases @ letters.fading).real)
    hazards = np.zeros((chain.top + 1, chain.inner))
    hazards[2:] = rate * np.arange(1, chain.top)[:, np.newaxis]
    masses = masses_of_hazards(chain, hazards)
    parts: list[Numbers] = [masses[0, : chain.climbs.shape[2]]]
    word: Numbers = np.ones(1, dtype=phases.dtype)
    for level in range(1, chain.top + 1):
        parts.append(np.outer(word, masses[level]).ravel())
        if level < chain.top:
            word = np.outer(phases, word).ravel()
    return np.concatenate(parts), masses


def balance(chain: Chain, letters: Letters, row: Numbers, weights: tuple[list[Numbers], list[Numbers]]) -> Matrix:
    """Bring a row, in place, to the level masses that its own rates of obsolescence imply.

    Parameters
    ----------
    chain
        one policy, as `chain_of` writes it.
    letters
        patience of one page.
    row
        approximate probabilities of all states; a level whose mass is lost in rounding keeps the rates of the level
        below it.
    weights
        `weights_of_words` of as many levels at least.

    Returns
    -------
    Matrix
        these masses: by level, probabilities of (arrival phase, service phase).
    """
    offsets = level_offsets(chain, letters.order)
    old, hazards = np.zeros((chain.top + 1, chain.inner)), np.zeros((chain.top + 1, chain.inner))
    largest = float(np.max(-np.diagonal(letters.change).real, initial=0.0))
    for level in range(1, chain.top + 1):
        block = row[offsets[level] : offsets[level + 1]].reshape(-1, chain.inner)
        old[level] = sum_of_words(weights[0][level - 1], block).real
        fading = sum_of_words(weights[1][level - 1], block).real
        known = (old[level] > 1e-290) & (fading >= 0)
        mean = hazards[level - 1] * (level - 1) / (level - 2) if level > 2 else np.zeros(chain.inner)
        hazards[level] = np.where(known, fading / np.where(known, old[level], 1.0), mean)
        np.minimum(hazards[level], (level - 1) * largest * letters.order, out=hazards[level])
    masses = masses_of_hazards(chain, hazards)
    row[: offsets[1]] = masses[0, : offsets[1]]
    for level in range(1, chain.top + 1):
        block = row[offsets[level] : offsets[level + 1]].reshape(-1, chain.inner)
        block *= np.where(old[level] > 0, masses[level] / np.where(old[level] > 0, old[level], 1.0), 0.0)
    return masses


def flows_of_rows(
    model: ThresholdModel,
    chain: Chain,
    letters: Letters,
    rows: Sequence[Numbers],
    weights: tuple[list[Numbers], list[Numbers]] | None = None,
    outcomes: Iterable[Outcomes] | None = None,
) -> list[Flows]:
    """Evaluate several approximations of the stationary row over all states.

    Parameters
    ----------
    model
        the queue.
    chain
        one policy, as `chain_of` writes it.
    letters
        patience of one page.
    rows
        the approximations, in the coordinates of `letters`; they are balanced in place.
    weights, outcomes
        `weights_of_words` and `outcomes_of_pages` of as many levels at least, where they are known already.

    Returns
    -------
    list of Flows
        those of each row.
    """
    if weights is None:
        weights = weights_of_words(letters, max(chain.top - 1, 0))
    if outcomes is None:
        outcomes = outcomes_of_pages(model, letters, chain.top, chain.climbs.shape[1] - 1)
    masses = [balance(chain, letters, row, weights) for row in rows]
    joined = _joining_totals(chain, letters, rows, outcomes)
    offsets = level_offsets(chain, letters.order)
    result = []
    for row, mass, totals in zip(rows, masses, joined, strict=True):
        by_arrivals = mass.reshape(chain.top + 1, chain.climbs.shape[2], -1).sum(axis=2)
        by_arrivals[0] = mass[0, : chain.climbs.shape[2]]
        by_service = mass[1:].reshape(-1, len(chain.start)).sum(axis=0)
        obsolete = 0.0
        for level in range(2, chain.top + 1):
            block = row[offsets[level] : offsets[level + 1]].reshape(-1, chain.inner)
            obsolete += float(sum_of_words(weights[1][level - 1], block).real.sum())
        arriving, lost = (float((by_arrivals * pages).sum()) for pages in (chain.offered, chain.refused))
        served = float(chain.ending @ by_service)
        result.append(direct_flows(model.top, mass.sum(axis=1), arriving, lost, obsolete, served, totals.tolist()))
    return result


def outcomes_of_pages(model: ThresholdModel, letters: Letters, top: int, farthest: int) -> Iterator[Outcomes]:
    """Find what becomes of a page with 0, 1, ..., top - 1 pages before it, and how long that takes.

    Parameters
    ----------
    model
        the queue.
    letters
        patience of one page.
    top
        the highest level.
    farthest
        the last place in a batch that is asked for.

    Yields
    ------
    Outcomes
        by place in the batch: of the first page v and w of Avrachenkov et al. (2011), theorem 4, of later ones v and w
        with the phases of the pages that came with it drawn by the law of new pages. Policies have no part in it.
    """
    start, service, ending = model.service.initial, model.service.generator, model.service.exit_rates
    size, kind = len(start), letters.start.dtype
    columns = reversed_letters(letters)
    classes = classes_of_words(columns, max(top - 1, 0))
    masses = weights_of_words(columns, max(top - 1, 0))[0]
    leaving = -np.kron(np.eye(2), service.T)
    chances: Numbers = np.zeros(2 * size, dtype=kind)
    times: Numbers = np.zeros(2 * size, dtype=kind)
    chances[:size] = 1.0
    times[:size] = np.linalg.solve(-service, np.ones(size))
    for ahead in range(top):
        if ahead > 0:
            shifts = classes.shifts[ahead]
            inverses = np.linalg.inv(leaving - shifts[:, np.newaxis, np.newaxis] * np.eye(2 * size))
            members = classes.members[ahead]
            before = chances, times
            chances = _passed(before[0], ahead, start, ending, columns.whole, columns.fading)
            own = np.outer(columns.fading, masses[ahead - 1]).ravel()
            chances.reshape(-1, 2, size)[:, 1] += own[:, np.newaxis]
            solve_level(chances, ahead, 2 * size, columns.change, members, inverses)
            times = _passed(before[1], ahead, start, ending, columns.whole, columns.fading)
            times += chances
            solve_level(times, ahead, 2 * size, columns.change, members, inverses)
        contracted, found = (chances, times), []
        for place in range(1, min(ahead + 1, farthest) + 1):
            if place <= ahead:
                contracted = _contracted(contracted[0], columns.start), _contracted(contracted[1], columns.start)
            found.append(contracted)
        yield found


def _joining_totals(
    chain: Chain, letters: Letters, rows: Sequence[Numbers], outcomes: Iterable[Outcomes]
) -> list[Vector]:
    """Add up, for each row, rates of entering pages to be served, their time, of those not to be, their time."""
    size, phases = len(chain.start), chain.climbs.shape[2]
    offsets = level_offsets(chain, letters.order)
    totals: list[Numbers] = [np.zeros(4, dtype=letters.start.dtype) for _ in rows]
    for ahead, by_place in zip(range(chain.top), outcomes, strict=False):
        for place, (chances, times) in zip(range(1, chain.climbs.shape[1]), by_place, strict=False):
            level = ahead - place + 1
            rate = chain.joining[level, place]
            if not rate.any():
                continue
            for row, total in zip(rows, totals, strict=True):
                if level == 0:
                    meeting = float(rate @ row[:phases].real) * chain.start
                    total[0::2] += chances.reshape(2, size) @ meeting
                    total[1::2] += times.reshape(2, size) @ meeting
                else:
                    _meet(row[offsets[level] : offsets[level + 1]], rate, chances, times, size, total)
    return [total.real for total in totals]


def _contracted(column: Numbers, start: Numbers) -> Numbers:
    """Return a column with its first letter drawn by the law of a new page."""
    return np.asarray(start @ column.reshape(len(start), -1))


@njit(cache=True)
def _passed(before: Numbers, length: int, start: Vector, ending: Vector, whole: Numbers, fading: Numbers) -> Numbers:
    """Find what a page can expect when one of those before it leaves; `before` has one letter fewer."""
    size, order = len(start), len(fading)
    inner = 2 * size
    words = len(before) // inner
    out = np.zeros(len(before) * order, dtype=before.dtype)
    for word in range(words):  # the oldest page begins its service
        for outcome in range(2):
            begun = before[word * inner + outcome * size] * start[0]
            for phase in range(1, size):
                begun += before[word * inner + outcome * size + phase] * start[phase]
            for letter in range(order):
                for phase in range(size):
                    place = (word * order + letter) * inner + outcome * size + phase
                    out[place] += whole[letter] * ending[phase] * begun
    stride = inner
    for _ in range(length - 1):  # one of those that wait before it goes out of date
        for block in range(len(before) // stride):
            for letter in range(order):
                rate = fading[letter]
                target, source = (block * order + letter) * stride, block * stride
                for place in range(stride):
                    out[target + place] += rate * before[source + place]
        stride *= order
    return out


@njit(cache=True)
def _meet(row: Numbers, rate: Vector, chances: Numbers, times: Numbers, size: int, totals: Numbers) -> None:
    """Add up outcomes over the states of a level, met at these rates; columns have letters in falling order."""
    phases = len(rate)
    words = len(row) // (phases * size)
    for word in range(words):
        mirrored = (words - 1 - word) * 2 * size
        for phase in range(size):
            mass = row[word * phases * size + phase] * rate[0]
            for nu in range(1, phases):
                mass += row[(word * phases + nu) * size + phase] * rate[nu]
            totals[0] += mass * chances[mirrored + phase]
            totals[1] += mass * times[mirrored + phase]
            totals[2] += mass * chances[mirrored + size + phase]
            totals[3] += mass * times[mirrored + size + phase]


def judged(fine: Flows, coarse: Flows, modes: ModeByLevel, shrinking: float) -> Flows:
    """Return `fine` with errors told by its difference to `coarse`.

    Parameters
    ----------
    fine, coarse
        flows of the last and of an earlier iterate.
    modes
        for each level, the mode in force there.
    shrinking
        the residual of the last iterate, divided by that of the earlier one.

    Returns
    -------
    Flows
        `fine`, with `errors` by measure, `SAFETY` times what the two iterates let expect.
    """
    new, old = measures_of_flows(fine), measures_of_flows(coarse)
    moves = {name: abs(old[name] / value - 1.0) for name, value in new.items() if value > 0.0}
    by_mode = np.bincount(modes, weights=fine.levels - coarse.levels)
    moves["active_robots"] = float(np.abs(by_mode).sum())
    largest, left = max(moves.values()), SAFETY * min(1.0, shrinking)
    rounding = direct_error(len(fine.levels) - 1, 1.0, 1.0, 1.0, 1.0)
    errors = {
        name: rounding + left * move
        if max(move, rounding) < _STILL * largest
        else fine.error_estimate + left * max(move, _SHARE * largest)
        for name, move in moves.items()
    }
    return replace(fine, error_estimate=max(errors.values()), errors=errors)


def measures_of_flows(flows: Flows) -> dict[str, float]:
    """Return the measures that do not depend on modes, by their names in `ThresholdMeasures`.

    Parameters
    ----------
    flows
        means per unit of time.

    Returns
    -------
    dict
        values; 0 where a quotient has no denominator.
    """
    return {name: part / whole if whole > 0.0 else 0.0 for name, (part, whole) in parts_of_measures(flows).items()}
