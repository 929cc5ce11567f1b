"""A word as a point of a model of circulations, and back."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pyomo.environ as pyo

from .constraints import Circulation


def read_slots(model: pyo.ConcreteModel) -> list[list[int]]:
    """Read the word of a solved model.

    Parameters
    ----------
    model
        With the variables of `declare_variables`, and values in them.

    Returns
    -------
    list of list of int
        The symbols visited in each slot.
    """
    slots: dict[int, list[int]] = {}
    for (m, t), variable in model.visit.items():
        visited = slots.setdefault(t, [])
        if round(pyo.value(variable)):
            visited.append(m)
    return [slots[t] for t in sorted(slots)]


def fill_in(
    model: pyo.ConcreteModel, words: Circulation, slots: Sequence[Collection[int]], order: Sequence[int]
) -> int:
    """Give visits, gaps and symbols used their values for a word, turned as `begin_with_first_used` has it.

    Parameters
    ----------
    model, words
        With the variables of `declare_variables`.
    slots
        The symbols visited in each slot.
    order
        That of `begin_with_first_used`, or none where words are not turned.

    Returns
    -------
    int
        The slot of the word that became slot 0.

    Raises
    ------
    ValueError
        If the word has a gap that is not in the model.
    """
    period = words.slots
    visited = [[t for t, held in enumerate(slots) if m in held] for m in range(words.symbols)]
    following = {
        (m, t): after + (period if after <= t else 0) - t
        for m, times in enumerate(visited)
        for t, after in zip(times, times[1:] + times[:1], strict=True)
    }
    first = next((m for m in order if visited[m]), None)
    turned = 0 if first is None else max(visited[first], key=lambda t: following[first, t])
    for variables in (model.visit, model.gap, model.used):
        for variable in variables.values():
            variable.set_value(0, skip_validation=True)
    for (m, t), gap in following.items():
        slot = (t - turned) % period
        if (m, slot, gap) not in model.gap:
            raise ValueError(f"symbol {m} has a gap of {gap} slots in this word, and none in the model.")
        model.visit[m, slot].set_value(1)
        model.gap[m, slot, gap].set_value(1)
        model.used[m].set_value(1)
    return turned
