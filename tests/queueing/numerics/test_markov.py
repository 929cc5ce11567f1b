"""Stationary distributions against exact rational arithmetic and plain linear algebra."""

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from queueing import stationary_by_levels, stationary_distribution
from queueing.numerics import clean_exits, solve_left_in_place, transient_factors, transient_solution


def random_generator(rng: np.random.Generator, size: int) -> NDArray[np.float64]:
    """A ring, so that every state is reached, and about half of all other rates; rates over eight decades."""
    rates = 10 ** rng.uniform(-4, 4, (size, size)) * (rng.random((size, size)) < 0.5)
    rates[np.arange(size), (np.arange(size) + 1) % size] = 10 ** rng.uniform(-4, 4, size)
    np.fill_diagonal(rates, 0.0)
    return rates - np.diag(rates.sum(axis=1))


def exact_stationary(rates: NDArray[np.float64]) -> list[Fraction]:
    """Elimination in rational numbers, of the chain with exactly these rates between states."""
    size = len(rates)
    exact = [[Fraction(float(rate)) for rate in row] for row in rates]
    for x in range(size - 1, 0, -1):
        total = sum(exact[x][:x])
        for z in range(x):
            exact[z][x] /= total
            for y in range(x):
                exact[z][y] += exact[z][x] * exact[x][y]
    weights = [Fraction(1)]
    for x in range(1, size):
        weights.append(sum(weights[z] * exact[z][x] for z in range(x)))
    return [weight / sum(weights) for weight in weights]


@pytest.mark.parametrize("seed", range(10))
def test_every_probability_has_its_digits_however_small(seed):
    rates = random_generator(np.random.default_rng(seed), 9)
    exact = np.array([float(value) for value in exact_stationary(rates)])
    assert np.abs(stationary_distribution(rates) / exact - 1).max() < 1e-14


def test_a_birth_and_death_chain_keeps_probabilities_of_1e_minus_250():
    ratio, size = 1e-5, 51
    rates = np.diag(np.full(size - 1, ratio), 1) + np.diag(np.ones(size - 1), -1)
    generator = rates - np.diag(rates.sum(axis=1))
    assert stationary_distribution(generator)[-1] == pytest.approx(ratio**50 * (1 - ratio), rel=1e-12)
    assert stationary_distribution(generator[::-1, ::-1])[0] == pytest.approx(ratio**50 * (1 - ratio), rel=1e-12)


def test_transient_states_have_probability_zero():
    generator = [[-1.0, 1.0, 0.0], [0.0, -2.0, 2.0], [0.0, 1.0, -1.0]]
    assert stationary_distribution(generator) == pytest.approx([0, 1 / 3, 2 / 3], rel=1e-15)


def test_two_closed_classes_are_refused():
    with pytest.raises(ValueError, match="stays for ever with state 0 or with state 2"):
        stationary_distribution([[-1, 1, 0], [1, -1, 0], [0, 0, 0]])


@pytest.mark.parametrize(
    ("generator", "sentence"),
    [
        ([[-1.0, 1.0]], "must be a square matrix, but it has 1 rows and 2 columns"),
        ([[-1.0, 0.9], [1.0, -1.0]], r"Row 0 of generator must sum to 0, but it sums to -0\.0999"),
        ([[1.0, -1.0], [1.0, -1.0]], r"generator\[0\]\[1\] must be a rate of at least 0, but it is -1\.0"),
        ([[-1.0, float("inf")], [1.0, -1.0]], r"generator\[0\]\[1\] must be a finite number, but it is inf"),
        ([[-1.0, 1.0], [1.0]], "must be a matrix: rows of numbers, all of one length"),
    ],
)
def test_what_is_no_generator_is_refused_with_its_place(generator, sentence):
    with pytest.raises(ValueError, match=sentence):
        stationary_distribution(generator)


@pytest.mark.parametrize("seed", range(6))
def test_levels_agree_with_the_whole_chain(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, rng.integers(2, 7))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    rates = rng.random((starts[-1], starts[-1])) + 0.01
    for level in range(2, len(sizes)):
        rates[starts[level] : starts[level + 1], : starts[level - 1]] = 0.0
    whole = stationary_distribution(rates - np.diag(rates.sum(axis=1)))
    blocks = [
        [rates[starts[i] : starts[i + 1], starts[j] : starts[j + 1]] for j in range(max(i - 1, 0), len(sizes))]
        for i in range(len(sizes))
    ]
    assert np.concatenate(stationary_by_levels(blocks)) == pytest.approx(whole, rel=1e-12)


def test_levels_may_say_that_higher_ones_are_not_reached():
    up, down = np.array([[0.5]]), np.array([[1.0]])
    still = np.zeros((1, 1))
    levels = stationary_by_levels([[still, up], [down, still, up], [down, still, up], [down, still]])
    assert np.concatenate(levels) == pytest.approx(np.array([8, 4, 2, 1]) / 15, rel=1e-14)


@pytest.mark.parametrize("seed", range(6))
def test_systems_of_a_chain_that_ends_are_solved_from_both_sides(seed):
    rng = np.random.default_rng(seed)
    size = 6
    rates = rng.random((size, size)) * (rng.random((size, size)) < 0.6)
    exits = rng.random(size)
    matrix = np.diag(rates.sum(axis=1) - np.diag(rates) + exits) - rates + np.diag(np.diag(rates))
    right = rng.random((size, 2))
    assert transient_solution(rates, exits, right) == pytest.approx(np.linalg.solve(matrix, right), rel=1e-12)
    left = rng.random(size)
    row = left.copy()
    solve_left_in_place(*transient_factors(rates, exits), row)
    assert row == pytest.approx(np.linalg.solve(matrix.T, left), rel=1e-12)


def test_rounding_that_looks_like_an_exit_makes_none():
    rng = np.random.default_rng(3)
    looked, size = 0, 5
    for _ in range(50):
        rates = rng.random((size, size)) * 10.0 ** rng.uniform(-100, 100)
        np.fill_diagonal(rates, 0.0)
        np.fill_diagonal(rates, [-math.fsum(row) for row in rates])
        off_diagonal = rates.sum(axis=1) - np.diagonal(rates)
        looked += int((-np.diagonal(rates) - off_diagonal > 0).sum())
        assert not clean_exits(rates).any()
        leaving = rates - np.diag(1e-12 * np.abs(np.diagonal(rates)))  # a true exit, however small, stays
        assert clean_exits(leaving) == pytest.approx(1e-12 * np.abs(np.diagonal(rates)), rel=0.01)
    assert looked > 20


def test_rounding_makes_no_exit():
    assert clean_exits(np.array([[-0.3, 0.1, 0.2], [0.0, -1.0, 1.0], [0.0, 0.0, -2.0]])).tolist() == [0.0, 0.0, 2.0]
