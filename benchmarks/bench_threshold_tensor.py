"""Can a queue of a hundred pages with patience of two phases be priced to five digits, and at what cost?

There are about 2^100 states. Two policies of the paper's crawler, with patience that no law of one phase equals:

heavy  4 robots always, patience [[-1.5, 0.4], [0.1, -0.1]] from (0.3, 0.7): some 33 pages wait, all levels matter
light  3 robots while nobody waits, else 1; hyperexponential patience: levels above 20 hardly matter

The claim: the cost J of either (weights of instances/threshold/avrachenkov-k5.json) with a relative error below 1e-5 by
the method's own estimate, in 60 s and 15 s. No rival gets there. The paper's block algorithm and scipy's spsolve on the
full generator are timed at K = 10, where they already take longer; the exact method without a matrix (`queueing.
threshold_matrix_free`) at sizes it can take, where it also tells the true error of the claim's method; each page more
doubles its states. Times are CPU seconds of one thread, wall seconds beside them; compilation is not counted.
"""

import json
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrices are small: threads would wait for one another

from bench_threshold_single import by_spsolve, equations

from optmodels.instance import load
from queueing import PhaseType, ThresholdQueue
from queueing.threshold import Flows, ThresholdMeasures
from queueing.threshold.methods import BLOCK, MATRIX_FREE
from queueing.threshold.tensor import TENSOR_TRAIN

FILE = Path(__file__).parents[1] / "instances" / "threshold" / "avrachenkov-k5.json"
WEIGHTS = json.loads(FILE.read_text())["cost"]["weights"]
HEAVY = PhaseType([0.3, 0.7], [[-1.5, 0.4], [0.1, -0.1]])
LIGHT = PhaseType.hyperexponential([0.9, 0.1], [3.0, 0.1 / (5 - 0.9 / 3.0)])
GOAL = 1e-5


def queue_of(capacity: int, patience: PhaseType) -> ThresholdQueue:
    paper = load(FILE).queue
    return ThresholdQueue(paper.modes, paper.service, patience, capacity=capacity)


def cost(measures: ThresholdMeasures) -> float:
    return sum(weight * getattr(measures, name) for name, weight in WEIGHTS.items())


def estimate(measures: ThresholdMeasures) -> float:
    """Relative error of the cost, all errors of its parts added up."""
    parts = (weight * getattr(measures, name) * measures.errors[name] for name, weight in WEIGHTS.items())
    return sum(parts) / cost(measures)


def run(
    queue: ThresholdQueue, thresholds: tuple[int, ...], flows: Callable[..., Flows]
) -> tuple[ThresholdMeasures, str]:
    modes = queue.mode_by_level(thresholds)
    began, started = time.process_time(), time.perf_counter()
    found = flows(queue.model, modes)
    text = f"{time.process_time() - began:7.2f} s CPU {time.perf_counter() - started:7.2f} s wall"
    return queue._measures(found, modes, "benchmark"), text


def peak() -> str:
    return f"peak memory of the process so far {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"


def main() -> int:
    warm = queue_of(6, HEAVY)
    for method in (TENSOR_TRAIN, MATRIX_FREE):
        run(warm, (6, 6, 6), method.flows)
    kept = True
    for name, patience, thresholds, limit in (
        ("light", LIGHT, (-1, 1, 1), 15),
        ("heavy", HEAVY, (100, 100, 100), 60),
    ):
        queue = queue_of(100, patience)
        measures, text = run(queue, thresholds, TENSOR_TRAIN.flows)
        error = estimate(measures)
        kept &= error < GOAL
        print(
            f"{name} K = 100: {text} (claim {limit} s)  J = {cost(measures):.6f}, estimated error {error:.1e}; {peak()}"
        )
        small = {key: f"{value:.0e}" for key, value in measures.errors.items() if value > GOAL}
        print(f"      measures known to fewer digits: {small}")
    small_queue, full = queue_of(10, HEAVY), (10, 10, 10)
    times = {}
    for name, task in (
        ("tensor-train", lambda: run(small_queue, full, TENSOR_TRAIN.flows)),
        ("block", lambda: run(small_queue, full, BLOCK.flows)),
        ("spsolve", lambda: by_spsolve(equations(small_queue, full))),
    ):
        began = time.process_time()
        task()
        times[name] = time.process_time() - began
    ratios = ", ".join(f"{name} {spent:.2f} s ({spent / times['tensor-train']:.1f} x)" for name, spent in times.items())
    print(f"heavy K = 10: {ratios} CPU")
    before = None
    for capacity in (16, 18, 20):
        queue, thresholds = queue_of(capacity, HEAVY), (capacity,) * 3
        found, text = run(queue, thresholds, TENSOR_TRAIN.flows)
        began = time.process_time()
        exact, rival = run(queue, thresholds, MATRIX_FREE.flows)
        spent = time.process_time() - began
        true = abs(cost(found) / cost(exact) - 1)
        kept &= true < estimate(found) + 1e-12
        print(f"heavy K = {capacity}: tensor-train {text}, error of J {true:.1e}, estimated {estimate(found):.1e}")
        print(f"              matrix-free  {rival}, {queue.model.states} states; {peak()}")
        if before is not None:
            growth = (spent / before) ** 0.5
            years = spent * growth ** (100 - capacity) / 3.15e7
            print(f"              times {growth:.1f} a page: {years:.0e} years at K = 100")
        before = spent
    print("claims on errors hold" if kept else "CLAIMS ON ERRORS DO NOT HOLD")
    return 0 if kept else 1


if __name__ == "__main__":
    raise SystemExit(main())
