"""The paper's Table 1, and its misprints, before a witness that knows no formula: an event by event simulation.

A printed number stands if it lies in the joint confidence interval, widened by one unit of its last digit; a misprint
is one that does not, where the corrected number does. No evaluator is asked, only the data of the instances are.
"""

import json
from pathlib import Path

import pytest

from optmodels.instance import load
from optmodels.threshold.subsets import of_subset
from queueing.simulation import Estimate, joint_limit
from queueing.threshold.simulation import usual_time
from queueing.threshold.simulation.runs import simulate

PAPER = json.loads((Path(__file__).parents[2] / "instances/sets/papers/avrachenkov.json").read_text(encoding="utf-8"))
FOLDER = Path(__file__).parents[2] / "instances" / "threshold"
REPLICATIONS = 25

#: Instance, robots (most first), thresholds; what is printed; what the other tests of the paper say is right.
MISPRINTS = [
    ("avrachenkov-k5", (4, 3, 1), (0, 2), 80.50, 67.521),
    ("avrachenkov-service-3", (3, 1), (3,), 160.48, 175.967),
    ("avrachenkov-service-15", (1,), (), 309.061, 303.480),
    ("avrachenkov-patience-0.01", (3, 1), (3,), 52.07, 51.077),
]

COMPARISONS = len(PAPER["table_1"]["rows"]) + len(MISPRINTS)
LIMIT = joint_limit(COMPARISONS, REPLICATIONS - 1, 0.01)


def price(name: str, robots: tuple[int, ...], thresholds: tuple[int, ...], events: int) -> Estimate:
    problem = load(FOLDER / f"{name}.json")
    queue = problem.experiment(of_subset(problem, [count - 1 for count in robots], thresholds)).queue
    time = usual_time(queue, events // REPLICATIONS)
    return simulate(queue, time=time, replications=REPLICATIONS, seed=1).estimate(problem.cost)


@pytest.mark.parametrize("row", PAPER["table_1"]["rows"], ids=lambda row: row[0].replace(" or ", "-"))
def test_table_1_is_confirmed_but_for_its_misprint(row):
    robots = tuple(int(word) for word in row[0].split(" or "))
    thresholds = () if row[1] == "-" else tuple(int(word) for word in row[1].split(","))
    found = price("avrachenkov-k5", robots, thresholds, 500_000)
    assert found.error < 0.005 * found.value
    unit = 10.0 ** -len(row[2].partition(".")[2])
    stands = abs(found.value - float(row[2])) <= LIMIT * found.error + unit
    assert stands == (row[0] != "4 or 3 or 1")


@pytest.mark.parametrize(("name", "robots", "thresholds", "printed", "right"), MISPRINTS)
def test_a_misprint_is_found_by_simulation_alone(name, robots, thresholds, printed, right):
    found = price(name, robots, thresholds, 1_000_000)
    assert abs(found.deviation(right)) <= LIMIT
    assert abs(found.deviation(printed)) > LIMIT
