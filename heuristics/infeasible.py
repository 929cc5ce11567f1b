"""What a run that found nothing feasible has to tell."""

from __future__ import annotations

from typing import Any

from .evaluation import Evaluation
from .protocols import Problem, Repairable, Suggesting


def nothing_feasible(problem: Problem, nearest: Evaluation | None, proved: bool) -> dict[str, Any]:
    """The least violation that was seen and, unless it is proved that nothing is feasible, what may help.

    Parameters
    ----------
    nearest
        What was said of the decision with the least violation; ``None`` if nothing was judged.
    """
    if nearest is None:
        return {}
    told: dict[str, Any] = {
        "least_violation": {name: float(amount) for name, amount in nearest.violations.items() if amount > 0}
    }
    if proved:
        return told
    helpful = []
    if not isinstance(problem, Suggesting):
        helpful.append("feasible decisions to start from (a method 'suggestions' of the problem)")
    if not isinstance(problem, Repairable):
        helpful.append("a way to make decisions feasible (a method 'repair')")
    helpful += ["a larger budget", "wider limits"]
    return told | {"hint": f"nothing feasible was met; {', '.join(helpful[:-1])} or {helpful[-1]} may help"}
