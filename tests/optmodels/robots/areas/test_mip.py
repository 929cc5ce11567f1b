"""The knapsack of areas against all splits, evaluated one by one."""

import numpy as np
import pytest

pytest.importorskip("pyomo")

from heuristics import Status, refusal
from optmodels import solve
from optmodels.costs import Limits
from optmodels.mip import Highs, compile_model
from optmodels.robots.areas import RobotAreasProblem
from optmodels.robots.areas import problem as areas_problem

NAMES = ("starvation", "loss_rate", "active_robots", "mean_length", "response_time", "most_robots", "fewest_robots")


def drawn(rng):
    areas = [
        {
            "capacity": int(rng.integers(2, 5)),
            "arrival_rate": 10 ** rng.uniform(-1, 1),
            "service_rate": 10 ** rng.uniform(-1, 1),
            "importance": float(rng.choice([1.0, 3.0])),
        }
        for _ in range(int(rng.integers(1, 4)))
    ]
    fields = {"robots": int(rng.integers(0, 6)), "areas": areas, "control": str(rng.choice(["dynamic", "static"]))}
    return fields | {"cost": {"starvation": 10 ** rng.uniform(-1, 1), "loss_rate": 1.0}}


def compared_with_enumeration(seed, count):
    rng = np.random.default_rng(seed)
    infeasible = 0
    for _ in range(count):
        fields = drawn(rng)
        free = RobotAreasProblem(**fields)
        evaluations = [free.evaluate(split) for split in free.space]
        found = {}
        for name in rng.choice(NAMES, size=int(rng.integers(0, 3)), replace=False).tolist():
            values = [one.measures[name] for one in evaluations if one.measures[name] is not None]
            side = "max" if rng.random() < 0.7 else "min"
            found[name] = {side: float(rng.choice(values or [1.0])) * float(rng.choice([1.0, 1.0, 0.9, 1.1]))}
        limits = Limits.from_data(found)
        kept = [one.objective for one in evaluations if not limits.violations(one.measures)]
        answer = solve(RobotAreasProblem(limits=limits, **fields), "highs")
        if not kept:
            infeasible += 1
            assert answer.status == Status.INFEASIBLE, (fields, found)
        else:
            assert answer.status == Status.OPTIMAL, (fields, found)
            assert answer.objective == pytest.approx(min(kept), rel=1e-9), (fields, found)
    return infeasible


def test_the_best_split_is_that_of_all_splits_judged():
    assert compared_with_enumeration(1, 5) < 5


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_best_split_is_that_of_all_splits_judged_200_times():
    assert 0 < compared_with_enumeration(2, 200) < 200


def test_every_split_that_keeps_the_limits_is_a_point_of_the_model_and_no_other():
    rng = np.random.default_rng(3)
    fields = drawn(rng) | {"robots": 4}
    loss = float(np.median([RobotAreasProblem(**fields).evaluate(one).measures["loss_rate"] for one in
                            RobotAreasProblem(**fields).space]))  # fmt: skip
    problem = RobotAreasProblem(limits={"loss_rate": {"max": loss}}, **fields)
    compiled = compile_model(problem.to_pyomo())
    fits = []
    for split in problem.space:
        problem.start_pyomo(compiled.model, split)
        point, judged = compiled.point(), problem.evaluate(split)
        assert (compiled.program.broken_row(point) is None) == judged.feasible
        assert compiled.program.objective(point) == pytest.approx(judged.objective, rel=1e-12)
        assert problem.from_pyomo(compiled.model) == split
        fits.append(judged.feasible)
    assert any(fits)
    assert not all(fits)


def test_too_many_numbers_of_robots_are_refused_with_what_can_take_them(monkeypatch):
    problem = RobotAreasProblem(**drawn(np.random.default_rng(4)))
    monkeypatch.setattr(areas_problem, "MOST_CHOICES", 1)
    assert "use marginal-analysis" in refusal(problem, Highs())
