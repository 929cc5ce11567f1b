"""The rivals of the robot benchmarks are the paper's iteration, number by number, and no weaker."""

import numpy as np
import pytest
from robots_paper import paper_iteration
from robots_sparse import sparse_iteration, sparse_operator


@pytest.mark.parametrize("formulation", ["two", "stacked", "differing", "shared", "in place"])
@pytest.mark.parametrize("certified", [False, True])
def test_each_way_makes_the_same_iterations(formulation, certified):
    rng = np.random.default_rng(31)
    for _ in range(4):
        robots, capacity = int(rng.integers(2, 20)), int(rng.integers(2, 9))
        case = (robots, capacity, *rng.uniform(0.1, 1.0, 2), float(rng.uniform(0.3, 3.0)))
        asked = {"tolerance": 1e-6, "certified": certified}
        exact = paper_iteration(*case, **asked)
        found = sparse_iteration(sparse_operator(formulation, *case), **asked)
        assert found.iterations == exact.iterations
        for name in ("cost", "lower", "upper"):
            assert getattr(found, name) == pytest.approx(getattr(exact, name), rel=1e-12)
        assert (found.policy == exact.policy).all()


def test_the_figures_stop_where_the_paper_says():
    found = sparse_iteration(sparse_operator("two", 16, 5, 0.1, 1.0, 1.0))
    assert found.iterations == 254
    assert found.cost == pytest.approx(0.20907, abs=5e-6)
