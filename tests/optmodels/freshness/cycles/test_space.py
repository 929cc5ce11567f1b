"""Cycles of one length as a space of decisions."""

import itertools
import json
import pickle

import numpy as np
import pytest

from heuristics.testing import check_space
from optmodels.freshness.cycles import CycleOfVisits, VisitCycles
from optmodels.results import plain


@pytest.mark.parametrize("idle", [False, True])
@pytest.mark.parametrize(
    ("pages", "robots", "slots"), [(1, 1, 1), (3, 1, 4), (2, 2, 3), (3, 2, 3), (4, 3, 2), (1, 1, 7)]
)
def test_all_cycles_are_listed_once_and_counted(pages, robots, slots, idle):
    space = VisitCycles(pages, robots, slots, idle)
    check_space(space, np.random.default_rng(1))
    known = set()
    for word in itertools.product(range(-int(idle), pages), repeat=robots * slots):
        try:
            known.add(space.check(word))
        except ValueError:  # a page of two robots
            continue
    assert set(space) == known
    assert space.size == len(known)


def test_a_cycle_may_begin_anywhere_and_robots_are_alike():
    space = VisitCycles(4, 2, 3)
    first = space.check({"schedules": [[3, 2, 3], [1, 0, 1]]})
    assert first == space.check({"schedules": [[0, 1, 1], [3, 3, 2]]})
    assert plain(first) == {"schedules": [[0, 1, 1], [2, 3, 3]]}
    assert first["schedules"] == [[0, 1, 1], [2, 3, 3]]


def test_a_decision_survives_files_and_processes():
    space = VisitCycles(3, 1, 4, idle=True)
    decision = space.check({"schedule": [2, -1, 0, 1]})
    assert isinstance(decision, CycleOfVisits)
    again = pickle.loads(pickle.dumps(decision))
    assert (again, again.robots) == (decision, 1)
    assert space.check(json.loads(json.dumps(plain(decision)))) == decision


@pytest.mark.parametrize(
    ("decision", "told"),
    [
        ({"schedule": [0, 1]}, "schedule has 2 slots; the best cycle of 3 slots is asked for"),
        ({"schedule": [0, 1, 5]}, r"schedule\[2\] is 5; pages are numbered from 0 to 1"),
        ([0.5, 0.5], r"\{\"schedule\": \[page, ...\]\} of 3 slots"),
        ({"randomized": [0.5, 0.5]}, "of 3 slots"),
        ("once", "of 3 slots"),
    ],
)
def test_other_decisions_are_refused_in_a_sentence(decision, told):
    with pytest.raises(ValueError, match=told):
        VisitCycles(2, 1, 3).check(decision)


@pytest.mark.parametrize("seed", range(6))
def test_children_and_repaired_words_are_decisions(seed):
    rng = np.random.default_rng(seed)
    space = VisitCycles(int(rng.integers(3, 6)), 3, 4, bool(seed % 2))
    for _ in range(50):
        for child in space.crossover(space.sample(rng), space.sample(rng), rng):
            assert space.check(tuple(child)) == child
        mended = space.repair(rng.normal(1, 3, int(rng.integers(0, 15))).tolist())
        assert space.check(tuple(mended)) == mended
