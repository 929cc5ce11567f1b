"""Pages that come and go: against a plain simulation with its own roots, closed forms, and the static bound."""

import heapq
import math
import random

import numpy as np
import pytest
from freshness_churn import ChurningPages, simulate_churn
from freshness_churn_kernel import IN_HEAP, KIND, UNUSED, no_pages, with_more_room
from scipy.optimize import brentq

from queueing.processes import Constant, Erlang, Exponential
from queueing.simulation import column_means, joint_limit

WRONG = 0.001


def table(count=30, seed=0):
    """Rates and weights; the last page never changes, the one before has a weight that is never worth a visit."""
    rng = np.random.default_rng([21, seed])
    rates, weights = np.exp(rng.normal(0.0, 0.8, count)), rng.uniform(0.2, 1.0, count)
    rates[-1] = 0.0
    weights[-2] = 1e-4
    return rates, weights


# -- a plain loop that shares nothing but the rules -------------------------------------------------------------------


#: u, and what a visit that far from the last one gains, in parts of the worth of a page: 1 - (1 + u) e^-u.
PLACES = np.geomspace(1e-6, 700.0, 200_000)
GAINS = 1 - (1 + PLACES) * np.exp(-PLACES)


def best(kinds, price, mean):
    """By kind, the frequency whose marginal gain is the price, exponential times, from a table; 0 if none is."""
    rates, weights = np.array(kinds).T
    loads = np.maximum(rates * mean, 1e-300)
    worths = np.where(rates > 0, weights / loads, 1e-300)
    return np.where(worths > price, np.log1p(loads) / np.interp(price / worths, GAINS, PLACES), 0.0)


def price_of(kinds, numbers, mean):
    """The price at which the best frequencies of so many pages of each kind use the robot up."""
    most = max(weight / (rate * mean) for (rate, weight), count in zip(kinds, numbers, strict=True) if rate and count)
    return brentq(lambda price: numbers @ best(kinds, price, mean) - 1.0, 1e-9 * most, most * (1 - 1e-9), rtol=1e-6)


def plain_churn(rates, weights, mean, leave_rate, join_rate, cycle, cycles, seed):
    """Pages are dictionaries, the agenda is a heap of tuples, and who leaves is looked up in a list of all."""
    draw = random.Random(seed)
    followed = join_rate is None
    kinds = list(zip(rates.tolist(), weights.tolist(), strict=True))
    if followed:
        here = list(range(len(kinds)))
    else:
        number = np.random.default_rng(seed).poisson(join_rate / leave_rate)
        here = [draw.randrange(len(kinds)) for _ in range(number)]
    rate_of_change = lambda kind: draw.expovariate(kinds[kind][0]) if kinds[kind][0] > 0 else math.inf  # noqa: E731
    copies = 1.0 if followed else join_rate / leave_rate / len(kinds)
    frequencies = best(kinds, price_of(kinds, np.full(len(kinds), copies), mean), mean)
    pages = [{"kind": kind, "stale": rate_of_change(kind), "out": False, "seen": 0} for kind in here]
    agenda, waiting, ticket = [], [], 0
    now, slot, cost, begin = 0.0, 0, 0.0, 0.0

    def plan(page, due):
        nonlocal ticket
        ticket += 1
        page["ticket"] = ticket
        heapq.heappush(agenda, (due, ticket, page))

    def paid(page, until):
        return kinds[page["kind"]][1] * max(0.0, until - max(page["stale"], begin))

    for page in pages:
        if frequencies[page["kind"]] > 0:
            plan(page, draw.random() / frequencies[page["kind"]])

    def churn_rate():
        return leave_rate * len(pages) + (0.0 if followed else join_rate)

    next_event = draw.expovariate(churn_rate())
    for number in range(cycles + -(-cycles // 5)):
        if number == -(-cycles // 5):
            begin, cost = now, 0.0
        for page in waiting:
            if not page["out"] and frequencies[page["kind"]] > 0:
                plan(page, slot)
        waiting = []
        numbers = np.bincount([page["kind"] for page in pages], minlength=len(kinds))
        frequencies = best(kinds, price_of(kinds, numbers, mean), mean)
        for page in pages:
            frequency = frequencies[page["kind"]]
            if "ticket" not in page and frequency > 0:
                plan(page, page["seen"] + 1 / frequency if page["seen"] is not None else slot)
        for _ in range(cycle):
            end, slot = now + draw.expovariate(1 / mean), slot + 1
            while next_event <= end:
                new = None
                if followed or draw.random() * churn_rate() < leave_rate * len(pages):
                    gone = pages.pop(draw.randrange(len(pages)))
                    gone["out"] = True
                    cost += paid(gone, next_event)
                    new = gone["kind"] if followed else None
                else:
                    new = draw.randrange(len(kinds))
                if new is not None:
                    stale = next_event if kinds[new][0] > 0 else math.inf
                    pages.append({"kind": new, "stale": stale, "out": False, "seen": None})
                    waiting.append(pages[-1])
                next_event += draw.expovariate(churn_rate())
            now = end
            while agenda:
                _, tag, page = heapq.heappop(agenda)
                if not page["out"] and page["ticket"] == tag:
                    cost += paid(page, now)
                    page["stale"], page["seen"] = now + rate_of_change(page["kind"]), slot
                    del page["ticket"]
                    if frequencies[page["kind"]] > 0:
                        plan(page, slot + 1 / frequencies[page["kind"]])
                    break
    return (cost + sum(paid(page, now) for page in pages)) / (now - begin)


@pytest.mark.parametrize(("leave_rate", "joins"), [(0.3, False), (0.3, True), (0.02, False)])
def test_against_a_plain_loop(leave_rate, joins):
    rates, weights = table(12)
    mean, cycle, cycles = 0.1, 20, 60
    join_rate = 10 * leave_rate if joins else None
    plain = column_means(
        np.array([[plain_churn(rates, weights, mean, leave_rate, join_rate, cycle, cycles, seed)] for seed in range(8)])
    )[0]
    world = ChurningPages(rates, weights, Exponential(mean), leave_rate, join_rate)
    found = simulate_churn(world, rounds=250 * cycle / 12, cycle=cycle, replications=10)
    error = math.hypot(plain.error, found.cost.error)
    assert abs(plain.value - found.cost.value) < error * joint_limit(3, 7, WRONG)
    assert error < 0.07 * plain.value  # so much is told apart


# -- closed forms -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("law", "wait"), [(Constant(1.0), 1.5), (Exponential(1.0), 2.0), (Erlang(2, 1.0), 1.75)])
def test_a_new_page_waits_for_the_end_of_one_access_and_for_its_own(law, wait):
    """One page that hardly changes, and now and then is another: the wait is a residual time and a time."""
    world = ChurningPages([1e-9], [2.0], law, leave_rate=1e-3)
    found = simulate_churn(world, rounds=100_000, cycle=1, corrections=1000, replications=10)
    expected = 2.0 * 1e-3 * wait
    assert abs(found.cost.deviation(expected)) < joint_limit(3, 9, WRONG)
    assert found.population.value == pytest.approx(1.0, rel=1e-9)


def test_pages_that_stay_cost_little_more_than_the_bound():
    rates, weights = table(200)
    world = ChurningPages(rates, weights, Exponential(0.005), leave_rate=1e-9)
    found = simulate_churn(world, rounds=200, replications=8)
    assert abs(found.loss.value) < max(0.005, 4 * found.loss.error)
    assert found.first_visits.value == 0.0
    assert found.loss.error < 0.01


def test_the_loss_grows_with_churn_and_with_the_length_of_cycles():
    rates, weights = table(100)
    losses = {}
    for leave_rate, cycle in ((0.01, 100), (0.1, 100), (0.5, 100), (0.1, 5)):
        world = ChurningPages(rates, weights, Exponential(0.01), leave_rate)
        losses[leave_rate, cycle] = simulate_churn(
            world, rounds=60, cycle=cycle, corrections=100 // cycle, replications=4
        ).loss.value
    assert losses[0.01, 100] < losses[0.1, 100] < losses[0.5, 100]
    assert losses[0.1, 5] < losses[0.1, 100]


def test_the_number_of_pages_comes_and_goes_by_chance_where_they_join_as_they_please():
    """Poisson, with the mean and variance of the number of servers that are busy if there is no end of them."""
    rates, weights = table(40)
    world = ChurningPages(rates, weights, Exponential(0.025), leave_rate=2.0, join_rate=120.0)
    found = simulate_churn(world, rounds=40, replications=20)
    assert world.population == 60.0
    assert abs(found.population.deviation(60.0)) < joint_limit(1, 19, WRONG)
    assert found.population.error > 0
    twice = ChurningPages(np.repeat(rates, 3), np.repeat(weights, 3), Exponential(0.025), leave_rate=2.0)
    half = ChurningPages(rates, weights, Exponential(0.025), leave_rate=2.0, join_rate=240.0)
    assert simulate_churn(half, rounds=1, replications=1).bound == pytest.approx(
        simulate_churn(twice, rounds=1, replications=1).bound, rel=1e-9
    )


def test_prices_that_are_not_corrected_cost_something():
    """Pages double in number: a plan that never hears of it visits those it knows as often as before."""
    rates, weights = table(60)
    world = ChurningPages(rates, weights, Exponential(1 / 60), leave_rate=0.2, join_rate=48.0)
    often, never = (
        simulate_churn(world, rounds=30, cycle=10, corrections=corrections, replications=6)
        for corrections in (1, 10**9)
    )
    assert often.cost.value < never.cost.value + 3 * math.hypot(often.cost.error, never.cost.error)


# -- inside -----------------------------------------------------------------------------------------------------------


def test_more_room_keeps_pages_and_gives_places():
    churn = no_pages(4)
    churn.numbers[UNUSED] = 1
    churn.pages[[1, 2, 3], KIND] = 0.0
    churn.numbers[IN_HEAP] = 3
    more = with_more_room(churn)
    assert more.numbers[UNUSED] == 5 and sorted(more.unused[:5].tolist()) == [3, 4, 5, 6, 7]
    assert (more.pages[:, KIND] >= 0).sum() == 3


def test_the_same_seed_gives_the_same_answer():
    rates, weights = table(20)
    world = ChurningPages(rates, weights, Exponential(0.05), 0.1)
    one, again, other = (simulate_churn(world, rounds=5, replications=2, seed=seed) for seed in (1, 1, 2))
    assert one == again != other


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"leave_rate": 0.0}, r"leave_rate must be a finite number above 0, but it is 0\.0"),
        ({"join_rate": -1.0}, r"join_rate must be a finite number above 0, but it is -1\.0"),
        ({"rates": [-1.0]}, r"rates\[0\] must be a finite number of at least 0, but it is -1\.0"),
    ],
)
def test_bad_worlds_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        ChurningPages(**({"rates": [1.0], "weights": [1.0], "law": Constant(1.0), "leave_rate": 1.0} | options))


def test_bad_requests_are_refused():
    world = ChurningPages([1.0], [1.0], Constant(1.0), 1.0)
    for options, name in (({"cycle": 0}, "cycle"), ({"rounds": 0.0}, "rounds"), ({"replications": 0}, "replications")):
        with pytest.raises(ValueError, match=f"{name} must be"):
            simulate_churn(world, **options)
