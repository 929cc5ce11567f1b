"""Costs and limits on measures, and their form in files."""

import math
import pickle
from dataclasses import dataclass

import pytest

from optmodels import registry
from optmodels.costs import (
    Lexicographic,
    Limit,
    Limits,
    UnknownMeasure,
    WeightedSum,
    cost_from_data,
    cost_to_data,
    is_linear,
    measures_used,
)
from optmodels.errors import InstanceError, MissingField, RequestError

MEASURES = {"opening": 8.0, "delay": 0.25, "undefined": None}


@dataclass(frozen=True)
class Squared:
    """A cost from outside."""

    per_unit: float
    of: str = "delay"

    def __call__(self, measures):
        return self.per_unit * measures[self.of] ** 2


@pytest.fixture
def squared():
    registry.costs.register("squared", Squared)
    yield
    registry.costs.unregister("squared")


def test_a_weighted_sum_adds_weight_times_measure():
    assert WeightedSum({"opening": 2.0, "delay": -4})(MEASURES) == 15.0


def test_a_weight_of_zero_needs_no_measure():
    assert WeightedSum({"opening": 1.0, "undefined": 0})(MEASURES) == 8.0


def test_a_measure_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(UnknownMeasure, match=r"no measure called 'loss'; this model offers opening, delay, undefined."):
        WeightedSum({"loss": 1.0})(MEASURES)
    with pytest.raises(LookupError, match="not defined for this decision"):
        WeightedSum({"undefined": 1.0})(MEASURES)


@pytest.mark.parametrize("weights", [{}, [], None, {"a": "1"}, {"a": math.nan}, {"a": math.inf}, {"a": True}])
def test_weights_that_are_no_numbers_are_refused(weights):
    with pytest.raises(InstanceError, match=r"^cost\.weights"):
        WeightedSum(weights)


def test_the_first_measure_decides_and_the_second_breaks_ties():
    cost = Lexicographic(("opening", "delay"))
    cheap_slow, cheap_fast, dear_fast = (
        cost({"opening": opening, "delay": delay}) for opening, delay in ((8, 9e9), (8, 0.1), (8.001, -9e9))
    )
    assert cheap_fast < cheap_slow < dear_fast


def test_differences_below_the_resolution_are_ties():
    cost = Lexicographic(("opening", "delay"), resolution=0.1)
    assert cost({"opening": 8.01, "delay": 1.0}) < cost({"opening": 8.0, "delay": 2.0})


def test_values_are_rounded_to_the_nearest_step_so_that_ties_lie_on_either_side_of_a_multiple():
    cost = Lexicographic(("opening", "delay"), resolution=0.1)
    for opening in (7.96, 7.99, 8.01, 8.04):
        assert cost({"opening": opening, "delay": 1.0}) == cost({"opening": 8.0, "delay": 1.0})
        assert cost({"opening": opening, "delay": 1.0}) < cost({"opening": 8.0, "delay": 2.0})
    assert cost({"opening": 7.94, "delay": 9.0}) < cost({"opening": 8.0, "delay": 1.0})
    # Half a step, and the part of the second measure, above a multiple: the formula of the docstring.
    assert cost({"opening": 8.0, "delay": 0.0}) == pytest.approx(8.05)


def test_three_measures_keep_their_order():
    cost = Lexicographic(("a", "b", "c"))
    values = [cost(dict(zip("abc", triple, strict=True))) for triple in ((1, 1, 1), (1, 1, 2), (1, 2, 0), (2, 0, 0))]
    assert values == sorted(set(values))


@pytest.mark.parametrize("measures", ["opening", (), (1,), ("a", "b", "c", "d")])
def test_lexicographic_takes_one_to_three_names(measures):
    with pytest.raises(InstanceError, match=r"^cost\.measures"):
        Lexicographic(measures)


@pytest.mark.parametrize("resolution", [0, -1, math.nan, "fine"])
def test_a_resolution_is_a_positive_number(resolution):
    with pytest.raises(InstanceError, match=r"^cost\.resolution"):
        Lexicographic(("a",), resolution)


def test_a_cost_says_whether_it_is_linear_and_a_bare_callable_is_not():
    assert is_linear(None)
    assert is_linear(WeightedSum({"a": 1.0}))
    assert not is_linear(Lexicographic(("a",)))
    assert not is_linear(lambda measures: 0.0)


# -- in files ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        {"name": "weighted-sum", "weights": {"opening": 1.0, "delay": 2}},
        {"name": "lexicographic", "measures": ["opening", "delay"], "resolution": 0.01},
        {"name": "squared", "per_unit": 2.0, "of": "opening"},
    ],
)
def test_a_cost_survives_the_way_to_a_file_and_back(data, squared):
    cost = cost_from_data(data)
    assert cost_to_data(cost) == data
    assert cost_from_data(cost_to_data(cost)) == cost
    assert pickle.loads(pickle.dumps(cost)) == cost


def test_no_cost_is_no_cost():
    assert cost_from_data(None) is None
    assert cost_to_data(None) is None


def test_a_registered_cost_can_be_named_in_a_file(squared):
    assert cost_from_data({"name": "squared", "per_unit": 3})(MEASURES) == 3 * 0.0625


def test_a_cost_no_file_could_name_is_refused_with_the_remedy():
    with pytest.raises(RequestError, match="register it first"):
        cost_to_data(Squared(1.0))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("weighted-sum", r'^cost is "weighted-sum"; a cost is an object'),
        ({}, r"^cost.name is missing; name one of expression, lexicographic, weighted-sum"),
        ({"name": 3}, r"^cost.name is 3; name one of"),
        ({"name": "weigthed-sum"}, r"^cost.name is .*Did you mean 'weighted-sum'"),
        ({"name": "weighted-sum"}, r"^cost.weights is missing"),
        (
            {"name": "weighted-sum", "weights": {"a": 1}, "bias": 2},
            r"^cost.bias is 2; cost 'weighted-sum' takes weights",
        ),
        (
            {"name": "lexicographic", "measures": ["a"], "resolution": "x"},
            r'^cost.resolution is "x"; this field is a number',
        ),
        ({"name": "os:system", "command": "true"}, r"^cost.name is \"os:system\"; no cost is called"),
    ],
)
def test_a_cost_not_understood_is_refused_with_field_value_and_rule(data, sentence):
    with pytest.raises(InstanceError, match=sentence):
        cost_from_data(data)


def test_a_cost_from_outside_that_refuses_its_values_is_quoted(squared):
    with pytest.raises(InstanceError, match=r'^cost.per_unit is "two"; this field is a number'):
        cost_from_data({"name": "squared", "per_unit": "two"})
    with pytest.raises(MissingField, match="per_unit"):
        cost_from_data({"name": "squared"})


def test_the_measures_a_cost_reads_are_told_with_their_places():
    assert measures_used(WeightedSum({"a": 1.0})) == {"a": ("cost.weights.a", 1.0)}
    assert measures_used(Lexicographic(("a", "b"))) == {"a": ("cost.measures[0]", "a"), "b": ("cost.measures[1]", "b")}
    assert measures_used(Squared(1.0)) == {}
    assert measures_used(None) == {}


# -- limits -----------------------------------------------------------------------------------------------------------


def test_limits_are_broken_by_an_amount_or_kept():
    limits = Limits.from_data({"opening": 7, "delay": {"min": 0.5, "max": 1}, "undefined": {"max": 0}})
    assert limits.violations(MEASURES) == {"opening above 7": 1.0, "delay below 0.5": 0.25}
    assert Limits.from_data({"opening": 8}).violations(MEASURES) == {}


def test_limits_survive_the_way_to_a_file_and_back():
    data = {"opening": {"max": 7}, "delay": {"min": 0.5, "max": 1}}
    limits = Limits.from_data(data)
    assert limits.to_data() == data
    assert limits.by_measure["opening"] == Limit(maximum=7)
    assert limits and not Limits()


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"a": {}}, "limits.a"),
        ({"a": {"most": 1}}, "limits.a"),
        ({"a": "low"}, "limits.a.max"),
        ({"a": {"min": None}}, "limits.a.min"),
        ({"a": {"min": 2, "max": 1}}, "limits.a"),
        ({"a": math.nan}, "limits.a.max"),
        ({"a": True}, "limits.a.max"),
    ],
)
def test_a_limit_not_understood_is_refused(data, field):
    with pytest.raises(InstanceError) as failure:
        Limits.from_data(data)
    assert failure.value.field == field


def test_a_limit_on_a_measure_that_is_not_there_is_refused():
    with pytest.raises(UnknownMeasure, match="no measure called 'loss'"):
        Limits.from_data({"loss": 1}).violations(MEASURES)
