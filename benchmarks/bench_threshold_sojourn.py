"""How long does the distribution of a sojourn time take?

The paper's example with the patience of Figure 4 (two phases that do not reduce), room for 10 pages: a page lives in
2046 states. P(V1 > t) of served pages at 200 times up to the 99.9 % quantile, by two roads:

sequence       uniformisation, its sequence computed once for all times (`SojournLaw.survival`)
expm_multiply  scipy's action of the matrix exponential on the same chain, all 200 times in one call

Both are given the chain of the page. Then, on every instance of the kind, one policy each: how far uniformisation and
inversion of the transform are apart at the 10, 50, 95 and 99.9 % quantiles of served, obsolete and all pages.

Times are CPU seconds of one thread, the best of several runs; a first run, which compiles, does not count.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import expm_multiply

from optmodels.instance import load
from queueing import SojournLaw
from queueing.threshold.sojourn import PageClock

FOLDER = Path(__file__).parents[1] / "instances" / "threshold"
FILE = FOLDER / "avrachenkov-fig4-3.json"
POINTS = 200


def seconds(task: Callable[[], object], repeats: int) -> float:
    """CPU time of the best of several runs."""
    best = float("inf")
    for _ in range(repeats):
        began = time.process_time()
        task()
        best = min(best, time.process_time() - began)
    return best


def by_sequence(law: SojournLaw, times: np.ndarray) -> np.ndarray:
    """With a new clock, so that nothing is known of any time; the moves of the chain are given."""
    clock = PageClock(law._clock.page)
    clock.__dict__["_chain"] = law._clock._chain
    fresh = replace(law, _clock=clock)
    return np.array([fresh.survival(time) for time in times])


def generator_of(law: SojournLaw) -> tuple[csr_array, np.ndarray, np.ndarray]:
    """T, the law at arrival, and the chances to be served."""
    moves = law._clock._chain
    size = len(moves.staying)
    into = csr_array((moves.rates, moves.sources, moves.begins), shape=(size, size))
    generator = csr_array((into.T + diags_array(moves.staying - 1.0)) * (moves.fastest / law._unit))
    arrival = np.concatenate([part.ravel() for part in law._clock.page.arrival])
    return generator, arrival, moves.chances[0] / law.probability


def by_expm(generator: csr_array, arrival: np.ndarray, chances: np.ndarray, last: float) -> np.ndarray:
    columns = expm_multiply(generator, chances, start=0.0, stop=last, num=POINTS, endpoint=True)
    return columns @ arrival


def apart(file: Path) -> float:
    """Largest difference of both roads on an instance, for a policy drawn at random."""
    problem = load(file)
    rng = np.random.default_rng(1)
    policy = tuple(sorted(rng.integers(-1, problem.queue.capacity + 1, len(problem.modes) - 1).tolist()))
    times = problem.queue.sojourn(policy)
    worst = 0.0
    for law in (times.served, times.obsolete, times.all):
        for level in (0.1, 0.5, 0.95, 0.999) if law is not None else ():
            time_ = law.quantile(level)
            worst = max(worst, abs(law.survival(time_) - law._share(law._clock.left_by_inversion(time_ / law._unit))))
    return worst


def main() -> int:
    problem = load(FILE)
    law = replace(problem.queue, capacity=10).sojourn((-1, 2, 2)).served
    last = law.quantile(0.999)
    times = np.linspace(0.0, last, POINTS)
    chain = generator_of(law)
    worst = float(np.abs(by_sequence(law, times) - by_expm(*chain, last)).max())
    ours = seconds(lambda: by_sequence(law, times), 5)
    theirs = seconds(lambda: by_expm(*chain, last), 3)
    print(f"{chain[0].shape[0]} states, {POINTS} times up to {last:.4g}; both agree to {worst:.1e}")
    print(f"sequence       {1e3 * ours:9.2f} ms")
    print(f"expm_multiply  {1e3 * theirs:9.2f} ms   {theirs / ours:.0f} times as long")
    differences = [apart(file) for file in sorted(FOLDER.glob("*.json"))]
    print(f"{len(differences)} instances: uniformisation and inversion differ by {max(differences):.1e} at most")
    return 0 if max(worst, *differences) < 1e-9 else 1


if __name__ == "__main__":
    raise SystemExit(main())
