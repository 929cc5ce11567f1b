"""DEJAVU against annealing on the paper's 11 x 22 example: seconds and costs of both, in the same run.

The paper reports "a few seconds to a minute" for DEJAVU, on the machines of 2001. Annealing gets the time of one DEJAVU
run, then 15 seconds.
"""

from pathlib import Path

from heuristics import Budget, run
from heuristics.search import Annealing
from heuristics.siting import Dejavu
from optmodels.instance import load, read

FILE = Path(__file__).parents[1] / "instances" / "placement" / "gautam-11x22.json"
LONG = 15.0  # seconds
CLAIM = 1.0  # seconds for one run of DEJAVU


def main() -> int:
    problem, best = load(FILE), read(FILE).best_known
    run(problem, Dejavu())  # compiled code is loaded
    dejavu = min((run(problem, Dejavu()) for _ in range(5)), key=lambda result: result.seconds)
    both = run(problem, Dejavu(transpose=True))
    short = run(problem, Annealing(), Budget(seconds=dejavu.seconds), seed=1)
    long = run(problem, Annealing(), Budget(seconds=LONG), seed=1)
    print(f"{'':28}  cost  above {best.objective:g}   seconds  evaluations  in full")
    for name, result in (
        ("dejavu", dejavu),
        ("dejavu:transpose=true", both),
        ("annealing, time of dejavu", short),
        (f"annealing, {LONG:g} s", long),
    ):
        print(
            f"{name:28}  {result.objective:4g}  {result.gap(best.objective):9.1%}  {result.seconds:8.3f}  "
            f"{result.evaluations:11,}  {result.judged_in_full:7,}"
        )
    print(
        f"dejavu takes {dejavu.seconds:.2f} s (claimed: under {CLAIM:g} s); "
        f"cost of the long annealing / cost of dejavu = {long.objective / dejavu.objective:.3f}"
    )
    return 0 if dejavu.seconds < CLAIM and dejavu.objective == 168 else 1


if __name__ == "__main__":
    raise SystemExit(main())
