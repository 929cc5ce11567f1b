r"""Many policies of a queue whose patience has several phases: sweeps that share their tables and their starts.

As :mod:`queueing.threshold.methods.matrix_free`, a policy at a time. What a page can expect (v and w of theorem 4) and
words do not depend on the policy at all, the inverse of a diagonal block on its level and mode alone: they are computed
once. Policies are put in an order in which neighbours differ by little, and each begins where the one before it ended.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..numerics import Integers, Matrix
from .methods import (
    MATRIX_FREE_TOLERANCE,
    Chain,
    Classes,
    Letters,
    Numbers,
    Outcomes,
    balance,
    chain_of,
    classes_of_words,
    flows_of_rows,
    guessed_row,
    iterated,
    level_inverses,
    level_offsets,
    outcomes_of_pages,
    sweep,
    tables_of,
    triangular_letters,
    weights_of_words,
)
from .model import Flows, ThresholdModel

#: Most states of a queue whose policies are evaluated here: what they share is kept, several numbers for each state.
NEIGHBOURS_LIMIT = 300_000

# A residual above is left to the single evaluation, which tries harder and says what it has reached.
_LEAST_RESIDUAL = 1e-11

# Sweeps with level masses put right, before the iteration: from a guess, and from another policy.
_FROM_A_GUESS, _FROM_A_NEIGHBOUR = 3, 1


@dataclass(frozen=True)
class _Shared:
    """What policies share; inverses of diagonal blocks by mode and level are added as they are needed."""

    model: ThresholdModel
    letters: Letters
    classes: Classes
    members: NDArray[np.int32]
    weights: tuple[list[Numbers], list[Numbers]]
    outcomes: Sequence[Outcomes]
    inverses: dict[tuple[int, int], Numbers] = field(default_factory=dict)

    def inverse(self, chain: Chain, mode: int, level: int) -> Numbers:
        """Return the inverses of the diagonal block of a level, by class of words."""
        found = self.inverses.get((mode, level))
        if found is None:
            found = self.inverses[mode, level] = level_inverses(chain, level, self.classes)
        return found


def flows_of_neighbours(model: ThresholdModel, modes: Integers) -> Iterator[Flows | None]:
    """Yield the flows of policies, given by their modes by level, a row for each; None where the iteration is too slow.

    Neighbouring rows should differ in few levels.
    """
    letters = triangular_letters(*model.patience_rates)
    classes = classes_of_words(letters, max(model.top - 1, 0))
    shared = _Shared(
        model=model,
        letters=letters,
        classes=classes,
        members=np.concatenate(classes.members),
        weights=weights_of_words(letters, max(model.top - 1, 0)),
        outcomes=list(outcomes_of_pages(model, letters, model.top, min(model.top, model.largest_batch))),
    )
    last: Numbers | None = None
    for policy in modes:
        flows, last = _one(shared, policy, last)
        yield flows


def _one(shared: _Shared, modes: Integers, neighbour: Numbers | None) -> tuple[Flows | None, Numbers | None]:
    """Return the flows of one policy and its stationary row, begun from that of another."""
    model, letters = shared.model, shared.letters
    chain = chain_of(model, modes)
    if neighbour is not None and chain.top > 0 and len(neighbour) == level_offsets(chain, letters.order)[-1]:
        row, rounds = neighbour, _FROM_A_NEIGHBOUR
    else:
        row, rounds = guessed_row(chain, letters)[0], _FROM_A_GUESS
    if chain.top > 0:
        inverses = [shared.inverse(chain, int(modes[level]), level) for level in range(1, chain.top + 1)]
        tables = tables_of(chain, letters, shared.members, inverses)
        masses: Matrix = np.zeros((0, 0))
        for _ in range(rounds):
            sweep(tables, row)
            masses = balance(chain, letters, row, shared.weights)
        rows, residuals = iterated(tables, chain, row, masses, MATRIX_FREE_TOLERANCE)
        if not residuals[1] <= _LEAST_RESIDUAL:
            return None, None
        row = rows[1]
    return flows_of_rows(model, chain, letters, [row], shared.weights, shared.outcomes)[0], row


def in_small_steps(thresholds: Integers) -> Integers:
    """Return an order of policies in which neighbours differ by little: to and fro, the last threshold the fastest."""
    keys = []
    sign = np.ones(len(thresholds), dtype=np.int64)
    for column in thresholds.T:
        keys.append(sign * column)
        sign = sign * np.where(column % 2 == 0, 1, -1)
    return np.asarray(np.lexsort(keys[::-1]) if keys else np.arange(len(thresholds)))
