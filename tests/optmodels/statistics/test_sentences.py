"""Words about comparisons: who is better is said if a test shows it, and never otherwise."""

import math

import numpy as np
import pytest

from heuristics import Evaluation, Result, Status
from optmodels.statistics import judge, percent
from optmodels.studies import Comparison
from optmodels.studies.runs import Run


def comparison(table, best=10.0, proved=True):
    """Answers by strategy and problem: numbers, or lists of them by seed; None fails, an empty list finds nothing."""
    runs = []
    for strategy, answers in table.items():
        for number, answer in enumerate(answers):
            for seed, value in enumerate(answer if isinstance(answer, list | tuple) else [answer]):
                lost = value is None or value is math.inf
                result = Result(
                    f"p{number}", Status.UNKNOWN if lost else Status.FEASIBLE, None if lost else (1,),
                    None if lost else Evaluation(value), bound=best if proved else None, seconds=1.0, evaluations=10,
                )  # fmt: skip
                runs.append(Run(f"p{number}", strategy, seed, result, "fell over" if value is None else None))
    return Comparison(tuple(runs))


def said(table, **options):
    return judge(comparison(table, **options)).sentences


def test_one_strategy_has_no_rival():
    assert said({"a": [11.0]})[0] == "Only a was run: there is nothing to compare it with."


@pytest.mark.parametrize("problems", [1, 2, 5])
def test_few_problems_tell_nothing(problems):
    first, second, *_ = said({"a": [10.0] * problems, "b": [12.0] * problems})
    assert first.startswith("On one problem nobody" if problems == 1 else f"On {problems} problems nobody")
    assert f"differ on {problems} of {problems} problem" in second and "too few for a test" in second
    assert f"a has the lower gap on {problems}, b on 0" in second


def test_many_problems_with_few_differences_tell_nothing():
    first, second, *_ = said({"a": [10.0] * 12, "b": [10.0] * 8 + [12.0] * 4})
    assert first == "Nobody can be said to be better: no two strategies differ on six or more of the 12 problems."
    assert (
        second
        == "a and b differ on 4 of 12 problems, too few for a test: a has the lower gap on 4, b on 0, the same on 8."
    )
    assert said({"a": [10.0] * 12, "b": [10.0] * 12})[1] == "a and b have the same median gap on all 12 problems."


def test_six_problems_can_show_it():
    first, second, *_ = said({"a": [10.0] * 6, "b": [11.0, 12.0, 13.0, 14.0, 15.0, 16.0]})
    assert first == "a is better than the other strategy, by median gap on 6 problems."
    assert second == "a is better than b: a has the lower gap on 6, b on 0 (p = 0.031, effect 1.00)."


def test_the_correction_takes_claims_back():
    """Each of three tests alone has p = 0.031; together none is shown."""
    table = {name: [10.0 + step * (n + 1) for n in range(6)] for name, step in (("a", 0), ("b", 1), ("c", 3))}
    first, *rest = said(table)
    assert first == "No strategy is shown to be better than another."
    assert rest[0].startswith(
        "Between a and b no difference is shown: a has the lower gap on 6, b on 0 (p = 0.094 after"
    )
    assert not any("is better than" in one for one in rest)


def test_better_than_all_and_better_than_some():
    rng = np.random.default_rng(2)
    noise = rng.random(15).tolist()
    best, middle = [10.0 + x for x in noise], [12.0 + x for x in rng.random(15).tolist()]
    close = [12.0 + x for x in rng.random(15).tolist()]
    first, *rest = said({"b": middle, "a": best, "c": close})
    assert first == "a is better than each of the 2 other strategies, by median gap on 15 problems."
    assert any(one.startswith("Between b and c no difference is shown") for one in rest)
    first, *_ = said({"a": best, "twin": best, "c": close})
    assert first == "No strategy is shown to be better than all others; some are better than some."


def test_chance_is_not_called_better():
    """Equal strategies on 20 problems, 100 times: the first sentence names a winner in 5 % of the cases at most."""
    rng = np.random.default_rng(3)
    claims = 0
    for _ in range(100):
        table = {name: [10.0 + x for x in rng.random(20).tolist()] for name in "ab"}
        claims += " is better than " in said(table)[0]
    assert claims <= 5 + 4 * math.sqrt(100 * 0.05 * 0.95)


def test_what_must_be_known_is_told():
    sentences = said({"a": [[10.0, 11.0], [None, 12.0]], "b": [[10.0, math.inf], [12.0, 12.0]]}, proved=False)
    assert (
        "2 problems of 2 have no proved optimum: gaps there are to the best value known, and may be too small."
        in sentences
    )
    assert "a failed in 1 of 4 runs, which counts as worse than any answer." in sentences
    assert "b found nothing feasible in 1 of 4 runs." in sentences
    assert not any("one run per problem" in one for one in sentences)
    assert any("one run per problem" in one for one in said({"a": [10.0], "b": [11.0]}))
    assert any(
        one == "Nobody found a feasible decision for p1." for one in said({"a": [10.0, None], "b": [11.0, None]})
    )
    assert any(one == "Lowest median gap, ties counted for all, of 2 problems: a on 2, b on 1."
               for one in said({"a": [10.0, 10.0], "b": [11.0, 10.0]}))  # fmt: skip


def test_contradictions_are_told():
    sentences = said({"a": [9.0], "b": [10.0]})
    assert "p0: a run proved the bound 10, but 9 was found; one of the two is wrong." in sentences


def test_standings_are_told_with_what_their_intervals_promise():
    sentences = said({"a": [[10.0, 11.0, 12.0]], "b": [10.5]})
    assert (
        "a: median gap 10.00% (75% interval 0.00% to 20.00%), worst 20.00%; 1 of 3 runs reached the best value known."
        in sentences
    )
    assert "b: median gap 5.00%, worst 5.00%; 0 of 1 run reached the best value known." in sentences


@pytest.mark.parametrize(
    ("gap", "text"),
    [(0.0, "0.00%"), (1e-9, "<0.01%"), (4e-5, "<0.01%"), (0.0125, "1.25%"), (12.5, "1250.00%"), (math.inf, "inf"),
     (math.nan, "-")],
)  # fmt: skip
def test_gaps_in_percent(gap, text):
    assert percent(gap) == text
