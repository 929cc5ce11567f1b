"""Coffman, Liu, Weber (1998), who print no table and no figure: the example of section 5, and two claims in numbers."""

from __future__ import annotations

import numpy as np

from heuristics.sequencing import golden_ratio

from ...instance import load
from ...solving import evaluate, solve
from .tables import PaperTable, Printed, printed

PAPER = "Coffman et al. (1998)"

#: F_28: a cycle as long as a Fibonacci number, near the limit of long ones.
SLOTS = 317_811


def _paper() -> Printed:
    return printed("coffman", PAPER)


def example() -> PaperTable:
    """The golden ratio policy for four pages and 13 slots."""
    paper, title = _paper(), "Example of section 5"
    part = paper.content["golden_ratio"]
    slots = sum(part["visits"])
    cycle = golden_ratio(np.array(part["visits"]) / slots, slots) + 1
    told, found = (" ".join(map(str, one)) for one in (part["sequence"], cycle.tolist()))
    numbers = [1, 1]  # F_1, F_2
    while numbers[-1] < slots:
        numbers.append(numbers[-1] + numbers[-2])
    cells = (
        paper.cell(title, "13 slots", "sequence", told, found),
        paper.cell(title, "13 slots", "k", part["k"], float(len(numbers))),
    )
    return PaperTable(PAPER, title, cells)


def corollary_5_1() -> PaperTable:
    """A long cycle of the golden ratio policy on 94 equal pages; the cost over the bound is printed to be 1.0472."""
    paper, title = _paper(), "Corollary 5.1"
    problem = load("equal-94")
    cycle = golden_ratio(np.full(94, 1.0 / 94), SLOTS)
    policy = evaluate(problem, {"schedule": cycle.tolist()}).objective
    bound = solve(problem, "lagrangian").objective
    assert policy is not None and bound is not None
    told = paper.content["corollary_5_1"]["limit"]
    return PaperTable(PAPER, title, (paper.cell(title, "94 equal pages", "cost over bound", told, policy / bound),))


def theorem_3_1() -> PaperTable:
    """One page with two laws of access times, one smaller than the other in the increasing convex order."""
    paper, title = _paper(), "Theorem 3.1"
    costs = [evaluate(f"two-point-{which}", [1.0]).objective for which in ("shorter", "longer")]
    assert costs[0] is not None and costs[1] is not None
    told = paper.content["theorem_3_1"]["shorter access times"]
    found = "fresher" if costs[0] <= costs[1] else "more out of date"
    column = "page with the shorter ones"
    return PaperTable(PAPER, title, (paper.cell(title, "two-point access times", column, told, found),))


TABLES = (example, corollary_5_1, theorem_3_1)

MISSING: dict[str, str] = {}
