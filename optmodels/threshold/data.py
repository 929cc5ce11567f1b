"""The data of a threshold instance: every field with its rule, and what they make together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np

from queueing import BMAP, Mode, PhaseType, independent_modes, marked_modes, reduce_order, thinned_modes
from queueing.numerics import SUM_TOLERANCE

from ..data import (
    PROCESSES,
    RATE,
    TIME,
    Choice,
    Data,
    Matrix,
    Number,
    OneOf,
    Phases,
    Reader,
    Refusal,
    Rows,
    Spoken,
    entry,
    is_number,
    read_as,
    read_list,
    read_matrix,
    read_numbers,
    refuse_negative,
    refuse_unknown,
    square,
    told,
)
from ..errors import InstanceError

#: More pages in the system than this are refused: matrices are kept for every level.
MOST_PAGES = 100_000

#: Larger batches are refused: sums over two of them are kept.
MOST_IN_BATCH = 2000

#: More phases of robots that are told one by one are refused: theirs multiply, and matrices have the square of them.
MOST_PHASES = 1024

#: As many pages stand for a system without bound if patience has several phases: a picture of them is solved.
MOST_PHASED_PAGES = 1000

#: Rules of admission.
Admission: TypeAlias = Literal["partial", "whole-batch", "complete"]

_FORMS = (
    'modes are a list of {"robots": r, "arrivals": [D0, D1, ...]}, or one of {"independent": ..}, {"thinned": ..}, '
    '{"marked": ..}.'
)
_ARRIVALS = "arrivals are the matrices [D0, D1, ..., Dm], two at least."
_OF_ROBOT = "list the matrices [D0, D1, ...] of each robot."
_RATES = "rates are zero or more, but for the diagonal of D0."


# -- arrivals ---------------------------------------------------------------------------------------------------------


def _arrivals(value: Any, place: str = "") -> BMAP:
    """Read D0, D1, ..., Dm: rates of moves with so many pages, together the generator of an irreducible chain.

    A number is the rate of a Poisson process; Python may give a law, or a process ready made.
    """
    if isinstance(value, BMAP):
        return value
    if isinstance(value, Spoken):
        return told(lambda: _by_name(value), place, value.to_data())
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not is_number(value) or value <= 0:
            raise InstanceError(place, value, "rates are finite numbers above 0.")
        return told(lambda: BMAP.poisson(value), place, value)
    listed = read_list(value, place, _ARRIVALS)
    if len(listed) < 2:
        raise InstanceError(place, value, _ARRIVALS)
    _refuse_large_batch(len(listed) - 1, place, value)
    quiet = read_matrix(listed[0], f"{place}[0]")
    refuse_negative(quiet, f"{place}[0]", _RATES, diagonal=False)
    batches = [_block(block, f"{place}[{size}]", len(quiet)) for size, block in enumerate(listed[1:], start=1)]
    _refuse_leaks([quiet, *batches], f"{place}[0]", f"D0, ..., D{len(batches)}")
    return told(lambda: BMAP((quiet, *batches)), place, value)


def _by_name(law: Spoken) -> BMAP:
    """Make the process of a law that is a Markov chain."""
    given = law.to_data()
    if given["law"] not in PROCESSES:
        raise Refusal(f"arrivals here are one of {', '.join(PROCESSES)}, or matrices [D0, D1, ...].")
    process: BMAP = read_as(PROCESSES[given["law"]], given, "").process()
    return process


def _refuse_large_batch(largest: int, place: str, value: Any) -> None:
    if largest > MOST_IN_BATCH:
        rule = f"its matrices go up to batches of {largest} pages, and at most {MOST_IN_BATCH} are supported."
        raise InstanceError(place, value, rule)


def _block(value: Any, place: str, size: int) -> Matrix:
    """Return the rates of moves with a batch: none is negative, the diagonal included."""
    matrix = read_matrix(value, place)
    if len(matrix) != size:
        raise InstanceError(place, value, f"all matrices of an arrival process have as many rows as D0, {size}.")
    refuse_negative(matrix, place, _RATES, diagonal=True)
    return matrix


def _refuse_leaks(blocks: Sequence[Matrix], place: str, names: str) -> None:
    total = np.sum(blocks, axis=0)
    for row, missed in enumerate(total.sum(axis=1).tolist()):
        if abs(missed) > SUM_TOLERANCE * abs(float(blocks[0][row, row])):
            rule = f"the rates of this row, summed over {names}, make {missed!r} and must make 0 (1e-9 relative)."
            raise InstanceError(f"{place}[{row}]", blocks[0][row].tolist(), rule)


_MATRICES = {"type": "array", "items": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}}
_BLOCKS = {**_MATRICES, "minItems": 2, "maxItems": MOST_IN_BATCH + 1, "form": "list of square matrices"}
_NUMBER = {"type": "number", "exclusiveMinimum": 0, "description": "x, short for [[[-x]], [[x]]]"}
_SOURCE = {"anyOf": [_NUMBER, _BLOCKS], "form": "list of square matrices, or a number x for [[[-x]], [[x]]]"}
Process: TypeAlias = Annotated[BMAP, Reader(_arrivals, {**_SOURCE, "rule": f"{_ARRIVALS} {_RATES}"})]


# -- modes in their four forms ----------------------------------------------------------------------------------------


class ModeData(Data):
    """Arrivals while so many robots are active."""

    form = 'a mode is {"robots": r, "arrivals": [D0, D1, ...]}.'

    robots: Annotated[int, Number("robots are counted in whole numbers, zero or more.", least=0, whole=True)] = entry(
        "active robots, rising from mode to mode"
    )
    arrivals: Process = entry(
        "rates of moves of the chain with 0, 1, 2, ... pages; rows sum to 0 over all matrices (1e-9 relative)",
        unit=RATE,
    )


class IndependentData(Data):
    """Robots that are told one by one."""

    independent: Annotated[tuple[Process, ...], Rows(_OF_ROBOT)] = entry(
        f"instead: arrivals of each robot, whose phases multiply, to {MOST_PHASES} at most", unit=RATE
    )

    def made(self) -> tuple[Mode, ...]:
        """Return the modes of one robot, of two robots, ..."""
        phases = math.prod(chain.phases for chain in self.independent)
        if phases > MOST_PHASES:
            rule = f"the phases of all robots multiply to {phases}, and at most {MOST_PHASES} are supported."
            raise Refusal(rule, "independent")
        return independent_modes(self.independent)


_RISING = "probabilities rise from above 0 to 1."
_CHANCES = {"type": "array", "minItems": 1, "items": {"type": "number", "exclusiveMinimum": 0}, "rule": _RISING}


class ThinnedData(Data):
    """Parts of the arrivals of all robots."""

    form = 'thinned modes are {"arrivals": [D0, D1, ...], "probabilities": [q1, ..., 1]}.'

    arrivals: Process = entry("arrivals of all robots together", unit=RATE)
    probabilities: Annotated[list[float], Reader(read_numbers, _CHANCES)] = entry(
        "that a page is kept while one robot is active, while two are, ..."
    )


class ThinnedModes(Data):
    """The form with arrivals of all robots."""

    thinned: ThinnedData = entry("instead: arrivals of all robots, and the share of them by number of active robots")

    def made(self) -> tuple[Mode, ...]:
        """Return the modes of one robot, of two robots, ..."""
        arrivals, chances = self.thinned.arrivals, self.thinned.probabilities
        return told(lambda: thinned_modes(arrivals, chances), "thinned.probabilities", chances)


def _of_robots(value: Any) -> list[list[Any]]:
    """Return the matrices D1, D2, ... of each robot, not looked at yet."""
    robots = []
    for index, blocks in enumerate(read_list(value, "", MarkedData.form)):
        robots.append(read_list(blocks, f"[{index}]", "list the matrices [D1, D2, ...] of this robot."))
        _refuse_large_batch(len(robots[-1]), f"[{index}]", blocks)
    return robots


_OF_ALL = {"type": "array", "minItems": 1, "items": _MATRICES, "form": "list of lists of square matrices"}


class MarkedData(Data):
    """One chain that says which robot brings pages."""

    form = 'marked modes are {"D0": matrix, "robots": [[D1, D2, ...], ...]}.'

    D0: Annotated[Matrix, square(_RATES)] = entry("rates of moves without pages", unit=RATE)
    robots: Annotated[list[list[Any]], Reader(_of_robots, {**_OF_ALL, "rule": _RATES})] = entry(
        "for each robot, the rates of moves on which it brings 1, 2, ... pages", unit=RATE
    )


class MarkedModes(Data):
    """The form with one chain for all robots."""

    marked: MarkedData = entry("instead: one chain, and which robot brings pages on which of its moves")

    def made(self) -> tuple[Mode, ...]:
        """Return the modes of one robot, of two robots, ..."""
        quiet, listed = self.marked.D0, self.marked.robots
        robots = [
            [_block(block, f"marked.robots[{index}][{size}]", len(quiet)) for size, block in enumerate(blocks)]
            for index, blocks in enumerate(listed)
        ]
        everything = [quiet, *(block for blocks in robots for block in blocks)]
        _refuse_leaks(everything, "marked.D0", "D0 and all matrices of the robots")
        return told(lambda: marked_modes(quiet, robots), "marked", {"D0": quiet.tolist(), "robots": listed})


_MODES: dict[str, Any] = {
    "list": Annotated[tuple[ModeData, ...], Rows("one mode at least is needed.")],
    "independent": IndependentData,
    "thinned": ThinnedModes,
    "marked": MarkedModes,
}


def _form(value: Any) -> str:
    """Tell which of the four forms a value has."""
    if isinstance(value, list | tuple):
        return "list"
    if not isinstance(value, Mapping):
        raise Refusal(_FORMS)
    refuse_unknown(value, {*_MODES} - {"list"})
    if len(value) != 1:
        raise Refusal(_FORMS)
    return str(next(iter(value)))


def _in_order(found: Any) -> tuple[Mode, ...]:
    """Return the modes of any form; those of a list checked against one another."""
    modes: list[Mode] = []
    for index, mode in enumerate(found):
        if isinstance(mode, Mode):
            return tuple(found)
        if modes and mode.robots <= modes[-1].robots:
            rule = f"modes stand in rising number of robots, and the one before has {modes[-1].robots}."
            raise Refusal(rule, index, "robots")
        phases = mode.arrivals.phases
        if modes and phases != modes[0].arrivals.phases:
            rule = f"one chain drives all modes: {modes[0].arrivals.phases} phases in the first, {phases} here."
            raise Refusal(rule, index, "arrivals")
        modes.append(Mode(mode.robots, mode.arrivals))
    return tuple(modes)


def write_modes(modes: Sequence[Mode]) -> list[dict[str, Any]]:
    """Return the list form of the field ``modes``."""
    return [{"robots": mode.robots, "arrivals": [block.tolist() for block in mode.arrivals.blocks]} for mode in modes]


# -- all fields -------------------------------------------------------------------------------------------------------


class ThresholdData(Data):
    """The data of kind "threshold"."""

    needed = "a threshold queue needs it."

    capacity: (
        Annotated[
            int,
            Number(
                "the capacity is a whole number of pages, 1 or more.",
                least=1,
                most=MOST_PAGES,
                whole=True,
                many=f"at most {MOST_PAGES} pages are supported.",
            ),
        ]
        | None
    ) = entry(
        f"K, the most pages in the system, the one in service included, {MOST_PAGES} at most; null, which needs "
        "patience: room for all",
        unit="pages",
    )
    service: Phases = entry("distribution of the time that indexing a page takes", unit=TIME)
    patience: Phases | None = entry(
        "distribution of the time after which a waiting page is out of date; null: it never is", unit=TIME
    )
    modes: Annotated[tuple[Mode, ...], OneOf(_MODES, tag=_form, then=_in_order)] = entry(
        "arrivals by number of active robots"
    )
    admission: Annotated[
        Admission,
        Choice('batches are admitted by one of "partial", "whole-batch", "complete".'),
    ] = entry(
        "what enters of a batch without enough room: as many pages as fit, none, or all if one fits", default="partial"
    )
    use_all_modes: Annotated[bool, Choice("this is true or false.")] = entry(
        "true: thresholds in 0..K-1, as in the tables of Avrachenkov et al. (2011); false: in -1..K", default=False
    )

    def room(self) -> tuple[int, float | None]:
        """Return the most pages in the system; without bound, room that is as good, and what is cut off by it."""
        return _without_bound(self.modes, self.patience) if self.capacity is None else (self.capacity, None)


def _without_bound(modes: Sequence[Mode], patience: PhaseType | None) -> tuple[int, float]:
    if patience is None:
        rule = "a system without bound needs patience, or it may fill for ever; give one of them."
        raise InstanceError("data.capacity", None, rule)
    from queueing.threshold import unbounded_room

    room = unbounded_room(modes, patience)
    if room.capacity > MOST_PAGES or (reduce_order(patience).order > 1 and room.capacity > MOST_PHASED_PAGES):
        rule = (
            f"without bound there may be {room.capacity} pages (more for less than {room.tail_mass:.1g} of the time), "
            "too many to evaluate with this patience; give a number."
        )
        raise InstanceError("data.capacity", None, rule)
    return room.capacity, room.tail_mass
