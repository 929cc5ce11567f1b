"""Kind "routing" on the command line: from a generated file to an answer that is verified; sentences and exit codes."""

import csv
import json
from pathlib import Path

import pytest

from optmodels.cli import main
from optmodels.generating import generate
from optmodels.testing import check_problem


@pytest.fixture
def file(instances):
    return str(instances / "routing" / "loss-3.json")


def run(capsys, *words):
    code = main([str(word) for word in words])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def answer(capsys, *words):
    code, out, err = run(capsys, *words, "--json")
    assert code == 0, err
    return json.loads(out)


def test_what_is_generated_is_solved_verified_evaluated_drawn_and_simulated(capsys, tmp_path):
    made, kept, picture = tmp_path / "mine.json", tmp_path / "answer.json", tmp_path / "strip.png"
    assert run(capsys, "generate", "routing", "--servers", 4, "--seed", 7, "--name", "mine", "--out", made)[0] == 0
    data = answer(capsys, "solve", made, "--strategy", "min-mean-cycle", "--out", kept)
    assert (data["status"], data["kind"], data["problem"]) == ("optimal", "routing", "mine")
    assert set(data["measures"]) == {"cost", "period"}
    assert data["measures"]["period"] == len(data["decision"])
    assert sum(data["extra"]["shares"]) == pytest.approx(1.0)
    assert answer(capsys, "verify", kept, made)["verified"]
    again = answer(capsys, "evaluate", made, "--at", f"@{kept}")
    assert again["objective"] == data["objective"]
    assert again["extra"]["density_bound"] <= data["objective"]
    assert run(capsys, "plot", made, "--result", kept, "--out", picture)[0] == 0
    assert picture.stat().st_size > 10_000
    seen = answer(capsys, "simulate", made, "--at", f"@{kept}", "--replications", 10)
    assert seen["agree"]


def test_a_word_is_given_by_its_letters(file, capsys):
    code, out, _ = run(capsys, "evaluate", file, "--at", "2,0,2,1")
    assert code == 0
    assert "period  4" in out
    data = answer(capsys, "evaluate", file, "--at=0,2,1,2")
    assert data["decision"] == [0, 2, 1, 2]
    assert data["extra"]["shares"] == [0.25, 0.25, 0.5]
    assert data["extra"]["gaps"] == [{"4": 1}, {"4": 1}, {"2": 2}]


def test_strategies_are_compared(file, capsys):
    data = answer(capsys, "compare", file, "--strategies", "min-mean-cycle", "whittle", "local-search", "two-server")
    by_name = {row["strategy"]: row for row in data["runs"]}
    assert by_name["min-mean-cycle"]["status"] == "optimal"
    assert by_name["min-mean-cycle"]["objective"] == pytest.approx(0.0945038150, rel=1e-8)
    for name in ("whittle", "local-search"):
        assert by_name[name]["objective"] >= by_name["min-mean-cycle"]["objective"] - 1e-12
    assert "is for two servers" in json.dumps(data)


def test_figure_1_is_a_sweep_over_the_rate_of_a_server(instances, capsys, tmp_path):
    table, picture = tmp_path / "figure.csv", tmp_path / "figure.svg"
    words = ["sweep", instances / "routing" / "figure-1.json", "--vary", "data.servers[1].rate=2,3,6,12"]
    code, *_ = run(capsys, *words, "--strategy", "two-server", "--out", table, "--plot", picture, "--measure", "period")
    assert code == 0
    rows = list(csv.DictReader(table.open()))
    assert [float(row["period"]) for row in rows] == [2, 3, 4, 5]
    assert [row["status"] for row in rows] == ["optimal"] * 4
    assert picture.read_text().startswith("<?xml")


def test_names_are_listed_and_explained(capsys):
    code, out, _ = run(capsys, "list")
    assert code == 0
    for name in ("routing", "min-mean-cycle", "two-server", "balanced", "multimodular", "backward-induction", "power"):
        assert name in out
    code, out, _ = run(capsys, "list", "min-mean-cycle")
    assert code == 0
    assert "states=5000000" in out


def test_every_shipped_instance_is_checked(instances, capsys):
    files = sorted((instances / "routing").glob("*.json"))
    assert len(files) >= 19
    code, out, err = run(capsys, "check", *files)
    assert (code, err) == (0, "")
    assert out.count("is well formed, best known") == len(files)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"servers": []}, "data.servers is []; list the servers, one at least."),
        ({"servers": [{"rate": -1}]}, "data.servers[0].rate is -1; rates are finite numbers above 0."),
        ({"period": 0}, "data.period is 0; periods are whole numbers of slots"),
        ({"arrivals": {"law": "poison"}}, 'data.arrivals.law is "poison"; there is no such law.'),
        ({"horizon": 3, "initial": [1]}, "data.initial is [1]; each of the 3 servers needs a gap"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_file_that_makes_no_sense_is_answered_with_a_sentence_and_code_2(change, sentence, file, capsys, tmp_path):
    content = json.loads(Path(file).read_text())
    content["data"] |= change
    del content["best_known"]
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps(content))
    code, out, err = run(capsys, "solve", wrong, "--strategy", "min-mean-cycle")
    assert (code, out) == (2, "")
    assert err.startswith(f"optmodels: {wrong}: {sentence}")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--strategy", "two-server"], "strategy 'two-server' is for two servers, and 'loss-3' has 3."),
        (["--strategy", "balanced"], "strategy 'balanced' is for two servers, and 'loss-3' has 3."),
        (["--strategy", "backward-induction"], "this one has no horizon, initial"),
        (["--strategy", "exhaustive:largest=1000"], "evaluates at most 1000 decisions, and 'loss-3' has 2.6"),
        (["--strategy", "highs"], "set data.period, or take min-mean-cycle"),
        (["--strategy", "whittle:slots=0"], "slots must be 1 or more"),
        (["--strategy", "min-mean-cicle"], "Did you mean 'min-mean-cycle'?"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_strategy_that_cannot_take_the_problem_says_so(words, sentence, file, capsys):
    code, out, err = run(capsys, "solve", file, *words)
    assert (code, out) == (2, "")
    assert sentence in err
    assert len(err.splitlines()) == 1


def test_a_wrong_decision_is_answered_with_a_sentence(file, capsys):
    code, _, err = run(capsys, "evaluate", file, "--at", "0,3")
    assert code == 2
    assert "entry 1 is 3; letters lie between 0 and 2." in err


# -- generating --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"servers": 1},
        {"servers": 2, "spread": 0.0},
        {"application": "freshness", "weights": "rates"},
        {"weights": "drawn", "arrivals": "mmpp", "period": 5},
        {"service_phases": 3, "arrivals": "deterministic", "max_period": 6},
    ],
    ids=str,
)
def test_what_is_generated_keeps_the_rules(options):
    one = generate("routing", seed=3, **options)
    assert one == generate("routing", seed=3, **options)
    if options.get("spread", 1.0) and options.get("servers", 3) > 1:  # a load fixes the rate of one server
        assert one.data != generate("routing", seed=4, **options).data
    assert "synthetic" in one.source
    check_problem(one.problem(), decisions=5)


def test_the_load_is_what_was_asked_for():
    data = generate("routing", servers=50, load=0.25, seed=1).data
    assert sum(server["rate"] for server in data["servers"]) == pytest.approx(4.0, rel=1e-3)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"servers": 0}, "servers must be between 1 and 1000, got 0."),
        ({"load": 0}, "load must be between 0.001 and 1000, got 0."),
        ({"period": 3, "max_period": 4}, "the period is fixed; give period or max_period, not both."),
        ({"speed": 3}, "generator 'routing' has no parameter 'speed'"),
    ],
    ids=str,
)
def test_options_that_make_no_sense_are_refused(options, sentence):
    with pytest.raises(ValueError) as refused:
        generate("routing", **options)
    assert sentence in str(refused.value)
