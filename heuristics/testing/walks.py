"""A check that a walk of small steps agrees with the evaluator: for our own tests and for third parties."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..protocols import Decision, Incremental, Problem
from ..result import agree
from .spaces import is_same


def check_walk(problem: Incremental, start: Decision, rng: np.random.Generator, steps: int) -> None:
    """Assert that a walk agrees with the evaluator at every step, and that flipping twice returns.

    Parameters
    ----------
    problem
        Whose walk is tried.
    start
        Decision from which it sets out.
    rng
        Draws the moves.
    steps
        How many moves.

    Raises
    ------
    AssertionError
        With a sentence on the first rule that is broken.

    Examples
    --------
    >>> from heuristics.testing import Ring
    >>> ring = Ring()
    >>> rng = np.random.default_rng(0)
    >>> check_walk(ring, ring.space.sample(rng), rng, 10)
    """
    walk = problem.start(start)
    assert is_same(walk.current, start), f"a walk from {start} stands on {walk.current}."
    moves = walk.draw(rng, steps)
    for move in moves:
        for index in (int(i) for i in move if i >= 0):
            before, level = walk.current, walk.penalised
            change = walk.flip(index)
            _assert_step(problem, walk, f"after flip {index} of {before}")
            assert agree(level + change, walk.penalised), (
                f"flip {index} of {before} reports {change}, not the change it makes."
            )
    here, level = walk.current, walk.penalised
    if len(moves):
        index = int(moves[0][0])
        walk.flip(index)
        walk.flip(index)
        assert is_same(walk.current, here) and agree(walk.penalised, level), f"flipping {index} twice does not return."
        followed = walk.follow(walk.draw(rng, steps), np.full(steps, np.inf), math.inf)
        _assert_step(problem, walk, "after following moves")
        if followed.best is not None:
            judged = problem.evaluate(problem.space.check(followed.best))
            lowest = followed.lowest
            fits = judged.feasible and lowest is not None and agree(judged.objective, lowest)
            assert fits, f"follow calls {followed.best} the best with {lowest}, the evaluator finds {judged.objective}."


def _assert_step(problem: Problem, walk: Any, when: str) -> None:
    judged = problem.evaluate(problem.space.check(walk.current))
    assert judged.feasible == walk.feasible, (
        f"{when} the walk says feasible: {walk.feasible}, the evaluator {judged.feasible}."
    )
    same = agree(judged.penalised, walk.penalised)
    assert same, f"{when} the walk stands at {walk.penalised}, the evaluator at {judged.penalised}."
