"""Robot fleets in files: what may stand there, what is refused in which words, and that nothing is lost on the way."""

import json

import pytest

from optmodels import Instance, InstanceError
from optmodels.robots import RobotFleetProblem, RobotsProblem

BASE = {"robots": 3, "capacity": 4, "arrival_rate": 0.3, "service_rate": 1.0}
LAW = {"initial": [1, 0], "generator": [[-0.6, 0.6], [0, -0.3]]}
MIXED = {"initial": [0.5, 0.5], "generator": [[-0.6, 0], [0, -0.3]]}
WORLD = {"generator": [[-0.1, 0.1], [0.2, -0.2]], "factors": [1, 0.5]}
PHASED = {key: value for key, value in BASE.items() if key != "arrival_rate"} | {"travel_time": LAW}
CLASSES = {
    "classes": [{"name": "near", "robots": 2, "arrival_rate": 0.3}, {"robots": 1, "travel_time": MIXED}],
    "capacity": 4,
    "service_rate": 1.0,
}

GOOD = {
    "any": BASE | {"switching": "any"},
    "any, as many as ever help": BASE | {"robots": None, "switching": "any"},
    "journeys": PHASED,
    "journeys, any": PHASED | {"switching": "any"},
    "environment": BASE | {"environment": WORLD},
    "environment with a column": BASE | {"environment": WORLD | {"factors": [[1], [0]]}},
    "environment of one state": BASE | {"environment": {"generator": [[0]], "factors": [2]}},
    "classes": CLASSES,
    "one class, any": CLASSES | {"classes": CLASSES["classes"][:1], "switching": "any"},
    "everything": CLASSES | {"environment": WORLD | {"factors": [[1, 2], [0.5, 0]]}, "switching": "one"},
}


def problem(data, weights=None):
    cost = {"name": "weighted-sum", "weights": weights or {"starvation": 1.4}}
    return Instance.from_data({"format": 1, "kind": "robots", "name": "test", "data": data, "cost": cost}).problem()


@pytest.mark.parametrize("data", GOOD.values(), ids=GOOD)
def test_data_come_back_as_they_were(data):
    asked = problem(data)
    assert isinstance(asked, RobotFleetProblem)
    written = json.loads(json.dumps(asked.to_data()))
    assert {key: value for key, value in written.items() if key != "switching"} == {
        key: value for key, value in data.items() if key != "switching"
    }
    assert written["switching"] == data.get("switching", "one")
    assert problem(written).to_data() == written


def test_data_that_say_nothing_new_stay_the_base_model():
    assert type(problem(BASE)) is RobotsProblem
    assert type(problem(BASE | {"switching": "one"})) is RobotsProblem


def test_a_scale_multiplies_all_rates_of_a_journey():
    scaled = problem(PHASED | {"travel_time": LAW | {"scale": 2}})
    assert scaled.to_data()["travel_time"]["generator"] == [[-1.2, 1.2], [0, -0.6]]


def _classes(**changes):
    first, second = CLASSES["classes"]
    return CLASSES | {"classes": [first | changes, second]}


def _world(**changes):
    return BASE | {"environment": WORLD | changes}


@pytest.mark.parametrize(
    ("data", "field", "rule"),
    [
        (BASE | {"switching": "two", "environment": WORLD}, "data.switching", '"one" at a time, or "any" number'),
        (BASE | {"switching": ["any"], "environment": WORLD}, "data.switching", '"one" at a time'),
        (BASE | {"environment": WORLD, "tempo": 1}, "data.tempo", "no such field"),
        (PHASED | {"robots": 0}, "data.robots", "whole numbers, 1 or more"),
        (PHASED | {"robots": True}, "data.robots", "whole numbers, 1 or more"),
        (PHASED | {"capacity": 1}, "data.capacity", "2 or more"),
        (PHASED | {"service_rate": 0}, "data.service_rate", "above 0"),
        (BASE | {"arrival_rate": -1, "environment": WORLD}, "data.arrival_rate", "above 0"),
        (BASE | {"travel_time": LAW}, "data.arrival_rate", "not both"),
        (BASE | {"arrival_rate": 1e-200, "switching": "any"}, "data.arrival_rate", "nearer to one another"),
        (PHASED | {"travel_time": 3}, "data.travel_time", "phase-type law"),
        (PHASED | {"travel_time": None}, "data.travel_time", "phase-type law"),
        (PHASED | {"travel_time": LAW | {"initial": [1, 1]}}, "data.travel_time.initial", "sum to 1"),
        (PHASED | {"travel_time": LAW | {"initial": [1]}}, "data.travel_time.initial", "one probability for each"),
        (
            PHASED | {"travel_time": LAW | {"generator": [[-0.6, 0.7], [0, -0.3]]}},
            "data.travel_time.generator[0]",
            "at most 0",
        ),
        (PHASED | {"travel_time": LAW | {"generator": [[-1, 1], [1, -1]]}}, "data.travel_time", "lead to the end"),
        (PHASED | {"robots": None}, "data.robots", "give a number"),
        (BASE | {"robots": None, "environment": WORLD}, "data.robots", "give a number"),
        (PHASED | {"travel_time": MIXED, "switching": "any"}, "data.switching", "one at a time"),
        (BASE | {"environment": None}, "data.environment", "an environment is"),
        (_world(generator=[[-0.1, 0.2], [0.2, -0.2]]), "data.environment.generator[0]", "must make 0"),
        (_world(generator=[[0.1, -0.1], [0.2, -0.2]]), "data.environment.generator[0][1]", "zero or more"),
        (_world(generator=[[-0.1, 0.1], [0, 0]]), "data.environment.generator", "reach every other"),
        (_world(generator=[[-0.1, 0.1]]), "data.environment.generator[0]", "square matrix"),
        (_world(factors=[1]), "data.environment.factors", "each of the 2 states"),
        (_world(factors=[1, -0.5]), "data.environment.factors[1]", "zero or more"),
        (_world(factors=[0, 0]), "data.environment.factors", "above 0"),
        (_world(factors=[[1, 1], [1, 1]]), "data.environment.factors[0]", "there are 1"),
        (_world(factors=[1, "x"]), "data.environment.factors[1]", "finite numbers"),
        (_world(pace=1), "data.environment.pace", "no such field"),
        (CLASSES | {"classes": []}, "data.classes", "a list of"),
        (CLASSES | {"classes": {}}, "data.classes", "a list of"),
        (CLASSES | {"classes": [3]}, "data.classes[0]", "a list of"),
        (CLASSES | {"robots": 3}, "data.robots", "belongs to a class"),
        (CLASSES | {"arrival_rate": 0.3}, "data.arrival_rate", "belongs to a class"),
        (CLASSES | {"travel_time": LAW}, "data.travel_time", "belongs to a class"),
        (CLASSES | {"switching": "any"}, "data.switching", "2 classes are sent out one at a time"),
        (_classes(robots=None), "data.classes[0].robots", "give a number"),
        (_classes(robots=1.5), "data.classes[0].robots", "whole numbers, 1 or more"),
        (_classes(arrival_rate=0), "data.classes[0].arrival_rate", "above 0"),
        (_classes(travel_time=LAW), "data.classes[0].arrival_rate", "not both"),
        (_classes(name=""), "data.classes[0].name", "printable text"),
        (_classes(speed=2), "data.classes[0].speed", "no such field"),
        (CLASSES | {"classes": CLASSES["classes"][:1] * 2}, "data.classes[1].name", "the same name"),
        (CLASSES | {"environment": WORLD | {"factors": [[1, 0], [2, 0]]}}, "data.environment.factors", "above 0"),
        (PHASED | {"robots": 5000}, "data.robots", "make 62537505"),
        (_classes(robots=10**9), "data.classes", "make 15000000015"),
        (PHASED | {"robots": 10**15}, "data.robots", r"make 2.50e\+30; give fewer"),
        (PHASED | {"capacity": 10**9}, "data.capacity", "make 10000000010"),
        (CLASSES | {"capacity": 10**9}, "data.capacity", "make 9000000009"),
        (
            PHASED | {"travel_time": LAW | {"generator": [[-1, 1e-200], [0, -1]]}},
            "data.travel_time.generator[0][1]",
            r"with this rate of service rates other than 0 lie between 1e-100 and 1e\+100",
        ),
        (
            PHASED | {"travel_time": LAW | {"generator": [[-1e308, 1e308], [0, -1]]}},
            "data.travel_time.generator[0][0]",
            r"1e\+300 at most",
        ),
        (_world(generator=[[-1e120, 1e120], [1, -1]]), "data.environment.generator[0][0]", "rates other than 0 lie"),
        (_world(generator=[[-1, 1], [1e308, -1e308]]), "data.environment.generator[1][0]", r"1e\+300 at most"),
        (_world(factors=[1e-200, 1]), "data.environment.factors[0]", "factors other than 0 lie between"),
        (_world(factors=[1, 1e308]), "data.environment.factors[1]", "factors other than 0 lie between"),
    ],
)
def test_bad_data_are_refused_in_one_sentence_with_field_and_rule(data, field, rule):
    with pytest.raises(InstanceError, match=rule.replace("(", r"\(")) as refusal:
        problem(data)
    assert refusal.value.field == field
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({key: value for key, value in GOOD["any"].items() if key != "robots"}, "data.robots"),
        ({key: value for key, value in GOOD["any"].items() if key != "capacity"}, "data.capacity"),
        ({key: value for key, value in GOOD["any"].items() if key != "service_rate"}, "data.service_rate"),
        ({key: value for key, value in GOOD["any"].items() if key != "arrival_rate"}, "data.arrival_rate"),
        (CLASSES | {"classes": [{"robots": 2}]}, "data.classes[0].arrival_rate"),
        (CLASSES | {"classes": [{"arrival_rate": 2}]}, "data.classes[0].robots"),
        (BASE | {"environment": {"factors": [1]}}, "data.environment.generator"),
        (BASE | {"environment": {"generator": [[0]]}}, "data.environment.factors"),
    ],
)
def test_what_is_missing_is_named(data, field):
    with pytest.raises(InstanceError, match="is missing") as refusal:
        problem(data)
    assert refusal.value.field == field


def test_as_many_as_ever_help_need_a_price_on_what_robots_do():
    with pytest.raises(InstanceError, match="robots without end would help"):
        problem(GOOD["any, as many as ever help"], {"starvation": 1, "loss_rate": 0})


def test_a_price_of_starvation_is_needed():
    with pytest.raises(InstanceError, match=r"cost.weights.starvation is missing"):
        problem(GOOD["classes"], {"loss_rate": 1})
