"""Robot fleets whose solve is ended: what was found is told, and nothing long happens before the clock starts."""

from pathlib import Path

import numpy as np
import pytest

import optmodels as om
from heuristics import interrupting
from optmodels import robots_fleet, robots_fleet_static

FLEETS = Path(__file__).resolve().parents[2] / "instances" / "robots"


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


def test_an_interrupt_ends_the_search_for_fixed_numbers(monkeypatch):
    real, count = robots_fleet_static.fleet_measures, [0]

    def counted(*arguments):
        count[0] += 1
        if count[0] == 3:
            interrupting.interrupt()
        return real(*arguments)

    monkeypatch.setattr(robots_fleet_static, "fleet_measures", counted)
    result = om.solve(FLEETS / "fleet-environment.json", "static")
    assert (str(result.status), result.stopped_by, count) == ("unknown", "interrupt", [3])


def test_a_strategy_that_does_not_fit_is_refused_before_anything_is_computed(monkeypatch):
    monkeypatch.setattr(robots_fleet, "best_fixed_numbers", None)
    problem = om.load(FLEETS / "fleet-erlang.json")
    with pytest.raises(om.UnsupportedProblem, match="takes robots of one sort"):
        om.solve(problem, "linear-program")


def test_no_time_at_all_still_gives_a_policy():
    result = om.solve(FLEETS / "fleet-classes-2.json", "policy-iteration", seconds=1e-6)
    assert (str(result.status), result.stopped_by, result.evaluations) == ("feasible", "seconds", 0)
    assert result.objective < om.solve(FLEETS / "fleet-classes-2.json", "static").objective
    assert np.isfinite(result.objective)
