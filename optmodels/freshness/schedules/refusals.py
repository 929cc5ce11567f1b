"""Sentences of strategies that cannot do what a problem asks of visits."""

from __future__ import annotations

from typing import Protocol

from ..rules import Rules


class _Ruled(Protocol):
    """A problem that asks something of visits."""

    @property
    def name(self) -> str: ...
    @property
    def rules(self) -> Rules: ...


def refuses_gap(name: str, problem: _Ruled) -> str | None:
    """Say that a strategy keeps no gaps between visits to a host; ``None`` if none are asked for."""
    if problem.rules.gap <= 1:
        return None
    return (
        f"strategy {name!r} keeps no visits apart, and {problem.name!r} asks for {problem.rules.gap} slots between "
        "visits to a host; greedy and whittle do."
    )


def refuses_cycle(name: str, problem: _Ruled) -> str | None:
    """Say that a strategy makes no cycle of the length that is asked for; ``None`` if none is."""
    slots = problem.rules.cycle
    if slots is None:
        return None
    return (
        f"strategy {name!r} makes no cycle of {slots} slots, which {problem.name!r} asks for; greedy, whittle and "
        "regular do, and searches and highs look for better ones."
    )
