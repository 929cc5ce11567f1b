"""How much does a search over all threshold policies save by sharing work?

The INRIA crawler: 4 modes, room for 20 pages, batches of up to 8, patience of one phase; 2024 policies. Five roads,
the first three with all measures of every policy:

shared        all policies at once, levels that policies share eliminated once (`queueing.threshold.tree`)
from scratch  the same elimination, compiled too, a policy at a time, each from the data: nothing is kept in between
one by one    the same, but the queue with its reduced laws is kept (`ThresholdQueue.measures`)
block         the paper's algorithm [9], a policy at a time; its blocks are given, and it ends with the probabilities
spsolve       scipy's sparse solver, a policy at a time; the generator is given, and it ends with the probabilities

All but the first are timed on a sample of policies and multiplied. Times are CPU seconds of one thread, the best of
several runs, as other work on the machine can only add to them. The ratio shared : from scratch is the claim. The
number of levels that are eliminated, 12649 against 42504, bounds what sharing alone can give; the rest is the price of
a call, of checks, and of the loop over policies that is compiled in one case and not in the other.
"""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.sparse import csc_array
from scipy.sparse.linalg import spsolve

from optmodels.instance import load
from queueing import ThresholdQueue
from queueing.numerics import stationary_by_levels
from queueing.threshold import measures_of_many
from queueing.threshold.methods import full_generator, level_blocks

FILE = Path(__file__).parents[1] / "instances" / "threshold" / "inria-batches-mended.json"
AIM, MOMENT = 300.0, 0.05


def seconds(task: Callable[[], object], repeats: int) -> float:
    """CPU time of the best of several runs."""
    best = float("inf")
    for _ in range(repeats):
        began = time.process_time()
        task()
        best = min(best, time.process_time() - began)
    return best


def equations(queue, policy) -> csc_array:
    """The transposed generator with one equation replaced by the total."""
    generator = full_generator(queue.model, queue.mode_by_level(policy)).T.tolil()
    generator[-1, :] = 1.0
    return csc_array(generator)


def by_spsolve(system: csc_array) -> np.ndarray:
    right = np.zeros(system.shape[0])
    right[-1] = 1.0
    return spsolve(system, right)


def renewed(queue: ThresholdQueue) -> ThresholdQueue:
    """The same queue with nothing computed yet."""
    return ThresholdQueue(
        queue.modes, queue.service, queue.patience, capacity=queue.capacity, admission=queue.admission
    )


def dense_blocks(queue, policy) -> list[list[np.ndarray]]:
    """Blocks of the generator as `stationary_by_levels` takes them."""
    size = queue.model.level_size
    return [
        [
            row[target].toarray() if target in row else np.zeros((size(level), size(target)))
            for target in range(max(level - 1, 0), max(row) + 1)
        ]
        for level, row in enumerate(level_blocks(queue.model, queue.mode_by_level(policy)))
    ]


def main() -> int:
    problem = load(FILE)
    queue, policies = problem.queue, list(problem.space)
    sample = policies[::251]
    problem.prepare()
    shared = measures_of_many(queue, policies)
    worst = 0.0
    for policy, row in zip(policies, shared.rows(), strict=True):
        single = queue.measures(policy).scalars()
        worst = max(worst, *(abs(row[name] / value - 1) for name, value in single.items()))
    systems, blocks = [equations(queue, p) for p in sample], [dense_blocks(queue, p) for p in sample]
    for policy, system, rows in zip(sample, systems, blocks, strict=True):
        exact = queue.measures(policy).starvation
        assert abs(by_spsolve(system)[:2].sum() / exact - 1) < 1e-6
        assert abs(stationary_by_levels(rows)[0].sum() / exact - 1) < 1e-6
    share = len(policies) / len(sample)
    often = policies[::40]
    roads = {
        "shared": seconds(lambda: measures_of_many(queue, policies), 30),
        "from scratch": len(policies) / len(often) * seconds(lambda: [renewed(queue).measures(p) for p in often], 5),
        "one by one": len(policies) / len(often) * seconds(lambda: [queue.measures(p) for p in often], 5),
        "block": share * seconds(lambda: [stationary_by_levels(rows) for rows in blocks], 3),
        "spsolve": share * seconds(lambda: [by_spsolve(system) for system in systems], 3),
    }
    judged = seconds(lambda: problem.evaluate_many(policies), 15)
    print(
        f"{problem.name}: {len(policies)} policies, {shared.levels} levels instead of "
        f"{len(policies) * (queue.capacity + 1)}, largest relative difference {worst:.1e}"
    )
    for name, spent in roads.items():
        each = 1e6 * spent / len(policies)
        print(f"{name:>12}  {spent:8.3f} s   {each:9.1f} us a policy   {spent / roads['shared']:8.1f} x")
    print(f"priced, ready for a search: {1e3 * judged:.1f} ms (aim: {1e3 * MOMENT:g} ms)")
    print(
        f"shared work is {roads['from scratch'] / roads['shared']:.0f} times as fast as the same elimination from "
        f"scratch (aim: {AIM:g}), {roads['one by one'] / roads['shared']:.0f} times as fast as one by one"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
