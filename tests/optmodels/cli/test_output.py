"""How answers are printed."""

import dataclasses

import pytest

import optmodels as om
from heuristics.testing import Knapsack
from optmodels.cli import main
from optmodels.cli.output import beside_best_known, decision_words, print_measures
from optmodels.results import result_to_data


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [(0.25, 1e-9, "0.25"), (1e-20, 0.5, "1e-20"), (1e-20, 4.0, "< 5e-20"), (None, 3.0, "-"), (0.0, 0.0, "0")],
)
def test_a_measure_smaller_than_its_error_is_told_as_less_than_both_together(value, error, shown, capsys):
    print_measures({"measures": {"loss": value}, "extra": {"errors": {"loss": error}}})
    assert capsys.readouterr().out.split(maxsplit=1) == ["loss", f"{shown}\n"]


def test_measures_without_errors_are_printed_as_they_are(capsys):
    print_measures({"measures": {"loss": 0.5, "sojourn": 2}, "extra": {}})
    assert capsys.readouterr().out == "  loss     0.5\n  sojourn  2\n"
    print_measures({"measures": {}, "extra": {}})
    assert capsys.readouterr().out == ""


# -- decisions in words, and the best known beside them ---------------------------------------------------------------


def lines_of(capsys, *words):
    assert main([*words, "-q"]) == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("name", "strategy", "said"),
    [
        ("avrachenkov-k5", "exhaustive", "robots by pages in the system: 3 with 0 to 2, 1 with 3 or more"),
        (
            "avrachenkov-k5",
            "optimal-policy",
            "robots by pages in the system: 1 or 3 (by phase) with 0 to 2, 1 with 3 or more",
        ),
        (
            "avrachenkov-k5",
            "optimal-policy",
            "price of thresholds: 17.85 %; the best threshold policy, -1,2,2, costs 63.542548",
        ),
        (
            "talim-two-robots",
            "policy-iteration",
            "one more robot is sent out, by active robots: up to 2 pages with 0, up to 1 page with 1, never with 2",
        ),
        ("areas-3", "marginal-analysis", "robots by area: news 5, shops 5, archive 2"),
        (
            "coffman-4",
            "lagrangian",
            "visited most: page 3 every 2.6 slots, page 1 every 4.33 slots, page 2 every 4.33 slots, "
            "page 0 every 6.5 slots",
        ),
        ("loss-3", "min-mean-cycle", "packets: 10 % to server 0, 30 % to server 1, 60 % to server 2"),
        ("gautam-2x3", "exhaustive", "open sites: 3 of 6, by row and column: (0, 2), (1, 0), (1, 1)"),
        ("gautam-2x3", "exhaustive", "best known 8 (proved): this answer is equal to it"),
        ("coffman-4", "whittle", "best known 0.572532 (proved): this answer is above it by 1.187 %"),
    ],
)
def test_an_answer_is_told_in_words_beside_the_best_known(capsys, name, strategy, said):
    assert said in lines_of(capsys, "solve", name, "--strategy", strategy)


def test_the_words_are_those_of_the_decision():
    """Thresholds and switching curves are read off the decision: another decision, other words."""
    threshold, robots = om.load("avrachenkov-k5"), om.load("talim-two-robots")

    def words(problem, decision):
        return decision_words(problem, result_to_data(om.evaluate(problem, decision)))

    assert words(threshold, [-1, -1, 5]) == ["robots by pages in the system: 2 with 0 to 5, 1 with 6 or more"]
    assert words(threshold, [0, 1, 1]) == ["robots by pages in the system: 4 with 0, 3 with 1, 1 with 2 or more"]
    assert words(robots, [1, 0, 0] * 4) == [
        "one more robot is sent out, by active robots: up to 3 pages with 0, never with 1 to 2"
    ]
    assert words(robots, [1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0]) == [
        "the states in which one more robot is sent out form no switching curve; --json lists them"
    ]


def test_a_long_decision_is_cut_where_words_tell_it(capsys):
    lines = lines_of(capsys, "solve", "talim-fig2", "--strategy", "policy-iteration")
    assert lines[1] == f"decision {'1,' * 15}0,0,1,1,1,... (102 entries)"
    assert lines[2].startswith("one more robot is sent out, by active robots: up to 5 pages with 0 to 3, up to 4")


def test_a_kind_without_words_shows_the_decision(capsys):
    lines = lines_of(capsys, "solve", "fleet-two-robots", "--strategy", "policy-iteration")
    assert lines[1] == "decision 2,1,0,2,1,0,2,1,0,0,0,0"
    assert decision_words(None, {}) == []
    assert decision_words(Knapsack(), {}) == []


def test_the_best_known_is_beaten_met_or_missed():
    result = om.evaluate("gautam-2x3", [0, 0, 1, 1, 1, 0])
    assert beside_best_known(result, om.BestKnown(objective=10.0)) == "best known 10: this answer is below it by 20 %"
    assert beside_best_known(result, om.BestKnown(objective=0.0)) == "best known 0: this answer is above it"
    nothing = dataclasses.replace(result, decision=None, evaluation=None)
    assert beside_best_known(nothing, om.BestKnown(objective=8.0, proved=True)) == "best known 8 (proved)"


def test_an_evaluation_tells_the_decision_in_words(capsys):
    lines = lines_of(capsys, "evaluate", "avrachenkov-k5", "--at=-1,2,2")
    assert lines[1] == "robots by pages in the system: 3 with 0 to 2, 1 with 3 or more"
