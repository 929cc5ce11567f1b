"""Robots under limits as an integer program: what is proved, how fast, and what trails from both ends are worth.

>>> python benchmarks/bench_robots_program.py [--seconds 60]

Figure 3 of Talim et al. (2001) with at most 5 % starvation is solved with trails from both ends, and with one from the
beginning only, which is the textbook's connected support; the same start and the same bound are given to both. Then 20
robots with 20 pages and two limits, where a proof or a gap below 0.1 % is asked for. Without limits the Pyomo program
is held against strategy `linear-program`, which hands arrays to HiGHS. Times are CPU times, of the solver's process
too.
"""

from __future__ import annotations

import argparse
import os
from unittest import mock

import optmodels as om
from heuristics import Result
from optmodels.robots import RobotsProblem
from optmodels.robots.mip.plan import Plan

#: 20 robots, 20 pages: starvation and mean length below what the best policy of free robots has.
TWENTY = RobotsProblem(
    name="twenty",
    robots=20,
    capacity=20,
    arrival_rate=0.06,
    service_rate=1.0,
    cost={"starvation": 1.1},
    limits={"starvation": {"max": 0.02}, "mean_length": {"max": 9.0}},
)


def timed(problem: RobotsProblem, strategy: str, seconds: float) -> tuple[Result, float]:
    """Solve, and count the CPU time of this process and of the solver's."""
    before = os.times()
    result = om.solve(problem, strategy, seconds=seconds)
    after = os.times()
    names = ("user", "system", "children_user", "children_system")
    return result, sum(getattr(after, name) - getattr(before, name) for name in names)


def told(what: str, result: Result, spent: float) -> None:
    """Print one line."""
    solver = result.extra.get("solver", {})
    bound = result.bound if result.bound is not None else float("nan")
    gap = (result.objective - bound) / abs(result.objective)
    size = f"{solver.get('whole_columns', 0)} binaries, {solver.get('nodes', 0)} nodes"
    print(f"  {what:28}{spent:8.1f} s  {result.objective:.10f}  gap {gap:8.2e}  {size}")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    seconds = parser.parse_args().seconds
    om.solve(RobotsProblem(robots=2, capacity=2, arrival_rate=1.0, service_rate=1.0, cost={"starvation": 1.0}), "highs")

    figure = om.load("talim-fig3-starvation")
    print(f"Figure 3, starvation at most 5 %, {seconds:g} s at most")
    both, spent = timed(figure, "highs:threads=1", seconds)
    told("trails from both ends", both, spent)
    with mock.patch.object(Plan, "roots", {"start": ("event", 0)}):
        one, longer = timed(figure, "highs:threads=1", seconds)
    told("from the beginning only", one, longer)
    print(f"  {longer / spent:.1f} times as long")

    print(f"N = 20, K = 20, two limits, {seconds:g} s at most")
    told("highs", *timed(TWENTY, "highs:threads=1", seconds))
    told("linear-program", *timed(TWENTY, "linear-program", seconds))

    print("without limits: N = 107, K = 15")
    free = om.load("talim-table1-0.01-k15-2.4")
    program, spent = timed(free, "highs", seconds)
    told("highs", program, spent)
    arrays, rival = timed(free, "linear-program", seconds)
    told("linear-program", arrays, rival)
    print(f"  {spent / rival:.1f} times as long")


if __name__ == "__main__":
    main()
