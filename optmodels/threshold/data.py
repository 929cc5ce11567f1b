"""Reading the data of a threshold instance: every field checked, every complaint one sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from queueing import BMAP, Mode, PhaseType, independent_modes, marked_modes, reduce_order, thinned_modes
from queueing.numerics import SUM_TOLERANCE
from queueing.threshold import ADMISSIONS, unbounded_room

from ..data import (
    Matrix,
    is_whole,
    read_list,
    read_matrix,
    read_numbers,
    read_object,
    refuse_negative,
    refuse_unknown,
    told,
)
from ..errors import InstanceError, MissingField

FIELDS = {"capacity", "service", "patience", "modes", "admission", "use_all_modes"}

#: More pages in the system than this are refused: matrices are kept for every level.
MOST_PAGES = 100_000

#: Larger batches are refused: sums over two of them are kept.
MOST_IN_BATCH = 2000

#: More phases of robots that are told one by one are refused: theirs multiply, and matrices have the square of them.
MOST_PHASES = 1024

#: As many pages stand for a system without bound if patience has several phases: a picture of them is solved.
MOST_PHASED_PAGES = 1000

_FORMS = (
    'modes are a list of {"robots": r, "arrivals": [D0, D1, ...]}, or one of {"independent": ..}, {"thinned": ..}, '
    '{"marked": ..}.'
)
_ARRIVALS = "arrivals are the matrices [D0, D1, ..., Dm], two at least."


def read_capacity(value: Any, modes: Sequence[Mode], patience: PhaseType | None) -> tuple[int, float | None]:
    """K, the most pages in the system; without bound, room that is as good as that, and what is cut off by it."""
    if value is None:
        return _without_bound(modes, patience)
    if not is_whole(value) or value < 1:
        raise InstanceError("data.capacity", value, "the capacity is a whole number of pages, 1 or more.")
    if value > MOST_PAGES:
        raise InstanceError("data.capacity", value, f"at most {MOST_PAGES} pages are supported.")
    return int(value), None


def _without_bound(modes: Sequence[Mode], patience: PhaseType | None) -> tuple[int, float]:
    if patience is None:
        rule = "a system without bound needs patience, or it may fill for ever; give one of them."
        raise InstanceError("data.capacity", None, rule)
    room = unbounded_room(modes, patience)
    if room.capacity > MOST_PAGES or (reduce_order(patience).order > 1 and room.capacity > MOST_PHASED_PAGES):
        rule = (
            f"without bound there may be {room.capacity} pages (more for less than {room.tail_mass:.1g} of the time), "
            "too many to evaluate with this patience; give a number."
        )
        raise InstanceError("data.capacity", None, rule)
    return room.capacity, room.tail_mass


def read_admission(value: Any) -> Any:
    """What becomes of a batch that finds too little room."""
    if value not in ADMISSIONS:
        known = ", ".join(f'"{name}"' for name in ADMISSIONS)
        raise InstanceError("data.admission", value, f"batches are admitted by one of {known}.")
    return value


def read_modes(value: Any) -> tuple[Mode, ...]:
    """The modes in any of their four forms, as a list by number of robots."""
    place = "data.modes"
    if isinstance(value, list | tuple):
        return _direct(value, place)
    if not isinstance(value, Mapping):
        raise InstanceError(place, value, _FORMS)
    forms: dict[str, Callable[[Any, str], tuple[Mode, ...]]] = {
        "independent": _independent,
        "thinned": _thinned,
        "marked": _marked,
    }
    refuse_unknown(value, set(forms), place)
    if len(value) != 1:
        raise InstanceError(place, dict(value), _FORMS)
    ((form, content),) = value.items()
    return forms[form](content, f"{place}.{form}")


def write_modes(modes: Sequence[Mode]) -> list[dict[str, Any]]:
    """The list form read by `read_modes`."""
    return [{"robots": mode.robots, "arrivals": [block.tolist() for block in mode.arrivals.blocks]} for mode in modes]


# -- the four forms ---------------------------------------------------------------------------------------------------


def _direct(value: Sequence[Any], place: str) -> tuple[Mode, ...]:
    if not value:
        raise InstanceError(place, list(value), "one mode at least is needed.")
    modes: list[Mode] = []
    for index, entry in enumerate(value):
        here = f"{place}[{index}]"
        form = 'a mode is {"robots": r, "arrivals": [D0, D1, ...]}.'
        known = read_object(entry, here, {"robots", "arrivals"}, form)
        for name in ("robots", "arrivals"):
            if name not in known:
                raise MissingField(f"{here}.{name}", form)
        robots = known["robots"]
        if not is_whole(robots) or robots < 0:
            raise InstanceError(f"{here}.robots", robots, "robots are counted in whole numbers, zero or more.")
        if modes and robots <= modes[-1].robots:
            rule = f"modes stand in rising number of robots, and the one before has {modes[-1].robots}."
            raise InstanceError(f"{here}.robots", robots, rule)
        arrivals = _arrivals(known["arrivals"], f"{here}.arrivals")
        if modes and arrivals.phases != modes[0].arrivals.phases:
            rule = (
                f"one chain drives all modes: {modes[0].arrivals.phases} phases in the first, {arrivals.phases} here."
            )
            raise InstanceError(f"{here}.arrivals", known["arrivals"], rule)
        modes.append(Mode(int(robots), arrivals))
    return tuple(modes)


def _independent(value: Any, place: str) -> tuple[Mode, ...]:
    robots = read_list(value, place, "list the matrices [D0, D1, ...] of each robot.")
    chains = [_arrivals(robot, f"{place}[{index}]") for index, robot in enumerate(robots)]
    phases = math.prod(chain.phases for chain in chains)
    if phases > MOST_PHASES:
        rule = f"the phases of all robots multiply to {phases}, and at most {MOST_PHASES} are supported."
        raise InstanceError(place, value, rule)
    return independent_modes(chains)


def _thinned(value: Any, place: str) -> tuple[Mode, ...]:
    form = 'thinned modes are {"arrivals": [D0, D1, ...], "probabilities": [q1, ..., 1]}.'
    known = read_object(value, place, {"arrivals", "probabilities"}, form)
    for name in ("arrivals", "probabilities"):
        if name not in known:
            raise MissingField(f"{place}.{name}", form)
    arrivals = _arrivals(known["arrivals"], f"{place}.arrivals")
    chances = read_numbers(known["probabilities"], f"{place}.probabilities")
    return told(lambda: thinned_modes(arrivals, chances), f"{place}.probabilities", known["probabilities"])


def _marked(value: Any, place: str) -> tuple[Mode, ...]:
    form = 'marked modes are {"D0": matrix, "robots": [[D1, D2, ...], ...]}.'
    known = read_object(value, place, {"D0", "robots"}, form)
    for name in ("D0", "robots"):
        if name not in known:
            raise MissingField(f"{place}.{name}", form)
    quiet = read_matrix(known["D0"], f"{place}.D0")
    refuse_negative(quiet, f"{place}.D0", "rates are zero or more, but for the diagonal of D0.", diagonal=False)
    robots = []
    for index, blocks in enumerate(read_list(known["robots"], f"{place}.robots", form)):
        here = f"{place}.robots[{index}]"
        listed = read_list(blocks, here, "list the matrices [D1, D2, ...] of this robot.")
        _refuse_large_batch(len(listed), here, blocks)
        robots.append([_block(block, f"{here}[{size}]", len(quiet)) for size, block in enumerate(listed)])
    everything = [quiet, *(block for blocks in robots for block in blocks)]
    _refuse_leaks(everything, f"{place}.D0", "D0 and all matrices of the robots")
    return told(lambda: marked_modes(quiet, robots), place, dict(known))


def _arrivals(value: Any, place: str) -> BMAP:
    """D0, D1, ..., Dm: rates of moves with so many pages, together the generator of an irreducible chain."""
    listed = read_list(value, place, _ARRIVALS)
    if len(listed) < 2:
        raise InstanceError(place, value, _ARRIVALS)
    _refuse_large_batch(len(listed) - 1, place, value)
    quiet = read_matrix(listed[0], f"{place}[0]")
    refuse_negative(quiet, f"{place}[0]", "rates are zero or more, but for the diagonal of D0.", diagonal=False)
    batches = [_block(block, f"{place}[{size}]", len(quiet)) for size, block in enumerate(listed[1:], start=1)]
    _refuse_leaks([quiet, *batches], f"{place}[0]", f"D0, ..., D{len(batches)}")
    return told(lambda: BMAP((quiet, *batches)), place, value)


def _refuse_large_batch(largest: int, place: str, value: Any) -> None:
    if largest > MOST_IN_BATCH:
        rule = f"its matrices go up to batches of {largest} pages, and at most {MOST_IN_BATCH} are supported."
        raise InstanceError(place, value, rule)


# -- matrices ---------------------------------------------------------------------------------------------------------


def _block(value: Any, place: str, size: int) -> Matrix:
    """Rates of moves with a batch: none is negative, the diagonal included."""
    matrix = read_matrix(value, place)
    if len(matrix) != size:
        raise InstanceError(place, value, f"all matrices of an arrival process have as many rows as D0, {size}.")
    refuse_negative(matrix, place, "rates are zero or more, but for the diagonal of D0.", diagonal=True)
    return matrix


def _refuse_leaks(blocks: Sequence[Matrix], place: str, names: str) -> None:
    total = np.sum(blocks, axis=0)
    for row, missed in enumerate(total.sum(axis=1).tolist()):
        if abs(missed) > SUM_TOLERANCE * abs(float(blocks[0][row, row])):
            rule = f"the rates of this row, summed over {names}, make {missed!r} and must make 0 (1e-9 relative)."
            raise InstanceError(f"{place}[{row}]", blocks[0][row].tolist(), rule)
