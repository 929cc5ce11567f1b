"""Solution files: what is known of the instances of a set, who showed it, and when.

Beside ``small.toml`` stands ``small.solutions.toml``, as MIPLIB has its solution file::

    format = 1
    set = "small"

    [[solution]]
    instance = "gautam-4x4"
    status = "optimal"
    value = 11.0
    by = "exhaustive, optmodels 0.1.0"
    proved_by = "exhaustive, optmodels 0.1.0"
    when = 2026-11-18
    decision = [0,1,0,0]

``optimal`` has a value and names who proved it, ``feasible`` has a value (and perhaps a bound), ``infeasible`` names
who proved it, ``unknown`` has neither. Without a decision, that of the shipped instance is meant. A value is a claim:
it is used only where the evaluator finds it again (`check_solution`).
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from heuristics import Evaluation, Problem

from ..errors import InstanceError, MissingField
from ..instance import BestKnown, Instance, check_best_known
from .sets import BenchmarkSet, check_head, number_of, read_set, read_toml, refuse_others, text_of

#: What can be known of an instance.
STATUSES = ("optimal", "feasible", "infeasible", "unknown")

#: Longer decisions, in characters, are not kept in a solution file; the strategy that found one finds it again.
LONGEST_DECISION = 6_000

_FIELDS = ("instance", "status", "value", "bound", "by", "proved_by", "when", "decision")


@dataclass(frozen=True)
class Solution:
    """What is known of an instance.

    Parameters
    ----------
    instance
        Name in the set.
    status
        ``"optimal"``, ``"feasible"``, ``"infeasible"`` or ``"unknown"``.
    value, bound
        The lowest objective that anybody has shown, and what nothing lies below.
    by, proved_by
        Strategy or solver with its version: who found the value, and who proved that there is no lower one.
    when
        Day on which the entry was written.
    decision
        The decision with this value; ``None``: that of the instance file, or one that is too long to be kept.
    """

    instance: str
    status: str = "unknown"
    value: float | None = None
    bound: float | None = None
    by: str | None = None
    proved_by: str | None = None
    when: date | None = None
    decision: list[Any] | dict[str, Any] | None = None

    @property
    def proved(self) -> bool:
        """Whether nothing better can exist."""
        return self.status in ("optimal", "infeasible")

    def best_known(self, instance: Instance) -> BestKnown | None:
        """Say it as an instance file says it; a decision that is not kept here is taken from there.

        Parameters
        ----------
        instance
            That the solution belongs to.

        Returns
        -------
        BestKnown or None
            ``None`` if no value is known.
        """
        if self.value is None:
            return None
        own = instance.best_known
        decision = self.decision
        if decision is None and own is not None:
            decision = own.decision
        return BestKnown(
            objective=self.value, decision=decision, proved=self.proved, by=self.by or self.proved_by, bound=self.bound
        )


def read_solutions(chosen: BenchmarkSet, path: str | os.PathLike[str] | None = None) -> dict[str, Solution]:
    """Read the solution file of a set.

    Parameters
    ----------
    chosen
        The set.
    path
        Another file than the one beside the set.

    Returns
    -------
    dict of str to Solution
        For each instance of the set, in its order; ``unknown`` where the file says nothing.

    Raises
    ------
    InstanceError
        If the file is none, or speaks of another set; the sentence names file, field, value and rule.
    """
    file = chosen.solution_file if path is None else Path(path)
    known: dict[str, Solution] = {}
    if file is not None and (path is not None or file.is_file()):
        try:
            known = _solutions_of(read_toml(file), chosen)
        except InstanceError as failure:
            raise (failure if failure.file else failure.at(os.fspath(file))) from None
    return {member.name: known.get(member.name, Solution(member.name)) for member in chosen.members}


def known_instances(name: str) -> list[Instance]:
    """Read the instances of a shipped set, each with what the solution file knows of it.

    Parameters
    ----------
    name
        Of the set.

    Returns
    -------
    list of Instance
        In the order of the set; whoever uses a best-known value confirms it first.
    """
    chosen = read_set(name)
    known = read_solutions(chosen)
    return [one.model_copy(update={"best_known": known[one.name].best_known(one)}) for one in chosen.instances()]


def check_solution(solution: Solution, instance: Instance, problem: Problem) -> Evaluation | None:
    """Evaluate the decision of a solution, and hold its value against what comes out.

    Parameters
    ----------
    solution, instance, problem
        The claim, and what it is about.

    Returns
    -------
    Evaluation or None
        ``None`` if nothing is claimed, or no decision is kept that could confirm it.

    Raises
    ------
    InstanceError
        If the evaluator finds another value, or a constraint that is not kept.
    """
    known = solution.best_known(instance)
    return None if known is None or known.decision is None else check_best_known(known, problem)


def solutions_text(name: str, solutions: Sequence[Solution]) -> str:
    """Write a solution file.

    Parameters
    ----------
    name
        Of the set.
    solutions
        One per instance, in the order of the set.

    Returns
    -------
    str
        TOML that `read_solutions` reads back.
    """
    head = (
        f'# What is known of the set "{name}"; see docs/guide/benchmark-sets.md.\nformat = 1\nset = {_quoted(name)}\n'
    )
    return head + "".join(f"\n[[solution]]\n{_entry(solution)}" for solution in solutions)


def patch_text(chosen: BenchmarkSet, solutions: Mapping[str, Solution]) -> str:
    """Write what would change in the solution file of a set as a unified diff; nothing is changed.

    Parameters
    ----------
    chosen
        The set.
    solutions
        By instance, what is known now.

    Returns
    -------
    str
        For ``git apply`` or ``patch -p1``; empty if nothing changes.
    """
    file = chosen.solution_file
    assert file is not None  # sets are read from files
    before = file.read_text(encoding="utf-8") if file.is_file() else ""
    after = solutions_text(chosen.name, [solutions[member.name] for member in chosen.members])
    shown = f"instances/sets/{file.name}"
    old = f"a/{shown}" if before else "/dev/null"
    lines = difflib.unified_diff(before.splitlines(keepends=True), after.splitlines(keepends=True), old, f"b/{shown}")
    return "".join(lines)


def kept_decision(decision: Any) -> list[Any] | dict[str, Any] | None:
    """Take a decision into a solution file, unless it is too long.

    Parameters
    ----------
    decision
        As JSON has it.

    Returns
    -------
    list or dict or None
        The decision, ``None`` if it is not kept.
    """
    fits = isinstance(decision, (list, dict)) and len(_value(decision)) <= LONGEST_DECISION
    return decision if fits else None


# -- reading ----------------------------------------------------------------------------------------------------------


def _solutions_of(content: Mapping[str, Any], chosen: BenchmarkSet) -> dict[str, Solution]:
    check_head(content, ("format", "set", "solution"))
    if text_of(content, "set") != chosen.name:
        raise InstanceError("set", content["set"], f"the file beside the set {chosen.name!r} names it.")
    entries = content.get("solution", [])
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise InstanceError("solution", entries, "solutions are tables [[solution]].")
    names = {member.name for member in chosen.members}
    found: dict[str, Solution] = {}
    for index, entry in enumerate(entries):
        place = f"solution[{index}]."
        solution = _solution_of(entry, place)
        if solution.instance not in names:
            raise InstanceError(place + "instance", solution.instance, f"the set {chosen.name!r} has no such instance.")
        if solution.instance in found:
            raise InstanceError(place + "instance", solution.instance, "each instance has one solution at most.")
        found[solution.instance] = solution
    return found


def _solution_of(entry: Mapping[str, Any], place: str) -> Solution:
    refuse_others(entry, _FIELDS, place)
    status = text_of(entry, "status", place)
    if status not in STATUSES:
        raise InstanceError(place + "status", status, f"it is one of {', '.join(STATUSES)}.")
    value, bound = number_of(entry, "value", place), number_of(entry, "bound", place)
    if status in ("optimal", "feasible") and value is None:
        raise MissingField(place + "value", f"a solution that is {status} has a value.")
    if status in ("infeasible", "unknown") and value is not None:
        raise InstanceError(place + "value", value, f"a solution that is {status} has none.")
    if value is not None and bound is not None and bound > value + 1e-9 * abs(value):
        raise InstanceError(place + "bound", bound, f"it is at most the value, {value!r}.")
    proved_by = text_of(entry, "proved_by", place) if "proved_by" in entry else None
    if status in ("optimal", "infeasible") and proved_by is None:
        raise MissingField(place + "proved_by", f"a solution that is {status} says who proved it.")
    when = entry.get("when")
    if type(when) is not date and (when is not None or status != "unknown"):
        raise InstanceError(place + "when", when, "it is a day such as 2026-11-18, without quotation marks.")
    decision = entry.get("decision")
    if decision is not None and not isinstance(decision, (list, dict)):
        raise InstanceError(place + "decision", decision, "it is a list or a table, as in an instance file.")
    by = text_of(entry, "by", place) if "by" in entry else None
    return Solution(text_of(entry, "instance", place), status, value, bound, by, proved_by, when, decision)


# -- writing ----------------------------------------------------------------------------------------------------------


def _entry(solution: Solution) -> str:
    lines = []
    for name in _FIELDS:
        value = getattr(solution, name)
        if value is not None:
            lines.append(f"{name} = {_value(value)}\n")
    return "".join(lines)


def _value(value: Any) -> str:
    """Write a value as TOML; lists in one line, without blanks, so that a line of a patch is a decision."""
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_quoted(str(key))} = {_value(one)}" for key, one in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(_value(one) for one in value) + "]"
    return json.dumps(value, allow_nan=False)  # numbers and truth values are the same in TOML


def _quoted(text: str) -> str:
    """Quote a text; escapes of JSON are escapes of TOML, but for DEL, which names do not have."""
    return json.dumps(text, ensure_ascii=False)
