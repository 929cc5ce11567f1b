"""How good, and how quick, are the heuristics for placement?

1. Flips a second on the 11 x 22 example, along a random walk from a good placement.
2. All settings of a window of sites: the search of `optmodels.placement.windows`, which leaves out what cannot be
   better; one flip for each setting in the order of the Gray code; and NumPy, which evaluates many settings at once.
   The three must agree on the best price. The claim: the search is five times as quick as the Gray code at windows of
   12 sites, and a hundred times as quick as NumPy.
3. Time to 147, the optimum of the 11 x 22 example, over ten seeds (`--quick`: three), by `annealing` and
   `large-neighbourhood` on one core and `best-of` on two. The claim: below 30 s for nine of ten, by one of them.
4. Mean gap to the values of `instances/sets/gautam-25.solutions.toml` at equal budgets (`--seconds`, 5), one seed.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from heuristics import Budget, run
from heuristics.search.exhaustive import gray_flips
from optmodels import solve
from optmodels.benchmarking import read_set, read_solutions
from optmodels.instance import load, problem_of
from optmodels.placement import standing_of
from optmodels.placement.walk import sweep
from optmodels.registry import make_strategy

FILE = Path(__file__).parents[1] / "instances" / "placement" / "gautam-11x22.json"
OPTIMUM, SECONDS, RUNS = 147.0, 30.0, 10
WIDTHS, WINDOWS = (8, 10, 12), 20
SEARCH_CLAIM, NUMPY_CLAIM = 5.0, 100.0
PART = 256  # settings that NumPy evaluates at once: their arrays fit into memory


def by_search(problem, decision, window):
    """The best price, seconds, and the flips it took."""
    walk = problem.start_windows(decision)
    began = time.perf_counter()
    settled = walk.settle(window, np.zeros(len(window)), 10**9)
    seconds = time.perf_counter() - began
    assert settled.complete
    return walk.penalised, seconds, settled.flips


def by_gray_code(problem, decision, window):
    """The best price of all settings, one flip for each, and seconds."""
    sites = problem._sites
    standing = standing_of(sites, decision)
    price = problem.evaluate(decision).objective
    flips = window[gray_flips(len(window), 1, 2 ** len(window))]
    began = time.perf_counter()
    found, lowest = sweep(sites, standing, flips, price, np.zeros(len(decision), np.uint8))
    seconds = time.perf_counter() - began
    return min(price, lowest) if found else price, seconds


def by_numpy(problem, decision, window):
    """The best price of all settings, and seconds: distances, ties, loads, farthest clients of many placements."""
    began = time.perf_counter()
    ranks, demand = problem.layout.ranks, problem.demand
    width, lowest = len(window), np.inf
    numbers = np.arange(2**width)
    for part in np.array_split(numbers, max(1, len(numbers) // PART)):
        is_open = np.repeat(np.array(decision, bool)[None], len(part), axis=0)
        is_open[:, window] = (part[:, None] >> np.arange(width)) & 1
        away = np.where(is_open[:, None, :], ranks[None], ranks.max() + 1)
        nearest = away.min(axis=2)
        serves = (away == nearest[:, :, None]) & is_open[:, None, :]
        ties = serves.sum(axis=2)
        share = -(-demand // np.maximum(ties, 1))
        load = np.einsum("pc,pcs->ps", share, serves)
        far = np.where(serves & (demand[None, :, None] > 0), nearest[:, :, None], 1).max(axis=1)
        room = problem.capacity[np.arange(len(decision))[None], far - 1]
        kept = ((load <= room) | (load == 0)).all(axis=1) & (is_open.any(axis=1) | (demand.sum() == 0))
        prices = is_open @ problem.site_prices
        if kept.any():
            lowest = min(lowest, float(prices[kept].min()))
    return lowest, time.perf_counter() - began


def best_prices(problem, decision, window):
    """What the three roads find."""
    return [road(problem, decision, window)[0] for road in (by_search, by_gray_code, by_numpy)]


def flips_a_second(problem, decision) -> float:
    """Flips a second along a random walk from a good placement, all of them kept."""
    walk = problem.start(decision)
    flips = walk.draw(np.random.default_rng(0), 50_000)[:, 0]
    began = time.perf_counter()
    walk.sweep(flips, -np.inf)
    return len(flips) / (time.perf_counter() - began)


def compare_windows(problem, decision) -> None:
    """Print seconds and settings of the three roads."""
    walk = problem.start_windows(decision)
    print(f"{'sites':>5} {'settings':>9} {'flips':>8} {'search ms':>10} {'Gray ms':>9} {'NumPy ms':>9}   ratios")
    ratios = (0.0, 0.0)
    for width in WIDTHS:
        rng = np.random.default_rng(width)
        windows = [walk.window(rng, width) for _ in range(WINDOWS)]
        prices = best_prices(problem, decision, windows[0])
        assert np.allclose(prices, prices[0]), prices
        searched = [by_search(problem, decision, window) for window in windows]
        listed = [by_gray_code(problem, decision, window) for window in windows]
        arrays = [by_numpy(problem, decision, window) for window in windows[:2]]
        each = [1000 * float(np.mean([one[1] for one in road])) for road in (searched, listed, arrays)]
        flips = float(np.mean([one[2] for one in searched]))
        ratios = (each[1] / each[0], each[2] / each[0])
        print(
            f"{width:>5} {2**width:>9} {flips:>8.0f} {each[0]:>10.2f} {each[1]:>9.2f} {each[2]:>9.1f}   "
            f"Gray / search {ratios[0]:.1f}, NumPy / search {ratios[1]:.0f}"
        )
    print(f"claimed at {WIDTHS[-1]} sites: {SEARCH_CLAIM:g} and {NUMPY_CLAIM:g}")


def time_to_the_optimum(strategy, seeds) -> None:
    """Print after how many seconds each run found 147."""
    found = []
    for seed in range(1, seeds + 1):
        result = solve(FILE, strategy, seconds=SECONDS, seed=seed)
        at = [p.seconds for p in result.trace if p.objective is not None and p.objective <= OPTIMUM]
        found.append(at[0] if at else np.inf)
    reached = sorted(seconds for seconds in found if np.isfinite(seconds))
    told = ", ".join(f"{seconds:.1f}" for seconds in reached)
    print(f"{strategy:<24} {OPTIMUM:g} in {len(reached)} of {seeds} runs of {SECONDS:g} s, after {told or 'none'} s")


def gaps(strategies, seconds) -> None:
    """Print the mean and the largest gap of each strategy to what is known of gautam-25."""
    members, known = read_set("gautam-25"), read_solutions(read_set("gautam-25"))
    problems = [problem_of(one) for one in members.instances()]
    print(f"gautam-25, {seconds:g} s each, one seed; gap to the best value known, and where that is proved, %")
    for strategy in strategies:
        each: list[float] = []
        proved: list[float] = []
        for problem in problems:
            told = known[problem.name]
            result = run(problem, make_strategy(strategy), Budget(seconds=seconds), seed=1)
            each.append(100 * (result.objective / told.value - 1) if result.objective is not None else np.inf)
            proved += [each[-1]] if told.proved else []
        told = f"mean {np.mean(each):7.2f}  worst {max(each):7.2f}  proved ones: mean {np.mean(proved):6.3f}"
        print(f"{strategy:<24} {told}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="three seeds, and no gaps")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each run on gautam-25")
    options = parser.parse_args()
    problem = load(FILE)
    decision = run(problem, make_strategy("annealing"), Budget(evaluations=100_000), seed=1).decision
    flips_a_second(problem, decision)
    print(f"{flips_a_second(problem, decision):,.0f} flips a second on {problem.name}")
    compare_windows(problem, decision)
    for strategy in ("annealing", "large-neighbourhood", "best-of:cores=2"):
        time_to_the_optimum(strategy, 3 if options.quick else RUNS)
    if not options.quick:
        gaps(("dejavu", "genetic", "annealing", "large-neighbourhood", "best-of"), options.seconds)


if __name__ == "__main__":
    main()
