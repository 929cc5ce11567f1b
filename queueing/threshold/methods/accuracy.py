r"""How accurate the flows of an iterative method are: two iterates, the better one told, their difference the judge.

If an iterate with residual r' moves by d until its residual is r, its error was about d and what is left of it is about
d r / r'. That is said of each measure, `SAFETY` times over.
"""

from dataclasses import replace

import numpy as np

from ..model import Flows, ModeByLevel, direct_error

#: Factor between the error that two iterates let expect and the one that is told.
SAFETY = 5.0

#: Residual of the iterate to compare with, at least, by the one to end at.
COARSER = 30.0


# A measure that hardly moved, while others did, may have done so by chance: part of the largest move counts for it.
# One that moved by far less than others is known whatever the iterate (arrivals, where all modes bring as many).
_SHARE, _STILL = 0.01, 1e-5


def judged(fine: Flows, coarse: Flows, modes: ModeByLevel, shrinking: float) -> Flows:
    """`fine` with the errors told by the difference to `coarse`, whose residual is `shrinking` times the coarse one."""
    new, old = measures_of_flows(fine), measures_of_flows(coarse)
    moves = {name: abs(old[name] / value - 1.0) for name, value in new.items() if value > 0.0}
    by_mode = np.bincount(modes, weights=fine.levels - coarse.levels)
    moves["active_robots"] = float(np.abs(by_mode).sum())
    largest, left = max(moves.values()), SAFETY * min(1.0, shrinking)
    rounding = direct_error(len(fine.levels) - 1, 1.0, 1.0, 1.0, 1.0)
    errors = {
        name: rounding + left * move
        if max(move, rounding) < _STILL * largest
        else fine.error_estimate + left * max(move, _SHARE * largest)
        for name, move in moves.items()
    }
    return replace(fine, error_estimate=max(errors.values()), errors=errors)


def measures_of_flows(flows: Flows) -> dict[str, float]:
    """Measures of a queue by their names, as far as modes do not matter; 0 where there are none."""
    shares = {
        "loss": (flows.lost, flows.arriving),
        "obsolescence": (flows.obsolete, flows.arriving),
        "success": (flows.served, flows.arriving),
        "response_time": (flows.served_time, flows.served),
        "obsolete_time": (flows.obsolete_time, flows.obsolete),
        "sojourn_time": (flows.served_time + flows.obsolete_time, flows.arriving),
        "arrival_rate": (flows.arriving, 1.0),
        "loss_rate": (flows.lost, 1.0),
        "obsolescence_rate": (flows.obsolete, 1.0),
        "starvation": (float(flows.levels[0]), 1.0),
        "mean_length": (float(np.arange(len(flows.levels)) @ flows.levels), 1.0),
    }
    return {name: part / whole if whole > 0.0 else 0.0 for name, (part, whole) in shares.items()}
