"""The best periodic routing, proved, against relative value iteration; how far proofs go; 200 servers by index.

    python benchmarks/bench_routing_cycles.py [--small]

Losses, Poisson arrivals at rate 1, exponential services. Ours is all it takes from rates to the proof: tables, index
rule, exchanges, and Howard's algorithm on graphs of gaps with a limit for each server. Value iteration (numba, moves
with probability 1/2 so that periods do not matter, the best of the probabilities that were tried) gets its graphs for
nothing and stops when the bracket is 1e-9 of the cost. Its graphs are: one limit for all servers and asymptotes beyond,
the first such limit from 2 M + 2 on that proves the optimum; the limit 19, which proves it as well; and ours.

Random instances have rates from 0.1 to 10, uniform in their logarithm: 20 with five servers, and a few with more, which
are not all proved. Times are seconds on the clock, of one thread, compilation not counted. The exit code tells whether
all limits were kept: 50 times value iteration on graphs with one limit for all, 3 s for M = 4, a bracket of 1 % in 60 s
for each of the 20, most of them proved. --small takes five of the 20 and leaves out what takes longest.
"""

import sys
import time

import numpy as np

from heuristics import Budget, Status, run
from heuristics.routing import (
    Charges,
    GapGraph,
    Kinds,
    MinMeanCycle,
    RoutingSweeps,
    least_mean_cycle,
    word_cost,
)
from heuristics.testing import Routed, losses

ACCURACY = 1e-9
FIVE = (0.5, 1, 1.5, 2, 4)
FOUR = (0.1, 1, 3, 10)
WIDEST = 58  # one limit for all four servers: some 7e5 states


def solved(rates, seconds=None, states=5_000_000, arrivals=1.0):
    """The strategy, by the clock."""
    problem = Routed(losses(rates, arrivals=arrivals))
    result = run(problem, MinMeanCycle(states=states), None if seconds is None else Budget(seconds=seconds))
    return result.seconds, result  # the clock starts when all is compiled


def one_limit(rates, limit):
    """A graph with one limit for all servers, asymptotes beyond."""
    table = losses(rates)(limit + 1)
    kinds, limits = Kinds.of(table), np.full(len(rates), limit)
    graph = GapGraph.of(limits, kinds.sizes, 10_000_000)
    return RoutingSweeps(graph, Charges.of(table, kinds, limits, np.ones(len(rates), bool)), kinds, losses(rates))


def howard(sweeps):
    """Howard's algorithm on a graph at hand: seconds, the lower bound, and the true cost of its word."""
    began = time.perf_counter()
    graph = sweeps.graph
    found = least_mean_cycle(graph, sweeps.charges.values, precision=1e-12)
    spent = time.perf_counter() - began
    word = sweeps.kinds.servers(found.word)
    return spent, sweeps.charges.base + found.lower, word_cost(sweeps.gap_table(len(word) + 1), word)


def swept(sweeps):
    """Value iteration on a graph at hand: seconds, sweeps, and the bracket."""
    began, values, count = time.perf_counter(), sweeps.start(), 0
    while True:
        after = sweeps.sweep(values)
        values, count = after.values, count + 1
        if after.upper - after.lower <= ACCURACY * after.upper:
            return time.perf_counter() - began, count, after


def versus_value_iteration(small: bool) -> bool:
    print(f"M = 5, {FIVE}")
    spent, result = min((solved(FIVE) for _ in range(5)), key=lambda each: each[0])
    cost, period = result.evaluation.objective, len(result.decision)
    states = result.extra["states"]
    print(f"  ours: {result.status}, period {period}, cost {cost:.12f}: {states} states, {1e3 * spent:.1f} ms in all")
    kept = result.status == Status.OPTIMAL and period == 42 and abs(cost - 0.0111047727) < 1e-10
    limit = 2 * len(FIVE) + 2
    while True:
        rival = one_limit(FIVE, limit)
        lower, upper = howard(rival)[1:]
        if upper - lower <= ACCURACY * upper:
            break
        limit += 1
    rivals = [(f"one limit, {limit}", rival, 50)]
    if not small:
        rivals.append(("one limit, 19", one_limit(FIVE, 19), 50))
    rivals.append(("ours", ours_graph(result), 0))
    for name, sweeps, least in rivals:
        took, count, last = swept(sweeps)
        ratio = took / spent
        alone = howard(sweeps)[0]
        print(
            f"  value iteration, graph: {name}, {sweeps.graph.states} states: {took:.2f} s, {count} sweeps, "
            f"{ratio:.0f} times ours in all (Howard alone on that graph: {1e3 * alone:.1f} ms, 1/{took / alone:.0f})"
        )
        kept &= abs(last.lower - cost) <= 2 * ACCURACY * cost and ratio >= least
    return kept


def ours_graph(result):
    """The graph on which the strategy ended, with chords beyond its limits."""
    limits = np.array(result.extra["limits"])
    table = losses(FIVE)(int(limits.max()) + 1)
    kinds = Kinds.of(table)
    graph = GapGraph.of(limits, kinds.sizes, 10_000_000)
    return RoutingSweeps(graph, Charges.of(table, kinds, limits, np.zeros(5, bool)), kinds, losses(FIVE))


def four_servers() -> bool:
    spent, result = solved(FOUR)
    rival = one_limit(FOUR, WIDEST)
    took, lower, upper = howard(rival)
    print(f"M = 4, {FOUR}")
    print(
        f"  ours: {result.status}, period {len(result.decision)}, cost {result.evaluation.objective:.10f}: "
        f"{result.extra['states']} states, {1e3 * spent:.1f} ms in all"
    )
    print(f"  Howard on one limit for all, {WIDEST}: {rival.graph.states} states, {took:.2f} s, proved {lower:.10f}")
    proved = upper - lower <= ACCURACY * upper
    return result.status == Status.OPTIMAL and proved and spent < 3 and took < 3


def random_instances(servers: int, count: int, seconds: float, states: int = 5_000_000) -> tuple[bool, int]:
    rng = np.random.default_rng(servers)
    times, widths, sizes, proved = [], [], [], 0
    for _ in range(count):
        spent, result = solved(np.sort(10 ** rng.uniform(-1, 1, servers)), seconds, states)
        times.append(spent)
        widths.append(1 - result.bound / result.evaluation.objective)
        sizes.append(result.extra.get("states", 0))
        proved += result.status == Status.OPTIMAL
    print(
        f"M = {servers}, {count} random instances: {proved} proved, widest bracket {max(widths):.1e}, "
        f"{min(times):.3f} to {max(times):.3f} s (median {np.median(times):.3f}), "
        + (
            f"up to {max(sizes)} states"
            if max(sizes)
            else "too many gaps for a graph of all: some have a price instead"
        )
    )
    return max(widths) < 0.01, proved


def many_servers(servers: int) -> bool:
    rng = np.random.default_rng(servers)
    rates = 10 ** rng.uniform(-1, 1, servers)
    spent, result = solved(rates, arrivals=float(rates.sum()) / 2)
    gap = result.evaluation.objective / result.bound - 1
    print(
        f"M = {servers}, arrivals half the sum of rates: index rule, {len(result.decision)} slots, cost "
        f"{result.evaluation.objective:.6f}, {100 * gap:.3f} % above the density bound, {spent:.2f} s"
    )
    return 0 < result.bound <= result.evaluation.objective


def main() -> int:
    small = "--small" in sys.argv
    solved(FIVE)  # compile
    solved(FIVE, states=100)
    howard(one_limit(FIVE, 12))
    swept(one_limit((1, 2), 4))
    kept = versus_value_iteration(small)
    if not small:
        kept &= four_servers()
    narrow, proved = random_instances(5, 5 if small else 20, 60.0)
    kept &= narrow and proved > (2 if small else 10)
    if not small:
        random_instances(6, 5, 60.0)
        random_instances(7, 3, 60.0)
        random_instances(8, 2, 60.0)
        random_instances(10, 2, 60.0)
    kept &= many_servers(200)
    return 0 if kept else 1


if __name__ == "__main__":
    raise SystemExit(main())
