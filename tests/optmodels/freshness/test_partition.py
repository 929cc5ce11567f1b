"""Pages handed out to robots, and frequencies in given proportions within the rules."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from optmodels.freshness import FreshnessProblem
from optmodels.freshness.partition import best_parts, given_parts, in_proportion, partition, rules_of
from optmodels.freshness.rules import Rules


def random_problem(seed, pages=20, **rules):
    rng = np.random.default_rng(seed)
    data = {
        "change_rates": rng.lognormal(size=pages).tolist(),
        "weights": rng.lognormal(size=pages).tolist(),
        "access_time": {"law": "erlang", "stages": 2, "mean": 0.1},
    }
    return FreshnessProblem.from_data(data | rules, name="pages")


# -- frequencies in proportion ----------------------------------------------------------------------------------------


def test_without_rules_frequencies_are_proportional():
    assert in_proportion(np.array([1.0, 3.0, 0.0]), Rules(3)).tolist() == [0.25, 0.75, 0.0]


def test_pages_without_any_weight_are_alike():
    assert in_proportion(np.zeros(4), Rules(4, robots=2)).tolist() == [0.5] * 4


def test_no_page_has_more_than_one_visit_per_slot():
    found = in_proportion(np.array([10.0, 1.0, 1.0]), Rules(3, robots=2))
    assert found == pytest.approx([1.0, 0.5, 0.5])


def test_what_a_host_may_not_have_goes_to_the_others():
    rules = Rules(4, hosts=np.array([0, 0, 1, 1]), caps=np.array([0.4, np.inf]))
    assert in_proportion(np.array([3.0, 1.0, 1.0, 1.0]), rules) == pytest.approx([0.3, 0.1, 0.3, 0.3])


def test_least_frequencies_are_kept():
    rules = Rules(3, minimum=np.array([0.2, 0.0, 0.0]))
    assert in_proportion(np.array([0.0, 1.0, 3.0]), rules) == pytest.approx([0.2, 0.2, 0.6])


def test_pages_without_weight_get_what_nobody_else_may_have():
    rules = Rules(3, hosts=np.array([0, 1, 1]), caps=np.array([0.4, np.inf]))
    assert in_proportion(np.array([1.0, 0.0, 0.0]), rules) == pytest.approx([0.4, 0.3, 0.3])


@pytest.mark.parametrize("seed", range(20))
def test_frequencies_in_proportion_break_no_rule(seed):
    rng = np.random.default_rng(seed)
    pages, robots = 12, int(rng.integers(1, 4))
    hosts = np.append(np.arange(4), rng.integers(4, size=pages - 4))
    rules = Rules(pages, robots, hosts, minimum=rng.uniform(0, 0.5 * robots / pages, pages))
    least = rules.by_host(rules.minimum)
    most = np.minimum(rules.by_host(np.ones(pages)), 10.0)
    caps = least + (most - least) * rng.uniform(0.3, 1.0, 4)
    caps *= max(1.0, 1.01 * robots / rules.room(caps))
    rules = replace(rules, caps=caps)
    assert rules.broken(in_proportion(rng.lognormal(size=pages), rules)) == {}


# -- robots -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_no_robot_gets_more_than_four_thirds_of_what_the_busiest_must_get(seed):
    rng = np.random.default_rng(seed)
    frequencies, robots = rng.lognormal(size=9), 3
    parts = partition(frequencies, Rules(9, robots))
    assert sorted(np.concatenate(parts).tolist()) == list(range(9))
    busiest = max(frequencies[part].sum() for part in parts)
    best = min(
        max(np.bincount(owners, weights=frequencies, minlength=robots)) for owners in product(range(robots), repeat=9)
    )
    assert best <= busiest <= 4 / 3 * best


def test_hosts_are_not_split_where_visits_must_be_apart():
    hosts = np.array([0, 1, 2, 3] * 3)
    frequencies = np.random.default_rng(0).dirichlet(np.ones(12)) * 2
    for part in partition(frequencies, Rules(12, 2, hosts, gap=2)):
        assert all(hosts[page] not in np.delete(hosts, part) for page in part)
    assert any(
        hosts[page] in np.delete(hosts, part) for part in partition(frequencies, Rules(12, 2, hosts)) for page in part
    )


@pytest.mark.parametrize("rules", [{}, {"min_frequency": 0.01}, {"hosts": list(range(10)) * 2, "host_caps": 0.5}])
def test_parts_spend_all_slots_and_cost_no_less_than_the_relaxation(rules):
    problem = random_problem(1, robots=3, **rules)
    parts = best_parts(problem.traits, problem.rules, problem.allocation())
    assert sorted(np.concatenate([part.pages for part in parts]).tolist()) == list(range(20))
    frequencies = np.zeros(20)
    for part in parts:
        assert math.fsum(part.frequencies) == pytest.approx(1.0, rel=1e-12)
        frequencies[part.pages] = part.frequencies
    judged = problem.evaluate(frequencies)
    assert judged.feasible
    bound = problem.allocation().bound
    assert bound <= judged.objective <= 1.01 * bound


def test_one_robot_has_all_pages_and_the_frequencies_of_least_cost():
    problem = random_problem(2)
    (part,) = best_parts(problem.traits, problem.rules, problem.allocation())
    assert part.frequencies is problem.allocation().frequencies
    assert part.pages.tolist() == list(range(20))


def test_given_frequencies_of_each_robot_add_up_to_one():
    problem = random_problem(3, robots=4)
    for part in given_parts(problem.traits, problem.rules, np.full(20, 0.2)):
        assert part.frequencies == pytest.approx(np.full(len(part.pages), 1 / len(part.pages)))


def test_a_robot_gets_its_part_of_a_cap():
    rules = Rules(4, 2, np.array([0, 0, 1, 1]), caps=np.array([0.8, np.inf]))
    own = rules_of(rules, np.array([0, 2]), np.array([0.6, 0.2, 0.4, 0.8]))
    assert own.caps == pytest.approx([0.6, np.inf])
    assert (own.robots, own.pages, own.hosts.tolist()) == (1, 2, [0, 1])
