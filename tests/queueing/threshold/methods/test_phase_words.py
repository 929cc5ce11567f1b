"""Words of patience phases: compiled moves against the Kronecker products they stand for."""

from functools import reduce
from itertools import product

import numpy as np
import pytest

from queueing import PhaseType
from queueing.threshold.methods import (
    classes_of_words,
    plain_letters,
    reversed_letters,
    rotated,
    solve_level,
    triangular_letters,
    weights_of_words,
)
from queueing.threshold.methods.phase_words import add_letter, delete_letter, sum_of_words

LAWS = {
    "erlang": PhaseType.erlang(2, 0.9),
    "hyperexponential": PhaseType.hyperexponential([0.8, 0.2], [2.5, 0.1]),
    "general": PhaseType([0.3, 0.7], [[-1.5, 0.4], [0.1, -0.3]]),
    "upstream": PhaseType([0.0, 0.3, 0.7], [[-0.8, 0.0, 0.0], [0.6, -1.1, 0.0], [0.2, 0.9, -1.3]]),
    "circular": PhaseType([1.0, 0.0, 0.0], [[-1.0, 0.95, 0.0], [0.0, -1.0, 0.95], [0.9, 0.0, -1.0]]),
}
INNER = 3


def rates(name):
    law = LAWS[name]
    return law.initial, law.generator, law.exit_rates


def kron(parts):
    return reduce(np.kron, parts)


def all_changes(change, length):
    """The sum of `change` acting on each of `length` letters."""
    size = len(change)
    return sum(
        kron([np.eye(size)] * place + [change] + [np.eye(size)] * (length - 1 - place)) for place in range(length)
    )


def some_row(rng, count, kind):
    row = rng.standard_normal(count)
    return (row + 1j * rng.standard_normal(count) if kind is complex else row).astype(kind)


@pytest.mark.parametrize("name", LAWS)
def test_triangular_letters_are_the_same_law(name):
    start, generator, fading = rates(name)
    letters = triangular_letters(start, generator, fading)
    assert not np.tril(letters.change, -1).any()
    np.testing.assert_allclose(letters.rotation @ letters.change @ letters.rotation.conj().T, generator, atol=1e-13)
    np.testing.assert_allclose(letters.rotation @ letters.rotation.conj().T, np.eye(len(start)), atol=1e-14)
    power = np.eye(len(start))
    for _ in range(5):  # rates of obsolescence after some moves, and the mass that is left
        assert letters.start @ power @ letters.fading == pytest.approx(
            start @ (letters.rotation @ power @ letters.rotation.conj().T) @ fading, abs=1e-12
        )
        power = power @ letters.change
    assert letters.start @ letters.whole == pytest.approx(1.0, rel=1e-14)


def test_phases_never_met_again_are_only_put_in_order():
    letters = triangular_letters(*rates("upstream"))
    assert sorted(letters.rotation.ravel().tolist()) == [0.0] * 6 + [1.0] * 3
    assert (letters.change - np.diag(np.diag(letters.change)) >= 0).all() and (letters.start >= 0).all()


def test_only_complex_eigenvalues_need_complex_letters():
    kinds = {name: triangular_letters(*rates(name)).change.dtype.kind for name in LAWS}
    assert kinds == {name: "c" if name == "circular" else "f" for name in LAWS}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("length", range(5))
def test_classes_tell_words_by_the_number_of_each_letter(length, name):
    letters = triangular_letters(*rates(name))
    classes = classes_of_words(letters, length)
    words = list(product(range(letters.order), repeat=length))
    members = classes.members[length]
    assert len(members) == len(words)
    diagonal = np.diag(letters.change)
    for word, member in zip(words, members, strict=True):
        assert classes.shifts[length][member] == pytest.approx(sum(diagonal[letter] for letter in word), abs=1e-13)
    assert len({tuple(sorted(word)) for word in words}) == len(set(members.tolist())) == len(classes.shifts[length])


# 11 letters of two kinds and 7 of three are more than one run.
@pytest.mark.parametrize(
    ("name", "length"), [(n, k) for n in LAWS for k in (1, 2, 4)] + [("general", 11), ("upstream", 7)]
)
def test_a_letter_may_be_taken_out_at_any_place(name, length):
    letters = triangular_letters(*rates(name))
    order, kind = letters.order, letters.start.dtype.type
    rng = np.random.default_rng(length)
    row = some_row(rng, order**length * INNER, complex if kind is np.complex128 else float)
    found = np.ones(order ** (length - 1) * INNER, dtype=row.dtype)
    delete_letter(row, length, INNER, letters.fading, found)
    expected = np.ones_like(found)
    tensor = row.reshape(*[order] * length, INNER)
    for place in range(length):
        expected += np.tensordot(tensor, letters.fading, axes=([place], [0])).ravel()
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", LAWS)
def test_a_new_page_stands_in_front(name):
    start, generator, fading = rates(name)
    letters = plain_letters(start, generator, fading)
    row = np.random.default_rng(0).standard_normal(letters.order**2 * INNER)
    found = np.zeros(len(row) * letters.order)
    add_letter(row, len(row), letters.start, found)
    np.testing.assert_allclose(found, np.kron(start, row), rtol=1e-14)


@pytest.mark.parametrize("inner", [1, 3, 4])
@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("length", [0, 1, 3])
def test_a_level_is_solved_in_one_pass(length, name, inner):
    letters = triangular_letters(*rates(name))
    rng = np.random.default_rng(inner)
    block = -np.diag(rng.uniform(1, 2, inner)) + 0.1 * rng.random((inner, inner))
    classes = classes_of_words(letters, length)
    shifts = classes.shifts[length]
    inverses = np.linalg.inv(-block - shifts[:, np.newaxis, np.newaxis] * np.eye(inner))
    words = letters.order**length
    right = some_row(rng, words * inner, complex if letters.change.dtype.kind == "c" else float)
    found = right.copy()
    solve_level(found, length, inner, letters.change, classes.members[length], inverses.astype(found.dtype))
    moves = np.kron(np.eye(words), block)
    if length:
        moves = moves + np.kron(all_changes(letters.change, length), np.eye(inner))
    np.testing.assert_allclose(found @ -moves, right, atol=1e-11)


@pytest.mark.parametrize("name", LAWS)
def test_rows_turn_into_triangular_coordinates_and_keep_their_sums(name):
    start, generator, fading = rates(name)
    plain, letters = plain_letters(start, generator, fading), triangular_letters(start, generator, fading)
    row = np.random.default_rng(0).random(letters.order**3 * INNER)
    turned = rotated(letters, row, 3, INNER)
    for which in range(2):
        before = sum_of_words(weights_of_words(plain, 3)[which][3], row.reshape(-1, INNER))
        after = sum_of_words(weights_of_words(letters, 3)[which][3], turned.reshape(-1, INNER))
        np.testing.assert_allclose(after, before, rtol=1e-12)
    expected = row @ kron([letters.rotation] * 3 + [np.eye(INNER)])
    np.testing.assert_allclose(turned, expected, atol=1e-13)


@pytest.mark.parametrize("name", LAWS)
def test_columns_are_rows_of_reversed_letters(name):
    letters = triangular_letters(*rates(name))
    columns = reversed_letters(letters)
    assert not np.tril(columns.change, -1).any()
    forth, back = all_changes(letters.change, 3), all_changes(columns.change, 3)
    np.testing.assert_allclose(back, forth.T[::-1, ::-1], atol=1e-14)
