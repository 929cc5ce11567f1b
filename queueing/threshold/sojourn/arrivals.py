"""What an arriving page meets: the stationary distribution of a threshold queue, seen by the pages that enter."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...numerics import Matrix, Vector
from .. import methods
from ..model import ModeByLevel, ThresholdModel, direct_error
from .tagged_page import TaggedPage

#: States up to which the chain is eliminated as one dense matrix, to the last digit however far apart its rates are.
SMALL = 300


@dataclass(frozen=True, eq=False)
class Arrivals:
    """A page at its arrival.

    Attributes
    ----------
    page
        the chain it lives in; None where no page ever arrives.
    loss
        probability that it finds no room.
    method
        how the stationary distribution was found.
    error_estimate
        relative error of the probabilities it meets.
    """

    page: TaggedPage | None
    loss: float
    method: str
    error_estimate: float


def refusal(model: ThresholdModel) -> str | None:
    """Tell why sojourn times of this model cannot be found; None where they can."""
    if model.patience_order == 1 or model.top == 1 or model.states <= methods.KRYLOV_LIMIT:
        return None
    return (
        f"Sojourn times with patience of {model.patience_order} phases take at most {methods.KRYLOV_LIMIT} states, but "
        f"this queue has {model.states}; lower the capacity or give patience fewer phases."
    )


def arrivals_of(model: ThresholdModel, modes: ModeByLevel, unit: float = 1.0) -> Arrivals:
    """Return the page that arrives under one policy; its chain counts time in this unit."""
    chain = methods.chain_of(model, modes)
    # Where nobody ever waits, patience, of whatever order, never counts.
    patience = model.patience_rates if chain.top > 1 else (np.ones(1), np.zeros((1, 1)), np.zeros(1))
    gamma = patience[0]
    coarse: list[Matrix] | None = None
    shrinking = 0.0
    if len(gamma) == 1:
        found = methods.stationary_levels(model, modes)[: chain.top + 1]
        size = chain.climbs.shape[2]
        levels = [found[0].reshape(size, -1).sum(axis=1), *found[1:]]
        method = "elimination"
    elif model.states <= SMALL:
        levels, method = _youngest_first(model, chain, methods.reference_levels(model, modes)), "reference"
    else:
        try:
            coarse, levels, shrinking = _by_krylov(model, chain)
            method = "krylov"
        except ValueError:  # Erlang times of a hundred phases end so
            if model.states > methods.BLOCK_LIMIT:
                raise
            levels, method = _youngest_first(model, chain, methods.block_levels(model, modes)), "block"
    joined = _joined(chain, gamma, levels)
    moved = 0.0
    if coarse is not None:
        before = _joined(chain, gamma, coarse)
        moved = sum(float(np.abs(new - old).sum()) for new, old in zip(joined, before, strict=True))
        moved *= methods.SAFETY * min(1.0, shrinking) / max(sum(float(part.sum()) for part in joined), 1e-300)
    phases = [level.reshape(-1, chain.climbs.shape[2], len(chain.start)).sum(axis=(0, 2)) for level in levels[1:]]
    by_arrivals = np.array([levels[0], *phases])
    arriving = float((by_arrivals * chain.offered).sum())
    if not arriving > 0.0:
        return Arrivals(None, 0.0, method, 0.0)
    laws = chain.service * unit, chain.start, chain.ending * unit, (gamma, patience[1] * unit, patience[2] * unit)
    if not all(np.isfinite(part).all() for part in (laws[0], laws[2], *laws[3])):
        raise ValueError(
            "Rates of patience must be less than 1e300 times those of service, but they are not; bring them nearer."
        )
    page = TaggedPage(*laws[:3], methods.plain_letters(*laws[3]), tuple(part / arriving for part in joined))
    served, obsolete = _leaving(chain, patience, levels)
    seen = page.probabilities * arriving
    error = direct_error(model.top, served, float(seen[0]), obsolete, float(seen[1]))
    return Arrivals(page, float((by_arrivals * chain.refused).sum()) / arriving, method, error + moved)


def _joined(chain: methods.Chain, gamma: Matrix, levels: list[Matrix]) -> list[Matrix]:
    """Return, by number of pages ahead, rates at which pages come to be in (word, phase of service)."""
    phases, size, order = chain.climbs.shape[2], len(chain.start), len(gamma)
    joined = [np.zeros((order**ahead, size)) for ahead in range(max(chain.top, 1))]
    for level, row in enumerate(levels):
        for place in range(1, min(chain.joining.shape[1] - 1, chain.top - level) + 1):
            rate = chain.joining[level, place]
            if not rate.any():
                continue
            if level == 0:
                met, letters = float(rate @ row) * chain.start[np.newaxis], place - 1
            else:
                met, letters = np.einsum("wnm,n->wm", row.reshape(-1, phases, size), rate), place
            for _ in range(letters):  # those of its batch that stand before it, and its own
                met = np.multiply.outer(gamma, met).reshape(-1, size)
            joined[level + place - 1] += met
    return joined


def _leaving(
    chain: methods.Chain, patience: tuple[Matrix, Matrix, Matrix], levels: list[Matrix]
) -> tuple[float, float]:
    """Return the pages served, and out of date, per unit of time, as the server sees it."""
    served = obsolete = 0.0
    letters = methods.plain_letters(*patience)
    several = methods.weights_of_words(letters, max(chain.top - 1, 0))[1] if letters.order > 1 else None
    for level, row in enumerate(levels[1:], start=1):
        served += float(row.reshape(-1, len(chain.start)).sum(axis=0) @ chain.ending)
        if level > 1:
            fading = np.array([(level - 1) * patience[2][0]]) if several is None else several[level - 1]
            obsolete += float(row.reshape(len(fading), -1).sum(axis=1) @ fading)
    return served, obsolete


def _by_krylov(model: ThresholdModel, chain: methods.Chain) -> tuple[list[Matrix], list[Matrix], float]:
    """Return two approximations of the stationary distribution by level, and how much better the second is."""
    letters = methods.plain_letters(*model.patience_rates)
    *rows, shrinking = methods.krylov_rows(chain, letters)
    words, offsets = methods.weights_of_words(letters, chain.top - 1), methods.level_offsets(chain, letters.order)
    for row in rows:
        methods.balance(chain, letters, row, words)
    coarse, fine = (np.split(row, offsets[1:-1]) for row in rows)
    return coarse, fine, shrinking


def _youngest_first(model: ThresholdModel, chain: methods.Chain, levels: Sequence[Vector]) -> list[Matrix]:
    """Bring the youngest letter of levels of the full generator to the front, arrivals and service to the end."""
    shape = chain.climbs.shape[2], len(chain.start)
    result = [levels[0]]
    for level, row in enumerate(levels[1 : chain.top + 1], start=1):
        oldest_first = row.reshape(*shape, *[model.patience_order] * (level - 1))
        result.append(np.ascontiguousarray(oldest_first.T.swapaxes(-1, -2)).ravel())
    return result
