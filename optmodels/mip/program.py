"""A linear integer program as plain arrays: what travels from the model to a solver in another process.

Nothing here imports Pyomo or a solver, so that a solver's process starts with numpy alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Indices = NDArray[np.int32]

#: How far a solver's point may stray from a bound, a row or a whole number.
FEASIBILITY = 1e-6

#: How far, relative, a solver's bound may be off; as `heuristics.AGREEMENT`, which a solver's process does not load.
NOISE = 1e-6

#: Rounding of one operation, relative.
EPSILON = 2.0**-52

#: A column that must be whole and is farther than this from a whole number is an error, not noise.
INTEGRALITY = 1e-4

#: Solvers compare objectives up to some 1e-6, in whatever unit they come: they are shown costs in a unit in which the
#: objective, or the largest cost, is about this. Then their noise is 1e-10, relative.
OBJECTIVE_SIZE = 2.0**13

#: Largest cost that is counted in steps, and largest whole number that is looked at for divisors.
MOST_STEPS, LARGEST_COUNT = 2**20, 2**50

#: Largest denominator of two costs that are called multiples of one number.
DENOMINATOR = 1000


@dataclass(frozen=True, eq=False)
class Program:
    r"""Smallest (or largest) value of a linear function under linear constraints.

    .. math::
        \min \text{ or } \max\; c^\top x + c_0 \quad\text{with}\quad
        l \le A x \le u, \quad \underline x \le x \le \overline x, \quad x_j \in \mathbb{Z} \text{ for } j \in J

    Parameters
    ----------
    cost, offset
        :math:`c` and :math:`c_0`.
    maximise
        Which of the two.
    starts, rows, values
        :math:`A` column by column: the entries of column :math:`j` are ``values[starts[j]:starts[j + 1]]``, in the rows
        ``rows[starts[j]:starts[j + 1]]``.
    row_lower, row_upper
        :math:`l` and :math:`u`, infinite where there is none.
    column_lower, column_upper
        Bounds of the variables, likewise.
    whole
        Whether a variable must be a whole number.
    row_names, column_names
        What the model calls its constraints and variables.
    name
        What the model calls itself.
    implied_whole
        Whether every decision has a point with whole numbers throughout, so that a solver that knows no others may take
        all variables for whole. A model says so by an attribute of this name.
    tolerance
        How far a point may stray from a row or a bound where the usual millionth is too much, because small parts of
        it decide its value; ``None``: what the solver takes for rounding. A model says so by an attribute of this name,
        and solvers that know no such option leave it.
    """

    cost: Numbers
    offset: float
    maximise: bool
    starts: Indices
    rows: Indices
    values: Numbers
    row_lower: Numbers
    row_upper: Numbers
    column_lower: Numbers
    column_upper: Numbers
    whole: NDArray[np.bool_]
    row_names: tuple[str, ...]
    column_names: tuple[str, ...]
    name: str = field(default="program")
    implied_whole: bool = False
    tolerance: float | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        return len(self.row_lower), len(self.cost)

    @property
    def sign(self) -> float:
        """1 to minimise, -1 to maximise: the factor that turns a value of the program into one to be minimised."""
        return -1.0 if self.maximise else 1.0

    @property
    def columns(self) -> Indices:
        """Column of each entry of the matrix."""
        return np.repeat(np.arange(len(self.cost), dtype=np.int32), np.diff(self.starts))

    def objective(self, point: Numbers) -> float:
        """Value at a point, as the program states it (not negated when maximising)."""
        return math.fsum(self.cost * point) + self.offset

    def size(self, point: Numbers) -> float:
        """What the value at a point is summed up from, all counted as positive."""
        return math.fsum(np.abs(self.cost * point)) + abs(self.offset)

    def activity(self, point: Numbers) -> Numbers:
        """The left sides :math:`A x`."""
        return np.bincount(self.rows, self.values * point[self.columns], minlength=self.shape[0]).astype(float)

    def rounded(self, point: Numbers) -> Numbers:
        """The point without a solver's noise: whole numbers where they must be, inside the bounds.

        Raises
        ------
        ValueError
            If the point is too far from being whole or within its bounds for that to be noise.
        """
        if point.shape != self.cost.shape or not np.isfinite(point).all():
            raise ValueError(f"a point of this program has {len(self.cost)} finite entries, got {point!r}.")
        clean = np.where(self.whole, np.round(point), point)
        clean = np.clip(clean, self.column_lower, self.column_upper)
        error = np.abs(clean - point) - INTEGRALITY * np.maximum(1.0, np.abs(point))
        if len(error) and error.max() > 0:
            worst = int(error.argmax())
            kind = "a whole number" if self.whole[worst] else "a number"
            raise ValueError(
                f"{self.column_names[worst]} must be {kind} between {self.column_lower[worst]:g} and "
                f"{self.column_upper[worst]:g}, the solver gave {point[worst]!r}."
            )
        return clean + 0.0  # no negative zeros

    def broken_row(self, point: Numbers) -> str | None:
        """Name of the row or column that a point breaks most, or ``None`` if it keeps them all."""
        activity = self.activity(point)
        scale = 1.0 + np.abs(activity)
        excess = np.concatenate(
            [
                np.maximum(self.row_lower - activity, activity - self.row_upper) / scale,
                np.maximum(self.column_lower - point, point - self.column_upper),
                np.where(self.whole, np.abs(point - np.round(point)), 0.0),
            ]
        )
        if len(excess) == 0 or excess.max() <= FEASIBILITY:
            return None
        worst = int(excess.argmax())
        names = self.row_names + self.column_names + self.column_names
        return names[worst]

    def in_unit(self, best: float | None = None) -> tuple[Program, float]:
        """The program with costs in a unit that suits solvers, and the unit: a value of this program is unit x value.

        Costs of whole-number variables that are multiples of a number are counted in it, and are whole then. Otherwise
        the unit is a power of two, so that nothing is rounded, by which the best value known is `OBJECTIVE_SIZE`, or
        the largest cost without one. Where costs only add up, variables that cost more than that value alone stay 0.

        Parameters
        ----------
        best
            Value of a feasible point, as the program states it.
        """
        priced = self.cost != 0
        adds_up = (
            not self.maximise and self.offset >= 0 and not (self.cost < 0).any() and (self.column_lower >= 0).all()
        )
        upper = self.column_upper
        if best is not None and adds_up and best > 0:
            dear = self.whole & (self.cost > (1.0 + FEASIBILITY) * best) & (self.column_lower <= 0)
            upper = np.where(dear, np.minimum(upper, 0.0), upper)
            priced &= ~dear
        if not priced.any():
            return replace(self, cost=np.where(priced, self.cost, 0.0), column_upper=upper), 1.0
        costs = np.where(priced, self.cost, 0.0)
        step = common_step(costs) if self.whole[priced].all() else None
        if step is not None and float(np.abs(costs).max()) <= MOST_STEPS * step:
            cost, unit = np.round(costs / step), step
        else:
            size = abs(best - self.offset) if best is not None else 0.0
            size = max(size, 2.0**-40 * float(np.abs(costs).max())) if size > 0 else float(np.abs(costs).max())
            unit = math.ldexp(1.0, math.frexp(size / OBJECTIVE_SIZE)[1])
            cost = costs / unit
        return replace(self, cost=cost, offset=self.offset / unit, column_upper=upper), unit

    @property
    def counted(self) -> bool:
        """Whether all that costs anything is a whole number of a whole price, so that values differ by 1 at least."""
        priced = self.cost != 0
        return bool(self.whole[priced].all() and (self.cost == np.round(self.cost)).all() and priced.any())

    @property
    def binary(self) -> bool:
        """Whether all variables are whole numbers, and 0 or 1."""
        return bool(self.whole.all() and (self.column_lower >= 0).all() and (self.column_upper <= 1).all())

    def better_than(self, value: float) -> Program:
        """The program with a row more: the objective is no worse than a value, as the program states it."""
        limit = value - self.offset
        return self._with_row(
            np.flatnonzero(self.cost),
            self.cost[self.cost != 0],
            (limit, math.inf) if self.maximise else (-math.inf, limit),
            "better_than_the_best_known",
        )

    def without(self, point: Numbers, deciding: Indices | None = None) -> Program:
        r"""The program without the points whose whole numbers are those of a point of zeros and ones.

        .. math::  \sum_{j : x_j = 0} X_j + \sum_{j : x_j = 1} (1 - X_j) \ge 1

        Parameters
        ----------
        point
            The point.
        deciding
            Columns of whole numbers to which the sums are confined: points that agree with this one there are left
            out, too. ``None``: all.
        """
        clean = self.rounded(point)
        columns = np.flatnonzero(self.whole) if deciding is None else np.unique(deciding)
        if not self.whole[columns].all():
            raise ValueError("points are left out by whole numbers only.")
        if not np.isin(clean[columns], (0.0, 1.0)).all():
            raise ValueError("points are left out of programs whose whole numbers are 0 or 1 only.")
        signs = np.where(clean[columns] > 0.5, -1.0, 1.0)
        bounds = (1.0 - float((signs < 0).sum()), math.inf)
        return self._with_row(columns, signs, bounds, f"without_{self.shape[0]}")

    def _with_row(self, columns: Any, values: Numbers, bounds: tuple[float, float], name: str) -> Program:
        """The program with one row more, which has these values in these columns."""
        order = np.argsort(np.concatenate([self.columns, columns]), kind="stable")
        more = np.bincount(columns, minlength=self.shape[1])
        return replace(
            self,
            starts=(self.starts + np.concatenate([[0], np.cumsum(more)])).astype(np.int32),
            rows=np.concatenate([self.rows, np.full(len(columns), self.shape[0])])[order].astype(np.int32),
            values=np.concatenate([self.values, values])[order],
            row_lower=np.append(self.row_lower, bounds[0]),
            row_upper=np.append(self.row_upper, bounds[1]),
            row_names=(*self.row_names, name),
        )


@dataclass(frozen=True)
class Request:
    """What a solver is asked, with its deadline on the clock that all processes of a machine share (monotonic).

    `tolerance` is how far its points may stray from rows, bounds and whole numbers; ``None``: as the solver likes it.
    """

    program: Program
    deadline: float = math.inf
    gap: float = 0.0
    threads: int | None = None
    presolve: bool = True
    start: Numbers | None = None
    tolerance: float | None = None


@dataclass(frozen=True)
class Incumbent:
    """A point that a solver holds to be feasible, and the value it claims for it, in the sense of the program."""

    point: Numbers
    objective: float


@dataclass(frozen=True)
class Bound:
    """A value that a solver proves no feasible point can better, in the sense of the program."""

    value: float


@dataclass(frozen=True)
class Log:
    """Some lines of a solver's log."""

    text: str


#: Last words after which there is neither a point nor a bound.
NOTHING = ("infeasible", "unbounded", "unclear")


@dataclass(frozen=True)
class Outcome:
    """What a solver says when it has ended.

    Parameters
    ----------
    status
        ``"optimal"`` (within the gap asked for), ``"infeasible"``, ``"unbounded"``, ``"unclear"`` (infeasible or
        unbounded), ``"seconds"``, ``"interrupt"``, ``"gave up"`` (memory, numbers: the message says), ``"refused"``
        (the solver does not take such programs), ``"error"`` (a defect), ``"died"`` (it was ended from outside).
    objective, bound
        Of the best point, and proved; in the sense of the program, ``None`` without one. A bound that is not finite, or
        comes with one of `NOTHING`, is none.
    message
        What a reader should know about it.
    detail
        Version, nodes, time, ...
    """

    status: str
    objective: float | None = None
    bound: float | None = None
    message: str = ""
    detail: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.status in NOTHING or not math.isfinite(self.bound or 0.0):
            object.__setattr__(self, "bound", None)


Message = Incumbent | Bound | Log | Outcome


def common_step(numbers: Numbers) -> float | None:
    """Find the largest number of which all these are multiples, up to rounding.

    Parameters
    ----------
    numbers
        Of any sign; zeros are left out.

    Returns
    -------
    float or None
        ``None`` if there is none to rely on: denominators above `DENOMINATOR`, counts above `MOST_STEPS`, or no number.
    """
    sizes: list[float] = np.unique(np.abs(numbers[numbers != 0])).tolist()
    if not sizes or not sizes[-1] / sizes[0] <= LARGEST_COUNT:
        return None
    if sizes[-1] <= LARGEST_COUNT and all(size.is_integer() for size in sizes):
        return float(math.gcd(*map(int, sizes)))
    parts = [Fraction(size / sizes[0]).limit_denominator(DENOMINATOR) for size in sizes]
    if any(abs(float(part) * sizes[0] - size) > 4 * EPSILON * size for part, size in zip(parts, sizes, strict=True)):
        return None
    denominator = math.lcm(*(part.denominator for part in parts))
    counts = [int(part * denominator) for part in parts]
    counts = [count // math.gcd(*counts) for count in counts]
    return sizes[0] / counts[0] if counts[-1] <= MOST_STEPS else None


def raised_to_step(bound: float, step: float | None) -> float:
    r"""Raise a bound to the least multiple of `step` that is not below it, up to the noise of a solver.

    Parameters
    ----------
    bound
        A lower bound on the objective, perhaps infinite.
    step
        A positive number of which all objectives are multiples; ``None``: there is none, and the bound stays.

    Returns
    -------
    float
        A bound that is as valid, and no lower but for noise.

    Notes
    -----
    With :math:`\epsilon = 10^{-6} \max(s, |b|)`, this is :math:`s \lceil (b - \epsilon) / s \rceil`: a bound just above
    a multiple is taken for that multiple. Where the noise is as large as half a step, the bound stays as it is.
    """
    if step is None or not math.isfinite(bound):
        return bound
    noise = NOISE * max(step, abs(bound))
    if noise >= step / 2:
        return bound
    return step * math.ceil((bound - noise) / step)
