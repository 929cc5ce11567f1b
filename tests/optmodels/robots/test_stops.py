"""Robot fleets whose solve is ended: what was found is told, and nothing long happens before the clock starts."""

import re
from pathlib import Path

import numpy as np
import pytest

import optmodels as om
from heuristics import interrupting
from heuristics.running import warm_up
from optmodels.costs import WeightedSum
from optmodels.robots import fleet as robots_fleet
from optmodels.robots import static

FLEETS = Path(__file__).resolve().parents[3] / "instances" / "robots"


def test_an_interrupt_leaves_the_latest_policy(monkeypatch):
    """Without a budget the first steps are the problem's own; Ctrl-C in the second one leaves what it had."""
    real, seen = robots_fleet.best_fleet_policy, []

    def ended(fleet, cost, *, watch, pause):
        def both(step):
            seen.append(step)
            if len(seen) == 2:
                interrupting.interrupt()
            watch(step)

        return real(fleet, cost, watch=both, pause=pause)

    problem = om.load(FLEETS / "fleet-any-50.json")
    om.solve(problem, "static")  # compiles
    monkeypatch.setattr(robots_fleet, "best_fleet_policy", ended)
    result = om.solve(problem, "policy-iteration")
    assert (str(result.status), result.stopped_by, len(seen)) == ("feasible", "interrupt", 2)
    assert result.decision == tuple(seen[1].actions.tolist())
    assert result.objective == pytest.approx(seen[1].gain, rel=1e-12)
    assert result.checked
    interrupting.check()


def _end_at(monkeypatch, number, end):
    """Let `end` happen while this one of the fixed numbers is judged; what all of them achieve."""
    real, seen = static.fleet_measures, []

    def counted(*arguments):
        if len(seen) == number - 1:
            end()
        seen.append(real(*arguments))
        return seen[-1]

    monkeypatch.setattr(static, "fleet_measures", counted)
    return seen


def test_an_interrupt_leaves_the_best_fixed_number_so_far(monkeypatch):
    problem = om.load(FLEETS / "fleet-environment.json")
    whole = om.solve(FLEETS / "fleet-environment.json", "static")
    seen = _end_at(monkeypatch, 4, interrupting.interrupt)
    result = om.solve(problem, "static")
    costs = [problem.judge(one.scalars()).objective for one in seen]
    assert (str(result.status), result.stopped_by, len(seen)) == ("feasible", "interrupt", 4)
    assert result.objective == pytest.approx(min(costs), rel=1e-12)
    assert result.objective > whole.objective
    assert result.extra["static_robots"] == int(seen[int(np.argmin(costs))].active_robots)
    assert result.extra["best_static"] is None  # and no search for it was begun anew
    interrupting.check()
    monkeypatch.undo()
    again = om.solve(problem, "static")
    assert (again.objective, again.extra) == (whole.objective, whole.extra)


def test_the_clock_leaves_the_best_fixed_number_so_far(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("heuristics.clock.time.perf_counter", lambda: clock[0])
    seen = _end_at(monkeypatch, 3, lambda: clock.__setitem__(0, 10.0))
    problem = om.load(FLEETS / "fleet-environment.json")
    result = om.solve(problem, "static", seconds=5.0)
    assert (str(result.status), result.stopped_by, len(seen)) == ("feasible", "seconds", 3)
    assert result.objective == pytest.approx(min(problem.judge(one.scalars()).objective for one in seen), rel=1e-12)


@pytest.mark.parametrize(
    "file", ["fleet-environment", "fleet-classes-2", "fleet-two-robots", "talim-fig3", "talim-fig3-holding"]
)
def test_no_time_at_all_still_gives_a_fixed_number(file):
    result = om.solve(FLEETS / f"{file}.json", "static", seconds=1e-6)
    assert (str(result.status), result.stopped_by, result.evaluations) == ("feasible", "seconds", 0)
    assert result.objective >= om.solve(FLEETS / f"{file}.json", "static").objective
    assert result.extra["static_robots"] is not None


def test_a_strategy_that_does_not_fit_is_refused_before_anything_is_computed(monkeypatch):
    problem = om.load(FLEETS / "fleet-erlang.json")
    warm_up(problem)  # compiles on a small fleet, once for each process
    monkeypatch.setattr(robots_fleet, "best_fixed_numbers", None)
    with pytest.raises(om.UnsupportedProblem, match="it has 20801 states, and at most 20000 are taken"):
        om.solve(problem, "linear-program:largest=20000")


@pytest.mark.parametrize("strategy", ["policy-iteration", "local-search", "static", "value-iteration"])
@pytest.mark.parametrize(
    ("rate", "generator", "factors"),
    [
        (1.0, [[-1e99, 1e99], [1.0, -1.0]], [1, 1e-50]),  # shares of time that lie too far apart for doubles
        (1e7, [[-0.3, 0.3], [1e-100, -1e-100]], [1e50, 1e-50]),  # shares that are no numbers at all
    ],
)
@pytest.mark.filterwarnings("error")
def test_rates_too_far_apart_are_an_answer_or_a_sentence(strategy, rate, generator, factors):
    world = {"generator": generator, "factors": factors}
    data = {"robots": 6, "capacity": 5, "arrival_rate": rate, "service_rate": 1.0, "environment": world}
    problem = robots_fleet.RobotFleetProblem.from_data(data, cost=WeightedSum({"starvation": 1.2}))
    try:
        result = om.solve(problem, strategy, evaluations=300)
    except om.RequestError as refusal:
        assert re.search(r"cannot be .*: shares of time must .*; bring rates nearer", str(refusal))
    else:
        assert np.isfinite(result.objective)


def test_no_time_at_all_still_gives_a_policy():
    result = om.solve(FLEETS / "fleet-classes-2.json", "policy-iteration", seconds=1e-6)
    assert (str(result.status), result.stopped_by, result.evaluations) == ("feasible", "seconds", 0)
    assert result.objective < om.solve(FLEETS / "fleet-classes-2.json", "static").objective
    assert np.isfinite(result.objective)
