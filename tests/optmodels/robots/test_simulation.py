"""Exact and simulated policies of robots side by side, in Python and on the command line."""

import json
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from optmodels.cli import main
from optmodels.errors import RequestError
from optmodels.instance import load
from optmodels.registry import kinds
from optmodels.robots import RobotsProblem
from optmodels.robots.simulation import experiment_of
from optmodels.studies import simulate
from queueing.robots.fleet import fleet_of

ERLANG = {"initial": [1, 0], "generator": [[-1, 1], [0, -1]]}
WEATHER = {"generator": [[-0.3, 0.3], [0.5, -0.5]], "factors": [0.4, 2.0]}


@pytest.fixture
def written(tmp_path):
    """Writes the file of a queue with robots."""

    def write(**data):
        content = {
            "format": 1,
            "kind": "robots",
            "name": "robots",
            "data": {"capacity": 4, "service_rate": 1.0} | data,
            "cost": {"name": "weighted-sum", "weights": {"starvation": 1.5, "loss_rate": 1}},
        }
        file = tmp_path / "robots.json"
        file.write_text(json.dumps(content))
        return file

    return write


@dataclass(frozen=True)
class Mistaken:
    """A problem whose evaluator believes in another one."""

    problem: Any
    believed: Any

    kind = "robots"
    has_objective = False

    @property
    def name(self):
        return self.problem.name

    @property
    def space(self):
        return self.problem.space

    def evaluate(self, decision):
        return self.believed.evaluate(decision)

    def experiment(self, decision):
        return self.problem.experiment(decision)


def lines(found):
    return {line.name: line for line in found.lines}


# -- verdicts ---------------------------------------------------------------------------------------------------------


def test_robots_can_be_simulated():
    assert kinds["robots"].simulated


@pytest.mark.parametrize("name", ["talim-two-robots", "talim-fig2"])
def test_the_best_known_policies_are_confirmed(instances, name):
    problem = load(instances / "robots" / f"{name}.json")
    decision = problem.first_policy(quick=True)
    found = simulate(problem, decision, seed=1)
    assert found.agree
    assert [line.name for line in found.lines] == [
        "starvation",
        "loss_rate",
        "active_robots",
        "mean_length",
        "response_time",
        "objective",
    ]
    objective = lines(found)["objective"]
    assert objective.exact == pytest.approx(problem.evaluate(decision).objective)
    assert objective.estimate.covers(objective.exact, 0.9999)
    extra = found.extra
    assert sum(extra["level_probabilities"]["simulated"]) == pytest.approx(1.0)
    robots = extra["robot_probabilities"][0]["simulated"]
    assert np.arange(len(robots)) @ robots == pytest.approx(lines(found)["active_robots"].estimate.value)
    assert extra["robots_by_class"]["simulated"] == pytest.approx([lines(found)["active_robots"].estimate.value])
    assert (extra["closed_classes"], extra["shares_of_classes"]) == (1, [1.0])


@pytest.mark.parametrize(
    "data",
    [
        {"robots": 3, "travel_time": ERLANG},
        {"robots": 3, "arrival_rate": 0.5, "environment": WEATHER},
        {"robots": 3, "arrival_rate": 0.5, "switching": "any"},
        {"classes": [{"robots": 2, "arrival_rate": 0.4}, {"robots": 1, "travel_time": ERLANG}], "environment": WEATHER},
    ],
)
def test_fleets_are_confirmed(written, data):
    problem = load(written(**data))
    decision = problem.space.sample(np.random.default_rng(2))
    found = simulate(problem, decision, seed=2)
    assert found.agree
    by_class = problem.describe(decision)["robots_by_class"]
    told = found.extra["robots_by_class"]
    for exact, value, half in zip(by_class, told["simulated"], told["half_width"], strict=True):
        assert abs(value - exact) <= 2.5 * half + 1e-9


def test_an_evaluator_with_another_service_rate_is_found_out(instances):
    problem = load(instances / "robots" / "talim-fig2.json")
    decision = problem.first_policy(quick=True)
    assert simulate(Mistaken(problem, problem), decision).agree
    found = simulate(Mistaken(problem, replace(problem, service_rate=1.03 * problem.service_rate)), decision)
    assert found.agree is False
    assert "THEY DISAGREE" in found.verdict


def test_an_evaluator_whose_journeys_begin_in_the_wrong_phase_is_found_out(written):
    law = {"initial": [0.8, 0.2], "generator": [[-2, 0.5], [0.1, -0.4]]}
    problem = load(written(robots=2, travel_time=law))
    decision = problem.keeping(2)
    assert simulate(Mistaken(problem, problem), decision).agree
    other = load(written(robots=2, travel_time=law | {"initial": [0.6, 0.4]}))
    assert simulate(Mistaken(problem, other), decision).agree is False


def test_an_evaluator_with_other_constants_is_found_out(instances):
    """As many robots as there are, always: their number has no error, but it must be the right one."""
    problem = RobotsProblem(name="fixed", robots=5, capacity=4, arrival_rate=0.2, service_rate=1.0)
    decision = problem.decision_of(problem.queue.base_stock(5))
    believed = problem.decision_of(problem.queue.base_stock(4))

    class Confused(Mistaken):
        def evaluate(self, _):
            return self.believed.evaluate(believed)

    found = simulate(Confused(problem, problem), decision)
    assert abs(lines(found)["active_robots"].deviation) > 100
    assert found.agree is False


# -- areas ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("control", ["static", "dynamic"])
def test_areas_are_confirmed_side_by_side(instances, control):
    problem = replace(load(instances / "robots" / "areas-3.json"), control=control)
    found = simulate(problem, (0, 2, 1), seed=5)
    assert found.agree
    nothing, second, third = found.extra["areas"]
    assert nothing is None
    parts = [one["measures"]["mean_length"]["simulated"] for one in (second, third)]
    assert sum(parts) == pytest.approx(lines(found)["mean_length"].estimate.value)
    outcomes = [problem.outcome(area, robots).measures for area, robots in ((1, 2), (2, 1))]
    for one, exact in zip((second, third), outcomes, strict=True):
        told = one["measures"]["starvation"]
        assert abs(told["simulated"] - exact.starvation) < 2.5 * told["half_width"]


def test_areas_draw_random_numbers_of_their_own(instances):
    problem = load(instances / "robots" / "areas-3.json")
    alike = replace(problem, areas=(replace(problem.areas[1], name=None),) * 3)
    found = simulate(alike, (1, 1, 1), replications=3, time=1000.0)
    shares = [one["measures"]["starvation"]["simulated"] for one in found.extra["areas"]]
    assert len(set(shares)) == 3


def test_a_mistake_in_one_area_is_found_out(instances):
    problem = load(instances / "robots" / "areas-3.json")
    changed = replace(problem.areas[2], service_rate=1.03 * problem.areas[2].service_rate)
    other = replace(problem, areas=(*problem.areas[:2], changed))
    right, wrong = (simulate(Mistaken(problem, one), (1, 2, 2), time=5e4) for one in (problem, other))
    assert (right.agree, wrong.agree) == (True, False)


def test_a_world_in_which_robots_hardly_ever_move_is_refused(written):
    world = {"generator": [[-0.4, 0.4], [1e35, -1e35]], "factors": [0, 1]}
    problem = load(written(robots=2, capacity=3, arrival_rate=0.3, environment=world))
    with pytest.raises(RequestError, match="must let all robots move for a share of the time that can be seen"):
        simulate(problem, problem.first_policy())


def test_areas_that_nobody_lives_to_see_settle_together_are_refused(instances):
    problem = load(instances / "robots" / "areas-3.json")
    slow = replace(problem.areas[2], arrival_rate=1e-16, service_rate=1e-15)
    with pytest.raises(RequestError, match=r"one of its areas needs .* units of time, another .*; give a time"):
        simulate(replace(problem, areas=(*problem.areas[:2], slow)), (4, 4, 4))


def test_areas_of_which_none_has_robots_starve(instances):
    problem = replace(load(instances / "robots" / "areas-3.json"), robots=0)
    assert lines(simulate(problem, (0, 0, 0), replications=5))["starvation"].estimate.value == 3.0


def test_areas_without_robots_starve(instances):
    found = simulate(load(instances / "robots" / "areas-3.json"), (0, 0, 0), replications=3)
    assert lines(found)["starvation"].estimate.value == 3.0
    assert found.agree


# -- extremes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [1e-60, 1e-9, 1e-3, 1e3, 1e6, 1e9, 1e60])
def test_rates_that_lie_far_apart_raise_no_false_alarm(rate):
    problem = RobotsProblem(name="stiff", robots=2, capacity=4, arrival_rate=rate, service_rate=1.0)
    found = simulate(problem, (1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0))
    assert found.agree
    assert lines(found)["response_time"].deviation is not None


def test_a_server_that_is_never_seen_to_finish_is_not_judged():
    problem = RobotsProblem(name="stiff", robots=2, capacity=4, arrival_rate=1e9, service_rate=1.0)
    found = simulate(problem, problem.decision_of(problem.queue.base_stock(2)), replications=5)
    assert found.agree is None
    assert all("too rare" in line.remark for line in found.lines)


@pytest.mark.parametrize(
    "data",
    [
        {"arrival_rate": 1.0, "environment": {"generator": [[-1e-9, 1e-9], [1e-9, -1e-9]], "factors": [1, 3]}},
        {"arrival_rate": 1.0, "environment": {"generator": [[-1e-7, 1e-7], [1, -1]], "factors": [1, 1e7]}},
        {"arrival_rate": 1.0, "environment": {"generator": [[-1e6, 1e6], [1e6, -1e6]], "factors": [1, 3]}},
        {"travel_time": {"initial": [1 - 1e-9, 1e-9], "generator": [[-1, 0], [0, -1e-9]]}},
    ],
)
def test_what_nobody_lives_to_see_is_not_judged(written, data):
    problem = load(written(robots=2, **data))
    found = simulate(problem, problem.keeping(2), replications=5)
    assert found.agree is None
    assert found.verdict == "nothing could be compared"


def test_a_rare_phase_that_does_not_matter_keeps_nobody_from_judging(written):
    problem = load(written(robots=2, travel_time={"initial": [1 - 1e-6, 1e-6], "generator": [[-1, 0], [0, -1]]}))
    found = simulate(problem, problem.keeping(2), replications=10)
    assert found.agree
    assert all(line.deviation is not None for line in found.lines)


def test_averages_that_are_still_on_their_way_raise_no_false_alarm(written):
    """Two robots are out until, once in some hundred units, there is no page: four from then on."""
    problem = load(written(robots=4, capacity=6, arrival_rate=1.4, switching="any"))
    policy = np.tile(4 - np.arange(5), (7, 1))
    policy[:, :3] = 2 - np.arange(3)
    policy[0, 2] = 2
    decision = tuple(policy.reshape(-1).tolist())
    found = simulate(problem, decision, time=300.0, replications=60)
    assert lines(found)["active_robots"].exact == pytest.approx(4)
    assert lines(found)["active_robots"].estimate.value < 3.5
    assert found.agree is None
    assert {line.remark for line in found.lines} == {"averages still drift: give more --time"}
    assert simulate(problem, decision).agree


def test_states_that_are_left_for_ever_but_late_raise_no_false_alarm(written):
    """The same where one run of some has seen the queue empty, and has settled: no drift tells of the others."""
    problem = load(written(robots=8, capacity=6, arrival_rate=1.4, switching="any"))
    policy = np.tile(8 - np.arange(9), (7, 1))
    policy[:, :5] = 4 - np.arange(5)
    policy[0, 4] = 4
    found = simulate(problem, tuple(policy.reshape(-1).tolist()), time=2000.0)
    assert 0 < found.extra["shares_of_classes"][0] < 2 / 3
    assert found.agree is None


def test_a_measure_that_is_nearly_constant_has_an_error(written):
    """Two pages nearly always: the exact mean differs from 2 by what happens once in a million services."""
    problem = RobotsProblem(name="calm", robots=2, capacity=4, arrival_rate=1e6, service_rate=1.0)
    found = simulate(problem, (1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0))
    line = lines(found)["mean_length"]
    assert abs(line.estimate.value - line.exact) > 100 * line.estimate.error
    assert abs(line.deviation) < 1


def closed_classes(rate: float) -> tuple[tuple[int, ...], dict[str, Any]]:
    """Two robots of one kind or of another for ever; the second with a chance of rate / (1 + rate)."""
    data = {"classes": [{"robots": 2, "arrival_rate": rate}, {"robots": 2, "arrival_rate": 0.3}], "capacity": 3}
    decision = []
    for pages in range(4):
        for first in range(3):
            for second in range(3):
                if first + second == 0:
                    decision.append(0 if pages < 2 else 1)
                elif first + second == 1:
                    decision.append(0 if first else 1)
                else:
                    decision.append(-1)
    return tuple(decision), data


def test_policies_that_end_up_here_or_there_are_confirmed(written):
    decision, data = closed_classes(0.8)
    found = simulate(written(**data), decision, time=1e5, seed=3)
    assert found.agree
    assert found.extra["closed_classes"] == 2
    assert sorted(found.extra["shares_of_classes"]) == pytest.approx([0.8 / 1.8, 1 / 1.8], abs=0.05)


def test_a_class_that_is_hardly_ever_reached_raises_no_false_alarm(written):
    for rate in (0.01, 0.03):
        decision, data = closed_classes(rate)
        found = simulate(written(**data), decision, time=2e5, seed=4)
        assert found.agree is not False
        assert (found.agree is None) == (rate < 0.02)


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "decision",
    [(1, 0), (0, 1, 0, 1, 1, 0, 0, 0, 0), (1, 1, 1, 1, 1, 0, 0, 0, 0), (1, 2, 0, 0, 0, 0, 0, 0, 0), ("a",) * 9],
)
def test_decisions_that_are_none_are_refused(decision):
    with pytest.raises(RequestError, match=r"is not a valid decision for 'robots'"):
        simulate(RobotsProblem(name="robots", robots=2, capacity=2, arrival_rate=1.0, service_rate=1.0), decision)


def test_fleets_refuse_actions_that_are_none():
    with pytest.raises(RequestError, match=r"'f' cannot be simulated: actions must be 9 whole numbers"):
        experiment_of("f", fleet_of(2, 2, 1.0), [1, 0])
    experiment = experiment_of("f", fleet_of(2, 2, 1.0), [1, 1, 1, 1, 1, 1, 1, 1, 1])
    with pytest.raises(
        RequestError, match=r"'f' cannot be simulated: actions\[\d\] must send out robots that are idle"
    ):
        experiment.usual_time(1000, 0)
    with pytest.raises(
        RequestError, match=r"'f' cannot be simulated: actions\[\d\] must send out robots that are idle"
    ):
        list(zip(range(3), experiment.replications(1000.0, 0), strict=False))


def test_times_that_a_double_cannot_hold_are_refused():
    with pytest.raises(RequestError, match="arrival_rate is 1e-305; rates are finite numbers above 0, between 1e-200"):
        RobotsProblem(name="slow", robots=1, capacity=2, arrival_rate=1e-305, service_rate=1e-305)
    with pytest.raises(RequestError, match="measure time in other units"):
        simulate(
            RobotsProblem(name="slow", robots=1, capacity=2, arrival_rate=1.0, service_rate=1.0),
            (1, 0, 1, 0, 1, 0),
            time=1e-310,
        )


# -- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def call(capsys):
    def run(*words):
        code = main([str(word) for word in words])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


DECISION = "1,1,0,1,1,0,0,1,0,0,0,0"


def test_the_command_prints_a_table_and_a_verdict(call, instances):
    file = instances / "robots" / "talim-two-robots.json"
    code, out, err = call("simulate", file, "--at", DECISION, "--replications", "5", "--time", "5000")
    assert (code, err) == (0, "")
    head, names, *rows, verdict = out.splitlines()
    assert head.startswith("talim-two-robots at [1, 1, 0, 1")
    assert names.split() == ["measure", "exact", "simulated", "+-", "(95", "%)", "z"]
    assert len(rows) == 6
    assert verdict.startswith("they agree")


def test_the_command_prints_json_alone_and_the_same_twice(call, instances):
    file = instances / "robots" / "talim-two-robots.json"
    words = ("simulate", file, "--at", DECISION, "--replications", "5", "--time", "500", "--seed", "3", "--json")
    code, out, err = call(*words)
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert (data["kind"], data["seed"], data["replications"]) == ("robots", 3, 5)
    assert math.fsum(data["extra"]["level_probabilities"]["simulated"]) == pytest.approx(1.0)
    assert json.loads(call(*words)[1])["measures"] == data["measures"]


def test_seconds_end_a_run(call, instances):
    file = instances / "robots" / "talim-two-robots.json"
    code, out, _ = call("simulate", file, "--at", DECISION, "--seconds", "0.2", "--json")
    assert code == 0
    assert json.loads(out)["stopped_by"] == "seconds"
    code, out, err = call("simulate", file, "--at", DECISION, "--seconds", "0.2", "--time", "1e12", "--json")
    assert (code, json.loads(out)["agree"]) == (3, None)
    assert "two replications" in err
