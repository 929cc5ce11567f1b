"""Ranks against scipy, and against the worked example of Demšar (2006)."""

import math

import numpy as np
import pytest
from scipy.stats import friedmanchisquare, rankdata

from optmodels.errors import RequestError
from optmodels.statistics import critical_difference, rank_strategies

# Demšar (2006), table 6: AUC of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf on 14 data sets (higher is better).
DEMSAR = [
    [0.763, 0.768, 0.771, 0.798], [0.599, 0.591, 0.590, 0.569], [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657], [0.882, 0.888, 0.886, 0.898], [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685], [0.583, 0.583, 0.563, 0.625], [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000], [0.940, 0.962, 0.965, 0.962], [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.9751, 0.975], [0.957, 0.978, 0.946, 0.970],
]  # fmt: skip


def test_the_example_of_demsar():
    ranking = rank_strategies(-np.array(DEMSAR))
    assert [round(rank, 3) for rank in ranking.mean_ranks] == [3.143, 2.0, 2.893, 1.964]
    assert critical_difference(4, 14, 0.05) == pytest.approx(1.25, abs=0.005)
    assert critical_difference(4, 14, 0.10) == pytest.approx(1.12, abs=0.005)


@pytest.mark.parametrize("seed", range(8))
def test_friedman_agrees_with_scipy(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, (12, 4)).astype(float) if seed % 2 else rng.normal(0, 10.0**seed, (9, 3))
    ranking = rank_strategies(values)
    assert ranking.p_value == pytest.approx(friedmanchisquare(*values.T).pvalue, rel=1e-9)
    assert ranking.mean_ranks == pytest.approx(tuple(np.mean([rankdata(row) for row in values], axis=0)))


def test_degenerate_rankings():
    assert rank_strategies(np.empty((0, 2))).instances == 0
    assert all(map(math.isnan, rank_strategies(np.empty((0, 2))).mean_ranks))
    assert rank_strategies([[1.0, 2.0]]).p_value is None
    assert rank_strategies([[1.0, 1.0], [2.0, 2.0]]).p_value is None  # all tie
    gone = rank_strategies([[1.0, math.nan], [math.inf, 2.0], [1.0, 2.0]])
    assert (gone.instances, gone.mean_ranks) == (2, (1.5, 1.5))


def test_what_makes_no_sense_is_refused():
    with pytest.raises(RequestError, match="got 1 dimensions"):
        rank_strategies([1.0, 2.0])
    with pytest.raises(RequestError, match="got 1 and 5"):
        critical_difference(1, 5)
