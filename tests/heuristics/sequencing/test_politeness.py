"""Hosts are left in peace: always, in cycles of any length and without end, and where it is just possible."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heuristics.sequencing import apportion, greedy, missing, visit_distances, visits, whittle
from heuristics.sequencing.politeness import capped, closing_length, columns


def slots_apart(cycle, hosts):
    """By how much the slots of two visits to one host differ at least, by looking at all pairs of slots."""
    visited = [hosts[page] for page in cycle]
    turns = visited + visited
    return min(
        later - slot
        for slot, host in enumerate(visited)
        for later in range(slot + 1, slot + len(visited) + 1)
        if turns[later] == host
    )


def lost_by(cycle, decays):
    """What pages lose a slot: the sum of l d - 1 + exp(-l d) over all gaps."""
    order = np.argsort(cycle, kind="stable")
    page = cycle[order]
    first = np.flatnonzero(np.r_[True, page[1:] != page[:-1]])
    last = np.r_[first[1:], len(cycle)] - 1
    gaps = np.diff(order, prepend=0)
    gaps[first] = order[first] + len(cycle) - order[last]
    return decays.sum() + np.expm1(-decays[page] * gaps).sum() / len(cycle)


@st.composite
def some_hosts(draw):
    pages = draw(st.integers(1, 24))
    frequencies = draw(st.lists(st.one_of(st.just(0.0), st.floats(1e-2, 1e2)), min_size=pages, max_size=pages))
    hosts = draw(st.lists(st.integers(0, 7), min_size=pages, max_size=pages))
    return np.array(frequencies) + np.eye(pages)[0], np.array(hosts), draw(st.integers(0, 6)), draw(st.integers(1, 60))


@given(some_hosts())
def test_gap_is_kept_across_the_end_of_a_cycle_too(case):
    frequencies, hosts, gap, length = case
    count = len(set(hosts[frequencies > 0]))
    decays, worths = 0.1 * frequencies + 0.01, np.ones(len(hosts))

    def by_greedy():
        return greedy(frequencies, length, hosts, gap)

    def by_index():
        return whittle(decays, worths, frequencies, length, hosts, gap)

    for make in (by_greedy, by_index):
        if gap > 1 and (count < gap or length < gap):
            with pytest.raises(ValueError, match="host"):
                make()
            continue
        cycle = make()
        assert slots_apart(cycle, hosts) >= gap
        assert visit_distances(cycle, hosts).min() == slots_apart(cycle, hosts)
        assert (frequencies[cycle] > 0).all()
        assert length - gap < len(cycle) <= length or gap <= 1
        assert (make() == cycle).all()


@given(some_hosts())
def test_gap_is_kept_without_end(case):
    frequencies, hosts, gap, _ = case
    if len(set(hosts[frequencies > 0])) < gap:
        return
    traits = {"decays": 0.1 * frequencies, "worths": np.ones(len(hosts))}
    for method in ("greedy", "whittle"):
        visited = hosts[list(islice(visits(frequencies, method, hosts=hosts, host_gap=gap, **traits), 200))]
        for start in range(200 - gap + 1):
            assert len(set(visited[start : start + gap])) == gap


@pytest.mark.parametrize("gap", [2, 3, 4, 6])
def test_hosts_that_are_just_enough_take_turns(gap):
    """As many hosts as slots from one visit to the next: no more can be asked for, and no less is given."""
    hosts = np.arange(gap).repeat(2)
    for cycle in (
        greedy(np.ones(len(hosts)), 50, hosts, gap),
        whittle(np.full(len(hosts), 0.1), np.ones(len(hosts)), np.ones(len(hosts)), 50, hosts, gap),
    ):
        assert len(cycle) == 50 - 50 % gap
        assert visit_distances(cycle, hosts).min() == gap
        assert missing(cycle, np.ones(len(hosts))).size == 0


def test_columns_are_possible_where_anything_is():
    for gap in range(2, 6):
        for hosts in range(gap, 2 * gap + 1):
            for length in range(gap, 40):
                if closing_length(length, hosts, gap) < length:
                    continue
                shares = np.random.default_rng(length).dirichlet(np.ones(hosts))
                word = columns(shares, np.arange(hosts), gap, length)
                assert slots_apart(word, np.arange(hosts)) >= gap, (gap, hosts, length, word)


@pytest.mark.parametrize(("hosts", "gap"), [(2, 2), (3, 2), (3, 3), (4, 3), (4, 4)])
def test_lengths_that_can_be_closed(hosts, gap):
    """Against a search through all words of hosts."""

    def closes(word, length):
        if len(word) == length:
            return slots_apart(word, range(hosts)) >= gap
        return any(
            closes([*word, host], length) for host in range(hosts) if host not in word[max(len(word) - gap + 1, 0) :]
        )

    for length in range(gap, 10):
        assert (closing_length(length, hosts, gap) == length) == closes([], length), length


@given(some_hosts())
def test_hosts_get_no_more_than_they_can_take(case):
    frequencies, hosts, gap, _ = case
    shares = frequencies / frequencies.sum()
    host = np.full(len(hosts), -1)
    host[shares > 0] = np.unique(hosts[shares > 0], return_inverse=True)[1]
    if host.max() + 1 < gap or gap == 0:
        return
    found = capped(shares, host, 1 / gap)
    totals = np.bincount(host[host >= 0], weights=found[host >= 0])
    assert found.sum() == pytest.approx(1.0)
    assert (totals <= (1 + 1e-9) / gap).all()
    assert (found[shares == 0] == 0).all()
    for one in range(len(totals)):  # proportions inside a host stay
        inside = host == one
        assert found[inside] / found[inside].sum() == pytest.approx(shares[inside] / shares[inside].sum())
    free = totals < (1 - 1e-9) / gap
    scale = (totals / np.bincount(host[host >= 0], weights=shares[host >= 0]))[free]
    assert scale == pytest.approx(np.full(len(scale), scale.max(initial=0)))


def test_politeness_costs_little_where_hosts_are_many():
    """2000 pages on 100 hosts of like size: with visits 20 slots apart the cycle is as good as one without."""
    rng = np.random.default_rng(3)
    decays = rng.lognormal(size=2000)
    decays *= 0.5 / decays.sum()
    hosts, frequencies, worths = rng.integers(0, 100, 2000), decays / decays.sum(), np.ones(2000)
    length = 100_000

    least = decays.sum() + np.expm1(-decays.sum())  # Theorem 3.4
    for cycle in (
        greedy(frequencies, length, hosts, 20),
        whittle(decays, worths, frequencies, length, hosts, 20),
    ):
        assert visit_distances(cycle, hosts).min() >= 20
        assert least < lost_by(cycle, decays) < 1.002 * least
        counts = np.bincount(cycle, minlength=2000)
        assert np.abs(counts - length * frequencies).max() < 2


@given(some_hosts(), st.booleans())
def test_whole_visits_are_no_more_than_a_host_can_take(case, with_gains):
    frequencies, hosts, gap, length = case
    host = np.full(len(hosts), -1)
    host[frequencies > 0] = np.unique(hosts[frequencies > 0], return_inverse=True)[1]
    if host.max() + 1 < gap or length < gap or gap == 0:
        return
    length = closing_length(length, host.max() + 1, gap)
    most = length // gap
    shares = capped(frequencies / frequencies.sum(), host, most / length)
    gains = np.random.default_rng(length).normal(size=len(hosts)) if with_gains else None
    counts = apportion(shares, length, gains, host, most)
    assert counts.sum() == length
    assert (np.abs(counts - length * shares) < 1 + 1e-6).all()
    totals, wanted = (np.bincount(host[host >= 0], weights=what[host >= 0]) for what in (counts, length * shares))
    assert (totals <= most).all()
    assert (totals[wanted > most - 1e-6] == most).all()


def test_a_host_that_wants_all_its_visits_gets_them_before_those_that_want_nearly_all():
    # Host 0 wants one visit of the one it may have, the others two thirds of one each: three visits in all.
    counts = apportion([1 / 6, 1 / 6, 2 / 9, 2 / 9, 2 / 9], 3, host=np.array([0, 0, 1, 2, 3]), most=1)
    assert counts.sum() == 3 and counts[:2].sum() == 1


@pytest.fixture(scope="module")
def crowded():
    """3000 pages on 120 hosts by Zipf's law, frequencies in proportion to decays: hosts are at their limit."""
    rng = np.random.default_rng(5)
    hosts = rng.choice(120, 3000, p=1 / np.arange(1, 121) / (1 / np.arange(1, 121)).sum())
    decays = rng.lognormal(size=3000)
    return decays * 0.5 / decays.sum(), hosts, 20


@pytest.mark.parametrize("rule", ["greedy", "whittle"])
def test_hosts_at_their_limit_miss_hardly_a_visit(crowded, rule):
    """A slot missed is never made up for: such a host is visited whenever it is back."""
    decays, hosts, gap = crowded
    length = 60_000
    shares = capped(decays / decays.sum(), hosts, 1 / gap)
    full = np.bincount(hosts, weights=shares) * gap > 1 - 1e-9
    assert full.sum() >= 3
    cycle = (
        greedy(shares, length, hosts, gap)
        if rule == "greedy"
        else whittle(decays, np.ones(3000), shares, length, hosts, gap)
    )
    assert visit_distances(cycle, hosts).min() == gap
    visited = np.bincount(hosts[cycle], minlength=120)
    assert (visited[full] >= length // gap - 4).all()
    if rule == "greedy":
        assert missing(cycle, shares).size == 0


def test_index_does_not_wait_for_pages_that_keep_their_host_busy():
    """One page of a host is dear and has a short gap: the others of it must not be on the list before they are due."""
    rng = np.random.default_rng(4)
    hosts, weights = np.r_[np.zeros(60, dtype=int), rng.integers(1, 40, 140)], rng.lognormal(size=200)
    frequencies = np.r_[np.full(59, 0.05 / 59), 0.05, 0.9 * weights[60:] / weights[60:].sum()]
    decays, worths, length = 2.0 * frequencies, np.ones(200), 20_000

    by_index = lost_by(whittle(decays, worths, frequencies, length, hosts, 8), decays)
    assert by_index < 1.001 * lost_by(greedy(frequencies, length, hosts, 8), decays)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([0, 0, 1], 3), r"host_gap 3 needs 3 hosts or more with pages that are visited, but there are only 2\."),
        (([0, 1, 2], 9), r"host_gap 9 needs 9 hosts or more with pages that are visited, but there are only 3\."),
        ((None, 2), r"host_gap is 2, but no hosts are given\."),
        (([0, 1], 1), r"hosts must be 3 whole numbers, one for each page, but they have shape \(2,\) and type int64\."),
        (([0.0, 1.0, 2.0], 1), r"hosts must be 3 whole numbers, .* shape \(3,\) and type float64\."),
        (([0, 1, 2], -1), r"host_gap must be a whole number of at least 0, but it is -1\."),
        (([0, 1, 2], 1.5), r"host_gap must be a whole number of at least 0, but it is 1\.5\."),
    ],
)
def test_refusals_are_one_sentence(arguments, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        greedy([1.0, 1.0, 1.0], 12, *arguments)
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        whittle([0.1] * 3, [1.0] * 3, [1.0, 1.0, 1.0], 12, *arguments)
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        visits([1.0, 1.0, 1.0], hosts=arguments[0], host_gap=arguments[1])


def test_hosts_without_visits_do_not_count():
    with pytest.raises(ValueError, match=r"needs 3 hosts .* only 2\.$"):
        greedy([1.0, 1.0, 0.0], 12, [0, 1, 2], 3)


def test_cycle_must_be_as_long_as_the_gap():
    with pytest.raises(ValueError, match=r"^length must be at least host_gap, which is 3, but it is 2\.$"):
        greedy([1.0, 1.0, 1.0], 2, [0, 1, 2], 3)
    assert sorted(greedy([1.0, 1.0, 1.0], 3, [0, 1, 2], 3).tolist()) == [0, 1, 2]
