"""How tight the integer program of a placement is: bounds of its linear relaxation against the best cost known.

Both formulations are built and bounded on corners of the paper's grid, by HiGHS up to 8 x 8 sites and by the
first-order method (`optmodels.mip.relaxation`), until it ends or its time is up, on the larger ones. The claim: with
patterns the bound is at least 0.9 of the best cost known. Then HiGHS proves the small ones.
"""

import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from heuristics import run
from optmodels.instance import load, read
from optmodels.mip import Highs, bounds, compile_model, warm_up
from optmodels.mip import load as load_into_highs
from optmodels.placement import build

FOLDER = Path(__file__).parents[1] / "instances" / "placement"
BY_SIMPLEX, BY_STEPS = ("4x4", "6x6", "8x8"), ("11x11", "11x22")
PROVED = ("2x3", "4x4", "6x6")
SECONDS = 40.0  # for the first-order method
CLAIM = 0.9


def relaxed_by_highs(program) -> float:
    highs = load_into_highs(replace(program, whole=np.zeros_like(program.whole)))
    highs.run()
    return float(highs.getInfo().objective_function_value)


def relaxed_by_steps(program) -> float:
    began, best = time.perf_counter(), -np.inf
    for _, bound in bounds(program):
        best = max(best, bound)
        if time.perf_counter() - began > SECONDS:
            break
    return float(best)


def main() -> int:
    warm_up()
    print("instance  formulation     rows  columns   entries  build s   LP s     bound  of the best known")
    worst = 1.0
    for name in BY_SIMPLEX + BY_STEPS:
        file = FOLDER / f"gautam-{name}.json"
        problem, best = load(file), read(file).best_known.objective
        for formulation in ("base", "pattern"):
            began = time.perf_counter()
            program = compile_model(build(problem, formulation)).program
            built = time.perf_counter()
            bound = (relaxed_by_highs if name in BY_SIMPLEX else relaxed_by_steps)(program)
            solved = time.perf_counter()
            print(
                f"{name:8}  {formulation:11}  {program.shape[0]:7,}  {program.shape[1]:7,}  {len(program.values):8,}  "
                f"{built - began:7.2f}  {solved - built:5.1f}  {bound:8.3f}  {bound / best:.3f}"
            )
            if formulation == "pattern":
                worst = min(worst, bound / best)
    for name in PROVED:
        result = run(load(FOLDER / f"gautam-{name}.json"), Highs())
        print(f"{name}: {result.status} at {result.objective:g}, solver {result.extra['solver']['seconds']:.2f} s")
    print(f"least bound / best known with patterns = {worst:.3f} (claimed: {CLAIM:g})")
    return 0 if worst >= CLAIM else 1


if __name__ == "__main__":
    raise SystemExit(main())
