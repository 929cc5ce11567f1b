"""Scenarios in files and in Python, laws that are drawn, and the sentence for everything that is wrong."""

import math
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest

from optmodels.errors import InstanceError, MissingField
from optmodels.placement import PlacementProblem
from optmodels.placement.scenarios import DrawnScenarios, Scenario, ScenarioPlacement

PLAIN = {
    "shape": [1, 3],
    "opening_cost": [[4, 5, 3]],
    "service_rate": 20,
    "think_time": {"base": 0.8, "per_distance": 0.2},
    "quality": {"min_throughput": 0.6, "max_delay_probability": 0.2, "delay": 0.6},
}
LISTED = {
    **PLAIN,
    "scenarios": [{"probability": 0.25, "demand": [[1, 2, 3]]}, {"probability": 0.75, "demand": [[4, 0, 6]]}],
}
LAW = {**PLAIN, "scenarios": {"law": "poisson", "mean": [[4, 0, 2.5]], "count": 5, "seed": 3}}


@pytest.mark.parametrize(
    ("scenarios", "sentence"),
    [
        ([], 'data.scenarios is []; scenarios are a list of {"probability": p, "demand": clients of each site}'),
        (3, "data.scenarios is 3; scenarios are a list of"),
        ([5], "data.scenarios[0] is 5; scenarios are a list of"),
        ([{"demand": [[1, 2, 3]]}], "data.scenarios[0].probability is missing; a scenario needs its probability and"),
        ([{"probability": 1}], "data.scenarios[0].demand is missing; a scenario needs its probability"),
        ([{"probability": -0.5, "demand": [[1, 2, 3]]}], "data.scenarios[0].probability is -0.5; probabilities are"),
        ([{"probability": 0, "demand": [[1, 2, 3]]}], "data.scenarios[0].probability is 0; probabilities are above 0"),
        ([{"probability": 1.5, "demand": [[1, 2, 3]]}], "data.scenarios[0].probability is 1.5; probabilities are"),
        (
            [{"probability": 0.5, "demand": [[1, 2, 3]]}, {"probability": 0.5 + 2e-9, "demand": [[1, 2, 3]]}],
            "data.scenarios is [0.5, 0.500000002]; probabilities sum to 1, and these to 1.000000002.",
        ),
        ([{"probability": 1, "demand": [[1, 2]]}], "data.scenarios[0].demand[0] is [1, 2]; the grid needs 1 rows"),
        ([{"probability": 1, "demand": [[1, 2, -3]]}], "data.scenarios[0].demand[0][2] is -3; demands are whole"),
        ([{"probability": 1, "demand": [[1, 2, 0.5]]}], "data.scenarios[0].demand[0][2] is 0.5; demands are whole"),
        ([{"probability": 1, "demand": [[1, 2, 3]], "name": "x"}], "data.scenarios[0].name is"),
        ({"law": "cauchy"}, "data.scenarios.mean is missing; a law of demand needs"),
        ({"law": "cauchy", "mean": [[1, 2, 3]], "count": 5}, 'data.scenarios.law is "cauchy"; a law of demand is'),
        ({"law": "normal", "mean": [[1, 2, 3]], "count": 5}, "a normal demand needs its deviation."),
        ({"law": "poisson", "mean": [[1, 2, 3]], "deviation": 1, "count": 5}, "data.scenarios.deviation is 1; that of"),
        ({"law": "poisson", "mean": [[1, -2, 3]], "count": 5}, "data.scenarios.mean[0][1] is -2; means and deviations"),
        ({"law": "normal", "mean": [[1, 2, 3]], "deviation": -1, "count": 5}, "data.scenarios.deviation is -1; means"),
        ({"law": "poisson", "mean": [[1, 2, 3]], "count": 0}, "data.scenarios.count is 0; the number of"),
        ({"law": "poisson", "mean": [[1, 2, 3]], "count": 501}, "data.scenarios.count is 501; the number of"),
        ({"law": "poisson", "mean": [[1, 2, 3]], "count": 5, "seed": -1}, "data.scenarios.seed is -1; a seed is"),
        ({"law": "poisson", "mean": [[1, 2]], "count": 5}, "data.scenarios.mean[0] is [1, 2]; the grid needs"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_scenarios_is_told_in_one_sentence(scenarios, sentence):
    with pytest.raises((InstanceError, MissingField)) as caught:
        PlacementProblem.from_data({**PLAIN, "scenarios": scenarios})
    assert str(caught.value).startswith(sentence) or sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"demand": [[1, 2, 3]]}, "; give either demand or scenarios, not both."),
        (
            {"quality": PLAIN["quality"] | {"scenario_probability": 0}},
            "data.quality.scenario_probability is 0; the probability of the scenarios that are kept is above 0 and at",
        ),
        ({"quality": PLAIN["quality"] | {"scenario_probability": 1.1}}, "data.quality.scenario_probability is 1.1"),
    ],
)  # fmt: skip
def test_what_is_wrong_beside_scenarios_is_told(change, sentence):
    with pytest.raises(InstanceError) as caught:
        PlacementProblem.from_data(LISTED | change)
    assert sentence in str(caught.value)


def test_more_clients_than_the_queues_take_are_told_of_their_scenario():
    nodes = 1001
    few, many = ({"probability": 0.5, "demand": [clients] * nodes} for clients in (1, 10**9))
    data = {name: value for name, value in PLAIN.items() if name != "shape"}
    data |= {"network": {"nodes": nodes, "edges": [[0, leaf] for leaf in range(1, nodes)]}, "scenarios": [few, many]}
    with pytest.raises(InstanceError, match=r"^data.scenarios\[1\].demand is .*; at most 1000000000000 clients in all"):
        PlacementProblem.from_data(data | {"opening_cost": [1] * nodes})


def test_a_promise_for_scenarios_needs_some():
    data = PLAIN | {"demand": [[1, 2, 3]], "quality": PLAIN["quality"] | {"scenario_probability": 0.9}}
    with pytest.raises(InstanceError, match=r"^data.quality.scenario_probability is 0.9; .*there are none.$"):
        PlacementProblem.from_data(data)
    with pytest.raises(MissingField, match=r"^data.demand is missing; a placement needs it, or scenarios of it"):
        PlacementProblem.from_data(PLAIN)


def test_probabilities_may_miss_one_by_rounding():
    data = deepcopy(LISTED)
    data["scenarios"][0]["probability"] += 9e-10
    problem = PlacementProblem.from_data(data)
    assert problem.scenario_probability == 1.0
    assert problem.evaluate((1, 1, 1)).feasible


@pytest.mark.parametrize("data", [LISTED, LAW])
def test_scenarios_come_back_from_files_and_constructors(data):
    problem = PlacementProblem.from_data(data, name="placement")
    assert type(problem) is ScenarioPlacement
    assert problem.demand is None
    again = PlacementProblem.from_data(problem.to_data(), name="placement")
    assert again == problem
    assert replace(problem) == problem
    assert replace(problem, name="other") != problem
    assert [one.demand.tolist() for one in again.outcomes] == [one.demand.tolist() for one in problem.outcomes]
    assert "scenario_probability" not in problem.to_data()["quality"]


def test_python_gives_scenarios_as_arrays_objects_or_a_law():
    fields = {name: value for name, value in PLAIN.items() if name != "shape"}
    listed = PlacementProblem.from_data(LISTED, name="placement")
    demands = [np.array([[1, 2, 3]]), np.array([[4, 0, 6]])]
    pairs = [{"probability": p, "demand": demand} for p, demand in zip((0.25, 0.75), demands, strict=True)]
    assert PlacementProblem(**fields, scenarios=pairs) == listed
    assert PlacementProblem(**PLAIN, scenarios=listed.scenarios) == listed
    flat = [Scenario(0.25, np.array([1, 2, 3])), Scenario(0.75, np.array([4, 0, 6]))]
    assert PlacementProblem(**PLAIN, scenarios=flat) == listed
    law = PlacementProblem(
        **fields, scenarios={"law": "poisson", "mean": np.array([[4, 0, 2.5]]), "count": 5, "seed": 3}
    )
    assert law == PlacementProblem.from_data(LAW, name="placement")
    assert law.scenarios == DrawnScenarios("poisson", [[4, 0, 2.5]], None, 5, 3)
    plain = replace(listed, scenarios=None, demand=[[1, 2, 3]])
    assert type(plain) is PlacementProblem
    assert replace(plain, demand=None, scenarios=pairs) == listed
    with pytest.raises(AttributeError, match="problems do not change"):
        listed.scenarios = ()


# -- laws -------------------------------------------------------------------------------------------------------------


def test_poisson_demands_are_quantiles_of_uniform_numbers():
    means = [0.0, 0.3, 4.0, 60.0, 2000.0]
    drawn = DrawnScenarios("poisson", means, None, 50, 8).draw(np.array(means), None)
    uniform = np.random.default_rng(8).random((50, 5))
    for row, one in zip(uniform, drawn, strict=True):
        assert one.probability == 1 / 50
        for u, mean, clients in zip(row, means, one.demand.tolist(), strict=True):
            total, n = 0.0, -1
            while total < u - 1e-12 and mean > 0:
                n += 1
                total += math.exp(n * math.log(mean) - mean - math.lgamma(n + 1))
            assert clients == max(n, 0)


def test_normal_demands_are_rounded_and_not_negative():
    from statistics import NormalDist

    means, deviations = [0.4, 10.0, 5.5], [3.0, 2.0, 0.0]
    drawn = DrawnScenarios("normal", means, deviations, 40, 1).draw(np.array(means), np.array(deviations))
    uniform = np.random.default_rng(1).random((40, 3))
    for row, one in zip(uniform, drawn, strict=True):
        expected = [
            max(0, round(NormalDist(mean, deviation).inv_cdf(u))) if deviation else round(mean)
            for u, mean, deviation in zip(row, means, deviations, strict=True)
        ]
        assert one.demand.tolist() == expected
    assert any(one.demand[0] == 0 for one in drawn)


def test_the_same_seed_gives_the_same_scenarios_and_larger_means_larger_demands():
    few, many = (
        PlacementProblem.from_data(LAW | {"scenarios": LAW["scenarios"] | {"mean": [[m, 0, m]]}}) for m in (4, 7)
    )
    again = PlacementProblem.from_data(few.to_data())
    other = PlacementProblem.from_data(few.to_data() | {"scenarios": LAW["scenarios"] | {"seed": 4}})
    demands = [[one.demand.tolist() for one in problem.outcomes] for problem in (few, again, other)]
    assert demands[0] == demands[1] != demands[2]
    assert all((b.demand >= a.demand).all() for a, b in zip(few.outcomes, many.outcomes, strict=True))
