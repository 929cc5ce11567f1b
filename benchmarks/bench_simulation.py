"""How fast is the simulation, and what does a digit cost by it?

The paper's queue of five pages under its best thresholds, and the same with patience that is truly of two phases
(Figure 4). Two questions:

events    the compiled event loop (`queueing.threshold.simulation.runs`) against a plain one in Python with `heapq`,
which must agree 1 % of J  time until the 95 % confidence interval of the cost is 1 % wide to either side, against the
exact evaluation

Times are CPU seconds of one thread; compilation is not counted. The claim is the first ratio. The second says what the
simulation is for: a witness, not a rival.
"""

import heapq
import random
import time
from bisect import bisect_right
from pathlib import Path

import numpy as np

from optmodels.instance import load
from queueing.simulation import Estimate, jackknife
from queueing.threshold.simulation import Replication, SimulatedQueue, Simulation, measures_of, usual_time

FOLDER = Path(__file__).parents[1] / "instances" / "threshold"
CASES = (("avrachenkov-k5.json", (-1, 2, 2)), ("avrachenkov-fig4-3.json", (0, 2, 2)))
CLAIM = 10.0
EVENTS = 100_000


def plain_loop(queue: SimulatedQueue, end: float, seed: int) -> tuple[np.ndarray, int]:
    """The same queue, first come, first served, as one would write it without a compiler; what was seen per time."""
    draw = random.Random(seed)
    blocks = [[np.asarray(block).tolist() for block in mode] for mode in queue.arrivals]
    phases, modes = len(blocks[0][0]), queue.rules.modes.tolist()
    moves = []
    for mode in blocks:
        rows = []
        for phase in range(phases):
            targets = [(size, to) for size in range(len(mode)) for to in range(phases) if size or to != phase]
            weights = [mode[size][phase][to] for size, to in targets]
            sums = np.cumsum(weights).tolist()
            rows.append((sums[-1], targets, sums))
        moves.append(rows)

    def law(given):
        if given is None or isinstance(given, float):
            return lambda: float("inf") if given is None else given
        start, rates = np.cumsum(given.initial).tolist(), np.asarray(given.generator)
        size = len(start)
        ends = np.column_stack([rates - np.diag(np.diag(rates)), -rates.sum(axis=1)])
        nexts, speeds = ends.cumsum(axis=1).tolist(), ends.sum(axis=1).tolist()

        def sample():
            phase, spent = bisect_right(start, draw.random()), 0.0
            while phase < size:
                spent += draw.expovariate(speeds[phase])
                phase = bisect_right(nexts[phase], draw.random() * speeds[phase])
            return spent

        return sample

    serve, wait = law(queue.service), law(queue.patience)
    calendar: list[tuple[float, int, str, int]] = []
    counts, levels = [0.0] * 6, [0.0] * (queue.top + 1)
    waiting: dict[int, float] = {}  # page: time of entry; a dict keeps the order
    now, level, phase, page, stamp, inside, events = 0.0, 0, 0, 0, 0, 0.0, 0

    def schedule_move():
        nonlocal stamp
        stamp += 1  # an older move in the calendar is void
        rate = moves[modes[level]][phase][0]
        if rate > 0:
            heapq.heappush(calendar, (now + draw.expovariate(rate), page, "move", stamp))

    schedule_move()
    while calendar:
        due, _, what, which = heapq.heappop(calendar)
        if (what == "move" and which != stamp) or (what == "fade" and which not in waiting):
            continue
        levels[level] += min(due, end) - now
        if due >= end:
            break
        now, mode, events = due, modes[level], events + 1
        if what == "move":
            rate, targets, sums = moves[mode][phase]
            batch, phase = targets[bisect_right(sums, draw.random() * rate)]
            room = max(0, queue.capacity - level)
            if queue.admission == "partial":
                entering = min(batch, room)
            elif queue.admission == "whole-batch":
                entering = batch if batch <= room else 0
            else:
                entering = batch if room else 0
            counts[0] += batch
            counts[1] += batch - entering
            for _ in range(entering):
                page += 1
                if level == 0:
                    inside = now
                    heapq.heappush(calendar, (now + serve(), page, "done", page))
                else:
                    waiting[page] = now
                    if (patience := wait()) < float("inf"):
                        heapq.heappush(calendar, (now + patience, page, "fade", page))
                level += 1
            schedule_move()
            continue
        level -= 1
        if what == "done":
            counts[3] += 1
            counts[5] += now - inside
            if waiting:
                first = next(iter(waiting))
                inside = waiting.pop(first)
                heapq.heappush(calendar, (now + serve(), first, "done", first))
        else:
            counts[2] += 1
            counts[4] += now - waiting.pop(which)
        if modes[level] != mode:
            schedule_move()
    return np.array(counts + levels) / end, events


def compiled(queue: SimulatedQueue, end: float, seed: int) -> tuple[np.ndarray, int]:
    one = Replication(queue, seed, 0, end, 0.0)
    while not one.advance():
        pass
    return one.seen.observation, one.events


def disagreement(first: np.ndarray, second: np.ndarray, robots: np.ndarray) -> float:
    """Largest difference of two simulations in standard errors, over all measures."""
    largest = 0.0
    for name in measures_of(first[0], robots):
        both: list[Estimate] = [
            jackknife(lambda means, name=name: measures_of(means, robots)[name], rows) for rows in (first, second)
        ]
        if all(one.error for one in both):
            largest = max(largest, abs(both[0].value - both[1].value) / np.hypot(both[0].error, both[1].error))
    return largest


def cost_of_a_percent(problem, queue: SimulatedQueue) -> tuple[float, int, Estimate]:
    """CPU seconds and events until the half-width of the cost is a percent of it."""
    span, done, spent = usual_time(queue, 2000, seed=1), [], 0.0
    while True:
        one = Replication(queue, 1, len(done), span, span / 10)
        began = time.process_time()
        one.advance(10**9)
        spent += time.process_time() - began
        done.append(one.seen)
        if len(done) >= 10:
            found = Simulation.of(queue, done)
            price = found.estimate(problem.cost)
            if price.half_width() <= 0.01 * price.value:
                return spent, found.events, price


def exact_seconds(problem, policy) -> float:
    best = float("inf")
    for _ in range(20):
        began = time.process_time()
        problem.queue.measures(policy)
        best = min(best, time.process_time() - began)
    return best


def main() -> int:
    least = float("inf")
    for name, policy in CASES:
        problem = load(FOLDER / name)
        queue = problem.experiment(policy).queue
        exact = problem.evaluate(policy).objective
        compiled(queue, 10.0, 0)
        span = usual_time(queue, EVENTS // 10)
        speed, seen = {}, {}
        for road, function in (("compiled", compiled), ("plain Python", plain_loop)):
            began = time.process_time()
            runs = [function(queue, span, seed) for seed in range(1, 11)]
            spent = time.process_time() - began
            seen[road] = np.array([row for row, _ in runs])
            speed[road] = sum(events for _, events in runs) / spent
        if disagreement(*seen.values(), queue.robots_by_level) > 5.0:
            raise AssertionError("the two event loops disagree")
        ratio = speed["compiled"] / speed["plain Python"]
        least = min(least, ratio)
        print(f"{problem.name} at {policy}:")
        for road, rate in speed.items():
            print(f"  {road:>12}  {rate:12,.0f} events a second")
        print(f"  compiled events are {ratio:.0f} times as fast")
        spent, events, price = cost_of_a_percent(problem, queue)
        single = exact_seconds(problem, policy)
        print(
            f"  1 % of J: {spent:.4f} s, {events} events, J = {price.value:.2f} +- {price.half_width():.2f}; exact "
            f"{exact:.4f} in {1e3 * single:.2f} ms: {spent / single:.1f} times as fast, and to all its digits"
        )
    print(f"least ratio of event rates: {least:.0f} (claimed: {CLAIM:g} or more)")
    return 0 if least >= CLAIM else 1


if __name__ == "__main__":
    raise SystemExit(main())
