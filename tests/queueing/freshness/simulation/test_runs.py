"""Simulated robots against the exact formulas, for every law and every way of visiting; and faults they must find."""

import ast
import math
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import queueing.freshness.simulation.runs
from queueing import PhaseType
from queueing.freshness import (
    cost,
    even_obsolescence,
    randomized_obsolescence,
    schedule_gaps,
    schedule_obsolescence,
    traits,
)
from queueing.freshness.simulation import (
    Adapting,
    CrawlSimulation,
    Cycle,
    Draws,
    SimulatedCrawl,
    first_state,
    last_visits,
    replicate,
    usual_time,
)
from queueing.freshness.simulation.kernel import walker
from queueing.freshness.simulation.runs import simulate
from queueing.processes import Constant, Erlang, Exponential, Hyperexponential, PhaseTypeTime, Samples
from queueing.simulation import joint_limit

LAWS = {
    "constant": Constant(0.7),
    "exponential": Exponential(0.7),
    "erlang": Erlang(3, 0.7),
    "hyperexponential": Hyperexponential((0.8, 0.2), (0.3, 3.0)),
    "phase-type": PhaseTypeTime(PhaseType([0.3, 0.7], [[-1.5, 0.4], [0.1, -0.3]])),
    "samples": Samples((0.0, 0.2, 1.0, 1.0, 5.0)),
}
WRONG = 0.001


def random_pages(seed, count=8):
    """Change rates and weights; the first page never changes, the last has no weight."""
    rng = np.random.default_rng([11, seed])
    rates, weights = rng.gamma(0.7, 0.5, count), rng.random(count)
    rates[0] = weights[-1] = 0.0
    return rates, weights, rng


def deviations(found: CrawlSimulation, pages, exact) -> list[float]:
    """Standard errors between simulated and exact values, by page and of the cost."""
    by_page = [one.deviation(float(value)) for one, value in zip(found.obsolescence_by_page(), exact, strict=True)]
    return [*by_page, found.cost().deviation(cost(pages, exact))]


def agrees(found: CrawlSimulation, pages, exact) -> bool:
    values = deviations(found, pages, exact)
    return max(map(abs, values)) <= joint_limit(len(values), len(found.observations) - 1, WRONG)


def observed(crawl: SimulatedCrawl, slots=20_000, **options) -> CrawlSimulation:
    return simulate(crawl, time=slots * crawl.law.mean, **({"replications": 30, "seed": 1} | options))


# -- independence -----------------------------------------------------------------------------------------------------


def test_the_simulation_knows_no_formula():
    room = Path(queueing.freshness.simulation.runs.__file__).parent
    files = [
        *(room / name for name in ("crawlers.py", "kernel.py", "runs.py")),
        *room.parents[1].glob("simulation/[!_]*.py"),
    ]
    assert len(files) >= 4
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                known = node.level == 1 or node.module.split(".")[-1] in ("simulation", "processes")
                checks = {name.name for name in node.names} <= {"positive", "equally_many"}  # of arguments
                assert known or checks, (file, node.module)
            if isinstance(node, ast.Attribute):
                assert node.attr not in ("decay", "deficit", "kernel"), (file, node.lineno)


# -- every law, every way of visiting ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LAWS)
def test_cycles(name):
    law = LAWS[name]
    rates, weights, rng = random_pages(0)
    order = rng.integers(0, 6, 40)  # pages 6 and 7 are never visited
    found = observed(SimulatedCrawl(rates, weights, law, (Cycle(order),)))
    pages = traits(rates, weights, law)
    exact = schedule_obsolescence(pages, order)
    assert exact[0] == 0.0 and exact[6] == exact[7] == 1.0
    assert agrees(found, pages, exact)
    assert set(found.observations[:, 1]) == {schedule_gaps(order, 8).longest.max()}


@pytest.mark.parametrize("name", LAWS)
def test_draws(name):
    law = LAWS[name]
    rates, weights, rng = random_pages(1)
    frequencies = rng.dirichlet(np.ones(8))
    frequencies[3] = 0.0  # and some slots are idle
    found = observed(SimulatedCrawl(rates, weights, law, (Draws(np.arange(8), frequencies),)))
    pages = traits(rates, weights, law)
    assert agrees(found, pages, randomized_obsolescence(pages, frequencies))


@pytest.mark.parametrize("name", ["constant", "hyperexponential"])
def test_several_robots_with_pages_of_their_own(name):
    law = LAWS[name]
    rates, weights, rng = random_pages(2, 12)
    orders = (np.array([0, 4, 8, 0]), np.array([1, 5, 1, 9, 10]), np.array([11, 2]))
    drawn = np.array([3, 6])
    shares = rng.dirichlet(np.ones(2))
    robots = (*map(Cycle, orders), Draws(drawn, shares))
    found = observed(SimulatedCrawl(rates, weights, law, robots))
    pages = traits(rates, weights, law)
    exact = np.where(rates > 0, 1.0, 0.0)
    for order in orders:
        exact[np.unique(order)] = schedule_obsolescence(pages, order)[np.unique(order)]
    exact[drawn] = randomized_obsolescence(pages.of(drawn), shares)
    assert agrees(found, pages, exact)


def test_a_cycle_of_two_equal_pages_by_hand():
    """Constant times: each page is fresh for (1 - e^-2) of 2 units of time on average."""
    found = observed(SimulatedCrawl([1.0, 1.0], [1.0, 3.0], Constant(1.0), (Cycle([0, 1]),)))
    fraction = 1 - (1 - math.exp(-2)) / 2
    limit = joint_limit(3, 29, WRONG)
    for one, exact in (*((page, fraction) for page in found.obsolescence_by_page()), (found.cost(), 4 * fraction)):
        assert abs(one.deviation(exact)) < limit


@pytest.mark.parametrize("way", ["cycle", "draws"])
def test_a_hundred_thousand_pages(way):
    rng = np.random.default_rng(12)
    count = 100_000
    rates, weights, law = np.exp(rng.normal(0, 1, count)), rng.random(count), Erlang(2, 1.0 / count)
    pages = traits(rates, weights, law)
    frequencies = rng.gamma(1.0, 1.0, count)
    frequencies /= frequencies.sum()
    if way == "cycle":
        order = rng.choice(count, 2 * count, p=frequencies)
        robot, exact = Cycle(order), schedule_obsolescence(pages, order)
    else:
        robot, exact = Draws(np.arange(count), frequencies), randomized_obsolescence(pages, frequencies)
    found = simulate(SimulatedCrawl(rates, weights, law, (robot,)), time=1.0, replications=6, seed=2)
    price, paid = found.cost(), cost(pages, exact)
    assert abs(price.deviation(paid)) < joint_limit(1, 5, WRONG)
    assert price.error < 2e-3 * paid


# -- faults -----------------------------------------------------------------------------------------------------------


def test_a_wrong_law_is_found():
    """Mean and variance are right, the third moment is not."""
    rates, weights, _ = random_pages(3)
    rates[1:] += 0.5
    order = np.array([1, 1, 1, 2, 2, 3, 4, 5, 6, 7])
    law, twin = Exponential(1.0), Samples((0.0, 2.0))
    found = observed(SimulatedCrawl(rates, weights, law, (Cycle(order),)))
    right, wrong = traits(rates, weights, law), traits(rates, weights, twin)
    assert agrees(found, right, schedule_obsolescence(right, order))
    assert not agrees(found, right, schedule_obsolescence(wrong, order))


def test_wrong_gaps_are_found():
    rates, weights, _ = random_pages(4)
    order = np.array([1, 1, 2, 2, 3, 4, 5, 6])
    law = LAWS["exponential"]
    found = observed(SimulatedCrawl(rates, weights, law, (Cycle(order),)))
    pages = traits(rates, weights, law)
    assert agrees(found, pages, schedule_obsolescence(pages, order))
    apart = schedule_obsolescence(pages, [1, 2, 3, 4, 1, 2, 5, 6])  # the same frequencies
    assert not agrees(found, pages, apart)
    shares = np.bincount(order, minlength=8) / 8
    assert not agrees(found, pages, even_obsolescence(pages, shares))
    assert not agrees(found, pages, randomized_obsolescence(pages, shares))


# -- the rule of crawlers ---------------------------------------------------------------------------------------------


def test_intervals_adapt_to_rates_where_the_robot_has_time():
    """A page that changes more is visited more, and pages of one rate alike."""
    rates = np.repeat([0.02, 0.2, 1.0, 4.0], 25)
    robot = Adapting(np.arange(100), rounds=200, record=20_000)
    crawl = SimulatedCrawl(rates, np.ones(100), Exponential(0.02), (robot,))
    rng, state = np.random.default_rng(1), first_state(rates)
    plan = robot.plan(crawl.ground, rng)
    advance = robot.follow(plan, crawl.ground, state, rng)
    advance(40_000)
    visits = np.bincount(last_visits(plan, state), minlength=100).reshape(4, 25)
    assert visits.sum() == 20_000
    means = visits.mean(axis=1)
    assert (np.diff(means) > 0).all() and means[3] > 5 * means[0]
    assert (plan.intervals >= 0.02 * 100 * robot.least).all() and (plan.intervals <= 0.02 * 100 * robot.most).all()


def test_a_robot_without_time_visits_pages_in_turn():
    """Everything has always changed: intervals are as short as they may be, and all pages wait alike."""
    rates = np.exp(np.random.default_rng(2).normal(6.0, 1.0, 50))
    robot = Adapting(np.arange(50), record=2000)
    crawl = SimulatedCrawl(rates, np.ones(50), Constant(0.02), (robot,))
    rng, state = np.random.default_rng(1), first_state(rates)
    plan = robot.plan(crawl.ground, rng)
    robot.follow(plan, crawl.ground, state, rng)(10_000)
    assert set(np.bincount(last_visits(plan, state), minlength=50)) == {40}


def test_the_last_visits_are_told_in_order():
    robot = Adapting(np.arange(7), record=10)
    crawl = SimulatedCrawl(np.ones(7), np.ones(7), Constant(1.0), (robot,))
    rng, state = np.random.default_rng(3), first_state(crawl.rates)
    plan = robot.plan(crawl.ground, rng)
    advance = robot.follow(plan, crawl.ground, state, rng)
    told = [int(plan.pages[plan.heap[0]])]
    for count in range(1, 31):
        advance(1)
        assert last_visits(plan, state).tolist() == told[-min(count, 10) :]
        told.append(int(plan.pages[plan.heap[0]]))


def test_the_realised_visits_of_adapting_robots_cost_about_as_much_when_judged_exactly():
    """Not the same: the rule visits a page sooner just after it has changed, a cycle does not know."""
    rates, weights, _ = random_pages(5, 60)
    law = Exponential(0.05)
    crawl = SimulatedCrawl(rates, weights, law, (Adapting(np.arange(60)),))
    found = simulate(crawl, time=1.0, replications=10, seed=3).cost()
    robot = Adapting(np.arange(60), record=6000)
    rng, state = np.random.default_rng(5), first_state(rates)
    plan = robot.plan(crawl.ground, rng)
    robot.follow(plan, crawl.ground, state, rng)(12_000)
    pages = traits(rates, weights, law)
    assert found.value == pytest.approx(cost(pages, schedule_obsolescence(pages, last_visits(plan, state))), rel=0.15)
    assert found.value > cost(pages, np.zeros(60)) and found.error < 0.05 * found.value


# -- replications -----------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_answer_in_steps_of_any_length():
    rates, weights, _ = random_pages(6)
    crawl = SimulatedCrawl(rates, weights, LAWS["erlang"], (Cycle([0, 1, 2, 3]), Draws(np.arange(4, 8), [0.25] * 4)))

    def first(step, seed=5):
        return next(one for one in replicate(crawl, time=500.0, seed=seed, step=step) if one is not None)

    np.testing.assert_array_equal(first(7).observation, first(10**6).observation)
    assert (first(7, seed=6).observation != first(7).observation).any()
    pair = [one for one in islice(replicate(crawl, time=50.0, seed=5), 20) if one is not None][:2]
    assert (pair[0].observation != pair[1].observation).any()


def test_cycles_are_followed_for_whole_rounds():
    crawl = SimulatedCrawl([1.0, 1.0], [1.0, 1.0], Constant(2.0), (Cycle([0, 1, 1]),))
    found = simulate(crawl, time=0.1, replications=2)
    assert found.events == 2 * (3 + 3)
    np.testing.assert_allclose(found.observations[:, 2] * 0.1, 6.0)
    assert usual_time(crawl, 1000) == pytest.approx(2000.0)
    assert simulate(crawl, time=0.1, replications=1).obsolescence_by_page()[0].error is None


def test_walkers_tables_draw_what_they_should():
    rng = np.random.default_rng(3)
    for chances in (rng.dirichlet(np.full(50, 0.2)), np.array([1.0]), np.array([0.0, 1.0, 0.0])):
        keep, other = walker(chances).T
        drawn = np.bincount(other.astype(int), weights=1 - keep, minlength=len(chances)) + keep
        np.testing.assert_allclose(drawn / len(chances), chances, atol=1e-15)


# -- refusals ---------------------------------------------------------------------------------------------------------


class OnlyTransformed:
    mean = 1.0


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Cycle([]), "a cycle must be a list of pages"),
        (lambda: Cycle([0.5]), "a cycle must be a list of pages"),
        (lambda: Cycle([0, -2]), "a cycle must be a list of pages"),
        (lambda: Draws(np.arange(2), [0.7, 0.7]), r"must sum to at most 1, its visits per slot, but they sum to 1\.4"),
        (lambda: Draws(np.arange(2), [0.0, 0.0]), r"must sum to at most 1, its visits per slot, but they sum to 0\.0"),
        (lambda: Draws(np.arange(3), [0.5, 0.5]), "every page must have a frequency, but there are 3 and 2"),
        (lambda: Draws(np.arange(2), [0.5, -0.5]), r"frequencies\[1\] must be a finite number of at least 0"),
        (lambda: Adapting(np.arange(0)), "pages of a robot must not be empty"),
        (lambda: Adapting(np.arange(2), faster=1.0), r"faster must be a finite number above 1, but it is 1\.0"),
        (lambda: Adapting(np.arange(2), least=2.0), "least and most must lie on both sides of 1"),
        (lambda: crawl_of(Cycle([0, 5])), r"robots\[0\] must visit pages below 2, their number, but it visits 5"),
        (lambda: crawl_of(Cycle([0]), Cycle([1, 0])), r"page 0 belongs to robots\[0\]"),
        (lambda: crawl_of(), "robots must not be empty"),
        (lambda: SimulatedCrawl([1.0], [1.0, 2.0], Constant(1.0), (Cycle([0]),)), "rates and weights must be equally"),
        (lambda: SimulatedCrawl([math.nan], [1.0], Constant(1.0), (Cycle([0]),)), r"rates\[0\] must be a finite"),
        (lambda: SimulatedCrawl([1.0], [1.0], OnlyTransformed(), (Cycle([0]),)), "OnlyTransformed has only a transfo"),
        (lambda: next(replicate(crawl_of(Cycle([0])), time=0.0)), r"time must be a finite number above 0"),
        (lambda: CrawlSimulation.of(crawl_of(Cycle([0])), []), "replications must not be empty"),
    ],
)
def test_what_cannot_be_simulated_is_refused(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


def crawl_of(*robots):
    return SimulatedCrawl([1.0, 1.0], [1.0, 1.0], Constant(1.0), robots)
