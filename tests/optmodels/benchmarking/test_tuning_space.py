"""Ranges of parameters: read, refused, drawn; and what the strategies of the package declare."""

from collections import Counter

import numpy as np
import pytest

from heuristics import Genetic
from optmodels import RequestError
from optmodels.benchmarking import space_of
from optmodels.benchmarking.tuning_space import Dimension
from optmodels.registry import make_strategy, strategies

RNG = np.random.default_rng(0)


def values(text, annotation, count=2000):
    dimension = Dimension.of("p", text, annotation)
    return [dimension.value(float(place)) for place in np.random.default_rng(1).random(count)]


def test_whole_numbers_are_equally_likely():
    seen = Counter(values("1..4", int))
    assert set(seen) == {1, 2, 3, 4} and min(seen.values()) > 400


def test_a_logarithmic_range_has_as_much_in_every_order_of_magnitude():
    drawn = np.array(values("0.001..10:log", float))
    assert drawn.min() >= 0.001 and drawn.max() <= 10
    share = np.histogram(np.log10(drawn), bins=4, range=(-3, 1))[0] / len(drawn)
    assert np.all(np.abs(share - 0.25) < 0.05)
    whole = values("1..1000:log", int)
    assert min(whole) == 1 and max(whole) > 950 and np.median(whole) < 60
    assert Dimension.of("p", "1..1000:log", int).value(1 - 1e-9) == 1000


def test_real_numbers_have_three_digits_and_stay_inside():
    drawn = values("0.12345..0.12349", float)
    assert all(0.12345 <= one <= 0.12349 for one in drawn)
    assert all(float(f"{one:.3g}") == one for one in values("0..1", float))


def test_alternatives_are_equally_likely():
    drawn = values("none,0.1..10", float | None)
    assert 900 < sum(one is None for one in drawn) < 1100
    assert set(values("true,false", bool)) == {True, False}
    assert set(Dimension.of("p", [None, 3, 5], int | None).values()) == {None, 3, 5}


@pytest.mark.parametrize(
    ("vary", "sentence"),
    [
        ("population=200..20", "goes from a finite number to a higher one"),
        ("population=0..10:log", "on a logarithmic scale is above 0"),
        ("population=2..10:square", "has the scale 'log' or none, not 'square'"),
        ("population=1.5..3", "is a whole number"),
        ("population=few", "is a whole number"),
        ("crossover=0..nan", "is a number"),
        ("crossover=0..inf", "goes from a finite number"),
        ("crossover=0.5..2", "crossover must be a probability, got 2"),
        ("population=50", "has one value only"),
        ("repair=0..1", "has no range, only values"),
        ("generations", "no range of 'generations' is declared"),
        ("populaton=2..3", "did you mean 'population'"),
        ("=3..4", "what to vary is written"),
        (["polish=1..2", "polish=3..4"], "is varied twice"),
        ({"polish": 7}, "is a text such as"),
        ([7], "what to vary is written"),
    ],
)
def test_wrong_ranges_are_refused_in_a_sentence(vary, sentence):
    with pytest.raises(RequestError) as caught:
        space_of("genetic", vary)
    assert sentence in str(caught.value)


def test_what_is_given_is_not_varied():
    assert "population" in space_of("genetic").ranges
    assert "population" not in space_of("genetic:population=30").ranges
    assert space_of("genetic:population=30").label == "genetic:population=30"
    with pytest.raises(RequestError, match="is given and varied, too"):
        space_of("genetic:population=30", "population=3..4")
    with pytest.raises(RequestError, match="gives all parameters that could be tuned"):
        space_of("dejavu:transpose=true")


def test_configurations_are_distinct_and_the_default_is_the_first():
    drawn = space_of("genetic").draw(40, np.random.default_rng(2))
    assert len(drawn) == 40 and next(iter(drawn)) == "genetic"
    assert all(make_strategy(label) == one for label, one in drawn.items())
    low = sum(one.population < 45 for one in drawn.values())  # a Latin hypercube: half of them, but for the default
    assert 17 <= low <= 23


def test_parameters_that_contradict_each_other_are_drawn_anew():
    drawn = space_of("genetic", ["population=2..12", "elite=1..9"]).draw(30, np.random.default_rng(2))
    assert len(drawn) == 30 and all(one.elite < one.population for one in drawn.values())


def test_a_small_space_is_tried_in_full():
    drawn = space_of("local-search", ["improvement", "swaps=0,50"]).draw(100, RNG)
    assert set(drawn) == {
        *("local-search", "local-search:improvement=best", "local-search:swaps=0"),
        "local-search:improvement=best,swaps=0",
    }


def test_a_space_without_another_configuration_is_refused():
    with pytest.raises(RequestError, match=r"no configuration of .* other than itself"):
        space_of(Genetic(population=3, elite=2), {"population": [2, 3]}).draw(10, RNG)


@pytest.mark.parametrize("name", [one for one in strategies if hasattr(strategies[one], "tunable")])
def test_what_a_strategy_declares_is_sound(name):
    space = space_of(name)
    assert set(space.ranges) == set(strategies[name].tunable)
    assert len(space.draw(20, np.random.default_rng(0))) > 1


def test_the_searches_declare_ranges():
    assert {"annealing", "genetic", "local-search", "dejavu"} <= {
        name for name in strategies if hasattr(strategies[name], "tunable")
    }
