"""A check that a solver keeps the contract: for our own tests and for third parties.

Small programs with known answers go through the solver's own process, as they do in a run.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from heuristics import agree

from ..registry import solvers
from .process import SolverProcess
from .program import NOTHING, Bound, Incumbent, Message, Outcome, Program, Request
from .solvers import SOLVERS, Solver

#: Seconds for a program that takes none, and for one that takes much longer.
EASY_SECONDS, HARD_SECONDS = 30.0, 1.0

#: Seconds that a solver may take to hear that it is to stop.
LATE = 1.0

#: Last words after which there may be a point and a bound.
ENDED = ("optimal", "seconds", "interrupt", "gave up")


def check_solver(solver: str | Solver) -> None:
    """Let a solver work on small programs whose answers are known, and see that it keeps the contract.

    What is checked: the optimum is found and proved, with offsets, equations, ranges and negative bounds, for smallest
    and largest values alike; every point that is sent keeps all constraints and has the value that is claimed, and no
    bound lies beyond the optimum; "infeasible" and "unbounded" are said where they are true, and nowhere else; a start
    changes no answer; a program that is not taken is refused in a sentence; and a solver at work stops in time.

    Parameters
    ----------
    solver
        Its name (`optmodels.registry.solvers`), or its record.

    Raises
    ------
    AssertionError
        With one line for each rule that is broken.
    RequestError
        If nothing has this name, or what has it cannot be loaded.

    Examples
    --------
    >>> from optmodels import check_solver
    >>> check_solver("highs")
    """
    name = solver if isinstance(solver, str) else solver.backend.partition(":")[0]
    record = (SOLVERS[solver] if solver in SOLVERS else solvers[solver]) if isinstance(solver, str) else solver
    missing = record.missing(name)
    assert missing is None, missing
    broken = [f"solver {name!r}: {sentence}" for rule in _RULES for sentence in rule(record.backend)]
    assert not broken, "\n".join(dict.fromkeys(broken))


def asked(backend: str, request: Request, seconds: float) -> tuple[list[Message], Outcome]:
    """Send a request to a solver in its own process; return what it said on the way, and its last word."""
    with SolverProcess(backend) as process:
        *before, last = process.ask(request, seconds)
    assert isinstance(last, Outcome)
    return before, last


# -- programs ----------------------------------------------------------------------------------------------------------


def program(
    cost: Sequence[float],
    matrix: Sequence[Sequence[float]],
    rows: Sequence[tuple[float, float]],
    columns: Sequence[tuple[float, float]],
    whole: Sequence[bool],
    *,
    offset: float = 0.0,
    maximise: bool = False,
    name: str = "small",
) -> Program:
    """Write a program from a matrix and pairs of bounds.

    >>> program([1.0], [[1.0]], [(1.0, 2.0)], [(0.0, 5.0)], [True]).shape
    (1, 1)
    """
    dense = np.array(matrix, dtype=float).reshape(len(rows), len(cost))
    entries = [np.flatnonzero(dense[:, j]) for j in range(len(cost))]
    lower, upper = (np.array([pair[side] for pair in rows], dtype=float) for side in (0, 1))
    low, high = (np.array([pair[side] for pair in columns], dtype=float) for side in (0, 1))
    return Program(
        cost=np.array(cost, dtype=float),
        offset=offset,
        maximise=maximise,
        starts=np.cumsum([0, *(len(found) for found in entries)]).astype(np.int32),
        rows=np.concatenate([np.empty(0), *entries]).astype(np.int32),
        values=np.concatenate([np.empty(0), *(dense[found, j] for j, found in enumerate(entries))]),
        row_lower=lower,
        row_upper=upper,
        column_lower=low,
        column_upper=high,
        whole=np.array(whole, dtype=bool),
        row_names=tuple(f"row_{i}" for i in range(len(rows))),
        column_names=tuple(f"x_{j}" for j in range(len(cost))),
        name=name,
    )


def knapsack() -> Program:
    """Eight things, two sacks: the largest value, with an offset; a binary program."""
    values, weights, sizes = (9, 14, 7, 12, 5, 8, 11, 6), (3, 5, 2, 4, 1, 3, 4, 2), (2, 3, 4, 2, 5, 1, 2, 3)
    rows = [(-math.inf, 11.0), (-math.inf, 12.0)]
    things = [(0.0, 1.0)] * 8
    return program(values, [weights, sizes], rows, things, [True] * 8, offset=100.0, maximise=True, name="knapsack")


def integers() -> Program:
    """A smallest value over whole numbers, some of them negative, with an equation and a range."""
    matrix = [[1, 1, 1], [2, -3, 1]]
    rows, columns = [(4.0, 4.0), (-5.0, 6.0)], [(-3.0, 5.0), (-2.0, 4.0), (0.0, 6.0)]
    return program([3.0, -2.0, 1.0], matrix, rows, columns, [True] * 3, offset=-2.5, name="integers")


def mixed() -> Program:
    """Whole and continuous variables: smallest value 5.5, at x_0 = 2, x_1 = 1.5."""
    rows = [(3.5, math.inf), (-math.inf, 0.0)]
    return program(
        [2.0, 1.0], [[1.0, 1.0], [-1.0, 1.0]], rows, [(0.0, 10.0), (0.0, math.inf)], [True, False], name="mixed"
    )


def contradictory() -> Program:
    """Three variables of which two are to be 1 and no two may be: its relaxation has solutions, it has none."""
    pairs = [[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]]
    rows = [(-math.inf, 1.0)] * 3 + [(1.25, math.inf)]
    return program([1.0] * 3, pairs, rows, [(0.0, 1.0)] * 3, [True] * 3, name="contradictory")


def unbounded() -> Program:
    """A continuous variable without a bound in the direction of its cost."""
    return program([-1.0, 1.0], [[1.0, -1.0]], [(0.0, math.inf)], [(0.0, math.inf)] * 2, [False] * 2, name="unbounded")


def hard() -> Program:
    """Equations over 40 binary variables (G. Cornuejols and M. Dawande, 1998, "market split"): minutes or hours."""
    rng = np.random.default_rng(1)
    matrix = rng.integers(0, 100, size=(5, 40)).astype(float)
    slack = np.hstack([np.eye(5), -np.eye(5)])
    right = np.floor(matrix.sum(axis=1) / 2)
    columns = [(0.0, 1.0)] * 40 + [(0.0, 5000.0)] * 10
    rows = [(value, value) for value in right.tolist()]
    cost = [0.0] * 40 + [1.0] * 10
    return program(cost, np.hstack([matrix, slack]).tolist(), rows, columns, [True] * 50, name="hard")


def enumerated(listed: Program) -> float:
    """The best value of a program of few whole numbers, by trying all points."""
    ranges = [
        range(int(low), int(high) + 1) for low, high in zip(listed.column_lower, listed.column_upper, strict=True)
    ]
    points = (np.array(point, dtype=float) for point in itertools.product(*ranges))
    values = [listed.objective(point) for point in points if listed.broken_row(point) is None]
    return max(values) if listed.maximise else min(values)


# -- rules -------------------------------------------------------------------------------------------------------------


def _optima(backend: str) -> Iterator[str]:
    """Whether optima are found, by every road."""
    for listed, best in ((knapsack(), enumerated(knapsack())), (integers(), enumerated(integers())), (mixed(), 5.5)):
        plain = Request(listed)
        for request, how in ((plain, ""), (replace(plain, presolve=False, threads=1), " without presolve")):
            before, last = asked(backend, request, EASY_SECONDS)
            where = f"on {listed.name!r}{how}"
            if last.status == "refused" and listed.name == "mixed":  # not every solver takes continuous variables
                yield from _refusal(last, where)
                continue
            yield from _answer(listed, before, last, best, where)


def _starts(backend: str) -> Iterator[str]:
    """Whether a start, good or bad, changes no answer."""
    listed = knapsack()
    for start in (np.zeros(8), np.array([1.0, 0, 0, 0, 0, 0, 0, 0])):
        before, last = asked(backend, Request(listed, start=start), EASY_SECONDS)
        yield from _answer(listed, before, last, enumerated(listed), "on 'knapsack' with a start")


def _contradictions(backend: str) -> Iterator[str]:
    """Whether what has no solution is called so."""
    for presolve in (True, False):
        before, last = asked(backend, Request(contradictory(), presolve=presolve), EASY_SECONDS)
        if last.status not in ("infeasible", "unclear"):
            yield f"'contradictory' has no solution, and was called {last.status!r} ({_first_line(last.message)})."
        if any(isinstance(message, Incumbent) for message in before):
            yield "'contradictory' has no solution, and a point of it was sent."


def _unbounded(backend: str) -> Iterator[str]:
    """Whether what has no best value is called so, or refused."""
    _, last = asked(backend, Request(unbounded()), EASY_SECONDS)
    if last.status == "refused":
        yield from _refusal(last, "on 'unbounded'")
    elif last.status not in ("unbounded", "unclear"):
        yield f"'unbounded' has no smallest value, and was called {last.status!r} ({_first_line(last.message)})."


def _time(backend: str) -> Iterator[str]:
    """Whether a solver that has much to do ends in time, and tells nothing that is not so."""
    listed, began = hard(), time.monotonic()
    before, last = asked(backend, Request(listed, threads=1), HARD_SECONDS)
    took = time.monotonic() - began
    if "was ended" in last.message or took > HARD_SECONDS + LATE + EASY_SECONDS:
        told = "look at channel.stopped or channel.remaining_seconds"
        yield f"it did not stop at its limit of {HARD_SECONDS:g} s: {told}."
    elif last.status not in ENDED:
        yield f"at its time limit it said {last.status!r} ({_first_line(last.message)}), none of {', '.join(ENDED)}."
    yield from _points(listed, [*before, last], None, "on 'hard'")


_RULES: tuple[Callable[[str], Iterator[str]], ...] = (_optima, _starts, _contradictions, _unbounded, _time)


def _answer(listed: Program, before: list[Message], last: Outcome, best: float, where: str) -> Iterator[str]:
    """What is wrong with the answer to a program that has this best value."""
    if last.status != "optimal":
        yield f"{where}: it said {last.status!r} ({_first_line(last.message)}), not 'optimal'."
        return
    if last.objective is None or not agree(last.objective, best, listed.size(np.ones(listed.shape[1]))):
        yield f"{where}: its optimum is {last.objective}, and {best} is right."
    if not any(isinstance(message, Incumbent) for message in before):
        yield f"{where}: it speaks of an optimum and sent no point."
    yield from _points(listed, [*before, last], best, where)


def _points(listed: Program, said: list[Message], best: float | None, where: str) -> Iterator[str]:
    """What is wrong with points and bounds."""
    values = []
    for message in said:
        if isinstance(message, Incumbent):
            point = np.asarray(message.point, dtype=float)
            try:
                row = listed.broken_row(listed.rounded(point))
            except ValueError as failure:
                yield f"{where}: it sent a point of no use: {failure}"
                continue
            if row is not None:
                yield f"{where}: it sent a point that breaks {row}."
            elif not agree(message.objective, listed.objective(point), listed.size(point)):
                yield f"{where}: it claims {message.objective} of a point whose value is {listed.objective(point)}."
            else:
                values.append(listed.sign * message.objective)
    reached = listed.sign * best if best is not None else min(values, default=math.inf)
    for message in said:
        value = message.value if isinstance(message, Bound) else message.bound if isinstance(message, Outcome) else None
        if value is None or (isinstance(message, Outcome) and message.status in NOTHING):
            continue
        if listed.sign * value > reached + 1e-6 * max(1.0, abs(reached)):
            yield f"{where}: it claims a bound of {value}, and {listed.sign * reached} is possible."


def _refusal(last: Outcome, where: str) -> Iterator[str]:
    """What is wrong with a refusal."""
    if not last.message.strip().endswith(".") or "\n" in last.message.strip():
        yield f"{where}: it refuses with {last.message!r}; a refusal is one line that ends with a period."


def _first_line(message: str) -> str:
    lines = message.strip().splitlines()
    return lines[-1] if lines else "no message"
