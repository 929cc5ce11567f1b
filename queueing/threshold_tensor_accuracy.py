r"""How accurate measures are that come from ever larger spaces: by how they still move from round to round.

If errors shrink by a factor q from one round to the next and the last move was d, the error is about d q / (1 - q); q
is about 1/2, seldom more than 3/4. So the last move counts `SAFETY` times, the one over two rounds once, and rates
that the server and arriving pages see alike only in the limit count as far as they differ.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .threshold_accuracy import measures_of_flows
from .threshold_model import Flows, ModeByLevel, direct_error

#: A loss or an idle time below this share is not asked for to its last digits.
SHARE = 0.01

#: How often the last move counts.
SAFETY = 5.0

# A measure that hardly moved, while others did, may have done so by chance: part of the largest move counts for it.
# One that moved by far less than others is known whatever the spaces (arrivals, where all modes bring as many).
_PART, _STILL = 0.2, 1e-6


class Outcome(NamedTuple):
    """Flows of one round, and the rates of service and obsolescence as arriving pages see them."""

    flows: Flows
    served_seen: float
    obsolete_seen: float


class Estimated(NamedTuple):
    """Flows with their errors, and the largest error where small shares count as if they were `SHARE`."""

    flows: Flows
    counting: float


def estimated(found: Sequence[Outcome], modes: ModeByLevel) -> Estimated:
    """The last of several rounds, judged by those before it."""
    flows = found[-1].flows
    if len(found) < 2:
        return Estimated(replace(flows, error_estimate=math.inf), math.inf)
    moves = _moves(flows, found[-2].flows, modes)
    moves = {name: SAFETY * move for name, move in moves.items()}
    if len(found) > 2:
        over_two = _moves(flows, found[-3].flows, modes)
        moves = {name: max(move, over_two[name]) for name, move in moves.items()}
    weights = _weights(flows)
    largest = max(move * weights.get(name, 1.0) for name, move in moves.items())
    served = _gap(flows.served, found[-1].served_seen)
    obsolete = _gap(flows.obsolete, found[-1].obsolete_seen)
    apart = max(served, obsolete * weights["obsolescence"])
    rounding = direct_error(len(flows.levels) - 1, 1.0, 1.0, 1.0, 1.0)
    errors = {}
    for name, move in moves.items():
        if max(move, rounding) < _STILL * largest:
            errors[name] = rounding + move
        else:
            errors[name] = rounding + max(move, _PART * largest) + apart
    for name in {"obsolescence", "obsolescence_rate", "obsolete_time"} & set(errors):
        errors[name] += obsolete + (moves[name] if name == "obsolete_time" else 0.0)  # a quotient of two
    # Little's law, too, holds between levels and pages only in the limit.
    times = {"response_time": flows.served_time, "obsolete_time": flows.obsolete_time}
    times["sojourn_time"] = flows.served_time + flows.obsolete_time
    apart = abs(times["sojourn_time"] - float(np.arange(len(flows.levels)) @ flows.levels))
    for name in set(times) & set(errors):
        errors[name] += apart / times[name]
    told = replace(flows, error_estimate=max(errors.values()), errors=errors)
    return Estimated(told, max(error * weights.get(name, 1.0) for name, error in errors.items()))


def _weights(flows: Flows) -> dict[str, float]:
    """By measure: how much its relative error counts."""
    whole = max(flows.arriving, 1e-300)
    lost, obsolete = min(1.0, flows.lost / whole / SHARE), min(1.0, flows.obsolete / whole / SHARE)
    return {
        "starvation": min(1.0, float(flows.levels[0]) / SHARE),
        "loss": lost,
        "loss_rate": lost,
        "obsolescence": obsolete,
        "obsolescence_rate": obsolete,
        "obsolete_time": obsolete,
        "success": min(1.0, flows.served / whole / SHARE),
        "response_time": min(1.0, flows.served / whole / SHARE),
    }


def _gap(forward: float, seen: float) -> float:
    return abs(seen / forward - 1.0) if forward > 1e-290 else 0.0  # below, doubles have fewer digits


def _moves(fine: Flows, coarse: Flows, modes: ModeByLevel) -> dict[str, float]:
    """By measure, its relative change between two rounds, as far as there is such a measure."""
    new, old = measures_of_flows(fine), measures_of_flows(coarse)
    moves = {name: _apart(old[name], value) for name, value in new.items() if value > 0.0}
    moves["active_robots"] = float(np.abs(np.bincount(modes, weights=fine.levels - coarse.levels)).sum())
    return moves


def _apart(old: float, new: float) -> float:
    """Relative change, to whichever side: a value that was ten times as small may be ten times too large now."""
    return max(old / new, new / old) - 1.0 if old > 0.0 else 1.0
