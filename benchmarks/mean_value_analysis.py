r"""The rival of `bench_finite_source.py`, and a witness of the tests: exact mean value analysis on the lattice.

The textbook road to the means of `queueing.MixedSourceQueue` with one processor, Reiser and Lavenberg, *Journal of the
ACM* (1980). The recursion runs over every population n up to the one given,

.. math::  W_c(n) = \frac{1 + L(n - e_c)}{\lambda}, \qquad L(n) = \sum_c \frac{n_c W_c(n)}{m_c + W_c(n)}.
"""

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray


def mean_value_analysis(
    service_rate: float, think_times: Sequence[float], populations: Sequence[int]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Throughput per client and mean delay of each class, nan for a class without clients."""
    times = np.array(think_times, dtype=np.float64)
    delays = _lattice_kernel(np.array(populations, dtype=np.int64), service_rate, times)
    return tuple((1.0 / (times + delays)).tolist()), tuple(delays.tolist())


@njit(cache=True)
def _lattice_kernel(counts: NDArray[np.int64], rate: float, times: NDArray[np.float64]) -> NDArray[np.float64]:
    classes = counts.size
    strides = np.ones(classes, dtype=np.int64)
    for c in range(1, classes):
        strides[c] = strides[c - 1] * (counts[c - 1] + 1)
    states = strides[classes - 1] * (counts[classes - 1] + 1)
    length = np.zeros(states)
    delays = np.full(classes, np.nan)
    present = np.zeros(classes, dtype=np.int64)
    for state in range(1, states):
        c = 0  # the next population, counting like an odometer
        while present[c] == counts[c]:
            present[c] = 0
            c += 1
        present[c] += 1
        for c in range(classes):
            if present[c] > 0:
                wait = (1.0 + length[state - strides[c]]) / rate
                length[state] += present[c] * wait / (times[c] + wait)
                if state == states - 1:
                    delays[c] = wait
    return delays
