"""Exact placement beyond one demand on a grid: scenarios, classes and matrices by `clauses`, engines against HiGHS.

    python benchmarks/bench_placement_extensions.py [--seconds 30] [--only WORD]

The rival is ``clauses:engine=highs``, the same clauses handed to HiGHS; there is no other program for scenarios and
classes. Seconds are those of the result, warm. Proofs of different optima end the run.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import optmodels as om

TIMES = {"base": 0.8, "per_distance": 0.2}
QUALITY = {"min_throughput": 0.6, "max_delay_probability": 0.2, "delay": 0.6}


def scenarios(side: int, count: int, least: float) -> Any:
    """A grid with equally probable Poisson demands about the same means."""
    rng = np.random.default_rng(side)
    mean = rng.integers(1, 12, (side, side))
    return om.PlacementProblem(
        scenarios=[{"probability": 1 / count, "demand": rng.poisson(mean)} for _ in range(count)],
        opening_cost=rng.integers(1, 6, (side, side)),
        service_rate=20,
        think_time=TIMES,
        quality=QUALITY | {"scenario_probability": least},
        name=f"{side}x{side}, {count} scenarios, {least:.0%} kept",
    )


def classes(side: int) -> Any:
    """A grid with two classes, of which the second thinks shorter and is promised more."""
    rng = np.random.default_rng(side)
    strict = {"name": "b", "demand": rng.integers(0, 5, (side, side)), "think_time": {"base": 0.5, "per_distance": 0.2}}
    strict["quality"] = QUALITY | {"max_delay_probability": 0.1}
    return om.PlacementProblem(
        classes=[{"name": "a", "demand": rng.integers(0, 9, (side, side)), "think_time": TIMES}, strict],
        opening_cost=rng.integers(1, 6, (side, side)),
        service_rate=20,
        quality=QUALITY,
        name=f"{side}x{side}, two classes",
    )


def matrix(sites: int, cells: int) -> Any:
    """Sites and cells at random points of a square, as far as they are."""
    rng = np.random.default_rng(sites)
    here, there = rng.random((sites, 1, 2)), rng.random((1, cells, 2))
    return om.PlacementProblem(
        distances=np.hypot(*np.moveaxis(here - there, 2, 0)) + 0.01,
        clients=cells,
        demand=rng.integers(1, 6, cells),
        opening_cost=rng.integers(1, 6, sites),
        service_rate=40,
        think_time={"base": 0.8, "per_distance": 1.5},
        quality=QUALITY,
        name=f"{sites} sites x {cells} cells",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    problems = [scenarios(4, 10, 0.8), scenarios(6, 10, 0.9), scenarios(6, 10, 0.7), scenarios(8, 10, 0.9)]
    problems += [classes(6), classes(8), matrix(40, 150), matrix(80, 300)]
    om.solve("small-3x3", "clauses", budget=om.Budget(seconds=options.seconds))  # compiled and imported
    print(f"{'instance':32}{'strategy':24}{'status':>9}{'cost':>6}{'bound':>6}{'seconds':>9}{'ratio':>7}")
    for problem in problems:
        if options.only not in problem.name or problem.infeasibility():
            continue
        proved, took = set(), []
        for strategy in ("clauses", "clauses:engine=highs"):
            found = om.solve(problem, strategy, budget=om.Budget(seconds=options.seconds))
            took.append(found.seconds)
            if found.status == "optimal":
                proved.add(round(found.objective, 6))
            ratio = took[-1] / took[0]
            cost, bound = found.objective or float("nan"), found.bound or 0.0
            row = f"{problem.name:32}{strategy:24}{found.status:>9}{cost:6.0f}{bound:6.0f}{found.seconds:9.1f}"
            print(f"{row}{ratio:7.1f}", flush=True)
        if len(proved) > 1:
            raise SystemExit(f"{problem.name}: two optima are proved, {sorted(proved)}")


if __name__ == "__main__":
    main()
