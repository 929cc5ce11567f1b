r"""How accurate measures are that come from ever larger spaces.

Rounds end when measures stand still: if errors shrink by a factor q from one round to the next and the last move was d,
the error is about d q / (1 - q), and q is seldom more than 3/4. But it may be a thousandth: moves tell when to end, not
how large errors are. For that there are four views of each measure:

* the errors of the two rounds before are known, now that there is a better one: they are the moves :math:`d_k` since.
  The error of a mean is a product of what spaces miss of the stationary rows and of the worths; what is *left* over of
  both, :math:`\ell_k`, is known of every round. So the error is about :math:`d_k \, \ell_n / \ell_k`.
* the last round is done again with a half and with three quarters of the directions it added: what is missed with all
  of them is about what the rest of them is worth.

Errors have signs, so that each view may be small by chance; the estimate is `SAFETY` times the root of their mean
square. Rates that the server and arriving pages see alike only in the limit, and Little's law, tell of errors at least
as large as the difference.

Estimates are no bounds. Of 191 random queues that can be solved exactly, with seeds that nothing here was chosen by,
the largest error told covered the largest true one in 97.9 %, and was within a hundred times of it in 97.4 %
(``tests/queueing/threshold/tensor/test_tensor_train.py``); of 585 others, seen when factors were set, in 96.4 % and
96.1 %. Errors below `FINEST` are rounding.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..methods import measures_of_flows
from ..model import Flows, ModeByLevel, direct_error

#: A loss or an idle time below this share is not asked for to its last digits.
SHARE = 0.01

#: Factor between the error that the four views let expect and the one that is told: of measures that count, and of
#: shares below a tenth of `SHARE`, which directions are hardly chosen for, so that leaving some out changes them more.
SAFETY, SAFETY_OF_SMALL = 9.0, 6.0

#: Relative errors below this are rounding: what is told of them is not compared with them.
FINEST = 1e-13

# What is left over falls by no more than this in one round and in two, as far as errors are concerned, nor rises.
_FALLS = (1e-4, 1e-5)

#: How often the last move counts when rounds may end.
CAUTION = 5.0

# Measures of pages that go out of date.
_FADING = ("obsolescence", "obsolescence_rate", "obsolete_time")

# A measure that hardly moved, while others did, may have done so by chance: part of the largest move counts for it.
# One that moved by far less than others is known whatever the spaces (arrivals, where all modes bring as many).
_PART, _STILL = 0.2, 1e-6


class Outcome(NamedTuple):
    """Flows of one round, the rates of service and obsolescence as arriving pages see them, and what is left over."""

    flows: Flows
    served_seen: float
    obsolete_seen: float
    left: float = 0.0


def unsettled(found: Sequence[Outcome], modes: ModeByLevel) -> float:
    """Tell how far measures still move, and views of one rate lie apart; small shares count as if they were `SHARE`."""
    now, flows = found[-1], found[-1].flows
    weights = weights_of_measures(flows)
    last, over_two = _moves(flows, found[-2].flows, modes), _moves(flows, found[-3].flows, modes)
    moved = max(max(CAUTION * move, over_two[name]) * weights.get(name, 1.0) for name, move in last.items())
    return moved + max(apart * weights.get(name, 1.0) for name, apart in _apart_by_measure(now, last).items())


def estimated(found: Sequence[Outcome], fewer: Sequence[Flows], modes: ModeByLevel) -> Flows:
    """Return the flows of the last round with their errors, evaluated by one or two before it and by itself.

    `fewer` are flows of the same round with fewer of its new directions.
    """
    now, flows = found[-1], found[-1].flows
    moves = _moves(flows, found[-2].flows, modes)
    views = [_moves(flows, one, modes) for one in fewer]
    for before, least in zip(found[-2:-4:-1], _FALLS, strict=False):
        fall = min(1.0, max(least, now.left / before.left)) if before.left > 0.0 else 1.0
        views.append({name: fall * move for name, move in _moves(flows, before.flows, modes).items()})
    differences = {name: math.hypot(*(view[name] for view in views)) / math.sqrt(len(views)) for name in moves}
    weights = weights_of_measures(flows)
    largest = max(value * weights.get(name, 1.0) for name, value in differences.items())
    farthest = max(move * weights.get(name, 1.0) for name, move in moves.items())
    rounding = direct_error(len(flows.levels) - 1, 1.0, 1.0, 1.0, 1.0)
    apart = _apart_by_measure(now, moves)
    errors = {}
    for name, difference in differences.items():
        if max(moves[name], rounding) < _STILL * farthest:
            errors[name] = rounding + SAFETY * max(moves[name], difference)
        else:
            factor = SAFETY if weights.get(name, 1.0) >= 0.1 else SAFETY_OF_SMALL
            errors[name] = rounding + max(factor * difference, SAFETY * _PART * largest, apart[name])
    return replace(flows, error_estimate=max(errors.values()), errors=errors)


def _apart_by_measure(now: Outcome, names: Iterable[str]) -> dict[str, float]:
    """Tell, by measure, how far what agrees in the limit is apart: rates that server and pages see, Little's law."""
    flows = now.flows
    served, obsolete = _gap(flows.served, now.served_seen), _gap(flows.obsolete, now.obsolete_seen)
    common = max(served, obsolete * weights_of_measures(flows)["obsolescence"])
    times = {"response_time": flows.served_time, "obsolete_time": flows.obsolete_time}
    times["sojourn_time"] = flows.served_time + flows.obsolete_time
    missing = abs(times["sojourn_time"] - float(np.arange(len(flows.levels)) @ flows.levels))
    apart = {name: max(common, obsolete) if name in _FADING else common for name in names}
    return apart | {name: max(apart[name], missing / time) for name, time in times.items() if name in apart}


def weights_of_measures(flows: Flows) -> dict[str, float]:
    """Tell, by measure, how much its relative error counts."""
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
    """Return, by measure, its relative change between two rounds, as far as there is such a measure."""
    new, old = measures_of_flows(fine), measures_of_flows(coarse)
    moves = {name: _apart(old[name], value) for name, value in new.items() if value > 0.0}
    moves["active_robots"] = float(np.abs(np.bincount(modes, weights=fine.levels - coarse.levels)).sum())
    return moves


def _apart(old: float, new: float) -> float:
    """Return the relative change, to either side: what was ten times as small may be ten times too large now."""
    return max(old / new, new / old) - 1.0 if old > 0.0 else 1.0
