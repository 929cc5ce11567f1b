"""How near does an Erlang law of n phases come to constant patience, and at what price?

One server, pages in batches of 1 or 2 at rates that fall when two pages are there, room for 4, patience exactly 1. The
loss for n = 1, 2, 4, ... by two roads (`queueing.threshold.deterministic`), with the states and CPU seconds they take:

common  all pages count the ticks of one clock; errors are a series in 1/n
own     every page has its own clock, an Erlang patience in the usual sense; errors are a series in 1/sqrt(n)

and what continuing each series to n = infinity gives. The truth is the road `common` with n to 192; a simulation with
constant patience is in the tests.
"""

import time
from itertools import pairwise

from queueing import BMAP, PhaseType, ThresholdQueue, deterministic_patience

COMMON, OWN = (2, 4, 8, 16, 32, 64), (2, 4, 8, 16, 32, 64)


def timed(queue: ThresholdQueue, orders: tuple[int, ...], clock: str):
    began = time.process_time()
    found = deterministic_patience(queue, 1.0, (1,), orders, clock)
    return found, time.process_time() - began


def main() -> int:
    batches = tuple(BMAP(([[-2 * rate]], [[rate]], [[rate]])) for rate in (0.3, 0.6))
    queue = ThresholdQueue(batches, PhaseType.exponential(1.0), capacity=4)
    for clock in ("common", "own"):
        timed(queue, (1, 2), clock)
    truth = deterministic_patience(queue, 1.0, (1,), (24, 32, 48, 64, 96, 128, 192))
    loss = truth.limits["loss"]
    print(f"loss {loss:.10f}, its own estimate of error {truth.errors['loss']:.0e}")
    print("clock      n   loss          error      CPU s (this n and half of it)")
    reached = {}
    for clock, orders in (("common", COMMON), ("own", OWN)):
        for half, order in pairwise(orders):
            pair, spent = timed(queue, (half, order), clock)
            value = pair.measures[-1].loss
            print(f"{clock:7} {order:4}   {value:.8f}    {abs(value - loss):.1e}    {spent:8.3f}")
        found, spent = timed(queue, orders, clock)
        reached[clock] = abs(found.limits["loss"] - loss), spent
        print(
            f"{clock:7}  inf   {found.limits['loss']:.8f}    {reached[clock][0]:.1e}    {spent:8.3f}"
            f"   (all n; told error {found.errors['loss']:.1e})"
        )
    (near, quick), (far, slow) = reached["common"], reached["own"]
    print(f"one clock: {slow / quick:.0f} times as fast and {far / near:.0f} times as near")
    return 0 if near < 1e-7 else 1


if __name__ == "__main__":
    raise SystemExit(main())
