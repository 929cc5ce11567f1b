"""Cycles a slice at a time: the same pages in the same order, and an ear for Ctrl-C between slices."""

import numpy as np
import pytest

from heuristics import interrupting
from heuristics.sequencing import calendar, golden_ratio, greedy, power_of_two, regular, tijdeman, whittle, words

WORDS = (regular, tijdeman, golden_ratio, power_of_two)


@pytest.fixture
def pages():
    """300 lognormal pages on 40 hosts."""
    rng = np.random.default_rng(5)
    rates = rng.lognormal(size=300)
    return rates / rates.sum(), rng.integers(0, 40, size=300)


def cycles(frequencies, hosts):
    worths = np.ones(len(frequencies))
    return [
        greedy(frequencies, 5000),
        whittle(frequencies, worths, frequencies, 5000),
        greedy(frequencies, 5000, hosts, 12),
        whittle(frequencies, worths, frequencies, 5000, hosts, 12),
        *(rule(frequencies, 5000) for rule in WORDS),
    ]


@pytest.mark.parametrize("slots", [1, 7, 4999])
def test_slices_change_nothing(pages, slots, monkeypatch):
    whole = cycles(*pages)
    monkeypatch.setattr(calendar, "SLICE", slots)
    monkeypatch.setattr(words, "WORK", slots)
    for one, other in zip(whole, cycles(*pages), strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("rule", [greedy, *WORDS], ids=lambda rule: rule.__name__)
def test_a_limit_is_heard_between_slices(rule, pages, monkeypatch):
    class EnoughError(Exception):
        pass

    asked = []

    def limit():
        asked.append(1)
        if len(asked) == 3:
            raise EnoughError

    monkeypatch.setattr(calendar, "SLICE", 1000)
    monkeypatch.setattr(words, "WORK", 1000)
    with interrupting.within(limit), pytest.raises(EnoughError):
        rule(pages[0], 5000)
    assert len(asked) == 3


def test_a_slice_that_cannot_be_filled_is_the_last(monkeypatch):
    monkeypatch.setattr(calendar, "SLICE", 10)
    begun = []

    def fill(slot, some):
        begun.append(slot)
        return 10 if slot < 20 else 4

    assert calendar.in_slices(fill, np.empty(50, dtype=np.int64)) == 24
    assert begun == [0, 10, 20]
