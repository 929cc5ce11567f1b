r"""Costs of a packet by the number of slots since the last one was sent to the same server: registry ``gap_costs``.

A gap cost is any convex callable f of a whole number n >= 1. What it says about large n is worth proofs: `slope` and
`limit`, with :math:`f(n) - \mathrm{slope} \cdot n \to \mathrm{limit}` (slope ``inf``: f grows faster than any line);
one that says neither can be searched, but nothing is proved about it. An instance file names a registered one,
``{"gap_cost": "power", "exponent": 2}``, and its parameters; a file never runs code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from ..costs import from_fields
from ..data import parameter_fields
from ..errors import InstanceError, RequestError, UnknownName
from ..registry import gap_costs


@runtime_checkable
class GapCost(Protocol):
    """Cost of a packet that follows the last one to its server after n slots. Optional: ``slope``, ``limit``."""

    def __call__(self, gap: int) -> float: ...


@dataclass(frozen=True)
class Power:
    """Price a gap of n slots by a power: f(n) = factor n ** exponent.

    Parameters
    ----------
    factor
        Zero or more.
    exponent
        1 or more; above 1 the cost grows faster than any line, and every server is used for ever.

    Examples
    --------
    >>> from optmodels.routing import Power
    >>> Power(factor=2.0)(3)
    18.0
    >>> Power(exponent=1.0).slope
    1.0
    """

    factor: float = 1.0
    exponent: float = 2.0

    def __post_init__(self) -> None:
        _require_finite(self, "factor", "exponent")
        if self.factor < 0 or self.exponent < 1:
            raise ValueError(f"factor must be 0 or more and exponent 1 or more, got {self.factor} and {self.exponent}.")

    def __call__(self, gap: int) -> float:
        return float(self.factor * float(gap) ** self.exponent)

    @property
    def slope(self) -> float:
        """The slope of the line that f approaches."""
        return math.inf if self.exponent > 1 and self.factor > 0 else self.factor

    @property
    def limit(self) -> float:
        """How far f stays above the line of this slope through 0 in the end; ``nan`` if there is no line."""
        return math.nan if math.isinf(self.slope) else 0.0


@dataclass(frozen=True)
class LinearExponential:
    """Price a gap of n slots by f(n) = linear n + constant + factor exp(-decay n).

    Examples 3.2 and 3.4 of Altman et al. (2000).

    Parameters
    ----------
    linear, constant
        Any sign.
    factor
        Zero or more.
    decay
        Any sign; below 0 the cost grows faster than any line.

    Examples
    --------
    >>> from optmodels.routing import LinearExponential
    >>> cost = LinearExponential(linear=1.0, factor=2.0, decay=0.5)
    >>> round(cost(2), 6)
    2.735759
    >>> cost.slope, cost.limit
    (1.0, 0.0)
    """

    linear: float = 0.0
    constant: float = 0.0
    factor: float = 1.0
    decay: float = 1.0

    def __post_init__(self) -> None:
        _require_finite(self, "linear", "constant", "factor", "decay")
        if self.factor < 0:
            raise ValueError(f"factor must be 0 or more, got {self.factor}.")

    def __call__(self, gap: int) -> float:
        return self.linear * gap + self.constant + self.factor * math.exp(-self.decay * gap)

    @property
    def slope(self) -> float:
        """The slope of the line that f approaches."""
        return math.inf if self.decay < 0 < self.factor else self.linear

    @property
    def limit(self) -> float:
        """How far f stays above the line of this slope through 0 in the end; ``nan`` if there is no line."""
        if math.isinf(self.slope):
            return math.nan
        return self.constant + (self.factor if self.decay == 0 else 0.0)


@dataclass(frozen=True)
class Table:
    """Price gaps of 1, 2, ... slots by a table, longer ones by a straight line.

    Parameters
    ----------
    values
        One at least; differences must not fall.
    slope
        By which f rises in each slot after the last of `values`; not less than their last difference.

    Examples
    --------
    >>> from optmodels.routing import Table
    >>> cost = Table((1.0, 1.5, 2.5), slope=2.0)
    >>> cost(2), cost(5)
    (1.5, 6.5)
    """

    values: tuple[float, ...]
    slope: float = 0.0

    def __post_init__(self) -> None:
        _require_finite(self, "slope")
        if isinstance(self.values, str) or not isinstance(self.values, Sequence) or not self.values:
            raise ValueError(f"values must be a list of numbers, one at least, got {self.values!r}.")
        for index, value in enumerate(self.values):
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise ValueError(f"values[{index}] must be a finite number, got {value!r}.")
        object.__setattr__(self, "values", tuple(float(value) for value in self.values))

    def __call__(self, gap: int) -> float:
        last = len(self.values)
        return self.values[gap - 1] if gap <= last else self.values[-1] + self.slope * (gap - last)

    @property
    def limit(self) -> float:
        """How far f stays above the line of this slope through 0 in the end."""
        return self.values[-1] - self.slope * len(self.values)


@dataclass(frozen=True)
class Given:
    """A function of your own, with what is known about large gaps.

    Parameters
    ----------
    function
        Cost of a packet after a gap of n slots; convex.
    slope, limit
        Of the line that it comes near to, ``inf`` for a slope without bound; ``nan``: not known, and nothing is proved.
    """

    function: Callable[[int], float]
    slope: float = math.nan
    limit: float = math.nan

    def __call__(self, gap: int) -> float:
        return float(self.function(gap))


def asymptotes_of(costs: Sequence[Callable[[int], float]]) -> tuple[Sequence[float], Sequence[float]]:
    """Collect what gap costs say about their slopes and their limits, ``nan`` where nothing."""
    slopes, limits = ([float(getattr(cost, name, math.nan)) for cost in costs] for name in ("slope", "limit"))
    return slopes, limits


def read_gap_cost(data: Mapping[str, Any], place: str) -> GapCost:
    """Read the gap cost that a file names; everything else must be a field of the class found in the registry."""
    name = data["gap_cost"]
    if not isinstance(name, str):
        raise InstanceError(f"{place}.gap_cost", name, f"name one of {', '.join(gap_costs)}.")
    try:
        target = gap_costs[name]
    except UnknownName as unknown:
        raise InstanceError(f"{place}.gap_cost", name, str(unknown)) from None
    made: GapCost = from_fields(target, data, "gap_cost", place, f"gap cost {name!r}")
    return made


def write_gap_cost(cost: GapCost) -> dict[str, Any]:
    """Write a gap cost as `read_gap_cost` reads it; one that no registry knows is refused."""
    name = gap_costs.name_of(type(cost))
    if name is None:
        raise RequestError(
            f"the gap cost {cost!r} has no name a file could use; make it a dataclass and register it first: "
            f"optmodels.registry.gap_costs.register('my-cost', {type(cost).__name__})."
        )
    values = {key: getattr(cost, key) for key in parameter_fields(type(cost))}
    return {"gap_cost": name} | {
        key: list(value) if isinstance(value, tuple) else value for key, value in values.items()
    }


def _require_finite(cost: Any, *names: str) -> None:
    """Raise one sentence for the first of these fields that is not a finite number."""
    for name in names:
        value = getattr(cost, name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError(f"{name} must be a finite number, got {value!r}.")
