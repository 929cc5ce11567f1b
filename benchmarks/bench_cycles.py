"""The best cycle of T slots: what rules for orders of visits cost above it, and how far its proof gets.

Pages have lognormal rates and weights, accesses a constant time; with q changes in the time of an access of all pages
together. Every cycle is evaluated exactly. *best* is the least cost that annealing (seeds 0, 1, 2) and the integer
program found, *bound* the largest of three: evenly spaced visits, whole visits, the integer program (HiGHS, one
thread). Rules are told as cost above the best, in per cent; `golden-ratio` and `power-of-two` make other lengths, which
stand beside: the largest Fibonacci number and power of two not above T.

The second table is the speed of a step: changes of a cycle at the price of the gaps they touch, against full
evaluations (`evaluate`).

``python benchmarks/bench_cycles.py 60`` gives the program 60 seconds for each size, the default 10.
"""

import math
import sys
import time

import numpy as np

from heuristics.sequencing import fibonacci_below
from optmodels import solve
from optmodels.freshness import FreshnessProblem

#: Pages and slots; T is three slots for each page or two, and short cycles that can be proved.
SIZES = ((10, 12), (10, 20), (10, 30), (15, 45), (20, 60), (30, 90))
EXACT = ("whittle", "greedy", "regular")
LOAD = 1.0


def some_pages(count: int, cycle: int | None, seed: int = 0) -> FreshnessProblem:
    rng = np.random.default_rng(seed)
    rates = rng.lognormal(size=count)
    return FreshnessProblem(
        name=f"{count} pages, T = {cycle}",
        change_rates=rates * LOAD / rates.sum(),
        weights=rng.lognormal(size=count),
        access_time=1.0,
        **({} if cycle is None else {"cycle": cycle}),
    )


def own_length(strategy: str, slots: int) -> int:
    return fibonacci_below(slots)[0] if strategy == "golden-ratio" else 1 << slots.bit_length() - 1


def compare(count: int, slots: int, seconds: float) -> tuple[float, float, float]:
    """Print a row of the table; the gap that is left, the seconds to a proof (or all), and whittle over the best."""
    problem, free = some_pages(count, slots), some_pages(count, None)
    costs = [solve(problem, "annealing", seconds=min(5.0, seconds / 3), seed=seed).objective for seed in range(3)]
    solved = solve(problem, "highs:threads=1", seconds=seconds)
    best = min([*costs, solved.objective])
    bound = min(best, max(solved.bound, problem.lower_bound()))
    gap = best / bound - 1.0
    row = [f"{count:5d} {slots:4d} {free.relaxed_bound:10.6f} {problem.schedule_bound:10.6f}"]
    row.append(f"{problem.lower_bound():10.6f} {bound:10.6f} {best:10.6f} {100 * gap:7.4f}")
    row.append(f"{'proved' if solved.status == 'optimal' else 'open':>7s} {solved.seconds:6.1f}")
    rules = [solve(problem, strategy).objective for strategy in EXACT]
    row += [f"{100 * (cost / best - 1):8.3f}" for cost in rules]
    for strategy in ("golden-ratio", "power-of-two"):
        own = own_length(strategy, slots)
        found = solve(free, f"{strategy}:slots={own}")
        assert len(found.decision["schedule"]) == own
        row.append(f"{100 * (found.objective / best - 1):8.3f} ({own})")
    print(" ".join(row), flush=True)
    return gap, solved.seconds, rules[0] / best


def steps_and_evaluations(count: int, slots: int) -> None:
    problem = some_pages(count, slots)
    rng = np.random.default_rng(1)
    walk = problem.start(problem.space.sample(rng))
    moves = walk.draw(rng, 50_000)
    began = time.process_time()
    walk.follow(moves, np.zeros(len(moves)), -math.inf)
    step = (time.process_time() - began) / len(moves)
    decisions = [problem.space.sample(rng) for _ in range(300)]
    began = time.process_time()
    for decision in decisions:
        problem.evaluate(decision)
    full = (time.process_time() - began) / len(decisions)
    print(f"{count:5d} {slots:4d} {1e6 * step:10.2f} {1e6 * full:12.1f} {full / step:8.1f}")


if __name__ == "__main__":
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    print(f"the integer program has {seconds:g} s for each size; rules in per cent above the best")
    print(
        "pages    T    relaxed whole gaps  whole vis.      bound       best   gap %             s "
        + " ".join(f"{rule:>8s}" for rule in (*EXACT, "golden (its T)", "powers (its T)"))
    )
    found = {size: compare(*size, seconds) for size in SIZES}
    gap, taken, whittle = found[20, 60]
    told = f"proved in {taken:.1f} s" if gap <= 1e-9 else f"gap {100 * gap:.4f} % after {taken:.0f} s"
    print(f"\n20 pages, T = 60: {told}; whittle costs {whittle:.5f} times the best")
    print("\npages    T  step, us  evaluate, us   ratio  (processor time)")
    for size in ((10, 30), (20, 60), (100, 300)):
        problem = some_pages(*size)
        problem.prepare()
        steps_and_evaluations(*size)
