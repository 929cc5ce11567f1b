"""GMRES for x = F x: stochastic matrices, complex ones, restarts, and starts that are solutions."""

import numpy as np
import pytest

from queueing.threshold.methods import fixed_point


def random_map(seed, size, turned):
    """A matrix with eigenvalue 1, and a vector that it keeps."""
    rng = np.random.default_rng(seed)
    matrix = rng.random((size, size)) ** 6
    matrix /= matrix.sum(axis=0)
    values, vectors = np.linalg.eig(matrix)
    kept = vectors[:, np.argmax(values.real)].real
    if not turned:
        return matrix, kept
    rotation = np.linalg.qr(rng.standard_normal((size, size)) + 1j * rng.standard_normal((size, size)))[0]
    return rotation @ matrix @ rotation.conj().T, rotation @ kept


def aligned(x, kept):
    factor = np.vdot(kept, x) / np.vdot(kept, kept)
    return np.linalg.norm(x / factor - kept) / np.linalg.norm(kept)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("size", "window"), [(5, 24), (60, 24), (200, 6)])
def test_the_kept_vector_is_found(size, window, turned):
    matrix, kept = random_map(size, size, turned)
    start = (kept + 0.3 * np.random.default_rng(0).random(size)).astype(matrix.dtype)
    found = fixed_point(lambda x: matrix @ x, start, coarse=1e-10, fine=1e-12, window=window, steps=400)
    assert aligned(found.fine, kept) < 1e-10
    assert found.residuals[1] <= 1e-12
    true = np.linalg.norm(matrix @ found.coarse - found.coarse) / np.linalg.norm(found.coarse)
    assert found.residuals[0] == pytest.approx(true, rel=0.1)  # the basis is not quite orthogonal
    assert found.residuals[0] > 1e-10 and aligned(found.coarse, kept) > aligned(found.fine, kept)


def test_a_start_that_is_a_solution_stays():
    matrix, kept = random_map(1, 20, False)
    found = fixed_point(lambda x: matrix @ x, kept, coarse=1e-10, fine=1e-12, window=10, steps=50)
    assert aligned(found.fine, kept) < 1e-13 and found.residuals[1] < 1e-12


def test_one_number_is_kept_whatever_rounding_says():
    for share in (1.0, 1 + 1e-15, 1 - 3e-15):
        found = fixed_point(lambda x, share=share: share * x, np.ones(1), coarse=1e-10, fine=1e-12, window=5, steps=50)
        assert found.fine[0] == pytest.approx(1.0, abs=1e-13)


def test_steps_are_counted():
    matrix, _ = random_map(3, 100, False)
    calls = []

    def apply(x):
        calls.append(1)
        return matrix @ x

    fixed_point(apply, np.ones(100), coarse=1e-300, fine=1e-300, window=4, steps=9)
    assert len(calls) <= 10
