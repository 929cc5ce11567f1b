"""Policy iteration along curves against mdpsolver, a solver of Markov decision processes in C++.

    pip install mdpsolver      (the extra `rivals`)
    python benchmarks/bench_robots_mdpsolver.py

One instance of Table 1, N = 107, K = 15, lambda = 1/100, mu = 1, gamma = 2.4, average criterion, solved by mdpsolver's
algorithms on two chains: the paper's (q, r, event), and the reduced one (q, r), where an action says what to do after a
service and what after an arrival. Its value and modified policy iteration run with its own tolerance, 1e-3, and with
1e-8, in one thread (several take longer on busy cores; its plain policy iteration takes longer too). Times are CPU
times, of ours the least of 30 runs before each of its. Handing the lists over is not counted, neither is our
compilation. mdpsolver has no certificate; the policies it returns are judged by our
queue, so that it shows how far from the least cost they are.
"""

import time

import numpy as np

from queueing.robots import PolicyStep, RobotQueue, best_policy

ROBOTS, CAPACITY, RATE, GAMMA = 107, 15, 1 / 100, 2.4
PACE = RATE * ROBOTS + 1.0
Lists = tuple[list, list, list]


def choices(q: int, r: int) -> list[tuple[int, int]]:
    """Where an event that leaves (q, r) may lead: without and with one more robot."""
    both = [(q, r), (q, min(r + 1, ROBOTS))]
    return [both[1], both[1]] if q == r == 0 else both


def paper_lists() -> tuple[Lists, list[tuple[int, int, int]]]:
    """Rewards, probabilities and successors of the paper's chain, and its states."""
    states = [
        (q, r, s)
        for q in range(CAPACITY + 1)
        for r in range(ROBOTS + 1)
        for s in range(3)
        if q + r > 0 and not (q == 0 and s == 0) and not (r == 0 and s == 1)
    ]
    number = {state: index for index, state in enumerate(states)}
    rewards, chances, columns = [], [], []
    for q, r, s in states:
        after = choices(q - 1, r) if s == 0 else choices(min(q + 1, CAPACITY), r - 1) if s == 1 else [(q, r)]
        cost = GAMMA * (q == 0) + PACE * (q == CAPACITY and s == 1)
        rewards.append([-cost] * len(after))
        events = [((a > 0) / PACE, RATE * b / PACE) for a, b in after]
        listed = [
            [
                (chance, number[a, b, s])
                for s, chance in enumerate((served, brought, 1 - served - brought))
                if chance > 0
            ]
            for (a, b), (served, brought) in zip(after, events, strict=True)
        ]
        chances.append([[chance for chance, _ in row] for row in listed])
        columns.append([[column for _, column in row] for row in listed])
    return (rewards, chances, columns), states


def reduced_lists() -> tuple[Lists, list[tuple[int, int]]]:
    """The same of the chain of (q, r)."""
    states = [(q, r) for q in range(CAPACITY + 1) for r in range(ROBOTS + 1) if q + r > 0]
    number = {state: index for index, state in enumerate(states)}
    rewards, chances, columns = [], [], []
    for q, r in states:
        services = choices(q - 1, r) if q else [(q, r)]
        arrivals = choices(min(q + 1, CAPACITY), r - 1) if r else [(q, r)]
        served, brought = (q > 0) / PACE, RATE * r / PACE
        cost = GAMMA * (q == 0) + RATE * r * (q == CAPACITY)
        pairs = [(one, other) for one in services for other in arrivals]
        rewards.append([-cost] * len(pairs))
        rows = []
        for one, other in pairs:
            row: dict[int, float] = {}
            for there, chance in ((one, served), (other, brought), ((q, r), 1 - served - brought)):
                if chance > 0:
                    row[number[there]] = row.get(number[there], 0.0) + chance
            rows.append(row)
        chances.append([list(row.values()) for row in rows])
        columns.append([list(row) for row in rows])
    return (rewards, chances, columns), states


def policy_from(states: list, actions: list[int]) -> np.ndarray:
    """The policy by pages and robots after an event that the actions of a chain amount to."""
    policy = np.zeros((CAPACITY + 1, ROBOTS + 1), dtype=np.int8)
    for state, action in zip(states, actions, strict=True):
        q, r = state[:2]
        if len(state) == 3:
            if state[2] < 2:
                policy[(q - 1, r) if state[2] == 0 else (min(q + 1, CAPACITY), r - 1)] = action
        else:
            if q:
                policy[q - 1, r] = action // 2 if r else action
            if r:
                policy[min(q + 1, CAPACITY), r - 1] = action % 2
    policy[:, -1], policy[0, 0] = 0, 1
    return policy


def ours(queue: RobotQueue, cost: np.ndarray) -> tuple[float, PolicyStep]:
    """Least CPU time of some runs, and what was found."""
    quick = float("inf")
    for _ in range(30):
        began = time.process_time()
        best = best_policy(queue, cost)
        quick = min(quick, time.process_time() - began)
    return quick, best


def main() -> int:
    queue = RobotQueue(ROBOTS, CAPACITY, RATE)
    cost = queue.cost(GAMMA)
    best_policy(queue, cost)  # compile
    try:
        import mdpsolver
    except ImportError:
        print("mdpsolver is not installed: pip install mdpsolver")
        return 1
    quick, rows = float("inf"), []
    for name, (lists, states) in (("(q, r, event)", paper_lists()), ("(q, r)", reduced_lists())):
        for algorithm, tolerance in (("vi", 1e-3), ("vi", 1e-8), ("mpi", 1e-3), ("mpi", 1e-8)):
            spent, best = ours(queue, cost)
            quick = min(quick, spent)
            model = mdpsolver.model()
            model.mdp(rewards=lists[0], tranMatProbs=lists[1], tranMatColumns=lists[2])
            began = time.process_time()
            model.solve(algorithm=algorithm, criterion="average", tolerance=tolerance, parallel=False)
            spent = time.process_time() - began
            found = queue.measures(policy_from(states, model.getPolicy()))
            value = GAMMA * found.starvation + found.loss_rate
            text = f"mdpsolver {algorithm:3} {tolerance:.0e} on {name:13} {len(states):5} states"
            rows.append((text, spent, f"cost {value:.12f}, {value / best.gain - 1:.0e} above"))
    width = (best.upper - best.lower) / best.gain
    print(f"{'policy iteration along curves':48} {1e3 * quick:9.2f} ms   cost {best.gain:.12f}, proved to {width:.0e}")
    for text, spent, remark in rows:
        print(f"{text:48} {1e3 * spent:9.1f} ms   {remark}: {spent / quick:.0f} times as long")
    print(f"the fastest of them takes {min(spent for _, spent, _ in rows) / quick:.0f} times as long")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
