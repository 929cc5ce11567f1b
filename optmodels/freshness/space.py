"""What can be decided about visits: frequencies evenly spaced, frequencies drawn at random, or a cycle of pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heuristics.spaces import Simplex

Vector = NDArray[np.float64]
Cycle = NDArray[np.int64]

#: In a cycle: a slot without a visit, as long as an access.
IDLE = -1

#: The forms of a decision that are objects, and what may stand beside.
FORMS = {
    frozenset({"schedule"}): "schedule",
    frozenset({"schedules"}): "schedules",
    frozenset({"randomized"}): "randomized",
    frozenset({"randomized", "robot"}): "randomized",
}

RULE = (
    'a decision is a list of frequencies, {"randomized": [frequency, ...]} or {"schedule": [page, ...]} '
    '({"schedules": [[page, ...], ...]} for several robots).'
)


class Visits(Mapping[str, Any]):
    """A decision that is an object: a mapping to read-only arrays that can be hashed and never changes.

    Made by `VisitPlans.check`, which has seen that its numbers make sense.
    """

    __slots__ = ("checked", "entries")

    def __init__(self, entries: Mapping[str, Any], checked: tuple[int, int]) -> None:
        self.entries = dict(entries)
        self.checked = checked

    @property
    def form(self) -> str:
        """``"randomized"``, ``"schedule"`` or ``"schedules"``."""
        return next(iter(self.entries))

    @property
    def cycles(self) -> tuple[Cycle, ...]:
        """The cycle of every robot."""
        return self.entries["schedules"] if self.form == "schedules" else (self.entries["schedule"],)

    @property
    def frequencies(self) -> Vector:
        """Visits of each page per slot."""
        if self.form == "randomized":
            return np.asarray(self.entries["randomized"])
        pages = self.checked[0]
        shares = [np.bincount(cycle[cycle >= 0], minlength=pages) / len(cycle) for cycle in self.cycles]
        return np.asarray(np.sum(shares, axis=0))

    @property
    def idle(self) -> float:
        """Slots without a visit per slot, of all robots together; of draws it is not counted."""
        return 0.0 if self.form == "randomized" else float(sum((cycle < 0).mean() for cycle in self.cycles))

    def __getitem__(self, key: str) -> Any:
        return self.entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Visits):
            return NotImplemented
        return list(self.entries) == list(other.entries) and self._bytes() == other._bytes()

    def __hash__(self) -> int:
        return hash((tuple(self.entries), *self._bytes()))

    def __repr__(self) -> str:
        return repr({key: _listed(value) for key, value in self.entries.items()})

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.entries, self.checked)

    def _bytes(self) -> list[bytes]:
        parts: list[bytes] = []
        for value in self.entries.values():
            parts += [one.tobytes() for one in (value if isinstance(value, tuple) else (value,))]
        return parts


class VisitPlans(Simplex):
    """Frequencies of so many pages visited by so many robots: a continuum; and cycles that realise some of them.

    Frequencies are visits per slot, zero or more. What they add up to, and which shares of hosts they make, is left
    to the evaluator: a vector that misses its total is a decision, but not a feasible one. Several robots have a cycle
    each, and no page stands in two of them; frequencies drawn at random may name the robot of each page.
    """

    @property
    def pages(self) -> int:
        """How many pages there are."""
        return self.length

    @property
    def robots(self) -> int:
        """How many robots visit them, to which frequencies add up."""
        return int(self.total)

    def check(self, decision: Any) -> Any:
        """Frequencies as a tuple, or as a read-only array if they are many; objects as `Visits`."""
        if isinstance(decision, Visits) and decision.checked == (self.pages, self.robots):
            return decision
        if not isinstance(decision, Mapping):
            return self._point(self._frequencies(decision, "entry {}"))
        form = FORMS.get(frozenset(decision))
        if form is None:
            raise ValueError(RULE)
        if form == "randomized":
            entries = {"randomized": _frozen(self._frequencies(decision["randomized"], "randomized[{}]"))}
            if "robot" in decision:
                entries["robot"] = _frozen(self._owners(decision["robot"]))
            return Visits(entries, (self.pages, self.robots))
        return Visits(self._schedules(decision, form), (self.pages, self.robots))

    def neighbour(self, decision: Any, rng: np.random.Generator) -> Any:
        """Move a random part of the frequency of one page to another page; objects have no neighbour."""
        return decision if isinstance(decision, Mapping) else super().neighbour(decision, rng)

    def crossover(self, first: Any, second: Any, rng: np.random.Generator) -> tuple[Any, Any]:
        """Find two points between the parents; objects stay as they are."""
        if isinstance(first, Mapping) or isinstance(second, Mapping):
            return first, second
        return super().crossover(first, second, rng)

    # -- inside -------------------------------------------------------------------------------------------------------

    def _frequencies(self, values: Any, place: str) -> Vector:
        array = _numbers(values, "frequencies are a list of numbers.").astype(np.float64, copy=False)
        if len(array) != self.pages:
            raise ValueError(f"{len(array)} frequencies are given; each of the {self.pages} pages needs one.")
        wrong = ~(np.isfinite(array) & (array >= 0))
        if wrong.any():
            position = int(np.argmax(wrong))
            where = place.format(position)
            raise ValueError(f"{where} is {float(array[position])!r}; frequencies are numbers, zero or more.")
        return array

    def _owners(self, values: Any) -> Cycle:
        owners = _indices(values, "robot", self.robots, "robots")
        if len(owners) != self.pages:
            raise ValueError(f"robot has {len(owners)} entries; each of the {self.pages} pages needs one.")
        return owners

    def _schedules(self, decision: Mapping[str, Any], form: str) -> dict[str, Any]:
        listed = [decision["schedule"]] if form == "schedule" else decision["schedules"]
        if isinstance(listed, (str, bytes, Mapping)) or not hasattr(listed, "__len__"):
            raise ValueError("schedules are a list of cycles, one for each robot.")
        if len(listed) != self.robots:
            raise ValueError(f"{len(listed)} schedules are given; each of the {self.robots} robots needs one.")
        names = ["schedule"] if form == "schedule" else [f"schedules[{robot}]" for robot in range(self.robots)]
        cycles = tuple(
            _frozen(_indices(cycle, name, self.pages, "pages", IDLE)) for name, cycle in zip(names, listed, strict=True)
        )
        if self.robots == 1:
            return {"schedule": cycles[0]}
        owner = np.full(self.pages, -1, dtype=np.int64)
        for robot, cycle in enumerate(cycles):
            seen = np.unique(cycle[cycle >= 0])
            taken = seen[owner[seen] >= 0]
            if len(taken):
                page, other = int(taken[0]), int(owner[taken[0]])
                raise ValueError(f"page {page} stands in schedules {other} and {robot}; a page has one robot.")
            owner[seen] = robot
        return {"schedules": cycles}


def padded(cycle: Cycle, slots: int | None) -> Cycle:
    """Add slots without a visit to a cycle that gaps of hosts made shorter than is asked for."""
    short = 0 if slots is None else slots - len(cycle)
    return np.concatenate([cycle, np.full(short, IDLE)]) if short > 0 else cycle


def _restored(entries: Mapping[str, Any], checked: tuple[int, int]) -> Visits:
    """Restore a decision that travelled between processes; arrays forget on the way that they are read-only."""
    return Visits(
        {
            key: tuple(map(_frozen, value)) if isinstance(value, tuple) else _frozen(value)
            for key, value in entries.items()
        },
        checked,
    )


def _numbers(values: Any, rule: str) -> NDArray[Any]:
    """Make an array of a flat list of numbers, or tell `rule`."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):  # rows of different lengths
        raise ValueError(rule) from None
    if array.ndim != 1 or array.dtype.kind not in "iuf":
        raise ValueError(rule)
    return np.ascontiguousarray(array)


def _indices(values: Any, name: str, count: int, noun: str, least: int = 0) -> Cycle:
    """Make an array of numbers of pages or robots, one at least; `least` is 0, or `IDLE` where slots may be idle."""
    found = _numbers(values, f"{name} is a list of whole numbers: {noun}, numbered from 0 to {count - 1}.")
    if len(found) == 0:
        raise ValueError(f"{name} is empty; it needs one entry at least.")
    inside = (found >= least) & (found < count)
    whole = inside if found.dtype.kind != "f" else inside & (found == np.floor(found))
    if not whole.all():
        position = int(np.argmin(whole))
        value = found[position].item()
        idle = "" if least == 0 or value >= 0 else f", and {IDLE} is a slot without a visit"
        raise ValueError(f"{name}[{position}] is {value:g}; {noun} are numbered from 0 to {count - 1}{idle}.")
    return found.astype(np.int64, copy=False)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array


def _listed(value: Any) -> Any:
    return [one.tolist() for one in value] if isinstance(value, tuple) else value.tolist()
