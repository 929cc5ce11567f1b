r"""Threshold queues of many pages with patience of several phases, beyond any method that knows every state.

Phases of all waiting pages, :math:`R^n` words, are looked for in spaces of some tens of dimensions that all levels
share (:mod:`queueing.threshold.tensor.bases`). Seen in them the queue is solved directly, by levels
(:mod:`queueing.threshold.tensor.levels`), with the worth of each state for the means that are asked for; what is left
over of both makes better spaces (:mod:`queueing.threshold.tensor.growth`), until the measures stand still. Since errors
of means are products of what the spaces miss of both, some eight rounds suffice.

Nothing here is a bound: errors are estimated from those of the rounds before, from what spaces leave over, and from the
last round with fewer new directions (:mod:`queueing.threshold.tensor.accuracy`).

Matrices are small and many: threads of the linear algebra would wait for one another, longer than they work, so there
is only one.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from threadpoolctl import threadpool_limits

from ...numerics import Matrix, Vector, stationary_by_levels
from ..methods import Chain, chain_of
from ..model import Flows, Method, ModeByLevel, ThresholdModel, direct_flows
from .accuracy import Outcome, estimated, unsettled, weights_of_measures
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
