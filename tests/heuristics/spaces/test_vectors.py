"""The kinds of spaces: counted exactly, closed under all their moves, refusing in one sentence."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from itertools import islice, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heuristics import BinaryVectors, IntegerBox, OrderedIntegers, Policies, Simplex, Space, Splits, Words


@st.composite
def boxes(draw: st.DrawFn) -> IntegerBox:
    ranges = draw(st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 3)), min_size=1, max_size=4))
    return IntegerBox(tuple(low for low, _ in ranges), tuple(low + width for low, width in ranges))


DISCRETE = st.one_of(
    st.builds(BinaryVectors, st.integers(1, 7)),
    boxes(),
    st.builds(
        lambda n, low, width: OrderedIntegers(n, low, low + width),
        st.integers(1, 4),
        st.integers(-3, 3),
        st.integers(0, 4),
    ),
    st.builds(Words, st.integers(1, 3), st.sets(st.integers(1, 5), min_size=1, max_size=3).map(tuple)),
    st.builds(Policies, st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple)),
    st.builds(Splits, st.integers(1, 4), st.integers(0, 6)),
)
SEEDS = st.integers(0, 2**32)


def generator(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@given(DISCRETE)
def test_iteration_meets_every_decision_once_and_no_other(space: Space) -> None:
    decisions = list(space)
    assert len(decisions) == len(set(decisions)) == space.size
    assert all(decision in space and space.check(decision) == decision for decision in decisions)
    assert all(type(entry) is int for decision in decisions for entry in decision)


@given(DISCRETE)
def test_iteration_is_lexicographic(space: Space) -> None:
    decisions = list(space)
    if isinstance(space, Words):
        assert decisions == sorted(decisions, key=lambda word: (len(word), word))
    else:
        assert decisions == sorted(decisions)


@given(DISCRETE, SEEDS)
def test_samples_crossover_and_neighbours_stay_in_the_space(space: Space, seed: int) -> None:
    rng = generator(seed)
    first, second = space.sample(rng), space.sample(rng)
    children = space.crossover(first, second, rng)
    for decision in (first, second, *children, space.neighbour(first, rng), *space.neighbours(first)):
        assert space.check(decision) == decision
        assert all(type(entry) is int for entry in decision)


@given(DISCRETE, SEEDS)
def test_neighbours_come_once_without_the_decision_itself_and_hold_every_random_neighbour(
    space: Space, seed: int
) -> None:
    rng = generator(seed)
    decision = space.sample(rng)
    neighbours = list(space.neighbours(decision))
    assert len(neighbours) == len(set(neighbours))
    assert decision not in neighbours
    drawn = space.neighbour(decision, rng)
    assert drawn in neighbours if neighbours else drawn == decision


@given(DISCRETE)
def test_every_decision_can_be_reached_by_neighbours(space: Space) -> None:
    start = next(iter(space))
    reached, front = {start}, [start]
    while front:
        front = [n for decision in front for n in space.neighbours(decision) if n not in reached]
        reached |= set(front)
        front = list(dict.fromkeys(front))
    assert len(reached) == space.size


@given(DISCRETE, st.data())
def test_repair_returns_a_member_and_leaves_members_alone(space: Space, data: st.DataObject) -> None:
    member = space.sample(generator(data.draw(SEEDS)))
    assert space.repair(member) == member
    numbers = st.floats(-50, 50) | st.sampled_from([math.nan, math.inf, -math.inf])
    count = st.integers(0, 8) if isinstance(space, Words) else st.just(len(member))
    length = data.draw(count)
    repaired = space.repair(data.draw(st.lists(numbers, min_size=length, max_size=length)))
    assert space.check(repaired) == repaired


@given(DISCRETE, SEEDS)
def test_check_takes_lists_arrays_and_whole_floats(space: Space, seed: int) -> None:
    decision = space.sample(generator(seed))
    for same in (list(decision), np.array(decision), np.array(decision, dtype=float), [np.int64(x) for x in decision]):
        checked = space.check(same)
        assert checked == decision
        assert type(checked) is tuple and all(type(entry) is int for entry in checked)


@given(DISCRETE)
def test_spaces_compare_by_value_and_can_be_pickled(space: Space) -> None:
    assert pickle.loads(pickle.dumps(space)) == space


@pytest.mark.parametrize(
    "space", [OrderedIntegers(3, 0, 3), Words(2, (4, 6)), IntegerBox((0, -1), (2, 2)), Policies((2, 3)), Splits(3, 4)]
)
def test_every_decision_is_sampled_equally_often(space: Space) -> None:
    rng = generator(7)
    rounds = 400 * int(space.size)
    counts = Counter(space.sample(rng) for _ in range(rounds))
    assert len(counts) == space.size
    squares = sum((count - 400) ** 2 / 400 for count in counts.values())
    freedom = int(space.size) - 1
    assert squares < freedom + 5 * math.sqrt(2 * freedom)  # the seed is fixed: this cannot fail by chance


def test_binary_vectors_count_in_binary_with_entry_0_most_significant() -> None:
    assert list(islice(BinaryVectors(3), 4)) == [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1)]


def test_iteration_is_lazy_where_the_space_is_huge() -> None:
    assert next(iter(BinaryVectors(242))) == (0,) * 242
    assert BinaryVectors(242).size == 2**242
    assert next(iter(Words(9, range(30, 40)))) == (0,) * 30


def test_neighbours_of_a_binary_vector_are_its_flips_in_order() -> None:
    assert list(BinaryVectors(3).neighbours((0, 1, 0))) == [(1, 1, 0), (0, 0, 0), (0, 1, 1)]


@pytest.mark.parametrize(
    ("alphabet", "length", "count"), [(2, 6, 14), (3, 4, 24), (2, 12, 352), (5, 1, 5), (4, 6, 700)]
)
def test_the_number_of_necklaces_is_the_known_one(alphabet: int, length: int, count: int) -> None:
    assert Words(alphabet, (length,)).size == count


def test_a_word_is_written_as_its_least_rotation() -> None:
    space = Words(3, range(1, 8))
    for word in product(range(3), repeat=5):
        rotations = [word[i:] + word[:i] for i in range(5)]
        assert {space.check(rotation) for rotation in rotations} == {min(rotations)}


def test_words_of_lengths_far_apart_are_linked() -> None:
    space = Words(2, (2, 5))
    assert {len(word) for word in space.neighbours((0, 1))} == {2, 5}
    assert {len(word) for word in space.neighbours((0, 0, 0, 1, 1))} == {2, 5}


@pytest.mark.parametrize(
    ("space", "decision", "sentence"),
    [
        (BinaryVectors(4), (0, 1, 0, 2), "entry 3 is 2; entries are 0 or 1."),
        (BinaryVectors(2), (0.5, 1), "entry 0 is 0.5; entries are 0 or 1."),
        (BinaryVectors(2), ("1", 1), "entry 0 is '1'; entries are 0 or 1."),
        (BinaryVectors(2), (0, math.nan), "entry 1 is nan; entries are 0 or 1."),
        (BinaryVectors(2), (0, math.inf), "entry 1 is inf; entries are 0 or 1."),
        (BinaryVectors(2), (0, None), "entry 1 is None; entries are 0 or 1."),
        (BinaryVectors(2), (0, 1, 1), "expected 2 entries, got 3."),
        (BinaryVectors(2), 5, "the decision is 5; a decision is a list of numbers."),
        (BinaryVectors(2), "01", "the decision is '01'; a decision is a list of numbers."),
        (BinaryVectors(4), np.zeros((2, 2)), "the decision has 2 dimensions; a decision is a flat list."),
        (IntegerBox((0, 2), (1, 4)), (0, 5), "entry 1 is 5; it lies between 2 and 4."),
        (OrderedIntegers(3, 0, 4), (0, 2, 1), "entry 2 is 1 after 2; entries never decrease."),
        (OrderedIntegers(2, 0, 4), (-1, 1), "entry 0 is -1; entries lie between 0 and 4."),
        (Words(3, range(2, 5)), (0,), "the word has 1 letters; words have 2 to 4."),
        (Words(3, (2, 4, 7)), (0,), "the word has 1 letters; words have 2, 4 or 7."),
        (Words(3, 2), (0, 3), "entry 1 is 3; letters lie between 0 and 2."),
        (Policies((2, 3)), (0, 3), "entry 1 is 3; the actions of this state lie between 0 and 2."),
        (Splits(3, 4), (0, 5, 0), "entry 1 is 5; it lies between 0 and 4."),
        (Splits(3, 4), (1, 3, 1), "the entries add up to 5; they add up to 4 at most."),
        (Simplex(2), (1.5, -0.5), "entry 1 is -0.5; entries are numbers, zero or more."),
        (Simplex(2), (math.nan, 1.0), "entry 0 is nan; entries are numbers, zero or more."),
        (Simplex(2), (0.5, 0.4), "the entries add up to 0.9; they must add up to 1.0."),
        (Simplex(2), ("a", 0.4), "the decision holds something that is not a number; entries are numbers."),
    ],
)
def test_a_wrong_decision_is_refused_in_one_sentence(space: Space, decision: object, sentence: str) -> None:
    assert decision not in space
    with pytest.raises(ValueError) as refused:
        space.check(decision)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    "make",
    [
        lambda: BinaryVectors(0),
        lambda: BinaryVectors(2.5),  # type: ignore[arg-type]
        lambda: IntegerBox((0, 1), (1,)),
        lambda: IntegerBox((), ()),
        lambda: IntegerBox((2,), (1,)),
        lambda: OrderedIntegers(2, 3, 1),
        lambda: Words(0, (1,)),
        lambda: Words(2, ()),
        lambda: Policies((2, 0)),
        lambda: Policies(()),
        lambda: Splits(0, 3),
        lambda: Splits(2, -1),
        lambda: Splits(2, 1.5),  # type: ignore[arg-type]
        lambda: Simplex(0),
        lambda: Simplex(2, 0.0),
        lambda: Simplex(2, math.inf),
    ],
)
def test_a_space_that_cannot_be_is_refused_in_one_sentence(make: object) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]+\.$"):
        make()  # type: ignore[operator]


def test_splits_are_the_vectors_of_a_box_that_do_not_add_up_to_too_much() -> None:
    space = Splits(3, 5)
    assert list(space) == [values for values in product(range(6), repeat=3) if sum(values) <= 5]
    assert Splits(8, 60).size == math.comb(68, 8)


def test_a_neighbour_of_a_split_has_one_unit_more_or_less_or_elsewhere() -> None:
    space = Splits(3, 4)
    for decision in space:
        changes = [np.subtract(other, decision) for other in space]
        near = [change for change in changes if 1 <= abs(change).sum() <= 2 and abs(change).max() == 1]
        near = [change for change in near if abs(change).sum() == 1 or change.sum() == 0]
        expected = {tuple(np.add(decision, change).tolist()) for change in near}
        assert set(space.neighbours(decision)) == expected
        rng = generator(1)
        counts = Counter(space.neighbour(decision, rng) for _ in range(100 * len(expected)))
        assert set(counts) == expected and max(counts.values()) < 160


def test_a_split_that_adds_up_to_too_much_is_brought_down_evenly() -> None:
    assert Splits(3, 6).repair((5.2, 4.0, 0.2)) == (4, 2, 0)  # nearest with the total 6: 3.6, 2.4, 0
    assert Splits(3, 6).repair((100.0, 2.0, 2.0)) == (6, 0, 0)
    assert Splits(2, 10**6).repair((math.inf, math.nan)) == (10**6, 0)


# -- the continuum -----------------------------------------------------------------------------------------------------
