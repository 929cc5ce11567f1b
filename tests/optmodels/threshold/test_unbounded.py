"""Instances without bound on the number of pages: ``"capacity": null``."""

import json
from dataclasses import replace

import numpy as np
import pytest

from optmodels.cli import main
from optmodels.errors import InstanceError
from optmodels.instance import Instance, load, read
from optmodels.solving import solve
from optmodels.testing import check_problem
from optmodels.threshold import ThresholdProblem


@pytest.fixture(scope="module")
def unbounded(instances) -> ThresholdProblem:
    """The example of section 7 with room for all pages."""
    return Instance.from_data(content(instances)).problem()


def content(instances, **changes) -> dict:
    known = read(instances / "threshold" / "avrachenkov-k5.json").to_data()
    known.pop("best_known")
    return known | {"name": "unbounded", "data": known["data"] | {"capacity": None} | changes}


def test_room_without_bound_gives_what_a_hundred_places_give(unbounded, instances):
    bounded = load(instances / "threshold" / "avrachenkov-k100.json")
    assert unbounded.queue.capacity > 100
    assert unbounded.tail_mass < 1e-12
    for policy in [(-1, 3, 3), (2, 4, 9), (-1, -1, -1)]:
        found, near = unbounded.evaluate(policy), bounded.evaluate(policy)
        assert found.objective == pytest.approx(near.objective, rel=1e-9)
        assert found.measures["loss"] < 1e-12


def test_an_answer_tells_where_the_system_was_cut_off(unbounded):
    found = solve(unbounded, "local-search", evaluations=1000)
    assert found.decision == (-1, 3, 3)
    assert found.extra["truncation"] == {"capacity": unbounded.queue.capacity, "tail_mass": unbounded.tail_mass}
    assert "truncation" not in load_small().describe((1,))


def load_small() -> ThresholdProblem:
    law = {"initial": [1], "generator": [[-1]]}
    modes = [{"robots": robots, "arrivals": [[[-robots]], [[robots]]]} for robots in (1, 2)]
    return ThresholdProblem.from_data({"capacity": 3, "service": law, "patience": law, "modes": modes})


@pytest.mark.parametrize("strategy", ["local-search", "annealing", "genetic"])
@pytest.mark.parametrize("seed", [0, 1])
def test_searches_begin_where_thresholds_matter(unbounded, strategy, seed):
    """Far above the levels that are ever reached all thresholds are alike, and no neighbour leads out of there."""
    found = solve(unbounded, strategy, evaluations=200, seed=seed)
    assert found.objective < 57.6  # 57.2321 at (-1, 3, 3), 57.5692 at (-1, 2, 2); from random thresholds up to 87.4
    assert found.extra["truncation"]["capacity"] == unbounded.queue.capacity == 197
    if strategy == "local-search":
        assert 1 <= found.extra["local_optima"] < found.extra["descents"]  # how far it went before the budget ended


def test_suggested_policies_are_decisions_each_once(unbounded, instances):
    for problem in (unbounded, read(instances / "threshold" / "avrachenkov-k5.json").problem()):
        for one in (problem, replace(problem, use_all_modes=True)):
            policies = list(one.suggestions(np.random.default_rng(0)))
            assert 6 <= len(set(policies)) == len(policies) <= 100
            assert all(policy in one.space for policy in policies)
    assert list(replace(unbounded, modes=unbounded.modes[:1]).suggestions(None)) == [()]


def test_a_problem_without_bound_survives_the_way_to_a_file(unbounded, instances):
    again = json.loads(json.dumps(unbounded.to_data()))
    assert again["capacity"] is None
    assert ThresholdProblem.from_data(again, cost=unbounded.cost).queue == unbounded.queue
    assert Instance.from_problem(unbounded).problem().tail_mass == unbounded.tail_mass
    check_problem(
        Instance.from_data(content(instances, **{"patience": {"initial": [1], "generator": [[-5.0]]}})).problem()
    )


def test_without_patience_a_system_may_fill_for_ever(instances):
    with pytest.raises(InstanceError, match=r"data\.capacity is null; a system without bound needs patience"):
        Instance.from_data(content(instances, patience=None)).problem()


def test_too_many_pages_are_refused_with_their_number(instances):
    slow = {"initial": [0.9, 0.1], "generator": [[-0.03, 0], [0, -0.001]]}
    with pytest.raises(InstanceError, match=r"there may be \d+ pages .* too many to evaluate with this patience"):
        Instance.from_data(content(instances, patience=slow)).problem()


def test_the_command_line_takes_it(instances, tmp_path, capsys):
    file = tmp_path / "unbounded.json"
    file.write_text(json.dumps(content(instances)))
    assert main(["evaluate", str(file), "--at=-1,3,3"]) == 0
    assert "objective 57.2321, feasible" in capsys.readouterr().out
    assert main(["check", str(file)]) == 0


# -- patience of several phases ----------------------------------------------------------------------------------------


def of_figure_4(instances, **changes) -> dict:
    """Two modes of one phase, the patience of Figure 4, room for all pages."""
    known = read(instances / "threshold" / "avrachenkov-fig4-3.json").to_data()
    known.pop("best_known")
    modes = [{"robots": robots, "arrivals": [[[-rate]], [[rate]]]} for robots, rate in ((1, 0.6), (2, 1.5))]
    return known | {"name": "open", "data": known["data"] | {"capacity": None, "modes": modes} | changes}


def test_patience_of_several_phases_is_evaluated_with_the_room_a_policy_needs(instances):
    found = Instance.from_data(of_figure_4(instances)).problem()
    wide = Instance.from_data(of_figure_4(instances, capacity=15)).problem()
    assert found.queue.capacity > 15
    told = found.describe((3,))
    assert told["truncation"]["tail_mass"] <= 1e-12  # proved, of the room that stands for none
    assert told["truncation"]["truncated_at"] <= 15 and told["truncation"]["estimated_tail"] < 1e-6
    near = wide.evaluate((3,)).objective
    assert found.evaluate((3,)).objective == pytest.approx(near, rel=1e-5)
    assert found.evaluate_many([(3,), (2,)])[0] == found.evaluate((3,))


def test_the_paper_s_own_modes_and_law_are_accepted_with_room_without_bound(instances):
    modes = read(instances / "threshold" / "avrachenkov-fig4-3.json").to_data()["data"]["modes"]
    problem = Instance.from_data(of_figure_4(instances, modes=modes)).problem()
    assert problem.queue.capacity == 162
    assert ThresholdProblem.from_data(problem.to_data()).queue.capacity == 162


def test_the_command_line_takes_patience_of_several_phases(instances, tmp_path, capsys):
    file = tmp_path / "open.json"
    file.write_text(json.dumps(of_figure_4(instances)))
    assert main(["evaluate", str(file), "--at=3"]) == 0
    assert "loss               < " in capsys.readouterr().out
    assert main(["solve", str(file), "--strategy", "local-search", "--evaluations", "40", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["status"] == "feasible" and answer["extra"]["error_estimate"] < 1e-3
    assert set(answer["extra"]["truncation"]) == {"capacity", "tail_mass", "truncated_at", "estimated_tail"}


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_search_with_patience_of_several_phases_finds_low_thresholds(instances):
    """Three or one robots, switched at one page: 119.2, where random starts ended above 127 after 89 evaluations."""
    modes = read(instances / "threshold" / "avrachenkov-fig4-3.json").to_data()["data"]["modes"]
    problem = Instance.from_data(of_figure_4(instances, modes=modes)).problem()
    found = solve(problem, "local-search", evaluations=25)
    assert found.objective <= problem.evaluate((-1, 1, 1)).objective < 119.3


def test_a_policy_that_fills_the_room_is_refused_by_name(instances, tmp_path, capsys):
    modes = [{"robots": robots, "arrivals": [[[-rate]], [[rate]]]} for robots, rate in ((1, 0.6), (2, 20.0))]
    file = tmp_path / "open.json"
    file.write_text(json.dumps(of_figure_4(instances, modes=modes)))
    assert main(["evaluate", str(file), "--at=99"]) == 2
    said = capsys.readouterr().err
    assert "cannot be evaluated at (99,): without bound a policy is evaluated with room for at most" in said
    assert main(["evaluate", str(file), "--at=-1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["extra"]
    assert told["single_mode_costs"]["1"] > 0 and told["single_mode_costs"]["2"] is None
    assert told["relative_profit"] is None


@pytest.mark.parametrize("strategy", ["exhaustive", "local-search", "annealing", "genetic"])
def test_a_search_passes_by_policies_that_fill_the_room(instances, tmp_path, strategy):
    modes = [{"robots": robots, "arrivals": [[[-rate]], [[rate]]]} for robots, rate in ((1, 0.6), (2, 20.0))]
    file = tmp_path / "open.json"
    file.write_text(json.dumps(of_figure_4(instances, modes=modes)))
    problem = load(file)
    assert not problem.evaluate((99,)).feasible
    result = solve(problem, strategy, evaluations=2000)
    assert result.status == "feasible"
    assert result.evaluations > 1
    if strategy == "exhaustive":
        assert result.decision == (0,)
