r"""Altman, Bhulai, Gaujal, Hordijk (2000), section 4: the cost of periodic words is not multimodular, and what is.

The rest of the paper is in ``test_altman.py``. A word of two servers is a point of {0, 1}^n here: 1 sends a packet to
the paper's server 1. Violations are counted by the definition.
"""

import math
from itertools import combinations, pairwise, product

import numpy as np
import pytest

from queueing.processes import Exponential
from queueing.routing import (
    RenewalArrivals,
    callable_costs,
    freshness_costs,
    horizon_cost,
    loss_costs,
    word_cost,
    word_gaps,
    words_cost,
)

POISSON = RenewalArrivals(Exponential(1.0))


def all_words(servers, length):
    return np.array(list(product(range(servers), repeat=length)))


def base(size):
    unit = np.eye(size, dtype=int)
    return [-unit[0], *(unit[i - 1] - unit[i] for i in range(1, size)), unit[size - 1]]


def neighbours(point):
    """The points x + sum alpha_i b_i: extreme points of the atoms at x."""
    for alpha in product((0, 1), repeat=len(point) + 1):
        if 0 < sum(alpha) <= len(point):
            yield tuple(x + alpha[k + 1] - alpha[k] for k, x in enumerate(point))


def broken(size, cost, tolerance=1e-12):
    """Points of {0, 1}^n and pairs of base vectors at which (5) fails, by its definition."""
    return broken_among({x: cost(x) for x in product((0, 1), repeat=size)}, tolerance)


def broken_among(values, tolerance=1e-12):
    """The same for a function that is defined at some points only."""
    found = []
    for x, value in values.items():
        vectors = base(len(x))
        for i, j in combinations(range(len(x) + 1), 2):
            one, other, both = (tuple(np.add(x, v)) for v in (vectors[i], vectors[j], vectors[i] + vectors[j]))
            if {one, other, both} <= values.keys() and values[one] + values[other] < value + values[both] - tolerance:
                found.append((x, i, j))
    return found


def is_natural_convex(values):
    """Whether h(p) + h(q) is nowhere less than the sum at both roundings of the midpoint; infinite where not given."""
    for p, q in combinations(values, 2):
        middle = np.add(p, q)
        above, below = tuple((-(-middle // 2)).tolist()), tuple((middle // 2).tolist())
        if values.get(above, math.inf) + values.get(below, math.inf) > values[p] + values[q] + 1e-12:
            return False
    return True


def cyclic(x, f):
    """n g'_m of (7): the gaps of the slots with a 1, round and round."""
    places = [t for t, used in enumerate(x) if used]
    return sum(f(later - sooner) for sooner, later in pairwise([*places, places[0] + len(x)])) if places else 0.0


def cut_off(x, f):
    """Gaps of the slots with a 1, between packets sent before the first and after the last."""
    places = [-1, *(t for t, used in enumerate(x) if used), len(x)]
    return sum(f(later - sooner) for sooner, later in pairwise(places))


def both_servers(x, f1, f2, cost=cyclic):
    return cost(x, f1) + cost([1 - used for used in x], f2)


def falling(base_):
    return lambda d: base_**d


def test_erratum_a1_lemma_4_3_the_violating_quadruple():
    """x = (0, 1, 0, 0), b_1, b_4: words (1, 0, 0, 0), (0, 1, 0, 1), x, (1, 0, 0, 1), so 2 f(2) >= f(1) + f(3) is asked.

    Printed: the cyclic cost is multimodular. The proof has n g'(pi + b_n) = .. + f(delta_p - 1) + f(1): it takes the
    next period to begin with a packet.
    """
    f = falling(0.5)
    x, b = (0, 1, 0, 0), base(4)
    one, other, both = (tuple(np.add(x, v)) for v in (b[1], b[4], b[1] + b[4]))
    assert (one, other, both) == ((1, 0, 0, 0), (0, 1, 0, 1), (1, 0, 0, 1))
    left, right = cyclic(one, f) + cyclic(other, f), cyclic(x, f) + cyclic(both, f)
    assert (left - right, 2 * f(2) - f(1) - f(3)) == (pytest.approx(-0.125), pytest.approx(-0.125))
    # In the package's words: server 0 in the slots of x, a second server without costs in the others.
    costs = callable_costs([f, lambda d: 0.0], slopes=[0.0, 0.0], limits=[0.0, 0.0])
    values = [4 * word_cost(costs, [1 - used for used in point]) for point in (one, other, x, both)]
    assert values == pytest.approx([cyclic(point, f) for point in (one, other, x, both)])


@pytest.mark.parametrize(
    "f", [falling(0.5), falling(0.9), lambda d: 1 / d, lambda d: 1 / d - d + 20, lambda d: -math.sqrt(d)]
)
def test_erratum_a1_every_strictly_convex_cost_violates_lemma_4_3_from_n_4_on(f):
    """Lines added do not matter, as gaps sum to n, but for the word without a packet, which is left out."""
    for size, expected in ((2, 0), (3, 0), (4, 4), (5, 10), (6, 26), (7, 56)):
        found = [one for one in broken(size, lambda x: cyclic(x, f)) if any(one[0])]
        assert len(found) == expected
        assert all((0 in pair) != (size in pair) for _, *pair in found)


@pytest.mark.parametrize("pair", [(0.5, 1 / 3), (0.5, 0.9), (0.2, 0.21)])
def test_erratum_a1_theorem_4_4_the_cost_of_two_servers_is_violated_too(pair):
    f1, f2 = map(falling, pair)
    for size, expected in ((2, 0), (3, 0), (4, 4), (5, 10), (6, 32), (7, 74)):
        found = broken(size, lambda x: both_servers(x, f1, f2))
        assert len(found) == expected
        assert all((0 in pair) != (size in pair) for _, *pair in found)


def test_a_finite_horizon_with_its_terminal_cost_is_multimodular():
    """What is true of Lemma 4.3: packets just before and just after the horizon, the paper's own terminal cost."""
    for pair in ((0.5, 1 / 3), (0.2, 0.9)):
        f1, f2 = map(falling, pair)
        for size in range(2, 9):
            assert broken(size, lambda x, f1=f1, f2=f2: both_servers(x, f1, f2, cut_off)) == []
    costs = loss_costs(POISSON, [1.0, 2.0])  # the same in the package's words

    def horizon(x):
        return horizon_cost(costs, [1 - used for used in x], [1, 1])

    assert all(
        horizon(x) == pytest.approx(both_servers(x, falling(1 / 2), falling(1 / 3), cut_off))
        for x in product((0, 1), repeat=5)
    )
    assert broken(7, horizon) == []


@pytest.mark.parametrize("seed", range(6))
def test_a_finite_horizon_is_multimodular_for_all_convex_costs_and_beginnings(seed):
    rng = np.random.default_rng(seed)
    bends = rng.exponential(size=(2, 99)) * (rng.random((2, 99)) < 0.7) * rng.choice([1.0, 0.2]) ** np.arange(99)
    costs = np.cumsum(np.cumsum(bends, axis=1), axis=1) + rng.normal(size=(2, 1)) * np.arange(99)
    given = callable_costs([lambda d, row=row: float(row[d - 1]) for row in costs], checked=40)
    initial = rng.integers(1, 6, size=2).tolist()
    for size in range(2, 9):
        assert broken(size, lambda x: horizon_cost(given, [1 - used for used in x], initial), 1e-9) == []


def test_a_finite_horizon_without_its_terminal_cost_is_not_multimodular():
    assert broken(4, lambda x: sum((b - a) ** 2 for a, b in pairwise([-1, *(t for t, used in enumerate(x) if used)])))


def test_multimodular_functions_are_those_that_are_l_natural_convex_in_sums():
    """Murota (2005): the two hold or fail together, for a horizon, a word repeated for ever, and one value spoiled."""
    f1, f2 = falling(0.5), falling(1 / 3)
    for cost, spoil, expected in ((cut_off, 0, True), (cut_off, 9, False), (cyclic, 0, False)):
        values = {x: both_servers(x, f1, f2, cost) for x in product((0, 1), repeat=4)}
        values[1, 0, 0, 0] += spoil
        assert (broken_among(values) == []) == expected
        assert is_natural_convex({tuple(np.cumsum(x).tolist()): value for x, value in values.items()}) == expected


def test_with_as_many_packets_the_cyclic_cost_is_l_natural_convex_in_sums():
    """The other true statement: at a fixed number P of packets, in the sums of the first entries."""
    f1, f2 = falling(0.5), falling(1 / 3)
    for size, packets in ((4, 1), (4, 2), (5, 2), (6, 3), (8, 3)):
        words = [x for x in product((0, 1), repeat=size) if sum(x) == packets]
        assert is_natural_convex({tuple(np.cumsum(x).tolist()): both_servers(x, f1, f2) for x in words})


def test_erratum_a2_local_search_has_no_proof_but_no_failure_either():
    """Every word that none of its neighbours beats is a best one, though (5) does not hold: two servers, n <= 8."""
    rng = np.random.default_rng(5)
    for size in range(2, 9):
        words = all_words(2, size)
        near = [
            np.array([y for y in neighbours(x) if set(y) <= {0, 1}]) @ (2 ** np.arange(size)[::-1])
            for x in words.tolist()
        ]
        for _ in range(8):
            make = loss_costs if rng.random() < 0.5 else freshness_costs
            costs = make(POISSON, rng.uniform(0.1, 8, 2).tolist(), rng.uniform(0.2, 3, 2))
            values = words_cost(costs, words)
            stuck = [x for x in range(len(words)) if values[x] <= values[near[x]].min()]
            assert stuck and values[stuck].max() <= values.min() * (1 + 1e-12)


def test_local_search_by_pairs_of_servers_fails_for_three():
    """The neighbourhood, used on the slots of two servers at a time, does not leave (1, 0, 2, 0)."""
    rates = [1.0012, 1.3482, 0.7602]
    costs = freshness_costs(POISSON, rates, rates)
    stuck = [1, 0, 2, 0]
    cost = word_cost(costs, stuck)
    for i, j in combinations(range(3), 2):
        slots = [t for t, server in enumerate(stuck) if server in (i, j)]
        for y in neighbours([int(stuck[t] == i) for t in slots]):
            if set(y) <= {0, 1}:
                moved = list(stuck)
                for t, used in zip(slots, y, strict=True):
                    moved[t] = i if used else j
                assert word_cost(costs, moved) >= cost - 1e-12
    values = words_cost(costs, all_words(3, 4))
    assert (cost, float(values.min())) == (pytest.approx(2.26872, abs=5e-6), pytest.approx(2.24191, abs=5e-6))
    assert word_cost(costs, [0, 1, 2, 1]) == values.min()


def test_section_4_a_point_has_2_to_the_n_plus_1_less_2_neighbours():
    for size in range(1, 8):
        assert len(set(neighbours((0,) * size))) == 2 ** (size + 1) - 2


COUNTEREXAMPLE = {(0, 2): -1, (1, 2): 2, (2, 2): 5, (0, 1): 2, (1, 1): 1, (2, 1): 0, (0, 0): 5, (1, 0): 4, (2, 0): 3}


def test_section_4_counterexample_is_integer_convex_and_a_trap():
    g = COUNTEREXAMPLE
    for x, d in product(g, product(range(-2, 3), repeat=2)):
        ahead, behind = tuple(np.add(x, d)), tuple(np.subtract(x, d))
        if ahead in g and behind in g:
            assert g[ahead] + g[behind] >= 2 * g[x]
    around = [g[y] for y in neighbours((2, 1)) if y in g]
    assert around and min(around) > g[2, 1] > min(g.values()) == g[0, 2]


def test_erratum_a6_the_counterexample_is_violated_by_b_0_and_b_1():
    """Printed: g((1,2) + b_0) + g((1,2) + b_2) = 0 < 4; (1,2) + b_2 = (1,3) is not there. The right pair: -1 < 3."""
    g, b = COUNTEREXAMPLE, base(2)
    assert tuple(np.add((1, 2), b[2])) == (1, 3) not in g
    assert (g[tuple(np.add((1, 2), b[0]))] + g[tuple(np.add((1, 2), b[1]))], g[1, 2] + g[1, 1]) == (-1, 3)
    assert broken_among(g) == [((1, 2), 0, 1)]


def test_erratum_a7_b_0_merges_and_b_n_splits():
    """Printed: b_0 splits a time between packets and b_n merges two. With 1 for a packet it is the other way round."""
    x = (1, 0, 1, 0, 0)
    merged, split = (tuple(np.add(x, base(5)[i])) for i in (0, 5))
    gaps = [word_gaps([1 - used for used in point], 2)[0].tolist() for point in (x, merged, split)]
    assert gaps == [[2, 3], [5], [2, 2, 1]]
