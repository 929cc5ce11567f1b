"""The walk that evaluates every step in full goes where a cheap walk goes."""

from __future__ import annotations

import numpy as np
import pytest

from heuristics.search import EvaluatedWalk
from heuristics.testing import Ring


def test_flips_change_the_price_by_what_they_say_and_undo_themselves() -> None:
    ring, rng = Ring(), np.random.default_rng(1)
    walk = EvaluatedWalk(ring, (1, 0, 1, 0, 1, 0, 1, 0, 1))
    for index in rng.integers(9, size=40).tolist():
        here, before = walk.current, walk.penalised
        change = walk.flip(index)
        assert walk.penalised == pytest.approx(before + change)
        assert walk.feasible == ring.evaluate(walk.current).feasible
        assert sum(a != b for a, b in zip(here, walk.current, strict=True)) == 1
        walk.flip(index)
        assert walk.current == here
        walk.flip(index)


def test_the_same_moves_lead_to_the_same_place_on_both_walks() -> None:
    ring, rng = Ring(), np.random.default_rng(2)
    slow, quick = EvaluatedWalk(ring, (1,) * 9), ring.start((1,) * 9)
    moves, tolerances = slow.draw(rng, 300), rng.exponential(1.0, 300)
    assert ((moves[:, 0] != moves[:, 1]) & (moves[:, 0] >= 0)).all()
    one, other = slow.follow(moves, tolerances, np.inf), quick.follow(moves, tolerances, np.inf)
    assert slow.current == quick.current and (one.kept, one.best) == (other.kept, other.best)
    assert one.lowest == pytest.approx(other.lowest) == ring.evaluate(one.best).objective
    nothing = slow.follow(moves[:20], tolerances[:20], -np.inf)
    assert nothing.best is None and nothing.lowest is None
