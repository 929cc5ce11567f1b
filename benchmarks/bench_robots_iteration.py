"""Policy iteration through turning points against the paper's relative value iteration, to the same certified accuracy.

    python benchmarks/bench_robots_iteration.py [--small]

Rival: Proposition 2 of the paper on its own chain of (q, r, event), `queueing.robots_paper`, numpy on whole arrays; it
is the method that the published tests reproduce the printed iteration counts with. It stops when its bracket
[min, max] of T(h) - h is narrower than 1e-8 of the cost. The paper's own stopping rule is shown too; it proves less.
Ours is `queueing.robots_control.best_policy`, asked for 1e-8 too, and without a limit, as the strategies call it. Times
are CPU times of one thread, the least of several runs; mu = 1 in both cases; compilation is not counted; the rival runs
once in the large case (--small leaves that out).
"""

import sys
import time

from queueing.robots import RobotQueue
from queueing.robots_control import PolicyStep, best_policy
from queueing.robots_paper import paper_iteration

ACCURACY = 1e-8
CASES = [
    ("N = 107, K = 15, lambda = 1/100", 107, 15, 1 / 100, 2.4, 5),
    ("N = 1000, K = 20, lambda = 1/800", 1000, 20, 1 / 800, 1.2, 1),
]


def ours(robots: int, capacity: int, rate: float, gamma: float, accuracy: float = ACCURACY) -> PolicyStep:
    queue = RobotQueue(robots, capacity, rate)
    return best_policy(queue, queue.cost(gamma), accuracy=accuracy)


def fastest(repeats: int, call, *arguments, **options):
    """Least CPU time of some, and what was found."""
    best, found = float("inf"), None
    for _ in range(repeats):
        began = time.process_time()
        found = call(*arguments, **options)
        best = min(best, time.process_time() - began)
    return best, found


def main() -> int:
    ours(5, 4, 0.5, 1.0)  # compile
    agreed = True
    for name, robots, capacity, rate, gamma, repeats in CASES[: 1 if "--small" in sys.argv else None]:
        arguments = (robots, capacity, rate)
        ours(*arguments, gamma, 0.0)
        quick, best = fastest(50, ours, *arguments, gamma)
        full, proved = fastest(50, ours, *arguments, gamma, 0.0)
        slow, rival = fastest(repeats, paper_iteration, *arguments, 1.0, gamma, tolerance=ACCURACY, certified=True)
        loose, stopped = fastest(repeats, paper_iteration, *arguments, 1.0, gamma)
        print(f"{name}, gamma = {gamma}: least cost {best.gain:.12f}")
        for text, spent, step in (("policy iteration, 1e-8", quick, best), ("policy iteration, all", full, proved)):
            width = (step.upper - step.lower) / step.gain
            print(f"  {text:22}{1e3 * spent:9.2f} ms   bracket {width:.0e} of it")
        for text, spent, found in (("value iteration, 1e-8", slow, rival), ("value iteration, paper", loose, stopped)):
            width = (found.upper - found.lower) / best.gain
            print(
                f"  {text:22}{1e3 * spent:9.1f} ms   bracket {width:.0e}, {found.iterations} iterations, "
                f"cost {found.cost:.9f}: {spent / quick:.0f} times as long"
            )
        agreed &= abs(rival.cost - best.gain) <= ACCURACY * best.gain
    return 0 if agreed else 1


if __name__ == "__main__":
    raise SystemExit(main())
