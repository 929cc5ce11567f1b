"""Plans of visits, exact and simulated side by side; faults that must be found; and the rule that crawlers ship."""

import dataclasses
import json
import math

import numpy as np
import pytest

from heuristics import Budget, Status, refusal, run
from optmodels.cli import main
from optmodels.errors import RequestError
from optmodels.freshness import FreshnessProblem
from optmodels.freshness.schedules import Adaptive
from optmodels.studies import simulate
from queueing.freshness.simulation import Adapting, SimulatedCrawl
from queueing.freshness.simulation.runs import simulate as observe

LAWS = {
    "constant": {"law": "constant", "value": 0.5},
    "exponential": {"law": "exponential", "mean": 0.5},
    "erlang": {"law": "erlang", "stages": 3, "mean": 0.5},
    "hyperexponential": {"law": "hyperexponential", "probabilities": [0.9, 0.1], "means": [0.2, 3.0]},
    "phase-type": {"law": "phase-type", "initial": [1.0, 0.0], "generator": [[-2.0, 1.0], [0.0, -1.0]]},
    "samples": {"law": "samples", "values": [0.1, 0.1, 0.5, 2.0]},
}
RATES, WEIGHTS = [0.3, 1.0, 0.0, 0.1, 2.0], [1.0, 2.0, 1.0, 0.0, 0.5]
CYCLE = {"schedule": [0, 1, 2, 1, 0, 4, 1]}
DRAWS = {"randomized": [0.3, 0.4, 0.1, 0.0, 0.2]}


def problem_of(law="exponential", **more) -> FreshnessProblem:
    data = {"change_rates": RATES, "weights": WEIGHTS, "access_time": LAWS[law]}
    return FreshnessProblem.from_data(data | more, name="five")


# -- exact and simulated ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decision", [CYCLE, DRAWS], ids=["cycle", "draws"])
@pytest.mark.parametrize("law", LAWS)
def test_they_agree(law, decision):
    found = simulate(problem_of(law), decision, time=5000.0, replications=20)
    assert found.agree, found.table()
    lines = {line.name: line for line in found.lines}
    assert lines["obsolescence"].estimate.error < 0.02 * lines["obsolescence"].exact
    assert lines["pages_never_visited"].deviation == 0.0 and lines["pages_never_visited"].exact == 1.0
    assert (lines["largest_gap"].deviation, lines["largest_gap"].exact) == (
        (0.0, 7.0) if decision is CYCLE else (None, None)
    )
    by_page = found.extra["obsolescence_by_page"]["simulated"]
    assert by_page[2] == 0.0 and by_page[3] == 1.0


@pytest.mark.parametrize(
    "decision",
    [
        {"schedules": [[0, 1, 1], [4, 2, 4, 3]]},
        {"randomized": [0.6, 0.4, 0.1, 0.2, 0.7], "robot": [0, 0, 1, 1, 1]},
    ],
    ids=["cycles", "draws"],
)
def test_two_robots_agree(decision):
    found = simulate(problem_of(robots=2), decision, time=5000.0, replications=20)
    assert found.agree, found.table()


def test_length_is_chosen_and_seeds_matter():
    first, again, other = (simulate(problem_of(), CYCLE, replications=3, seed=seed) for seed in (1, 1, 2))
    assert first.events >= 3 * 100_000
    values = [found.lines[0].estimate.value for found in (first, again, other)]
    assert values[0] == values[1] != values[2]


class Careless(FreshnessProblem):
    """Takes the times of accesses for constants."""

    def evaluate(self, decision):
        return problem_of("constant").evaluate(decision)


@pytest.mark.parametrize("decision", [CYCLE, DRAWS], ids=["cycle", "draws"])
def test_a_fault_of_the_evaluator_is_found(decision):
    right = problem_of("exponential")
    wrong = Careless(**{one.name: getattr(right, one.name) for one in dataclasses.fields(right)})
    found = simulate(wrong, decision, time=5000.0, replications=20)
    assert found.agree is False
    assert "THEY DISAGREE" in found.table()


# -- what happens rarely ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [1.0, 1e4])
def test_a_page_that_is_hardly_ever_drawn_raises_no_alarm(weight):
    """Its visits are too few to have an error; one visit alone may change the cost by more than all others do."""
    problem = problem_of(weights=[1.0, 2.0, 1.0, weight, 0.5])
    decision = {"randomized": [0.3, 0.4, 0.1, 2e-6, 0.2 - 2e-6]}
    for seed in range(12):
        found = simulate(problem, decision, time=2000.0, replications=10, seed=seed)
        assert found.agree is not False, found.table()


def test_pages_that_hardly_ever_change_are_not_compared():
    problem = problem_of(change_rates=[1e-9] * 5)
    found = simulate(problem, CYCLE, time=1000.0, replications=5)
    line = next(line for line in found.lines if line.name == "obsolescence")
    assert (line.deviation, line.remark) == (None, "too rare to compare")


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "decision", "sentence"),
    [
        ({}, [0.2] * 5, "no robot can visit every page at exactly equal distances; give a cycle"),
        ({"robots": 2}, {"randomized": [0.4] * 5}, "it must be known which of the 2 robots visits which page"),
        ({}, {"randomized": [0.4] * 5}, "frequencies of a robot must sum to at most 1, its visits per slot, but"),
        ({}, {"randomized": [0.0] * 5}, "robots must not be empty"),
        ({}, {"schedule": [9]}, "is not a valid decision for 'five'"),
    ],
)
def test_what_cannot_be_simulated_gets_one_sentence(more, decision, sentence):
    with pytest.raises(RequestError, match=sentence):
        simulate(problem_of(**more), decision, replications=2)


def test_the_command(tmp_path, capsys):
    file = tmp_path / "five.json"
    data = {"change_rates": RATES, "weights": WEIGHTS, "access_time": LAWS["samples"]}
    file.write_text(json.dumps({"format": 1, "kind": "freshness", "name": "five", "data": data}))
    words = ["simulate", str(file), "--replications", "5", "--time", "2000"]
    assert main([*words, "--at", json.dumps(CYCLE)]) == 0
    assert "they agree" in capsys.readouterr().out
    assert main([*words, "--at", json.dumps(DRAWS), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["agree"] is True
    assert main([*words, "--at", "0.2,0.2,0.2,0.2,0.2"]) == 2
    assert "no robot can visit every page at exactly equal distances" in capsys.readouterr().err


# -- the rule of crawlers ---------------------------------------------------------------------------------------------


def many(count=40, **more) -> FreshnessProblem:
    rng = np.random.default_rng(7)
    rates = np.exp(rng.normal(0.0, 1.0, count))
    data = {"change_rates": rates.tolist(), "weights": rng.random(count).tolist(), "access_time": LAWS["exponential"]}
    return FreshnessProblem.from_data(data | more, name="many")


def test_adaptive_hands_over_what_it_did_and_tells_what_it_costs():
    problem = many()
    result = run(problem, Adaptive(rounds=30, replications=8), seed=3)
    assert result.status == Status.FEASIBLE and result.checked and result.stopped_by == "complete"
    assert len(result.decision["schedule"]) == 30 * 40
    told = result.extra["simulated"]
    assert told["replications"] == 8 and 0 < told["half_width"] < 0.05 * told["obsolescence"]
    assert min(told["obsolescence"], result.objective) > problem.relaxation().bound
    crawl = SimulatedCrawl(
        problem.columns.rates, problem.columns.weights, problem.access_time, (Adapting(np.arange(40), rounds=300),)
    )
    long = observe(crawl, time=1.0, replications=8, seed=99).cost()
    error = math.hypot(long.error, told["half_width"] / 2.36)
    assert abs(long.value - told["obsolescence"]) < 5 * error


def test_adaptive_repeats_itself_by_seed():
    first, again, other = (run(many(), Adaptive(rounds=5, replications=2), seed=seed) for seed in (1, 1, 2))
    assert first.decision == again.decision != other.decision
    assert first.extra["simulated"] == again.extra["simulated"] != other.extra["simulated"]


def test_adaptive_robots_share_pages():
    result = run(many(robots=3), Adaptive(rounds=10, replications=2))
    assert [len(cycle) for cycle in result.decision["schedules"]] == [140, 130, 130]
    assert result.status == Status.FEASIBLE and "simulated" in result.extra


def test_adaptive_without_time_hands_over_what_it_has():
    result = run(many(2000), Adaptive(rounds=10_000), budget=Budget(seconds=0.05))
    assert result.stopped_by == "seconds" and result.decision is not None
    assert "simulated" not in result.extra
    assert "simulated" not in run(many(), Adaptive(rounds=5, replications=0)).extra


def test_adaptive_refuses_rules_that_it_does_not_know():
    hosts = [0] * 20 + [1] * 20
    for more in ({"hosts": hosts, "host_caps": 0.7}, {"hosts": hosts, "host_gap": 2}, {"min_frequency": 0.001}):
        asked = "no least frequencies" if "min_frequency" in more else "no gaps and caps of hosts"
        assert f"keeps {asked}, and" in refusal(many(**more), Adaptive())
    assert refusal(many(hosts=hosts), Adaptive()) is None
    with pytest.raises(ValueError, match=r"faster must be a finite number above 1, got 0\.5"):
        Adaptive(faster=0.5)
    with pytest.raises(ValueError, match=r"replications must be 0, or 2 or more, got 1"):
        Adaptive(replications=1)
