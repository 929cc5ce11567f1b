"""The command ``doctor``: what is installed here, and what this machine offers."""

from __future__ import annotations

import os
import platform
import re
import sys
from importlib.metadata import PackageNotFoundError, distribution, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .. import __version__
from ..data import columns
from .arguments import ANSWERED, Json
from .output import deliver

#: Distributions whose versions matter, in the order of the answer.
LIBRARIES = ("numpy", "scipy", "numba", "pyomo", "highspy", "networkx", "deap", "pydantic", "typer", "rich")

#: Extras for those who develop, of which nobody else needs to hear.
OURS = ("dev", "docs", "rivals")


def doctor(json: Json = False) -> int:
    """Show what is installed, for bug reports.

    Prints versions, solvers, extras, the folder where compiled code is kept, cores, shipped instances and plug-ins.

    For example:
        optmodels doctor
    """
    found = examined()
    deliver(found, lambda: print(_text(found)), as_json=json)
    return ANSWERED


def examined() -> dict[str, Any]:
    """Look at everything, and import no library for it.

    Returns
    -------
    dict
        Of plain texts, numbers and lists, as ``optmodels doctor --json`` prints it.
    """
    from ..data import shipped_files, shipped_folder
    from ..mip import SOLVERS
    from ..registry import BUILT_IN, REGISTRIES, kinds

    folder = shipped_folder()
    origins = {entry.origin for registry in REGISTRIES for entry in registry.entries()} - {BUILT_IN}
    shipped = [file.parent.name for file in shipped_files().values()]
    return {
        "format": 1,
        "versions": {"optmodels": __version__, "python": platform.python_version()}
        | {name: _version(name) for name in LIBRARIES},
        "platform": platform.platform(),
        "solvers": {name: _version(solver.package) for name, solver in SOLVERS.sound().items()},
        "extras": extras(),
        "cache": cache(),
        "cores": {"usable": _cores(), "of": os.cpu_count()},
        "instances": {
            "folder": None if folder is None else str(folder),
            "kinds": {kind: shipped.count(kind) for kind in dict.fromkeys(shipped)},
        },
        "kinds": [kind.name for kind in kinds.sound()],
        "plug_ins": sorted(origins),
    }


def cache() -> dict[str, Any]:
    """Find the folder in which compiled code is kept, whether it can be written to, and how much is there.

    Returns
    -------
    dict
        ``folder``, ``writable``, ``compiled`` (files of compiled code) and ``told`` (what that means).
    """
    asked = os.environ.get("NUMBA_CACHE_DIR")
    package = Path(__file__).parents[2]
    folders = [Path(asked)] if asked else [package / name for name in ("heuristics", "optmodels", "queueing")]
    compiled = sum(1 for folder in folders if folder.is_dir() for _ in folder.rglob("*.nbc"))
    writable = all(_is_writable(folder) for folder in folders)
    if not writable:
        told = "what is compiled goes to a folder of the user, or is lost: set NUMBA_CACHE_DIR to one you can write to"
    elif compiled:
        told = f"{compiled} compiled functions are kept there"
    else:
        told = "nothing is compiled yet: optmodels warm-up does it once"
    shown = str(folders[0] if asked else package)
    return {"folder": shown, "writable": writable, "compiled": compiled, "told": told}


def extras() -> dict[str, dict[str, Any]]:
    """Tell of each extra whether all that it needs is here, and how to get it.

    Returns
    -------
    dict
        By name: ``installed``, ``needs`` (names of distributions) and ``command``.
    """
    try:
        requirements = distribution("optmodels").requires or []
    except PackageNotFoundError:  # a checkout that was never installed
        return {}
    needs: dict[str, list[str]] = {}
    for requirement in requirements:
        if found := re.search(r"extra\s*==\s*['\"]([^'\"]+)['\"]", requirement):
            needs.setdefault(found[1], []).append(re.split(r"[^\w.-]", requirement)[0])
    return {
        name: {
            "installed": all(_version(one) is not None for one in ones),
            "needs": ones,
            "command": f"pip install 'optmodels[{name}]'",
        }
        for name, ones in needs.items()
        if name not in OURS
    }


def _text(found: dict[str, Any]) -> str:
    """Write what was found for people."""
    cores, instances, kept = found["cores"], found["instances"], found["cache"]
    solvers = [f"{name} {one or 'not installed'}" for name, one in found["solvers"].items()]
    counts = ", ".join(f"{count} {kind}" for kind, count in instances["kinds"].items())
    rows = [[name, one or "not installed"] for name, one in found["versions"].items()]
    rows += [["platform", found["platform"]], ["executable", sys.executable], ["solvers", ", ".join(solvers)]]
    for name, extra in found["extras"].items():
        rows.append([f"extra {name}", "installed" if extra["installed"] else f"missing: {extra['command']}"])
    rows += [
        ["cache", f"{kept['folder']} ({'writable' if kept['writable'] else 'NOT writable'}; {kept['told']})"],
        ["cores", f"{cores['usable']} usable of {cores['of']}"],
        ["instances", f"{counts} in {instances['folder']}" if instances["folder"] else "none are installed"],
        ["kinds", ", ".join(found["kinds"])],
        ["plug-ins", ", ".join(found["plug_ins"]) or "none"],
    ]
    return columns(rows)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return "installed" if find_spec(name) else None


def _is_writable(folder: Path) -> bool:
    """Tell whether files can be made in a folder, or it can be made itself."""
    while not folder.exists() and folder.parent != folder:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK)


def _cores() -> int | None:
    try:
        return len(os.sched_getaffinity(0))  # those that this process may use
    except AttributeError:  # not on every system
        return os.cpu_count()
