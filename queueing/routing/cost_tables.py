r"""Tables of costs of gaps, by server, whatever they come from; and functions of one's own as such costs.

Theorem 3.1 of Altman et al. (2000), see :mod:`queueing.routing`, asks for convex costs and one of three conditions on
their ends: they grow faster than any line (2); they are strictly convex and have asymptotes :math:`a_m d + C` with one
C for all servers (3); they are such lines (4). Nothing here needs the same C for all.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..numerics import Matrix, Vector, whole

#: Fewest columns that tables of gap costs are computed with.
FIRST = 64

#: What is below this is not evaluated: doubles lose their digits there, and then are 0.
SMALLEST = 1e-280

#: Costs beyond this are refused: they are multiplied by gaps and added up.
LARGEST = 1e300

#: What second differences may fall short by, relative to the values: they are differences of rounded numbers.
ROUNDING = 16 * float(np.finfo(np.float64).eps)


class GapSource(Protocol):
    """Where gap costs come from."""

    def rows(self, count: int) -> tuple[Matrix, Matrix]:
        """Return f_m(1..count) and r_m(1..count), a row for each server; r is nan where it is not known."""


@dataclass(frozen=True, eq=False)
class GapCosts:
    """Costs of inter-visit gaps, by server; tables are made when asked for, twice as long each time, and kept.

    `loss_costs`, `freshness_costs` and `callable_costs` make them.

    Attributes
    ----------
    source
        makes the tables.
    slopes
        a_m: inf where costs grow faster than any line, nan where it is not known.
    limits
        C_m: nan where there is none or it is not known.

    Notes
    -----
    :math:`f_m(d) = a_m d + C_m + r_m(d)` is what a packet costs that is sent to server m, d slots after the last one;
    `table` holds f and `remainders` holds r, which falls to 0, with all its digits.

    Examples
    --------
    >>> from queueing import Constant, RenewalArrivals, loss_costs
    >>> costs = loss_costs(RenewalArrivals(Constant(1.0)), [0.5, 1.0])
    >>> costs.servers, costs.table(2).round(4).tolist()
    (2, [[0.6065, 0.3679], [0.3679, 0.1353]])
    """

    source: GapSource
    slopes: Vector
    limits: Vector
    _kept: dict[str, Matrix] = field(default_factory=dict, repr=False)

    @property
    def servers(self) -> int:
        """Number of servers."""
        return len(self.slopes)

    def table(self, count: int) -> Matrix:
        """Return f_m(1), ..., f_m(count), a row for each server; read-only."""
        return self._grown("table", count)

    def remainders(self, count: int) -> Matrix:
        """Return r_m(1), ..., r_m(count), a row for each server, with all digits; nan where not known; read-only."""
        return self._grown("remainders", count)

    def _grown(self, name: str, count: int) -> Matrix:
        wanted = whole("count", count, least=1)
        if not self._kept or self._kept[name].shape[1] < wanted:
            length = max(FIRST, 1 << (wanted - 1).bit_length())
            self._kept["table"], self._kept["remainders"] = self.source.rows(length)
            for kept in self._kept.values():
                kept.flags.writeable = False
        return self._kept[name][:, :wanted]

    def __reduce__(self) -> tuple[type["GapCosts"], tuple[GapSource, Vector, Vector]]:
        return GapCosts, (self.source, self.slopes, self.limits)


def callable_costs(
    functions: Sequence[Callable[[int], float]],
    slopes: ArrayLike | None = None,
    limits: ArrayLike | None = None,
    checked: int = 1000,
) -> GapCosts:
    """Make gap costs of functions of one's own.

    Parameters
    ----------
    functions
        by server, f_m(d) for d = 1, 2, ...: convex.
    slopes
        a_m = lim f_m(d) / d, inf where costs grow faster than any line (Condition (2)); nothing is proved of an
        optimum without them.
    limits
        C_m = lim f_m(d) - a_m d, for finite slopes (Conditions (3) and (4)).
    checked
        up to this gap, f is held to be convex, to rise at most by its slope, and to stay above its asymptote.

    Returns
    -------
    GapCosts
        the same costs, as tables.

    Raises
    ------
    ValueError
        if a function is not convex, or contradicts its slope or limit.

    Notes
    -----
    The conditions are those of Theorem 3.1 of Altman et al. (2000), under which some periodic policy is optimal.

    Examples
    --------
    >>> from queueing import callable_costs, word_cost
    >>> costs = callable_costs([lambda d: d**2, lambda d: 2 * d**2], slopes=[float("inf")] * 2)
    >>> word_cost(costs, [0, 1])
    6.0
    """
    if not len(functions):
        raise ValueError("functions must not be empty, but there is no server; give a cost of gaps for each server.")
    known = _asymptotes("slopes", slopes, len(functions))
    ends = np.where(np.isfinite(known), _asymptotes("limits", limits, len(functions)), np.nan)
    costs = GapCosts(_Called(tuple(functions), known, ends), known, ends)
    most = whole("checked", checked, least=3)
    fault = not_convex(costs, most) or _off_asymptote(costs, most)
    if fault is not None:
        raise ValueError(fault)
    return costs


@dataclass(frozen=True, eq=False)
class _Called:
    """Gap costs given as functions."""

    functions: tuple[Callable[[int], float], ...]
    slopes: Vector
    limits: Vector

    def rows(self, count: int) -> tuple[Matrix, Matrix]:
        table = np.array(
            [[_value(f, server, d) for d in range(1, count + 1)] for server, f in enumerate(self.functions)]
        )
        lines = self.slopes[:, None] * np.arange(1.0, count + 1.0) + self.limits[:, None]
        return table, np.where(np.isfinite(lines), np.maximum(0.0, table - lines), np.nan)


def _value(function: Callable[[int], float], server: int, gap: int) -> float:
    try:
        value = float(function(gap))
    except OverflowError:
        value = math.inf
    if not abs(value) <= LARGEST:
        raise ValueError(
            f"The cost of a gap must be a finite number of at most {LARGEST!r}, but server {server} has "
            f"f({gap}) = {value!r}; give a function that is finite for every whole gap from 1, and rises more slowly."
        )
    return value


def _asymptotes(name: str, values: ArrayLike | None, servers: int) -> Vector:
    found = np.full(servers, np.nan) if values is None else np.array(values, dtype=np.float64)
    if found.shape != (servers,):
        raise ValueError(
            f"{name} must hold one number for each of {servers} servers, but its shape is {found.shape}; give one each."
        )
    return found


def not_convex(costs: GapCosts, checked: int) -> str | None:
    """Say why costs are not convex, if they are not.

    Parameters
    ----------
    costs
        of gaps, by server.
    checked
        the largest gap that is looked at.

    Returns
    -------
    str or None
        a sentence that names the first server and gap with :math:`f(d) - 2 f(d + 1) + f(d + 2) < 0` beyond rounding;
        None if there is none.

    Examples
    --------
    Services of nearly constant length make losses concave at first.

    >>> from queueing import Constant, PhaseType, RenewalArrivals, loss_costs
    >>> from queueing.routing import not_convex
    >>> packets = RenewalArrivals(Constant(1.0))
    >>> print(not_convex(loss_costs(packets, [0.5]), 100))
    None
    >>> not_convex(loss_costs(packets, [PhaseType.erlang(50, 10.0)]), 100)[:28]
    'Costs of gaps must be convex'
    """
    f = costs.table(checked)
    bends = f[:, 2:] - f[:, 1:-1] - (f[:, 1:-1] - f[:, :-2])
    least = -ROUNDING * (np.abs(f[:, 2:]) + 2 * np.abs(f[:, 1:-1]) + np.abs(f[:, :-2])) - SMALLEST
    if (bends >= least).all():
        return None
    server, place = np.argwhere(bends < least)[0]
    one, two, three = (float(value) for value in f[server, place : place + 3])
    return (
        f"Costs of gaps must be convex, but server {server} has f({place + 1}) = {one!r}, f({place + 2}) = {two!r}, "
        f"f({place + 3}) = {three!r}, which bend down by {-(three - two - (two - one))!r}; give costs that rise ever "
        "faster, or fall ever slower."
    )


def _off_asymptote(costs: GapCosts, checked: int) -> str | None:
    """Tell where costs contradict their slope or limit; None if they do not for gaps of up to `checked`."""
    f = costs.table(checked)
    for server, (slope, limit) in enumerate(zip(costs.slopes.tolist(), costs.limits.tolist(), strict=True)):
        last, end = float(f[server, -1] - f[server, -2]), float(f[server, -1])
        slack = ROUNDING * (abs(end) + abs(slope) * checked if math.isfinite(slope) else 0.0)
        if slope == -math.inf:
            return f"slopes[{server}] must not be -inf: convex costs fall ever slower; give the slope they tend to."
        if math.isfinite(slope) and last > slope + slack:
            return (
                f"slopes[{server}] must be the limit of f(d + 1) - f(d), which rises, but it is {slope!r} and "
                f"f({checked}) - f({checked - 1}) = {last!r} is above it; give a larger one, or inf."
            )
        if slope == math.inf and not last > float(f[server, 1] - f[server, 0]):
            return (
                f"slopes[{server}] is inf, so f(d + 1) - f(d) must rise, but it is {last!r} at d = {checked - 1} as at "
                "d = 1; give the finite slope."
            )
        if end - slope * checked < limit - slack:
            return (
                f"limits[{server}] must be the limit of f(d) - {slope!r} d, which falls, but it is {limit!r} and "
                f"{end - slope * checked!r} at d = {checked} is below it; give a smaller one."
            )
    return None
