r"""Threshold queues of many pages with patience of several phases, beyond any method that knows every state.

Phases of all waiting pages, :math:`R^n` words, are looked for in spaces of some tens of dimensions that all levels
share (:mod:`queueing.threshold.tensor.bases`). Seen in them the queue is solved directly, by levels
(:mod:`queueing.threshold.tensor.levels`), with the worth of each state for the means that are asked for; what is left
over of both makes better spaces (:mod:`queueing.threshold.tensor.growth`), until the measures stand still. Since errors
of means are products of what the spaces miss of both, some eight rounds suffice.

Matrices are small and many: threads of the linear algebra would wait for one another, longer than they work, so there
is only one.

**How accurate measures are.** Rounds end when measures stand still: if errors shrink by a factor q from one round to
the next and the last move was d, the error is about d q / (1 - q), and q is seldom more than 3/4. But it may be a
thousandth: moves tell when to end, not how large errors are. For that there are four views of each measure:

* the errors of the two rounds before are known, now that there is a better one: they are the moves :math:`d_k` since.
  The error of a mean is a product of what spaces miss of the stationary rows and of the worths; what is *left* over of
  both, :math:`\ell_k`, is known of every round. So the error is about :math:`d_k \, \ell_n / \ell_k`.
* the last round is done again with a half and with three quarters of the directions it added: what is missed with all
  of them is about what the rest of them is worth.

Errors have signs, so that each view may be small by chance; the estimate is `SAFETY` times the root of their mean
square. Rates that the server and arriving pages see alike only in the limit, and Little's law, tell of errors at least
as large as the difference.

Estimates are no bounds. Of 191 random queues that can be solved exactly, with seeds that nothing here was chosen by,
the largest error told covered the largest true one in 97.9 %, and was within a hundred times of it in 97.4 %
(``tests/queueing/threshold/tensor/test_tensor_train.py``); of 585 others, seen when factors were set, in 96.4 % and
96.1 %. Errors below `FINEST` are rounding.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from ...numerics import Matrix, Vector, stationary_by_levels
from ..methods import Chain, chain_of, measures_of_flows
from ..model import Flows, Method, ModeByLevel, ThresholdModel, direct_error, direct_flows
from .bases import ScaledLaw, Spaces, first_cores, marginal_cores, scaled_law, spaces_of
from .growth import Leftovers, Solution, grown, leftovers
from .levels import Columns, Moves, eliminate, entering_pages, moves_of, outlooks_of, sites, stationary_rows, worths

#: Estimated relative error of the measures at which rounds end unless said.
TARGET = 1e-5

#: Most rounds, and most dimensions of a space.
ROUNDS, DIMENSIONS = 24, 112

#: Most levels, and most pairs of an arrival phase and a service phase.
LEVELS_LIMIT, PAIRS_LIMIT = 1000, 64

# Most levels for which pages are first looked at one by one: their number grows by squares.
_MARGINALS_LIMIT = 300

# Bytes for the levels of one round; they limit the dimensions.
_MEMORY = 600e6

# Directions added in a round, and parts that are kept, relative to what was left over in the round before.
_ADDED, _KEPT = 12, 0.4

# Parts of the directions added in the last round with which it is done again, to see how much they matter.
_PARTS = (0.5, 0.75)

# Share of its worth for a mean wait: what a page that waits is like is evaluated by longer waits than the mean one, as
# spaces must know the oldest pages too.
_LONGER = 4.0

#: A loss or an idle time below this share is not asked for to its last digits.
SHARE = 0.01

#: Factor between the error that the four views let expect and the one that is told: of measures that count, and of
#: shares below a tenth of `SHARE`, which directions are hardly chosen for, so that leaving some out changes them more.
SAFETY, SAFETY_OF_SMALL = 9.0, 6.0

#: Relative errors below this are rounding: what is told of them is not compared with them.
FINEST = 1e-13

# What is left over falls by no more than this in one round and in two, as far as errors are concerned, nor rises.
_FALLS = (1e-4, 1e-5)

#: How often the last move counts when rounds may end.
CAUTION = 5.0

# Measures of pages that go out of date.
_FADING = ("obsolescence", "obsolescence_rate", "obsolete_time")

# A measure that hardly moved, while others did, may have done so by chance: part of the largest move counts for it.
# One that moved by far less than others is known whatever the spaces (arrivals, where all modes bring as many).
_PART, _STILL = 0.2, 1e-6


class Outcome(NamedTuple):
    """Flows of one round, the rates of service and obsolescence as arriving pages see them, and what is left over."""

    flows: Flows
    served_seen: float
    obsolete_seen: float
    left: float = 0.0


def tensor_flows(
    model: ThresholdModel,
    modes: ModeByLevel,
    target: float = TARGET,
    rounds: int = ROUNDS,
    dimensions: int = DIMENSIONS,
) -> Flows:
    """Return all flows of a policy, with an estimate of their errors.

    Rounds go on until measures move by less than `target` (losses and idle times of less than `SHARE` count as if they
    were so large); there are at most `rounds`, in spaces of at most `dimensions`, and the errors told are those
    reached, smaller than the target as a rule.
    """
    with threadpool_limits(limits=1, user_api="blas"):
        return _rounds(model, modes, target, rounds, dimensions)


def _rounds(model: ThresholdModel, modes: ModeByLevel, target: float, rounds: int, dimensions: int) -> Flows:
    moves = moves_of(chain_of(model, modes))
    law, cores = _beginning(model, moves)
    most = _most_dimensions(moves.chain, dimensions)
    added = min(_ADDED, most // 2)
    thresholds = 0.1, 0.1
    found: list[Outcome] = []
    before: Leftovers | None = None
    while True:
        spaces = spaces_of(law, cores)
        solution, outcome = _solved(model, moves, law, spaces)
        if _complete(law, spaces):
            return outcome.flows
        now = leftovers(moves, law, spaces, solution, thresholds)
        growth = grown(now, added, most)
        found.append(outcome._replace(left=growth.rows_left * growth.worths_left))
        if len(found) == rounds or (len(found) > 2 and unsettled(found, modes) < target):
            break
        thresholds = max(_KEPT * growth.rows_left, 1e-12), max(_KEPT * growth.worths_left, 1e-12)
        cores, before = growth.cores, now
    if before is None:
        return replace(outcome.flows, error_estimate=math.inf)
    fewer = [spaces_of(law, grown(before, max(1, int(part * added)), most).cores) for part in _PARTS]
    return estimated(found, [_outcome_of(model, moves, law, spaces).flows for spaces in fewer], modes)


def _refusal(model: ThresholdModel) -> str | None:
    pairs = model.arrivals[0].phases * model.service.order
    if model.top > LEVELS_LIMIT:
        return f"takes at most {LEVELS_LIMIT} pages in the system"
    if pairs > PAIRS_LIMIT:
        return f"takes at most {PAIRS_LIMIT} pairs of an arrival phase and a service phase"
    return None


TENSOR_TRAIN = Method(name="tensor-train", refusal=_refusal, flows=tensor_flows)


def _beginning(model: ThresholdModel, moves: Moves) -> tuple[ScaledLaw, list[Matrix]]:
    """Return the law scaled by what waiting pages are like, and spaces to begin with."""
    chain = moves.chain
    wait = model.service.mean * max(chain.top, 1) / 2
    for _ in range(3):
        law = scaled_law(*model.patience_rates, 1.0 / (_LONGER * wait))
        cores = first_cores(law, chain.top - 1)
        if chain.top < 2 or law.order == 1:
            break
        spaces = spaces_of(law, cores)
        rows = stationary_rows(moves, spaces, eliminate(moves, spaces))
        masses = np.abs([row[:, 0].sum() for row in rows])
        waiting = float(masses[2:] @ np.arange(1, chain.top))
        entering = sum(
            float(np.abs(row[:, 0].reshape(chain.climbs.shape[2], -1).sum(axis=1)) @ (offered - refused))
            for row, offered, refused in zip(rows, chain.offered, chain.refused, strict=True)
        )
        wait = min(max(waiting / entering, 1e-3 * model.service.mean), wait * 100)
    else:
        for _ in range(2 if chain.top <= _MARGINALS_LIMIT else 0):
            cores = marginal_cores(chain, law, *model.patience_rates, rows)
            spaces = spaces_of(law, cores)
            rows = stationary_rows(moves, spaces, eliminate(moves, spaces))
    return law, cores


def _most_dimensions(chain: Chain, dimensions: int) -> int:
    """Return the dimensions for which there is memory: two dense matrices a level."""
    return max(4, min(dimensions, int(math.sqrt(_MEMORY / (16.0 * (chain.top + 1))) / chain.inner)))


def _complete(law: ScaledLaw, spaces: Spaces) -> bool:
    """Tell whether spaces hold all words, so that nothing is left over."""
    sizes = spaces.dimensions
    return all(after == law.order * before for before, after in pairwise(sizes))


def _solved(model: ThresholdModel, moves: Moves, law: ScaledLaw, spaces: Spaces) -> tuple[Solution, Outcome]:
    """Solve the queue in some spaces, and its worths: one round."""
    chain, eliminated = moves.chain, eliminate(moves, spaces)
    rows = stationary_rows(moves, spaces, eliminated)
    outlooks = outlooks_of(chain, law, spaces)
    entering = entering_pages(chain, spaces, outlooks)
    outcome = _outcome(model, moves, spaces, rows, entering)
    columns, brought = worths(moves, spaces, eliminated, _goals(chain, spaces, entering), rows)
    return Solution(rows, columns, brought, outlooks, _importances(outcome.flows)), outcome


def _outcome_of(model: ThresholdModel, moves: Moves, law: ScaledLaw, spaces: Spaces) -> Outcome:
    """Tell what some spaces say, without what would be needed to make better ones."""
    rows = stationary_rows(moves, spaces, eliminate(moves, spaces))
    entering = entering_pages(moves.chain, spaces, outlooks_of(moves.chain, law, spaces))
    return _outcome(model, moves, spaces, rows, entering)


def _importances(flows: Flows) -> Vector:
    """Tell how much each goal counts: shares of time or of pages that are small count less."""
    weights = weights_of_measures(flows)
    idle, lost, served, obsolete = (weights[name] for name in ("starvation", "loss", "success", "obsolescence"))
    return np.array([idle, lost, 1.0, 1.0, served, served, obsolete, obsolete])


def _goals(chain: Chain, spaces: Spaces, entering: Sequence[Columns]) -> list[Columns]:
    """Write the means that are asked for: idle time, lost pages, pages there, pages that come, their outlooks."""
    goals = []
    for level in range(chain.top + 1):
        phases = 1 if level == 0 else len(chain.start)
        goal = np.zeros((chain.climbs.shape[2] * phases, spaces.dimensions[sites(level)], 8))
        goal[:, 0, 0] = level == 0
        goal[:, 0, 1] = np.repeat(chain.refused[level], phases)
        goal[:, 0, 2] = level
        goal[:, 0, 3] = np.repeat(chain.offered[level], phases)
        goal[:, :, 4:] = entering[level]
        goals.append(goal)
    return goals


def _outcome(
    model: ThresholdModel, moves: Moves, spaces: Spaces, rows: Sequence[Matrix], entering: Sequence[Columns]
) -> Outcome:
    """Return the flows, and the rates that arriving pages see."""
    chain = moves.chain
    masses = _masses(model, moves, spaces, rows)
    phases = chain.climbs.shape[2]
    by_arrivals = np.array([mass.reshape(phases, -1).sum(axis=1) for mass in masses])
    by_service = np.sum([mass.reshape(phases, -1).sum(axis=0) for mass in masses[1:]], axis=0)
    fading = [mass * hazard for mass, hazard in zip(masses[2:], _hazards(model, chain, spaces, rows)[2:], strict=True)]
    totals = np.sum([np.einsum("ar,ark->k", row, goal) for row, goal in zip(rows, entering, strict=True)], axis=0)
    arriving, lost = (float((by_arrivals * pages).sum()) for pages in (chain.offered, chain.refused))
    served = float(chain.ending @ by_service) if chain.top > 0 else 0.0
    totals[1::2] = np.maximum(totals[1::2], 0.0)
    levels, obsolete = by_arrivals.sum(axis=1), float(np.sum(fading))
    flows = direct_flows(model.top, levels, arriving, lost, obsolete, served, totals.tolist())
    return Outcome(flows, served_seen=float(totals[0]), obsolete_seen=float(totals[2]))


def _hazards(model: ThresholdModel, chain: Chain, spaces: Spaces, rows: Sequence[Matrix]) -> list[Vector]:
    """Return, by level, arrival and service phase, the mean total rate of obsolescence.

    Where probabilities are lost in the error of the spaces, rates are those of the level below, for one page more.
    """
    fastest = float(model.patience_rates[2].max())
    hazards: list[Vector] = [np.zeros(chain.climbs.shape[2]), np.zeros(chain.inner)]
    for level in range(2, chain.top + 1):
        mass, fading = rows[level][:, 0], rows[level] @ spaces.fading[level - 1][:, 0]
        known = (mass > 0) & (fading >= 0) & (fading <= (level - 1) * fastest * mass * (1 + 1e-9))
        below = hazards[-1] * (level - 1) / (level - 2) if level > 2 else np.full(chain.inner, fastest / 2)
        hazards.append(np.where(known, fading / np.where(known, mass, 1.0), below))
    return hazards[: chain.top + 1]


def _masses(model: ThresholdModel, moves: Moves, spaces: Spaces, rows: Sequence[Matrix]) -> list[Vector]:
    """Return probabilities by level, arrival and service phase, exact for the rates of obsolescence found."""
    blocks = []
    for level, hazard in enumerate(_hazards(model, moves.chain, spaces, rows)):
        row = [moves.staying[level]]
        if level == 1:
            row.insert(0, moves.emptying)
        elif level > 1:
            row.insert(0, moves.renewing + np.diag(hazard))
        row += moves.climbing[level][1:]
        blocks.append(row)
    return stationary_by_levels(blocks)


# -- how accurate measures are -----------------------------------------------------------------------------------------


def unsettled(found: Sequence[Outcome], modes: ModeByLevel) -> float:
    """Tell how far measures still move, and views of one rate lie apart; small shares count as if they were `SHARE`."""
    now, flows = found[-1], found[-1].flows
    weights = weights_of_measures(flows)
    last, over_two = _moves(flows, found[-2].flows, modes), _moves(flows, found[-3].flows, modes)
    moved = max(max(CAUTION * move, over_two[name]) * weights.get(name, 1.0) for name, move in last.items())
    return moved + max(apart * weights.get(name, 1.0) for name, apart in _apart_by_measure(now, last).items())


def estimated(found: Sequence[Outcome], fewer: Sequence[Flows], modes: ModeByLevel) -> Flows:
    """Return the flows of the last round with their errors, evaluated by one or two before it and by itself.

    `fewer` are flows of the same round with fewer of its new directions.
    """
    now, flows = found[-1], found[-1].flows
    moves = _moves(flows, found[-2].flows, modes)
    views = [_moves(flows, one, modes) for one in fewer]
    for before, least in zip(found[-2:-4:-1], _FALLS, strict=False):
        fall = min(1.0, max(least, now.left / before.left)) if before.left > 0.0 else 1.0
        views.append({name: fall * move for name, move in _moves(flows, before.flows, modes).items()})
    differences = {name: math.hypot(*(view[name] for view in views)) / math.sqrt(len(views)) for name in moves}
    weights = weights_of_measures(flows)
    largest = max(value * weights.get(name, 1.0) for name, value in differences.items())
    farthest = max(move * weights.get(name, 1.0) for name, move in moves.items())
    rounding = direct_error(len(flows.levels) - 1, 1.0, 1.0, 1.0, 1.0)
    apart = _apart_by_measure(now, moves)
    errors = {}
    for name, difference in differences.items():
        if max(moves[name], rounding) < _STILL * farthest:
            errors[name] = rounding + SAFETY * max(moves[name], difference)
        else:
            factor = SAFETY if weights.get(name, 1.0) >= 0.1 else SAFETY_OF_SMALL
            errors[name] = rounding + max(factor * difference, SAFETY * _PART * largest, apart[name])
    return replace(flows, error_estimate=max(errors.values()), errors=errors)


def _apart_by_measure(now: Outcome, names: Iterable[str]) -> dict[str, float]:
    """Tell, by measure, how far what agrees in the limit is apart: rates that server and pages see, Little's law."""
    flows = now.flows
    served, obsolete = _gap(flows.served, now.served_seen), _gap(flows.obsolete, now.obsolete_seen)
    common = max(served, obsolete * weights_of_measures(flows)["obsolescence"])
    times = {"response_time": flows.served_time, "obsolete_time": flows.obsolete_time}
    times["sojourn_time"] = flows.served_time + flows.obsolete_time
    missing = abs(times["sojourn_time"] - float(np.arange(len(flows.levels)) @ flows.levels))
    apart = {name: max(common, obsolete) if name in _FADING else common for name in names}
    return apart | {name: max(apart[name], missing / time) for name, time in times.items() if name in apart}


def weights_of_measures(flows: Flows) -> dict[str, float]:
    """Tell, by measure, how much its relative error counts."""
    whole = max(flows.arriving, 1e-300)
    lost, obsolete = min(1.0, flows.lost / whole / SHARE), min(1.0, flows.obsolete / whole / SHARE)
    return {
        "starvation": min(1.0, float(flows.levels[0]) / SHARE),
        "loss": lost,
        "loss_rate": lost,
        "obsolescence": obsolete,
        "obsolescence_rate": obsolete,
        "obsolete_time": obsolete,
        "success": min(1.0, flows.served / whole / SHARE),
        "response_time": min(1.0, flows.served / whole / SHARE),
    }


def _gap(forward: float, seen: float) -> float:
    return abs(seen / forward - 1.0) if forward > 1e-290 else 0.0  # below, doubles have fewer digits


def _moves(fine: Flows, coarse: Flows, modes: ModeByLevel) -> dict[str, float]:
    """Return, by measure, its relative change between two rounds, as far as there is such a measure."""
    new, old = measures_of_flows(fine), measures_of_flows(coarse)
    moves = {name: _apart(old[name], value) for name, value in new.items() if value > 0.0}
    moves["active_robots"] = float(np.abs(np.bincount(modes, weights=fine.levels - coarse.levels)).sum())
    return moves


def _apart(old: float, new: float) -> float:
    """Return the relative change, to either side: what was ten times as small may be ten times too large now."""
    return max(old / new, new / old) - 1.0 if old > 0.0 else 1.0
