"""Every clause is kept by every feasible placement, and says no more than it must."""

from itertools import product

import numpy as np
import pytest
from random_placements import random_placement

import optmodels as om
from optmodels.placement.clauses.kernels import remaining
from optmodels.placement.clauses.pool import Pool, around_clients, from_placements
from optmodels.placement.clauses.sources import setting_of

SEEDS = range(48)


def clauses_of(problem, seed):
    rng = np.random.default_rng(seed)
    setting = setting_of(problem)
    count = problem.layout.sites
    placements = (rng.random((30, count)) < rng.uniform(0.0, 0.8, (30, 1))).astype(np.uint8) & setting.allowed
    pool = Pool()
    pool.add(around_clients(setting))
    pool.add(from_placements(setting, placements, rng))
    return list(pool)


def keeps(decision, clause):
    return any(decision[abs(literal) - 1] == (literal > 0) for literal in clause)


def follows(problem, clause):
    """Whether a clause follows from overloads alone, by the plain evaluator: see `Refutation`."""
    is_open = problem.allowed.astype(int)
    is_open[[literal - 1 for literal in clause if literal > 0]] = 0
    while (over := problem.overloaded(is_open)).any():
        is_open[over > 0] = 0
    closed = [-literal - 1 for literal in clause if literal < 0]
    return not is_open[closed].any() if closed else not is_open.any()


def overloads_at_once(problem, clause):
    """Whether the one site that a clause closes is overloaded when its open sites are closed, all others being open."""
    is_open = problem.allowed.astype(int)
    is_open[[literal - 1 for literal in clause if literal > 0]] = 0
    (closed,) = (-literal - 1 for literal in clause if literal < 0)
    return problem.overloaded(is_open)[closed] > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_every_feasible_placement_keeps_every_clause(seed):
    problem = random_placement(seed, most=9)
    clauses = clauses_of(problem, seed)
    feasible = [x for x in product((0, 1), repeat=problem.layout.sites) if problem.evaluate(x).feasible]
    assert all(keeps(x, clause) for x in feasible for clause in clauses)
    assert all(follows(problem, clause) for clause in clauses)


@pytest.mark.parametrize("seed", SEEDS)
def test_clauses_of_overloads_are_minimal(seed):
    """One site fewer, and the rest does not overload it; so a clause from which a site was lost would be noticed."""
    problem = random_placement(seed, most=12)
    for clause in clauses_of(problem, seed):
        if not any(literal < 0 for literal in clause):
            continue
        assert overloads_at_once(problem, clause)
        for literal in (one for one in clause if one > 0):
            assert not overloads_at_once(problem, tuple(one for one in clause if one != literal))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_placement_breaks_a_clause_if_it_overloads_somebody(seed):
    problem = random_placement(seed, most=12)
    setting, rng = setting_of(problem), np.random.default_rng(seed)
    for placement in rng.integers(0, 2, (20, problem.layout.sites)).astype(np.uint8) & setting.allowed:
        made = from_placements(setting, placement[None], rng)
        over = problem.overloaded(placement)
        assert sorted(-min(clause) - 1 for clause in made) == np.flatnonzero(over).tolist()
        assert not any(keeps(placement, clause) for clause in made)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_remains_is_what_the_plain_evaluator_leaves(seed):
    problem = random_placement(seed, most=12)
    rng = np.random.default_rng(seed)
    for placement in rng.integers(0, 2, (10, problem.layout.sites)).astype(np.uint8):
        plain, compiled = placement.copy(), placement.copy()
        while (over := problem.overloaded(plain)).any():
            plain[over > 0] = 0
        remaining(setting_of(problem), compiled)
        assert (plain == compiled).all()


def test_someone_within_reach_of_every_client_is_open():
    problem = om.load("small-3x3")
    covers = [clause for clause in around_clients(setting_of(problem)) if min(clause) > 0]
    assert len(covers) == (problem.demand > 0).sum()


def test_a_pool_holds_every_clause_once():
    pool = Pool()
    assert pool.add([(1, 2), (-1, 2), (1, 2)]) == [(1, 2), (-1, 2)]
    assert pool.add([(1, 2), (3,)]) == [(3,)]
    assert list(pool) == [(1, 2), (-1, 2), (3,)]
