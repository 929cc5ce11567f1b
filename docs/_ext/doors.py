"""The reference of the programming interface: a page for every door, with the names of its ``__all__``.

The pages are written to ``docs/api/doors/`` before a build, and are no part of the repository. A thing that several
doors offer is described once: at the front door of optmodels, else at the door of its own room.
"""

from __future__ import annotations

import ast
import inspect
import re
import shutil
from functools import cache
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType
from typing import Any

from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer

ROOT = Path(__file__).parents[2]
PACKAGES = ("optmodels", "heuristics", "queueing")
FOLDER = ROOT / "docs" / "api" / "doors"


@cache
def doors() -> tuple[str, ...]:
    """Name the folders with an ``__init__.pyi``, and so with names to offer, package by package."""
    found: list[str] = []
    for package in PACKAGES:
        files = sorted((ROOT / package).rglob("__init__.pyi"))
        found += [".".join(file.parent.relative_to(ROOT).parts) for file in files]
    return tuple(found)


@cache
def offered(door: str) -> dict[str, Any]:
    """Map the public names of a door, by the alphabet, to what they stand for."""
    module = import_module(door)
    names = sorted((name for name in module.__all__ if not name.startswith("__")), key=str.lower)
    return {name: getattr(module, name) for name in names}


def described(thing: Any) -> bool:
    """Tell whether a thing has a docstring of its own, as classes and functions have and constants have not."""
    if thing is Any:  # a class, with a docstring of its own about typing
        return False
    return (
        isinstance(thing, ModuleType) or inspect.isclass(thing) or inspect.isroutine(thing) or hasattr(thing, "py_func")
    )


@cache
def origin(door: str, name: str) -> tuple[str, str]:
    """Find the module, and the name there, that the stub of a door takes a name from."""
    stub = ROOT / Path(*door.split(".")) / "__init__.pyi"
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    module = resolve_name("." * node.level + (node.module or ""), door)
                    return origin(module, alias.name) if module in doors() and module != door else (module, alias.name)
    return door, name


def key(door: str, name: str) -> tuple[str, str]:
    """Tell things apart: two names are one thing if they were written at one place."""
    thing = offered(door)[name]
    if described(thing) and not isinstance(thing, ModuleType):
        return thing.__module__, thing.__qualname__
    return origin(door, name)


@cache
def homes() -> dict[tuple[str, str], tuple[str, str]]:
    """Map where a thing is written to the door, and its name there, that describes it in full."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for door in ["optmodels", *sorted(doors(), key=lambda door: (-door.count("."), door))]:
        for name in offered(door):
            found.setdefault(key(door, name), (door, name))
    return found


def sentence(door: str, name: str, thing: Any) -> str:
    """Return the first sentence of what is written about a thing, as one line for a table."""
    if described(thing):
        text = inspect.getdoc(thing) or ""
    else:
        module, there = origin(door, name)
        text = "\n".join(ModuleAnalyzer.for_module(module).find_attr_docs().get(("", there), []))
    paragraph = " ".join(text.split("\n\n")[0].split())
    first = re.split(r"(?<=\.)\s", paragraph)[0]
    return first if first.count("`") % 2 == 0 and first.count("``") % 2 == 0 else paragraph


def directive(door: str, name: str, thing: Any) -> str:
    """Write the lines that describe one thing in full."""
    if inspect.isclass(thing) and thing is not Any:
        sort = "exception" if issubclass(thing, BaseException) else "class"
        return f".. auto{sort}:: {door}.{name}\n   :members:\n   :exclude-members: model_config\n"
    if inspect.isroutine(thing) or hasattr(thing, "py_func"):
        return f".. autofunction:: {door}.{name}\n"
    return f".. py:data:: {name}\n   :module: {door}\n\n   {sentence(door, name, thing)}\n"


def page(door: str) -> str:
    """Write the page of a door: its docstring, a table of its names, and each of them in full."""
    lines = [door, "=" * len(door), "", f".. automodule:: {door}", ""]
    things = offered(door)
    if not things:
        return "\n".join(lines)
    lines += ["Names", "-----", "", ".. list-table::", "   :widths: 35 65", "   :class: names", ""]
    full = []
    for name, thing in things.items():
        home = homes()[key(door, name)]
        shown = f"``{name}``" if isinstance(thing, ModuleType) else f":py:obj:`{name} <{'.'.join(home)}>`"
        lines += [f"   * - {shown}", f"     - {sentence(door, name, thing)}"]
        if home == (door, name) and not isinstance(thing, ModuleType):
            full.append(directive(door, name, thing))
    if full:
        lines += ["", "In full", "-------", "", *full]
    return "\n".join(lines) + "\n"


def write(app: Sphinx) -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for door in doors():
        (FOLDER / f"{door}.rst").write_text(page(door), encoding="utf-8")


def without_footnotes(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Turn numbered references into plain ones: several things, each with a reference [1], stand on one page."""
    text = re.sub(r"\[(\d+)\]_", r"[\1]", "\n".join(lines))
    text = re.sub(
        r"^( *)\.\. \[(\d+)\] (.*(?:\n\1 +\S.*)*)",
        lambda at: f"{at[1]}[{at[2]}] " + " ".join(at[3].split()),
        text,
        flags=re.M,
    )
    lines[:] = re.sub(r"(?m)^( *)(\[\d+\] .*)\n(?=\1\[\d+\])", r"\1\2\n\n", text).split("\n")


def without_map(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Leave out the modules behind a door: they are private, and the map is for those who change them."""
    if what == "module" and name in doors():
        lines[:] = re.sub(r"(?m)^`[a-z]\w*`\n(?: +\S.*\n?)+", "", "\n".join(lines)).split("\n")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write)
    app.connect("autodoc-process-docstring", without_footnotes, priority=400)
    app.connect("autodoc-process-docstring", without_map, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
