"""Robot fleets of a hundred thousand and of a million states, solved and proved.

    python benchmarks/bench_robots_fleet.py [--small]

Journeys of two phases (Erlang), mu = 1, gamma = 1.2, K = 20: N = 100 robots make 108 171 states, N = 300 make 954 471
(--small leaves those out). Rivals on the same chain, at 108 171 states:

* value iteration, `queueing.robots.fleet.value_iteration`, compiled like ours, plain doubles, until its bracket is
  narrower than 1e-8 of the cost (at most ten minutes; it is said if that was not enough, and the time is then a lower
  bound);
* one evaluation of the best policy, not a search, by SuperLU (scipy) and by BiCGStab with an incomplete factorisation
  (scipy), both on the assembled chain.

Times are CPU times; compilation is not counted.
"""

import resource
import sys
import time

import numpy as np
from scipy.sparse import csc_array, diags_array, eye_array
from scipy.sparse.linalg import LinearOperator, bicgstab, spilu, splu

from queueing import PhaseType
from queueing.robots.fleet import (
    RobotClass,
    RobotFleet,
    best_fleet_policy,
    chain_of,
    fleet_cost,
    fleet_measures,
    fleet_step,
    moves_of,
    sweep,
)

ACCURACY, MOST_SECONDS = 1e-8, 600.0


def fleet_of_journeys(robots: int) -> RobotFleet:
    """Robots that bring 1.25 times what the server takes if all are out."""
    return RobotFleet((RobotClass(robots, PhaseType.erlang(2, 2.5 / robots)),), 20)


def equations(fleet: RobotFleet, actions: np.ndarray) -> csc_array:
    """-Q of a policy on the states there are, with 1 for the average cost in place of the first state's value."""
    chain = chain_of(moves_of(fleet), actions)
    absent = fleet.environments
    matrix = csc_array(diags_array(chain.leaving) - chain.matrix())[absent:][:, absent:].tolil()
    matrix[:, 0] = 1.0
    return csc_array(matrix)


def iterated(fleet: RobotFleet, cost: np.ndarray) -> tuple[float, int, float]:
    """Seconds, sweeps and relative width of the bracket of value iteration."""
    values, lower, upper = np.zeros(fleet.states), -np.inf, np.inf
    began, count = time.process_time(), 0
    while time.process_time() - began < MOST_SECONDS:
        values, low, high = sweep(fleet, cost, values)
        lower, upper, count = max(lower, low), min(upper, high), count + 1
        if upper - lower <= ACCURACY * upper:
            break
    return time.process_time() - began, count, (upper - lower) / upper


def solved(robots: int) -> tuple[float, RobotFleet, np.ndarray, np.ndarray]:
    """Solve, print what came out, and return the seconds it took, the fleet, its cost and the best policy."""
    fleet = fleet_of_journeys(robots)
    cost = fleet_cost(fleet, 1.2)
    began = time.process_time()
    best = best_fleet_policy(fleet, cost)
    spent = time.process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    width = (best.upper - best.lower) / best.gain
    print(f"{fleet.states} states: best policy in {spent:.1f} s, cost {best.gain:.12f}, proved to {width:.0e} of it")
    began = time.process_time()
    found = fleet_measures(fleet, best.actions)
    price = 1.2 * found.starvation + found.loss_rate
    print(
        f"  its measures by shares of time in {time.process_time() - began:.1f} s, cost {price:.12f}; "
        f"peak memory so far {memory:.0f} MB"
    )
    return spent, fleet, cost, best.actions


def main() -> int:
    small = RobotFleet((RobotClass(3, PhaseType.erlang(2, 1.0)),), 3)
    best_fleet_policy(small, fleet_cost(small, 1.0))
    large = RobotFleet((RobotClass(40, PhaseType.erlang(3, 1.0)),), 20)  # iterations are compiled on a larger one
    fleet_measures(large, best_fleet_policy(large, fleet_cost(large, 1.0), steps=1).better)
    sweep(small, fleet_cost(small, 1.0), np.zeros(small.states))
    spent, fleet, cost, actions = solved(100)
    began = time.process_time()
    step = fleet_step(fleet, cost, actions)
    once = time.process_time() - began
    print(f"  one step (evaluation, bracket)      {once:8.2f} s")
    seconds, count, width = iterated(fleet, cost)
    told = f"bracket {width:.0e}" if width <= ACCURACY else f"bracket still {width:.0e}: more than"
    print(f"  value iteration, {count} sweeps     {seconds:8.1f} s   {told} {seconds / spent:.0f} times as long")
    system = equations(fleet, actions)
    right = cost[fleet.environments :]
    began = time.process_time()
    factors = splu(system)
    value = float(factors.solve(right)[0])
    direct = time.process_time() - began
    print(
        f"  SuperLU, evaluation                 {direct:8.1f} s   cost {value:.12f}: {direct / once:.1f} times a step"
    )
    del factors
    began = time.process_time()
    part = spilu(csc_array(system + 1e-10 * eye_array(len(right))), drop_tol=1e-3, fill_factor=5)
    found, info = bicgstab(system, right, rtol=1e-10, maxiter=2000, M=LinearOperator(system.shape, part.solve))
    krylov = time.process_time() - began
    told = "" if info == 0 else " (not converged)"
    print(
        f"  BiCGStab with spilu, evaluation     {krylov:8.1f} s   cost {float(found[0]):.12f}{told}: "
        f"{krylov / once:.1f} times a step"
    )
    agreed = abs(value - step.gain) <= 1e-8 * step.gain
    if "--small" not in sys.argv:
        solved(300)
    return 0 if agreed else 1


if __name__ == "__main__":
    raise SystemExit(main())
