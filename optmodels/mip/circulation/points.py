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


def gaps_of(words: Circulation, slots: Sequence[Collection[int]]) -> dict[tuple[int, int], int]:
    """Find the gaps of a word.

    Parameters
    ----------
    words, slots
        What words are made of, and the symbols visited in each slot.

    Returns
    -------
    dict
        By symbol and slot, for each visit how many slots later the next one comes.
    """
    found = {}
    for m in range(words.symbols):
        times = [t for t, held in enumerate(slots) if m in held]
        for t, after in zip(times, times[1:] + times[:1], strict=True):
            found[m, t] = after + (words.slots if after <= t else 0) - t
    return found


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
    period, following = words.slots, gaps_of(words, slots)
    first = next((m for m in order if any(m in held for held in slots)), None)
    begun = [t for m, t in following if m == first]
    turned = 0 if first is None else max(begun, key=lambda t: following[first, t])
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
