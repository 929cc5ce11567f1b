"""The rivals of the window search, which must agree before their times are compared."""

from pathlib import Path

import numpy as np
import pytest
from bench_placement_heuristics import best_prices

from optmodels.instance import load

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["gautam-4x4", "gautam-6x6", "gautam-8x8", "germany50"])
def test_the_three_roads_through_a_window_find_the_same_price(name):
    problem = load(ROOT / "instances" / "placement" / f"{name}.json")
    rng = np.random.default_rng(1)
    for width in (1, 3, 7):
        decision = problem.repair(tuple(rng.integers(0, 2, problem.space.length).tolist()), rng)
        window = problem.start_windows(decision).window(rng, width)
        prices = best_prices(problem, decision, window)
        assert prices == pytest.approx([prices[0]] * 3)
