"""The generic module: base, atoms, violations, natural form, interpolation over atoms."""

import math
from itertools import pairwise, permutations, product

import numpy as np
import pytest

from heuristics.multimodular.functions import (
    atom,
    base,
    box,
    differences,
    extended,
    is_multimodular,
    midpoint_violation,
    natural_form,
    neighbours,
    sums,
    violation,
    violations,
)


def gap_sum(cost, word, letter):
    """Costs of the gaps between the slots of one letter of a periodic word."""
    slots = [t for t, x in enumerate(word) if x == letter]
    return sum(
        cost((after - slot - 1) % len(word) + 1) for slot, after in zip(slots, slots[1:] + slots[:1], strict=True)
    )


def cyclic(first, second):
    """Cost of a 0/1 word repeated for ever, not divided by its length."""
    return lambda word: gap_sum(first, word, 1) + gap_sum(second, word, 0)


def finite(first, second, initial):
    """The same with both servers used `initial` slots before slot 0 and just after the last: the paper's problem."""

    def cost(word):
        total = 0.0
        for letter, function, start in ((1, first, initial[0]), (0, second, initial[1])):
            slots = [-start, *(t for t, x in enumerate(word) if x == letter), len(word)]
            total += sum(function(after - slot) for slot, after in pairwise(slots))
        return total

    return cost


def random_convex(rng, size=40):
    """A convex function of 1, 2, ..., size: falling, rising, or both."""
    bends = rng.exponential(size=size) * (rng.random(size) < 0.7) * rng.choice([1.0, 0.2]) ** np.arange(size)
    values = np.cumsum(np.cumsum(bends)) + rng.normal() * np.arange(size)
    return lambda gap: float(values[gap - 1])


def bits(length):
    return (0,) * length, (1,) * length


def test_the_base_is_that_of_the_paper_and_sums_to_nothing():
    assert base(3).tolist() == [[-1, 0, 0], [1, -1, 0], [0, 1, -1], [0, 0, 1]]
    assert not base(5).sum(axis=0).any()
    with pytest.raises(ValueError, match="size must be"):
        base(0)


def test_atoms_fill_the_space():
    # In two dimensions a unit square is two triangles of area 1/2; each of the six orders gives an atom at 0.
    for order in permutations(range(3)):
        corners = np.array(atom((0, 0), order))
        assert abs(np.linalg.det(corners[1:] - corners[0])) == pytest.approx(1.0)
        assert tuple(corners[-1] + base(2)[order[-1]]) == (0, 0)
    with pytest.raises(ValueError, match="order must hold each of 0 to 2 once"):
        atom((0, 0), (0, 1, 1))


@pytest.mark.parametrize("point", [(0, 1, 0), (2, -1, 5, 0)])
def test_neighbours_are_the_corners_of_all_atoms_at_a_point(point):
    corners = {corner for order in permutations(range(len(point) + 1)) for corner in atom(point, order)[1:]}
    assert corners == set(neighbours(point))
    assert len(corners) == 2 ** (len(point) + 1) - 2


def test_the_counterexample_of_section_4_fails_at_one_place_only():
    """Printed with b_2, which leaves the domain; it is b_1 (and the numbers are -1 < 3, not 0 < 4)."""
    rows = {(0, 2): -1, (1, 2): 2, (2, 2): 5, (0, 1): 2, (1, 1): 1, (2, 1): 0, (0, 0): 5, (1, 0): 4, (2, 0): 3}
    (found,) = violations(rows.__getitem__, (0, 0), (2, 2))
    assert (found.point, found.first, found.second, found.sides) == ((1, 2), 0, 1, (-1.0, 3.0))
    # The trap: no neighbour of (2, 1) is better, yet (0, 2) is.
    assert all(rows[y] > rows[2, 1] for y in neighbours((2, 1)) if y in rows)
    assert min(rows.values()) == rows[0, 2] < rows[2, 1]


@pytest.mark.parametrize(("length", "count"), [(2, 0), (3, 0), (4, 4), (5, 10), (6, 32), (7, 74)])
def test_lemma_4_3_fails_for_words_repeated_for_ever(length, count):
    found = list(violations(cyclic(lambda d: 2.0**-d, lambda d: 3.0**-d), *bits(length)))
    assert len(found) == count
    assert all((one.first == 0) != (one.second == length) for one in found)  # exactly one of b_0 and b_n


def test_the_least_quadruple_that_contradicts_lemma_4_3():
    """At (0, 1, 0, 0) with b_1 and b_4 it would need 2 f(2) >= f(1) + f(3), for one server alone."""
    for cost in (lambda d: 2.0**-d, lambda d: float(d * d), lambda d: d + math.exp(-d)):
        found = violation(lambda word, cost=cost: gap_sum(cost, word, 1), *bits(4))
        assert (found.point, found.first, found.second) == ((0, 1, 0, 0), 1, 4)
        assert found.sides == pytest.approx((2 * cost(2) + cost(4), cost(1) + cost(3) + cost(4)))


@pytest.mark.parametrize("seed", range(6))
def test_the_finite_horizon_is_multimodular(seed):
    rng = np.random.default_rng(seed)
    initial = rng.integers(1, 6, size=2).tolist()
    cost = finite(random_convex(rng), random_convex(rng), initial)
    for length in range(2, 9):
        assert is_multimodular(cost, *bits(length))


def test_a_finite_horizon_that_ends_without_both_servers_is_not():
    """The terminal cost matters: without it formula (5) fails."""

    def cost(word):
        slots = [t for t, x in enumerate(word) if x]
        return float(sum((after - slot) ** 2 for slot, after in pairwise([-1, *slots])))

    assert violation(cost, *bits(4)) is not None


@pytest.mark.parametrize("seed", range(20))
def test_multimodular_is_natural_convex_in_sums(seed):
    """Both properties hold or fail together, on functions that are infinite outside a box of x."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 4))
    if seed % 2:
        first, second = random_convex(rng), random_convex(rng)
        initial = (2, 3)
        cost = finite(first, second, initial)
    else:
        cost = cyclic(lambda d: 2.0**-d, lambda d: 3.0**-d)
        size = 4
    values = {word: cost(word) for word in product((0, 1), repeat=size)}
    if seed % 4 == 3:  # spoil one value
        values[(1,) + (0,) * (size - 1)] += 1.0 + abs(values[(0,) * size])
    form = natural_form(lambda word: values.get(word, math.inf))
    convex = midpoint_violation(form, (0,) * size, tuple(range(1, size + 1))) is None
    assert convex == is_multimodular(values.__getitem__, *bits(size))
    assert convex == (seed % 2 == 1 and seed % 4 != 3)


@pytest.mark.parametrize(("length", "routed"), [(6, 2), (7, 3), (8, 3)])
def test_words_of_one_length_and_share_are_natural_convex(length, routed):
    """The true part of Lemma 4.3: with P packets of n to one server, in counts S(0) = 0 .. S(n - 1), S(n) = P."""
    cost = cyclic(lambda d: 2.0**-d, lambda d: 3.0**-d)

    def form(counts):
        word = differences((*counts, routed))[1:]
        return cost(word) if set(word) <= {0, 1} else math.inf

    lower, upper = (0,) * length, tuple(min(t, routed) for t in range(length))
    assert sum(map(math.isfinite, map(form, box(lower, upper)))) == math.comb(length, routed)
    assert midpoint_violation(form, lower, upper) is None


@pytest.mark.parametrize("seed", range(5))
def test_the_interpolation_over_atoms_is_convex_for_the_finite_horizon_only(seed):
    rng = np.random.default_rng(seed)
    good = finite(random_convex(rng), random_convex(rng), (1, 2))
    bad = cyclic(lambda d: 2.0**-d, lambda d: 3.0**-d)
    spoiled = 0
    for _ in range(300):
        one, other = rng.random(5), rng.random(5)
        middle = (one + other) / 2
        assert 2 * extended(good, middle) <= extended(good, one) + extended(good, other) + 1e-9
        spoiled += 2 * extended(bad, middle) > extended(bad, one) + extended(bad, other) + 1e-9
    assert spoiled


def test_the_interpolation_meets_the_function_at_whole_points_and_is_linear_on_atoms():
    rng = np.random.default_rng(1)
    values = {}

    def rough(x):
        return values.setdefault(x, float(rng.normal()))

    for point in [(0, 2, -1), (3, 3, 3)]:
        assert extended(rough, point) == rough(point)
        for order in permutations(range(4)):
            corners = atom(point, order)
            shares = rng.dirichlet(np.ones(4))
            mean = sum(s * rough(c) for s, c in zip(shares, corners, strict=True))
            assert extended(rough, shares @ np.array(corners)) == pytest.approx(mean, abs=1e-12)


def test_sums_and_differences_undo_each_other():
    assert sums((3, -1, 2)) == (3, 2, 4)
    assert differences((3, 2, 4)) == (3, -1, 2)


def test_boxes_must_fit():
    with pytest.raises(ValueError, match="lower and upper must have as many entries"):
        violation(sum, (0, 0), (1,))
