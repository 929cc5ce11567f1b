"""Four million states without a matrix: 20 pages, two phases each of arrivals, service and patience.

All measures of one policy at K = 20 (4 194 302 states), with its own estimate of error, wall-clock time and the largest
memory of the process. Neither rival can be run there: the paper's block algorithm and scipy's sparse direct solver end
at some 10 000 states, so both are timed at K = 10, in the same run, beside our time there. Accuracy is shown twice:
against the block algorithm at K = 10, and against BiCGSTAB on the assembled generator (another state order, another
iteration, another preconditioner) at K = 16. Memory is read before any rival runs. The policy is "always 4", which
fills the system, with a patience law that has a way back: nothing here is light or small by chance.
"""

import resource
import time
from collections.abc import Callable
from pathlib import Path

from bench_threshold_single import by_spsolve, equations

from optmodels.instance import load
from queueing import PhaseType, ThresholdMeasures, ThresholdQueue
from queueing.threshold import MEASURES

FILE = Path(__file__).parents[1] / "instances" / "threshold" / "avrachenkov-k10.json"
LAW = PhaseType([0.3, 0.7], [[-1.5, 0.4], [0.1, -0.1]])
MOST_SECONDS, MOST_MEGABYTES = 10.0, 1000.0


def timed(task: Callable[[], ThresholdMeasures]) -> tuple[ThresholdMeasures, float]:
    began = time.perf_counter()
    found = task()
    return found, time.perf_counter() - began


def difference(one: ThresholdMeasures, other: ThresholdMeasures) -> float:
    """Largest relative difference of a measure."""
    return max(abs(getattr(one, name) / getattr(other, name) - 1) for name in MEASURES)


def main() -> int:
    base = load(FILE).queue

    def queue(capacity: int) -> ThresholdQueue:
        return ThresholdQueue(base.modes, base.service, LAW, capacity=capacity)

    def always(capacity: int, method: str) -> tuple[ThresholdMeasures, float]:
        made = queue(capacity)
        return timed(lambda: made.measures((capacity,) * 3, method=method))

    always(4, "matrix-free")  # compiles
    worked = time.process_time()
    found, spent = always(20, "matrix-free")
    worked = time.process_time() - worked
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"K = 20, {queue(20).model.states} states: {spent:.2f} s (aim: {MOST_SECONDS:g}; {worked:.2f} s of one "
        f"processor, the rest is other work on the machine), {memory:.0f} MB "
        f"(aim: {MOST_MEGABYTES:g}), estimated error {found.error_estimate:.1e}"
    )
    print("  " + ", ".join(f"{name} {getattr(found, name):.10g}" for name in ("loss", "starvation", "response_time")))
    always(4, "krylov")
    middle, quick = always(16, "matrix-free")
    assembled, slow = always(16, "krylov")
    print(
        f"K = 16, {queue(16).model.states} states: {quick:.2f} s, BiCGSTAB on the assembled generator {slow:.2f} s; "
        f"largest relative difference {difference(middle, assembled):.1e}"
    )
    small = min((always(10, "matrix-free") for _ in range(5)), key=lambda pair: pair[1])
    block, by_blocks = always(10, "block")
    began = time.perf_counter()
    by_spsolve(equations(queue(10), (10, 10, 10)))
    direct = time.perf_counter() - began
    print(
        f"K = 10, {queue(10).model.states} states: {1e3 * small[1]:.1f} ms; block algorithm {by_blocks:.2f} s "
        f"({by_blocks / small[1]:.0f} x), spsolve {direct:.2f} s ({direct / small[1]:.0f} x); "
        f"largest relative difference {difference(small[0], block):.1e}"
    )
    rate = queue(20).model.states / spent / (queue(10).model.states / by_blocks)
    print(f"states a second at K = 20, by those of the block algorithm at K = 10: {rate:.0f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
