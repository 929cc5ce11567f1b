"""What the searches over discrete spaces share."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .evaluation import Decision
from .protocols import Incremental, Problem, Suggesting


def refuses_continuum(strategy: str, problem: Problem) -> str | None:
    """A sentence if the decisions of `problem` are a continuum, else ``None``."""
    if problem.space.size == math.inf:
        return f"strategy {strategy!r} takes discrete decisions only, and those of {problem.name!r} are a continuum."
    return None


def starting_points(problem: Problem, rng: np.random.Generator) -> Iterator[Decision]:
    """What the problem suggests, then random decisions without end."""
    if isinstance(problem, Suggesting):
        for decision in problem.suggestions(rng):
            yield problem.space.check(decision)
    while True:
        yield problem.space.sample(rng)


def warm_up(problem: Problem) -> None:
    """Take a few steps on an incremental problem, so that its walk is compiled before the clock starts."""
    if isinstance(problem, Incremental):
        rng = np.random.default_rng(0)
        walk = problem.start(problem.space.sample(rng))
        walk.follow(walk.draw(rng, 2), np.zeros(2), math.inf)
        walk.flip(0)


def require_fields(strategy: Any, **rules: tuple[bool, str]) -> None:
    """Raise one sentence for the first parameter whose rule does not hold."""
    for name, (holds, rule) in rules.items():
        if not holds:
            raise ValueError(f"{name} must be {rule}, got {getattr(strategy, name)!r}.")
