"""A search over all threshold policies where patience does not reduce: 4 modes, room for 10 pages, 364 policies.

The section 7 example with hyperexponential patience of mean 5, two phases each of arrivals, service and patience: 4094
states a policy. All roads end with all measures of every policy:

shared   tables are kept, and each policy begins with the solution of a neighbour (`queueing.threshold.neighbours`)
cold     the same sweeps, a policy at a time, nothing kept (method 'matrix-free')
block    the paper's algorithm [9], a policy at a time (method 'block')
spsolve  scipy's sparse direct solver on the full generator, which compiled code has written; ends with probabilities

The last three are timed on a sample of policies, spread over all, and multiplied. Times are CPU seconds; the block
algorithm and spsolve may use several threads, all of which count.
"""

import time
from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement
from pathlib import Path

from bench_threshold_single import by_spsolve, equations

from optmodels.instance import load
from queueing import PhaseType, ThresholdQueue
from queueing.threshold import measures_of_many

FILE = Path(__file__).parents[1] / "instances" / "threshold" / "avrachenkov-k10.json"
LAW = PhaseType.hyperexponential([0.9, 0.1], [3.0, 0.1 / 4.7])
AIM = 100.0


def seconds(task: Callable[[tuple[int, ...]], object], policies: Sequence[tuple[int, ...]], count: int) -> float:
    """CPU seconds of `count` policies, from those of a sample."""
    began = time.process_time()
    for policy in policies:
        task(policy)
    return (time.process_time() - began) / len(policies) * count


def main() -> int:
    base = load(FILE).queue
    queue = ThresholdQueue(base.modes, base.service, LAW, capacity=10)
    policies = list(combinations_with_replacement(range(-1, 11), 3))
    count = len(policies)
    small = ThresholdQueue(base.modes, base.service, LAW, capacity=3)
    measures_of_many(small, [(0, 1, 1), (0, 1, 2)])  # compiles
    small.measures((0, 1, 1), method="matrix-free")
    began = time.process_time()
    shared = measures_of_many(queue, policies)
    roads = {"shared": time.process_time() - began}
    sample = policies[7 :: count // 6]
    roads["cold"] = seconds(lambda policy: queue.measures(policy, method="matrix-free"), policies[::12], count)
    found = {}

    def by_blocks(policy: tuple[int, ...]) -> None:
        found[policy] = queue.measures(policy, method="block").scalars()

    roads["block"] = seconds(by_blocks, sample, count)
    roads["spsolve"] = seconds(lambda policy: by_spsolve(equations(queue, policy)), sample[:3], count)
    rows = shared.rows()
    worst = max(
        abs(rows[policies.index(policy)][name] / value - 1)
        for policy, exact in found.items()
        for name, value in exact.items()
    )
    print(
        f"{count} policies of {queue.model.states} states; on {len(found)} of them all measures differ from the block "
        f"algorithm's by {worst:.1e} at most; evaluated alone: {shared.alone}"
    )
    for name, spent in roads.items():
        each = 1e3 * spent / count
        print(f"{name:>8}  {spent:9.2f} s   {each:9.2f} ms a policy   {spent / roads['shared']:8.1f} x")
    print(
        f"the search is {roads['block'] / roads['shared']:.0f} times as fast as the block algorithm from scratch "
        f"(aim: {AIM:g}), {roads['cold'] / roads['shared']:.1f} times as fast as the same sweeps from scratch"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
