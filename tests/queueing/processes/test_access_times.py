"""Access times: transforms against fifty digits, against integrals of densities, and against one another."""

import math
from decimal import MIN_EMIN, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.linalg import expm

from queueing import PhaseType
from queueing.processes import (
    Constant,
    Erlang,
    Exponential,
    Hyperexponential,
    PhaseTypeTime,
    Samples,
    decay_at,
    exp_excess,
)
from queueing.processes.transforms import log_excess

GENERAL = PhaseType([0.25, 0.75], [[-1.5, 0.5], [0.125, -0.375]])
CHAIN = PhaseType([0.5, 0.0, 0.5], [[-2.0, 1.5, 0.0], [0.0, -1.0, 0.5], [0.25, 0.0, -0.5]])
LAWS = {
    "constant": Constant(0.75),
    "exponential": Exponential(1.25),
    "erlang": Erlang(3, 0.5),
    "hyperexponential": Hyperexponential((0.25, 0.5, 0.25), (4.0, 0.5, 0.0625)),
    "phase-type": PhaseTypeTime(GENERAL),
    "chain": PhaseTypeTime(CHAIN),
    "samples": Samples((0.5, 0.25, 0.5, 2.0, 0.0)),
    "one long sample": Samples((0.125,) * 9 + (64.0,)),
}
RATES = [0.0, 1e-300, 1e-40, 3e-12, 1e-7, 2e-4, 0.03, 0.3, 1.0, 7.0, 300.0, 1e6, 1e15, 1e40]


def exact_transform(law, rate):
    """E exp(-mu X) in rational numbers, or in many digits where it is none."""
    mu = Fraction(rate)
    match law:
        case Constant(value):
            return exact_exp(-mu * Fraction(value))
        case Exponential(mean):
            return 1 / (1 + mu * Fraction(mean))
        case Erlang(stages, mean):
            return 1 / (1 + mu * Fraction(mean) / stages) ** stages
        case Hyperexponential(probabilities, means):
            return sum(Fraction(p) / (1 + mu * Fraction(m)) for p, m in zip(probabilities, means, strict=True))
        case Samples(values):
            return sum((exact_exp(-mu * Fraction(value)) for value in values), Decimal(0)) / len(values)
        case PhaseTypeTime(law):
            return rational_transform(law, mu)


def exact_exp(power):
    return (Decimal(power.numerator) / Decimal(power.denominator)).exp()


def rational_transform(law, mu):
    """Solve (mu - Gamma) y = Gamma_0 by Gauss."""
    size = law.order
    rates = [[Fraction(float(x)) for x in row] for row in law.generator]
    rows = [[(mu if i == j else 0) - rates[i][j] for j in range(size)] + [-sum(rates[i])] for i in range(size)]
    for k in range(size):
        rows[k] = [entry / rows[k][k] for entry in rows[k]]
        for i in range(size):
            if i != k:
                rows[i] = [entry - rows[i][k] * pivot for entry, pivot in zip(rows[i], rows[k], strict=True)]
    return sum(Fraction(float(p)) * row[-1] for p, row in zip(law.initial, rows, strict=True))


def exact_decay(law, rate):
    """The decay and the deficit, in 700 digits: enough for 1 - 1e-300."""
    with localcontext() as context:
        context.prec = 700
        context.Emin = MIN_EMIN
        transform = exact_transform(law, rate)
        if isinstance(transform, Fraction):
            transform = Decimal(transform.numerator) / Decimal(transform.denominator)
        decay = -transform.ln()
        return float(decay), float(Decimal(rate) * Decimal(exact_mean(law)) - decay)


def exact_mean(law):
    """All parameters above are short binary fractions, so means of most laws are doubles; the others are given."""
    match law:
        case PhaseTypeTime(ph):
            return exact_phase_mean(ph)
        case Samples(values):
            return Decimal(math.fsum(values)) / len(values)
        case _:
            return Decimal(law.mean)


def exact_phase_mean(law):
    size = law.order
    rates = [[-Fraction(float(x)) for x in row] + [Fraction(1)] for row in law.generator]
    for k in range(size):
        rates[k] = [entry / rates[k][k] for entry in rates[k]]
        for i in range(size):
            if i != k:
                rates[i] = [entry - rates[i][k] * pivot for entry, pivot in zip(rates[i], rates[k], strict=True)]
    found = sum(Fraction(float(p)) * row[-1] for p, row in zip(law.initial, rates, strict=True))
    return Decimal(found.numerator) / Decimal(found.denominator)


@pytest.mark.parametrize("name", LAWS)
def test_decays_and_deficits_have_all_digits(name):
    law = LAWS[name]
    rates = RATES[:-1] if isinstance(law, Constant | Samples) else RATES  # their transform at 1e40 is no number at all
    expected = [exact_decay(law, rate) for rate in rates]
    decays, deficits = law.decay(rates), law.deficit(rates)
    np.testing.assert_allclose(decays, [decay for decay, _ in expected], rtol=1e-15)
    # a deficit below 1e-300 of the load may be no double, and one that is a small part of large terms is rounded
    np.testing.assert_allclose(deficits, [deficit for _, deficit in expected], rtol=3e-15, atol=1e-300)
    assert law.mean == pytest.approx(float(exact_mean(law)), rel=1e-15)


@pytest.mark.parametrize(
    ("law", "density", "atom"),
    [
        (Exponential(1.25), lambda x: math.exp(-x / 1.25) / 1.25, 0.0),
        (Erlang(3, 0.5), lambda x: 6.0**3 * x**2 / 2 * math.exp(-6 * x), 0.0),
        (Hyperexponential((0.25, 0.75), (4.0, 0.5)), lambda x: math.exp(-x / 4) / 16 + 1.5 * math.exp(-2 * x), 0.0),
        (PhaseTypeTime(GENERAL), lambda x: GENERAL.initial @ expm(GENERAL.generator * x) @ GENERAL.exit_rates, 0.0),
        (PhaseTypeTime(CHAIN), lambda x: CHAIN.initial @ expm(CHAIN.generator * x) @ CHAIN.exit_rates, 0.0),
    ],
)
def test_transforms_are_integrals_of_densities(law, density, atom):
    for rate in (0.2, 1.0, 6.0):
        value, _ = quad(lambda x, rate=rate: math.exp(-rate * x) * density(x), 0, 60, limit=200)
        assert math.exp(-law.decay([rate])[0]) == pytest.approx(value + atom, rel=1e-8)
    mean, _ = quad(lambda x: x * density(x), 0, 120, limit=300)
    assert law.mean == pytest.approx(mean, rel=1e-7)


@pytest.mark.parametrize("name", LAWS)
def test_decay_begins_with_mean_and_variance(name):
    law, rate = LAWS[name], 1e-9
    second = {
        "constant": 0.0,
        "exponential": 1.25**2,
        "erlang": 0.25 / 3,
        "hyperexponential": 2 * (0.25 * 16 + 0.5 * 0.25 + 0.25 * 0.0625**2) - law.mean**2,
        "phase-type": GENERAL.variance,
        "chain": CHAIN.variance,
        "samples": np.var([0.5, 0.25, 0.5, 2.0, 0.0]),
        "one long sample": np.var([0.125] * 9 + [64.0]),
    }[name]
    assert law.decay([rate])[0] == pytest.approx(rate * law.mean, rel=1e-6)
    assert law.deficit([rate])[0] == pytest.approx(rate**2 * second / 2, rel=1e-6, abs=1e-33)


@pytest.mark.parametrize("name", LAWS)
def test_decay_is_increasing_and_concave(name):
    law = LAWS[name]
    rates = np.linspace(0.0, 30.0, 301)
    decays = law.decay(rates)
    steps = np.diff(decays)
    assert decays[0] == 0.0
    assert (steps > 0).all()
    assert (np.diff(steps) <= 1e-14).all()
    assert (decays <= rates * law.mean * (1 + 1e-15)).all()


@pytest.mark.parametrize("stages", [1, 2, 7, 40])
def test_phases_agree_with_erlang_where_the_transform_is_no_double(stages):
    rates = np.array([1e-300, 1e-9, 0.4, 30.0, 1e8, 1e40, 1e120, 1e300])
    one, other = Erlang(stages, 2.0), PhaseTypeTime(PhaseType.erlang(stages, stages / 2.0))
    np.testing.assert_allclose(other.decay(rates), one.decay(rates), rtol=5e-15)
    np.testing.assert_allclose(other.deficit(rates), one.deficit(rates), rtol=1e-12, atol=1e-300)


def test_logarithms_serve_phases_in_any_order():
    """The chain runs backwards, with detours: its transform at 1e200 is 1e-600."""
    backwards = PhaseType([0.0, 0.0, 1.0], [[-1.0, 0.0, 0.0], [2.0, -2.0, 0.0], [0.0, 0.5, -3.0]])
    law = PhaseTypeTime(backwards)
    # paths to the end: at once from phase 2 at rate 2.5, or down the chain
    assert law.decay([1e200])[0] == pytest.approx(math.log(1e200 / 2.5), rel=1e-15)
    forced = PhaseTypeTime(PhaseType([0.0, 0.0, 1.0], [[-1.0, 0.0, 0.0], [2.0, -2.0, 0.0], [0.0, 3.0, -3.0]]))
    assert forced.decay([1e200])[0] == pytest.approx(3 * math.log(1e200) - math.log(6.0), rel=1e-15)


def test_laws_that_are_the_same_law():
    rates = np.geomspace(1e-12, 1e12, 49)
    np.testing.assert_allclose(Samples((0.7, 0.7)).decay(rates), Constant(0.7).decay(rates), rtol=1e-15)
    np.testing.assert_allclose(Erlang(1, 0.7).decay(rates), Exponential(0.7).decay(rates), rtol=1e-15)
    mixed, phases = Hyperexponential((0.3, 0.7), (2.0, 0.1)), PhaseType.hyperexponential((0.3, 0.7), (0.5, 10.0))
    np.testing.assert_allclose(PhaseTypeTime(phases).decay(rates), mixed.decay(rates), rtol=2e-15)
    assert Samples((1.0, 2.0, 1.0)) == Samples((1.0, 2.0, 1.0))


def test_samples_may_be_nothing_now_and_then():
    law = Samples((0.0, 0.0, 0.0, 10.0))
    assert law.decay([1e300])[0] == pytest.approx(math.log(4 / 3), rel=1e-15)
    assert law.mean == 2.5


@pytest.mark.parametrize("name", LAWS)
def test_kernels_are_what_the_laws_say(name):
    law = LAWS[name]
    kind, parameters = law.kernel()
    rates = np.array(RATES)
    assert [decay_at(kind, parameters, rate) for rate in rates] == law.decay(rates).tolist()


def test_functions_near_nothing():
    with localcontext() as context:
        context.prec = 700
        for x in (1e-300, 1e-20, 1e-5, 0.1, 0.4, 0.999, 1.0, 1.001, 5.0, 40.0):
            big = Decimal(x)
            assert exp_excess(x) == pytest.approx(float((-big).exp() - 1 + big), rel=6e-16, abs=1e-320)
            assert log_excess(x) == pytest.approx(float(big - (1 + big).ln()), rel=6e-16, abs=1e-320)
            if x <= 0.5:
                assert log_excess(-x) == pytest.approx(float(-big - (1 - big).ln()), rel=6e-16, abs=1e-320)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Constant(0.0), "value must be a finite number above 0"),
        (lambda: Exponential(-1.0), "mean must be a finite number above 0"),
        (lambda: Exponential(math.nan), "mean must be a finite number above 0"),
        (lambda: Erlang(0, 1.0), "stages must be a whole number of at least 1"),
        (lambda: Erlang(2, math.inf), "mean must be a finite number above 0"),
        (lambda: Hyperexponential((0.5, 0.5), (1.0,)), "probabilities and means must be equally many"),
        (lambda: Hyperexponential((0.5, 0.5), (1.0, 0.0)), r"means\[1\] must be a finite number above 0"),
        (lambda: Hyperexponential((0.5, 0.6), (1.0, 2.0)), "probabilities must sum to 1"),
        (lambda: Samples((1.0, -2.0)), r"values\[1\] must be a finite number of at least 0, but it is -2.0"),
        (lambda: Samples((1.0, math.nan)), r"values\[1\] must be a finite number of at least 0, but it is nan"),
        (lambda: Samples((0.0, 0.0)), "values must hold a time above 0"),
        (lambda: Samples(()), "values must be a list of numbers"),
        (lambda: Constant(1.0).decay([1.0, -1.0]), r"rates\[1\] must be a finite number of at least 0"),
        (lambda: Constant(1.0).decay([[1.0]]), "rates must be a list of numbers"),
        (lambda: Constant(1.0).decay(3.0), "rates must be a list of numbers"),
        (lambda: Constant(1.0).decay(["a"]), "rates must be a list of numbers"),
    ],
)
def test_wrong_laws_are_refused_in_one_sentence(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
