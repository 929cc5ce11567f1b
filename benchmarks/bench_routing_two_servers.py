"""Two servers, period 20: the closed form and local search against enumeration, all with the same kernel.

    python benchmarks/bench_routing_two_servers.py

Poisson arrivals of rate 1, rates of the servers 1 and mu in the middle of the stretch (Figure 1 of Altman et al.
(2000)) where one packet of n = 2, 4, 5, 10 or 20 for the slow server is best of all words: then it is best of those
with 20 slots, too. Costs of gaps are tabulated before any clock starts; all words are evaluated by
`heuristics.multimodular.evaluate_word`.

* closed form: `two_server.closed_form`, period and proof, the mean of 200 calls;
* local search over feasible neighbours, to a word that none betters: mean and slowest of 22 starts (the servers in
  turns, all packets for the slow server first, and 20 at random); it proves nothing;
* enumeration of all 2^20 words, and of the 52 488 necklaces among them;
* the paper's neighbourhood as it is printed: one scan of its 2^21 - 2 points around the best word; a point is given up
  at the first entry that shows that it is no word.

Times are CPU times, medians of five rounds in which everybody has a turn. The answers must be the same to 1e-14 and the
bound as near as 1e-13, the closed form 1000 times as fast as enumeration of all words, and local search 10 times, in
every case.
"""

import math
import statistics
import time

import numpy as np
from numba import njit

from heuristics.multimodular import Descent, WordCosts, evaluate_word
from heuristics.routing import GapTable, Split, closed_form, later_slopes

LENGTH, ROUNDS, CALLS, RANDOM_STARTS = 20, 5, 200, 20
PERIODS = (2, 4, 5, 10, 20)
CLOSED_FORM, LOCAL_SEARCH, AGREEMENT, BOUND = 1000.0, 10.0, 1e-14, 1e-13


def breakpoint(n: int) -> float:
    """The rate of the fast server at which period n becomes n + 1, the slow one's being 1."""
    part = (n + 2) * 2.0 ** -(n + 1)
    return (1 + math.sqrt(1 - part)) / part - 1  # 1 / (1 - sqrt(1 - part)) - 1 without cancellation


def middle(n: int) -> float:
    """A rate for which period n is best."""
    return math.sqrt((1.0 if n == 2 else breakpoint(n - 1)) * breakpoint(n))


@njit
def least_word(costs, length):
    """The least cost of all 2^n words, and the first word that has it."""
    word = np.zeros(length, dtype=np.int64)
    least, best = np.inf, word.copy()
    for _ in range(1 << length):
        value = evaluate_word(costs, word)
        if value < least:
            least = value
            best[:] = word
        slot = 0
        while slot < length and word[slot] == 1:  # count in binary
            word[slot] = 0
            slot += 1
        if slot < length:
            word[slot] = 1
    return least, best


@njit
def least_necklace(costs, length):
    """The least cost of all necklaces (Fredricksen, Kessler, Maiorana), and their number."""
    word = np.zeros(length, dtype=np.int64)
    least, count = evaluate_word(costs, word), 1
    while True:
        kept = length
        while kept > 0 and word[kept - 1] == 1:
            kept -= 1
        if kept == 0:
            return least, count
        word[kept - 1] = 1
        for i in range(kept, length):
            word[i] = word[i - kept]
        if length % kept == 0:
            count += 1
            least = min(least, evaluate_word(costs, word))


@njit
def scanned(costs, word):
    """The least cost of the 2^(n+1) - 2 points x + sum alpha_i b_i that are words."""
    length = len(word)
    moved = word.copy()
    least = np.inf
    for mask in range(1, (1 << (length + 1)) - 1):
        feasible = True
        for k in range(length):
            moved[k] = word[k] + (mask >> (k + 1) & 1) - (mask >> k & 1)
            if moved[k] < 0 or moved[k] > 1:
                feasible = False
                break
        if feasible:
            least = min(least, evaluate_word(costs, moved))
    return least


def searched(costs: WordCosts, start: np.ndarray) -> tuple[float, int]:
    """Cost of the word reached, and neighbours evaluated."""
    descent, count = Descent(costs, start), 0
    while not descent.done:
        count += descent.follow(1 << 30)
    return descent.cost, count


def repeated(table: GapTable) -> Split:
    """The closed form, many times over."""
    for _ in range(CALLS):
        found = closed_form(lambda count: table)
    return found


def timed(call, *arguments):
    began = time.process_time()
    found = call(*arguments)
    return time.process_time() - began, found


def compared(n: int) -> bool:
    """Print one case; whether answers agree and limits are kept."""
    rate = middle(n)
    table = GapTable((1 / (1 + np.array([[1.0], [rate]]))) ** np.arange(1, 65), np.zeros(2), np.zeros(2))
    costs = WordCosts(table.costs, later=later_slopes(table), slopes=table.slopes)
    rng = np.random.default_rng(n)
    starts = [np.arange(LENGTH) % 2, (np.arange(LENGTH) >= LENGTH // 2).astype(np.int64)]
    starts += list(rng.integers(2, size=(RANDOM_STARTS, LENGTH)))

    times: dict[str, list[float]] = {name: [] for name in ("closed", "local", "slowest", "all", "necklaces", "printed")}
    for _ in range(ROUNDS):
        spent, found = timed(repeated, table)
        times["closed"].append(spent / CALLS)
        walks = [timed(searched, costs, start) for start in starts]
        times["local"].append(statistics.mean(spent for spent, _ in walks))
        times["slowest"].append(max(spent for spent, _ in walks))
        spent, (least, word) = timed(least_word, costs, LENGTH)
        times["all"].append(spent)
        spent, (by_necklaces, count) = timed(least_necklace, costs, LENGTH)
        times["necklaces"].append(spent)
        spent, around = timed(scanned, costs, word)
        times["printed"].append(spent)
    median = {name: statistics.median(values) for name, values in times.items()}

    reached = [cost for _, (cost, _) in walks]
    judgements = statistics.mean(number for _, (_, number) in walks)
    worst = max(abs(answer - least) / least for answer in (found.cost, by_necklaces, *reached))
    proved = least * (1 - BOUND) <= found.bound <= least * (1 + AGREEMENT)
    assert around >= least * (1 - 1e-14)
    closed, local = median["all"] / median["closed"], median["all"] / median["local"]
    print(f"mu = {rate:.6g}: period {found.period}, cost {least:.12g}, answers differ by {worst:.0e} of it at most")
    print(f"  closed form, with proof     {1e6 * median['closed']:10.1f} us")
    print(
        f"  local search, {judgements:8.0f} words{1e6 * median['local']:10.1f} us   slowest start "
        f"{1e6 * median['slowest']:.1f} us"
    )
    for name, text in (("all", "all 2^20 words"), ("necklaces", f"{count} necklaces"), ("printed", "2^21 - 2 points")):
        print(
            f"  {text:27} {1e3 * median[name]:10.2f} ms   "
            f"{median[name] / median['closed']:8.0f} times the closed form, "
            f"{median[name] / median['local']:6.1f} times local search"
        )
    good = proved and found.period == n and worst <= AGREEMENT and closed >= CLOSED_FORM and local >= LOCAL_SEARCH
    if not good:
        print(
            f"  missed: closed form {closed:.0f} of {CLOSED_FORM:.0f}, local search {local:.1f} of {LOCAL_SEARCH:.0f}"
        )
    return good


def main() -> int:
    costs = WordCosts(np.ones((2, 4)) / np.arange(1, 5), later=np.zeros(2), slopes=np.zeros(2))
    least_word(costs, 3)  # compile
    least_necklace(costs, 3)
    scanned(costs, np.zeros(3, dtype=np.int64))
    searched(costs, np.zeros(3, dtype=np.int64))
    kept = [compared(n) for n in PERIODS]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    raise SystemExit(main())
