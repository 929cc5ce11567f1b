"""Is the best robot policy always a monotone switching curve? The paper conjectures it; look for one that is not.

    python benchmarks/search_robots_conjecture.py [--seconds 5] [--seed 0]

Random instances, sizes and rates drawn over orders of magnitude, first with the paper's prices, starvation and losses,
then with prices of pages and robots too. Each is solved and proved optimal; shapes are judged by
`queueing.robots.structure`, whose detector is tested on planted violations. What is printed as found is larger than
rounding; ties, where the best policy is not the only one, are counted apart. None found proves nothing.
"""

import argparse
import time
from collections import Counter

import numpy as np

from queueing.robots import ROUNDING, RobotQueue, best_policy, robot_structure


def random_instance(rng: np.random.Generator, priced: bool) -> tuple[RobotQueue, np.ndarray]:
    """N to 40, K to 20, lambda from 0.01 to 10 with mu = 1, gamma from 0.01 to 100."""
    queue = RobotQueue(int(rng.integers(2, 41)), int(rng.integers(2, 21)), float(10 ** rng.uniform(-2, 1)))
    others = 10 ** rng.uniform(-4, 0, 2) if priced else np.zeros(2)
    return queue, queue.cost(float(10 ** rng.uniform(-2, 2)), 1.0, *others)


def search(seconds: float, seed: int, priced: bool) -> Counter:
    """Count shapes and their violations in as many instances as the time allows."""
    rng = np.random.default_rng(seed)
    found: Counter = Counter()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        queue, cost = random_instance(rng, priced)
        best = best_policy(queue, cost)
        found["tried"] += 1
        if best.changes or best.upper - best.lower > 1e-10 * best.gain:
            found["not proved to 1e-10"] += 1
            continue
        report = robot_structure(best)
        found["with ties"] += report.tied
        found["no curve"] += report.switching > ROUNDING
        found["not convex"] += not report.convex
        found["not supermodular"] += not report.supermodular
        if report.switching > ROUNDING:
            print(f"COUNTEREXAMPLE {queue} violation {report.switching:.1e}")
    return found


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--seconds", type=float, default=5.0)
    asked.add_argument("--seed", type=int, default=0)
    given = asked.parse_args()
    best_policy(RobotQueue(3, 3, 1.0), RobotQueue(3, 3, 1.0).cost(1.0))  # compile
    for priced, text in ((False, "starvation and losses"), (True, "pages and robots too")):
        found = search(given.seconds / 2, given.seed, priced)
        tried = found.pop("tried")
        print(f"priced {text}: {tried} tried, " + ", ".join(f"{count} {name}" for name, count in sorted(found.items())))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
