"""`check_problem` and `check_kind` accept what is sound and find planted defects."""

import importlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pytest

from heuristics import BinaryVectors, Disagreement, Evaluation, Followed
from heuristics.testing import Ring, RingWalk, toy_problems
from optmodels import load, plot
from optmodels.costs import Limits
from optmodels.errors import UnknownName
from optmodels.registry import kinds
from optmodels.testing import check_kind, check_problem, check_space


@dataclass(frozen=True)
class Fence:
    """Paint posts: an unpainted post beside another is forbidden. Offers everything `check_problem` looks at."""

    prices: tuple[float, ...] = (3.0, 1.0, 2.0, 5.0, 1.0)
    name: str = "fence"
    cost: Any = None
    limits: Limits = field(default_factory=Limits)
    kind: ClassVar[str] = "fence"
    measure_names: ClassVar[tuple[str, ...]] = ("price", "painted", "ladders")

    @classmethod
    def from_data(cls, data, *, name, cost=None, limits=None, folder=None):
        return cls(tuple(data["prices"]), name, cost, limits or Limits())

    def to_data(self):
        return {"prices": list(self.prices)}

    @property
    def space(self):
        return BinaryVectors(len(self.prices))

    def evaluate(self, decision):
        bare = sum(1 for a, b in pairwise(decision) if not a and not b)
        price = float(np.dot(self.prices, decision)) * (self.cost or 1.0)
        measures = {"price": price, "painted": float(sum(decision)), "ladders": None}
        return Evaluation(price, {"bare": float(bare)} if bare else {}, measures)

    def describe(self, decision):
        return {"neighbours": [sum(decision[max(0, i - 1) : i + 2]) for i in range(len(decision))]}

    def evaluate_many(self, decisions: Sequence[Any]) -> list[Evaluation]:
        return [self.evaluate(decision) for decision in decisions]

    def repair(self, decision, rng):
        return (1,) * len(self.prices)

    def lower_bound(self):
        return 1.0

    def to_pyomo(self):
        import pyomo.environ as pyo

        model = pyo.ConcreteModel()
        posts = range(len(self.prices))
        model.paint = pyo.Var(posts, domain=pyo.Binary)
        model.price = pyo.Objective(expr=sum(self.prices[i] * model.paint[i] for i in posts))
        model.no_two_bare = pyo.ConstraintList()
        for i in posts[1:]:
            model.no_two_bare.add(model.paint[i - 1] + model.paint[i] >= 1)
        return model

    def from_pyomo(self, model):
        return tuple(round(model.paint[i].value) for i in range(len(self.prices)))


@pytest.mark.parametrize("problem", toy_problems(), ids=lambda problem: problem.name)
def test_the_toy_problems_pass(problem):
    check_problem(problem)


def test_a_problem_with_everything_passes():
    check_problem(Fence())


# -- planted defects --------------------------------------------------------------------------------------------------


class Changed:
    """Base of the defects, so that they can be collected."""

    said: ClassVar[str]


class Noisy(Changed, Fence):
    said = "evaluated twice gives two answers"
    calls: ClassVar[list[int]] = []

    def evaluate(self, decision):
        self.calls.append(1)
        return replace(super().evaluate(decision), objective=float(len(self.calls)))


class Hoarding(Changed, Fence):
    said = "asking about decisions changes the problem"

    def evaluate(self, decision):
        object.__setattr__(self, "prices", (*self.prices[:-1], 7.0))
        return Evaluation(1.0, {}, super().evaluate(decision).measures)


class Forgetful(Changed, Fence):
    said = "evaluated otherwise after pickling"

    def __getstate__(self):
        return {**self.__dict__, "prices": (9.0,) * 5}


class Nan(Changed, Fence):
    said = "the objective of .* is nan"

    def evaluate(self, decision):
        return replace(super().evaluate(decision), objective=math.nan)


class Infinite(Changed, Fence):
    said = "measure 'painted' of .* is inf; None is for undefined"

    def evaluate(self, decision):
        found = super().evaluate(decision)
        return replace(found, measures={**found.measures, "painted": math.inf})


class Negative(Changed, Fence):
    said = "violation 'bare' of .* is -1"

    def evaluate(self, decision):
        return replace(super().evaluate(decision), violations={"bare": -1.0})


class Unannounced(Changed, Fence):
    said = "announced are"

    def evaluate(self, decision):
        found = super().evaluate(decision)
        return replace(found, measures={**found.measures, "beauty": 1.0})


class Unpunished(Changed, Fence):
    said = "breaks constraints at no penalty"

    def evaluate(self, decision):
        return replace(super().evaluate(decision), penalty=0.0)


class NoEvaluation(Changed, Fence):
    said = "evaluate returns float"

    def evaluate(self, decision):
        return 3.0


class Tuples(Changed, Fence):
    said = "something that JSON changes"

    def to_data(self):
        return {"prices": self.prices}


class OneWay(Changed, Fence):
    said = "reading and writing again gives other data"

    @classmethod
    def from_data(cls, data, *, name, cost=None, limits=None, folder=None):
        return cls(tuple(2 * price for price in data["prices"]), name)


class Nameless(Changed, Fence):
    said = "from_data forgets the name"

    @classmethod
    def from_data(cls, data, *, name, cost=None, limits=None, folder=None):
        return cls(tuple(data["prices"]))


@dataclass(frozen=True)
class LosesCost(Changed, Fence):
    said: ClassVar[str] = "is evaluated otherwise after a file"
    cost: Any = 2.0

    @classmethod
    def from_data(cls, data, *, name, cost=None, limits=None, folder=None):
        return cls(tuple(data["prices"]), name, 1.0)


class OddDescription(Changed, Fence):
    said = "tells other things than for others"

    def describe(self, decision):
        return {"painted posts" if sum(decision) > 2 else "few": 1}


class SameNames(Changed, Fence):
    said = "describe and the measures share the names"

    def describe(self, decision):
        return {"price": [1]}


class WrongBatch(Changed, Fence):
    said = "evaluate_many and evaluate differ"

    def evaluate_many(self, decisions):
        return [replace(self.evaluate(decision), objective=-1.0) for decision in decisions]


class ShortBatch(Changed, Fence):
    said = "evaluate_many answers 19 of 20"

    def evaluate_many(self, decisions):
        return [self.evaluate(decision) for decision in decisions[1:]]


class RepairsOutside(Changed, Fence):
    said = "which is not in the space"

    def repair(self, decision, rng):
        return (2,) * 5


class HighBound(Changed, Fence):
    said = "below the bound"

    def lower_bound(self):
        return 11.0


class OtherProgram(Changed, Fence):
    said = "by enumeration, .* by the integer program|the solver|claimed"

    def to_pyomo(self):
        return replace(Fence(), prices=self.prices[::-1]).to_pyomo()


class LooseProgram(Changed, Fence):
    said = "claimed feasible breaks"

    def to_pyomo(self):
        model = super().to_pyomo()
        model.no_two_bare.deactivate()
        return model


class TightProgram(Changed, Fence):
    said = "by enumeration"

    def to_pyomo(self):
        model = super().to_pyomo()
        model.no_two_bare.add(model.paint[0] == 1)
        return model


class SmallSpace(Changed, Fence):
    said = "the space says it has 64 decisions and lists 32|lists"

    @property
    def space(self):
        class Wrong(BinaryVectors):
            size = 64

        return Wrong(5)


class WrongChange(Changed, Ring):
    said = "reports .*, not the change it makes"

    def start(self, decision):
        class Walk(RingWalk):
            def flip(self, index):
                return super().flip(index) + 1.0

        judged = self.evaluate(decision)
        return Walk(self, list(decision), judged.objective, round(judged.violation))


class Drifting(Changed, Ring):
    said = "the walk stands at"

    def start(self, decision):
        class Walk(RingWalk):
            def flip(self, index):
                self.price += 0.01
                return super().flip(index) + 0.01

        judged = self.evaluate(decision)
        return Walk(self, list(decision), judged.objective, round(judged.violation))


class Optimist(Changed, Ring):
    said = "the walk says feasible: True"

    def start(self, decision):
        class Walk(RingWalk):
            feasible = True

        judged = self.evaluate(decision)
        return Walk(self, list(decision), judged.objective, round(judged.violation))


class Elsewhere(Changed, Ring):
    said = "a walk from .* stands on"

    def start(self, decision):
        return super().start((1,) * len(decision))


class Boaster(Changed, Ring):
    said = "follow calls .* the best with -5"

    def start(self, decision):
        class Walk(RingWalk):
            def follow(self, moves, tolerances, below):
                return Followed(0, (1,) * len(self.bits), -5.0)

        judged = self.evaluate(decision)
        return Walk(self, list(decision), judged.objective, round(judged.violation))


@pytest.mark.parametrize("defect", Changed.__subclasses__(), ids=lambda kind: kind.__name__)
def test_a_planted_defect_is_found(defect):
    # A program that contradicts the evaluator is already refused by the oracle, in its own words.
    with pytest.raises((AssertionError, Disagreement), match=defect.said):
        check_problem(defect())


@pytest.mark.parametrize("problem", [3, object(), Fence], ids=["a number", "an object", "a class"])
def test_what_is_no_problem_is_refused(problem):
    with pytest.raises(AssertionError):
        check_problem(problem)


def test_a_space_that_makes_strangers_is_found():
    class Careless(BinaryVectors):
        def neighbour(self, decision, rng):
            return (3, *decision[1:])

    with pytest.raises(AssertionError, match=r"neighbour made .* which is not in the space"):
        check_space(Careless(4), np.random.default_rng(0))


# --- kinds ------------------------------------------------------------------------------------------------------------


class Lying:
    """An experiment that sees everybody wait."""

    def __init__(self, experiment):
        self.experiment = experiment

    def __getattr__(self, name):
        return getattr(self.experiment, name)

    def measures(self, means):
        return {name: 2 * value for name, value in self.experiment.measures(means).items()}


@pytest.fixture
def staffing(monkeypatch, root):
    """Register the kind from outside with fields of its record changed, and give it its module."""
    monkeypatch.syspath_prepend(str(root / "tests" / "plugins" / "optmodels-staffing"))
    problem = importlib.import_module("optmodels_staffing.problem")
    record = importlib.import_module("optmodels_staffing.kind").KIND

    def register(**changes):
        changed = replace(record, **changes)
        kinds.register("staffing", changed, replace=True)
        return changed

    register.module = problem
    yield register
    kinds.unregister("staffing")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"question": "How many."}, "the question does not end in a question mark"),
        ({"measures": {"wages": "in money"}}, "its measures are wages, those of problems wages, server_hours"),
        ({"simulated": False}, "simulated is False, and problems have a method experiment"),
        ({"example": None}, "there is no example; name the smallest instance"),
        ({"recommended": ("local-search",)}, "'local-search', recommended first, does not prove its answer"),
        ({"recommended": ("highs", "tabulate")}, "the recommended 'tabulate' is no strategy that has a name here"),
        ({"recommended": ("highs", "dejavu")}, "the recommended 'dejavu' does not take the example: strategy 'dejavu'"),
        ({"picture": lambda problem, result: 3}, "the picture is no figure of matplotlib but int"),
        ({"picture": "optmodels_staffing:nothing"}, "picture 'staffing' (this process) cannot be loaded"),
        ({"choice": "optmodels_staffing:nothing"}, "choice 'staffing' (this process) cannot be loaded"),
        ({"choice": lambda problem: [("highs",)]}, "choice yields ('highs',), where a strategy and the reason"),
        ({"choice": lambda problem: [("highs", "It proves.")]}, "the reason that choice gives for 'highs' ends in"),
        ({"choice": lambda problem: [("tabulate", "it proves")]}, "no strategy is called 'tabulate'"),
        ({"choice": lambda problem: 1 / 0}, "choice 'staffing' (this process) fails: ZeroDivisionError"),
        ({"portfolio": lambda problem: ["highs", "tabulate"]}, "no strategy is called 'tabulate'"),
        ({"portfolio": lambda problem: 1 / 0}, "portfolio 'staffing' (this process) fails: ZeroDivisionError"),
        ({"words": lambda problem, result: [3]}, "words tells the answer of 'highs' by 3, which is no line of text"),
        ({"words": lambda problem, result: result["none"]}, "words 'staffing' (this process) fails: KeyError"),
        ({"beginning": "no/such.json"}, "there is no file 'no/such.json', with which `optmodels new` is to begin"),
        ({"beginning": "placement/gautam-2x3.json"}, "the beginning is of kind 'placement'"),
        ({"commands": {"quiet": lambda: 0}}, "command 'quiet' has no docstring, and so no help"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_a_record_promises_and_does_not_keep_is_told(staffing, changes, sentence):
    pytest.importorskip("matplotlib")
    with pytest.raises(AssertionError) as failure:
        check_kind(staffing(**changes))
    told = str(failure.value).splitlines()
    assert len(told) == 1 and told[0].startswith(f"kind 'staffing': {sentence}")


def test_a_kind_with_a_choice_words_and_a_beginning_passes(staffing):
    pytest.importorskip("matplotlib")
    told = {"choice": lambda problem: [("highs", "it proves")], "words": lambda problem, result: ["three by day"]}
    check_kind(staffing(**told, beginning=staffing().example))


def test_all_that_is_broken_in_a_kind_is_told_at_once(staffing, monkeypatch):
    pytest.importorskip("matplotlib")
    honest = staffing.module.StaffingProblem.experiment
    monkeypatch.setattr(staffing.module.StaffingProblem, "experiment", lambda self, at: Lying(honest(self, at)))
    generator = importlib.import_module("optmodels_staffing.generate").StaffingGenerator
    made = generator.instance
    monkeypatch.setattr(generator, "instance", lambda self: made(generator()))
    with pytest.raises(AssertionError) as failure:
        check_kind(staffing(question="How many."))
    told = str(failure.value)
    assert "does not end in a question mark" in told
    assert "the simulation of the example does not agree with the evaluator" in told
    assert "the generator makes the same data by another seed" in told


def test_a_kind_that_has_no_name_here_is_not_tried():
    with pytest.raises(UnknownName, match="no problem kind is called 'nothing'"):
        check_kind("nothing")


def test_the_picture_of_the_kind_that_the_page_builds_takes_axes_and_a_panel(staffing):
    figures = pytest.importorskip("matplotlib.figure")
    problem = load(staffing().example)
    figure = figures.Figure()
    axes = figure.subplots(1, 2)
    assert plot(problem, ax=axes[1]) is figure
    assert axes[1].get_xlabel() == "hour" and not axes[0].has_data()
    assert [one.get_label() for one in plot(problem, panel="servers").axes] == ["servers"]
    with pytest.raises(UnknownName, match="this picture has no panel"):
        plot(problem, panel="wages")
