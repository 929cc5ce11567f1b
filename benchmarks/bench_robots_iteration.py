"""Policy iteration along curves against the paper's relative value iteration, to the same certified accuracy.

    python benchmarks/bench_robots_iteration.py [--small]

Rivals: Proposition 2 of the paper on its own chain of (q, r, event), in numpy on whole arrays, `robots_paper.py`,
with which the published tests reproduce the printed iteration counts, and in the five ways of `robots_sparse.py`, four
of them with sparse matrices of scipy. All stop when the bracket [min, max] of T(h) - h is narrower than 1e-8 of the
cost. The paper's own stopping rule is shown too; it proves less. Ours is `queueing.robots.best_policy`, asked
for 1e-8 too, and without a limit, as the strategies call it.

Times are CPU times of one thread: of rivals the least of three runs, of one in the large case (--small leaves that
out); of ours the least of 20 runs before each of theirs. Neither compilation nor the assembly of matrices is counted;
mu = 1 in both cases.
"""

import sys
import time

from robots_paper import paper_iteration
from robots_sparse import sparse_iteration, sparse_operator

from queueing.robots import PolicyStep, RobotQueue, best_policy

ACCURACY = 1e-8
CASES = [
    ("N = 107, K = 15, lambda = 1/100", 107, 15, 1 / 100, 2.4, 3),
    ("N = 1000, K = 20, lambda = 1/800", 1000, 20, 1 / 800, 1.2, 1),
]
SPARSE = {
    "two": "two sparse matrices",
    "stacked": "one, both actions",
    "differing": "one, and differing rows",
    "shared": "one, shared rows",
    "in place": "whole arrays, in place",
}


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


def compared(name: str, robots: int, capacity: int, rate: float, gamma: float, repeats: int) -> bool:
    """Print one case; whether all agree."""
    case, full = (robots, capacity, rate), (robots, capacity, rate, 1.0, gamma)
    asked = {"tolerance": ACCURACY, "certified": True}
    operators = {text: sparse_operator(way, *full) for way, text in SPARSE.items()}
    calls = {"whole arrays": lambda: paper_iteration(*full, **asked)}
    calls |= {text: lambda it=it: sparse_iteration(it, **asked) for text, it in operators.items()}
    calls["whole arrays, paper's stop"] = lambda: paper_iteration(*full)
    quick, times = {ACCURACY: float("inf"), 0.0: float("inf")}, dict.fromkeys(calls, float("inf"))
    steps, answers = {}, {}
    for _ in range(repeats):
        for text, call in calls.items():
            for accuracy in quick:
                spent, steps[accuracy] = fastest(20, ours, *case, gamma, accuracy)
                quick[accuracy] = min(quick[accuracy], spent)
            spent, answers[text] = fastest(1, call)
            times[text] = min(times[text], spent)
    best = steps[ACCURACY]
    print(f"{name}, gamma = {gamma}: least cost {best.gain:.12f}")
    for accuracy, text in ((ACCURACY, "policy iteration, 1e-8"), (0.0, "policy iteration, all")):
        width = (steps[accuracy].upper - steps[accuracy].lower) / best.gain
        print(f"  {text:27}{1e3 * quick[accuracy]:9.2f} ms   bracket {width:.0e} of it")
    for text, found in answers.items():
        width = (found.upper - found.lower) / best.gain
        print(
            f"  {text:27}{1e3 * times[text]:9.1f} ms   bracket {width:.0e}, {found.iterations} iterations: "
            f"{times[text] / quick[ACCURACY]:.0f} times as long"
        )
    *proved, _ = answers.values()
    return all(abs(found.cost - best.gain) <= ACCURACY * best.gain for found in proved)


def main() -> int:
    ours(5, 4, 0.5, 1.0)  # compile
    agreed = [compared(*case) for case in CASES[: 1 if "--small" in sys.argv else None]]
    return 0 if all(agreed) else 1


if __name__ == "__main__":
    raise SystemExit(main())
