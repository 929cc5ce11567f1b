"""One policy where patience does not reduce: 10 pages, two phases each of arrivals, service and patience, 4094 states.

ours     all measures of a policy from the queue alone, the method left to the queue: the generator is assembled, solved
         and summed up in the time that is told
block    the paper's algorithm [9] (method 'block'), all measures; and its elimination alone, blocks given
spsolve  scipy's sparse direct solver on the full generator, which compiled code has written; and the solver alone

Rivals end with probabilities where it says "alone", so that nothing but their own work is compared. Times are wall
clock, the best of several runs; whatever compiles is run once before. Two cases: hyperexponential patience under the
policy "3 robots to one page, then 1", and a law with a way back under "always 4", which fills the system.
"""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.sparse import csc_array
from scipy.sparse.linalg import spsolve

from optmodels.instance import load
from queueing import PhaseType, ThresholdQueue
from queueing.numerics import stationary_by_levels
from queueing.threshold import MEASURES
from queueing.threshold.methods import assemble, chain_of, level_blocks, plain_letters

FILE = Path(__file__).parents[1] / "instances" / "threshold" / "avrachenkov-k10.json"
AIM = 100.0
CASES = {
    "hyperexponential, (-1, 1, 1)": (PhaseType.hyperexponential([0.9, 0.1], [3.0, 0.1 / 4.7]), (-1, 1, 1)),
    "with a way back, always 4": (PhaseType([0.3, 0.7], [[-1.5, 0.4], [0.1, -0.1]]), (10, 10, 10)),
}


def seconds(task: Callable[[], object], repeats: int) -> float:
    """Wall-clock time of the best of several runs."""
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        task()
        best = min(best, time.perf_counter() - began)
    return best


def equations(queue: ThresholdQueue, policy: tuple[int, ...]) -> csc_array:
    """The transposed generator with its last equation replaced by the total."""
    model = queue.model
    chain, letters = chain_of(model, queue.mode_by_level(policy)), plain_letters(*model.patience_rates)
    columns = csc_array(assemble(chain, letters).generator().T).tocoo()
    size, kept = columns.shape[0], columns.row < columns.shape[0] - 1
    rows = np.concatenate([columns.row[kept], np.full(size, size - 1)])
    places = np.concatenate([columns.col[kept], np.arange(size)])
    return csc_array((np.concatenate([columns.data[kept], np.ones(size)]), (rows, places)), shape=(size, size))


def by_spsolve(system: csc_array) -> np.ndarray:
    right = np.zeros(system.shape[0])
    right[-1] = 1.0
    return spsolve(system, right)


def dense_blocks(queue: ThresholdQueue, policy: tuple[int, ...]) -> list[list[np.ndarray]]:
    """Blocks of the generator as `stationary_by_levels` takes them."""
    size = queue.model.level_size
    return [
        [
            row[target].toarray() if target in row else np.zeros((size(level), size(target)))
            for target in range(max(level - 1, 0), max(row) + 1)
        ]
        for level, row in enumerate(level_blocks(queue.model, queue.mode_by_level(policy)))
    ]


def compare(name: str, queue: ThresholdQueue, policy: tuple[int, ...]) -> float:
    """Print one case; the least ratio."""
    found, block = queue.measures(policy), queue.measures(policy, method="block")
    queue.measures(policy, method="matrix-free")
    worst = max(abs(getattr(found, measure) / getattr(block, measure) - 1) for measure in MEASURES)
    system, blocks = equations(queue, policy), dense_blocks(queue, policy)
    starvation = by_spsolve(system)[: queue.modes[0].arrivals.phases].sum()
    print(
        f"{name}: {queue.model.states} states, method {found.method!r}; all measures differ from the block algorithm's "
        f"by {worst:.1e} at most (own estimate {found.error_estimate:.1e}), from spsolve's by "
        f"{abs(found.starvation / starvation - 1):.1e}"
    )
    times = {
        "ours": seconds(lambda: queue.measures(policy), 15),
        "ours, 'matrix-free'": seconds(lambda: queue.measures(policy, method="matrix-free"), 15),
        "block": seconds(lambda: queue.measures(policy, method="block"), 1),
        "block alone": seconds(lambda: stationary_by_levels(blocks), 2),
        "spsolve": seconds(lambda: by_spsolve(equations(queue, policy)), 2),
        "spsolve alone": seconds(lambda: by_spsolve(system), 2),
    }
    for road, spent in times.items():
        print(f"{road:>20}  {spent:9.4f} s   {spent / times['ours']:8.1f} x")
    return min(times["block alone"], times["spsolve alone"]) / times["ours"]


def main() -> int:
    modes, service = load(FILE).queue.modes, load(FILE).queue.service
    least = float("inf")
    for name, (patience, policy) in CASES.items():
        least = min(least, compare(name, ThresholdQueue(modes, service, patience, capacity=10), policy))
    print(f"one policy takes at most 1/{least:.0f} of either rival's time without its assembly (aim: 1/{AIM:g})")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
