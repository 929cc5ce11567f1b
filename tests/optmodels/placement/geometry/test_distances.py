"""Ranks and levels of distances."""

import numpy as np
import pytest

from optmodels.placement.geometry import DistanceMatrix, dense_ranks
from optmodels.placement.layout import Grid, Network


@pytest.mark.parametrize("seed", range(5))
def test_ranks_count_the_different_numbers_that_are_smaller(seed):
    rows = np.random.default_rng(seed).integers(0, 6, (7, 9)) * 0.1
    ranks, values = dense_ranks(rows)
    for row, told, listed in zip(rows.tolist(), ranks.tolist(), values.tolist(), strict=True):
        assert told == [1 + len({other for other in row if other < number}) for number in row]
        assert [listed[rank - 1] for rank in told] == row
        assert listed[max(told) :] == [np.inf] * (len(listed) - max(told))


def test_steps_are_their_own_ranks_and_levels():
    for layout in (Grid(3, 4), Network(3, ((0, 1), (1, 2)))):
        assert layout.ranks is layout.levels is layout.distances
        assert layout.lengths.tolist() == [list(range(layout.distances.max() + 1))]
        assert layout.anchors.tolist() == list(range(layout.sites))


def test_lengths_and_reaches_lead_back_to_the_distances():
    matrix = np.random.default_rng(0).integers(1, 5, (4, 6)) * 1.5
    layout = DistanceMatrix(matrix)
    for site in range(4):
        assert matrix[site, layout.anchors[site]] == matrix[site].min()
        for cell in range(6):
            assert layout.lengths[cell, layout.ranks[cell, site]] == matrix[site, cell]
            assert layout.reaches[site, layout.levels[site, cell] - 1] == matrix[site, cell]


def test_lengths_of_a_network_are_those_of_shortest_paths():
    ring = Network(4, ((0, 1), (1, 2), (2, 3), (3, 0), (0, 1)), None, (0.1, 0.2, 0.3, 5.0, 9.0))
    assert ring.distances == pytest.approx(
        np.array([[0, 0.1, 0.3, 0.6], [0.1, 0, 0.2, 0.5], [0.3, 0.2, 0, 0.3], [0.6, 0.5, 0.3, 0]])
    )
    assert ring.distances[0, 2] == ring.distances[2, 3]  # 0.1 + 0.2 and 0.3
    assert (ring.distances == ring.distances.T).all()
    assert ring.to_data()["network"]["edges"][4] == [0, 1, 9.0]
