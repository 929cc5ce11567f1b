"""Phase-type laws against closed forms and matrix exponentials; reductions against the law they began with."""

import math
import pickle

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.stats import erlang as erlang_law

from queueing import PhaseType, reduce_order
from queueing.processes.reduction import same_law

PAPER_SERVICE = PhaseType([0.4, 0.6], [[-3, 1], [2, -3]])
PAPER_PATIENCE = PhaseType([0.3, 0.7], [[-0.6, 0.4], [0.1, -0.3]])


def random_law(rng: np.random.Generator, order: int) -> PhaseType:
    """Every phase leads to every other and out; rates over two decades."""
    rates = 10 ** rng.uniform(-1, 1, (order, order))
    np.fill_diagonal(rates, 0.0)
    exits = 10 ** rng.uniform(-1, 1, order)
    return PhaseType(rng.dirichlet(np.ones(order)), rates - np.diag(rates.sum(axis=1) + exits))


def test_the_papers_mean_times():
    assert PAPER_SERVICE.mean == pytest.approx(0.657, abs=5e-4)
    assert PAPER_PATIENCE.mean == pytest.approx(5.0, rel=1e-14)


def test_exponential_has_the_moments_of_the_exponential_law():
    law = PhaseType.exponential(0.25)
    assert [law.moment(k) for k in range(5)] == pytest.approx([math.factorial(k) * 4.0**k for k in range(5)])
    assert law.variance == pytest.approx(16.0)
    assert law.survival(2.0) == pytest.approx(math.exp(-0.5), rel=1e-14)


@pytest.mark.parametrize("time", [0.0, 1e-3, 0.5, 3.0, 20.0])
def test_erlang_has_the_tails_of_the_erlang_law(time):
    law = PhaseType.erlang(stages=4, rate=2.5)
    assert law.survival(time) == pytest.approx(erlang_law.sf(time, 4, scale=0.4), rel=1e-12)
    assert law.cdf(time) == pytest.approx(erlang_law.cdf(time, 4, scale=0.4), rel=1e-12)


def test_small_probabilities_have_their_digits():
    law = PhaseType.erlang(stages=5, rate=1.0)
    time = 1e-4
    series = sum(math.exp(-time) * time**k / math.factorial(k) for k in range(5, 12))
    assert law.cdf(time) == pytest.approx(series, rel=1e-12)  # about 8e-23
    assert PhaseType.exponential(1.0).survival(300.0) == pytest.approx(math.exp(-300.0), rel=1e-11)


def test_hyperexponential_is_a_mixture():
    law = PhaseType.hyperexponential([0.9, 0.1], [2.0, 0.1])
    assert law.moment(2) == pytest.approx(2 * (0.9 / 4 + 0.1 / 0.01), rel=1e-14)
    assert law.survival(7.0) == pytest.approx(0.9 * math.exp(-14) + 0.1 * math.exp(-0.7), rel=1e-13)


def test_deterministic_times_vary_less_with_more_stages():
    few, many = PhaseType.deterministic(3.0, stages=5), PhaseType.deterministic(3.0, stages=50)
    assert few.mean == pytest.approx(3.0) and many.mean == pytest.approx(3.0)
    assert few.variance == pytest.approx(9 / 5) and many.variance == pytest.approx(9 / 50)


@pytest.mark.parametrize("seed", range(5))
def test_tails_and_moments_of_any_law_are_those_of_the_matrix_exponential(seed):
    rng = np.random.default_rng(seed)
    law = random_law(rng, 4)
    for time in (0.1, 1.0, 4.0):
        assert law.survival(time) == pytest.approx(law.initial @ expm(law.generator * time) @ np.ones(4), rel=1e-11)
        assert law.survival(time) + law.cdf(time) == pytest.approx(1.0, rel=1e-13)
    inverse = np.linalg.inv(-law.generator)
    assert law.moment(3) == pytest.approx(6 * law.initial @ inverse @ inverse @ inverse @ np.ones(4), rel=1e-12)
    assert law.scaled(2.0).moment(3) == pytest.approx(law.moment(3) / 8, rel=1e-13)


@pytest.mark.parametrize(
    ("initial", "generator", "sentence"),
    [
        ([0.5, 0.4], [[-1, 0], [0, -1]], r"initial must sum to 1, but it sums to 0\.9"),
        ([1.5, -0.5], [[-1, 0], [0, -1]], r"initial\[1\] must be a probability of at least 0, but it is -0\.5"),
        ([1.0], [[-1, 0], [0, -1]], "initial must have one probability for each phase, but it has 1"),
        ([1.0, 0.0], [[-1, 1]], "generator must be a square matrix, but it has 1 rows and 2 columns"),
        ([1.0, 0.0], [[-1, 2], [0, -1]], r"Row 0 of generator must sum to at most 0, but it sums to 1\.0"),
        ([1.0, 0.0], [[-1, -1], [0, -1]], r"generator\[0\]\[1\] must be a rate of at least 0, but it is -1\.0"),
        ([1.0, 0.0], [[-2, 1], [1, -1]], None),
        ([0.0, 1.0], [[-2, 0], [1, -1]], None),
        ([1.0, 0.0], [[-1, 1], [1, -1]], "from phase 0 it is out of reach"),
        ([1.0, 0.0], [[-1, 0.5], [0, 0]], "from phase 1 it is out of reach"),
        ([1.0, float("nan")], [[-1, 0], [0, -1]], r"initial\[1\] must be a finite number, but it is nan"),
        ("law", [[-1]], "initial must be a list of numbers, but it is 'law'"),
    ],
)
def test_what_is_no_law_is_refused_with_place_and_rule(initial, generator, sentence):
    if sentence is None:
        assert PhaseType(initial, generator).mean > 0
    else:
        with pytest.raises(ValueError, match=sentence):
            PhaseType(initial, generator)


@pytest.mark.parametrize(
    "make",
    [
        lambda: PhaseType.exponential(0.0),
        lambda: PhaseType.erlang(0, 1.0),
        lambda: PhaseType.erlang(2, -1.0),
        lambda: PhaseType.hyperexponential([0.5, 0.5], [1.0]),
        lambda: PhaseType.hyperexponential([0.5, 0.5], [1.0, 0.0]),
        lambda: PhaseType.deterministic(-1.0, 3),
        lambda: PAPER_SERVICE.moment(-1),
        lambda: PAPER_SERVICE.survival(-1.0),
        lambda: PAPER_SERVICE.survival(1e300),
        lambda: PAPER_SERVICE.moment(400),
    ],
)
def test_impossible_questions_are_refused(make):
    with pytest.raises(ValueError, match=r"must|larger than a double"):
        make()


def test_laws_are_values():
    again = PhaseType([0.4, 0.6], [[-3, 1], [2, -3]])
    assert again == PAPER_SERVICE and hash(again) == hash(PAPER_SERVICE) and again != PAPER_PATIENCE
    assert pickle.loads(pickle.dumps(PAPER_SERVICE)) == PAPER_SERVICE
    with pytest.raises(ValueError, match="read-only"):
        PAPER_SERVICE.generator[0, 0] = 1.0


def test_the_papers_patience_is_exponential():
    law = reduce_order(PAPER_PATIENCE)
    assert law.order == 1
    assert law.exit_rates[0] == pytest.approx(0.2, rel=1e-15)


def test_laws_without_a_smaller_form_stay_as_they_are():
    for law in (PAPER_SERVICE, PhaseType.erlang(6, 2.0), PhaseType.hyperexponential([0.9, 0.1], [3.0, 0.1])):
        assert reduce_order(law) is law


def test_phases_never_entered_are_left_out():
    law = PhaseType([1.0, 0.0, 0.0], [[-2, 1, 0], [0, -3, 0], [1, 1, -4]])
    assert reduce_order(law) == PhaseType([1.0, 0.0], [[-2, 1], [0, -3]])


def test_phases_that_lead_everywhere_alike_are_one():
    law = PhaseType([0.2, 0.3, 0.5], [[-3, 1, 1], [0.5, -3, 1.5], [0.2, 0.3, -5]])
    reduced = reduce_order(PhaseType([0.2, 0.3, 0.5], [[-3, 1, 1], [1, -3, 1], [0.2, 0.3, -5]]))
    assert reduced.order == 2
    assert reduce_order(law).order == 3


def test_phases_that_are_entered_alike_are_one():
    # Phases 0 and 1 end at different rates, yet they are equally likely at any time.
    law = PhaseType([0.25, 0.25, 0.5], [[-4, 1, 1], [1, -4, 2.5], [1, 1, -3]])
    reduced = reduce_order(law)
    assert reduced.order == 2
    assert same_law(law, reduced)


@pytest.mark.parametrize("seed", range(20))
def test_reduced_laws_are_the_same_laws(seed):
    """Phases of a random law split at random, some of them into copies that lead elsewhere in all alike."""
    rng = np.random.default_rng(seed)
    small = random_law(rng, int(rng.integers(1, 4)))
    copies = rng.integers(1, 4, small.order)
    origin = np.repeat(np.arange(small.order), copies)
    shares = np.concatenate([rng.dirichlet(np.ones(count)) for count in copies])
    rates = small.generator[np.ix_(origin, origin)]
    np.fill_diagonal(rates, 0.0)
    for row in range(len(origin)):
        for phase in range(small.order):
            inside = origin == phase
            total = 1.0 if phase == origin[row] else small.generator[origin[row], phase]
            rates[row, inside] = total * rng.dirichlet(np.ones(inside.sum()))
    np.fill_diagonal(rates, 0.0)
    generator = rates - np.diag(rates.sum(axis=1) + small.exit_rates[origin])
    large = PhaseType(small.initial[origin] * shares, generator)
    reduced = reduce_order(large)
    assert reduced.order <= small.order
    for order in range(1, 8):
        assert reduced.moment(order) == pytest.approx(small.moment(order), rel=1e-11)
    for time in (0.01, 0.3, 1.0, 5.0):
        assert reduced.survival(time) == pytest.approx(small.survival(time), rel=1e-11)


@pytest.mark.parametrize("seed", range(10))
def test_a_law_that_misses_an_eigenvalue_is_written_without_it(seed):
    """Three phases in a row, begun so that the fastest rate leaves no trace: no lumping sees it, the order does."""
    rng = np.random.default_rng(seed)
    rates = np.sort(rng.uniform(0.5, 5.0, 3))
    generator = np.array([[-rates[0], rates[0] / 2, 0], [0, -rates[1], rates[1] / 3], [0, 0, -rates[2]]])
    values, vectors = np.linalg.eig(generator)
    hidden = vectors[:, np.argmin(values)]
    hidden = hidden / hidden[-1]  # signs +, -, +: there are beginnings orthogonal to it
    first = min(1.0, -hidden[1] / (2 * hidden[0]))
    weights = np.array([first, 1.0, -(first * hidden[0] + hidden[1])])
    law = PhaseType(weights / weights.sum(), generator)
    reduced = reduce_order(law)
    assert reduced.order == 2
    for order in range(1, 6):
        assert reduced.moment(order) == pytest.approx(law.moment(order), rel=1e-11)


def test_a_law_of_complex_eigenvalues_keeps_its_phases():
    ring = PhaseType([1.0, 0.0, 0.0], [[-2, 2, 0], [0, -2, 2], [1.9, 0, -2]])
    assert np.abs(np.linalg.eigvals(ring.generator).imag).max() > 0.5
    assert reduce_order(ring) is ring


def test_fast_switching_inside_an_exponential_law_is_seen_through():
    law = PhaseType([0.5, 0.5], [[-50.0005, 50.0], [80.0, -80.0005]])
    assert reduce_order(law).order == 1
    assert reduce_order(law).mean == pytest.approx(2000.0, rel=1e-9)


def test_laws_that_differ_a_little_are_not_the_same():
    nearly = PhaseType([0.3, 0.7], [[-0.6, 0.4], [0.1, -0.3 - 1e-8]])
    assert reduce_order(nearly) is nearly
    assert not same_law(PAPER_PATIENCE, nearly)


def test_a_thousand_phases_in_a_row_stay_as_they_are():
    law = PhaseType.erlang(1000, 3.0)
    assert reduce_order(law) is law


def test_phases_of_a_long_chain_that_lead_on_alike_are_one():
    """Each stage of an Erlang law twice, and both lead to both of the next: no round of splitting sees all of it."""
    stages = 150
    origin = np.repeat(np.arange(stages), 2)
    chain = PhaseType.erlang(stages, 2.0)
    rates = chain.generator[np.ix_(origin, origin)] / 2
    np.fill_diagonal(rates, 0.0)
    rates[origin[:, np.newaxis] == origin] = 0.0
    law = PhaseType(chain.initial[origin] / 2, rates - 2.0 * np.eye(2 * stages))
    reduced = reduce_order(law)
    assert reduced.order == stages
    assert reduced.moment(3) == pytest.approx(chain.moment(3), rel=1e-12)


def test_a_low_order_is_found_behind_many_phases():
    """Balanced chances hide that 300 phases of two rates are a law of two."""
    rng = np.random.default_rng(4)
    rates = np.where(np.arange(300) < 120, 1.0, 4.0)
    law = PhaseType(rng.dirichlet(np.ones(300)), -np.diag(rates))
    reduced = reduce_order(law)
    assert reduced.order == 2
    assert reduced.survival(2.0) == pytest.approx(law.survival(2.0), rel=1e-12)
