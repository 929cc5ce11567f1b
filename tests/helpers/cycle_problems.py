"""Small random problems that ask for a best cycle: rates and weights over nine decades, rules that may not be kept."""

import numpy as np

from optmodels import RequestError, exponential
from optmodels.costs import WeightedSum
from optmodels.freshness import FreshnessProblem


def random_cycles(seed, *, ruled=True, other=True):
    """A problem with at most four pages, seven slots and three robots; None where its data are refused."""
    rng = np.random.default_rng(seed)
    pages, slots = int(rng.integers(1, 5)), int(rng.integers(1, 8))
    rates = 10.0 ** rng.uniform(-6, 3, pages) * (rng.random(pages) > 0.15)
    weights = 10.0 ** rng.uniform(-6, 3, pages) * (rng.random(pages) > 0.15)
    if rng.random() < 0.3:
        rates[:], weights[:] = rates[0], weights[0]
    asked = {}
    if ruled and rng.random() < 0.5:
        asked["hosts"] = rng.integers(0, pages, pages).tolist()
        if rng.random() < 0.5:
            asked["host_gap"] = int(rng.integers(1, 4))
        if rng.random() < 0.5:
            asked["host_caps"] = float(rng.uniform(0.1, 1))
    if ruled and rng.random() < 0.3:
        asked["min_frequency"] = float(rng.uniform(0, 0.4))
    if other and rng.random() < 0.2:
        asked["limits"] = {"largest_gap": {"max": float(rng.integers(1, slots + 1))}}
    if other and rng.random() < 0.2:
        asked["cost"] = WeightedSum({"obsolescence": 2.5} if rng.random() < 0.5 else {"largest_gap": 1.0})
    try:
        return FreshnessProblem(
            change_rates=rates,
            weights=weights,
            access_time=1.0 if rng.random() < 0.5 else exponential(2.0),
            cycle=slots,
            robots=int(rng.integers(1, min(pages, 3) + 1)),
            **asked,
        )
    except RequestError:
        return None


def best_cycle(problem):
    """The least cost of all cycles that keep the rules, from the listed ones; None if there are none."""
    judged = map(problem.evaluate, problem.space)
    return min((found.objective for found in judged if found.feasible), default=None)
