"""Optimization models of web crawling, caching and routing, with pluggable exact and heuristic solvers.

The front door::

    import optmodels as om

    problem = om.load("gautam-6x6")  # or a path, an Instance
    print(om.solve(problem, "annealing", seconds=5))

Every verb takes the path of an instance file, the name of a shipped instance, an `Instance` or a `Problem`: `load`,
`solve`, `evaluate`, `compare`, `sweep`, `pareto`, `simulate`, `verify`, `plot`, `visits`, `export`; `generate` and
`fit` make instances, and `instances` lists those that are shipped.

Names are loaded when first used, so that ``import optmodels`` costs nothing.

`benchmarking`
    Benchmark sets and what is known of their instances.
`cli`
    The command line.
`cluster`
    Connections to a Dask cluster, or to one that is started on this machine.
`costs`
    From measures to one number to minimise, and limits on measures.
`data`
    Reading and writing files: strict JSON, models of fields, tables.
`entry`
    Where the command begins: signals are taken before anything else is imported.
`errors`
    Errors a reader can act on.
`formulas`
    Costs as formulas: arithmetic over measures, written as text and never run as code.
`freshness`
    Kind "freshness": how often, and in which order, to revisit pages.
`generating`
    Instances that are made: drawn at random, or fitted to a log.
`instance`
    Instances: problems as JSON files.
`kinds`
    A kind of problem as one value.
`mip`
    Integer programs, and solvers in processes of their own.
`multipliers`
    Prices in place of limits: the Lagrangian dual.
`notebook`
    What people see of answers in Python: frames, tables in HTML, progress.
`placement`
    Kind "placement": where to put proxies under delay and throughput limits.
`plotting`
    Pictures, and what those of all kinds share.
`portfolio`
    Several strategies that share one budget, and answer as one: `best-of`.
`protocols`
    What a problem may offer besides the contract.
`registry`
    Names of kinds, strategies and costs, and the modules they stand for.
`reporting`
    Comparisons as one HTML page.
`results`
    Results as JSON, and back.
`robots`
    Kind "robots": when to activate or release a robot.
`routing`
    Kind "routing": which server gets the next packet, blind.
`solving`
    One problem, one strategy, one answer.
`statistics`
    Comparing like a referee: integrals, targets, profiles, intervals, paired tests, and a verdict in words.
`studies`
    Comparisons, sweeps, Pareto fronts, simulations.
`testing`
    Checks that any problem and any kind must pass.
`threshold`
    Kind "threshold": how many robots run at each queue length.
`verification`
    What an answer claims, checked.
"""

from __future__ import annotations

from typing import Any

import lazy_loader

__version__ = "0.1.0"

_find, _, _names = lazy_loader.attach_stub(__name__, __file__)
__all__ = [*_names, "__version__"]


def clash(failure: ImportError) -> str | None:
    """Say what to do if an import failed because a stranger's package has a name of ours; ``None`` for other failures.

    The names are generic, and a stranger's ``heuristics`` must end in a sentence, not in a riddle.
    """
    package = (failure.name or "").partition(".")[0]
    if package not in ("heuristics", "queueing"):
        return None
    return (
        f"the package {package!r} found here is not the one that belongs to optmodels; "
        "another distribution has replaced it. Repair: pip install --force-reinstall optmodels"
    )


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return _find(name)
    except ImportError as failure:
        sentence = clash(failure)
        if sentence is None:
            raise
        raise ImportError(sentence) from failure


def __dir__() -> list[str]:
    return __all__
