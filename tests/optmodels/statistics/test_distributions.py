"""Distribution functions against counting."""

import numpy as np
import plain_statistics as plain
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optmodels.errors import RequestError
from optmodels.statistics import distribution_of

times = st.one_of(st.sampled_from([0.0, 1.0, 2.0, np.inf]), st.floats(0.0, 1e300), st.floats(0.0, 1e-300))


@given(st.lists(times, max_size=12), st.lists(times, max_size=5))
def test_shares_are_counted(values, asked):
    done = distribution_of(values)
    for x in [*asked, *[value for value in values if value < np.inf]]:
        if x < np.inf:
            assert done.at(x) == plain.share_within(values, x)
    assert done.final == (np.mean(np.isfinite(values)) if values else 0.0)
    assert done.count == len(values)
    assert (np.diff(done.points) > 0).all() and (np.diff(done.shares) > 0).all()


def test_nothing_has_no_steps():
    empty = distribution_of([])
    assert (empty.final, empty.count, empty.at([0.0, 1e9]).tolist()) == (0.0, 0, [0.0, 0.0])
    assert [len(axis) for axis in empty.steps(5.0)] == [0, 0]


def test_corners_of_the_line():
    x, y = distribution_of([1.0, 3.0, 3.0, np.inf]).steps(5.0)
    assert x.tolist() == [1.0, 1.0, 3.0, 3.0, 5.0]
    assert y.tolist() == [0.0, 0.25, 0.25, 0.75, 0.75]
    x, y = distribution_of([1.0, 3.0]).steps(2.0)
    assert (x.tolist(), y.tolist()) == ([1.0, 1.0, 2.0], [0.0, 0.5, 0.5])


def test_what_is_no_number_is_refused():
    with pytest.raises(RequestError, match="got nan"):
        distribution_of([1.0, np.nan])
