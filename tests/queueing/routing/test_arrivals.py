"""Services seen at arrivals: integrals, closed forms, all outcomes by hand, many digits, and processes in disguise."""

import math
from decimal import Decimal, localcontext
from itertools import product

import numpy as np
import pytest
from gap_conditions import condition
from scipy.integrate import quad, quad_vec
from scipy.linalg import expm
from scipy.stats import gamma

from queueing import BMAP, PhaseType
from queueing.freshness import schedule_obsolescence, traits
from queueing.processes import Constant, Erlang, Exponential, Hyperexponential, PhaseTypeTime, Samples
from queueing.routing import (
    MarkovArrivals,
    RenewalArrivals,
    TraceArrivals,
    freshness_costs,
    loss_costs,
    not_convex,
    word_cost,
)
from queueing.routing.arrivals import transforms

COX = PhaseType([0.7, 0.3, 0.0], [[-2.0, 1.0, 0.5], [0.2, -1.5, 0.3], [0.0, 0.4, -0.9]])
MMPP = BMAP.mmpp([[-0.3, 0.3], [0.7, -0.7]], [0.5, 4.0])
MAP = BMAP.map(
    [[-3.0, 1.0, 0.0], [0.2, -1.0, 0.1], [0.0, 0.5, -2.0]], [[0.5, 1.0, 0.5], [0.0, 0.2, 0.5], [1.5, 0.0, 0.0]]
)
SOURCES = {
    "poisson": RenewalArrivals(Exponential(0.8)),
    "constant": RenewalArrivals(Constant(0.8)),
    "erlang": RenewalArrivals(Erlang(3, 0.8)),
    "hyperexponential": RenewalArrivals(Hyperexponential((0.2, 0.8), (2.0, 0.4))),
    "phase-type": RenewalArrivals(PhaseTypeTime(COX)),
    "samples": RenewalArrivals(Samples((0.0, 0.2, 0.2, 2.0))),
    "mmpp": MarkovArrivals(MMPP),
    "map": MarkovArrivals(MAP),
    "trace": TraceArrivals((0.3, 2.0, 0.0, 0.5, 0.5)),
}
every_source = pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)


def triple(service, passed):
    """P(S >= t), E(S - t)^+, E(t - S)^+ by exponentials and integrals."""
    if passed == 0:
        return np.array([1.0, service.mean, 0.0])
    alive = service.initial @ expm(service.generator * passed)
    stale = quad(lambda u: 1 - (service.initial @ expm(service.generator * u)).sum(), 0, passed, epsabs=1e-13)[0]
    return np.array([alive.sum(), alive @ np.linalg.solve(-service.generator, np.ones(service.order)), stale])


def rows(lives):
    return np.array(lives)


@every_source
def test_a_rate_as_one_phase_two_equal_phases_and_a_mixture(source):
    """Rates take another road than phases, but where sources are Markovian."""
    rates = [0.3, 1.7]
    apart = [rows(source.lives(rate, 30)) for rate in rates]
    twice = rows(source.lives(PhaseType([0.4, 0.6], [[-2.7, 2.4], [0.0, -0.3]]), 30))  # ends at rate 0.3 in both
    assert twice == pytest.approx(apart[0], rel=1e-12)
    mixed = rows(source.lives(PhaseType.hyperexponential([0.25, 0.75], rates), 30))
    assert mixed == pytest.approx(0.25 * apart[0] + 0.75 * apart[1], rel=1e-12)
    assert rows(source.lives(PhaseType.exponential(0.3), 30)) == pytest.approx(apart[0], rel=1e-12)


@every_source
@pytest.mark.parametrize("service", [COX, PhaseType.erlang(4, 2.0), 0.6], ids=["cox", "erlang", "rate"])
def test_what_is_over_and_what_is_left_balance(source, service):
    """E(T - S)^+ - E(S - T)^+ = E T - E S, though neither is computed as a difference."""
    lives = source.lives(service, 50)
    mean = service.mean if isinstance(service, PhaseType) else 1 / service
    expected = source.mean * np.arange(1, 51) - mean
    assert lives.stale - lives.beyond == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert (np.diff(lives.alive) <= 0).all() and (lives.alive <= 1).all() and (lives.stale >= 0).all()


@pytest.mark.parametrize("service", [COX, PhaseType.erlang(3, 2.5)], ids=["cox", "erlang"])
def test_constant_times_by_exponentials(service):
    lives = rows(SOURCES["constant"].lives(service, 5))
    expected = np.array([triple(service, 0.8 * n) for n in range(1, 6)]).T
    assert lives == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("service", [COX, PhaseType.erlang(3, 2.5)], ids=["cox", "erlang"])
def test_samples_by_all_their_outcomes(service):
    values = (0.0, 0.2, 0.2, 2.0)
    lives = rows(SOURCES["samples"].lives(service, 3))
    for n in (1, 2, 3):
        expected = np.mean([triple(service, sum(drawn)) for drawn in product(values, repeat=n)], axis=0)
        assert lives[:, n - 1] == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("service", [COX, PhaseType.erlang(3, 2.5)], ids=["cox", "erlang"])
def test_a_trace_by_all_its_windows(service):
    values = SOURCES["trace"].values
    lives = rows(SOURCES["trace"].lives(service, 7))
    for n in (1, 2, 5, 7):
        sums = [sum((values * 3)[begin : begin + n]) for begin in range(len(values))]
        assert lives[:, n - 1] == pytest.approx(np.mean([triple(service, t) for t in sums], axis=0), rel=1e-11)


@pytest.mark.parametrize("stages", [1, 3])
def test_sums_of_erlang_times_by_integration(stages):
    """T_n is Erlang again: its density against the service."""
    source = SOURCES["erlang"] if stages == 3 else SOURCES["poisson"]
    lives = rows(source.lives(COX, 4))
    for n in (1, 4):
        law = gamma(stages * n, scale=0.8 / stages)
        for row in range(3):
            value = quad(lambda t, row=row, law=law: law.pdf(t) * triple(COX, t)[row], 0, 30, epsabs=1e-9, limit=100)[0]
            assert lives[row, n - 1] == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize("process", [MMPP, MAP], ids=["mmpp", "map"])
def test_markovian_slots_by_integration(process):
    """One slot is an integral over its length of both exponentials; the rest is powers, written out."""
    quiet, arrival = process.blocks
    phases = len(quiet)
    theta = np.linalg.lstsq(
        np.vstack([(quiet + arrival).T, np.ones(phases)]), np.append(np.zeros(phases), 1), rcond=None
    )[0]
    start = theta @ arrival / (theta @ arrival).sum()
    slot = quad_vec(lambda t: np.kron(expm(quiet * t) @ arrival, expm(COX.generator * t)), 0, 80, epsabs=1e-12)[0]
    rest = np.tile(np.linalg.solve(-COX.generator, np.ones(3)), phases)
    lives = MarkovArrivals(process).lives(COX, 6)
    here = np.kron(start, COX.initial)
    for n in range(6):
        here = here @ slot
        assert lives.alive[n] == pytest.approx(here.sum(), rel=1e-9)
        assert lives.beyond[n] == pytest.approx(here @ rest, rel=1e-9)


@pytest.mark.parametrize("process", [MMPP, MAP], ids=["mmpp", "map"])
def test_markovian_transforms_by_the_formula_of_the_paper(process):
    quiet, arrival = process.blocks
    source = MarkovArrivals(process)
    for rate in (0.2, 1.0, 5.0):
        one = np.linalg.solve(rate * np.eye(len(quiet)) - quiet, arrival)
        expected = [source.start @ np.linalg.matrix_power(one, n) @ np.ones(len(quiet)) for n in range(1, 20)]
        assert transforms(source, np.array([rate]), 19)[0] == pytest.approx(expected, rel=1e-12)


def test_erlang_services_under_poisson_arrivals_in_closed_form():
    """P(S >= T_n): fewer than k of the services' stages end before the n-th arrival, negative binomial."""
    arrival, stages, speed = 1.25, 3, 2.0
    p = arrival / (arrival + speed)
    lives = SOURCES["poisson"].lives(PhaseType.erlang(stages, speed), 20)
    for n in range(1, 21):
        alive = [math.comb(n - 1 + j, j) * p**n * (1 - p) ** j for j in range(stages)]
        assert lives.alive[n - 1] == pytest.approx(math.fsum(alive), rel=1e-13)
        left = math.fsum(chance * (stages - j) / speed for j, chance in enumerate(alive))
        assert lives.beyond[n - 1] == pytest.approx(left, rel=1e-13)


def test_processes_in_disguise():
    poisson = SOURCES["poisson"]
    equal = MarkovArrivals(BMAP.mmpp([[-0.3, 0.3], [0.7, -0.7]], [1.25, 1.25]))
    erlang = MarkovArrivals(
        BMAP.map([[-3.75, 3.75, 0], [0, -3.75, 3.75], [0, 0, -3.75]], [[0, 0, 0], [0, 0, 0], [3.75, 0, 0]])
    )
    quiet, arrival = MMPP.blocks
    steady = (TraceArrivals((0.8,) * 4), RenewalArrivals(Samples((0.8,))))
    for service in (0.9, COX):
        assert rows(equal.lives(service, 9)) == pytest.approx(rows(poisson.lives(service, 9)), rel=1e-12)
        assert rows(erlang.lives(service, 9)) == pytest.approx(rows(SOURCES["erlang"].lives(service, 9)), rel=1e-12)
        as_map = MarkovArrivals(BMAP.map(quiet, arrival)).lives(service, 9)
        assert rows(as_map) == pytest.approx(rows(SOURCES["mmpp"].lives(service, 9)), rel=1e-14)
        for other in steady:
            assert rows(other.lives(service, 9)) == pytest.approx(
                rows(SOURCES["constant"].lives(service, 9)), rel=1e-12
            )


def test_a_trace_is_not_its_samples():
    """Successive times of a trace depend on one another: long and short in turn are more regular than at random."""
    turns, drawn = TraceArrivals((0.1, 1.9)), RenewalArrivals(Samples((0.1, 1.9)))
    assert turns.lives(1.0, 1).alive == pytest.approx(drawn.lives(1.0, 1).alive, rel=1e-14)
    assert turns.lives(1.0, 2).alive[1] == pytest.approx(math.exp(-2), rel=1e-14)
    assert drawn.lives(1.0, 2).alive[1] > 1.5 * math.exp(-2)


# -- digits -----------------------------------------------------------------------------------------------------------


def exact_stale(law, rate, count):
    """mu E(T_n - S)^+ = n mu E tau - 1 + h^n in 60 digits."""
    with localcontext() as context:
        context.prec = 60
        mu = Decimal(rate)
        match law:
            case Exponential():
                h, mean = 1 / (1 + mu * Decimal(law.mean)), Decimal(law.mean)
            case Constant():
                h, mean = (-mu * Decimal(law.value)).exp(), Decimal(law.value)
            case Samples():
                values = [Decimal(value) for value in law.values]
                h, mean = sum((-mu * value).exp() for value in values) / len(values), sum(values) / len(values)
        return [float((n * mu * mean - 1 + h**n) / mu / mean) for n in range(1, count + 1)]


@pytest.mark.parametrize("rate", [1e-12, 1e-7, 1e-3, 1.0, 1e3])
@pytest.mark.parametrize("law", [Exponential(0.75), Constant(0.75), Samples((0.0, 0.25, 3.5))])
def test_freshness_keeps_its_digits_for_pages_that_hardly_ever_change(law, rate):
    expected = exact_stale(law, rate, 40)
    found = [RenewalArrivals(law)]
    if isinstance(law, Exponential):
        found.append(MarkovArrivals(BMAP.poisson(1 / law.mean)))
    for source in found:
        assert freshness_costs(source, [rate]).table(40)[0] == pytest.approx(expected, rel=2e-14)
    two = PhaseType([0.5, 0.5], [[-2 * rate, rate], [0.0, -rate]])  # the same law, by phases
    assert freshness_costs(RenewalArrivals(law), [two]).table(40)[0] == pytest.approx(expected, rel=1e-12)


def test_a_trace_keeps_its_digits():
    values, rate = (0.0, 0.25, 3.5), 1e-9
    with localcontext() as context:
        context.prec = 60
        for n in (1, 2, 7):
            sums = [Decimal(sum((values * 4)[b : b + n])) * Decimal(rate) for b in range(3)]
            expected = float(sum(t - 1 + (-t).exp() for t in sums) / 3 / Decimal(rate) / Decimal("1.25"))
            assert freshness_costs(TraceArrivals(values), [rate]).table(n)[0, -1] == pytest.approx(expected, rel=1e-14)


def test_small_chances_of_a_modulated_source_keep_their_digits():
    """The 400th power is below 1e-200; the eigenvalue tells the quotient of successive ones."""
    lives = MarkovArrivals(MMPP).lives(3.0, 400)
    quiet, arrival = MMPP.blocks
    largest = np.linalg.eigvals(np.linalg.solve(3.0 * np.eye(2) - quiet, arrival)).real.max()
    assert 0 < lives.alive[-1] < 1e-90
    assert lives.alive[-1] / lives.alive[-2] == pytest.approx(largest, rel=1e-13)


@pytest.mark.parametrize("source", [SOURCES["constant"], SOURCES["samples"], SOURCES["trace"], SOURCES["map"]])
def test_phases_far_apart_keep_their_digits(source):
    """A phase left 1e7 times in a slot, and a service of many slots: a power of e^{Gamma t} is squared 25 times."""
    service = PhaseType([0.4, 0.6], [[-1e7, 1e7 - 2.0], [5.0, -5.2]])
    lives = source.lives(service, 100)
    expected = source.mean * np.arange(1, 101) - service.mean
    assert lives.stale - lives.beyond == pytest.approx(expected, rel=1e-13, abs=1e-13 * service.mean)
    fast, slow = np.roots([1.0, 1e7 + 5.2, 2.0 * 5.2 + 0.2 * (1e7 - 2.0)])  # P(S > t) is a sum of two exponentials
    if source is SOURCES["constant"]:
        quotient = math.exp(slow * 0.8)
        assert np.diff(lives.alive) / lives.alive[:-1] == pytest.approx([quotient - 1] * 99, rel=1e-9)
    assert not_convex(freshness_costs(source, [service]), 500) is None and fast < -1e6


# -- costs ------------------------------------------------------------------------------------------------------------


@every_source
def test_freshness_with_weights_like_rates_is_the_loss_problem(source):
    """Knowledge of the paper's section 6: cost of the robot = k sum mu - k (1 - cost of losses) / E tau."""
    rng = np.random.default_rng(7)
    rates, k = np.array([0.2, 0.9, 3.0]), 1.7
    losses, robot = loss_costs(source, rates.tolist()), freshness_costs(source, rates.tolist(), k * rates)
    for _ in range(10):
        word = rng.integers(0, 3, int(rng.integers(1, 12)))
        expected = k * rates.sum() - k * (1 - word_cost(losses, word)) / source.mean
        assert word_cost(robot, word) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("law", [Exponential(0.75), Constant(0.75), Erlang(2, 0.4), Samples((0.0, 0.25, 3.5))])
def test_freshness_is_that_of_the_kind_freshness(law):
    rng = np.random.default_rng(8)
    rates, weights = np.array([1e-6, 0.4, 2.0, 9.0]), np.array([5.0, 1.0, 0.3, 0.0])
    costs = freshness_costs(RenewalArrivals(law), rates.tolist(), weights)
    for _ in range(10):
        word = rng.integers(0, 4, int(rng.integers(1, 15)))
        fractions = schedule_obsolescence(traits(rates, weights, law), word)
        assert word_cost(costs, word) == pytest.approx(float(weights @ fractions), rel=1e-13)


@every_source
def test_remainders_fall_to_nothing_above_the_asymptote(source):
    for costs in (
        freshness_costs(source, [0.3, COX, PhaseType.erlang(5, 2.0)], [1.0, 2.0, 0.5]),
        loss_costs(source, [0.3, COX, PhaseType.erlang(5, 2.0)], [1.0, 2.0, 0.5]),
    ):
        rest = costs.remainders(200)
        lines = costs.slopes[:, None] * np.arange(1, 201) + costs.limits[:, None]
        assert costs.table(200) == pytest.approx(lines + rest, rel=1e-12, abs=1e-12)
        assert (rest >= 0).all() and (np.diff(rest) <= 0).all() and (rest[:, -1] < 1e-9).all()


@every_source
def test_costs_are_convex_but_for_losses_of_regular_services(source):
    assert not_convex(freshness_costs(source, [0.3, COX, PhaseType.erlang(20, 10.0)]), 300) is None
    assert not_convex(loss_costs(source, [0.3, 4.0, PhaseType.hyperexponential([0.5, 0.5], [0.1, 3.0])]), 300) is None


def test_losses_of_regular_services_say_where_they_bend_down():
    """A service of about 4 slots: 1 or 2 slots later it hardly ever has ended."""
    costs = loss_costs(SOURCES["constant"], [1.0, PhaseType.erlang(30, 30 / 3.2)])
    told = not_convex(costs, 100)
    assert told is not None and told.startswith("Costs of gaps must be convex, but server 1 has f(1) = 0.99")
    assert condition(costs) is None


def test_conditions_of_the_paper():
    poisson = SOURCES["poisson"]
    assert condition(loss_costs(poisson, [0.5, 3.0])) == 3
    assert condition(freshness_costs(poisson, [0.5, 3.0], [1.0, 6.0])) == 3  # weights like rates: one C for all
    assert condition(freshness_costs(poisson, [0.5, 3.0], [1.0, 1.0])) is None
