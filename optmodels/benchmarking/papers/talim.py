"""Talim, Liu, Nain, Coffman (2001): Tables 1 and 2 and Figures 2 to 4, cell by cell.

Least costs come from policy iteration with a bracket; iteration counts from the paper's own method, on its own chain
(`optmodels.benchmarking.papers.published_iteration`). Numbers are the same if they are right to half a unit of their
last digit.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from queueing.robots import PolicyStep, RobotQueue, balancing_weight, best_policy, best_static, static_measures

from .published_iteration import paper_iteration
from .tables import PaperTable, Printed, printed

PAPER = "Talim et al. (2001)"


def _paper() -> Printed:
    return printed("talim", PAPER)


def table_1() -> PaperTable:
    """As many robots as the best fixed number."""
    return _table("table_1", "Table 1")


def table_2() -> PaperTable:
    """As many robots as ever help."""
    return _table("table_2", "Table 2")


def _table(table: str, title: str) -> PaperTable:
    paper, cells = _paper(), []
    for row in paper.rows(table):
        label = ", ".join((row["lambda"], row["K"], row["gamma"]))
        for column in list(row)[3:]:
            found = _value(table, row["lambda"], row["K"], row["gamma"], row["N_s"], column)
            cells.append(paper.cell(title, label, column, row[column], found))
    return PaperTable(PAPER, title, tuple(cells), "Rows are lambda, K and gamma; 1.13 is 17/15 in dynamic columns.")


def _value(table: str, rate: str, capacity: str, gamma: str, static: str, column: str) -> float:
    queue, found = _solved(table, rate, capacity, gamma, static)
    weight = float(gamma)
    best = best_static(queue, weight)
    measures = static_measures(queue, best)
    least = weight * measures.starvation + measures.loss_rate
    match column:
        case "N_s":
            return float(best)
        case "C_s":
            return float(least)
        case "C_d":
            return float(found.gain)
        case "N_min":
            return float(queue.measures(found.policy).fewest_robots)
        case "N_bar":
            return float(queue.measures(found.policy).active_robots)
        case "N_max":  # where the switching curve ends
            return float(np.flatnonzero(found.policy[0])[-1])
        case "N_iter":  # the paper counts the first values here, and does not in its figures
            arguments = queue.robots, queue.capacity, queue.arrival_rate, 1.0, _weight(gamma)
            return float(paper_iteration(*arguments).iterations + 1)
        case _:
            return float(100.0 * (least / found.gain - 1.0))


def _weight(gamma: str) -> float:
    """Gamma of the dynamic columns: rows printed 1.13 were computed with 17/15."""
    return float(balancing_weight(15)) if gamma == "1.13" else float(gamma)


@cache
def _solved(table: str, rate: str, capacity: str, gamma: str, static: str) -> tuple[RobotQueue, PolicyStep]:
    robots = int(static) if table == "table_1" else round(1.6 / float(rate)) + 40
    queue = RobotQueue(robots, int(capacity), float(rate))
    return queue, best_policy(queue, queue.cost(_weight(gamma)))


def figures() -> PaperTable:
    """Costs and iteration counts under the pictures of policies."""
    paper, cells = _paper(), []
    for row in paper.rows("figures"):
        label = f"Figure {row['figure']}"
        queue = RobotQueue(int(row["N"]), int(row["K"]), float(row["lambda"]), float(row["mu"]))
        gamma = float(row["gamma"])
        gain = float(best_policy(queue, queue.cost(gamma)).gain)
        count = paper_iteration(queue.robots, queue.capacity, queue.arrival_rate, float(row["mu"]), gamma).iterations
        cells.append(paper.cell("Figures 2 to 4", label, "cost", row["cost"], gain))
        cells.append(paper.cell("Figures 2 to 4", label, "iterations", row["iterations"], float(count)))
    return PaperTable(PAPER, "Figures 2 to 4", tuple(cells), "The switching curves themselves print no numbers.")


TABLES = (table_1, table_2, figures)

MISSING = {"Figure 1": "a drawing of the model"}
