"""The best frequencies of ten million pages, against reading them, and against the usual ways of solving for a price.

    pip install cvxpy          (the extra `rivals`; without it the last part is left out)
    python benchmarks/bench_freshness_allocation.py [--small]

Pages are synthetic: lognormal change rates and weights, independent, load 3; exponential access times, then constant
ones. Everything is in memory, in one thread, and warm: arrays read, loops compiled. Times are CPU times, the least of
some runs, taken in turns with those they are compared with; of rivals over all pages one run, ours before and after it.

Ours
    `price_pages`: multiplier and least cost. The pass that proves them, `objective_pass`, and the one that writes out
    all frequencies have lines of their own.
Reading
    a sum over both arrays, vectorised by numba. Target: ours in at most 10 times that.
numpy
    Newton's method for the price over the whole arrays: asymptotes and Halley's steps for the inverse, prices that are
    too high for a page masked out, the bracket kept. Stopped when frequencies sum to 1 within 1e-6, as that is what a
    suboptimality of 1e-11 takes. Target: 30 times ours.
scipy
    brentq on the price, to 1e-6, with `scipy.special.lambertw` over all pages worth it. Target: 10 times ours.
cvxpy
    Clarabel on exponential cones, 2000 pages, without the modelling, against `allocate`, which reports the duality gap
    too. Target: 100 times ours.

Suboptimality is the cost of the frequencies, scaled to sum to 1, above the bound of one exact pass over all pages.
--small: a million pages.
"""

import sys
import time

import numpy as np
from numba import njit
from scipy.optimize import brentq
from scipy.special import lambertw

from queueing.freshness import allocate, cost, even_obsolescence, traits
from queueing.freshness.large import frequencies_at, histogram_of, objective_pass, price_pages, solved_nodes
from queueing.processes import Constant, Exponential

LOAD = 3.0


@njit(fastmath=True)
def read(rates, weights):
    total = 0.0
    for page in range(len(rates)):
        total += rates[page] + weights[page]
    return total


def pages_of(count, seed=0):
    rng = np.random.default_rng(seed)
    return rng.lognormal(size=count) * (LOAD / count), rng.lognormal(size=count)


def timed(call, *arguments):
    began = time.process_time()
    found = call(*arguments)
    return time.process_time() - began, found


def in_turns(calls, rounds):
    """The least time of each of several calls, taken in turns, and what each found."""
    best, found = [float("inf")] * len(calls), [None] * len(calls)
    for call in calls:
        call()
    for _ in range(rounds):
        for place, call in enumerate(calls):
            seconds, found[place] = timed(call)
            best[place] = min(best[place], seconds)
    return best, found


# -- rivals -----------------------------------------------------------------------------------------------------------


def numpy_inverse(share):
    """Solve 1 - (1 + u) exp(-u) = share over an array: a start good to some percent, then three of Halley's steps."""
    y = -np.log1p(-share)
    s = np.sqrt(2.0 * y)
    u = np.where(s < 2.5, s * (1.0 + s * (1 / 3 + s / 36)), y + np.log1p(y + np.log1p(y)))
    for _ in range(2):
        step = (u - np.log1p(u) - y) * (1.0 + u) / u
        u -= step / (1.0 - 0.5 * step / (u * (1.0 + u)))
    return u


def numpy_newton(rates, weights, law, tolerance=1e-6):
    """The price by Newton's method over all pages; how many passes it took."""
    decays = np.log1p(rates * law.mean) if isinstance(law, Exponential) else rates * law.mean
    worths = weights / (rates * law.mean)
    low, high = 0.0, float(worths.max())
    price, passes = float((worths * decays).sum() / decays.sum()) * 0.5, 0
    while passes < 100:
        passes += 1
        active = worths > price
        share = price / worths[active]
        own = decays[active]
        u = numpy_inverse(share)
        frequencies = own / u
        missing = float(frequencies.sum()) - 1.0
        if abs(missing) <= tolerance:
            break
        if missing > 0:
            low = price
        else:
            high = price
        slope = -float((frequencies * (np.exp(u) / (u * u * worths[active]))).sum())
        price -= missing / slope
        if not low < price < high:
            price = 0.5 * (low + high)
    return price, passes


def scipy_brentq(rates, weights, law, tolerance=1e-6):
    """The price by bracketing, with Lambert's function over all pages that are worth it; how many passes it took."""
    decays = np.log1p(rates * law.mean) if isinstance(law, Exponential) else rates * law.mean
    worths = weights / (rates * law.mean)
    passes = 0

    def missing(price):
        nonlocal passes
        passes += 1
        active = worths > price
        u = -1.0 - lambertw((price / worths[active] - 1.0) / np.e, -1).real
        return float((decays[active] / u).sum()) - 1.0

    middle = float(np.median(worths))
    low, high = middle, middle
    while missing(low) < 0:
        low /= 4.0
    while missing(high) > 0:
        high *= 4.0
    return brentq(missing, low, high, rtol=tolerance), passes


def clarabel(rates, weights, law):
    """Frequencies by exponential cones, t >= f exp(-l / f), and the time of the solver alone: the model is compiled."""
    import cvxpy

    pages = traits(rates, weights, law)
    f, t = cvxpy.Variable(len(pages), nonneg=True), cvxpy.Variable(len(pages))
    problem = cvxpy.Problem(
        cvxpy.Minimize(pages.worths @ (t - f)),
        [cvxpy.sum(f) == 1, cvxpy.ExpCone(cvxpy.Constant(-pages.decays), f, t)],
    )
    problem.get_problem_data(cvxpy.CLARABEL)  # kept by the problem
    seconds, _ = timed(lambda: problem.solve(solver=cvxpy.CLARABEL))
    return seconds, np.maximum(f.value, 0.0)


# -- what is printed --------------------------------------------------------------------------------------------------


def suboptimality(rates, weights, law, price, marginal=None):
    """Of the frequencies at this price once they sum to 1, by an exact pass; and the dual bound."""
    sums = objective_pass(rates, weights, law, price, marginal)
    return (sums.objective() - sums.bound()) / sums.bound(), sums.bound()


def large(count, law, rivals):
    rates, weights = pages_of(count)
    name = type(law).__name__.lower()
    print(f"\n{count:,} pages, {name} access times")
    histogram = histogram_of(rates, weights, law)
    price = solved_nodes(histogram, 1.0)[1].price
    calls = [
        lambda: read(rates, weights),
        lambda: price_pages(rates, weights, law),
        lambda: histogram_of(rates, weights, law),
        lambda: solved_nodes(histogram, 1.0),
        lambda: objective_pass(rates, weights, law, price),
        lambda: frequencies_at(rates, weights, law, price),
    ]
    names = [
        "reading both arrays",
        "multiplier and cost (price_pages)",
        "  of it the histogram",
        "  of it the price of its bins",
        "proof (objective_pass)",
        "all frequencies (frequencies_at)",
    ]
    best, found = in_turns(calls, 15)
    for text, seconds in zip(names, best, strict=True):
        print(f"  {text:36s} {seconds * 1e3:9.2f} ms {seconds / best[0]:7.2f} x reading")
    alone, proved = best[1] / best[0], (best[1] + best[4]) / best[0]
    print(f"  price and cost: {alone:.1f} times reading; with the pass that proves them: {proved:.1f} times")
    ours = found[1]
    wrong, bound = suboptimality(rates, weights, law, ours.multiplier, ours.marginal)
    print(f"  suboptimality {wrong:.1e}, cost against the exact bound {ours.objective / bound - 1:+.1e}")
    rough, _ = suboptimality(rates, weights, law, price)
    print(f"  suboptimality of the histogram alone {rough:.1e}")
    if count <= 1_000_000:
        pages = traits(rates, weights, law)
        scale = objective_pass(rates, weights, law, ours.multiplier, ours.marginal).scale()
        frequencies = frequencies_at(rates, weights, law, ours.multiplier, scale, ours.marginal)
        direct = cost(pages, even_obsolescence(pages, frequencies))
        print(f"  the same by evaluating every page once more {direct / bound - 1:.1e}")
    for text, rival in rivals:
        seconds, (other, passes) = timed(rival, rates, weights, law)
        again, _ = timed(price_pages, rates, weights, law)
        wrong, _ = suboptimality(rates, weights, law, other)
        print(
            f"  {text:36s} {seconds:9.2f} s  {passes:3d} passes, {seconds / min(best[1], again):7.1f} x ours, "
            f"suboptimality {wrong:.1e}"
        )


def small(count=2000):
    law = Exponential(1.0)
    rates, weights = pages_of(count)
    pages = traits(rates, weights, law)
    ours = in_turns([lambda: allocate(pages)], 30)
    seconds, found = ours[0][0], ours[1][0]
    print(f"\n{count:,} pages, exponential access times")
    print(f"  allocate: {seconds * 1e3:.2f} ms, duality gap {found.gap:.1e}, residual {found.residual:.1e}")
    try:
        import cvxpy
    except ImportError:
        print("  cvxpy is not installed: pip install cvxpy")
        return
    inner, total = float("inf"), float("inf")
    for _ in range(3):
        whole, (solving, frequencies) = timed(clarabel, rates, weights, law)
        inner, total = min(inner, solving), min(total, whole)
    scaled = frequencies / frequencies.sum()
    wrong = cost(pages, even_obsolescence(pages, scaled)) / found.bound - 1
    print(
        f"  Clarabel by cvxpy {cvxpy.__version__}: {inner * 1e3:.0f} ms ({total * 1e3:.0f} ms with modelling), "
        f"{inner / seconds:.0f} x ours, suboptimality {wrong:.1e}"
    )


if __name__ == "__main__":
    size = 1_000_000 if "--small" in sys.argv else 10_000_000
    both = [("numpy, Newton over all pages", numpy_newton), ("scipy, brentq and lambertw", scipy_brentq)]
    small()
    large(size, Exponential(1.0), both)
    large(size, Constant(1.0), [])
