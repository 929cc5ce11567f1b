r"""Two servers and finitely many packets: costs are multimodular, so a word that no neighbour betters is optimal.

Write :math:`p_t` for the packets of server 1 among the first t, and :math:`F_m(t)` for the cost of a first gap that
ends after t packets. Other gaps cost :math:`f_m(d) = f_m(1) + \Delta_m (d - 1) + \sum_k c_{m,k} (d - k)^+`, and
:math:`\sum_j (d_j - k)^+` counts the windows of k slots in which server m gets nothing. So it costs, up to a constant,

.. math::
    (f_m(1) - \Delta_m) P_m + \sum_{i < j} w_m(i, j) [\text{server m gets nothing in slots } i + 1, \dots, j], \qquad
    w_m(0, j) = F_m(j) - F_m(j - 1) - (f_m(j) - f_m(j - 1)), \quad w_m(i, j) = c_{m, j-i} \; (i > 0),

:math:`P_m` the packets it gets (and :math:`w_m(0, 1)` with :math:`\Delta_m` for what is subtracted). Empty is
:math:`(1 - (p_j - p_i))^+ = 1` for server 1, and :math:`(1 - (j - i) + (p_j - p_i))^+ = 1` for server 0: convex
functions of differences. So the cost is L-natural convex in p, that is, multimodular in the word, if no w(i, j) with
:math:`j > i + 1` is negative, as is the case where :math:`f_m` is convex and :math:`F_m(t) = f_m(x_m + t)`. This is
checked, and weights that are negative, by rounding or in truth, are charged to the bound.

If no neighbour of x costs less than :math:`g(x) - \varepsilon`, no word does less than :math:`g(x) - T \varepsilon`:
on the line to any word, convex, the first atom ends no earlier than after a T-th of the way.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..routing import HorizonCosts
from .minimum_cuts import best_set


class Windows:
    """Costs of a finite horizon as a sum over windows of slots.

    Attributes
    ----------
    first, second
        i and j of the windows.
    ones, zeros
        :math:`w_1` and :math:`w_0`.
    price
        What one more packet for server 1, and one less for server 0, costs beyond windows.
    negative
        Sum of the weights that are negative and should not be.
    """

    def __init__(self, costs: HorizonCosts) -> None:
        horizon = costs.horizon
        self.first, self.second = np.triu_indices(horizon + 1, 1)
        self.zeros, self.ones = (self._weights(costs, m) for m in (0, 1))
        long = self.second - self.first > 1
        self.negative = float(sum(-weights[long & (weights < 0)].sum() for weights in (self.zeros, self.ones)))
        bends = costs.later[:, 1] - costs.later[:, 0] if horizon > 1 else np.zeros(2)
        prices = costs.later[:, 0] - bends
        self.price = float(prices[1] - prices[0])

    def _weights(self, costs: HorizonCosts, server: int) -> NDArray[np.float64]:
        later, first = costs.later[server], costs.first[server]
        horizon = costs.horizon
        bends = np.zeros(horizon + 1)
        bends[2:horizon] = later[2:] - 2 * later[1:-1] + later[:-2]
        rises = np.zeros(horizon + 1)
        rises[2:] = np.diff(later)
        rises[1] = rises[2] if horizon > 1 else 0.0
        begins = np.concatenate([[0.0], np.diff(first)]) - rises
        return np.where(self.first == 0, begins[self.second], bends[self.second - self.first])

    def step(self, word: NDArray[np.int64]) -> tuple[NDArray[np.int64], float]:
        """The best neighbour of a word by one minimum cut, and what the cut may be wrong by."""
        sums = np.concatenate([[0], np.cumsum(word)])
        i, j = self.first, self.second
        ones = sums[j] - sums[i]
        zeros = j - i - ones
        here = self.empty(ones, zeros)
        only_second, only_first = self.empty(ones + 1, zeros - 1) - here, self.empty(ones - 1, zeros + 1) - here
        slot = j - i == 1
        full = slot & (ones == 1)  # may be emptied, not filled
        sizes = np.where(full, -only_first, only_second)
        single = np.zeros(len(sums))
        np.add.at(single, j, sizes)
        np.add.at(single, i, -sizes)
        single[-1] += self.price
        single[0] -= self.price
        tails, heads = np.where(full, j, i), np.where(full, i, j)
        capacities = np.where(slot, np.inf, np.maximum(only_first + only_second, 0.0))
        kept = capacities > 0
        chosen = best_set(single, tails[kept], heads[kept], capacities[kept])
        # Edges of a cut are full but for rounding in the last digit of the largest capacity.
        largest = max(float(capacities[~slot].max(initial=0.0)), float(np.abs(single).max()))
        wrong = 4 * (int(np.count_nonzero(kept)) + len(single)) * float(np.finfo(float).eps) * largest
        raised = chosen.astype(np.int64)
        return word + raised[1:] - raised[:-1], wrong

    def empty(self, ones: NDArray[np.int64], zeros: NDArray[np.int64]) -> NDArray[np.float64]:
        """What windows cost with so many packets for each server."""
        found: NDArray[np.float64] = self.ones * np.maximum(1 - ones, 0) + self.zeros * np.maximum(1 - zeros, 0)
        return found
