"""Prices of sites in whole numbers, so that what is proved of their sums is exact."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: How near, relative, a proved bound comes to the best value: as `heuristics.result.OPTIMALITY_TOLERANCE`.
NEAR = 1e-9


@dataclass(frozen=True, eq=False)
class Units:
    r"""Prices counted in a unit, rounded down where they are no multiples of it.

    Parameters
    ----------
    prices
        :math:`p_j = \lfloor c_j / u \rfloor`.
    unit
        :math:`u`.
    exact
        Whether nothing was rounded.

    Notes
    -----
    Whatever is open costs :math:`c(x) \ge u\, p(x)`. So if no placement has :math:`p(x) \le m`, where m is the largest
    whole number with :math:`u m < b`, none is cheaper than b.

    Examples
    --------
    >>> import numpy as np
    >>> units = Units.of(np.array([1.5, 2.0, 3.5]), step=0.5, cost=7.0, finest=1000)
    >>> units.prices, units.unit, units.most_below(7.0), units.exact
    (array([3, 4, 7]), 0.5, 13, True)
    >>> Units.of(np.array([0.3, 0.7]), step=None, cost=1.0, finest=100).prices  # in units of 1/64
    array([19, 44])
    """

    prices: Ints
    unit: float
    exact: bool

    @classmethod
    def of(cls, prices: Floats, step: float | None, cost: float, finest: int) -> Units:
        """Count in steps if there are at most `finest` of them in `cost`, else in the smallest power of two with that.

        Parameters
        ----------
        prices
            Of each site, none negative.
        step
            A number of which all are multiples; ``None``: there is none.
        cost
            What is to be counted: the best cost known.
        finest
            Most units in `cost`.
        """
        if not prices.any():
            return cls(np.zeros(len(prices), np.int64), 1.0, True)
        if step is not None and max(cost, float(prices.max())) <= finest * step:
            return cls(np.round(prices / step).astype(np.int64), step, True)
        size = cost if cost > 0 and math.isfinite(cost) else float(prices.max())
        unit = math.ldexp(1.0, math.ceil(math.log2(size / finest)))
        # Division by a power of two is exact. What costs far more than all that is looked for costs too much anyway.
        whole = np.minimum(np.floor(prices / unit), 2.0 * finest + 2.0).astype(np.int64)
        return cls(whole, unit, bool((whole * unit == prices).all()))

    def most_below(self, cost: float) -> int:
        """The largest number of units whose worth is below a cost, by more than rounding."""
        most = math.ceil(cost / self.unit) - 1
        return most - 1 if most >= 0 and (most * self.unit) >= cost * (1 - NEAR / 2) else most

    def worth(self, count: float) -> float:
        """A bound in units as a bound of costs."""
        return self.unit * count
