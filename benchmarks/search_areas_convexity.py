"""Does another robot always gain an area less than the one before it? Marginal analysis is right if so; look for one.

    python benchmarks/search_areas_convexity.py [--seconds 20] [--seed 0]

Random areas, rates and prices drawn over orders of magnitude, then those nearest to a violation changed a little again
and again. A violation is how much less than half of what two robots gain the first of them gains, as a part of what
both gain: at -1/2 the second gains nothing, at 0 both gain the same, above 0 marginal analysis may be wrong. With
control it counts only if the brackets of the least costs prove it. None found proves nothing.
"""

import argparse
import time
from typing import Any

import numpy as np

from optmodels.costs import WeightedSum
from optmodels.robots.areas import Area, Control, RobotAreasProblem

#: Gains below this part of the cost are left out, and violations below that part of the gains: they are rounding.
SMALLEST, ROUNDING = 1e-6, 1e-8


def drawn(rng: np.random.Generator) -> dict[str, Any]:
    """Rates from 1/12 to 20, prices from e^-6 to e^4, some of them none."""

    def price(low: float, high: float, none: float) -> float:
        return 0.0 if rng.random() < none else float(np.exp(rng.uniform(low, high)))

    return {
        "capacity": int(rng.integers(2, 12)),
        "arrival_rate": float(np.exp(rng.uniform(-np.log(12), np.log(20)))),
        "starvation": price(-4, 4, 0.0),
        "loss_rate": price(-4, 4, 0.2),
        "mean_length": price(-5, 2, 0.4),
        "active_robots": price(-6, 1, 0.4),
    }


def changed(rng: np.random.Generator, area: dict[str, Any]) -> dict[str, Any]:
    """A little different."""
    moved = {name: value * float(np.exp(rng.normal(0, 0.3) * (rng.random() < 0.4))) for name, value in area.items()}
    return moved | {"capacity": max(2, area["capacity"] + int(rng.integers(-1, 2)))}


def violation(area: dict[str, Any], control: Control) -> float:
    """The largest of an area, by the costs of at most so many robots."""
    robots = int(min(16, 2.5 / area["arrival_rate"] + 6))
    prices = {name: value for name, value in area.items() if name not in ("capacity", "arrival_rate")}
    place = Area(area["capacity"], area["arrival_rate"], 1.0)
    asked = RobotAreasProblem(name="area", robots=robots, areas=(place,), control=control, cost=WeightedSum(prices))
    brackets = np.array([asked.allocation_cost(0, count) for count in range(robots + 1)])
    lower, upper = np.minimum.accumulate(brackets).T
    gains = upper[:-2] - upper[2:]
    told = gains > SMALLEST * upper[:-2]
    return float(((2 * lower[1:-1] - upper[:-2] - upper[2:])[told] / (2 * gains[told])).max(initial=-0.5))


def search(seconds: float, seed: int, control: Control) -> str:
    """Draw, and change what is nearest to a violation."""
    rng = np.random.default_rng(seed)
    nearest: list[tuple[float, dict[str, Any]]] = []
    tried = found = 0
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        fresh = len(nearest) < 20 or rng.random() < 0.5
        area = drawn(rng) if fresh else changed(rng, nearest[int(rng.integers(len(nearest)))][1])
        size = violation(area, control)
        tried += 1
        if size > ROUNDING:
            found += 1
            print(f"COUNTEREXAMPLE {control} {area} violation {size:.1e}")
        nearest = sorted([*nearest, (size, area)], key=lambda entry: -entry[0])[:20]
    return f"{control}: {tried} tried, {found} violations, the largest difference {nearest[0][0]:.1e}"


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--seconds", type=float, default=20.0)
    asked.add_argument("--seed", type=int, default=0)
    given = asked.parse_args()
    violation(drawn(np.random.default_rng(0)), "dynamic")  # compile
    for control in ("static", "dynamic"):
        print(search(given.seconds / 2, given.seed, control))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
