"""What gaps are measured from: files, proofs, what was seen, and claims that contradict one another."""

import math
from dataclasses import dataclass

import pytest

from heuristics import Evaluation, Result, Status
from optmodels.statistics import references_of


@dataclass(frozen=True)
class Run:
    problem: str
    result: Result
    error: str | None = None
    strategy: str = "s"
    seed: int = 0
    status: str = "feasible"
    beyond: bool = False


def run(objective=None, bound=None, status=Status.FEASIBLE, error=None, problem="p", beyond=False):
    evaluation = None if objective is None else Evaluation(objective)
    return Run(
        problem,
        Result(problem, status, None if objective is None else (1,), evaluation, bound=bound),
        error,
        beyond=beyond,
    )


OPTIMAL = Status.OPTIMAL


@pytest.mark.parametrize(
    ("runs", "known", "told", "value", "label"),
    [
        ([run(9.0)], 8.0, True, 8.0, "best known, proved"),
        ([run(8.0, 8.0, OPTIMAL)], 8.0, True, 8.0, "best known, proved"),
        ([run(9.0)], 8.0, False, 8.0, "best known"),
        ([run(8.0, 8.0, OPTIMAL), run(9.0)], None, False, 8.0, "optimum"),
        ([run(8.0, 8.0, OPTIMAL), run(9.0)], 8.0, False, 8.0, "optimum"),
        ([run(8.0), run(9.0, 8.0)], None, False, 8.0, "optimum"),  # one found it, another proved it
        ([run(8.0), run(9.0, 7.9)], None, False, 8.0, "best seen"),
        ([run(7.0), run(9.0)], 8.0, False, 7.0, "best seen"),  # better than the file, which proves nothing
        ([run(9.0), run(8.5)], None, False, 8.5, "best seen"),
        ([run(7.0, error="fell over"), run(9.0)], None, False, 9.0, "best seen"),
        ([run()], None, False, None, ""),
        ([run()], 8.0, False, 8.0, "best known"),
        ([run(0.0, 0.0, OPTIMAL)], None, False, 0.0, "optimum"),
        ([run(-8.0), run(-7.0, -8.0 - 1e-12)], None, False, -8.0, "optimum"),
        ([run(8e-300), run(9e-300, 7.9e-300)], None, False, 8e-300, "best seen"),
        ([run(math.inf), run(9.0, -math.inf)], None, False, 9.0, "best seen"),
    ],
)
def test_which_value_counts(runs, known, told, value, label):
    reference = references_of(runs, {} if known is None else {"p": known}, {"p"} if told else ())["p"]
    assert (reference.value, reference.label, reference.contradiction) == (value, label, None)
    assert reference.proved == (label in ("optimum", "best known, proved"))


@pytest.mark.parametrize(
    ("runs", "known", "words"),
    [
        ([run(7.0)], 8.0, "p: the file calls 8 proved, but 7 was found"),
        ([run(7.0), run(7.5, 7.5, OPTIMAL)], None, "p: a run proved 7.5 optimal, but 7 was found"),
        ([run(7.0), run(9.0, 7.5)], None, "p: a run proved the bound 7.5, but 7 was found"),
    ],
)
def test_claims_that_contradict_answers_prove_nothing(runs, known, words):
    reference = references_of(runs, {} if known is None else {"p": known}, {"p"})["p"]
    assert reference.value == 7.0 and not reference.proved
    assert words in reference.contradiction


def test_a_file_may_round():
    """The file has seven digits; an optimum proved here has all of them, and is what runs are held against."""
    exact = 8.123456789
    runs = [run(exact, exact, OPTIMAL), run(9.0)]
    reference = references_of(runs, {"p": 8.123456}, {"p"})["p"]
    assert (reference.value, reference.proved, reference.contradiction) == (exact, True, None)
    above = references_of(runs, {"p": 8.123457}, {"p"})["p"]
    assert (above.value, above.proved, above.contradiction) == (exact, True, None)


def test_problems_stand_apart_in_the_order_of_the_runs():
    runs = [run(3.0, problem="b"), run(1.0, problem="a"), run(2.0, 2.0, OPTIMAL, problem="b")]
    references = references_of(runs, {"a": 0.5})
    assert list(references) == ["b", "a"]
    assert [(one.value, one.label, one.bound) for one in references.values()] == [
        (2.0, "optimum", 2.0), (0.5, "best known", None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("runs", "known", "told", "value", "label"),
    [
        ([run(8.0, 8.0, OPTIMAL), run(7.0, 7.0, OPTIMAL, beyond=True)], 8.0, True, 8.0, "best known, proved"),
        ([run(8.0, 8.0, OPTIMAL), run(7.0, 7.0, OPTIMAL, beyond=True)], None, False, 8.0, "optimum"),
        ([run(8.0), run(7.0, 7.0, OPTIMAL, beyond=True)], None, False, 8.0, "best seen"),
        ([run(8.0), run(7.0, 8.0, beyond=True)], None, False, 8.0, "optimum"),  # its bound holds for those listed, too
        ([run(7.0, 7.0, OPTIMAL, beyond=True)], 8.0, True, 8.0, "best known, proved"),
        ([run(7.0, 7.0, OPTIMAL, beyond=True)], None, False, 7.0, "optimum"),  # nothing else is known
        ([run(), run(7.0, beyond=True)], None, False, 7.0, "best seen"),
    ],
)
def test_what_lies_beyond_the_decisions_asked_for_contradicts_nothing(runs, known, told, value, label):
    reference = references_of(runs, {} if known is None else {"p": known}, {"p"} if told else ())["p"]
    assert (reference.value, reference.label, reference.contradiction) == (value, label, None)
