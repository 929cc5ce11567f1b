"""Costs of gaps and words: plain Python, closed forms, integrals, and what does not change them."""

import math
import pickle

import numpy as np
import pytest
from gap_conditions import condition

from queueing import BMAP
from queueing.processes import Exponential
from queueing.routing import (
    MarkovArrivals,
    RenewalArrivals,
    TraceArrivals,
    callable_costs,
    freshness_costs,
    horizon_cost,
    loss_costs,
    word_cost,
    word_gaps,
    words_cost,
)

POISSON = RenewalArrivals(Exponential(1.0))


def gaps_by_hand(word, server):
    """Slots from each use of a server to the next, in the word written many times."""
    long = list(word) * 3
    places = [place for place, used in enumerate(long) if used == server]
    return [places[j + 1] - places[j] for j in range(word.count(server))]


def cost_by_hand(table, word):
    return sum(table[m][d - 1] for m in range(len(table)) for d in gaps_by_hand(word, m)) / len(word)


def test_gaps_and_costs_of_random_words_by_hand():
    rng = np.random.default_rng(1)
    for _ in range(50):
        servers, length = int(rng.integers(1, 5)), int(rng.integers(1, 12))
        costs = loss_costs(POISSON, rng.uniform(0.2, 3, servers).tolist(), rng.uniform(0.1, 2, servers))
        word = rng.integers(0, servers, length).tolist()
        gaps = [found.tolist() for found in word_gaps(word, servers)]
        assert gaps == [gaps_by_hand(word, m) for m in range(servers)]
        assert word_cost(costs, word) == pytest.approx(cost_by_hand(costs.table(length).tolist(), word), rel=1e-14)


def test_words_rotated_repeated_or_reversed_cost_the_same():
    rng = np.random.default_rng(2)
    costs = freshness_costs(POISSON, [0.3, 1.0, 2.0, 5.0], [1.0, 2.0, 0.5, 0.0])
    for _ in range(20):
        word = rng.integers(0, 4, int(rng.integers(1, 15)))
        cost = word_cost(costs, word)
        for other in (np.roll(word, 3), np.tile(word, 4), word[::-1]):
            assert word_cost(costs, other) == pytest.approx(cost, rel=1e-14)


def test_many_words_at_once():
    rng = np.random.default_rng(3)
    costs = freshness_costs(POISSON, [0.3, 1.0, 2.0])
    words = rng.integers(0, 3, (40, 9))
    assert words_cost(costs, words).tolist() == [word_cost(costs, word) for word in words]


def test_servers_never_used_cost_their_slope():
    costs = freshness_costs(POISSON, [1.0, 2.0], [3.0, 0.7])
    alone = word_cost(freshness_costs(POISSON, [1.0], [3.0]), [0])
    assert word_cost(costs, [0]) == pytest.approx(alone + 0.7, rel=1e-15)
    assert word_cost(loss_costs(POISSON, [1.0, 2.0]), [0]) == pytest.approx(0.5, rel=1e-15)
    squares = callable_costs([lambda d: d * d, lambda d: d], slopes=[math.inf, 1.0], limits=[0.0, 0.0])
    assert word_cost(squares, [1, 1]) == math.inf
    assert math.isnan(word_cost(callable_costs([lambda d: d * d, lambda d: d]), [1]))


def test_poisson_losses_in_closed_form():
    costs = loss_costs(RenewalArrivals(Exponential(0.4)), [0.5, 3.0], [1.0, 2.0])
    for server, (rate, weight) in enumerate([(0.5, 1.0), (3.0, 2.0)]):
        expected = [weight * (2.5 / (2.5 + rate)) ** n for n in range(1, 40)]
        assert costs.table(39)[server] == pytest.approx(expected, rel=1e-13)
    assert np.array_equal(costs.table(39), costs.remainders(39))
    assert not costs.slopes.any() and not costs.limits.any()


def test_tables_grow_and_keep_what_they_were():
    costs = freshness_costs(POISSON, [0.5, 3.0])
    short = costs.table(5).copy()
    assert costs.table(1000).shape == (2, 1000)
    assert np.array_equal(costs.table(5), short) and not costs.table(5).flags.writeable
    assert np.array_equal(pickle.loads(pickle.dumps(costs)).table(5), short)


def test_finite_horizon_by_hand():
    costs = callable_costs([lambda d: float(d * d), lambda d: 2.0 * d * d])
    # ages (2, 3): f_0(2), then (1, 4): f_1(4), then (2, 1): f_1(1), and at the end (3, 1).
    assert horizon_cost(costs, [0, 1, 1], [2, 3]) == 4 + 32 + 2 + (9 + 2)
    assert horizon_cost(loss_costs(POISSON, [1.0, 1.0]), [0], [math.inf, 1]) == pytest.approx(0.0 + 0.5 + 0.25)
    assert horizon_cost(freshness_costs(POISSON, [1.0, 1.0]), [0], [math.inf, 1]) == math.inf


@pytest.mark.parametrize(
    ("functions", "slopes", "limits", "expected"),
    [
        ([lambda d: d * d, lambda d: 1.5**d], [math.inf, math.inf], None, 2),
        ([lambda d: 3.0 * d + math.exp(-d), lambda d: 1 / d], [3.0, 0.0], [0.0, 0.0], 3),
        ([lambda d: 3.0 * d + math.exp(-d), lambda d: 1.0 + 1 / d], [3.0, 0.0], [0.0, 1.0], None),  # two limits
        ([lambda d: 3.0 * d + math.exp(-d), lambda d: max(5.0 - d, 0.0)], [3.0, 0.0], [0.0, 0.0], None),  # not strictly
        ([lambda d: 3.0 * d + 1.0, lambda d: 1.0], [3.0, 0.0], [1.0, 1.0], 4),
        ([lambda d: 3.0 * d + math.exp(-d), lambda d: 1.0 * d], [3.0, 1.0], [0.0, 0.0], None),  # one line, one not
        ([lambda d: d * d, lambda d: 1 / d], [math.inf, 0.0], None, None),
        ([lambda d: d * d], None, None, None),
    ],
)
def test_conditions_of_the_paper_on_functions(functions, slopes, limits, expected):
    assert condition(callable_costs(functions, slopes, limits)) == expected


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: loss_costs(POISSON, []), "services must not be empty, but there is no server"),
        (lambda: loss_costs(POISSON, [1.0, 0.0]), r"services\[1\] must be a finite number above 0, but it is 0.0"),
        (lambda: loss_costs(POISSON, [1.0, 1e200]), r"services\[1\] must end between 1e-150 and 1e150 times"),
        (lambda: loss_costs(POISSON, [-1.0]), r"services\[0\] must be a finite number above 0, but it is -1.0"),
        (lambda: loss_costs(POISSON, [1.0], [1.0, 2.0]), "there are 1 and 2; give one weight for each server"),
        (lambda: loss_costs(POISSON, [1.0], [-1.0]), r"weights\[0\] must be a finite number of at least 0"),
        (lambda: callable_costs([]), "functions must not be empty, but there is no server"),
        (
            lambda: callable_costs([lambda d: math.sqrt(d)]),
            r"server 0 has f\(1\) = 1.0, f\(2\) = 1.414\d+, f\(3\) = 1.7",
        ),
        (lambda: callable_costs([lambda d: 1 / (d - 3) if d != 3 else math.nan]), r"server 0 has f\(3\) = nan"),
        (lambda: callable_costs([lambda d: 2 * d], [1.0]), r"slopes\[0\] must be the limit .* it is 1.0 and f\(1000\)"),
        (
            lambda: callable_costs([lambda d: 2 * d], [math.inf]),
            r"slopes\[0\] is inf, so f\(d \+ 1\) - f\(d\) must rise",
        ),
        (
            lambda: callable_costs([lambda d: 2 * d], [2.0], [1.0]),
            r"limits\[0\] must be the limit .* it is 1.0 and 0.0",
        ),
        (lambda: callable_costs([lambda d: d], [1.0, 2.0]), "slopes must hold one number for each of 1 servers"),
        (lambda: word_cost(loss_costs(POISSON, [1.0]), []), "A word must be a list of one server or more"),
        (lambda: word_cost(loss_costs(POISSON, [1.0]), [0, 1]), "slot 1 holds 1; number servers from 0"),
        (
            lambda: horizon_cost(loss_costs(POISSON, [1.0]), [0], [0]),
            r"initial\[0\] must be a whole number of at least 1",
        ),
        (
            lambda: horizon_cost(loss_costs(POISSON, [1.0]), [0], [1, 1]),
            "one number for each of 1 servers, but it holds 2",
        ),
        (lambda: TraceArrivals((0.0, 0.0)), "values must hold a time above 0, but all are 0"),
        (lambda: TraceArrivals(()), "values must be a list of numbers"),
        (lambda: TraceArrivals((1.0, -1.0)), r"values\[1\] must be a finite number of at least 0, but it is -1.0"),
        (lambda: MarkovArrivals(BMAP(([[-2.0]], [[1.0]], [[1.0]]))), "one by one, but they come in batches of up to 2"),
        (lambda: MarkovArrivals(BMAP(([[0.0]], [[0.0]]))), "D1 is zero and nothing ever arrives"),
        (lambda: MarkovArrivals(BMAP.map([[-1.0]], [[0.5]])), "must sum to 0, but it sums to -0.5"),
        (
            lambda: MarkovArrivals(BMAP.map([[-1.0, 0.0], [0.0, -1.0]], [[1.0, 0.0], [0.0, 1.0]])),
            "out of reach of state",
        ),
    ],
)
def test_what_is_wrong_gets_one_sentence(make, words):
    with pytest.raises(ValueError, match=words) as told:
        make()
    assert str(told.value).endswith(".") and "\n" not in str(told.value)
