"""Exact and simulated side by side, in Python and on the command line."""

import contextlib
import json
import math
import os
import pty
import re
import signal
import subprocess
import sys
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from heuristics import Evaluation, interrupting
from heuristics.spaces import BinaryVectors
from optmodels import registry
from optmodels.cli import main
from optmodels.errors import RequestError
from optmodels.instance import load
from optmodels.kinds import Kind
from optmodels.studies import simulate

SPACE = BinaryVectors(1)


@dataclass(frozen=True)
class Tosses:
    """What one replication has seen: heads, crowns and tosses per unit of time."""

    observation: np.ndarray
    events: int = 100


@dataclass(frozen=True)
class CoinExperiment:
    """A thousand tosses of a coin that stands on its edge once in a while."""

    heads: float
    edges: float
    interrupt_after: int = 10**9

    def usual_time(self, events, seed):
        return 1000.0

    def replications(self, time, seed):
        rng = np.random.default_rng(seed)
        for index in range(10**9):
            if index == self.interrupt_after:
                interrupting.interrupt()
            yield None
            heads, edges = rng.binomial(1000, self.heads), rng.poisson(1000 * self.edges)
            yield Tosses(np.array([heads / time, edges / time, 1000 / time]))

    def measures(self, means):
        return {
            "heads": float(means[0] / means[2]),
            "edges": float(means[1] / means[2]),
            "always": float(means[2] / means[2]),
            "edge_time": None if means[1] == 0 else 1.0,
        }

    def occurrences(self, means):
        return {"edges": (means[1], means[2]), "edge_time": (means[1], 0.0)}

    def describe(self, done):
        return {"replications": len(done)}


@dataclass(frozen=True)
class Coin:
    """A problem with one decision, whose evaluator may be wrong."""

    name: str = "coin"
    heads: float = 0.5
    edges: float = 0.0
    always: float = 1.0
    tossed: CoinExperiment = CoinExperiment(0.5, 0.0)
    space: Any = SPACE

    kind: ClassVar[str] = "coin"
    has_objective: ClassVar[bool] = False
    measure_names: ClassVar[tuple[str, ...]] = ("heads", "edges", "always", "edge_time")

    def evaluate(self, decision):
        time = None if self.edges == 0 else 1.0
        measures = {"heads": self.heads, "edges": self.edges, "always": self.always, "edge_time": time}
        return Evaluation(math.nan, measures=measures)

    def experiment(self, decision):
        return self.tossed

    @classmethod
    def from_data(cls, data, **envelope):  # a kind that is offered to files can be read from them
        return cls(**data)


def lines(found):
    return {line.name: line for line in found.lines}


@pytest.fixture
def k5(instances):
    return instances / "threshold" / "avrachenkov-k5.json"


@pytest.fixture(autouse=True)
def signals():
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


# -- verdicts ---------------------------------------------------------------------------------------------------------


def test_a_right_evaluator_is_confirmed():
    found = simulate(Coin(), (1,), seed=1)
    assert found.agree
    assert found.replications == 30
    assert abs(lines(found)["heads"].deviation) < 3
    assert lines(found)["always"].deviation == 0
    assert "they agree" in found.verdict


def test_a_wrong_evaluator_is_found_out():
    found = simulate(Coin(heads=0.52), (1,))
    assert found.agree is False
    assert "THEY DISAGREE" in found.verdict


def test_a_wrong_constant_is_found_out():
    found = simulate(Coin(always=1.01), (1,))
    assert found.agree is False
    assert lines(found)["always"].deviation == -math.inf
    assert found.to_data()["measures"]["always"]["z"] is None


def test_what_never_happens_agrees_with_never():
    found = simulate(Coin(), (1,))
    assert (lines(found)["edges"].deviation, lines(found)["edges"].remark) == (0.0, "never happens")
    assert lines(found)["edge_time"].remark == "undefined"


def test_what_happens_too_rarely_is_not_judged():
    found = simulate(Coin(edges=1e-6), (1,))
    assert lines(found)["edges"].deviation is None
    assert lines(found)["edges"].remark == "too rare to compare"
    assert found.agree


def test_what_should_have_happened_but_was_never_seen_is_found_out():
    """30000 tosses without an edge, where an evaluator expects 3000."""
    found = simulate(Coin(edges=0.1), (1,))
    assert lines(found)["edges"].deviation < -50
    assert lines(found)["edge_time"].deviation is None
    assert found.agree is False


def test_what_happens_but_should_never_is_found_out():
    assert simulate(Coin(tossed=CoinExperiment(0.5, 0.1)), (1,)).agree is False


def test_false_alarms_are_as_rare_as_promised():
    alarms = sum(not simulate(Coin(), (1,), seed=seed, replications=10).agree for seed in range(300))
    assert alarms <= 3  # 0.3 at most are expected


# -- ends -------------------------------------------------------------------------------------------------------------


def test_an_interrupt_keeps_what_is_finished():
    found = simulate(Coin(tossed=CoinExperiment(0.5, 0.0, interrupt_after=7)), (1,))
    assert (found.replications, found.stopped_by, found.agree) == (7, "interrupt", True)
    interrupting.check()  # and is answered


def test_a_run_that_ends_too_early_has_exact_values_only():
    found = simulate(Coin(tossed=CoinExperiment(0.5, 0.0, interrupt_after=1)), (1,))
    assert (found.replications, found.agree, found.largest) == (1, None, None)
    assert lines(found)["heads"].exact == 0.5
    assert lines(found)["heads"].estimate.value is None
    assert found.verdict == "nothing could be compared"


def test_seconds_end_a_run():
    found = simulate(Coin(), (1,), seconds=0.2)
    assert found.stopped_by == "seconds"
    assert found.replications > 2
    assert simulate(Coin(), (1,), seconds=100, replications=5).stopped_by == "complete"


def test_progress_is_told():
    told = []
    simulate(Coin(), (1,), replications=4, progress=lambda *news: told.append(news))
    assert told[-1] == (4, 4, "replications")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"replications": 1}, "from 2"),
        ({"replications": 10**9}, "100000"),
        ({"time": 0.0}, "time is a finite number above 0"),
        ({"time": math.nan}, "time is a finite number above 0"),
        ({"seconds": -1.0}, "seconds is a finite number above 0"),
        ({"seed": -1}, "a seed is"),
    ],
)
def test_requests_that_make_no_sense_are_refused(options, words):
    with pytest.raises(RequestError, match=words):
        simulate(Coin(), (1,), **options)


def test_a_kind_that_cannot_be_simulated_is_told_those_that_can(instances):
    with pytest.raises(RequestError, match=r"'placement' cannot be simulated, only those of kind .*threshold"):
        simulate(instances / "placement" / "gautam-2x3.json", (0, 0, 1, 1, 1, 0))


def test_other_kinds_take_part_by_one_method_and_say_so(instances):
    record = Kind("coin", "Which side?", "nobody", Coin, {"heads": "probability of heads"}, simulated=True)
    registry.kinds.register("coin", record)
    try:
        with pytest.raises(RequestError, match=r"only those of kind coin, freshness, .*threshold"):
            simulate(instances / "placement" / "gautam-2x3.json", (0, 0, 1, 1, 1, 0))
    finally:
        registry.kinds.unregister("coin")


# -- thresholds -------------------------------------------------------------------------------------------------------


def test_the_example_of_the_paper_is_confirmed(k5):
    found = simulate(k5, (-1, 2, 2), seed=2)
    assert found.agree
    assert len(found.lines) == 13
    objective = lines(found)["objective"]
    assert objective.exact == pytest.approx(63.5425, abs=1e-4)
    assert objective.estimate.covers(objective.exact, 0.999)
    assert objective.estimate.half_width() < 0.01 * objective.exact
    levels = found.extra["level_probabilities"]["simulated"]
    assert sum(levels) == pytest.approx(1.0)
    quantiles = found.extra["response_time_quantiles"]
    assert 0 < quantiles["0.5"]["simulated"] < quantiles["0.9"]["simulated"] < quantiles["0.99"]["simulated"]


def test_a_problem_without_cost_or_with_an_order_of_measures_has_no_simulated_objective(k5):
    bare = replace(load(k5), cost=None)
    found = simulate(bare, (-1, 2, 2), replications=3, time=100.0)
    assert "objective" not in lines(found)
    ordered = replace(load(k5), cost=registry.costs["lexicographic"](("loss", "starvation")))
    assert "objective" not in lines(simulate(ordered, (-1, 2, 2), replications=3, time=100.0))


def test_a_queue_whose_mode_is_wrong_is_found_out(k5):
    """The exact values of one policy against a simulation of its neighbour."""
    problem = load(k5)

    class Confused:
        name, space, kind, has_objective = "confused", problem.space, "threshold", False
        evaluate = staticmethod(lambda decision: problem.evaluate((-1, 2, 3)))
        experiment = staticmethod(lambda decision: problem.experiment((-1, 2, 2)))

    assert simulate(Confused(), (-1, 2, 2)).agree is False


@pytest.mark.parametrize("decision", [{"policy": [0] * 22}, {"policy": [0]}, (2, 1, 1), (1,), ("a", 1, 1)])
def test_decisions_that_cannot_be_tried_out_are_refused(k5, decision):
    with pytest.raises(RequestError, match=r"cannot be simulated|is not a valid decision"):
        simulate(k5, decision)


def test_a_law_that_changes_its_phase_for_ever_is_refused(k5, tmp_path):
    data = json.loads(k5.read_text())
    data["data"]["patience"] = {"initial": [1, 0], "generator": [[-1e9, 1e9], [1e9, -1000000000.001]]}
    file = tmp_path / "endless.json"
    file.write_text(json.dumps(data))
    with pytest.raises(RequestError, match=r"cannot be simulated: patience must pass through"):
        simulate(file, (-1, 2, 2))


def test_rates_too_far_apart_for_a_clock_are_refused(k5, tmp_path):
    data = json.loads(k5.read_text())
    data["data"]["service"] = {"initial": [1], "generator": [[-1e30]]}
    file = tmp_path / "stiff.json"
    file.write_text(json.dumps(data))
    with pytest.raises(RequestError, match=r"cannot be simulated: time must be at most 1e\+12 times"):
        simulate(file, (-1, 2, 2))


def test_times_that_nobody_lives_to_see_are_not_judged(tmp_path):
    """One page in 1e30 is served, and takes 1e30: it makes half of the mean time, and is never seen."""
    data = {
        "format": 1,
        "kind": "threshold",
        "name": "slow",
        "data": {
            "capacity": 3,
            "service": {"initial": [1], "generator": [[-1e-30]]},
            "patience": {"initial": [1], "generator": [[-0.5]]},
            "modes": [{"robots": 1, "arrivals": [[[-1]], [[1]]]}],
        },
        "cost": {"name": "weighted-sum", "weights": {"sojourn_time": 1, "loss_rate": 1}},
    }
    file = tmp_path / "slow.json"
    file.write_text(json.dumps(data))
    found = simulate(file, (), replications=5)
    assert found.agree
    rare = {name for name, line in lines(found).items() if line.remark == "too rare to compare"}
    assert rare == {"success", "starvation", "response_time", "sojourn_time"}
    assert lines(found)["objective"].remark == "rests on what is too rare to compare"


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_the_unit_of_time_does_not_matter(k5, tmp_path, factor):
    data = json.loads(k5.read_text())
    for law in ("service", "patience"):
        data["data"][law]["scale"] = factor
    for mode in data["data"]["modes"]:
        mode["arrivals"] = [[[rate * factor for rate in row] for row in block] for block in mode["arrivals"]]
    file = tmp_path / "units.json"
    file.write_text(json.dumps(data))
    found, usual = (simulate(path, (-1, 2, 2), replications=5, seed=2) for path in (file, k5))
    assert lines(found)["loss"].estimate.value == pytest.approx(lines(usual)["loss"].estimate.value, rel=1e-9)
    assert lines(found)["response_time"].deviation == pytest.approx(lines(usual)["response_time"].deviation, rel=1e-6)


# -- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def call(capsys):
    def run(*words):
        code = main([str(word) for word in words])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


def test_the_command_prints_a_table_and_a_verdict(call, k5):
    code, out, err = call("simulate", k5, "--at=-1,2,2", "--replications", "5", "--time", "500")
    assert (code, err) == (0, "")
    head, names, *rows, verdict = out.splitlines()
    assert head.startswith("avrachenkov-k5 at [-1, 2, 2]: 5 replications of 500 units of time")
    assert names.split() == ["measure", "exact", "simulated", "+-", "(95", "%)", "z"]
    assert [row.split()[0] for row in rows][-1] == "objective"
    assert len(rows) == 13
    assert verdict.startswith("they agree: the largest of 13 deviations")


def test_the_command_prints_json_alone(call, k5):
    words = ("simulate", k5, "--at=-1,2,2", "--replications", "5", "--time", "500", "--seed", "3", "--json")
    code, out, err = call(*words)
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert (data["problem"], data["decision"], data["seed"]) == ("avrachenkov-k5", [-1, 2, 2], 3)
    assert data["agree"] is True
    assert set(data["measures"]["loss"]) == {"exact", "simulated", "half_width", "z", "remark"}
    again = json.loads(call(*words)[1])
    assert again["measures"] == data["measures"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--at=-1,2,2", "--time", "nan"], "time is a finite number above 0"),
        (["--at=-1,2,2", "--time", "long"], "'long' is not a length of time"),
        (["--at=-1,2,2", "--replications", "1"], "from 2"),
        (["--at=-1,2,2", "--replications", "2.5"], "'2.5' is not a whole number"),
        (["--at=-1,2,2", "--seconds", "0"], "seconds is a finite number above 0"),
        (["--at=2,1,1"], "entries never decrease"),
        (["--at", "x"], "x"),
        ([], "--at"),
    ],
)
def test_a_request_that_is_not_understood_is_answered_in_one_sentence(call, k5, words, told):
    code, out, err = call("simulate", k5, *words)
    assert (code, out) == (2, "")
    assert told in err
    assert len(err.splitlines()) == 1
    assert err.startswith("optmodels: ")


def test_no_two_replications_in_time_is_exit_code_three(call, k5):
    code, out, err = call("simulate", k5, "--at=-1,2,2", "--time", "1e9", "--seconds", "0.3", "--json")
    assert code == 3
    assert "two replications" in err
    data = json.loads(out)
    assert (data["replications"], data["agree"]) == (0, None)
    assert data["measures"]["loss"]["exact"] == pytest.approx(0.173437, abs=1e-6)


def test_ctrl_c_keeps_what_is_finished(k5):
    """The bar on the terminal tells when there is something to keep."""
    words = [sys.executable, "-m", "optmodels", "simulate", k5, "--at=-1,2,2", "--replications", "90000"]
    terminal, theirs = pty.openpty()
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=theirs, text=True)
    os.close(theirs)
    seen = ""
    try:
        while not re.search(r"\d\d+/90000", seen):
            seen += os.read(terminal, 1000).decode("utf-8", "replace")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        with contextlib.suppress(OSError):  # how a terminal says that nobody writes any more
            while more := os.read(terminal, 1000):
                seen += more.decode("utf-8", "replace")
    finally:
        process.kill()
        os.close(terminal)
    assert process.returncode == 0, seen
    assert "they agree" in out
    assert "interrupted; finished replications" in seen


def test_help_imports_nothing_heavy(root):
    code = (
        "import sys\nfrom optmodels.cli import main\ntry:\n    main(['simulate', '--help'])\nexcept SystemExit: pass\n"
        "assert not {'numba', 'scipy', 'numpy'} & set(sys.modules)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, env=dict(os.environ)
    )
    assert answer.returncode == 0, answer.stderr
    assert "--replications" in answer.stdout
