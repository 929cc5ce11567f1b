"""A thousand robots and room for 200 pages: 201 201 states, solved and proved.

    python benchmarks/bench_robots_large.py

N = 1000, K = 200, lambda = 1/800, mu = 1, gamma = 1.2. The least cost is about 6e-10: what is proved relative to it
needs relative values to more digits than doubles have. The rival is one evaluation of the best policy, not a
search: the generator of that policy, assembled beforehand, factorised by SuperLU (scipy). Compilation is not counted.
"""

import time

import numpy as np
from scipy.sparse import coo_array, csc_array
from scipy.sparse.linalg import splu

from queueing.robots import RobotQueue, best_policy, policy_step


def balance_equations(queue: RobotQueue, policy: np.ndarray) -> csc_array:
    """The generator of a policy, transposed, but for one equation: p = 1 at half a buffer and mu / lambda robots.

    (0, 0) is no state: it keeps an equation p = 0 of its own.
    """
    most, robots = queue.capacity, queue.robots
    width = robots + 1
    q, r = (index.reshape(-1) for index in np.indices(queue.shape))
    here = q * width + r
    flat = policy.astype(np.int64).reshape(-1)
    served, brought = q > 0, (r > 0)
    lower, there = (q - 1)[served] * width + r[served], np.minimum(q + 1, most)[brought] * width + r[brought] - 1
    rows = np.concatenate([lower + flat[lower], there + flat[there]])
    columns = np.concatenate([here[served], here[brought]])
    rates = np.concatenate([np.full(served.sum(), queue.service_rate), queue.arrival_rate * r[brought]])
    moving = rows != columns
    rows, columns, rates = rows[moving], columns[moving], rates[moving]
    leaving = np.bincount(columns, rates, minlength=here.size)
    leaving[0] = 1.0
    fixed = most // 2 * width + round(queue.balanced)
    kept = rows != fixed
    leaving[fixed] = -1.0
    return csc_array(
        coo_array(
            (
                np.concatenate([rates[kept], -leaving]),
                (np.concatenate([rows[kept], here]), np.concatenate([columns[kept], here])),
            )
        )
    )


def main() -> int:
    small = RobotQueue(3, 3, 1.0)
    best_policy(small, small.cost(1.0))  # compile
    queue = RobotQueue(1000, 200, 1 / 800)
    cost = queue.cost(1.2)
    began = time.perf_counter()
    best = best_policy(queue, cost)
    spent = time.perf_counter() - began
    width = (best.upper - best.lower) / best.gain
    print(f"policy iteration   {spent:6.2f} s   cost {best.gain:.6e}, proved to {width:.1e} of it")
    began = time.perf_counter()
    policy_step(queue, cost, best.policy)
    once = time.perf_counter() - began
    print(f"its last step      {once:6.2f} s   policy evaluated, improved, bracket")
    system = balance_equations(queue, best.policy)
    right = np.zeros(system.shape[0])
    right[queue.capacity // 2 * (queue.robots + 1) + round(queue.balanced)] = 1.0
    began = time.perf_counter()
    share = splu(system).solve(right)
    rival = time.perf_counter() - began
    share /= share.sum()
    value = float(share @ cost.reshape(-1))
    print(f"SuperLU, evaluation {rival:5.2f} s   cost {value:.6e}: {rival / once:.1f} times a step, no policy improved")
    return 0 if width < 1e-10 else 1


if __name__ == "__main__":
    raise SystemExit(main())
