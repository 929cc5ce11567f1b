"""Threshold vectors, the steps between policies that are alike, and policies that see more than the level."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from heuristics.spaces import OrderedIntegers


class StatePolicy(Mapping[str, tuple[int, ...]]):
    """The decision ``{"policy": [mode index of each state]}``: a mapping that can be hashed and never changes."""

    __slots__ = ("modes",)

    def __init__(self, modes: tuple[int, ...]) -> None:
        self.modes = modes

    def __getitem__(self, key: str) -> tuple[int, ...]:
        if key != "policy":
            raise KeyError(key)
        return self.modes

    def __iter__(self) -> Iterator[str]:
        return iter(("policy",))

    def __len__(self) -> int:
        return 1

    def __hash__(self) -> int:
        return hash(("policy", self.modes))

    def __repr__(self) -> str:
        return f"{{'policy': {list(self.modes)}}}"

    def __reduce__(self) -> tuple[Any, ...]:
        return StatePolicy, (self.modes,)


@dataclass(frozen=True)
class Thresholds(OrderedIntegers):
    """All non-decreasing vectors of thresholds.

    A policy that names a mode for each state is a decision too, but not one that is listed, counted or walked to:
    ``{"policy": [mode index of each state]}``, of one of the lengths in `policy_lengths`.

    Neighbours differ by 1 in one entry, or in several equal ones that stand together: a mode that is switched off
    between two equal thresholds stays off when these move together, so that policies of few modes have each other as
    neighbours.
    """

    policy_lengths: tuple[int, ...] = ()

    def check(self, decision: Any) -> Any:
        """Return the decision in canonical form: a tuple of thresholds, or a `StatePolicy`."""
        if not isinstance(decision, Mapping):
            return super().check(decision)
        if set(decision) != {"policy"}:
            raise ValueError('a decision is a list of thresholds or {"policy": [mode index of each state]}.')
        return StatePolicy(self._modes(decision["policy"]))

    def lists(self, decision: Any) -> bool:
        """Tell whether a decision is one of those that the space lists; policies by state go beyond them."""
        return not isinstance(decision, Mapping)

    def _modes(self, policy: Any) -> tuple[int, ...]:
        try:
            modes = tuple(operator.index(mode) for mode in policy)
        except TypeError:
            raise ValueError("a policy is a list of whole numbers, the mode index of each state.") from None
        if len(modes) not in self.policy_lengths:
            wanted = " or ".join(str(length) for length in self.policy_lengths)
            raise ValueError(f"a policy names a mode for each of {wanted or 'no'} states, but {len(modes)} came.")
        for state, mode in enumerate(modes):
            if isinstance(policy[state], bool) or not 0 <= mode <= self.length:
                raise ValueError(f"policy[{state}] is {policy[state]}; modes are numbered from 0 to {self.length}.")
        return modes

    def neighbour(self, decision: tuple[int, ...], rng: np.random.Generator) -> tuple[int, ...]:
        """Draw any neighbour, equally likely; the decision itself if there is none."""
        around = list(self.neighbours(decision))
        return around[int(rng.integers(len(around)))] if around else decision

    def neighbours(self, decision: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Lower each entry and its equals before it by 1, and raise it and its equals after it by 1."""
        for position, value in enumerate(decision):
            first = decision.index(value)
            last = len(decision) - decision[::-1].index(value)
            if value > self.lower:
                moved = position + 1 - first
                yield (*decision[:first], *[value - 1] * moved, *decision[position + 1 :])
            if value < self.upper:
                yield (*decision[:position], *[value + 1] * (last - position), *decision[last:])
