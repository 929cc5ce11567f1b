"""The simplex: its moves stay in it, and long points stay arrays."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heuristics import Simplex

SEEDS = st.integers(0, 2**32)


def generator(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@given(st.integers(1, 6), st.floats(0.01, 1000), SEEDS)
def test_moves_in_a_simplex_stay_in_it(length: int, total: float, seed: int) -> None:
    space, rng = Simplex(length, total), generator(seed)
    first, second = space.sample(rng), space.sample(rng)
    for point in (first, space.neighbour(first, rng), *space.crossover(first, second, rng)):
        assert point in space and type(point) is tuple
    corner = (total,) + (0.0,) * (length - 1)
    assert space.neighbour(corner, rng) in space


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=6), SEEDS)
def test_repair_finds_the_nearest_point_of_a_simplex(values: list[float], seed: int) -> None:
    space, rng = Simplex(len(values)), generator(seed)
    nearest = space.repair(values)
    assert nearest in space
    distance = math.dist(nearest, values)
    assert all(distance <= math.dist(space.sample(rng), values) + 1e-9 for _ in range(20))


def test_a_simplex_has_no_end_and_no_list() -> None:
    assert Simplex(3).size == math.inf
    with pytest.raises(TypeError, match="continuum"):
        iter(Simplex(3))
    with pytest.raises(TypeError, match="continuum"):
        Simplex(2).neighbours((0.5, 0.5))
    with pytest.raises(ValueError, match="entry 1 is nan"):
        Simplex(2).repair((0.5, math.nan))


def test_long_points_of_a_simplex_stay_arrays_that_nobody_can_change() -> None:
    space, rng = Simplex(10_000), generator(0)
    point = space.check(space.neighbour(space.sample(rng), rng))
    assert isinstance(point, np.ndarray) and not point.flags.writeable
    given_array = np.full(10_000, 1e-4)
    space.check(given_array)
    assert given_array.flags.writeable  # what was given is not touched
