"""Sojourn times in law: closed forms, a tagged page in the full chain, simulation, and two roads through time.

The tagged page of the tests lives in the whole queue, with arrivals behind it and the laws as the user gave them; that
of the package forgets whoever comes later.
"""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.stats import erlang, gamma

from queueing import BMAP, Mode, PhaseType, ThresholdQueue, stationary_distribution
from queueing.threshold.methods import KRYLOV_LIMIT, full_generator
from queueing.threshold.sojourn import PageClock, SojournLaw, SojournTimes, sojourn_times
from queueing.threshold.sojourn.transient import poisson_weights

LAWS = ("none", "exponential", "erlang", "hyperexponential", "general")
ADMISSIONS = ("partial", "whole-batch", "complete")


def laws_of(times: SojournTimes) -> list[SojournLaw]:
    return [law for law in (times.served, times.obsolete, times.all) if law is not None]


def by_inversion(law: SojournLaw, time: float) -> float:
    """P(V > time) by the road that is not taken for short times."""
    return law._share(law._clock.left_by_inversion(time / law._unit))


# Closed forms


def mm1k(rate: float, speed: float, capacity: int) -> np.ndarray:
    weights = (rate / speed) ** np.arange(capacity + 1)
    return weights / weights.sum()


@pytest.mark.parametrize("capacity", [1, 4, 30])
def test_sojourn_in_mm1k_is_a_mixture_of_erlang_times(capacity):
    queue = ThresholdQueue((BMAP.poisson(0.8),), PhaseType.exponential(1.1), capacity=capacity)
    times = sojourn_times(queue, ())
    p = mm1k(0.8, 1.1, capacity)
    assert times.obsolete is None
    assert times.served.probability == pytest.approx(1 - p[-1], rel=1e-13)
    assert times.all.at_once == pytest.approx(p[-1], rel=1e-12)
    accepted = p[:-1] / p[:-1].sum()
    ahead = np.arange(capacity)
    for t in (0.01, 0.7, 3.0, 20.0, 60.0):
        left = float(accepted @ erlang.sf(t, ahead + 1, scale=1 / 1.1))
        assert times.served.survival(t) == pytest.approx(left, rel=1e-10)
        assert times.served.cdf(t) == pytest.approx(
            float(accepted @ erlang.cdf(t, ahead + 1, scale=1 / 1.1)), rel=1e-10
        )
        assert times.all.survival(t) == pytest.approx((1 - p[-1]) * left, rel=1e-10)
    for s in (0.0, 0.3, 2.0 + 5.0j):
        wanted = accepted @ (1.1 / (1.1 + s)) ** (ahead + 1)
        assert times.served.transform(s) == pytest.approx(wanted, rel=1e-12)
        assert times.all.transform(s) == pytest.approx(p[-1] + (1 - p[-1]) * wanted, rel=1e-12)
    for order in range(1, 9):
        wanted = sum(a * gamma(k + 1, scale=1 / 1.1).moment(order) for a, k in zip(accepted, ahead, strict=True))
        assert times.served.moment(order) == pytest.approx(wanted, rel=1e-11)


def test_served_pages_of_mm1_with_exponential_patience_pass_a_chain_of_exponential_times():
    """With i pages ahead the next leaves at rate mu + (i - 1) theta, the page itself at theta while it waits."""
    arriving, speed, fading, capacity = 1.7, 1.0, 0.6, 40
    queue = ThresholdQueue(
        (BMAP.poisson(arriving),), PhaseType.exponential(speed), PhaseType.exponential(fading), capacity=capacity
    )
    times = sojourn_times(queue, ())
    weights = np.cumprod([1.0, *(arriving / (speed + i * fading) for i in range(capacity))])
    p = weights / weights.sum()
    for s in (0.0, 0.4, 1.0 + 3.0j):
        served = obsolete = 0.0
        for i in range(capacity):
            steps = [(speed + (j - 1) * fading) / (speed + j * fading + s) for j in range(i, 0, -1)]
            served += p[i] * np.prod(steps) * speed / (speed + s)
            obsolete += sum(p[i] * np.prod(steps[:k]) * fading / (speed + (i - k) * fading + s) for k in range(i))
        assert times.served.probability * times.served.transform(s) == pytest.approx(served, rel=1e-12)
        assert times.obsolete.probability * times.obsolete.transform(s) == pytest.approx(obsolete, rel=1e-12)


def test_patience_of_a_page_that_always_waits_behind_an_endless_service_is_its_time():
    """Service a thousand million times slower than patience: obsolete pages leave after their patience."""
    law = PhaseType([0.3, 0.7], [[-1.5, 0.4], [0.1, -0.3]])
    queue = ThresholdQueue((BMAP.poisson(1e-3),), PhaseType.exponential(1e-9), law, capacity=4)
    obsolete = sojourn_times(queue, ()).obsolete
    for t in (0.1, 1.0, 5.0):
        assert obsolete.cdf(t) == pytest.approx(law.cdf(t), rel=1e-6)
    assert obsolete.mean == pytest.approx(law.mean, rel=1e-6)


# A tagged page in the whole queue


class Watched:
    """The queue with one page watched: expm of the chain of all that can happen until it leaves."""

    def __init__(self, queue: ThresholdQueue, thresholds: tuple[int, ...]) -> None:
        self.queue, self.thresholds = queue, thresholds
        self.patience = queue.patience or PhaseType.exponential(1.0)
        self.exits = self.patience.exit_rates if queue.patience is not None else np.zeros(1)
        self.moves = self.patience.generator if queue.patience is not None else np.zeros((1, 1))
        unwatched = self.reached([(0, None, (), None)])
        rates, _, _ = self.matrix(unwatched)
        system = np.vstack([rates.T, np.ones(len(unwatched))])
        stationary = np.linalg.lstsq(system, np.eye(len(unwatched) + 1)[-1])[0]
        start: dict[tuple, float] = {}
        arriving = 0.0
        for state, p in zip(unwatched, stationary, strict=True):
            for rate, after, batch, entered in self.batches(state):
                arriving += p * rate * batch
                pages = 1 + len(after[2])
                for place in range(pages - entered, pages) if entered else ():
                    key = (*after[:3], place)
                    start[key] = start.get(key, 0.0) + p * rate
        states = self.reached(list(start))
        self.generator, self.served, self.obsolete = self.matrix(states)
        self.start = np.array([start.get(state, 0.0) for state in states]) / arriving

    def reached(self, states: list[tuple]) -> list[tuple]:
        known = set(states)
        for state in states:
            for _, after, _ in self.events(state):
                if isinstance(after, tuple) and after not in known:
                    known.add(after)
                    states.append(after)
        return states

    def matrix(self, states: list[tuple]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        index = {state: number for number, state in enumerate(states)}
        rates, ends = np.zeros((len(states),) * 2), {"served": np.zeros(len(states)), "obsolete": np.zeros(len(states))}
        for state, number in index.items():
            for rate, after, _ in self.events(state):
                rates[number, number] -= rate
                if isinstance(after, str):
                    ends[after][number] += rate
                else:
                    rates[number, index[after]] += rate
        return rates, ends["served"], ends["obsolete"]

    def batches(self, state):
        nu, phase, waiting, place = state
        pages, capacity = 0 if phase is None else 1 + len(waiting), self.queue.capacity
        mode = len(self.queue.modes) - 1 - sum(min(pages, capacity) > limit for limit in self.thresholds)
        for batch, block in enumerate(self.queue.modes[mode].arrivals.blocks):
            room = max(0, capacity - pages)
            entered = {
                "partial": min(batch, room),
                "whole-batch": batch if batch <= room else 0,
                "complete": batch if room else 0,
            }[self.queue.admission]
            begins = phase is None and entered > 0
            for other in range(len(block)):
                if batch == 0 and other == nu:
                    continue
                for first in range(self.queue.service.order) if begins else (phase,):
                    chance = self.queue.service.initial[first] if begins else 1.0
                    for new in itertools.product(range(self.patience.order), repeat=entered - begins):
                        drawn = chance * math.prod(self.patience.initial[letter] for letter in new)
                        yield block[nu, other] * drawn, (other, first, waiting + new, place), batch, entered

    def events(self, state):
        nu, phase, waiting, place = state
        for rate, after, _, _ in self.batches(state):
            yield rate, after, None
        if phase is None:
            return
        service = self.queue.service
        for other in range(service.order):
            if other != phase:
                yield service.generator[phase, other], (nu, other, waiting, place), None
        if place == 0:
            yield service.exit_rates[phase], "served", None
        elif not waiting:
            yield service.exit_rates[phase], (nu, None, (), None), None
        else:
            for first, chance in enumerate(service.initial):
                after = (nu, first, waiting[1:], None if place is None else place - 1)
                yield service.exit_rates[phase] * chance, after, None
        for number, letter in enumerate(waiting):
            for other in range(self.patience.order):
                if other != letter:
                    changed = (*waiting[:number], other, *waiting[number + 1 :])
                    yield self.moves[letter, other], (nu, phase, changed, place), None
            if place == number + 1:
                yield self.exits[letter], "obsolete", None
            else:
                rest = (*waiting[:number], *waiting[number + 1 :])
                nearer = place if place is None or number + 1 > place else place - 1
                yield self.exits[letter], (nu, phase, rest, nearer), None

    def ended(self, time: float) -> tuple[float, float]:
        size = len(self.start)
        whole = np.zeros((size + 2, size + 2))
        whole[:size, :size] = self.generator
        whole[:size, size], whole[:size, size + 1] = self.served, self.obsolete
        row = np.concatenate([self.start, [0.0, 0.0]]) @ expm(whole * time)
        return float(row[size]), float(row[size + 1])

    def moment(self, order: int) -> tuple[float, float]:
        ends = np.column_stack([self.served, self.obsolete])
        for _ in range(order + 1):
            ends = np.linalg.solve(-self.generator, ends)
        first, second = math.factorial(order) * (self.start @ ends)
        return float(first), float(second)


@pytest.mark.parametrize("admission", ADMISSIONS)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("seed", range(3))
def test_sojourn_times_are_those_of_a_page_watched_in_the_whole_queue(seed, law, admission, random_queue):
    queue, thresholds = random_queue(seed, law, admission)
    if queue.model.states > 50:
        queue = ThresholdQueue(queue.modes, queue.service, queue.patience, capacity=2, admission=admission)
        thresholds = tuple(min(limit, 2) for limit in thresholds)
    times, watched = sojourn_times(queue, thresholds), Watched(queue, thresholds)
    for t in (0.05, 0.6, 2.5, 9.0):
        served, obsolete = watched.ended(t)
        assert times.served.probability * times.served.cdf(t) == pytest.approx(served, rel=1e-9, abs=1e-12)
        if times.obsolete is not None:
            assert times.obsolete.probability * times.obsolete.cdf(t) == pytest.approx(obsolete, rel=1e-9, abs=1e-12)
        lost = 1 - watched.start.sum()
        assert times.all.cdf(t) == pytest.approx(lost + served + obsolete, rel=1e-9)
    for order in (1, 2, 5):
        served, obsolete = watched.moment(order)
        assert times.served.probability * times.served.moment(order) == pytest.approx(served, rel=1e-9)
        assert times.all.moment(order) == pytest.approx(served + obsolete, rel=1e-9)
    assert (times.obsolete is None) == (watched.moment(0)[1] < 1e-14)


# Agreement with the measures, and of both roads


@pytest.mark.parametrize("admission", ADMISSIONS)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("seed", range(3, 7))
def test_means_and_probabilities_are_the_measures(seed, law, admission, random_queue):
    queue, thresholds = random_queue(seed, law, admission)
    times, measures = sojourn_times(queue, thresholds), queue.measures(thresholds, "reference")
    assert times.error_estimate < 1e-10
    assert times.method == ("elimination" if queue.model.patience_order == 1 else "reference")
    assert times.served.mean == pytest.approx(measures.response_time, rel=1e-10)
    assert times.served.probability == pytest.approx(measures.success, rel=1e-10)
    assert times.all.mean == pytest.approx(measures.sojourn_time, rel=1e-10)
    assert times.all.at_once == pytest.approx(measures.loss, rel=1e-8, abs=1e-14)
    assert times.all.probability == 1.0
    if times.obsolete is None:
        assert measures.obsolete_time is None
    else:
        assert times.obsolete.mean == pytest.approx(measures.obsolete_time, rel=1e-10)
        assert times.obsolete.probability == pytest.approx(measures.obsolescence, rel=1e-10)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("seed", range(7, 11))
def test_uniformisation_and_inversion_agree_and_quantiles_invert(seed, law, random_queue):
    queue, thresholds = random_queue(seed, law)
    for found in laws_of(sojourn_times(queue, thresholds)):
        for p in (0.05, 0.5, 0.95, 0.9999):
            t = found.quantile(p)
            if p <= found.at_once:
                assert t == 0.0
                continue
            assert found.cdf(t) == pytest.approx(p, abs=1e-12)
            assert found.cdf(t) + found.survival(t) == pytest.approx(1.0, abs=1e-13)
            assert by_inversion(found, t) == pytest.approx(1 - p, abs=1e-9)
        grid = np.linspace(0.0, 4 * found.mean, 40)
        assert (np.diff([found.cdf(t) for t in grid]) >= 0).all()
        area = found.variance + found.mean**2
        assert found.moment(2) == pytest.approx(area, rel=1e-12)


@pytest.mark.parametrize("law", LAWS)
def test_moments_are_derivatives_of_the_transform(law, random_queue):
    queue, thresholds = random_queue(2, law, "partial")
    for found in laws_of(sojourn_times(queue, thresholds)):
        h = 1e-3 / found.mean
        values = [found.transform(k * h) for k in range(5)]
        slope = (-25 * values[0] + 48 * values[1] - 36 * values[2] + 16 * values[3] - 3 * values[4]) / (12 * h)
        assert found.transform(0.0) == pytest.approx(1.0, rel=1e-12)
        assert -slope == pytest.approx(found.mean, rel=1e-7)
        assert found.transform(0.3 + 1j) == pytest.approx(np.conj(found.transform(0.3 - 1j)), rel=1e-12)


def test_the_area_over_the_distribution_is_the_mean(paper_queue):
    queue = paper_queue(5, PhaseType.hyperexponential([0.9, 0.1], [3.0, 0.3 / 14.1]))
    for found in laws_of(sojourn_times(queue, (0, 2, 2))):
        times = np.linspace(0.0, 60.0, 6001)
        left = np.array([found.survival(t) for t in times])
        weights = np.full(len(times), 2.0)
        weights[1::2] = 4.0
        weights[[0, -1]] = 1.0
        assert float(weights @ left) * 0.01 / 3 == pytest.approx(found.mean, rel=1e-5)


# Large queues, stiff ones, limits


def test_a_thousand_places_are_no_trouble():
    queue = ThresholdQueue((BMAP.poisson(1.2),), PhaseType.erlang(2, 2.0), PhaseType.exponential(0.001), capacity=1000)
    times, measures = sojourn_times(queue, ()), queue.measures(())
    assert times.served.mean == pytest.approx(measures.response_time, rel=1e-11)
    for p in (0.5, 0.99):
        t = times.served.quantile(p)
        assert by_inversion(times.served, t) == pytest.approx(1 - p, abs=1e-8)


def test_rates_far_apart_go_by_inversion():
    """Half of the services are over in 1e-9, the others take 100: uniformisation would take 1e11 steps.

    With services of no time in their place, n pages become n - 1 - j when a service ends, j of no time next in line,
    and a page that meets n stays for as many long services as it finds, one of them in progress, and its own.
    """
    service = PhaseType.hyperexponential([0.5, 0.5], [1e9, 0.01])
    queue = ThresholdQueue((BMAP.poisson(0.004),), service, capacity=3)
    served = sojourn_times(queue, ()).served
    assert served._clock.is_short(1e-9)
    assert not served._clock.is_short(100.0)
    moves = np.zeros((4, 4))
    moves[0, 1], moves[1, 2], moves[2, 3] = 0.002, 0.004, 0.004
    for pages in range(1, 4):
        for left in range(pages):
            moves[pages, left] = 0.01 * (0.5 ** (pages - 1) if left == 0 else 0.5 ** (pages - left))
    moves -= np.diag(moves.sum(axis=1))
    p = np.linalg.lstsq(np.vstack([moves.T, np.ones(4)]), np.eye(5)[-1])[0][:3]
    for t in (30.0, 100.0, 700.0):
        left = 0.0
        for pages, chance in enumerate(p / p.sum()):
            for long in range(pages + 1):  # among those that wait, and its own
                weight = math.comb(max(pages, 1), long) / 2 ** max(pages, 1)
                count = long + (pages > 0)
                left += chance * weight * (erlang.sf(t, count, scale=100.0) if count else 0.0)
            if pages == 0:
                left += chance * 0.5 * math.exp(-t / 100)
        assert served.survival(t) == pytest.approx(left, abs=1e-9)
    assert served.cdf(served.quantile(0.9)) == pytest.approx(0.9, abs=1e-9)
    with pytest.raises(ValueError, match=r"p must be at most 1 - 1e-08 where rates lie as far apart"):
        served.quantile(1 - 1e-12)


def test_small_tails_have_their_digits():
    queue = ThresholdQueue((BMAP.poisson(0.5),), PhaseType.exponential(1.0), capacity=2)
    served = sojourn_times(queue, ()).served
    p = mm1k(0.5, 1.0, 2)
    for t in (50.0, 300.0, 600.0):
        wanted = (p[0] * math.exp(-t) + p[1] * math.exp(-t) * (1 + t)) / (p[0] + p[1])
        assert served.survival(t) == pytest.approx(wanted, rel=1e-9)
    assert served.quantile(1 - 1e-12) == pytest.approx(28.4, rel=0.1)


def test_where_no_page_comes_there_is_no_sojourn():
    queue = ThresholdQueue((BMAP([[[0.0]], [[0.0]]]), BMAP.poisson(1.0)), PhaseType.exponential(1.0), capacity=3)
    times = sojourn_times(queue, (-1,))
    assert (times.served, times.obsolete, times.all) == (None, None, None)


@pytest.mark.parametrize("law", [None, PhaseType.erlang(2, 1.0)])
def test_where_no_batch_fits_every_page_is_lost_at_once(law):
    queue = ThresholdQueue(
        (BMAP([[[-1.0]], [[0.0]], [[0.0]], [[1.0]]]),),
        PhaseType.exponential(1.0),
        law,
        capacity=2,
        admission="whole-batch",
    )
    times = sojourn_times(queue, ())
    assert (times.served, times.obsolete) == (None, None)
    assert (times.all.at_once, times.all.mean, times.all.quantile(0.9), times.all.cdf(0.0)) == (1.0, 0.0, 0.0, 1.0)
    assert times.all.transform(2.0) == 1.0


def test_pages_above_the_level_where_nothing_comes_are_never_met():
    quiet, busy = BMAP([[[0.0]], [[0.0]]]), BMAP.poisson(1.0)
    for law in (None, PhaseType.erlang(2, 1.0)):
        queue = ThresholdQueue((quiet, busy), PhaseType.exponential(1.0), law, capacity=6)
        small = ThresholdQueue((quiet, busy), PhaseType.exponential(1.0), law, capacity=2)
        times, wanted = sojourn_times(queue, (1,)), sojourn_times(small, (1,))
        assert times.all.cdf(1.3) == pytest.approx(wanted.all.cdf(1.3), rel=1e-11)


def test_questions_without_an_answer_are_refused(paper_queue):
    times = sojourn_times(paper_queue(3), (0, 1, 2))
    with pytest.raises(ValueError, match=r"p must be below 1, but it is 1\.0"):
        times.all.quantile(1.0)
    with pytest.raises(ValueError, match=r"p must be a finite number of at least 0"):
        times.all.quantile(-0.1)
    with pytest.raises(ValueError, match=r"time must be a finite number of at least 0"):
        times.all.cdf(-1.0)
    with pytest.raises(ValueError, match=r"real part of at least 0, but it is -1"):
        times.all.transform(-1)
    with pytest.raises(ValueError, match=r"order must be a whole number"):
        times.all.moment(-1)
    with pytest.raises(ValueError, match=r"larger than a double can hold"):
        times.all.moment(400)
    with pytest.raises(ValueError, match=r"3 thresholds"):
        sojourn_times(paper_queue(3), (0,))


def test_queues_too_large_are_refused_before_anything_is_computed():
    queue = ThresholdQueue((BMAP.poisson(1.0),), PhaseType.exponential(1.0), PhaseType.erlang(2, 1.0), capacity=40)
    with pytest.raises(ValueError, match=rf"patience of 2 phases take at most {KRYLOV_LIMIT} states, but this queue"):
        sojourn_times(queue, ())


@pytest.mark.parametrize("mean", [0.0, 0.3, 7.0, 1234.5, 3e6])
def test_poisson_weights_are_a_poisson_law(mean):
    first, weights = poisson_weights(mean)
    places = first + np.arange(len(weights))
    assert weights.sum() == pytest.approx(1.0, rel=1e-14)
    assert float(places @ weights) == pytest.approx(mean, rel=1e-13)
    logs = [n * math.log(mean) - mean - math.lgamma(n + 1) if mean else 0.0 for n in places[weights > 1e-250]]
    np.testing.assert_allclose(weights[weights > 1e-250], np.exp(logs), rtol=1e-7)


# Simulation


def simulated(rng, rates, batches, service, patience, capacity, pages):
    """Times of served and of obsolete pages and the number of lost ones; arrivals Poisson, their rate by level."""
    now, ends, served, obsolete, lost = 0.0, math.inf, [], [], 0
    line: list[tuple[float, float]] = []  # arrival and deadline of waiting pages
    current = None
    while len(served) + len(obsolete) + lost < pages:
        level = 0 if current is None else 1 + len(line)
        arrival = now + rng.exponential(1 / rates[level])
        number, (_, deadline) = min(enumerate(line), key=lambda one: one[1][1], default=(0, (0.0, math.inf)))
        now = min(arrival, ends, deadline)
        if now == deadline:
            obsolete.append(now - line.pop(number)[0])
            continue
        if now == ends:
            served.append(now - current)
            current, ends = None, math.inf
        else:
            for _ in range(1 + rng.choice(len(batches), p=batches)):
                if (0 if current is None and not line else 1 + len(line)) >= capacity:
                    lost += 1
                else:
                    line.append((now, now + patience(rng)))
                    if current is None:
                        current, ends = line.pop(0)[0], now + service(rng)
        if current is None and line:
            current, ends = line.pop(0)[0], now + service(rng)
    return np.array(served), np.array(obsolete), lost


PATIENCE_TIMES = {
    "erlang": (PhaseType.erlang(3, 2.0), lambda rng: rng.gamma(3, 0.5)),
    "hyperexponential": (
        PhaseType.hyperexponential([0.7, 0.3], [2.0, 0.15]),
        lambda rng: rng.exponential(0.5 if rng.random() < 0.7 else 1 / 0.15),
    ),
}


@pytest.mark.parametrize("law", PATIENCE_TIMES)
def test_simulated_pages_stay_as_long(law):
    few, many = BMAP([[[-0.9]], [[0.6]], [[0.3]]]), BMAP([[[-1.8]], [[1.2]], [[0.6]]])
    patience, draw = PATIENCE_TIMES[law]
    queue = ThresholdQueue((few, many), PhaseType.erlang(2, 2.4), patience, capacity=4)
    times = sojourn_times(queue, (1,))
    rates = [1.8, 1.8, 0.9, 0.9, 0.9]
    wanted = [(0, t, times.served.probability * times.served.survival(t)) for t in (0.0, 0.5, 1.5, 4.0)]
    wanted += [(1, t, times.obsolete.probability * times.obsolete.survival(t)) for t in (0.0, 0.5, 1.5)]
    samples = []
    for seed in range(12):
        *groups, lost = simulated(
            np.random.default_rng(seed), rates, [2 / 3, 1 / 3], lambda rng: rng.gamma(2, 1 / 2.4), draw, 4, 4000
        )
        total = len(groups[0]) + len(groups[1]) + lost
        samples.append([(groups[which] > t).sum() / total for which, t, _ in wanted])
    mean, error = np.mean(samples, axis=0), np.std(samples, axis=0, ddof=1) / math.sqrt(len(samples))
    assert np.abs((mean - [value for _, _, value in wanted]) / error).max() < 4.5
    assert error.max() < 0.004


def test_modes_may_be_named_by_their_robots():
    """The tagged page sees the mode in force, not its place in the list."""
    slow, fast = BMAP.poisson(0.2), BMAP.poisson(3.0)
    queue = ThresholdQueue((Mode(2, slow), Mode(7, fast)), PhaseType.exponential(1.0), capacity=3)
    always_fast = ThresholdQueue((fast,), PhaseType.exponential(1.0), capacity=3)
    assert sojourn_times(queue, (3,)).all.mean == pytest.approx(sojourn_times(always_fast, ()).all.mean, rel=1e-13)


def test_queues_tell_their_sojourn_times_themselves(paper_queue):
    queue = paper_queue(5)
    assert queue.sojourn((-1, 2, 2)).served.mean == pytest.approx(queue.measures((-1, 2, 2)).response_time, rel=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_however_the_queue_is_solved_pages_meet_the_same(seed, random_queue, monkeypatch):
    queue, thresholds = random_queue(seed, "general", "partial")
    wanted = laws_of(sojourn_times(queue, thresholds))
    arrivals = "queueing.threshold.sojourn.arrivals"

    def fail(*_):
        raise ValueError("no end")

    monkeypatch.setattr(f"{arrivals}.SMALL", 0)
    iterated = sojourn_times(queue, thresholds)
    monkeypatch.setattr(f"{arrivals}._by_krylov", fail)
    found = sojourn_times(queue, thresholds)
    assert (iterated.method, found.method) == ("krylov", "block")
    for times in (iterated, found):
        for one, other in zip(laws_of(times), wanted, strict=True):
            assert one.moment(3) == pytest.approx(other.moment(3), rel=1e-10)
            assert one.cdf(0.7) == pytest.approx(other.cdf(0.7), rel=1e-10)


def test_patience_of_sixty_phases_is_nearly_constant():
    patience = PhaseType.deterministic(1.0, 60)
    queue = ThresholdQueue((BMAP.poisson(1.6),), PhaseType.exponential(1.0), patience, capacity=2)
    obsolete = sojourn_times(queue, ()).obsolete
    # With one page waiting, one that goes out of date has a patience tilted by exp(-t): service may end first.
    assert obsolete.cdf(0.9) == pytest.approx(gamma(60, scale=1 / 61).cdf(0.9), rel=1e-9)
    assert obsolete.quantile(0.5) == pytest.approx(gamma(60, scale=1 / 61).ppf(0.5), rel=1e-9)


# Theorem 4 of the paper, letter by letter


def kron_sum(*parts: np.ndarray) -> np.ndarray:
    total = np.zeros((1, 1))
    for part in parts:
        total = np.kron(total, np.eye(len(part))) + np.kron(np.eye(len(total)), part)
    return total


def theorem_4(queue, thresholds, u, first_service):
    """v(u), P_success v1(u), P_obs v2(u) by (16) to (21); `first_service` is the paper's B_0 with a hat."""
    service, law = queue.service, queue.patience
    size, order, capacity = service.order, law.order, queue.capacity
    modes = queue.mode_by_level(thresholds)
    stationary = stationary_distribution(full_generator(queue.model, modes).toarray())
    sizes = [queue.model.level_size(level) for level in range(capacity + 1)]
    levels = np.split(stationary, np.cumsum(sizes)[:-1])
    fading, ending = law.exit_rates[:, np.newaxis], service.exit_rates[:, np.newaxis]

    def life(waiting):
        return kron_sum(service.generator, *[law.generator] * waiting)

    def fall(waiting):
        begun = np.kron(
            np.kron(ending @ service.initial[np.newaxis], np.ones((order, 1))), np.eye(order ** (waiting - 1))
        )
        gone = sum(
            np.kron(np.kron(np.eye(order**place), fading), np.eye(order ** (waiting - 1 - place)))
            for place in range(waiting)
        )
        return begun + np.kron(np.eye(size), gone)

    served, obsolete = [np.linalg.solve(u * np.eye(size) - service.generator, ending)], [np.zeros((size, 1))]
    for i in range(1, capacity):
        leaving = u * np.eye(size * order**i) - life(i)
        down = first_service if i == 1 else np.kron(fall(i - 1), np.eye(order))
        own = np.kron(np.ones((size * order ** (i - 1), 1)), fading)
        served.append(np.linalg.solve(leaving, down @ served[-1]))
        obsolete.append(np.linalg.solve(leaving, own + down @ obsolete[-1]))
    arriving = lost = 0.0
    totals = np.zeros(2, dtype=complex)
    for i, row in enumerate(levels):
        by_phase = row.reshape(queue.model.arrivals[0].phases, -1)
        for k, block in enumerate(queue.model.arrivals[modes[i]].blocks[1:], start=1):
            met = block.sum(axis=1) @ by_phase
            arriving += k * met.sum()
            lost += max(0, k - capacity + i) * met.sum()
            for place in range(1, min(k, capacity - i) + 1):
                begun = [service.initial] if i == 0 else []
                joined = met
                for new in begun + [law.initial] * (place - len(begun)):
                    joined = np.kron(joined, new)
                totals += [(joined @ served[i + place - 1]).item(), (joined @ obsolete[i + place - 1]).item()]
    return (totals.sum() + lost) / arriving, totals[0] / arriving, totals[1] / arriving


@pytest.mark.parametrize("law", ["erlang", "hyperexponential", "general"])
@pytest.mark.parametrize("seed", range(4))
def test_transforms_are_those_of_theorem_4_with_its_first_service_put_right(seed, law, random_queue):
    """The paper prints B_0 (x) I_R, of the wrong size; a page in service forgets its patience: S_0 beta (x) e_R."""
    queue, thresholds = random_queue(seed, law, "partial")
    service, order = queue.service, queue.patience.order
    begun = np.outer(service.exit_rates, service.initial)
    times = sojourn_times(queue, thresholds)
    for u in (0.0, 0.4, 0.2 + 1.5j):
        every, served, obsolete = theorem_4(queue, thresholds, u, np.kron(begun, np.ones((order, 1))))
        assert times.all.transform(u) == pytest.approx(every, rel=1e-10)
        assert times.served.probability * times.served.transform(u) == pytest.approx(served, rel=1e-10)
        assert times.obsolete.probability * times.obsolete.transform(u) == pytest.approx(obsolete, rel=1e-10)
    if queue.capacity > 1:
        with pytest.raises(ValueError, match="mismatch"):
            theorem_4(queue, thresholds, 0.4, np.kron(begun, np.eye(order)))


@pytest.mark.parametrize("factor", [1e-250, 1e-100, 1e100, 1e250])
@pytest.mark.parametrize("law", ["exponential", "hyperexponential"])
def test_the_unit_of_time_does_not_matter(factor, law, random_queue):
    queue, thresholds = random_queue(7, law)
    modes = [Mode(mode.robots, BMAP(tuple(factor * block for block in mode.arrivals.blocks))) for mode in queue.modes]
    service, patience = (one.scaled(factor) for one in (queue.service, queue.patience))
    fast = ThresholdQueue(modes, service, patience, capacity=queue.capacity, admission=queue.admission)
    pairs = zip(laws_of(sojourn_times(queue, thresholds)), laws_of(sojourn_times(fast, thresholds)), strict=True)
    for slow, scaled in pairs:
        assert scaled.mean * factor == pytest.approx(slow.mean, rel=1e-10)
        assert scaled.transform(0.3 * factor) == pytest.approx(slow.transform(0.3), rel=1e-10)
        for p in (0.5, 0.95):
            assert scaled.quantile(p) * factor == pytest.approx(slow.quantile(p), rel=1e-9)
            assert scaled.survival(slow.mean / factor) == pytest.approx(slow.survival(slow.mean), rel=1e-9)


@pytest.mark.timeout(20)
def test_pages_that_hardly_ever_go_out_of_date_have_times_too():
    """Their time is about 1e-200, and its share in the mean of all 1e-400: as that was 0, a search had no end."""
    pairs = BMAP((np.array([[-1.0]]), np.array([[0.0]]), np.array([[1.0]])))
    queue = ThresholdQueue((Mode(1, pairs),), PhaseType.exponential(1e200), PhaseType.exponential(0.2), capacity=4)
    obsolete = sojourn_times(queue, ()).obsolete
    assert 0.0 < obsolete.quantile(0.5) < obsolete.mean < obsolete.quantile(0.95) < 1e-198


@pytest.mark.timeout(20)
def test_a_quantile_that_no_double_can_hold_is_refused(random_queue):
    law = laws_of(sojourn_times(*random_queue(7, "exponential")))[0]

    class Still(PageClock):
        """A page that never leaves."""

        def left(self, time):
            return self.page.probabilities

        def ended(self, time):
            return np.zeros(2)

    with pytest.raises(ValueError, match="nearer to one another"):
        replace(law, at_once=0.0, _clock=Still(law._clock.page)).quantile(0.5)


def test_what_was_dropped_with_phases_is_told():
    law = PhaseType([0.5, 0.5], [[-0.3, 0.1], [0.05, -(0.05 + 0.2 * (1 + 2e-11))]])
    queue = ThresholdQueue((Mode(1, BMAP.poisson(2.0)),), PhaseType.exponential(1.0), law, capacity=4)
    assert queue.model.patience.order == 1
    assert 1e-11 < sojourn_times(queue, ()).error_estimate < 1e-10


@pytest.mark.parametrize("level", [1e-9, 0.3, 0.5, 0.95, 1 - 1e-9])
def test_roots_are_found_as_scipy_finds_them(level):
    from scipy.optimize import brentq

    from queueing.threshold.sojourn.distribution import _root

    def above(time):
        return 1.0 - math.exp(-0.7 * time) * (1.0 + 0.7 * time) - level

    assert _root(above, 0.0, 64.0, 64e-15, 1e-13) == brentq(above, 0.0, 64.0, xtol=64e-15, rtol=1e-13)
