"""Visits without end: frequencies met for ever, pages that leave at once and join at the next cycle."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristics.sequencing import VisitPlan, golden_page, visits


def counted(iterator, slots, pages):
    return np.bincount(list(islice(iterator, slots)), minlength=pages)


def spread_of_gaps(visited):
    """Mean over pages of the coefficient of variation of their gaps."""
    visited = np.asarray(visited)
    found = []
    for page in np.unique(visited):
        gaps = np.diff(np.flatnonzero(visited == page))
        if len(gaps) > 4:
            found.append(np.std(gaps) / np.mean(gaps))
    return np.mean(found)


# --- iterators --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["greedy", "whittle"])
def test_frequencies_are_met_for_ever(method):
    decays = np.random.default_rng(0).lognormal(size=150)
    frequencies = decays / decays.sum()
    iterator = visits(frequencies, method, decays=frequencies, worths=np.ones(150))
    total = np.zeros(150)
    for block in range(1, 6):
        total += counted(iterator, 7000, 150)
        assert np.abs(total - 7000 * block * frequencies).max() < 1.5


def test_visits_without_end_are_as_even_as_those_of_a_cycle():
    frequencies = np.random.default_rng(0).lognormal(size=150)
    for method in ("greedy", "whittle"):
        iterator = visits(frequencies, method, decays=frequencies / frequencies.sum(), worths=np.ones(150))
        assert spread_of_gaps(list(islice(iterator, 20000))) < 0.08
    assert spread_of_gaps(list(islice(visits(frequencies, "golden"), 20000))) > 0.2


def test_golden_visits_are_those_without_memory():
    frequencies = [0.3, 0.5, 0.2]
    assert (
        list(islice(visits(frequencies, "golden"), 3000))
        == golden_page(np.cumsum(frequencies), np.arange(3000)).tolist()
    )


def test_pages_without_frequency_are_never_visited():
    for method in ("greedy", "whittle", "golden"):
        iterator = visits([0.0, 1.0, 0.0, 2.0], method, decays=[0.1] * 4, worths=[1.0] * 4)
        assert set(islice(iterator, 3000)) == {1, 3}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"method": "fifo"}, r"method must be 'greedy', 'whittle' or 'golden', but it is 'fifo'\."),
        ({"method": "whittle"}, r"method 'whittle' needs decays and worths, but not both are given\."),
        (
            {"method": "golden", "host_gap": 2, "hosts": [0, 1]},
            r"method 'golden' keeps no gap between visits to a host, but host_gap is 2\.",
        ),
        ({"method": "whittle", "decays": [1.0], "worths": [1.0]}, r"frequencies must be a list of 1 numbers.*\(2,\)\."),
    ],
)
def test_refusals_of_visits(options, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        visits([1.0, 1.0], **options)


def test_bad_frequencies_are_refused_before_the_first_visit():
    with pytest.raises(ValueError, match=r"^frequencies\[0\] must be"):
        visits([-1.0, 1.0])


# --- pages that come and go -------------------------------------------------------------------------------------------


def test_after_churn_the_plan_is_as_good_as_a_fresh_one():
    rng = np.random.default_rng(0)
    pages = dict(enumerate(rng.lognormal(size=400).tolist()))
    plan, newest = VisitPlan(pages, cycle=128), 400
    for _ in range(60):
        for page in rng.choice(list(pages), 10, replace=False).tolist():
            plan.remove(page)
            del pages[page]
        for _ in range(11):
            pages[newest] = float(rng.lognormal())
            plan.add(newest, pages[newest])
            newest += 1
        list(islice(plan, 300))
    assert len(plan) == len(pages) == 460
    list(islice(plan, 128))
    slots = 60_000
    wanted = np.zeros(newest)
    wanted[list(pages)] = slots * np.array(list(pages.values())) / sum(pages.values())
    churned, fresh = list(islice(plan, slots)), list(islice(VisitPlan(pages), slots))
    for visited in (churned, fresh):
        assert np.abs(np.bincount(visited, minlength=newest) - wanted).max() < 2
    assert spread_of_gaps(churned) < 2 * spread_of_gaps(fresh) + 0.01
    assert len(plan._names) < 5 * len(pages)  # rows of those who left are used again


def test_fresh_plan_is_the_greedy_iterator():
    frequencies = np.random.default_rng(1).lognormal(size=50)
    plan = VisitPlan(dict(enumerate(frequencies.tolist())))
    assert np.abs(counted(plan, 20_000, 50) - counted(visits(frequencies), 20_000, 50)).max() <= 1


def test_pages_leave_at_once():
    plan = VisitPlan({1: 5.0, 2: 1.0, 3: 1.0}, cycle=50)
    assert 1 in set(islice(plan, 5))
    plan.remove(1)
    assert 1 not in plan
    assert set(islice(plan, 200)) == {2, 3}


def test_pages_join_at_the_next_cycle():
    plan = VisitPlan({1: 1.0, 2: 1.0}, cycle=10)
    list(islice(plan, 3))
    plan.add(3, 2.0)
    assert 3 in plan
    assert 3 not in set(islice(plan, 7))
    assert set(islice(plan, 10)) == {1, 2, 3}


def test_page_that_leaves_and_comes_back_waits_for_the_next_cycle():
    plan = VisitPlan({1: 1.0, 2: 1.0}, cycle=10)
    next(plan)
    plan.remove(1)
    plan.add(1, 1.0)
    rest = list(islice(plan, 14))
    assert 1 in rest
    assert 1 not in rest[:4]
    plan.add(7, 1.0)
    plan.remove(7)  # before it ever came
    assert 7 not in set(islice(plan, 100))


def test_frequency_can_be_changed():
    plan = VisitPlan({1: 1.0, 2: 1.0, 3: 1e-3}, cycle=20)
    list(islice(plan, 20))
    plan.add(3, 2.0)
    assert len(plan) == 3
    list(islice(plan, 20))
    assert np.abs(counted(plan, 4000, 4)[1:] - [1000, 1000, 2000]).max() < 3


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_total_may_change_by_orders_of_magnitude(scale):
    plan = VisitPlan(dict.fromkeys(range(50), 1.0), cycle=16)
    list(islice(plan, 100))
    for page in range(50):
        plan.remove(page)
        plan.add(100 + page % 3, scale * (1 + page % 3))
    list(islice(plan, 100))
    assert np.abs(counted(plan, 600, 103)[100:] - [100, 200, 300]).max() <= 2


def test_plan_ends_when_all_pages_have_left_and_goes_on_when_one_comes():
    plan = VisitPlan(cycle=4)
    assert list(plan) == []
    plan.add(5, 0.1)
    assert list(islice(plan, 3)) == [5, 5, 5]
    plan.remove(5)
    assert list(plan) == []
    assert len(plan) == 0


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(0.1, 10.0)), max_size=40), st.sampled_from([1, 3, 8, 64]))
@settings(max_examples=40)
def test_any_history_leaves_the_right_pages(history, cycle):
    plan, wanted = VisitPlan({9: 1.0}, cycle=cycle), {9: 1.0}
    for page, frequency in history:
        if page in wanted and frequency < 3:
            plan.remove(page)
            del wanted[page]
        else:
            plan.add(page, frequency)
            wanted[page] = frequency
        next(plan)
        assert (page in plan) == (page in wanted)
        assert len(plan) == len(wanted)
    list(islice(plan, cycle))
    assert set(islice(plan, 600)) == set(wanted)
    total = sum(wanted.values())
    found = counted(plan, 1000, 10)
    assert all(abs(found[page] - 1000 * wanted.get(page, 0.0) / total) < 2.5 for page in range(10))


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda plan: plan.add(1, 0.0), r"frequency of page 1 must be a finite number above 0, but it is 0\.0\."),
        (
            lambda plan: plan.add(1, float("nan")),
            r"frequency of page 1 must be a finite number above 0, but it is nan\.",
        ),
        (lambda plan: plan.add(-1, 1.0), r"page must be a whole number of at least 0, but it is -1\."),
        (lambda plan: plan.remove(7), r"page 7 is not in the plan and cannot be removed\."),
        (lambda plan: VisitPlan(cycle=0), r"cycle must be a whole number of at least 1, but it is 0\."),
    ],
)
def test_refusals_of_plans(act, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        act(VisitPlan({3: 1.0}))
