"""Judging visits: frequencies, draws, cycles of one robot and of several, and the rules they may break."""

import math
import pickle
import re
from itertools import islice

import numpy as np
import pytest

import optmodels as om
from heuristics import UnsupportedProblem, refusal
from heuristics.allocation import Lagrangian
from heuristics.search import Annealing, Exhaustive
from heuristics.sequencing import greedy, visit_distances, visits
from optmodels.costs import Limits, WeightedSum
from optmodels.errors import InstanceError, RequestError
from optmodels.freshness import FreshnessProblem
from optmodels.freshness.rules import CAPS, GAPS, LEAST, MOST, SHARES, SPLIT, TOTAL
from optmodels.results import read_result, result_to_data, write_result
from optmodels.testing import check_problem


def problem_of(rates, weights="change-rates", law=None, **rules):
    data = {"change_rates": list(rates), "weights": weights, "access_time": law or {"law": "exponential", "mean": 0.5}}
    limits, cost = rules.pop("limits", None), rules.pop("cost", None)
    return FreshnessProblem.from_data(data | rules, name="pages", cost=cost, limits=Limits.from_data(limits))


def random_problem(rng, pages=6, **rules):
    rates = rng.lognormal(size=pages)
    weights = rng.lognormal(size=pages)
    weights[rng.integers(pages)] = 0.0
    return problem_of(rates.tolist(), weights.tolist(), **rules)


def by_definition(problem, cycle):
    """Cost of a cycle from Lemma 3.1 as printed: E[Z] = d E[X] - (1 - h^d) / mu, gap by gap."""
    mean, cost = problem.access_time.mean, 0.0
    for page, (rate, weight) in enumerate(zip(problem.columns.rates, problem.columns.weights, strict=True)):
        slots = [slot for slot, visited in enumerate(cycle) if visited == page]
        if not slots:
            cost += weight * (rate > 0)
            continue
        h = 1.0 / (1.0 + rate * mean)  # exponential access times
        gaps = [after - before for before, after in zip(slots, [*slots[1:], slots[0] + len(cycle)], strict=True)]
        late = sum(gap * mean - (1 - h**gap) / rate for gap in gaps)
        cost += weight * late / (len(cycle) * mean)
    return cost


@pytest.mark.parametrize("seed", range(20))
def test_a_cycle_costs_what_the_lemma_says(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    cycle = rng.integers(6, size=int(rng.integers(1, 30)))
    found = problem.evaluate(problem.space.check({"schedule": cycle}))
    assert found.feasible
    assert found.objective == pytest.approx(by_definition(problem, cycle.tolist()), rel=1e-12)
    assert found.measures["pages_never_visited"] == 6 - len(set(cycle.tolist()))


@pytest.mark.parametrize("seed", range(10))
def test_draws_cost_the_mean_over_geometric_gaps(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    shares = np.append(rng.dirichlet(np.ones(5)), 0.0)
    mean, cost = 0.5, 0.0
    for rate, weight, share in zip(problem.columns.rates, problem.columns.weights, shares, strict=True):
        if share == 0:
            cost += weight
            continue
        gaps = np.arange(1, 20_000)
        chances = share * (1 - share) ** (gaps - 1)
        late = gaps * mean - (1 - (1 + rate * mean) ** -gaps.astype(float)) / rate
        cost += weight * (chances @ late) * share / mean
    found = problem.evaluate(problem.space.check({"randomized": shares}))
    assert found.objective == pytest.approx(cost, rel=1e-9)
    assert found.measures["largest_gap"] is None
    assert found.measures["pages_never_visited"] == 1


def test_even_spacing_is_attained_by_equal_pages_and_by_powers_of_two():
    equal = problem_of([0.3] * 5)
    assert equal.evaluate((0.2,) * 5).objective == pytest.approx(
        equal.evaluate(equal.space.check({"schedule": range(5)})).objective, rel=1e-14
    )
    halves = problem_of([0.3, 0.2, 0.7])
    assert halves.evaluate((0.5, 0.25, 0.25)).objective == pytest.approx(
        halves.evaluate(halves.space.check({"schedule": [0, 1, 0, 2]})).objective, rel=1e-14
    )


def test_pages_that_never_change_are_never_out_of_date_and_worthless_ones_cost_nothing():
    problem = problem_of([0.0, 1.0, 1.0], [5.0, 0.0, 1.0])
    assert problem.evaluate((0.0, 0.0, 1.0)).objective == problem_of([1.0], [1.0]).evaluate((1.0,)).objective
    result = om.solve(problem, Lagrangian())
    assert result.decision == (0.0, 0.0, 1.0)
    assert result.evaluation.measures["pages_never_visited"] == 2


# -- several robots ---------------------------------------------------------------------------------------------------


def test_robots_that_share_no_page_cost_what_each_costs_alone():
    rates, weights = [0.5, 1.0, 2.0, 0.1], [1.0, 2.0, 3.0, 4.0]
    both = problem_of(rates, weights, robots=2)
    found = both.evaluate(both.space.check({"schedules": [[0, 2, 2], [1, 1, 3, 1]]}))
    first, second = problem_of([0.5, 2.0], [1.0, 3.0]), problem_of([1.0, 0.1], [2.0, 4.0])
    alone = [
        one.evaluate(one.space.check({"schedule": cycle})).objective
        for one, cycle in ((first, [0, 1, 1]), (second, [0, 0, 1, 0]))
    ]
    assert found.feasible
    assert found.objective == pytest.approx(sum(alone), rel=1e-14)
    assert found.measures["largest_gap"] == 4


def test_frequencies_of_two_robots_add_up_to_two_and_none_is_above_one():
    both = problem_of([0.5, 1.0, 2.0], robots=2)
    assert both.evaluate((1.0, 0.5, 0.5)).feasible
    assert both.evaluate((0.5, 0.25, 0.25)).violations == {TOTAL: 1.0}
    assert both.evaluate((1.5, 0.25, 0.25)).violations == {MOST: 0.5}


def test_draws_of_two_robots_may_name_the_robot_of_each_page():
    both = problem_of([0.5, 1.0, 2.0], robots=2)
    named = both.space.check({"randomized": [1.0, 0.5, 0.5], "robot": [0, 1, 1]})
    wrong = both.space.check({"randomized": [1.0, 0.5, 0.5], "robot": [0, 0, 1]})
    assert both.evaluate(named).feasible
    assert both.describe(named)["attained"]
    assert not both.describe(both.space.check({"randomized": [1.0, 0.5, 0.5]}))["attained"]
    assert both.evaluate(wrong).violations == {SHARES: 0.5}


# -- rules ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("decision", "broken"),
    [
        ((0.25, 0.25, 0.25, 0.25), {}),
        ((0.25, 0.25, 0.25, 0.2), {TOTAL: 0.05}),
        ((0.4, 0.3, 0.2, 0.1), {CAPS: 0.2}),
        ((0.5, 0.0, 0.3, 0.2), {LEAST: 0.05}),
        ({"schedule": [0, 2, 1, 3]}, {}),
        ({"schedule": [0, 1, 2, 3]}, {GAPS: 2}),
        ({"schedule": [0, 2, 1, 3, 0]}, {GAPS: 1, CAPS: 0.1}),
        ({"schedule": [0, 2]}, {LEAST: 0.1}),
        ({"randomized": [0.25, 0.25, 0.25, 0.25]}, {GAPS: 0.5}),
    ],
    ids=str,
)
def test_rules_of_hosts_and_pages(decision, broken):
    problem = problem_of([1.0] * 4, hosts=[0, 0, 1, 1], host_caps=0.6, host_gap=2, min_frequency=0.05)
    assert problem.evaluate(problem.space.check(decision)).violations == pytest.approx(broken)


def test_visits_that_come_too_soon_are_counted_around_the_end_of_a_cycle():
    problem = problem_of([1.0] * 6, hosts=[0, 1, 2, 0, 1, 2], host_gap=3)
    rng = np.random.default_rng(0)
    for _ in range(200):
        cycle = rng.integers(6, size=int(rng.integers(1, 12)))
        hosts = (cycle % 3).tolist() * 3
        length = len(cycle)
        soon = 0
        for slot in range(length, 2 * length):
            before = [slot - back for back in range(1, length + 1) if hosts[slot - back] == hosts[slot]]
            soon += slot - before[0] < 3
        assert problem.rules.broken_by_cycles([cycle]).get(GAPS, 0) == soon


def test_a_host_with_a_gap_belongs_to_one_robot():
    problem = problem_of([1.0] * 8, hosts=[0, 1, 2, 3, 0, 1, 2, 3], host_gap=2, robots=2)
    kept = problem.space.check({"schedules": [[0, 1, 4, 5], [2, 3, 6, 7]]})
    split = problem.space.check({"schedules": [[0, 1], [4, 2, 3, 5]]})
    assert problem.evaluate(kept).feasible
    assert problem.evaluate(split).violations == {SPLIT: 2.0, CAPS: 0.5}


def test_limits_on_measures_are_kept_or_broken():
    problem = problem_of([1.0, 2.0], limits={"largest_gap": 3, "pages_never_visited": 0})
    assert problem.evaluate(problem.space.check({"schedule": [0, 1, 1]})).feasible
    assert problem.evaluate(problem.space.check({"schedule": [0, 1, 1, 1]})).violations == {"largest_gap above 3": 1.0}
    assert problem.evaluate((1.0, 0.0)).violations == {"pages_never_visited above 0": 1.0}
    assert problem.evaluate(problem.space.check({"randomized": [0.5, 0.5]})).violations == {
        "largest_gap undefined": 1.0
    }


def test_a_price_on_something_else_has_no_bound():
    problem = problem_of([1.0, 2.0], cost=WeightedSum({"obsolescence": 1.0, "largest_gap": 0.1}))
    judged = problem.evaluate(problem.space.check({"schedule": [0, 1, 1]}))
    assert judged.objective == pytest.approx(judged.measures["obsolescence"] + 0.3)
    assert problem.lower_bound() == -math.inf
    with pytest.raises(UnsupportedProblem, match="its cost is not the obsolescence"):
        om.solve(problem, Lagrangian())
    assert problem.evaluate(problem.space.check({"randomized": [0.5, 0.5]})).violations == {
        "largest_gap undefined": 1.0
    }


def test_a_multiple_of_the_obsolescence_scales_everything():
    one, two = (
        problem_of([1.0, 2.0], [3.0, 1.0]),
        problem_of([1.0, 2.0], [3.0, 1.0], cost=WeightedSum({"obsolescence": 2.0})),
    )
    first, second = om.solve(one, Lagrangian()), om.solve(two, Lagrangian())
    assert second.decision == first.decision
    assert second.status == "optimal"
    for name in ("objective", "bound"):
        assert getattr(second, name) == pytest.approx(2 * getattr(first, name), rel=1e-14)
    assert second.extra["multiplier"] == pytest.approx(2 * first.extra["multiplier"], rel=1e-14)


# -- bounds -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_no_cycle_and_no_draw_is_below_its_bound(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, pages=4)
    relaxed, whole = problem.allocation().bound, problem.schedule_bound
    assert relaxed <= whole
    for _ in range(300):
        cycle = rng.integers(4, size=int(rng.integers(1, 13)))
        assert problem.evaluate(problem.space.check({"schedule": cycle})).objective >= whole * (1 - 1e-12)
        drawn = problem.space.check({"randomized": rng.dirichlet(np.ones(4))})
        assert problem.evaluate(drawn).objective >= whole * (1 - 1e-12)
        assert problem.evaluate(problem.space.sample(rng)).objective >= relaxed * (1 - 1e-12)


def test_two_pages_attain_the_bound_of_whole_gaps():
    rng = np.random.default_rng(5)
    for _ in range(20):
        problem = problem_of(rng.lognormal(size=2).tolist(), rng.lognormal(size=2).tolist())
        words = [[0] * (n - 1) + [1] for n in range(1, 40)] + [[1] * (n - 1) + [0] for n in range(1, 40)]
        best = min(problem.evaluate(problem.space.check({"schedule": word})).objective for word in words)
        assert best == pytest.approx(problem.schedule_bound, rel=1e-12)


def test_the_price_is_what_another_visit_would_save():
    rng = np.random.default_rng(1)
    rates, weights = rng.lognormal(size=40).tolist(), rng.lognormal(size=40).tolist()
    one, two = (problem_of(rates, weights, robots=robots).allocation() for robots in (1, 2))
    assert two.multiplier < one.objective - two.objective < one.multiplier  # convex: between the slopes at both ends


# -- decisions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("decision", "sentence"),
    [
        ((0.5,), "1 frequencies are given; each of the 2 pages needs one."),
        ((0.5, -0.5), "entry 1 is -0.5; frequencies are numbers, zero or more."),
        ((0.5, math.nan), "entry 1 is nan"),
        ("abc", "frequencies are a list of numbers."),
        (["a", "b"], "frequencies are a list of numbers."),
        ({"frequencies": [1, 0]}, "a decision is a list of frequencies"),
        ({"schedule": [0], "randomized": [1, 0]}, "a decision is a list of frequencies"),
        ({"randomized": [1.0]}, "1 frequencies are given"),
        ({"randomized": [1.0, -1.0]}, "randomized[1] is -1.0"),
        ({"randomized": [1.0, 0.0], "robot": [0]}, "robot has 1 entries"),
        ({"randomized": [1.0, 0.0], "robot": [0, 1]}, "robot[1] is 1; robots are numbered from 0 to 0."),
        ({"schedule": []}, "schedule is empty"),
        ({"schedule": [0, 2]}, "schedule[1] is 2; pages are numbered from 0 to 1."),
        ({"schedule": [0, -2]}, "schedule[1] is -2; pages are numbered from 0 to 1, and -1 is a slot without a visit"),
        ({"schedule": [0, 0.5]}, "schedule[1] is 0.5"),
        ({"schedule": [[0], [1]]}, "schedule is a list of whole numbers: pages, numbered from 0 to 1."),
        ({"schedule": [[0], 1]}, "schedule is a list of whole numbers"),
        ({"schedule": "01"}, "schedule is a list of whole numbers"),
        ({"schedules": [[0], [1]]}, "2 schedules are given; each of the 1 robots needs one."),
        ({"schedules": 3}, "schedules are a list of cycles"),
    ],
    ids=lambda value: re.sub(r"\W+", "-", str(value))[:40],
)
def test_what_is_no_decision_is_refused_in_one_sentence(decision, sentence):
    with pytest.raises(RequestError, match=re.escape(sentence)) as refused:
        om.evaluate(problem_of([1.0, 2.0]), decision)
    assert "\n" not in str(refused.value)


def test_a_page_of_two_robots_is_refused():
    problem = problem_of([1.0, 2.0, 3.0], robots=2)
    with pytest.raises(ValueError, match="page 1 stands in schedules 0 and 1; a page has one robot"):
        problem.space.check({"schedules": [[0, 1], [2, 1]]})
    with pytest.raises(ValueError, match="1 schedules are given; each of the 2 robots needs one"):
        problem.space.check({"schedule": [0, 1, 2]})


def test_decisions_can_be_hashed_compared_pickled_and_never_change():
    space = problem_of([1.0, 2.0, 3.0]).space
    cycle = np.array([0, 1, 2, 1])
    first, second = space.check({"schedule": cycle}), space.check({"schedule": [0, 1, 2, 1]})
    cycle[0] = 2
    assert first == second and hash(first) == hash(second)
    assert first != space.check({"schedule": [0, 1, 2, 2]})
    assert first != space.check({"randomized": [0, 1, 2]})
    assert pickle.loads(pickle.dumps(first)) == first
    assert space.check(first) is first
    assert repr(first) == "{'schedule': [0, 1, 2, 1]}"
    assert space.check({"schedules": [[0, 1, 2, 1]]}) == first
    with pytest.raises(ValueError, match="read-only"):
        pickle.loads(pickle.dumps(first))["schedule"][0] = 1


def test_discrete_searches_refuse_the_continuum():
    problem = problem_of([1.0, 2.0])
    assert "are continuous" in refusal(problem, Annealing())
    assert "infinitely many decisions" in refusal(problem, Exhaustive())
    with pytest.raises(TypeError, match="continuum"):
        iter(problem.space)


@pytest.mark.parametrize("robots", [1, 3])
def test_it_keeps_the_rules_for_problems(robots):
    rng = np.random.default_rng(robots)
    rules = {"hosts": [page % 9 for page in range(18)], "host_gap": 2, "min_frequency": 0.001}
    check_problem(random_problem(rng, 18, robots=robots))
    check_problem(random_problem(rng, 18, robots=robots, **rules))


def test_very_long_cycles_go_to_a_file_and_come_back(tmp_path):
    problem = problem_of([1.0, 2.0, 3.0])
    result = om.evaluate(problem, {"schedule": np.arange(150_000) % 3})
    write_result(result, tmp_path / "answer.json")
    assert (tmp_path / "answer.json").stat().st_size < 10_000
    again = read_result(tmp_path / "answer.json")
    assert problem.space.check(again.decision) == result.decision
    assert result_to_data(result, folder=tmp_path)["decision"]["schedule"]["rows"] == 150_000


def test_very_long_cycles_of_several_robots_go_to_files_and_come_back(tmp_path):
    problem = problem_of([1.0, 2.0, 3.0, 4.0], robots=2)
    result = om.evaluate(problem, {"schedules": [np.arange(150_000) % 2, [2, 3]]})
    write_result(result, tmp_path / "answer.json")
    assert (tmp_path / "answer.json").stat().st_size < 10_000
    assert problem.space.check(read_result(tmp_path / "answer.json").decision) == result.decision


@pytest.mark.parametrize("gap", [1, 2, 3, 4])
def test_a_gap_is_one_number_of_slots_in_files_and_in_python(gap):
    """As many hosts as slots from one visit to the next: turns keep the gap, and one slot more is refused by all."""
    hosts, pages = list(range(gap)), np.ones(gap)
    problem = problem_of([1.0] * gap, hosts=hosts, host_gap=gap)
    in_turn = problem.space.check({"schedule": hosts})
    assert problem.evaluate(in_turn).feasible
    by_file = om.solve(problem, "greedy").decision["schedule"]
    by_hand = greedy(pages, gap, hosts, gap)
    endless = np.array(list(islice(visits(pages, hosts=hosts, host_gap=gap), 5 * gap)))
    for cycle in (by_file, by_hand, endless):
        assert visit_distances(cycle, hosts).min() == gap
        assert problem.evaluate(problem.space.check({"schedule": cycle})).feasible
    if gap > 1:
        swapped = [*hosts, 1, 0, *hosts[2:]]  # page 1 comes back a slot too soon, and page 0 around the end
        judged = problem.evaluate(problem.space.check({"schedule": swapped}))
        assert visit_distances(swapped, hosts).min() == gap - 1
        assert judged.violations[GAPS] == 2
    with pytest.raises(InstanceError, match="host_gap"):
        problem_of([1.0] * gap, hosts=hosts, host_gap=gap + 1)
    with pytest.raises(ValueError, match=f"host_gap {gap + 1} needs {gap + 1} hosts"):
        visits(pages, hosts=hosts, host_gap=gap + 1)


@pytest.mark.filterwarnings("error")
def test_a_page_that_is_hardly_ever_visited_has_an_infinite_gap_without_a_warning():
    problem = problem_of([1.0, 2.0])
    assert om.evaluate(problem, (1.0, 5e-324)).evaluation.measures["largest_gap"] == math.inf
