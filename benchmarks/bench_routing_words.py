"""The best word of a given period: the integer program against enumeration of all necklaces.

    python benchmarks/bench_routing_words.py [--small]

Losses, Poisson arrivals at rate 1, exponential services. Ours is all that strategy `highs` takes with one thread: the
word it starts from, what is left out by numbers of packets, the model in Pyomo, the solver's process. The rival is
strategy `exhaustive`, a compiled loop over batches of necklaces. It runs to its end while that is a matter of seconds;
for 20 slots it runs for a while, and the rest is what it would take at that pace. Both must find the same cost. The
exit code tells whether periods of 20 slots are proved for three to five servers in 10 minutes each, 1000 times quicker
than by enumeration. --small enumerates fewer necklaces, and leaves out longer periods.
"""

import sys
import time

from heuristics import Budget, Status, run
from heuristics.search import Exhaustive
from optmodels.mip import Highs
from optmodels.routing import RoutingProblem

SERVERS = {3: (0.3, 1.0, 4.0), 4: (0.5, 1.0, 2.0, 4.0), 5: (0.5, 1.0, 1.5, 2.0, 4.0)}
SLOTS, MINUTES, CLAIM = 20, 10, 1000.0
LONGER = {3: 60, 4: 40, 5: 42}


def problem_of(servers, period):
    return RoutingProblem(servers=SERVERS[servers], arrivals=1.0, application="loss", period=period)


def by_program(problem, seconds=60.0 * MINUTES):
    """Seconds on the clock, and the answer."""
    began = time.perf_counter()
    result = run(problem, Highs(threads=1), Budget(seconds=seconds))
    return time.perf_counter() - began, result


def by_enumeration(problem, evaluations):
    """Seconds on the clock for all necklaces, those not seen at the pace of the others, and the answer."""
    seen = min(problem.space.size, evaluations)
    began = time.perf_counter()
    result = run(problem, Exhaustive(largest=10**30), Budget(evaluations=seen))
    return (time.perf_counter() - began) * problem.space.size / seen, result


def main(small):
    for rival in (by_program, lambda problem: by_enumeration(problem, 1000)):
        rival(problem_of(3, 5))  # compile and import
    largest = 60_000 if small else 400_000
    for servers in SERVERS:
        print(f"M = {servers}, rates {SERVERS[servers]}")
        period, ahead = 5, None
        while problem_of(servers, period).space.size <= largest:
            problem = problem_of(servers, period)
            ours, answer = by_program(problem)
            rivals, other = by_enumeration(problem, largest)
            assert answer.status is Status.OPTIMAL
            assert abs(answer.objective - other.objective) <= 1e-9 * other.objective
            ratio = rivals / ours
            print(
                f"  T = {period:2}: {problem.space.size:8} necklaces in {rivals:7.2f} s, "
                f"program {ours:6.2f} s: {ratio:6.2f} times"
            )
            ahead = None if ratio < 1 else ahead or (period, problem.space.size)
            period += 1
        told = "not yet" if ahead is None else f"from T = {ahead[0]} on ({ahead[1]} necklaces)"
        print(f"  the program is ahead {told}")
    kept = True
    for servers in SERVERS:
        problem = problem_of(servers, SLOTS)
        ours, answer = by_program(problem)
        rivals, _ = by_enumeration(problem, largest)
        proved, nodes = answer.status is Status.OPTIMAL, answer.extra["solver"].get("nodes")
        kept &= proved and ours <= 60 * MINUTES and rivals / ours >= CLAIM
        print(
            f"M = {servers}, T = {SLOTS}: {answer.status}, cost {answer.objective:.12g}, {ours:.2f} s, {nodes} nodes; "
            f"{problem.space.size} necklaces would take {rivals:.3g} s: {rivals / ours:.3g} times "
            f"({'at least' if rivals / ours >= CLAIM else 'NOT'} {CLAIM:g})"
        )
    for servers, slots in () if small else LONGER.items():
        ours, answer = by_program(problem_of(servers, slots))
        nodes = answer.extra["solver"].get("nodes")
        print(f"M = {servers}, T = {slots}: {answer.status}, cost {answer.objective:.12g}, {ours:.2f} s, {nodes} nodes")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main("--small" in sys.argv[1:]))
