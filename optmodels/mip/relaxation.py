r"""A bound for programs whose linear relaxation is too large for the simplex method: any time, and safe.

The relaxation and its dual are one saddle point,

.. math::  \min_{\underline x \le x \le \overline x} \max_y\; c^\top x - y^\top A x + \sum_i p_i(y_i), \qquad
           p_i(y) = \min_{l_i \le s \le u_i} y s,

and the primal-dual hybrid gradient method walks towards it: a step down in x, a step up in y with x extrapolated. Each
new point is drawn back a little to the point of the last restart (Halpern's iteration, reflected), which makes the
method fast at the end, too [1]_. A step costs two products with the matrix; nothing is factorised.

*Every* y gives a bound, however far the method is from its end,

.. math::  b(y) = \sum_i p_i(y_i) + \sum_j \min\{r_j \underline x_j, r_j \overline x_j\}, \qquad r = c - A^\top y,

computed from the program itself, not from the method's scaled copy, and lowered by more than its rounding errors.

References
----------
.. [1] H. Lu and J. Yang, "Restarted Halpern PDHG for linear programming", arXiv:2407.16144 (2024).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csc_array, diags_array

from .process import SolverProcess
from .program import Bound, Numbers, Outcome, Program, Request
from .worker import Channel

#: Steps between two looks at the clock, the bound and the restart.
LOOK = 40

#: The method ends when bound and value of the relaxation are this near, relatively, and the rows are kept as well.
TOLERANCE = 1e-6

#: A bound is lowered by this share of the sizes of all terms it is made of: far more than their rounding errors.
SAFETY = 1e-13


def solve(request: Request, channel: Channel) -> Outcome:
    """Bound a program better and better until told to stop (see `optmodels.mip.worker`); no points are looked for."""
    program = request.program
    best, taken = -math.inf, 0
    for steps, bound in bounds(program):
        best, taken = max(best, bound), steps
        channel.bound(program.sign * best)
        if channel.stopped or channel.remaining_seconds <= 0:
            break
    status = "interrupt" if channel.stopped else "seconds" if channel.remaining_seconds <= 0 else "relaxed"
    return Outcome(status, None, program.sign * best, message="linear relaxation", detail={"iterations": taken})


class Companion:
    """A process that bounds a program while a solver works on it; a context manager.

    Parameters
    ----------
    program
        What to bound.
    seconds
        Time limit.
    """

    def __init__(self, program: Program, seconds: float = math.inf) -> None:
        self._sign = program.sign
        self._best = -math.inf
        self._process = SolverProcess(f"{__name__}:solve")
        self._listener = threading.Thread(target=self._listen, args=(Request(program), seconds), daemon=True)
        self._listener.start()

    @property
    def bound(self) -> float | None:
        """The best bound so far, as the program states it; ``None`` before the first."""
        return self._sign * self._best if math.isfinite(self._best) else None

    def _listen(self, request: Request, seconds: float) -> None:
        for message in self._process.ask(request, seconds, check=lambda: None):  # interrupts are for the main thread
            value = message.value if isinstance(message, Bound) else getattr(message, "bound", None)
            if value is not None:
                self._best = max(self._best, self._sign * value)

    def __enter__(self) -> Companion:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._listener.join()
        self._process.close()


def bounds(program: Program) -> Iterator[tuple[int, float]]:
    """Bound a program (as if minimised) better and better, until its linear relaxation is solved.

    Where a column has no bound on one side, the bound may be ``-inf`` for long, even to the end.

    Parameters
    ----------
    program
        What to bound.

    Yields
    ------
    tuple of int and float
        Steps taken so far, and a bound that holds whatever comes after it.
    """
    relaxation = _Relaxation(program)
    yield 0, relaxation.safe_bound(np.zeros(program.shape[0]))
    if 0 in program.shape:
        return
    weight, size = relaxation.first_weight(), 0.99 / relaxation.norm()
    point = anchor = (
        np.clip(np.zeros(program.shape[1]), relaxation.lower, relaxation.upper),
        np.zeros(program.shape[0]),
    )
    steps, since, at_restart, before = 0, 0, math.inf, math.inf
    while True:
        for _ in range(LOOK):
            since += 1
            pull = 1.0 / (since + 1.0)
            x, y = relaxation.step(point, size, weight)
            point = (
                (1.0 - pull) * (2.0 * x - point[0]) + pull * anchor[0],
                (1.0 - pull) * (2.0 * y - point[1]) + pull * anchor[1],
            )
        steps += LOOK
        x, y = relaxation.step(point, size, weight)
        bound = relaxation.safe_bound(y)
        yield steps, bound
        if relaxation.is_solved(x, bound):
            return
        error = relaxation.distance((x - point[0], y - point[1]), size, weight)
        if error <= 0.2 * at_restart or (0.8 * at_restart >= error > before) or LOOK < since >= 0.36 * steps:
            moved = float(np.linalg.norm(x - anchor[0])), float(np.linalg.norm(y - anchor[1]))
            if min(moved) > 1e-10:  # like moves of x and y, half trusted
                weight = math.sqrt(weight * moved[1] / moved[0])
            point = anchor = (x, y)
            since, at_restart, before = 0, error, math.inf
        else:
            before = error


_Point = tuple[Numbers, Numbers]


class _Relaxation:
    """The program as it is, and a copy with rows and columns scaled to like sizes.

    The scales are those of largest entries (Ruiz), ten times, then of sums (Pock and Chambolle).
    """

    def __init__(self, program: Program) -> None:
        matrix = csc_array((program.values, program.rows, program.starts), shape=program.shape)
        rows, columns = np.ones(program.shape[0]), np.ones(program.shape[1])
        scaled: Any = matrix
        for turn in range(11):
            size = abs(scaled)
            by_row, by_column = (
                (size.max(axis=1).toarray(), size.max(axis=0).toarray())
                if turn < 10 and size.nnz
                else (size.sum(axis=1), size.sum(axis=0))
            )
            rows = rows / np.sqrt(np.where(by_row > 0, by_row, 1.0))
            columns = columns / np.sqrt(np.where(by_column > 0, by_column, 1.0))
            scaled = diags_array(rows) @ matrix @ diags_array(columns)
        self.program, self.row_scale = program, rows
        self.transposed, self.scaled, self.scaled_transposed = matrix.T.tocsr(), scaled.tocsr(), scaled.T.tocsr()
        self.cost = program.sign * program.cost * columns
        self.lower, self.upper = program.column_lower / columns, program.column_upper / columns
        self.row_lower, self.row_upper = program.row_lower * rows, program.row_upper * rows

    def step(self, point: _Point, size: float, weight: float) -> _Point:
        """One step down in x, one up in y."""
        x, y = point
        down, up = size / weight, size * weight
        new_x = np.clip(x - down * (self.cost - self.scaled_transposed @ y), self.lower, self.upper)
        activity = self.scaled @ (2.0 * new_x - x)
        wanted = np.clip(activity - y / up, self.row_lower, self.row_upper)
        return new_x, y - up * (activity - wanted)

    def norm(self) -> float:
        """Largest singular value of the scaled matrix, a little too large rather than too small."""
        vector = np.random.default_rng(0).standard_normal(self.scaled.shape[1])
        size = 0.0
        for _ in range(40):
            vector = self.scaled_transposed @ (self.scaled @ (vector / max(float(np.linalg.norm(vector)), 1e-300)))
            size = math.sqrt(float(np.linalg.norm(vector)))
        return 1.05 * size or 1.0

    def first_weight(self) -> float:
        """How much faster to move y than x, at first."""
        lower = np.where(np.isfinite(self.row_lower), self.row_lower, 0.0)
        right = np.where(np.isfinite(self.row_upper), self.row_upper, lower)
        sizes = float(np.linalg.norm(self.cost)), float(np.linalg.norm(right))
        return sizes[0] / sizes[1] if min(sizes) > 0 else 1.0

    def distance(self, change: _Point, size: float, weight: float) -> float:
        """Length of a step in the norm in which steps never grow."""
        x, y = change
        square = weight / size * float(x @ x) + float(y @ y) / (weight * size) - 2.0 * float(y @ (self.scaled @ x))
        return math.sqrt(max(square, 0.0))

    def is_solved(self, x: Numbers, bound: float) -> bool:
        """Whether a bound is the value of the relaxation, up to the tolerance."""
        activity = self.scaled @ x
        broken = float(np.linalg.norm(activity - np.clip(activity, self.row_lower, self.row_upper)))
        value = float(self.cost @ x) + self.program.sign * self.program.offset
        return broken <= TOLERANCE * (1.0 + float(np.linalg.norm(activity))) and abs(value - bound) <= TOLERANCE * (
            1.0 + abs(value)
        )

    def safe_bound(self, scaled_y: Numbers) -> float:
        """The bound that y gives for the program itself."""
        program = self.program
        y = scaled_y * self.row_scale
        # A multiplier of the wrong sign (by rounding) would count an infinite side: drop it, any y will do.
        y[((y > 0) & np.isneginf(program.row_lower)) | ((y < 0) & np.isposinf(program.row_upper))] = 0.0
        products = self.transposed @ y
        reduced = program.sign * program.cost - products
        sides = np.where(y > 0, program.row_lower, np.where(y < 0, program.row_upper, 0.0)) * y
        with np.errstate(invalid="ignore"):  # 0 times infinity is 0 here
            columns = np.where(
                reduced == 0, 0.0, np.where(reduced > 0, program.column_lower, program.column_upper) * reduced
            )
        if not np.isfinite(columns).all():
            return -math.inf
        widest = np.maximum(np.abs(program.column_lower), np.abs(program.column_upper))
        sizes = (abs(self.transposed) @ np.abs(y) + np.abs(program.cost)) * np.where(np.isfinite(widest), widest, 0.0)
        noise = SAFETY * (float(np.abs(sides).sum()) + float(sizes.sum()) + abs(program.offset))
        return math.fsum(sides) + math.fsum(columns) + program.sign * program.offset - noise
