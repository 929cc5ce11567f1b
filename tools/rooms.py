"""Read the modules of the three packages: in which folder they stand, whom they import, to which kind they belong.

Nothing is imported to find out. The first folder below a package says to which kind a module belongs:
``queueing/threshold/methods/krylov.py`` is one of kind "threshold".
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

PACKAGES = ("optmodels", "heuristics", "queueing")
KINDS = ("threshold", "robots", "freshness", "routing", "placement")
DOOR = "__init__.py"

#: Doors whose names need an example: the front doors, and those of the kinds.
MAIN_DOORS = {*PACKAGES, *(f"{package}.{kind}" for package in PACKAGES for kind in KINDS)}

#: Tokens that are no code.
SILENT = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}

Edge = tuple[str, str]


# -- modules and folders -----------------------------------------------------------------------------------------------


@cache
def modules(root: Path) -> dict[str, Path]:
    """Map the dotted name of every module to its file; a door has the name of its folder."""
    files = [file for package in PACKAGES for file in sorted((root / package).rglob("*.py"))]
    return {name_of(file.relative_to(root)): file for file in files}


def name_of(file: Path) -> str:
    """Name the module of a file, whose path is relative to the root."""
    return ".".join(file.parent.parts if file.name == DOOR else file.with_suffix("").parts)


def folders(root: Path) -> dict[str, int]:
    """Count the modules of every folder, its door included."""
    return dict(Counter(file.parent.relative_to(root).as_posix() for file in modules(root).values()))


def is_door(file: Path) -> bool:
    """Tell whether a module stands for its folder."""
    return file.name == DOOR


def kind_of(name: str) -> str | None:
    """Tell to which kind of problems a module belongs; ``None`` for what all kinds share.

    >>> kind_of("queueing.threshold.methods.krylov"), kind_of("queueing.numerics.sums")
    ('threshold', None)
    """
    first = f"{name}.".split(".")[1]
    return first if first in KINDS else None


# -- imports -----------------------------------------------------------------------------------------------------------


def imports(root: Path) -> set[Edge]:
    """Find who imports whom among the modules, wherever the import stands: at the top, in a function, for types."""
    known = modules(root)
    return {
        (name, imported)
        for name, file in known.items()
        for imported in imported_by(name, is_door(file), ast.parse(file.read_text(encoding="utf-8")), known)
        if imported != name
    }


def imported_by(name: str, door: bool, tree: ast.AST, known: Mapping[str, object]) -> Iterator[str]:
    """Yield the modules of ours that a module imports; the door, where a name of it is asked for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            steps = name.split(".")
            above = steps[: len(steps) - node.level + door] if node.level else []
            place = ".".join([*above, *(node.module or "").split(".")]).strip(".")
            for alias in node.names:
                inside = f"{place}.{alias.name}"
                if inside in known:
                    yield inside
                elif place in known:
                    yield place


def kind_edges(edges: set[Edge]) -> list[Edge]:
    """Keep the imports by which one kind knows another."""
    return sorted(
        (one, other)
        for one, other in edges
        if kind_of(one) is not None and kind_of(other) is not None and kind_of(one) != kind_of(other)
    )


def deep_imports(edges: set[Edge], known: Mapping[str, Path], package: str = "optmodels") -> list[Edge]:
    """Keep the imports of a package that pass a door: of a module in a folder that the importer does not stand in."""

    def folder(name: str) -> str:
        return name if is_door(known[name]) else name.rpartition(".")[0]

    return sorted(
        (one, other)
        for one, other in edges
        if one.partition(".")[0] == package
        and not is_door(known[other])
        and not f"{folder(one)}.".startswith(f"{folder(other)}.")
    )


# -- lines and names ---------------------------------------------------------------------------------------------------


def code_lines(source: str) -> int:
    """Count lines that hold code: not blank, not a comment alone, and not in a docstring.

    A docstring is a string that is the first statement of a module, class or function. Every line of a statement
    counts, also those of other strings that run over several lines, and a bracket that stands alone.
    """
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and type(first.value.value) is str:
                lines.difference_update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return len(lines)


def exported_by(file: Path) -> list[str] | None:
    """Read ``__all__`` of a module: of the stub beside it, if it is a door that has one."""
    stub = file.with_suffix(".pyi")
    return exported((stub if stub.is_file() else file).read_text(encoding="utf-8"))


def exported(source: str) -> list[str] | None:
    """Read ``__all__``; ``None`` where there is none, or it is not a plain list of names."""
    for node in ast.parse(source).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            try:
                return list(ast.literal_eval(node.value))  # type: ignore[attr-defined]
            except (ValueError, TypeError):
                return None
    return None
