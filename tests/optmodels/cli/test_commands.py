"""The command line: answers to stdout, sentences to stderr, exit codes."""

import doctest
import fcntl
import json
import math
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

import optmodels.cli.arguments
import optmodels.cli.explain
import optmodels.results
from heuristics import Evaluation, refusal
from heuristics.testing import Hopeless, Separable
from optmodels import registry
from optmodels.cli import main
from optmodels.cli.arguments import parse_decision, parse_options, spread
from optmodels.cli.commands import OWN, added
from optmodels.cli.explain import explanation, parameters_of, summary_of
from optmodels.data import shipped_files
from optmodels.errors import RequestError
from optmodels.instance import load
from optmodels.kinds import Kind
from optmodels.solving import fitting


@dataclass(frozen=True)
class Bare(Separable):
    """A kind without a default cost."""

    kind: ClassVar[str] = "bare"
    has_objective: ClassVar[bool] = False

    @classmethod
    def from_data(cls, data, *, name, cost=None, limits=None, folder=None):
        return cls(name=name)

    def evaluate(self, decision: Any) -> Evaluation:
        return Evaluation(math.nan, measures={"ones": float(sum(decision)), "twos": None})


@dataclass(frozen=True)
class Doomed(Hopeless):
    """A kind without a feasible decision."""

    name: str = "doomed"
    kind: ClassVar[str] = "doomed"

    @classmethod
    def from_data(cls, data, *, name, cost=None, limits=None, folder=None):
        return cls(name=name)


@dataclass(frozen=True)
class Broken(Separable):
    """A kind with a defect."""

    kind: ClassVar[str] = "broken"

    @classmethod
    def from_data(cls, data, *, name, cost=None, limits=None, folder=None):
        return cls(name=name)

    def evaluate(self, decision: Any) -> Evaluation:
        raise ZeroDivisionError("division\nby zero")


@pytest.fixture(autouse=True)
def house(monkeypatch):
    """The kinds of this file, no word on the width of a terminal, and the signal handlers given back afterwards."""
    monkeypatch.delenv("COLUMNS", raising=False)
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for kind in (Bare, Doomed, Broken):
        registry.kinds.register(kind.kind, Kind(kind.kind, "Which?", "nobody", kind, {"ones": "how many"}))
    yield
    for kind in (Bare, Doomed, Broken):
        registry.kinds.unregister(kind.kind)
    for number, handler in kept.items():
        signal.signal(number, handler)


@pytest.fixture
def call(capsys):
    """Run a command in this process; exit code, stdout and stderr."""

    def run(*words):
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def small(instances):
    return instances / "placement" / "gautam-2x3.json"


@pytest.fixture
def made(tmp_path):
    """Write an instance of a kind of this file."""

    def write(kind="bare", **changes):
        path = tmp_path / f"{kind}.json"
        path.write_text(json.dumps({"format": 1, "kind": kind, "name": kind, "data": {}} | changes))
        return path

    return write


def command(*words, **options):
    return subprocess.run(
        [sys.executable, "-m", "optmodels", *map(str, words)], capture_output=True, text=True, **options
    )


def is_one_sentence(text):
    return text.startswith("optmodels: ") and text.count("\n") == 1 and text.endswith("\n") and "Traceback" not in text


# -- help -------------------------------------------------------------------------------------------------------------

COMMANDS = (
    "list", "evaluate", "solve", "compare", "bench", "sweep", "pareto", "simulate", "check", "plot", "generate",
    "verify", "schema", "fit", "visits", "demo", "new", "warm-up", "doctor", "merge", "report", "export",
    "tune", "verify-proof", "import",
)  # fmt: skip


def test_without_a_command_the_help_is_printed(call):
    code, out, err = call()
    assert code == 0
    assert err == ""
    assert all(re.search(rf"^  {name} ", out, re.MULTILINE) for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_every_command_teaches_by_an_example(call, name):
    code, out, _ = call(name, "--help")
    assert code == 0
    assert re.search(rf"For example:\n      optmodels {name}", out)
    examples = [line for line in out.splitlines() if line.startswith("      optmodels ")]
    assert all(re.match(rf"      optmodels {name}\b", line) for line in examples)
    assert not any("instances/" in line for line in examples)  # which a wheel does not have


def test_no_command_is_left_out_of_these_tests():
    assert {*OWN, *added()} == set(COMMANDS)


def test_the_version_is_printed(call):
    assert call("--version") == (0, f"optmodels {optmodels.__version__}\n", "")


def test_help_needs_nothing_heavy():
    code = (
        "import sys; sys.argv = ['optmodels', '--help']; from optmodels.cli import main; main(); "
        "print([m for m in ('numpy', 'scipy', 'numba', 'deap', 'pyomo', 'pydantic', 'heuristics') if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines()[-1] in ("[]", "['pydantic']")  # newer versions of typer use pydantic themselves


# -- list -------------------------------------------------------------------------------------------------------------


def test_list_tells_kinds_strategies_and_costs_and_where_each_comes_from(call):
    code, out, err = call("list")
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    for words in (["strategy", "genetic", "built", "in"], ["cost", "weighted-sum", "built", "in"]):
        assert words in lines
    assert ["problem", "kind", "placement", "built", "in"] in lines
    assert ["problem", "kind", "bare", "this", "process"] in lines


def test_list_as_json(call):
    code, out, _ = call("list", "--json")
    assert code == 0
    assert {"what": "strategy", "name": "highs", "origin": "built in"} in json.loads(out)


def test_list_tells_more_about_one_name(call):
    code, out, _ = call("list", "genetic")
    assert code == 0
    assert "strategy genetic (built in)" in out
    assert "population=" in out
    code, out, _ = call("list", "placement", "--json")
    assert {entry["what"] for entry in json.loads(out)} == {"problem kind", "generator"}


def test_list_tells_what_a_kind_asks_and_who_answers(call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = call("list", "freshness")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "problem kind freshness (built in): How often is each page visited, and in which order?"
    assert lines[1].startswith("  paper: E. G. Coffman Jr., Z. Liu, R. R. Weber, ")
    assert "    pages_never_visited: number of pages that are never visited" in lines
    assert "  recommended: lagrangian (proves its answers), greedy, whittle" in lines
    assert "  commands: fit, visits" in lines
    assert re.search(r"^  example: optmodels solve coffman-4 --strategy lagrangian$", out, re.MULTILINE)
    assert max(len(line) for line in lines if line.startswith("  ") and "coffman-4" not in line) <= 80
    kind = json.loads(call("list", "freshness", "--json")[1])[0]
    assert {"lagrangian", "greedy", "randomized"} <= set(kind["strategies"])
    assert not {"dejavu", "two-server"} & set(kind["strategies"])
    assert list(kind["meanings"]) == kind["measures"] == ["obsolescence", "pages_never_visited", "largest_gap"]
    assert (kind["example"], kind["simulated"]) == ("freshness/coffman-4.json", True)


def test_without_the_example_strategies_are_listed_by_what_they_need(call, monkeypatch):
    monkeypatch.setattr(Kind, "example_file", lambda kind: None)
    strategies = json.loads(call("list", "placement", "--json")[1])[0]["strategies"]
    assert {"highs", "dejavu", "exhaustive"} <= set(strategies)
    assert not {"lagrangian", "policy-iteration", "two-server"} & set(strategies)
    code, out, _ = call("list", "bare")
    assert code == 0 and "problem kind bare (this process): Which?" in out


def test_a_cluster_is_refused_where_the_kind_has_no_use_for_it(call, small):
    code, out, err = call("solve", small, "--strategy", "exhaustive", "--cluster", "local")
    assert (code, out) == (2, "")
    assert "a cluster works on problems of kind freshness, and this one is of kind 'placement'; leave --cluster" in err


def test_list_explains_what_each_parameter_does(call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = call("list", "genetic")
    lines = [line.strip() for line in out.splitlines()]
    assert code == 0
    assert lines[lines.index("population=50") + 1] == "Number of individuals."
    assert "`" not in out
    assert max(map(len, out.splitlines()[1:])) <= 80


def test_list_tells_the_values_a_generator_takes(call):
    out = call("list", "placement")[1]
    assert "    network=none, nodes=50\n" in out
    assert "allowed for network: gabriel, geometric, waxman, none\n" in out
    assert "allowed for demand_law: uniform, cluster, sparse, published\n" in out
    kind, generator = json.loads(call("list", "placement", "--json")[1])
    assert "opening" in kind["measures"]
    (law,) = [one for one in generator["explained"] if one["name"] == "cost_law"]
    assert law["choices"] == ["integers", "continuous", "lognormal"]
    assert (law["default"], law["required"]) == ("integers", False)
    assert law["text"].startswith('"integers": 1, 2 or 3;')
    assert "seed" in generator["parameters"]


def test_every_parameter_of_what_is_built_in_is_explained():
    named = [
        (entry.name, group[entry.name])
        for group in (registry.strategies, registry.costs)
        for entry in group.entries()
        if entry.origin == registry.BUILT_IN
    ]
    named += [
        (f"generator {name}", registry.kinds.part(name, "generator")) for name in registry.kinds.having("generator")
    ]
    for name, target in named:
        lacking = [one.name for one in parameters_of(target) if not one.text]
        assert not lacking, f"{name}: {lacking}"


@dataclass(frozen=True)
class Terse:
    size: int
    shade: str = ""


class Shapeless:
    """Has no parameters
    at all.

    Notes
    -----
    None.
    """


def test_a_class_that_says_little_is_listed_all_the_same():
    assert summary_of(Terse) == ""
    assert explanation(parameters_of(Terse), None) == "    size (required)\n    shade="
    assert summary_of(Shapeless) == "Has no parameters at all."
    assert parameters_of(Shapeless) == []


# -- evaluate ---------------------------------------------------------------------------------------------------------


def test_evaluate_prints_objective_verdict_and_measures(call, small):
    code, out, err = call("evaluate", small, "--at", "0,0,1,1,1,0")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "objective 8, feasible"
    assert ["open_sites", "3"] in [line.split() for line in out.splitlines()]


def test_violations_are_told_and_the_exit_code_is_zero(call, small):
    code, out, _ = call("evaluate", small, "--at", "1,0,0,0,0,0")
    assert code == 0
    assert "not feasible" in out
    assert "broken: overload, by" in out


def test_evaluate_as_json_has_the_shape_of_a_result(call, small):
    code, out, _ = call("evaluate", small, "--at=1,0,0,0,0,0", "--json")
    data = json.loads(out)
    assert code == 0
    assert (data["strategy"], data["status"], data["decision"]) == (None, "unknown", [1, 0, 0, 0, 0, 0])
    assert data["violations"]
    assert len(data["extra"]["load"]) == 6


def test_a_problem_without_a_cost_has_measures_and_a_null_objective(call, made):
    code, out, _ = call("evaluate", made(), "--at", "1,0,0,0,0,0,1")
    assert code == 0
    assert out.startswith("no objective (the problem has no cost), feasible\n")
    code, out, _ = call("evaluate", made(), "--at", "1,0,0,0,0,0,1", "--json")
    assert (json.loads(out)["objective"], json.loads(out)["measures"]) == (None, {"ones": 2.0, "twos": None})
    code, out, err = call("solve", made(), "--strategy", "exhaustive")
    assert (code, out) == (2, "")
    assert "has no cost to minimise" in err


@pytest.mark.parametrize(
    "content",
    [
        "[0, 0, 1, 1, 1, 0]",
        '{"format": 1, "problem": "gautam-2x3", "status": "feasible", "decision": [0, 0, 1, 1, 1, 0]}',
    ],
)
def test_a_decision_can_come_from_a_file(call, small, tmp_path, content):
    (tmp_path / "d.json").write_text(content)
    code, out, _ = call("evaluate", small, "--at", f"@{tmp_path / 'd.json'}")
    assert code == 0
    assert out.startswith("objective 8, feasible")


def test_decisions_are_numbers_files_or_json(tmp_path):
    assert parse_decision("-1,2,2") == (-1, 2, 2)
    assert parse_decision("0 1, 2.5") == (0, 1, 2.5)
    assert parse_decision("") == ()
    assert parse_decision('{"schedule": [0, 1]}') == {"schedule": [0, 1]}
    (tmp_path / "o.json").write_text('{"randomized": [0.5, 0.5]}')
    assert parse_decision(f"@{tmp_path / 'o.json'}") == {"randomized": [0.5, 0.5]}


@pytest.mark.parametrize("text", ["a,b", "1,nan", "1,inf", "1;2", "[1, NaN]", "[1", "@", "@none.json"])
def test_what_is_no_decision_is_refused_in_one_sentence(call, small, text):
    code, out, err = call("evaluate", small, f"--at={text}")
    assert (code, out) == (2, "")
    assert is_one_sentence(err)


def test_a_result_stands_for_its_decision_where_it_is_an_answer_to_this_instance(call, small, tmp_path):
    path = tmp_path / "r.json"
    assert call("solve", small, "--out", path)[0] == 0
    for at in (f"@{path}", path):  # the mark of a file may be left out
        assert call("evaluate", small, "--at", at)[1].startswith("objective 8, feasible")
    other = tmp_path / "other.json"
    other.write_text(json.dumps(json.loads(small.read_text()) | {"name": "other"}))
    for words in (["evaluate"], ["simulate", "--replications", "2"]):
        code, out, err = call(*words, other, "--at", f"@{path}")
        assert (code, out) == (2, "")
        assert err.startswith(f"optmodels: {path}: this is an answer to 'gautam-2x3', not to 'other'; ")
    path.write_text(json.dumps(json.loads(path.read_text())["decision"]))
    assert call("evaluate", other, "--at", f"@{path}")[0] == 0


def test_plot_draws_a_decision_as_it_draws_a_result(call, small, tmp_path):
    path = tmp_path / "d.json"
    path.write_text("[0, 0, 1, 1, 1, 0]")
    code, _, err = call("plot", small, "--result", path, "--out", tmp_path / "d.svg")
    assert (code, err) == (0, f"optmodels: wrote {tmp_path / 'd.svg'}\n")
    assert "objective 8" in (tmp_path / "d.svg").read_text()
    path.write_text("[0, 1]")
    code, _, err = call("plot", small, "--result", path, "--out", tmp_path / "e.svg")
    assert (code, "[0, 1] is not a valid decision for 'gautam-2x3'" in err) == (2, True)


def test_a_long_decision_in_a_file_of_its_own_is_told(call, small, tmp_path, monkeypatch):
    monkeypatch.setattr(optmodels.results, "LONGEST_DECISION", 3)
    monkeypatch.chdir(tmp_path)
    words = ["solve", small, "--strategy", "exhaustive"]
    assert call(*words, "--out", "a/r.json")[0] == 2
    (tmp_path / "a").mkdir()
    code, _, err = call(*words, "--out", "a/r.json")
    assert (code, err) == (0, "optmodels: wrote a/r.decision.npy\n")
    code, out, err = call(*words, "--json")
    name = json.loads(out)["decision"]["file"]
    assert (code, err, (tmp_path / name).is_file()) == (0, f"optmodels: wrote {name}\n", True)
    assert call(*words, "-q")[2] == ""
    assert "wrote gautam-2x3_decision_0.decision.npy" in call("evaluate", small, "--at", "a/r.json")[2]


def test_negative_numbers_may_follow_the_flag(call, small):
    for words in (("--at=-1,2,2",), ("--at", "-1,2,2")):
        code, _, err = call("evaluate", small, *words)
        assert code == 2
        assert "[-1, 2, 2] is not a valid decision for 'gautam-2x3'" in err


# -- solve ------------------------------------------------------------------------------------------------------------


def test_solve_prints_the_answer(call, small):
    code, out, err = call("solve", small, "--strategy", "exhaustive")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("gautam-2x3: optimal, objective 8, bound 8 (exhaustive, 64 evaluations")
    assert lines[1] == "decision 0,0,1,1,1,0"


def test_solve_as_json_prints_json_alone(call, small):
    code, out, err = call(
        "solve", small, "--strategy", "annealing:steps=40", "--seed", "5", "--evaluations", "45", "--json"
    )
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert (data["strategy"], data["seed"], data["parameters"]["steps"]) == ("annealing", 5, 40)
    assert data["checked"] is True
    assert data["evaluations"] <= 45
    assert out.count("\n") == 1


def test_solve_writes_the_result_to_a_file(call, small, tmp_path):
    code, _, _ = call("solve", small, "--strategy", "exhaustive", "--out", tmp_path / "r.json")
    assert code == 0
    assert optmodels.results.read_result(tmp_path / "r.json").objective == 8.0
    code, out, _ = call("verify", tmp_path / "r.json", small)
    assert (code, out.startswith("gautam-2x3: verified: every claim is confirmed\n  objective ")) == (0, True)


@pytest.mark.parametrize("strategy", ["exhaustive", "annealing"])
def test_nothing_feasible_is_exit_code_three_and_a_result(call, made, strategy):
    status = "infeasible" if strategy == "exhaustive" else "unknown"
    code, out, _ = call("solve", made("doomed"), "--strategy", strategy, "--evaluations", "200", "--json")
    assert code == 3
    assert (json.loads(out)["status"], json.loads(out)["decision"]) == (status, None)
    code, out, _ = call("solve", made("doomed"), "--strategy", strategy, "--evaluations", "200")
    assert code == 3
    assert out.startswith(f"doomed: {status} ")


def test_the_reason_for_infeasibility_is_printed(capsys):
    from optmodels.cli.output import print_reason

    print_reason({"reason": "cell 3 is too large.", "infeasible_subset": [f"row[{i}]" for i in range(25)]})
    out = capsys.readouterr().out
    assert "reason: cell 3 is too large." in out
    assert "row[0], row[1]" in out
    assert "row[20]" not in out
    print_reason({})
    assert capsys.readouterr().out == ""


def test_long_decisions_are_cut_for_people():
    from optmodels.cli.output import shown_decision

    assert shown_decision([0, 1]) == "0,1"
    assert shown_decision([1] * 1000).endswith(",... (1000 entries)")
    assert shown_decision({"schedule": [1, 2]}) == '{"schedule": [1, 2]}'


# -- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["slove"], "No such command 'slove'. Did you mean 'solve'?"),
        (["solve"], "Missing argument 'FILE'"),
        (["solve", "FILE", "--strategy"], "--strategy"),
        (["solve", "FILE", "--strategie", "x"], "No such option: --strategie"),
        (["solve", "FILE", "more", "--strategy", "x"], "unexpected extra argument"),
        (["solve", "FILE", "--strategy", "genetik"], "no strategy is called 'genetik'. Did you mean 'genetic'?"),
        (["solve", "FILE", "--strategy", ""], "a strategy is written"),
        (
            ["solve", "FILE", "--strategy", "genetic:populatoin=3"],
            "has no parameter 'populatoin' (did you mean 'population'?); it takes population=",
        ),
        (
            ["solve", "FILE", "--strategy", "genetic:population=few"],
            "parameter 'population' is a whole number, got 'few'",
        ),
        (["solve", "FILE", "--strategy", "genetic:population=-3"], "strategy 'genetic': "),
        (["solve", "FILE", "--strategy", "exhaustive", "--seconds", "soon"], "'soon' is not a number of seconds"),
        (["solve", "FILE", "--strategy", "exhaustive", "--seed", "1.5"], "'1.5' is not a whole number such as 10"),
        (["compare", "FILE", "--strategies", "exhaustive", "--seeds", "few"], "'few' is not a whole number such as 10"),
        (["evaluate", "FILE", "--at", "@FILE"], "this is an instance, not a decision or a result."),
        (["solve", "FILE", "--strategy", "exhaustive", "--seconds", "-1"], "seconds must be a positive number, got -1"),
        (
            ["solve", "FILE", "--strategy", "exhaustive", "--seconds", "nan"],
            "seconds must be a positive number, got nan",
        ),
        (
            ["solve", "FILE", "--strategy", "exhaustive", "--evaluations", "0"],
            "evaluations must be a positive number, got 0",
        ),
        (
            ["solve", "FILE", "--strategy", "exhaustive", "--seed", "-1"],
            "a seed is a whole number, zero or more, got -1",
        ),
        (["solve", "none.json", "--strategy", "exhaustive"], "none.json: there is no such file."),
        (["solve", "FOLDER", "--strategy", "exhaustive"], "this is a directory"),
        (["solve", "FILE", "--strategy", "exhaustive", "--out", "none/r.json"], "none/r.json: cannot be written"),
        (["evaluate", "FILE"], "Missing option '--at'"),
        (["compare", "FILE"], "a comparison needs at least one strategy: name some (--strategies A B), or give a"),
        (["compare", "--strategies", "exhaustive"], "Missing argument 'FILE...'"),
        (["compare", "FILE", "--strategies", "exhaustive", "--seeds", "0"], "the number of seeds is 1 or more, got 0"),
        (["compare", "FILE", "--strategies", "exhaustive", "--workers", "0"], "workers must be 1 or more, got 0"),
        (["compare", "FILE", "--strategies", "exhaustive", "--resume"], "resuming needs the folder"),
        (["compare", "FILE", "none.json", "--strategies", "exhaustive"], "none.json: there is no such file."),
        (["sweep", "FILE", "--strategy", "exhaustive"], "Missing option '--vary'"),
        (["sweep", "FILE", "--strategy", "exhaustive", "--vary", "data.x"], "what to vary is written"),
        (["sweep", "FILE", "--strategy", "exhaustive", "--vary", "data.x=1"], "data.x is 1; "),
        (["sweep", "FILE", "--strategy", "exhaustive", "--vary", "data.service_rate=20", "--plot", "a.doc"], "a.doc"),
        (["plot", "FILE"], "Missing option '--out'"),
        (["plot", "FILE", "--out", "a.doc"], "a.doc"),
        (["plot", "FILE", "--out", "none/a.svg"], "none/a.svg: cannot be written"),
        (["plot", "FILE", "--out", "a.svg", "--result", "none.json"], "none.json: there is no such file."),
        (["verify", "FILE", "FILE"], "this is not a result"),
        (["verify", "none.json", "FILE"], "none.json: there is no such file."),
        (["check"], "Missing argument 'FILE...'"),
        (["check", "EMPTY"], "there is no .json file in this folder"),
        (["generate"], "Missing argument 'KIND'"),
        (["generate", "placment"], "Did you mean 'placement'?"),
        (["generate", "placement", "--row", "3"], "has no parameter 'row' (did you mean 'rows'?); it takes rows=8"),
        (["generate", "placement", "--rows"], "option --rows needs a value"),
        (["generate", "placement", "--rows", "0"], "rows must be 1 or more, got 0"),
        (["generate", "placement", "--service-rate", "-1", "--out", "g.json"], "data.service_rate is -1"),
        (["generate", "placement", "--network", "gabriel", "--rows", "8"], "rows is the size of a grid"),
        (["generate", "placement", "8"], "options are written --name value, got '8'"),
        (["generate", "placement", "--out", "FOLDER"], "this is a directory"),
        (["generate", "placement", "--out", ""], "the file to write to has no name"),
        (["generate", "placement", "--out", "nowhere/g.json"], "there is no folder 'nowhere'"),
        (["solve", "FILE", "--out", ""], "the file to write to has no name"),
        (["plot", "FILE", "--out", "nowhere/a.svg"], "there is no folder 'nowhere'"),
        (["plot", "FILE", "--out", "a.svg", "--result", "FOLDER"], "this is a directory; name a file with a result"),
        (["evaluate", "FILE", "--at", "@empty"], "this is a directory; name a file with a result or a decision."),
        (["sweep", "FILE", "--vary", "data.service_rate=20", "--out", "FOLDER"], "this is a directory"),
        (["sweep", "FILE", "--vary", "data.service_rate=20", "--plot", "nowhere/a.svg"], "there is no folder"),
        (["pareto", "FILE", "--measures", "opening", "mean_delay", "--out", "FOLDER"], "this is a directory"),
        (["compare", "FILE", "--strategies", "exhaustive", "--out", "FILE"], "this is a file; name a folder."),
        (["demo", "--out", "FILE"], "this is a file; name a folder."),
        (["list", "genetik"], "nothing is called 'genetik'. Did you mean 'genetic'?"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_request_not_understood_is_exit_code_two_and_one_sentence(call, small, tmp_path, monkeypatch, words, said):
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    places = {"FILE": small, "FOLDER": tmp_path, "EMPTY": tmp_path / "empty"}
    places["@FILE"] = f"@{small}"
    code, out, err = call(*(places.get(word, word) for word in words))
    assert (code, out) == (2, "")
    assert is_one_sentence(err)
    assert said in err


def test_large_numbers_may_be_written_short(call, small):
    code, out, _ = call("solve", small, "--strategy", "annealing:steps=9", "--evaluations", "1e1", "--json")
    assert code == 0
    assert json.loads(out)["evaluations"] <= 10


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is empty"),
        ("{}", "format is missing"),
        (
            '{"format": 1, "kind": "placement", "name": "x", "data": {"demand": [NaN]}}',
            "data.demand[0] is NaN; numbers are finite.",
        ),
        ('{"format": 1, "kind": "plcement", "name": "x", "data": {}}', "Did you mean 'placement'?"),
        ('{"format": 1, "kind": "placement", "name": "x", "data": {}}', "data."),
        ("\x00\x01", "this is not JSON"),
    ],
)
@pytest.mark.parametrize("name", ["solve", "evaluate", "compare", "sweep", "check", "plot", "verify"])
def test_a_file_not_understood_is_exit_code_two_and_names_the_file(call, small, tmp_path, name, text, said):
    path = tmp_path / "bad.json"
    path.write_text(text)
    rest = {
        "solve": ["--strategy", "exhaustive"],
        "evaluate": ["--at", "1"],
        "compare": ["--strategies", "exhaustive"],
        "sweep": ["--vary", "data.x=1", "--strategy", "exhaustive"],
        "plot": ["--out", tmp_path / "a.svg"],
    }
    words = [name, small, path] if name == "verify" else [name, path, *rest.get(name, [])]
    code, out, err = call(*words)
    assert (code, out) == (2, "")
    assert is_one_sentence(err)
    assert str(path) in err
    assert said in err


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"cost": {"name": "wieghted-sum"}},
            "cost.name is \"wieghted-sum\"; no cost is called 'wieghted-sum'. Did you mean",
        ),
        (
            {"cost": {"name": "weighted-sum", "weights": {"openning": 1}}},
            "cost.weights.openning is 1; kind 'placement' has no",
        ),
        ({"limits": {"delay": 1}}, "limits.delay is 1; kind 'placement' has no such measure."),
        ({"limits": {"open_sites": "few"}}, 'limits.open_sites.max is "few"; limits are finite numbers.'),
    ],
)
def test_an_unknown_cost_or_measure_is_refused(call, small, tmp_path, changes, said):
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(json.loads(small.read_text()) | changes))
    code, out, err = call("solve", path, "--strategy", "exhaustive")
    assert (code, out) == (2, "")
    assert is_one_sentence(err)
    assert said in err


def test_a_strategy_that_cannot_take_the_problem_says_so(call, made):
    code, out, err = call("solve", made("doomed"), "--strategy", "highs")
    assert (code, out) == (2, "")
    kinds, _, rest = err.partition(", and 'doomed' is of kind doomed: ")
    assert kinds.startswith("optmodels: strategy 'highs' is for problems of kind ")
    assert {"threshold", "robots", "freshness", "routing", "placement"} <= set(kinds.replace(",", "").split())
    assert rest == (
        "it needs a problem that can be written as a linear Pyomo model, and this one has no from_pyomo, to_pyomo "
        "(see optmodels.protocols.AlgebraicProblem). "
        "Strategies that apply: annealing, exhaustive, genetic, local-search.\n"
    )


def test_a_space_too_large_to_enumerate_is_refused_with_its_size(call, instances):
    code, out, err = call("solve", instances / "placement" / "gautam-11x22.json", "--strategy", "exhaustive")
    assert (code, out) == (2, "")
    assert is_one_sentence(err)
    assert "2^242" in err


# -- defects ----------------------------------------------------------------------------------------------------------


def test_a_defect_is_exit_code_one_and_a_traceback_only_on_demand(call, made, monkeypatch):
    words = ("evaluate", made("broken"), "--at", "1,0,0,0,0,0,1")
    code, out, err = call(*words)
    assert (code, out) == (1, "")
    assert is_one_sentence(err)
    assert "ZeroDivisionError: division by zero; --debug shows where" in err
    code, _, err = call(*words, "--debug")
    assert code == 1
    assert "Traceback" in err
    monkeypatch.setenv("OPTMODELS_DEBUG", "1")
    assert "Traceback" in call(*words)[2]


def test_a_reader_that_has_seen_enough_is_no_defect(small):
    answer = subprocess.run(
        f'"{sys.executable}" -m optmodels list | head -1',
        shell=True,
        capture_output=True,
        text=True,
        executable="/bin/bash",
    )
    assert answer.stderr == ""
    assert len(answer.stdout.splitlines()) == 1


# -- compare, sweep ---------------------------------------------------------------------------------------------------


def test_the_examples_in_the_documentation_hold():
    assert doctest.testmod(optmodels.cli.arguments).failed == 0
    assert doctest.testmod(optmodels.cli.explain).failed == 0


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("compare a.json --strategies x y --seeds 3", "compare a.json --strategies x --strategies y --seeds 3"),
        ("compare a.json --strategies x --strategies y", "compare a.json --strategies x --strategies y"),
        ("compare --strategies x y a.json b.json", "compare --strategies x --strategies y a.json b.json"),
        ("compare a.json --strategies=x y", "compare a.json --strategies=x --strategies y"),
        ("compare a.json --json --strategies x y -- z", "compare a.json --json --strategies x --strategies y -- z"),
        ("sweep a.json --vary p=1 q=2 --strategy s", "sweep a.json --vary p=1 --vary q=2 --strategy s"),
        ("solve a.json --strategies x y", "solve a.json --strategies x y"),
        ("--strategies x y", "--strategies x y"),
    ],
)
def test_several_values_may_follow_one_flag(words, wanted):
    assert spread(words.split()) == wanted.split()


def test_compare_prints_the_table_and_writes_the_folder(call, small, tmp_path):
    out_folder = tmp_path / "out"
    words = ("compare", small, "--strategies", "exhaustive", "highs:gapp=1", "annealing", "--evaluations", "64")
    code, out, err = call(*words)
    assert code == 2  # a parameter nobody knows is a request not understood, not a failed cell
    words = ("compare", small, "--strategies", "exhaustive", "annealing", "--evaluations", "70", "--out", out_folder)
    code, out, err = call(*words, "--seeds", "2")
    assert (code, err) == (0, "")
    assert "gap to best known" in out
    assert (out_folder / "table.txt").read_text() == out
    assert (out_folder / "best" / "gautam-2x3.json").is_file()
    code, out, _ = call(*words, "--resume", "--json", "--seeds", "2")
    assert code == 0
    assert len(json.loads(out)["runs"]) == 3


def test_compare_without_resume_leaves_a_finished_comparison_alone(call, small, tmp_path):
    words = ("compare", small, "--strategies", "exhaustive", "--out", tmp_path / "out")
    assert call(*words)[0] == 0
    lines = (tmp_path / "out" / "runs.jsonl").read_text()
    said = "already holds 1 run; add --resume to go on with it, --append to add others, or choose another folder."
    assert call(*words) == (2, "", f"optmodels: {tmp_path / 'out'} {said}\n")
    assert (tmp_path / "out" / "runs.jsonl").read_text() == lines
    assert call(*words, "--resume")[0] == 0


def test_compare_takes_a_study_and_merge_puts_folders_together(call, tmp_path):
    text = 'instances = ["gautam-2x3"]\nstrategies = ["exhaustive", "annealing"]\nout = "a"\nbudget.evaluations = 64\n'
    (tmp_path / "study.toml").write_text(text)
    code, out, err = call("compare", tmp_path / "study.toml", "--ioh", tmp_path / "ioh")
    assert (code, err) == (0, "")
    assert (tmp_path / "a" / "table.txt").read_text() == out
    assert list((tmp_path / "ioh").glob("*/*.json"))
    words = ("compare", tmp_path / "study.toml", "--strategies", "local-search", "--out", tmp_path / "b", "--memory")
    code, out, err = call(*words)
    assert code == 0
    assert "study.toml: strategies is overridden: ['local-search'] in place of ['exhaustive', 'annealing']." in err
    assert "study.toml: out is overridden" in err
    code, out, err = call("merge", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "c", "--json")
    assert (code, err) == (0, "")
    runs = json.loads(out)["runs"]
    assert [run["label"]["strategy"] for run in runs] == ["exhaustive", "annealing", "local-search"]
    assert [run["megabytes"] is None for run in runs] == [True, True, False]
    code, out, err = call("merge", tmp_path / "a", "--out", tmp_path / "c")
    assert (code, err) == (2, f"optmodels: {tmp_path / 'c'} already holds 3 runs; choose another folder.\n")
    code, out, err = call(
        "compare",
        "gautam-2x3",
        "--strategies",
        "dejavu",
        "--append",
        "--threads",
        "1",
        "--out",
        tmp_path / "c",
        "--json",
    )
    assert (code, err) == (0, "")
    assert len(json.loads(out)["runs"]) == 4


def test_compare_warns_of_a_wrong_best_known(call, small, tmp_path):
    content = json.loads(small.read_text())
    content["best_known"]["objective"] = 7.0
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps(content))
    code, out, err = call("compare", wrong, "--strategies", "annealing:steps=50")
    assert code == 0
    assert "best seen: " in out
    assert is_one_sentence(err)
    assert f"{wrong}: best_known.objective is 7.0; the evaluator finds 8.0 for this decision; it is not used." in err


def test_the_table_is_as_wide_as_the_terminal_is(small, monkeypatch):
    """By the environment, or by the terminal that stdout is; a file or a pipe gets all of it."""
    words = ("compare", small, "--strategies", "annealing:steps=50", "--evaluations", "99")
    assert max(map(len, command(*words).stdout.splitlines())) > 80
    monkeypatch.setenv("COLUMNS", "80")
    assert 60 < max(map(len, command(*words).stdout.splitlines())) <= 80
    monkeypatch.delenv("COLUMNS")
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen([sys.executable, "-m", "optmodels", *map(str, words)], stdout=theirs)
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert process.wait() == 0
    assert 60 < max(map(len, shown.decode().splitlines())) <= 80


def test_failed_cells_leave_the_exit_code_zero(call, small, made):
    code, out, err = call("compare", made("broken"), made("doomed"), "--strategies", "exhaustive", "highs")
    assert (code, err) == (0, "")
    assert "broken by exhaustive: ZeroDivisionError: division by zero" in out
    assert "doomed by highs: strategy 'highs' does not apply to 'doomed': it needs a problem" in out
    assert "infeasible" in out


def test_sweep_prints_a_line_per_point_and_writes_table_and_picture(call, small, tmp_path):
    words = (
        "sweep",
        small,
        "--vary",
        "data.service_rate=18,20",
        "--strategy",
        "exhaustive",
        "--out",
        tmp_path / "s.csv",
    )
    code, out, err = call(*words, "--plot", tmp_path / "s.svg")
    assert (code, err) == (0, "")
    assert out.splitlines()[0].split()[:3] == ["data.service_rate", "status", "objective"]
    assert len(out.splitlines()) == 3
    assert (tmp_path / "s.svg").stat().st_size > 1000
    assert len((tmp_path / "s.csv").read_text().splitlines()) == 3
    code, out, _ = call(*words, "--json")
    assert [point["objective"] for point in json.loads(out)["points"]][1] == 8.0


def test_a_sweep_without_an_answer_is_exit_code_three(call, made):
    assert call("sweep", made("doomed"), "--vary", "data.x=1,2", "--strategy", "exhaustive")[0] == 3


# -- check, verify, plot, generate, schema ----------------------------------------------------------------------------


@pytest.mark.slow  # tests/conformance/test_problems evaluates every best known decision, too
def test_check_confirms_the_shipped_instances(call, instances):
    code, out, err = call("check", instances)
    assert code == 0
    skipped = err.removeprefix("optmodels: skipped, as no instances: ").split(" (neither kind nor data)")[:-1]
    assert [Path(file.strip(", ")).parent.name for file in skipped] == ["papers"] * 5  # what the papers print
    assert "best known 8 confirmed" in out


def test_check_finds_a_wrong_best_known_and_goes_on(call, small, tmp_path):
    wrong = tmp_path / "wrong.json"
    content = json.loads(small.read_text())
    content["best_known"]["objective"] = 7.0
    wrong.write_text(json.dumps(content))
    code, out, err = call("check", wrong, small)
    assert code == 2
    assert err == f"optmodels: {wrong}: best_known.objective is 7.0; the evaluator finds 8.0 for this decision.\n"
    assert "best known 8 confirmed" in out
    code, out, _ = call("check", wrong, small, "--json")
    assert code == 2
    assert [verdict["ok"] for verdict in json.loads(out)] == [False, True]


def test_verify_finds_a_false_claim(call, small, tmp_path):
    _, out, _ = call("solve", small, "--strategy", "exhaustive", "--json")
    data = json.loads(out)
    (tmp_path / "r.json").write_text(json.dumps(data | {"objective": 7.0}))
    code, out, err = call("verify", tmp_path / "r.json", small)
    assert (code, out) == (2, "")
    assert is_one_sentence(err)
    assert "objective is 7.0; the evaluator finds 8.0" in err
    code, out, _ = call("verify", tmp_path / "r.json", small, "--json")
    assert code == 2
    assert json.loads(out)["verified"] is False
    (tmp_path / "r.json").write_text(json.dumps(data))
    code, out, _ = call("verify", tmp_path / "r.json", small, "--json")
    assert (code, json.loads(out)["verified"]) == (0, True)


def test_verify_refutes_a_bound_that_was_typed_in(call, small, tmp_path):
    """Without a best known in the file, too: what is cheap is proved again."""
    content = {key: value for key, value in json.loads(small.read_text()).items() if key != "best_known"}
    (tmp_path / "i.json").write_text(json.dumps(content))
    _, out, _ = call("evaluate", tmp_path / "i.json", "--at", "1,1,1,1,1,1", "--json")
    answer = json.loads(out) | {"status": "optimal", "bound": 23.0, "gap": 0.0, "strategy": "highs"}
    (tmp_path / "r.json").write_text(json.dumps(answer))
    code, out, err = call("verify", tmp_path / "r.json", tmp_path / "i.json")
    assert (code, out) == (2, "")
    assert err == (
        f"optmodels: {tmp_path / 'r.json'}: bound is 23.0; a feasible decision found here (enumeration) has the "
        "objective 8.0, below this bound.\n"
    )
    code, out, again = call("verify", tmp_path / "r.json", tmp_path / "i.json", "--json")
    told = json.loads(out)
    assert (code, again) == (2, err)
    names = ("objective", "feasibility", "bound", "status", "gap")
    assert [told[name] for name in names] == ["confirmed", "confirmed", "refuted", "refuted", "confirmed"]
    assert told["verified"] is False
    assert f"optmodels: {told['error']}\n" == err
    assert (told["bound_proved_here"], told["best_met_here"]) == (8.0, 8.0)


def test_verify_says_what_it_takes_on_trust_and_what_prove_would_do(call, instances, tmp_path):
    file = instances / "placement" / "gautam-6x6.json"
    best = json.loads(file.read_text())["best_known"]
    at = ",".join(map(str, best["decision"]))
    _, out, _ = call("evaluate", file, "--at", at, "--json")
    claims = {"status": "optimal", "bound": best["objective"], "gap": 0.0, "strategy": "highs"}
    (tmp_path / "r.json").write_text(json.dumps(json.loads(out) | claims))
    code, out, err = call("verify", tmp_path / "r.json", file, "--seconds", "0")
    assert (code, err) == (0, "")
    assert out.startswith("gautam-6x6: nothing refuted, but bound and status taken on trust; ")
    assert "verified" not in out
    code, out, _ = call("verify", tmp_path / "r.json", file, "--seconds", "0", "--json")
    told = json.loads(out)
    assert [told[n] for n in ("objective", "bound", "status")] == ["confirmed", "taken on trust", "taken on trust"]
    assert (code, told["verified"]) == (0, False)
    assert told["findings"] and told["file"] == str(tmp_path / "r.json")


def test_verify_of_what_is_no_answer_is_one_sentence(call, small, tmp_path):
    _, out, _ = call("solve", small, "--strategy", "exhaustive", "--json")
    (tmp_path / "r.json").write_text(json.dumps(json.loads(out) | {"trace": 5}))
    code, out, err = call("verify", tmp_path / "r.json", small, "--json")
    told = json.loads(out)
    assert (code, told["objective"], told["verified"]) == (2, None, False)
    assert err == f"optmodels: {tmp_path / 'r.json'}: trace is 5; this is a list.\n"
    assert call("verify", tmp_path / "r.json", small, "--seconds", "-1")[0] == 2
    wrong = json.loads(small.read_text())
    wrong["best_known"]["objective"] = 7.0
    (tmp_path / "w.json").write_text(json.dumps(wrong))
    (tmp_path / "r.json").write_text(call("solve", small, "--strategy", "exhaustive", "--json")[1])
    code, _, err = call("verify", tmp_path / "r.json", tmp_path / "w.json")
    assert (code, err.startswith(f"optmodels: {tmp_path / 'w.json'}: best_known.objective is 7.0; ")) == (2, True)


def test_a_typed_in_objective_is_not_the_best_of_a_resumed_comparison(call, small, tmp_path):
    words = ("compare", small, "--strategies", "exhaustive", "--out", tmp_path / "c")
    assert call(*words)[0] == 0
    lines = tmp_path / "c" / "runs.jsonl"
    lines.write_text(json.dumps(json.loads(lines.read_text()) | {"objective": -1e9, "bound": -1e9}) + "\n")
    code, out, err = call(*words, "--resume")
    assert (code, "-1e+09" in out) == (0, False)
    assert "line 1 is not used: objective is -1000000000.0; the evaluator finds 8.0." in err
    lines.write_text("[" * 100_000 + "\n")
    code, _, err = call(*words, "--resume")
    assert (code, "nested deeper" in err) == (0, True)


def test_plot_draws_an_instance_with_and_without_an_answer(call, small, tmp_path):
    call("solve", small, "--strategy", "exhaustive", "--out", tmp_path / "r.json")
    assert call("plot", small, "--out", tmp_path / "a.svg")[0] == 0
    code, out, err = call("plot", small, "--result", tmp_path / "r.json", "--out", tmp_path / "b.png")
    assert (code, out, err) == (0, "", f"optmodels: wrote {tmp_path / 'b.png'}\n")
    assert (tmp_path / "b.png").read_bytes().startswith(b"\x89PNG")


def test_plot_refuses_an_answer_to_another_problem(call, small, instances, tmp_path):
    call("solve", small, "--strategy", "exhaustive", "--out", tmp_path / "r.json")
    other = instances / "placement" / "gautam-4x4.json"
    code, _, err = call("plot", other, "--result", tmp_path / "r.json", "--out", tmp_path / "a.svg")
    assert code == 2
    assert "this is an answer to 'gautam-2x3', not to 'gautam-4x4'" in err


def test_without_matplotlib_the_extra_is_named(call, small, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for words in (
        ("plot", small, "--out", tmp_path / "a.svg"),
        ("sweep", small, "--vary", "data.service_rate=20", "--strategy", "exhaustive", "--plot", tmp_path / "a.svg"),
    ):
        code, _, err = call(*words)
        assert code == 2
        assert is_one_sentence(err)
        assert "optmodels[plots]" in err


def test_generate_writes_an_instance_that_can_be_solved(call, tmp_path):
    path = tmp_path / "g.json"
    code, out, err = call("generate", "placement", "--rows", "2", "--columns=3", "--seed", "1", "--out", path)
    assert (code, out, err) == (0, "", f"optmodels: wrote {path}\n")
    assert call("check", path)[0] == 0
    assert call("solve", path, "--strategy", "exhaustive")[0] in (0, 3)
    code, out, _ = call("generate", "placement", "--rows", "2", "--columns", "3", "--seed", "1")
    assert json.loads(out) == json.loads(path.read_text())


def test_generate_replaces_what_it_wrote_and_nothing_else(call, tmp_path):
    path, words = tmp_path / "g.json", ["generate", "placement", "--rows", "2", "--columns", "3", "--out"]
    assert call(*words, path, "--seed", "1")[0] == 0
    assert call(*words, path, "--seed", "2")[0] == 0
    assert json.loads(path.read_text())["name"].endswith("-2")
    for work in ("not JSON", "[]", json.dumps({"kind": "placement", "source": "my own measurements"})):
        path.write_text(work)
        code, out, err = call(*words, path)
        assert (code, out) == (2, "")
        assert err == f"optmodels: {path}: this exists, and `generate` did not write it; choose another name.\n"
        assert path.read_text() == work


@pytest.mark.parametrize(("name", "beside"), [("p.parquet", "p.json"), ("p", "p.json"), ("p.parquet", "p.parquet")])
def test_generate_keeps_files_beside_that_it_did_not_write(call, tmp_path, name, beside):
    words = ["generate", "freshness", "--pages", "10", "--out", tmp_path / name]
    (tmp_path / beside).write_text("my work")
    code, _, err = call(*words)
    assert (code, err.startswith(f"optmodels: {tmp_path / beside}: this exists")) == (2, True)
    assert [file.name for file in tmp_path.iterdir()] == [beside]
    (tmp_path / beside).unlink()
    assert (call(*words)[0], call(*words)[0]) == (0, 0)


def test_generator_options_are_names_and_texts():
    assert parse_options(["--demand-law", "cluster", "--rows=3"]) == {"demand_law": "cluster", "rows": "3"}
    with pytest.raises(RequestError, match="given twice"):
        parse_options(["--rows", "3", "--rows=3"])


def test_the_schema_is_json_with_and_without_the_flag(call):
    code, out, _ = call("schema")
    assert code == 0
    assert json.loads(out)["properties"]["kind"]
    assert call("schema", "--json") == (0, out, "")


def test_the_schema_of_a_kind_is_a_table_of_its_fields_and_json_with_the_flag(call):
    code, out, _ = call("schema", "routing", "--table")
    assert code == 0
    assert re.match(r"field +type +unit +default +rule +meaning\b", out)
    assert re.search(
        r"^period +whole number +slots +null +periods are whole numbers of slots from 1 to 10000\. ", out, re.M
    )
    described = json.loads(call("schema", "routing", "--json")[1])
    assert json.loads(call("schema", "routing")[1]) == described  # no terminal: for programs
    assert described["properties"]["kind"]["const"] == "routing"
    assert described["$defs"]["RoutingData"]["properties"]["servers"]["maxItems"] == 1000
    code, _, error = call("schema", "routin")
    assert code == 2 and "Did you mean 'routing'?" in error


# -- terminals and signals --------------------------------------------------------------------------------------------


def test_a_name_the_terminal_cannot_show_is_no_reason_to_fail(small, tmp_path):
    content = json.loads(small.read_text()) | {"name": "größer"}
    (tmp_path / "a.json").write_text(json.dumps(content))
    answer = command(
        "solve", tmp_path / "a.json", "--strategy", "exhaustive", env={**os.environ, "PYTHONIOENCODING": "ascii"}
    )
    assert answer.returncode == 0
    assert answer.stdout.startswith("gr\\xf6\\xdfer: optimal")


@pytest.fixture
def at_a_terminal():
    """Start a command whose stderr is a terminal, and wait until a text is shown there."""
    started = []

    def start(shown, *words, **options):
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "optmodels", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "200"},
            **options,
        )
        os.close(theirs)
        started.append((process, ours))
        seen = b""
        while shown.encode() not in seen:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the other end is closed
                piece = b""
            assert piece, f"{shown!r} was never shown: {seen!r}"
            seen += piece
        threading.Thread(target=_drain, args=(ours,), daemon=True).start()
        return process

    yield start
    for process, ours in started:
        process.kill()
        process.wait()
        os.close(ours)


def _drain(handle):
    try:
        while os.read(handle, 4096):
            pass
    except OSError:
        return


def test_progress_goes_to_a_terminal_and_the_answer_to_stdout(at_a_terminal, instances):
    file = instances / "placement" / "gautam-8x8.json"
    process = at_a_terminal("objective", "solve", file, "--strategy", "annealing", "--seconds", "2")
    out = process.communicate(timeout=60)[0].decode()
    assert process.returncode == 0
    assert out.startswith("gautam-8x8: feasible")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("strategy", ["annealing", "genetic"])
def test_a_signal_ends_the_run_on_its_incumbent(at_a_terminal, instances, strategy, number):
    """Started with SIGINT ignored, as a shell starts jobs in the background."""
    process = at_a_terminal(
        "objective", "solve", instances / "placement" / "gautam-11x22.json", "--strategy", strategy, "--seconds", "100",
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )  # fmt: skip
    process.send_signal(number)
    out = process.communicate(timeout=60)[0].decode()
    assert process.returncode == 0
    assert re.match(rf"gautam-11x22: feasible, objective \d+ \({strategy}, .* interrupt\)\n", out)


def test_an_interrupt_before_the_search_is_exit_code_three_and_a_result(call, small, monkeypatch):
    def interrupt(problem):
        raise KeyboardInterrupt

    monkeypatch.setattr("heuristics.running.warm_up", interrupt)
    code, out, _ = call("solve", small, "--strategy", "annealing", "--json")
    assert code == 3
    data = json.loads(out)
    assert (data["status"], data["decision"], data["stopped_by"]) == ("unknown", None, "interrupt")
    monkeypatch.setattr("optmodels.instance.load", interrupt)
    monkeypatch.setattr("optmodels.solving.load", interrupt)
    assert call("evaluate", small, "--at", "1") == (3, "", "optmodels: interrupted before there was an answer.\n")


def test_ctrl_c_in_compiled_code_outside_a_run_is_no_defect(call, small, monkeypatch):
    def interrupted(**options):
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    monkeypatch.setattr("optmodels.cli.commands.app", interrupted)
    assert call("evaluate", small, "--at", "1") == (3, "", "optmodels: interrupted before there was an answer.\n")


def test_an_interrupted_comparison_prints_what_is_finished(at_a_terminal, instances, tmp_path):
    files = [instances / "placement" / name for name in ("gautam-2x3.json", "gautam-11x22.json")]
    process = at_a_terminal("1/2", "compare", *files, "--strategies", "annealing", "--seconds", "3", "--out", tmp_path)
    process.send_signal(signal.SIGINT)
    out = process.communicate(timeout=60)[0].decode()
    assert process.returncode == 0
    assert "gautam-2x3" in out
    assert "gautam-11x22" not in out
    assert "ended early" in out
    assert len((tmp_path / "runs.jsonl").read_text().splitlines()) == 1


# -- auto -------------------------------------------------------------------------------------------------------------


def test_solve_without_a_strategy_says_on_stderr_what_was_chosen_and_why(call, small):
    code, out, err = call("solve", small, "--json")
    assert code == 0
    assert err == (
        "optmodels: auto chooses highs: "
        "the integer program of 6 sites is small enough to prove the best decision if the time allows.\n"
    )
    assert json.loads(out)["strategy"] == "highs"
    assert json.loads(out)["extra"]["auto"].startswith("the integer program")


def test_compare_and_sweep_take_auto_as_a_name(call, small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = call("compare", small, "avrachenkov-k5", "--strategies", "auto", "exhaustive", "--json")
    runs = json.loads(out)["runs"]
    assert code == 0
    assert [run["strategy"] for run in runs] == ["highs", "exhaustive", "exhaustive", "exhaustive"]
    assert [run["label"]["strategy"] for run in runs] == ["auto", "exhaustive", "auto", "exhaustive"]
    assert "optmodels: avrachenkov-k5: auto chose exhaustive: the 84 decisions" in err
    code, out, err = call("sweep", small, "--vary", "data.service_rate=20,25", "--out", "s.csv", "--json")
    assert [point["strategy"] for point in json.loads(out)["points"]] == ["highs", "highs"]
    code, again, err = call("sweep", small, "--vary", "data.service_rate=20,25", "--out", "s.csv", "--json")
    assert (code, again) == (0, out)  # from the file, not solved again


def test_a_mismatch_is_answered_with_the_strategies_that_fit(call, small):
    code, out, err = call("solve", small, "--strategy", "whittle")
    assert (code, out) == (2, "")
    assert " genetic, highs, large-neighbourhood, local-search.\n" in err


# -- what takes what, names and folders -------------------------------------------------------------------------------


def test_list_says_which_strategy_takes_which_kind(call):
    code, out, err = call("list")
    rows = [line.split(maxsplit=1) for line in out.partition("\n\n")[2].splitlines()[1:]]
    taking = {name: kinds.split(", ") for name, kinds in rows}
    assert (code, err) == (0, "")
    assert {"threshold", "robots", "freshness", "routing", "placement"} <= set(taking["highs"])
    assert taking["value-iteration"] == ["robots", "routing"]
    assert set(registry.strategies) <= set(taking)
    assert {"what": "strategy takes", "name": "highs", "kinds": taking["highs"]} in json.loads(
        call("list", "--json")[1]
    )


def test_list_of_a_kind_tells_what_is_proved_for_what_size_and_which_instances_there_are(call):
    code, out, _ = call("list", "routing")
    assert code == 0
    assert "    two-server: proves the optimum in closed form; two servers, periods of all lengths\n" in out
    assert "    backward-induction: proves the optimum; a finite horizon, up to 1e7 states" in out
    assert "  example: optmodels solve example-3-4 --strategy min-mean-cycle\n" in out
    kind = json.loads(call("list", "routing", "--json")[1])[0]
    assert {"loss-3", "horizon-40"} <= set(kind["instances"])
    assert set(kind["proves"]) == set(kind["strategies"])
    code, out, _ = call("list", "auto")
    assert code == 0 and out.startswith("strategy auto (built in): Choose a strategy that suits the problem")


@pytest.mark.parametrize("kind", ["freshness", "placement", "robots", "routing", "threshold"])
def test_every_strategy_that_a_record_names_takes_an_instance_of_the_kind(kind):
    """And every one that takes the example is named, with what it proves."""
    left = set(registry.kinds[kind].strategies)
    assert set(fitting(load(registry.kinds[kind].example_file()))) <= left
    for name, file in shipped_files().items():
        if file.parent.name == kind and file.stat().st_size < 5000 and left:
            problem = load(name)
            left = {one for one in left if refusal(problem, registry.make_strategy(one)) is not None}
    assert left == set()


def test_values_of_a_flag_end_where_an_instance_or_a_folder_stands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "genetic").mkdir()
    words = ["compare", "--strategies", "highs", "genetic", "auto", "gautam-2x3", "mine"]
    flagged = ["--strategies", "highs", "--strategies", "genetic", "--strategies", "auto"]
    assert spread(words) == ["compare", *flagged, "gautam-2x3", "mine"]
    assert spread(["pareto", "--measures", "a", "max:b", "gautam-2x3"])[-2:] == ["max:b", "gautam-2x3"]
    assert spread(["sweep", "--vary", "data.a=1", "data.b=2", "gautam-2x3"])[-3:] == [
        "--vary",
        "data.b=2",
        "gautam-2x3",
    ]


@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", "gautam-2x3", "--at", "0,0,1,1,1,0"],
        ["solve", "gautam-2x3", "--strategy", "exhaustive"],
        ["check", "gautam-2x3", "avrachenkov-k1"],
        ["compare", "--strategies", "exhaustive", "local-search", "gautam-2x3", "--evaluations", "100"],
        ["sweep", "--vary", "data.service_rate=20,25", "--strategy", "exhaustive", "gautam-2x3"],
        ["pareto", "--measures", "opening", "mean_delay", "gautam-2x3"],
        ["plot", "gautam-2x3", "--out", "map.svg"],
        ["simulate", "avrachenkov-k1", "--at=0,0,0", "--replications", "3"],
        ["solve", "coffman-4", "--strategy", "whittle", "--out", "r.json"],
    ],
    ids=" ".join,
)
def test_the_name_of_a_shipped_instance_stands_wherever_a_file_does(call, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    assert call(*words)[0] == 0
    if (tmp_path / "r.json").exists():
        assert call("visits", "coffman-4", "--result", "r.json", "--out", "visits.csv")[0] == 0
        assert call("verify", "r.json", "coffman-4")[0] == 0


def test_a_folder_is_checked_and_compared_as_a_whole_without_the_results_in_it(call, small, tmp_path):
    below = tmp_path / "mine" / "deeper"
    below.mkdir(parents=True)
    (below / "a.json").write_text(small.read_text())
    assert call("solve", small, "--strategy", "exhaustive", "--out", below / "result.json")[0] == 0
    (below / "decision.json").write_text("[0, 0, 1, 1, 1, 0]")
    (below / "deep.json").write_text('{"deep": {}}')
    code, out, err = call("check", tmp_path / "mine")
    assert (code, out.count("well formed")) == (0, 1)
    skipped = (
        f"{below}/decision.json (a list), {below}/deep.json (neither kind nor data), {below}/result.json (a result)"
    )
    assert err == f"optmodels: skipped, as no instances: {skipped}.\n"
    assert call("check", tmp_path / "mine", "-q")[2] == ""
    code, out, err = call("compare", "--strategies", "exhaustive", tmp_path / "mine")
    assert (code, out.count("\ngautam-2x3 ")) == (0, 1)
    (below / "broken.json").write_text('{"kind": "placement"}')
    code, out, err = call("check", tmp_path / "mine")
    assert (code, out.count("well formed")) == (2, 1)
    assert "broken.json" in err
    (below / "broken.json").unlink()
    (below / "a.json").unlink()
    for index in range(9):
        (below / f"list-{index}.json").write_text("[]")
    code, out, err = call("check", tmp_path / "mine")
    assert (code, out) == (2, "")
    assert "there is no .json file in this folder that holds an instance; there are" in err
    assert err.endswith(" and 7 more.\n")


# -- small words ------------------------------------------------------------------------------------------------------


def test_a_front_never_takes_the_place_of_the_instance(call, small, tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(small.read_text())
    code, out, err = call("pareto", path, "--measures", "opening", "mean_delay", "--out", path)
    assert (code, out, "this is, or lies in, what is read" in err) == (2, "", True)
    assert path.read_text() == small.read_text()


def test_a_narrow_terminal_loses_nothing_of_what_is_told(call, monkeypatch):
    wide = call("schema", "placement", "--table")[1]
    monkeypatch.setenv("COLUMNS", "40")
    for words in (["schema", "placement", "--table"], ["list", "placement"]):
        out = call(*words)[1]
        assert "…" not in out
        assert max(len(line) for line in out.splitlines() if "optmodels solve" not in line) <= 40
    told = set(re.findall(r"\w+", call("schema", "placement", "--table")[1]))
    firsts = [line.split()[0] for line in wide.splitlines()[1:]]  # names of fields, and words where a cell was folded
    assert {word for first in firsts for word in re.findall(r"\w+", first)} <= told


@pytest.mark.parametrize("words", [["verify", "FOLDER", "gautam-2x3"], ["evaluate", "gautam-2x3", "--at", "abc"]])
def test_what_is_read_is_named_for_what_it_should_be(call, tmp_path, words):
    code, _, err = call(*(tmp_path if word == "FOLDER" else word for word in words))
    assert (code, is_one_sentence(err)) == (2, True)
    assert "name a file with a result" in err or err.endswith("got 'abc'.\n")


def test_a_placement_without_open_sites_says_none(call, small):
    assert "open sites: 0 of 6 (none)\n" in call("evaluate", small, "--at", "0,0,0,0,0,0")[1]


def test_a_misspelled_field_to_vary_is_answered_with_the_nearest(call, small):
    code, _, err = call("sweep", small, "--vary", "data.servicerate=40,50")
    assert (code, is_one_sentence(err), "did you mean 'service_rate'?" in err) == (2, True, True)
    code, _, err = call("sweep", "avrachenkov-k5", "--vary", "data.capacty=1..3")
    assert (code, is_one_sentence(err), "did you mean 'capacity'?" in err) == (2, True, True)


def test_a_name_that_is_not_known_is_answered_with_all_auto_among_them(call):
    code, _, err = call("list", "nosuch")
    assert (code, "annealing, auto, backward-induction" in err) == (2, True)
    assert "Did you mean 'auto'?" in call("list", "autoo")[2]


@pytest.mark.parametrize("name", ["talim-fig2", "areas-3", "gautam-6x6"])
def test_auto_promises_a_proof_only_where_nothing_stops_it(call, name):
    """A short time, or rounding where costs are tiny, leaves the best policy without a proof."""
    _, out, _ = call("solve", name, "--seconds", "0.001", "--json")
    assert re.search("if the time allows|if time and rounding allow|where met", json.loads(out)["extra"]["auto"])
