"""Statistics for people and for programs."""

import json

import pytest

import optmodels as om
from optmodels.cli import main
from optmodels.statistics import statistics_data, statistics_text


@pytest.fixture(scope="module")
def comparison():
    return om.compare(["gautam-2x3", "small-3x3"], ["exhaustive", "annealing"], seeds=3, evaluations=600)


def test_every_strategy_has_a_line_and_every_sentence_stands_below(comparison):
    text = statistics_text(comparison.statistics)
    assert "to 10%" in text.splitlines()[0]
    assert [line.split()[0] for line in text.splitlines()[2:4]] == ["exhaustive", "annealing"]
    assert all(sentence in text for sentence in comparison.statistics.sentences)
    assert "by evaluations" in text


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_the_table_fits_and_what_is_left_out_is_said(comparison, width):
    text = statistics_text(comparison.statistics, width)
    assert max(map(len, text.splitlines())) <= width
    assert ("left out" in text) == (width < 120)


def test_json_holds_what_the_table_holds(comparison):
    data = json.loads(json.dumps(statistics_data(comparison.statistics), allow_nan=False))
    assert data["references"]["gautam-2x3"]["proved"] is True
    standing = data["standings"]["exhaustive"]
    assert (standing["median_gap"], standing["problems"]) == (0.0, 2)
    assert {(score["problem"], score["strategy"]) for score in data["scores"]} == {
        (problem, strategy) for problem in ("gautam-2x3", "small-3x3") for strategy in ("exhaustive", "annealing")
    }
    assert data["tests"][0]["p_value"] is None
    assert data["sentences"] == list(comparison.statistics.sentences)


def test_time_is_counted_as_the_budget_is(comparison):
    assert comparison.statistics.clock == "evaluations"
    assert om.compare("gautam-2x3", "exhaustive", seconds=5).statistics.clock == "seconds"


def test_the_command_prints_them_where_asked(capsys):
    command = ["compare", "gautam-2x3", "--strategies", "exhaustive", "dejavu", "--evaluations", "90"]
    assert main([*command, "--statistics"]) == 0
    assert "nobody can be said to be better" in " ".join(capsys.readouterr().out.split())
    assert main([*command, "--statistics", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["statistics"]["clock"] == "evaluations"
    assert main([*command, "--json"]) == 0
    assert "statistics" not in json.loads(capsys.readouterr().out)


def test_where_no_strategy_applies_the_table_says_so_and_stands():
    nobody = om.compare(["gautam-2x3"], ["optimal-policy"])
    text = statistics_text(nobody.statistics, 80)
    assert text.splitlines()[2].split()[0] == "optimal-policy"
    assert text.splitlines()[2].split()[-1] == "-"
