"""The report of 1 000 runs on 20 instances: seconds and bytes; and of 200 runs, which must stay below a megabyte.

Each strategy runs once on each instance, and the other seeds are copies of this run at another pace with a trace of 100
points: what is measured is the page, not the search. The rival is the table of the same comparison as text.
"""

import time
from dataclasses import replace

import numpy as np

from heuristics import TracePoint
from optmodels.reporting import report_html
from optmodels.studies import compare
from optmodels.studies.comparison import Comparison
from optmodels.studies.runs import Run

INSTANCES = (
    "gautam-2x3", "gautam-4x4", "gautam-6x6", "gautam-8x8", "gautam-11x22",
    "avrachenkov-k5", "avrachenkov-k20", "avrachenkov-fig2-3", "avrachenkov-fig2-4", "avrachenkov-k1",
    "talim-fig2", "talim-fig3", "talim-fig4", "talim-two-robots", "talim-table1-0.1-k5-0.4",
    "loss-3", "loss-4", "loss-5", "map-3", "phase-type-3",
)  # fmt: skip
STRATEGIES = ("annealing", "local-search", "genetic", "annealing:coolings=2", "genetic:population=20")
SEEDS, POINTS = 10, 100
CLAIM, LARGEST = 10.0, 1_000_000  # seconds for 1 000 runs, bytes of 200 runs


def again(run: Run, seed: int) -> Run:
    """The same run with another seed: slower by some percent, and with as many points as a long run has."""
    rng = np.random.default_rng(seed)
    result = run.result
    if result.objective is None:
        return replace(run, seed=seed, key=f"{run.key}-{seed}")
    times = np.sort(rng.random(POINTS)) * max(result.seconds, 1e-3)
    values = result.objective * (1 + np.linspace(1, 0, POINTS) ** 2 * (1 + 0.1 * rng.random()))
    points = [TracePoint(float(t), k + 1, float(v)) for k, (t, v) in enumerate(zip(times, values, strict=True))]
    return replace(run, seed=seed, key=f"{run.key}-{seed}", result=replace(result, seed=seed, trace=tuple(points)))


def measured(comparison: Comparison) -> tuple[float, float, int]:
    """Seconds, processor seconds and bytes of the report."""
    began, spent = time.perf_counter(), time.process_time()
    page = report_html(comparison)
    return time.perf_counter() - began, time.process_time() - spent, len(page.encode())


def main() -> int:
    made = compare(INSTANCES, STRATEGIES, evaluations=300)
    runs = tuple(again(run, seed) for run in made.runs for seed in range(SEEDS))
    whole = replace(made, runs=runs)
    few = replace(made, runs=tuple(run for run in runs if run.seed < 2))
    report_html(replace(made, runs=made.runs[:1]))  # libraries are loaded
    large, small = measured(whole), measured(few)
    began, spent = time.perf_counter(), time.process_time()
    table = whole.table()
    plain = time.perf_counter() - began, time.process_time() - spent, len(table.encode())
    print(f"{'':10}  {'runs':>5}  {'instances':>9}  {'seconds':>8}  {'processor':>9}  {'bytes':>9}")
    for name, one, (wall, cpu, size) in (("report", whole, large), ("report", few, small), ("table", whole, plain)):
        print(f"{name:10}  {len(one.runs):5}  {len(one.problems):9}  {wall:8.2f}  {cpu:9.2f}  {size:9,}")
    print(
        f"a report of {len(runs)} runs takes {large[0]:.2f} s (claimed: under {CLAIM:g} s), {large[0] / plain[0]:.0f} "
        f"times as long as the table; one of {len(few.runs)} runs has {small[2]:,} bytes (claimed: under {LARGEST:,})"
    )
    return 0 if large[0] < CLAIM and small[2] < LARGEST else 1


if __name__ == "__main__":
    raise SystemExit(main())
