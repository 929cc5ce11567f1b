"""A server with clients at several distances: convolution against textbook mean value analysis on the lattice.

Both roads are exact and compiled. Of several timings the best is printed, the two roads taking turns so that a busy
machine slows both. The ratio is the time on the lattice divided by the time by convolution, one call against one call.
"+ delays" gives the delay probabilities as well, which the lattice does not; "each of 242" is one row of a call that
solves all sites of an 11 x 22 grid, the way a placement is judged.
"""

import time
from collections.abc import Callable

import numpy as np
from mean_value_analysis import mean_value_analysis

from queueing import MixedSourceQueue

SERVICE_RATE, DELAY, SITES = 50.0, 0.16, 242
CROWDS = ((14, 11), (10, 8, 7), (10, 8, 4, 3), (20, 20, 20), (60, 50, 40), (25, 25, 25, 25))


def seconds_per_call(task: Callable[[], object], at_least: float = 0.02) -> float:
    """Mean time of a call, over as many calls as fill `at_least` seconds."""
    calls, start = 0, time.perf_counter()
    while True:
        task()
        calls += 1
        spent = time.perf_counter() - start
        if spent >= at_least:
            return spent / calls


def main() -> None:
    """Print one line for each crowd."""
    print(f"{'clients by distance':<20} {'states':>8} {'lattice':>11} {'convolution':>12} {'ratio':>8}"
          f" {'+ delays':>11} {'each of 242':>12} {'difference':>11}")  # fmt: skip
    for crowd in CROWDS:
        times = tuple(0.48 + 0.02 * d for d in range(1, len(crowd) + 1))
        queue = MixedSourceQueue(SERVICE_RATE, times)
        grid = np.tile(np.array(crowd), (SITES, 1))
        roads: list[Callable[[], object]] = [
            lambda times=times, crowd=crowd: mean_value_analysis(SERVICE_RATE, times, crowd),
            lambda queue=queue, crowd=crowd: queue.measures(crowd),
            lambda queue=queue, crowd=crowd: queue.measures(crowd, DELAY),
            lambda queue=queue, grid=grid: queue.measures_many(grid, DELAY),
        ]
        for road in roads:
            road()  # compiled, or read from the cache, before the clock runs
        lattice, single, late, many = np.min([[seconds_per_call(road) for road in roads] for _ in range(7)], axis=0)
        many /= SITES
        exact = np.array(mean_value_analysis(SERVICE_RATE, times, crowd)[0])
        difference = np.max(np.abs(np.array(queue.measures(crowd).throughput) / exact - 1))
        print(f"{crowd!s:<20} {np.prod(np.array(crowd) + 1):>8} {1e6 * lattice:>8.1f} us {1e6 * single:>9.1f} us"
              f" {lattice / single:>8.1f} {1e6 * late:>8.1f} us {1e6 * many:>9.2f} us"
              f" {difference:>11.1e}")  # fmt: skip


if __name__ == "__main__":
    main()
