"""The cost `expression` against Python's own arithmetic, and what becomes of formulas without a value."""

import dataclasses
import json
import math
import operator
import pickle
import random
from pathlib import Path

import numpy as np
import pytest

import optmodels as om
from optmodels.costs import (
    UnknownMeasure,
    WeightedSum,
    cost_from_data,
    cost_to_data,
    is_linear,
    linear_weights,
    measures_used,
    sole_price,
)
from optmodels.errors import InstanceError
from optmodels.formulas import Expression

INSTANCES = Path(__file__).parents[3] / "instances"
MEASURES = {"x": 0.75, "y": -2.0, "z": 3.0, "none": None}


def test_the_example_of_the_contract():
    cost = Expression("5*loss_rate + 300*max(0, starvation - 0.1)**2", {"a": 1.0})
    assert cost({"loss_rate": 0.2, "starvation": 0.3}) == pytest.approx(13.0, rel=1e-14)
    assert cost({"loss_rate": 0.2, "starvation": 0.05}) == 1.0
    assert not cost.linear
    assert cost.weights is None


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("5*(x > 0.5)", 5.0),
        ("5*(x > 0.75)", 0.0),
        ("5*(x >= 0.75)", 5.0),
        ("(x == 0.75)*(y != 2)", 1.0),
        ("-x**2", -0.5625),
        ("2**-z", 0.125),
        ("z**2**-1", math.sqrt(3)),
        ("x - y - z", -0.25),
        ("z/2/3", 0.5),
        ("abs(y)*sqrt(z*z)", 6.0),
        ("min(x, y, z) + max(x, y, z)", 1.0),
        ("exp(log(z))", 3.0),
        ("+x --y", -1.25),
        (" \t\n x", 0.75),
        (".5e1*x", 3.75),
    ],
)
def test_operators_bind_as_they_do_in_python(formula, value):
    assert Expression(formula)(MEASURES) == pytest.approx(value, rel=1e-15)


FORMS = (
    *("({0} + {1})", "({0} - {1})", "{0}*({1})", "({0})/({1})", "-({0})", "({0})**2", "({0})**({1})", "({0} < {1})"),
    *("min({0}, {1}, {2})", "max({0}, {1})", "abs({0})", "exp({0})", "log({0})", "sqrt({0})", "{0} + {1} - {2}"),
)


def random_formula(rng, levels):
    """A text that both Python and formulas can read."""
    if levels == 0 or rng.random() < 0.15:
        return rng.choice(["x", "y", "z", "x", "0", "1", "2", "0.1", "1.5e1", ".5", "c"])
    parts = [random_formula(rng, levels - 1) for _ in range(3)]
    return rng.choice(FORMS).format(*parts)


class Strict(float):
    """A number whose arithmetic raises where the result is no finite number, and never is complex."""


def strict(compute):
    def computed(*values):
        found = compute(*map(float, values))
        if not math.isfinite(found):
            raise ArithmeticError
        return Strict(found)

    return computed


PLAIN = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv, "pow": math.pow}
for _name, _compute in PLAIN.items():
    setattr(Strict, f"__{_name}__", strict(_compute))
    setattr(Strict, f"__r{_name}__", lambda self, other, compute=_compute: strict(compute)(other, self))
Strict.__neg__ = strict(operator.neg)


def by_python(formula, values):
    """The value by Python's own reader: an independent second road."""
    names = {name: Strict(value) for name, value in values.items()}
    names |= {"min": min, "max": max, "abs": lambda a: Strict(abs(float(a)))}
    names |= {"exp": strict(math.exp), "log": strict(math.log), "sqrt": strict(math.sqrt)}
    try:
        return float(eval(formula, {"__builtins__": {}}, names))
    except (ArithmeticError, ValueError, TypeError):  # the last: Python's powers of comparisons may be complex
        return math.inf


def test_values_are_those_of_python():
    rng = random.Random(3)
    seen = {"value": 0, "none": 0, "refused": 0}
    for _ in range(4_000):
        formula = random_formula(rng, rng.randint(1, 4))
        values = {name: rng.choice([0.0, 1.0, -1.0, rng.uniform(-5, 5), 2.0**10]) for name in "xyz"}
        try:
            cost = Expression(formula, {"c": 0.25})
        except InstanceError as refusal:
            assert any(word in str(refusal) for word in ("finite value", "huge power", "one measure"))
            seen["refused"] += 1
            continue
        expected = by_python(formula, values | {"c": 0.25})
        found = cost(values)
        if math.isinf(expected):
            # 0*(1e200*1e200*x) is affine, and its weights are too large: what is left has no value either way
            assert found == math.inf or cost.weights is not None
            seen["none"] += 1
        else:
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-9), formula
            seen["value"] += 1
    assert min(seen.values()) > 200


@pytest.mark.parametrize(
    ("formula", "weights", "offset"),
    [
        ("x", {"x": 1.0}, 0.0),
        ("2*x + 3*y", {"x": 2.0, "y": 3.0}, 0.0),
        ("2*(x + y) - x/4", {"x": 1.75, "y": 2.0}, 0.0),
        ("-(x - a*(y + 1))", {"x": -1.0, "y": 10.0}, 10.0),
        ("x + 1 - 1", {"x": 1.0}, 0.0),
        ("x - x", {"x": 0.0}, 0.0),
        ("max(2, 3)*x", {"x": 3.0}, 0.0),
        ("(1e17 + x) - 1e17", {"x": 1.0}, 0.0),
    ],
)
def test_affine_formulas_have_weights(formula, weights, offset):
    cost = Expression(formula, {"a": 10})
    assert cost.weights == weights
    assert cost.offset == offset
    assert cost.linear == (offset == 0)
    assert is_linear(cost) == cost.linear
    assert linear_weights(cost) == (weights if offset == 0 else None)
    assert cost(MEASURES) == math.fsum([offset, *(w * MEASURES[name] for name, w in weights.items())])


@pytest.mark.parametrize(
    "formula",
    ["x*y", "x/y", "1/x", "x**2", "x**1", "max(0, x)", "abs(x)", "(x > 0)", "1e300*(1e300*x)", "x/(1e-300)/1e-300"],
)
def test_other_formulas_have_none(formula):
    cost = Expression(formula)
    assert cost.weights is None
    assert not cost.linear


def test_a_formula_of_one_measure_is_a_price_of_it():
    assert sole_price(Expression("2*x + 0*y"), "x") == 2.0
    assert sole_price(Expression("2*x + 1"), "x") is None


@pytest.mark.parametrize(
    ("formula", "measures"),
    [
        ("1/x", {"x": 0.0}),
        ("-1/x", {"x": 0.0}),
        ("0*log(x) + y", {"x": 0.0, "y": 1.0}),
        ("min(0, log(x))", {"x": -1.0}),
        ("sqrt(x) + y", {"x": -1e-9, "y": 1.0}),
        ("x**0.5", {"x": -1.0}),
        ("x**-1", {"x": 0.0}),
        ("-exp(x)", {"x": 1e6}),
        ("-x*x", {"x": 1e200}),
        ("max(0, x*x - x*x)", {"x": 1e200}),
        ("1/x**2", {"x": 1e200}),
        ("x + y + z + abs(x)", {"x": 1e308, "y": 1e308, "z": -1e308}),
        ("-x", {"x": math.inf}),
        ("5*(x > 1)", {"x": math.inf}),
        ("1/x", {"x": math.inf}),
        ("2*x", {"x": 1e308}),
        ("1/x", {"x": np.float64(0)}),
    ],
)
def test_what_has_no_finite_value_costs_plus_infinity(formula, measures):
    assert Expression(formula)(measures) == math.inf


def test_a_measure_that_is_no_number_is_no_fault_of_the_formula():
    assert math.isnan(Expression("max(0, x)")({"x": math.nan}))
    assert math.isnan(Expression("2*x")({"x": math.nan}))


def test_measures_that_are_not_there_or_not_defined_are_named():
    with pytest.raises(UnknownMeasure, match=r"no measure called 'w'; this model offers x, y, z, none\."):
        Expression("w*w")(MEASURES)
    for formula in ("none", "max(0, none)", "none == 0"):
        with pytest.raises(UnknownMeasure, match="'none' is not defined for this decision"):
            Expression(formula)(MEASURES)
    assert Expression("x + 0*none")(MEASURES) == 0.75  # as with a weight of zero


def test_numbers_of_numpy_are_taken_as_python_has_them():
    price = Expression("x**2 + y")({"x": np.float64(2), "y": np.int64(1)})
    assert price == 5.0
    assert type(price) is float


def test_costs_are_values():
    cost = Expression("a*x + max(0, y)", {"a": 2.0})
    assert cost == Expression("a*x + max(0, y)", {"a": 2})
    assert cost != Expression("a*x + max(0, y)", {"a": 3})
    assert repr(cost) == "Expression(formula='a*x + max(0, y)', constants={'a': 2.0})"
    again = pickle.loads(pickle.dumps(cost))
    assert again == cost
    assert again(MEASURES) == cost(MEASURES) == 1.5
    assert dataclasses.replace(cost, constants={"a": 4.0})(MEASURES) == 3.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        cost.formula = "y"


def test_constants_are_those_of_the_beginning():
    constants = {"a": 2.0}
    cost = Expression("a*x", constants)
    constants["a"] = 5.0
    assert cost.constants == {"a": 2.0}
    assert cost(MEASURES) == 1.5


def test_files_hold_formulas():
    data = {"name": "expression", "formula": "a*x", "constants": {"a": 1.5}}
    cost = cost_from_data(data)
    assert cost == Expression("a*x", {"a": 1.5})
    assert cost_to_data(cost) == data
    assert json.loads(json.dumps(cost_to_data(cost))) == data
    assert cost_from_data({"name": "expression", "formula": "x"}) == Expression("x")
    with pytest.raises(InstanceError, match=r"cost\.formula is missing"):
        cost_from_data({"name": "expression"})
    with pytest.raises(InstanceError, match=r"cost\.weights is .*takes formula \(required\), constants="):
        cost_from_data({"name": "expression", "formula": "x", "weights": {}})


def with_cost(name, cost):
    """A shipped instance with another cost."""
    (file,) = INSTANCES.glob(f"*/{name}.json")
    data = json.loads(file.read_text())
    data.pop("best_known", None)
    return om.Instance.from_data(data | {"cost": cost})


def test_unknown_names_are_answered_with_the_measures_of_the_kind():
    with pytest.raises(InstanceError, match=r"constants no such name\. Did you mean 'loss_rate'\? Known: active_"):
        with_cost("avrachenkov-k5", {"name": "expression", "formula": "5*los_rate"}).problem()


def test_a_constant_hides_no_measure():
    cost = {"name": "expression", "formula": "loss*x0 + starvation", "constants": {"x0": 1, "loss": 3}}
    with pytest.raises(InstanceError, match=r"cost\.constants\.loss is 3; kind 'threshold' has a measure of this name"):
        with_cost("avrachenkov-k5", cost).problem()


def test_measures_used_are_told_by_place():
    assert measures_used(Expression("x*y + y")) == {"x": ("cost.formula", "x"), "y": ("cost.formula", "y")}


def test_python_gives_formulas_too():
    problem = dataclasses.replace(om.load("gautam-2x3"), cost=Expression("opening + 3*(mean_delay > 0.2)"))
    answer = om.solve(problem, "exhaustive")
    assert answer.objective == om.evaluate(problem, answer.decision).objective
    assert om.solve("gautam-2x3", "exhaustive").objective <= answer.objective


@pytest.mark.parametrize(
    ("name", "formula", "weights", "strategy"),
    [
        ("gautam-2x3", "2*(opening + open_sites) - opening", {"opening": 1.0, "open_sites": 2.0}, "highs"),
        ("avrachenkov-k3", "5*loss_rate + 300*starvation/2", {"loss_rate": 5.0, "starvation": 150.0}, "optimal-policy"),
        ("talim-two-robots", "loss_rate + 0.4*starvation", {"loss_rate": 1.0, "starvation": 0.4}, "policy-iteration"),
        ("coffman-4", "3*obsolescence", {"obsolescence": 3.0}, "lagrangian"),
        ("loss-3", "2*cost - cost/2", {"cost": 1.5}, "min-mean-cycle"),
    ],
)
def test_exact_strategies_take_affine_formulas_without_a_constant(name, formula, weights, strategy):
    asked = with_cost(name, {"name": "expression", "formula": formula}).problem()
    summed = dataclasses.replace(asked, cost=WeightedSum(weights))
    found, expected = om.solve(asked, strategy), om.solve(summed, strategy)
    assert found.objective == pytest.approx(expected.objective, rel=1e-12)
    assert found.status == expected.status
    assert found.decision == expected.decision


def test_they_refuse_a_constant_term():
    asked = with_cost("gautam-2x3", {"name": "expression", "formula": "opening + 1"}).problem()
    with pytest.raises(om.UnsupportedProblem, match="linear in the measures"):
        om.solve(asked, "highs")
    assert om.solve(asked, "exhaustive").objective == om.solve("gautam-2x3", "exhaustive").objective + 1


def test_searches_go_on_where_a_formula_has_no_value():
    asked = with_cost("avrachenkov-k5", {"name": "expression", "formula": "20*active_robots - log(0.1 - starvation)"})
    best = om.solve(asked.problem(), "exhaustive")
    assert math.isfinite(best.objective)
    assert best.measures["starvation"] < 0.1
    for strategy in ("annealing", "genetic", "local-search"):
        found = om.solve(asked.problem(), strategy, evaluations=2_000, seed=1)
        assert math.isfinite(found.objective)
        assert found.objective >= best.objective * (1 - 1e-12)


def test_the_shipped_instance_is_what_it_says():
    problem = om.load("avrachenkov-k5-formula")
    measures = om.evaluate(problem, [-1, 2, 2]).measures
    rest = measures["starvation"] - 0.05
    assert rest > 0
    weights = {"loss_rate": 5, "obsolescence_rate": 10, "response_time": 2, "active_robots": 20}
    price = sum(weight * measures[name] for name, weight in weights.items()) + 3000 * rest**2
    assert om.evaluate(problem, [-1, 2, 2]).objective == pytest.approx(price, rel=1e-12)
