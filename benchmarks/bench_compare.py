"""What does `compare` cost per run beyond the time of the strategy itself?

Many short runs of annealing on a small placement, with a folder in which every run is seen onto the disk: in this
process, and shared by two workers. The overhead of a run is the wall-clock time, less what the runs took by their own
clock (shared by the workers), divided by the number of runs; the start of the worker processes is divided in. The
claims: less than 20 ms in this process, less than 60 ms with workers. Beside them the same without a folder, and with a
fresh process for each run (`--memory`), for which nothing is claimed.

The machine should be quiet: other programs count as overhead.
"""

import argparse
import os
import tempfile
import time

from optmodels.studies import compare

INSTANCE, STRATEGY, EVALUATIONS = "gautam-4x4", "annealing:steps=200", 200
IN_PROCESS, WITH_WORKERS = 0.020, 0.060


def overhead(runs, workers=1, folder=True, memory=False):
    """Seconds in all, seconds of the strategies, and overhead per run."""
    with tempfile.TemporaryDirectory() as place:
        out = os.path.join(place, "runs") if folder else None
        began = time.perf_counter()
        made = compare(INSTANCE, STRATEGY, seeds=runs, evaluations=EVALUATIONS, workers=workers, out=out, memory=memory)
        wall = time.perf_counter() - began
    assert [run.status for run in made.runs] == ["feasible"] * runs
    own = sum(run.result.seconds for run in made.runs)
    return wall, own, (wall - own / workers) / runs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--quick", action="store_true", help="a tenth of the runs")
    given = parser.parse_args()
    runs = given.runs // 10 if given.quick else given.runs
    overhead(2)  # compiles, imports
    print(f"{'':34}{'runs':>6}{'wall s':>10}{'own s':>10}{'ms per run':>12}{'claim':>10}")
    cases = [
        ("in this process", runs, {}, IN_PROCESS),
        ("in this process, no folder", runs, {"folder": False}, None),
        ("two workers", runs, {"workers": 2}, WITH_WORKERS),
        ("two workers, no folder", runs, {"workers": 2, "folder": False}, None),
        ("a fresh process for each run", max(2, runs // 20), {"memory": True}, None),
    ]
    kept = True
    for name, count, how, claim in cases:
        wall, own, each = overhead(count, **how)
        told = "" if claim is None else f"< {1000 * claim:.0f}"
        print(f"{name:34}{count:6}{wall:10.3f}{own:10.3f}{1000 * each:12.2f}{told:>10}")
        kept = kept and (claim is None or each < claim)
    print("the claims hold." if kept else "a claim does not hold here: is the machine quiet?")


if __name__ == "__main__":
    main()
