"""Optimization models of web crawling, caching and routing, with pluggable exact and heuristic solvers.

The front door::

    import optmodels as om

    problem = om.load("instances/placement/gautam-6x6.json")
    print(om.solve(problem, "annealing", seconds=5))

Names are loaded when first used, so that ``import optmodels`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from heuristics import (
        Budget,
        Decision,
        Disagreement,
        Evaluation,
        Oracle,
        Problem,
        Progress,
        Result,
        Space,
        Status,
        Strategy,
        TracePoint,
        UnsupportedProblem,
    )

    from . import costs, registry
    from .errors import InstanceError, RequestError
    from .generating import generate
    from .instance import BestKnown, Instance, load
    from .instance import read as read_instance
    from .instance import write as write_instance
    from .kinds import Kind
    from .multipliers import Multipliers, find_multipliers
    from .results import read_result, result_from_data, result_to_data, write_result
    from .solving import evaluate, solve
    from .studies import Comparison, Front, Sweep, compare, pareto_front, sweep
    from .testing import check_kind, check_problem
    from .verification import Verification, verify

__all__ = [
    "BestKnown",
    "Budget",
    "Comparison",
    "Decision",
    "Disagreement",
    "Evaluation",
    "Front",
    "Instance",
    "InstanceError",
    "Kind",
    "Multipliers",
    "Oracle",
    "Problem",
    "Progress",
    "RequestError",
    "Result",
    "Space",
    "Status",
    "Strategy",
    "Sweep",
    "TracePoint",
    "UnsupportedProblem",
    "Verification",
    "__version__",
    "check_kind",
    "check_problem",
    "compare",
    "costs",
    "evaluate",
    "find_multipliers",
    "generate",
    "load",
    "pareto_front",
    "read_instance",
    "read_result",
    "registry",
    "result_from_data",
    "result_to_data",
    "solve",
    "sweep",
    "verify",
    "write_instance",
    "write_result",
]

#: Name to where it lives, and to what it is called there if that differs.
_HOMES = {
    "Budget": "heuristics",
    "Decision": "heuristics",
    "Disagreement": "heuristics",
    "Evaluation": "heuristics",
    "Oracle": "heuristics",
    "Problem": "heuristics",
    "Progress": "heuristics",
    "Result": "heuristics",
    "Space": "heuristics",
    "Status": "heuristics",
    "Strategy": "heuristics",
    "TracePoint": "heuristics",
    "UnsupportedProblem": "heuristics",
    "BestKnown": "optmodels.instance",
    "Comparison": "optmodels.studies.comparison",
    "Front": "optmodels.studies.pareto",
    "Instance": "optmodels.instance",
    "InstanceError": "optmodels.errors",
    "Kind": "optmodels.kinds",
    "Multipliers": "optmodels.multipliers",
    "RequestError": "optmodels.errors",
    "Sweep": "optmodels.studies.sweeping",
    "Verification": "optmodels.verification.claims",
    "check_kind": "optmodels.testing",
    "check_problem": "optmodels.testing",
    "compare": "optmodels.studies.comparing",
    "evaluate": "optmodels.solving",
    "find_multipliers": "optmodels.multipliers",
    "generate": "optmodels.generating",
    "load": "optmodels.instance",
    "pareto_front": "optmodels.studies.pareto",
    "read_instance": "optmodels.instance:read",
    "read_result": "optmodels.results",
    "result_from_data": "optmodels.results",
    "result_to_data": "optmodels.results",
    "solve": "optmodels.solving",
    "sweep": "optmodels.studies.sweeping",
    "verify": "optmodels.verification.verifying",
    "write_instance": "optmodels.instance:write",
    "write_result": "optmodels.results",
}


def clash(failure: ImportError | AttributeError, module: str = "") -> str | None:
    """What to do if an import failed because a stranger's package has a name of ours; ``None`` for other failures.

    The names are generic, and a stranger's ``heuristics`` must end in a sentence, not in a riddle.
    """
    package = (failure.name or "" if isinstance(failure, ImportError) else module).partition(".")[0]
    if package not in ("heuristics", "queueing"):
        return None
    return (
        f"the package {package!r} found here is not the one that belongs to optmodels; "
        "another distribution has replaced it. Repair: pip install --force-reinstall optmodels"
    )


def __getattr__(name: str) -> Any:
    if name in ("costs", "registry"):
        return import_module(f".{name}", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, called = _HOMES[name].partition(":")
    try:
        value = getattr(import_module(module), called or name)
    except (ImportError, AttributeError) as failure:
        sentence = clash(failure, module)
        if sentence is None:
            raise
        raise ImportError(sentence) from failure
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
