"""Avrachenkov, Dudin, Klimenok, Nain, Semenova (2011): Tables 1 to 5 and what can be read off Figures 1 to 4.

The paper cuts digits off more often than it rounds: a number is the same if it is right to one unit of its last digit.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ...instance import load
from ...solving import solve
from .tables import Cell, PaperTable, Printed, printed

PAPER = "Avrachenkov et al. (2011)"

#: Thresholds of a pair of modes are read off these decisions: modes 4, 3, 2, 1, and after how many pages each ends.
REPAIRS = {"inria-batches-mended": "batches mended", "inria-quiet-mended": "quiet times mended"}


def _paper() -> Printed:
    return printed("avrachenkov", PAPER)


@cache
def _problem(name: str) -> Any:
    return load(name)


@cache
def _answer(name: str) -> Any:
    return solve(_problem(name), "exhaustive")


def _by_modes(name: str) -> dict[tuple[int, ...], dict[str, Any]]:
    """Best thresholds by sub-set of modes, most robots first."""
    return {tuple(row["robots"]): row for row in _problem(name).best_by_modes}


def _used(name: str) -> tuple[list[int], list[int]]:
    """Numbers of robots that the best policy uses, most first, and its thresholds between them."""
    problem = _problem(name)
    modes = problem.queue.mode_by_level(_answer(name).decision).tolist()
    switches = [level for level in range(len(modes) - 1) if modes[level] != modes[level + 1]]
    return [problem.modes[modes[level]].robots for level in [*switches, len(modes) - 1]], switches


def _join(values: list[int]) -> str:
    return ",".join(map(str, values))


def table_1() -> PaperTable:
    """The best thresholds and costs of every set of modes, K = 5."""
    paper, cells = _paper(), []
    for row in paper.rows("table_1"):
        best = _by_modes("avrachenkov-k5")[tuple(int(count) for count in row["robots"].split(" or "))]["all_used"]
        thresholds = _join(best["thresholds"]) or "-"
        cells.append(paper.cell("Table 1", row["robots"], "thresholds", row["thresholds"], thresholds))
        cells.append(paper.cell("Table 1", row["robots"], "cost", row["cost"], best["objective"], units=1))
    return PaperTable(PAPER, "Table 1", tuple(cells))


def table_2() -> PaperTable:
    """Capacities."""
    return _study("table_2", "Table 2", "avrachenkov-k{}")


def table_3() -> PaperTable:
    """Rates of service."""
    return _study("table_3", "Table 3", "avrachenkov-service-{}")


def table_4() -> PaperTable:
    """Rates at which pages go out of date."""
    return _study("table_4", "Table 4", "avrachenkov-patience-{}")


def _study(table: str, title: str, files: str) -> PaperTable:
    """A table with a row for each value of one number."""
    paper, cells = _paper(), []
    key = paper.content[table]["columns"][0]
    for row in paper.rows(table):
        value = row[key]
        name = "avrachenkov-k5" if key == "s" and value == "1" else files.format(value)
        for column, text in row.items():
            if column != key:
                means = column in ("b_1", "g_1")  # elsewhere Tables 3 and 4 have two places, without zeros at the end
                places = 2 if key == "s" and not means else None
                cells.append(paper.cell(title, value, column, text, _value(name, column), units=1, decimals=places))
    return PaperTable(PAPER, title, tuple(cells))


def _value(name: str, column: str) -> float | str:
    problem = _problem(name)
    if column == "b_1":
        return float(problem.queue.service.mean)
    if column == "g_1":
        return float(problem.queue.patience.mean)
    found = _answer(name)
    if column == "C*":
        return float(found.objective)
    if column == "R%":
        return 100.0 * float(found.extra["relative_profit"])
    if column.startswith("C_"):
        return float(found.extra["single_mode_costs"][column[2:]])
    robots, thresholds = _used(name)
    return _join(sorted(robots)) if column == "robots" else _join(thresholds) or "_"


def table_5() -> PaperTable:
    """The crawler of INRIA, whose matrices leak as printed: mended in two ways."""
    paper, cells = _paper(), []
    for row in paper.rows("table_5"):
        modes = tuple(int(count) for count in reversed(row["robots"].split(",")))
        for repair, words in REPAIRS.items():
            best = _by_modes(repair)[modes]["all_used"]
            if row["thresholds"] not in ("", "-"):
                found = _join(best["thresholds"])
                cells.append(paper.cell("Table 5", row["robots"], f"thresholds, {words}", row["thresholds"], found))
            cost = best["objective"]
            cells.append(paper.cell("Table 5", row["robots"], f"cost, {words}", row["cost"], cost, units=1))
    return PaperTable(PAPER, "Table 5", tuple(cells))


def figure_1() -> PaperTable:
    """Where the curves of pairs of modes have their least costs: as Table 1 says."""
    paper, cells = _paper(), []
    told = {row["robots"]: row for row in paper.rows("table_1")}
    for pair in paper.content["figure_1"]["modes"]:
        label = " or ".join(map(str, pair))
        best = _by_modes("avrachenkov-k5")[tuple(pair)]["all_used"]
        cells.append(paper.cell("Figure 1", label, "least at", told[label]["thresholds"], _join(best["thresholds"])))
        cells.append(paper.cell("Figure 1", label, "least cost", told[label]["cost"], best["objective"], units=1))
    return PaperTable(PAPER, "Figure 1", tuple(cells), "Compared at the least points of its curves.")


def figure_2() -> PaperTable:
    """Variances of service at both ends, and the modes in use."""
    paper, cells = _paper(), []
    ends = zip(("1.521", "9"), paper.content["figure_2"]["variance"], strict=True)
    for first, text in ends:
        cells.append(_variance("Figure 2", f"avrachenkov-fig2-{first}", first, text, "service"))
    for first in ("1.521", "3", "5", "7", "9"):
        pair = _best_pair(f"avrachenkov-fig2-{first}")
        cells.append(paper.cell("Figure 2", first, "best pair of modes", "1,3", _join(sorted(pair))))
    return PaperTable(PAPER, "Figure 2", tuple(cells), "Its curves print no numbers; rows are values of alpha_1.")


def figure_3() -> PaperTable:
    """Where the best modes change."""
    paper, cells = _paper(), []
    text = paper.content["figure_3"]["variance at alpha_1 = 4"]
    cells.append(_variance("Figure 3", "avrachenkov-fig2-4", "4", text, "service"))
    for first in ("1.521", "3", "4", "5", "7", "9"):
        told = "1,4" if float(first) > 4 else "1,3"
        found = _join(sorted(_used(f"avrachenkov-fig2-{first}")[0]))
        cells.append(paper.cell("Figure 3", first, "optimal modes", told, found))
        pair = _join(sorted(_best_pair(f"avrachenkov-fig2-{first}")))
        cells.append(paper.cell("Figure 3", first, "best pair of modes", told, pair))
    return PaperTable(PAPER, "Figure 3", tuple(cells), "Its curves print no numbers; rows are values of alpha_1.")


def figure_4() -> PaperTable:
    """Variances of patience at both ends, and the thresholds there."""
    paper, cells = _paper(), []
    part = paper.content["figure_4"]
    for first, text, threshold in zip(("0.2", "7"), part["variance"], part["thresholds"], strict=True):
        name = f"avrachenkov-fig4-{first}"
        cells.append(_variance("Figure 4", name, first, text, "patience"))
        best = _by_modes(name)[3, 1]["all_used"]
        cells.append(
            paper.cell("Figure 4", first, "threshold of modes 1, 3", str(threshold), _join(best["thresholds"]))
        )
    return PaperTable(PAPER, "Figure 4", tuple(cells), "Its curves print no numbers; rows are values of alpha_1.")


def _variance(title: str, name: str, row: str, text: str, law: str) -> Cell:
    found = float(getattr(_problem(name).queue, law).variance)
    return _paper().cell(title, row, f"variance of {law}", text, found, units=1.01)


def _best_pair(name: str) -> tuple[int, ...]:
    pairs = {robots: row["free"]["objective"] for robots, row in _by_modes(name).items() if len(robots) == 2}
    return min(pairs, key=lambda robots: float(pairs[robots]))


def section_7() -> PaperTable:
    """Rates, correlations and means in the text."""
    paper, cells = _paper(), []
    queue, modes = _problem("avrachenkov-k5").queue, _problem("avrachenkov-k5").modes
    rates = paper.content["rates"]
    for key, attribute in (("lambda", "rate"), ("lambda_g", "group_rate"), ("c_cor", "correlation")):
        for mode, text in zip(modes, rates[key], strict=True):
            found = float(getattr(mode.arrivals, attribute))
            cells.append(paper.cell("Section 7", f"{mode.robots} robots", key, text, found, units=1))
    cells.append(paper.cell("Section 7", "service", "b_1", rates["b_1"], float(queue.service.mean), units=1))
    cells.append(
        paper.cell("Section 7", "patience", "g_1", rates["g_1"], round(float(queue.patience.mean), 9), units=1)
    )
    single = _problem("avrachenkov-k5").single_mode_costs
    for robots, text in enumerate(paper.content["single_modes"], start=1):
        cells.append(paper.cell("Section 7", f"{robots} robots", "cost", text, float(single[robots]), units=1))
    return PaperTable(PAPER, "Section 7, text", tuple(cells))


TABLES = (table_1, table_2, table_3, table_4, table_5, figure_1, figure_2, figure_3, figure_4, section_7)

MISSING: dict[str, str] = {}
