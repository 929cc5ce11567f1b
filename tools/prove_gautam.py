"""Prove that 147 is optimal for the 11 x 22 instance of Gautam (2002), whatever its missing entry is, from nothing.

    python tools/prove_gautam.py gautam-11x22.proof

Section 6.1 of the paper prints 241 of 242 demands; the missing one, N(9, 9), is between 10 and 15 (see
`docs/placement.md`).
One proof serves all six values. A tie shares the clients of a cell, rounded up, and a share never falls when the cell
has more of them; who serves whom, and who is farthest, does not change, since the cell has clients in any case. So a
site that is overloaded with N(9, 9) = 10 is overloaded with all six values, and

* a placement that is feasible with 15 is feasible with all six, at the same cost;
* a clause that holds with 10 holds with all six; if these contradict "at most 146", nothing is cheaper with any.

Annealing with 15 finds the placement, strategy `clauses` (extra `sat`) makes the proof with 10, which is kept in the
file and checked by `verify-proof`. Steps are counted, not timed, so that the same versions of the libraries make the
same clauses; their SHA-256 is printed. Where the file is there already, and complete, it is checked only.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from heuristics import Budget, run
from heuristics.search import Annealing
from optmodels.instance import load
from optmodels.placement.clauses import Clauses
from optmodels.placement.proofs import keeping, read_proof, verify_proof
from optmodels.placement.proofs.verifying import is_overload

NAME, ROW, COLUMN, VALUES = "gautam-11x22", 8, 8, (10, 11, 12, 13, 14, 15)

#: Annealing: flips and swaps of a run, and seeds.
STEPS, SEEDS = 1_000_000, (0, 1, 2, 3, 4)


def with_entry(value: int) -> Any:
    """The instance with a value of its missing entry."""
    problem: Any = load(NAME)
    demand = np.array(problem.demand).reshape(problem.shape)
    demand[ROW, COLUMN] = value
    return replace(problem, demand=demand)


def prove(
    path: str,
    problem_of: Callable[[int], Any] = with_entry,
    values: Sequence[int] = VALUES,
    steps: int = STEPS,
    seeds: Sequence[int] = SEEDS,
    told: Callable[[str], None] = print,
) -> bool:
    """Find a placement, prove it, keep and check the proof; whether all of it holds for all values.

    Parameters
    ----------
    path
        Of the proof.
    problem_of
        The problem with a value of what is not known; more of it overloads no fewer sites.
    values
        That it may have.
    steps, seeds
        Of annealing.
    told
        Gets the lines of the report.
    """
    least, problems = min(values), {value: problem_of(value) for value in values}
    began = time.monotonic()
    if not (os.path.exists(path) and read_proof(path, drat=False).header.complete):
        start = found(problems[max(values)], steps, seeds)
        told(f"{time.monotonic() - began:7.1f} s  annealing finds {problems[least].evaluate(start).objective:g}")
        with keeping(problems[least], path, start=start):
            result = run(problems[least], Clauses("sat"))
        told(f"{time.monotonic() - began:7.1f} s  {result.status}: {result.objective:g}, bound {result.bound:g}")
    began = time.monotonic()
    verified = verify_proof(path, problems[least])
    told(str(verified))
    told(f"{time.monotonic() - began:7.1f} s  for the check")
    if not verified.verified or verified.objective != verified.bound:
        return False
    proof = read_proof(path, drat=False)
    sound = True
    for value, problem in problems.items():
        judged = problem.evaluate(proof.header.decision)
        wrong = sum(not is_overload(problem, clause) for clause in proof.overloads)
        sound &= judged.feasible and judged.objective == verified.bound and wrong == 0
        verdict = "feasible" if judged.feasible else "not feasible"
        told(f"missing entry {value}: {verdict}, cost {judged.objective:g}; clauses that do not hold: {wrong}")
    told(f"SHA-256 of the clauses: {proof.sha256}")
    told(f"{'proved' if sound else 'not proved'}: {verified.bound:g} is optimal for all {len(values)} values")
    return sound


def found(problem: Any, steps: int, seeds: Sequence[int]) -> Any:
    """The best placement of some runs of annealing."""
    results = (run(problem, Annealing(), Budget(evaluations=steps), seed) for seed in seeds)
    return min(results, key=lambda result: result.objective).decision


if __name__ == "__main__":
    sys.exit(0 if prove(*(sys.argv[1:2] or [f"{NAME}.proof"])) else 1)
