"""How many placements a second does exhaustive search evaluate, flip by flip and one by one?

Both roads go through the same placements of a 4x4 and of a 5x5 grid, and must find the same least cost: `sweep_all`
walks in Gray code, `evaluate_all` lists the space and evaluates every placement in full, as exhaustive search does
where a problem offers no small steps. The ratio is the claim.
"""

import time
from contextlib import suppress
from pathlib import Path

from heuristics import Budget, BudgetSpent, Oracle, run
from heuristics.search import Exhaustive, evaluate_all, sweep_all
from optmodels.generating import generate
from optmodels.instance import load

FOLDER = Path(__file__).parents[1] / "instances" / "placement"
CLAIM = 8.0
LISTED = 65_536  # decisions judged in full of the larger grid; it has 33 554 432


def pace(road, oracle):
    """Decisions a second of processor time."""
    began = time.process_time()
    with suppress(BudgetSpent):
        road(oracle)
    return oracle.evaluations / (time.process_time() - began)


def walk(oracle):
    start = (0,) * oracle.problem.space.length
    oracle(start)
    sweep_all(oracle, oracle.problem.start(start), len(start))


def main():
    for problem in (load(FOLDER / "gautam-4x4.json"), generate("placement", rows=5, columns=5, seed=1).problem()):
        run(problem, Exhaustive(), Budget(evaluations=1000))  # compile both roads
        whole = problem.space.size <= LISTED
        listed = Oracle(problem, Budget(evaluations=LISTED))
        walked = Oracle(problem, Budget(evaluations=min(problem.space.size, 16 * LISTED)))
        one_by_one, flip_by_flip = pace(evaluate_all, listed), pace(walk, walked)
        if whole:
            assert listed.best.evaluation.objective == walked.best.evaluation.objective
        ratio = flip_by_flip / one_by_one
        print(
            f"{problem.name}: {one_by_one:.0f} decisions a second one by one, {flip_by_flip:.0f} flip by flip: "
            f"{ratio:.1f} times ({'at least' if ratio >= CLAIM else 'NOT'} {CLAIM:g})"
        )


if __name__ == "__main__":
    main()
