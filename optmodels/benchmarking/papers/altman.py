"""Altman, Bhulai, Gaujal, Hordijk (2000): what can be read off Figure 1, and the examples that have numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...instance import load, read
from ...solving import evaluate, solve
from .tables import PaperTable, Printed, printed

PAPER = "Altman et al. (2000)"


def _paper() -> Printed:
    return printed("altman", PAPER)


def figure_1() -> PaperTable:
    """The rate of the fast server at which the best period grows from 2 to 3, the one point that has a number."""
    paper = _paper()
    problem: Any = load("figure-1")

    def longer_is_worse(rate: float) -> bool:
        faster = replace(problem, servers=[{"rate": 1.0}, {"rate": rate}])
        costs = [evaluate(faster, word).objective for word in ([0, 1], [0, 1, 1])]
        assert costs[0] is not None and costs[1] is not None
        return costs[1] > costs[0]

    low, high = 1.0, 100.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if longer_is_worse(middle) else (low, middle)
    [(column, text)] = paper.content["figure_1"].items()
    cells = (paper.cell("Figure 1", "lambda = mu_1 = 1", column, text, low),)
    return PaperTable(PAPER, "Figure 1", cells, "Its other steps print no numbers.")


def examples() -> PaperTable:
    """Examples 3.4 and 3.5, and Remark 6.1."""
    paper = _paper()
    rising: Any = solve(load("example-3-4"), "min-mean-cycle").decision
    share = sum(rising) / len(rising)
    turns: Any = solve(load("example-3-5"), "backward-induction").decision
    alone = "not always server 1" if any(turns) else "always server 1"
    visited: Any = solve(load("freshness-weights"), "min-mean-cycle").decision
    servers = read("freshness-weights").data["servers"]
    ratios = [server["weight"] / server["rate"] for server in servers]
    never = [page for page in range(len(ratios)) if page not in visited]
    kind = "small" if [ratios.index(min(ratios))] == never else "large"
    cells = (
        paper.cell(
            "Example 3.4", "d_2 = -0.1", "share of server 2", paper.content["example_3_4"]["share of server 2"], share
        ),
        paper.cell(
            "Example 3.5", "6 slots", "best actions", paper.content["example_3_5"]["with terminal costs"], alone
        ),
        paper.cell(
            "Remark 6.1",
            "freshness-weights",
            "page never updated",
            paper.content["remark_6_1"]["page never updated"],
            f"c_i / mu_i {kind}",
        ),
    )
    return PaperTable(PAPER, "Examples 3.4 and 3.5, Remark 6.1", cells)


TABLES = (figure_1, examples)

MISSING: dict[str, str] = {}
