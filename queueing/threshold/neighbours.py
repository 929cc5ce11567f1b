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
from . import methods
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
    letters: methods.Letters
    classes: methods.Classes
    members: NDArray[np.int32]
    weights: tuple[list[methods.Numbers], list[methods.Numbers]]
    outcomes: Sequence[methods.Outcomes]
    inverses: dict[tuple[int, int], methods.Numbers] = field(default_factory=dict)

    def inverse(self, chain: methods.Chain, mode: int, level: int) -> methods.Numbers:
        """Return the inverses of the diagonal block of a level, by class of words."""
        found = self.inverses.get((mode, level))
        if found is None:
            found = self.inverses[mode, level] = methods.level_inverses(chain, level, self.classes)
        return found


def flows_of_neighbours(model: ThresholdModel, modes: Integers) -> Iterator[Flows | None]:
    """Yield the flows of policies, given by their modes by level, a row for each; None where the iteration is too slow.

    Neighbouring rows should differ in few levels.
    """
    letters = methods.triangular_letters(*model.patience_rates)
    classes = methods.classes_of_words(letters, max(model.top - 1, 0))
    shared = _Shared(
        model=model,
        letters=letters,
        classes=classes,
        members=np.concatenate(classes.members),
        weights=methods.weights_of_words(letters, max(model.top - 1, 0)),
        outcomes=list(methods.outcomes_of_pages(model, letters, model.top, min(model.top, model.largest_batch))),
    )
    last: methods.Numbers | None = None
    for policy in modes:
        flows, last = _one(shared, policy, last)
        yield flows


def _one(
    shared: _Shared, modes: Integers, neighbour: methods.Numbers | None
) -> tuple[Flows | None, methods.Numbers | None]:
    """Return the flows of one policy and its stationary row, begun from that of another."""
    model, letters = shared.model, shared.letters
    chain = methods.chain_of(model, modes)
    if neighbour is not None and chain.top > 0 and len(neighbour) == methods.level_offsets(chain, letters.order)[-1]:
        row, rounds = neighbour, _FROM_A_NEIGHBOUR
    else:
        row, rounds = methods.guessed_row(chain, letters)[0], _FROM_A_GUESS
    if chain.top > 0:
        inverses = [shared.inverse(chain, int(modes[level]), level) for level in range(1, chain.top + 1)]
        tables = methods.tables_of(chain, letters, shared.members, inverses)
        masses: Matrix = np.zeros((0, 0))
        for _ in range(rounds):
            methods.sweep(tables, row)
            masses = methods.balance(chain, letters, row, shared.weights)
        rows, residuals = methods.iterated(tables, chain, row, masses, methods.MATRIX_FREE_TOLERANCE)
        if not residuals[1] <= _LEAST_RESIDUAL:
            return None, None
        row = rows[1]
    return methods.flows_of_rows(model, chain, letters, [row], shared.weights, shared.outcomes)[0], row


def in_small_steps(thresholds: Integers) -> Integers:
    """Return an order of policies in which neighbours differ by little: to and fro, the last threshold the fastest."""
    keys = []
    sign = np.ones(len(thresholds), dtype=np.int64)
    for column in thresholds.T:
        keys.append(sign * column)
        sign = sign * np.where(column % 2 == 0, 1, -1)
    return np.asarray(np.lexsort(keys[::-1]) if keys else np.arange(len(thresholds)))
