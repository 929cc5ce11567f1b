"""Shorter clauses say the same, all together: by all assignments, and against python-sat's propagation."""

from itertools import product

import numpy as np
import pytest
from random_placements import random_placement

from optmodels.placement.clauses.implied import shortened
from optmodels.placement.clauses.pool import around_clients, from_placements
from optmodels.placement.clauses.sources import setting_of

SEEDS = range(40)


def random_clauses(rng):
    variables = int(rng.integers(1, 9))
    clauses = []
    for _ in range(int(rng.integers(0, 30))):
        chosen = rng.permutation(variables)[: int(rng.integers(1, min(5, variables) + 1))] + 1
        clauses.append(tuple(sorted((chosen * rng.choice([-1, 1], len(chosen))).tolist())))
    return variables, clauses


def keeping(variables, clauses):
    return {
        x
        for x in product((False, True), repeat=variables)
        if all(any(x[abs(at) - 1] == (at > 0) for at in clause) for clause in clauses)
    }


def contradicts(clauses, assumed):
    """Whether unit propagation, one literal after the other, meets a clause that is false."""
    true = set(assumed)
    while True:
        forced = set()
        for clause in clauses:
            free = [at for at in clause if -at not in true]
            if not free:
                return True
            if len(free) == 1 and free[0] not in true:
                forced.add(free[0])
        if not forced:
            return False
        true |= forced


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_assignments_keep_the_shorter_clauses(seed):
    rng = np.random.default_rng(seed)
    for _ in range(10):
        variables, clauses = random_clauses(rng)
        short = shortened(clauses, variables, rng)
        assert keeping(variables, short) == keeping(variables, clauses)
        assert len(short) == len(set(short)) <= len(set(clauses))
        assert sum(map(len, short)) <= sum(map(len, set(clauses)))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_literal_that_propagation_shows_to_be_superfluous_is_dropped(seed):
    """The first clause, alone, by plain propagation: whatever order is tried, one of its literals goes if one can."""
    rng = np.random.default_rng(seed)
    for _ in range(10):
        variables, clauses = random_clauses(rng)
        if not clauses or contradicts(clauses, ()):
            continue
        first = max(clauses, key=len)
        superfluous = [at for at in first if contradicts(clauses, [-other for other in first if other != at])]
        if len(first) > 1 and superfluous:
            assert first not in shortened([first, *clauses], variables, rng)


@pytest.mark.parametrize("seed", range(12))
def test_every_feasible_placement_keeps_the_shorter_clauses(seed):
    problem, rng = random_placement(seed, most=9), np.random.default_rng(seed)
    setting, count = setting_of(problem), problem.layout.sites
    placements = (rng.random((60, count)) < 0.5).astype(np.uint8) & setting.allowed
    clauses = [(-int(site) - 1,) for site in np.flatnonzero(setting.allowed == 0)]
    clauses += [*around_clients(setting), *from_placements(setting, placements, rng)]
    if () in clauses:  # nobody can serve a client
        return
    short = shortened(clauses, count, rng)
    assert keeping(count, short) == keeping(count, clauses)
    feasible = {tuple(map(bool, x)) for x in product((0, 1), repeat=count) if problem.evaluate(x).feasible}
    assert feasible <= keeping(count, short)
