"""Cyclic words by integer programs against all words there are."""

import itertools
import math

import numpy as np
import pyomo.environ as pyo
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csc_array

from optmodels.mip import circulation as pieces
from optmodels.mip import compile_model
from optmodels.mip.circulation import Circulation, constraints


def written(words, order=(), equal=(), windows=(), least=None, most=None):
    """The model of words, with what a caller may add."""
    model = pyo.ConcreteModel(name="words")
    pieces.declare_variables(model, words)
    pieces.go_on_after_a_gap(model, words)
    pieces.come_after_a_gap(model, words)
    pieces.go_round_once(model, words)
    pieces.fill_slots(model, words)
    pieces.begin_with_first_used(model, words, order)
    pieces.order_equal_symbols(model, words, equal)
    pieces.limit_windows(model, words, windows)
    if least is not None:
        pieces.limit_visits(model, words, least, most)
    model.price = pyo.Objective(expr=pieces.price(model, words))
    return model


def solved(model):
    """The least value of a model by scipy, which knows nothing of ours; None where there is no solution."""
    program = compile_model(model).program
    matrix = csc_array((program.values, program.rows, program.starts), shape=program.shape)
    answer = milp(
        program.cost,
        integrality=program.whole.astype(int),
        bounds=Bounds(program.column_lower, program.column_upper),
        constraints=LinearConstraint(matrix, program.row_lower, program.row_upper),
        options={"mip_rel_gap": 0.0},
    )
    return None if answer.status == 2 else answer.fun + program.offset


def all_words(words):
    """All words: which symbols are visited in each slot."""
    sets = [
        set(held)
        for size in range(words.least, words.most + 1)
        for held in itertools.combinations(range(words.symbols), size)
    ]
    return itertools.product(sets, repeat=words.slots)


def cost_of(words, word):
    """Cost of a word by the gaps that are looked for slot by slot."""
    total = 0.0
    for m in range(words.symbols):
        if not any(m in held for held in word):
            total += words.unused[m]
        for t, held in enumerate(word):
            if m in held:
                gap = next(g for g in range(1, words.slots + 1) if m in word[(t + g) % words.slots])
                total += words.costs[m, gap - 1]
    return total


def random_words(rng):
    """Costs of either sign, convex or not, over some decades; slots that are idle, or hold several visits."""
    symbols, slots = int(rng.integers(1, 4)), int(rng.integers(1, 6))
    scale = 10.0 ** rng.integers(-3, 3, size=(symbols, 1))
    costs = scale * rng.normal(size=(symbols, slots))
    costs[rng.random(costs.shape) < 0.1] = math.inf
    unused = np.where(rng.random(symbols) < 0.3, math.inf, scale[:, 0] * rng.normal(size=symbols))
    least = int(rng.integers(0, 2))
    return Circulation(costs, unused, least, int(rng.integers(max(1, least), min(2, symbols) + 1)))


def close(found, best):
    return found is None if math.isinf(best) else found == pytest.approx(best, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("seed", range(25))
def test_no_word_is_better(seed):
    rng = np.random.default_rng(seed)
    words = random_words(rng)
    best = min(cost_of(words, word) for word in all_words(words))
    order = rng.permutation(words.symbols).tolist()
    assert close(solved(written(words)), best)
    assert close(solved(written(words, order)), best)


@pytest.mark.parametrize("seed", range(12))
def test_equal_symbols_and_turned_words_at_once(seed):
    rng = np.random.default_rng(100 + seed)
    slots = int(rng.integers(2, 6))
    costs = np.repeat(rng.normal(size=(2, slots)), [2, 1], axis=0)
    words = Circulation(costs, np.array([0.5, 0.5, rng.normal()]), least=int(rng.integers(0, 2)))
    best = min(cost_of(words, word) for word in all_words(words))
    for order in itertools.permutations(range(3)):
        assert close(solved(written(words, order, equal=[[0, 1]])), best)


@pytest.mark.parametrize("seed", range(12))
def test_windows_and_numbers_of_visits(seed):
    rng = np.random.default_rng(200 + seed)
    words = random_words(rng)
    slots, symbols = words.slots, words.symbols
    group, length, most = list(range(int(rng.integers(1, symbols + 1)))), int(rng.integers(1, 8)), 2
    least, largest = rng.integers(0, 2, symbols), rng.integers(1, slots + 1, symbols)

    def kept(word):
        counts = [sum(m in held for held in word) for m in range(symbols)]
        for t in range(slots):
            if sum(m in word[(t + s) % slots] for m in group for s in range(length)) > most:
                return False
        return all(a <= n <= b for a, n, b in zip(least, counts, largest, strict=True))

    best = min((cost_of(words, word) for word in all_words(words) if kept(word)), default=math.inf)
    assert close(
        solved(written(words, range(symbols), windows=[(group, length, most)], least=least, most=largest)), best
    )


@pytest.mark.parametrize("seed", range(10))
def test_a_word_is_a_point_of_the_model(seed):
    rng = np.random.default_rng(300 + seed)
    words = random_words(rng)
    words = Circulation(np.where(np.isinf(words.costs), 1.0, words.costs), np.zeros(words.symbols), 0, words.most)
    order = rng.permutation(words.symbols).tolist()
    model = written(words, order)
    compiled = compile_model(model)
    for word in itertools.islice(all_words(words), 0, None, 7):
        turned = pieces.fill_in(model, words, word, order)
        point = compiled.point()
        assert compiled.program.broken_row(point) is None
        assert compiled.program.objective(point) == pytest.approx(cost_of(words, word), rel=1e-9, abs=1e-9)
        assert [set(held) for held in pieces.read_slots(model)] == [*word[turned:], *word[:turned]]


@pytest.mark.parametrize("seed", range(10))
def test_longest_gaps_in_one_row_lose_nothing_either(seed, monkeypatch):
    monkeypatch.setattr(constraints, "MOST_ENTRIES", 0)
    words = random_words(np.random.default_rng(400 + seed))
    model = written(words, range(words.symbols))
    assert close(solved(model), min(cost_of(words, word) for word in all_words(words)))
    gaps = {m: [g * model.gap[m, 0, g] for g in words.gaps[m]] for m in range(words.symbols)}
    assert len(model.begin_with_longest_gap) == 0
    if solved(model) is not None and words.least == 1:  # the first symbol that is used begins with its longest gap
        compiled = compile_model(model)
        word = min(all_words(words), key=lambda word: cost_of(words, word))
        pieces.fill_in(model, words, word, range(words.symbols))
        assert compiled.program.broken_row(compiled.point()) is None
        first = min(m for held in word for m in held)
        told = pieces.gaps_of(words, pieces.read_slots(model))
        assert pyo.value(sum(gaps[first])) == max(gap for (m, _), gap in told.items() if m == first)


def test_the_cut_is_needed():
    # Gaps of two slots cost nothing: without it two visits side by side would be followed by one another crosswise.
    words = Circulation(np.array([[1.0, 0.0]]), np.array([np.inf]), least=0)
    model = written(words)
    assert solved(model) == pytest.approx(0.0)  # one visit, a gap of 2
    words = Circulation(np.array([[1.0, 0.0]]), np.array([np.inf]))
    model = written(words)
    assert solved(model) == pytest.approx(2.0)  # both slots are filled, so both gaps are 1
    model.go_round_once.deactivate()
    assert solved(model) == pytest.approx(0.0)


def test_costs_that_price_nothing_are_refused():
    with pytest.raises(ValueError, match="a row for each symbol"):
        Circulation(np.ones((2, 3)), np.zeros(1))
    with pytest.raises(ValueError, match="nan and -inf"):
        Circulation(np.array([[np.nan]]), np.zeros(1))
    with pytest.raises(ValueError, match="at least no more than at most"):
        Circulation(np.ones((1, 1)), np.zeros(1), least=2, most=1)


def test_a_word_with_a_gap_that_is_not_in_the_model_is_refused():
    words = Circulation(np.array([[1.0, np.inf]]), np.zeros(1), least=0)
    with pytest.raises(ValueError, match="a gap of 2 slots"):
        pieces.fill_in(written(words), words, [{0}, set()], [])
