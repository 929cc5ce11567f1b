"""What verbs are given wrongly: one sentence, whichever option it is and whatever stands there."""

import pathlib
import re
from dataclasses import replace
from inspect import signature
from typing import get_args

import numpy as np
import pytest

import optmodels as om
from heuristics import UnsupportedProblem
from optmodels import registry
from optmodels.cli.starting import notes_on
from optmodels.instance import data_fields


class Odd:
    """Something that nobody expects."""


WRONG = {
    "none": None,
    "negative": -1,
    "fraction": 2.5,
    "nan": float("nan"),
    "inf": float("inf"),
    "huge": 10**400,
    "truth": True,
    "text": "x",
    "empty": "",
    "zero byte": "a\0b",
    "bytes": b"x",
    "list": [],
    "nothing listed": [None],
    "texts": ["a"],
    "object": {"x": 1},
    "set": {1},
    "odd": Odd(),
    "class": int,
    "function": lambda: 1,
    "array": np.arange(4),
    "complex": 1j,
    "path": pathlib.Path("nope"),
}

DECISION = [0, 0, 1, 1, 1, 0]
LIMITS = {"budget": None, "seconds": None, "evaluations": None}
BATCH = {"workers": 1, "cluster": None, "out": None, "progress": None}

CALLS = {
    "load": (["gautam-2x3"], {}),
    "solve": (["gautam-2x3", "exhaustive"], {**LIMITS, "seed": 0, "progress": None}),
    "evaluate": (["gautam-2x3", DECISION], {}),
    "compare": (["gautam-2x3", ["exhaustive"]], {**LIMITS, **BATCH, "seeds": 1, "resume": False}),
    "sweep": (["gautam-2x3", {"data.service_rate": [20]}, "exhaustive"], {**LIMITS, **BATCH, "seed": 0}),
    "pareto": (
        ["gautam-2x3", ["opening", "mean_delay"]],
        {**LIMITS, "strategy": None, "seed": 0, "runs": 3, "progress": None},
    ),
    "simulate": (
        ["avrachenkov-k5", [1, 2, 3]],
        {"replications": 2, "seconds": None, "time": 10.0, "seed": 0, "progress": None},
    ),
    "verify": ([om.evaluate("gautam-2x3", DECISION), "gautam-2x3", None], {"prove": False, "seconds": 1.0}),
    "plot": (["gautam-2x3", DECISION, None], {"ax": None, "panel": None}),
    "generate": (["placement"], {"seed": 0, "rows": 2}),
    "fit": (["sample-crawl", "freshness"], {}),
    "visits": (["coffman-4", {"schedule": [0, 1, 2, 3]}], {"out": None, "slots": 3, "seed": 0}),
    "instances": (["robots"], {}),
}

PLACES = [(verb, place) for verb, (given, options) in CALLS.items() for place in (*range(len(given)), *options)]


def called(verb, place, wrong):
    given, options = CALLS[verb]
    if isinstance(place, int):
        return getattr(om, verb)(*given[:place], wrong, *given[place + 1 :], **options)
    return getattr(om, verb)(*given, **{**options, place: wrong})


@pytest.mark.parametrize(("verb", "place"), PLACES)
def test_a_verb_answers_or_says_a_sentence(tmp_path, monkeypatch, verb, place):
    monkeypatch.chdir(tmp_path)
    for name, wrong in WRONG.items():
        try:
            called(verb, place, wrong)
        except (om.RequestError, UnsupportedProblem) as failure:
            assert re.search(r"[.?)]$", str(failure)), (name, str(failure))
            assert not re.search(r"object (has no|is not)|not supported|ambiguous", str(failure)), (name, str(failure))


@pytest.mark.parametrize("verb", CALLS)
def test_the_verbs_take_what_is_right(verb):
    given, options = CALLS[verb]
    assert getattr(om, verb)(*given, **options) is not None


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: om.solve("gautam-2x3", budget=5), r"a budget is made by optmodels.Budget\(.*got 5"),
        (lambda: om.solve("gautam-2x3", seed=np.arange(2)), "a seed is a whole number, zero or more"),
        (lambda: om.solve("gautam-2x3", seconds=10**400), "seconds must be a positive number"),
        (lambda: om.solve("gautam-2x3", progress=lambda: 1), "called with how things stand, .* takes 1 by position"),
        (lambda: om.compare("gautam-2x3", 5), "strategies are names, or objects .* got 5"),
        (
            lambda: om.compare("gautam-2x3", "dejavu", workers="x"),
            'must be a whole number, 1 or more, got "x"',
        ),
        (lambda: om.compare("gautam-2x3", "dejavu", seeds="12"), 'a list of whole numbers, zero or more, got "12"'),
        (lambda: om.compare("gautam-2x3", "dejavu", cluster=5), "a cluster is text, got 5; give the address"),
        (lambda: om.compare("gautam-2x3", "dejavu", out=5), "out is the path of a file or folder"),
        (lambda: om.compare("gautam-2x3", "dejavu", resume="no"), 'resume is True or False, got "no"'),
        (lambda: om.sweep("gautam-2x3", {"data.service_rate": 5}), 'a path with a list of values.*"data.service_rate"'),
        (lambda: om.sweep("gautam-2x3", [5]), "what to vary is written .* got 5"),
        (lambda: om.pareto("gautam-2x3", ["opening", 5]), "a measure is written .* got 5"),
        (lambda: om.pareto("gautam-2x3", ["opening", "mean_delay"], strategy=0), "a strategy is a name or an object"),
        (lambda: om.simulate("loss-3", [0], time="x"), "time is a finite number above 0"),
        (lambda: om.simulate("loss-3", [0], replications="x"), "replications are a whole number from 2"),
        (lambda: om.verify(om.evaluate("loss-3", [0, 1, 2]), prove="no"), "prove is True or False"),
        (lambda: om.verify(om.evaluate("loss-3", [0, 1, 2]), seconds="x"), "the seconds for proofs are a number"),
        (lambda: om.verify(om.evaluate("loss-3", [0, 1, 2]), "loss-3", 5), "a problem is the path .* got 5"),
        (lambda: om.plot("gautam-2x3", panel=5), "a panel is the name of one, as text, got 5"),
        (lambda: om.plot("gautam-2x3", None, 5), "path is the path of a file or folder"),
        (lambda: om.generate(np.arange(2)), "the name of a problem kind is text, .* Known: freshness"),
        (lambda: om.visits("coffman-4", {"schedule": [0]}, slots="x"), "slots are a whole number, 1 or more"),
    ],
)
def test_the_sentence_names_the_option_its_value_and_the_rule(call, sentence):
    with pytest.raises(om.RequestError, match=sentence):
        call()


def test_numbers_of_numpy_are_numbers():
    compared = om.compare("gautam-2x3", "annealing", seeds=np.int64(2), evaluations=np.int64(50), workers=np.int64(1))
    assert len(compared.runs) == 2
    assert len(om.compare("gautam-2x3", "annealing", seeds=np.array([3, 5, 7]), evaluations=50).runs) == 3
    assert om.simulate("loss-3", [0, 1, 2], replications=np.int64(2), time=np.float64(100)).replications == 2
    assert om.verify(om.evaluate("gautam-2x3", DECISION), "gautam-2x3", "gautam-2x3", prove=np.bool_(False)).verified


SMALL = {
    "placement": "gautam-2x3",
    "threshold": "avrachenkov-k5",
    "robots": "talim-two-robots",
    "freshness": "coffman-4",
    "routing": "loss-3",
}


@pytest.mark.parametrize("kind", SMALL)
@pytest.mark.parametrize("wrong", [None, {"a": 1}, "x", float("nan"), np.array([1.0, 2.0]), 1j], ids=str)
def test_a_cost_that_returns_no_number_is_told(kind, wrong):
    problem = replace(om.load(SMALL[kind]), cost=lambda measures: wrong)
    with pytest.raises(om.InstanceError, match=r"^cost is .*; the function <lambda> returned this, and a cost returns"):
        om.solve(problem)


@pytest.mark.parametrize("kind", SMALL)
def test_a_cost_that_asks_for_what_is_not_measured_is_told(kind):
    problem = om.load(SMALL[kind])
    with pytest.raises(om.RequestError, match="no measure called 'nope', which the cost <lambda> asks for; this model"):
        om.solve(replace(problem, cost=lambda measures: measures["nope"]))
    with pytest.raises(om.RequestError, match="called with the measures, and <lambda> takes"):
        replace(problem, cost=lambda: 1.0)


def test_a_cost_may_return_any_number_of_numpy():
    problem = replace(om.load("gautam-2x3"), cost=lambda measures: np.array(measures["opening"]))
    assert type(om.solve(problem, "exhaustive").objective) is float
    with pytest.raises(KeyError):  # what goes wrong inside a function of others keeps its traceback
        om.solve(replace(problem, cost=lambda measures: {}[3]))


ROBOTS = {"robots": 2, "capacity": 3, "arrival_rate": 0.6, "service_rate": 1.0}


def test_switching_may_be_a_text_of_numpy_and_nothing_else():
    assert om.RobotsProblem(**ROBOTS, switching=np.array("any")).switching == "any"
    with pytest.raises(om.InstanceError, match=r'^switching is \["one", "any"\]; robots are switched'):
        om.RobotsProblem(**ROBOTS, switching=np.array(["one", "any"]))


FORM = "demands are a list of rows of the same length, or a flat list beside a shape, a network or distances"


@pytest.mark.parametrize(
    ("demand", "sentence"),
    [
        (-1, rf"^demand is -1; {FORM}"),
        ("x", rf'^demand is "x"; {FORM}'),
        ([], rf"^demand is \[\]; {FORM}"),
        ([[]], rf"^demand is \[\[\]\]; {FORM}"),
        ([[1, 2, 3], [4]], rf"^demand is \[\[1, 2, 3\], \[4\]\]; {FORM}"),
        ([[1, 2, 3], [4, -5, 6]], r"^demand\[1\]\[1\] is -5; demands are whole numbers"),
        (np.ones((2, 3, 2)), r"^demand\[0\]\[0\] is \[1.0, 1.0\]; demands are whole numbers"),
        ([1, -2, 3], r"^demand\[1\] is -2; demands are whole numbers"),
        ([1, 2, 3, 4, 5, 6], "^shape is missing"),
    ],
)
def test_a_bad_demand_is_blamed_where_its_rows_tell_the_shape(demand, sentence):
    given = {name: value for name, value in om.load("gautam-2x3").to_data().items() if name not in ("shape", "demand")}
    with pytest.raises(om.InstanceError, match=sentence):
        om.PlacementProblem(demand=demand, **given)


def test_masked_entries_are_refused_by_the_name_of_their_field():
    masked = np.ma.masked_array([1.0, 2.0, 3.0, 4.0], [False, True, False, False])
    with pytest.raises(om.InstanceError, match=r"^change_rates is \[1.0, null, 3.0, 4.0\]; some entries are masked"):
        om.FreshnessProblem(change_rates=masked, weights=[1, 1, 1, 1], access_time=0.5)
    with pytest.raises(om.InstanceError, match=r"^demand\[0\] is .*; some entries are masked"):
        replace(om.load("gautam-2x3"), demand=[np.ma.masked_equal([1, 2, 3], 2), [4, 5, 6]])
    with pytest.raises(om.InstanceError, match=r"^decision is .*; some entries are masked"):
        om.evaluate("gautam-2x3", np.ma.masked_equal(DECISION, 1))
    with pytest.raises(om.InstanceError, match=r"^decision is .*; some entries are masked"):
        om.simulate("avrachenkov-k5", np.ma.masked_equal([1, 2, 3], 2))
    whole = np.ma.masked_array([1.0, 2.0, 3.0, 4.0], False)
    plain = om.FreshnessProblem(change_rates=whole.data, weights=[1, 1, 1, 1], access_time=0.5)
    assert om.FreshnessProblem(change_rates=whole, weights=[1, 1, 1, 1], access_time=0.5) == plain


@pytest.mark.parametrize("kind", SMALL)
def test_the_sentence_on_an_unknown_field_lists_all_that_are_taken(kind):
    cls = getattr(om, f"{kind.capitalize()}Problem")
    with pytest.raises(om.InstanceError, match="bogus is 1; there is no such field") as refused:
        cls(bogus=1)
    listed = str(refused.value).partition("Known: ")[2].rstrip(".").split(", ")
    assert listed == sorted(signature(cls).parameters)
    model = registry.kinds.part(kind, "data")
    models = [model] if hasattr(model, "model_fields") else get_args(get_args(model)[0])  # of a queue or of areas
    assert set(listed) >= {name for one in models for name in one.model_fields}


@pytest.mark.parametrize("kind", SMALL)
def test_fields_are_described_in_the_words_of_the_field(kind):
    for row in data_fields(kind):
        assert not re.search(r"\b(law|laws|sorts)\b", row.meaning), (row.field, row.meaning)
        assert not re.match(r"(of|by|for every) ", row.meaning), (row.field, row.meaning)
    notes = notes_on(kind)
    assert "default optional" not in notes and "default required" not in notes


def test_a_fit_tells_how_it_becomes_a_problem():
    fitted = om.fit("sample-crawl")
    with pytest.raises(om.RequestError, match=r"^<Fit of .* becomes a problem by its method 'instance'.*access_time"):
        om.solve(fitted)
    assert om.solve(fitted.instance(access_time=0.1)).status == "optimal"
