"""The command ``list``: what there is, by name, and what stands behind a name."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..data import columns
from ..errors import RequestError, suggestion
from ..registry import AUTO
from .arguments import ANSWERED, Json, complete_name
from .output import NARROW, deliver, terminal_width

if TYPE_CHECKING:
    from heuristics import Problem

    from ..data import FieldRow
    from ..kinds import Kind
    from ..registry import Registry

#: Larger examples, in bytes, are not read to find out which strategies take them.
CHEAP = 100_000

GENERATOR = "generator"

#: Which kinds a strategy takes, in `list --json`.
TAKES = "strategy takes"


def list_names(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="A kind, a strategy, a cost or a solver.", autocompletion=complete_name),
    ] = None,
    json: Json = False,
) -> int:
    """List kinds, strategies, costs and solvers, with where each comes from, or describe one of them.

    For a kind it prints its question and paper, its measures with their units, the strategies that apply to it, with
    what each proves and up to which size, the shipped instances, an example, and the options of its generator. For a
    strategy or a cost: what it does, and its parameters. For a solver: whether it is installed, and how to use it.

    For example:
        optmodels list
        optmodels list placement
        optmodels list genetic
        optmodels list scip
    """
    from ..registry import BUILT_IN, REGISTRIES, kinds, strategies

    if name is not None:
        return _tell(name, json)
    rows = [
        [registry.noun, entry.name, entry.origin]
        for registry in REGISTRIES
        for entry in sorted(registry.entries(), key=lambda entry: entry.name)
    ]
    rows += [[GENERATOR, kind, kinds.origin(kind)] for kind in kinds.having("generator")]
    rows.append([strategies.noun, AUTO, BUILT_IN])
    data: list[dict[str, Any]] = [{"what": noun, "name": entry, "origin": origin} for noun, entry, origin in rows]
    taking = strategies_by_kind(kinds.sound())
    data += [{"what": TAKES, "name": strategy, "kinds": names} for strategy, names in taking.items()]
    table = columns([[strategy, ", ".join(names)] for strategy, names in taking.items()], "  ")
    head = "strategies and the kinds they apply to (`optmodels list KIND` says what each proves):"
    deliver(data, f"{columns(rows)}\n\n{head}\n{table}", as_json=json)
    return ANSWERED


def strategies_by_kind(records: Sequence[Kind]) -> dict[str, list[str]]:
    """Map strategies to the kinds that they take, as the records of kinds tell it: nothing is loaded to find out."""
    found: dict[str, list[str]] = {}
    for kind in records:
        for name in kind.strategies or kind.recommended:
            found.setdefault(name, []).append(kind.name)
    every = [kind.name for kind in records]
    return {AUTO: every} | dict(sorted(found.items()))


def _tell(name: str, json: bool) -> int:
    """What stands behind a name."""
    from ..registry import BUILT_IN, REGISTRIES, kinds, strategies

    owners = [registry for registry in REGISTRIES if name in registry]
    if name == AUTO:
        from ..solving import Auto

        entry, lines = _about_class(strategies.noun, name, BUILT_IN, Auto)
        deliver([entry], "\n".join(lines), as_json=json)
        return ANSWERED
    if not owners:
        known = {AUTO, *(entry for registry in REGISTRIES for entry in registry)}
        raise RequestError(f"nothing is called {name!r}. {suggestion(name, known)}")
    told = [_about_kind(kinds[name]) if registry is kinds else _about(registry, name) for registry in owners]
    if name in kinds and kinds[name].generator is not None:
        told.append(_about_class(GENERATOR, name, kinds.origin(name), kinds.part(name, "generator")))
    text = "\n".join(line for _, lines in told for line in lines)
    deliver([entry for entry, _ in told], text, as_json=json)
    return ANSWERED


def _about(registry: Registry, name: str) -> tuple[dict[str, Any], list[str]]:
    from ..registry import solvers

    if registry is solvers:
        return _about_solver(name, registry.origin(name), registry[name])
    return _about_class(registry.noun, name, registry.origin(name), registry[name])


def _about_class(noun: str, name: str, origin: str, target: Any) -> tuple[dict[str, Any], list[str]]:
    """A class: what it is, its parameters with their defaults, and what each of them does; as data, and as lines."""
    from .explain import explanation, parameters_of, summary_of

    parameters = parameters_of(target)
    entry: dict[str, Any] = {
        "what": noun,
        "name": name,
        "origin": origin,
        "summary": summary_of(target),
        "parameters": [parameter.name for parameter in parameters],
        "explained": [parameter.to_data() for parameter in parameters],
    }
    lines = _folded(f"{noun} {name} ({origin}): {entry['summary']}")
    lines += ["  parameters:", explanation(parameters, terminal_width())] if parameters else ["  no parameters"]
    return entry, lines


def _folded(text: str) -> list[str]:
    """A line, or several where the terminal is narrow."""
    width = terminal_width() or NARROW
    return [text] if width >= NARROW else wrap(text, max(width, 30), subsequent_indent=" " * 4)


def _about_solver(name: str, origin: str, solver: Any) -> tuple[dict[str, Any], list[str]]:
    """A solver: what it is, whether it is here, and how it is used; as data, and as lines."""
    missing = solver.missing(name)
    entry: dict[str, Any] = {
        "what": "solver",
        "name": name,
        "origin": origin,
        "summary": getattr(solver, "about", ""),
        "backend": solver.backend,
        "package": solver.package,
        "installed": missing is None,
    }
    lines = [f"solver {name} ({origin}): {entry['summary'] or solver.backend}"]
    lines.append(f"  {'installed' if missing is None else missing}")
    return entry, [*lines, f"  used by: optmodels solve FILE --strategy highs:solver={name}"]


def _about_kind(kind: Kind) -> tuple[dict[str, Any], list[str]]:
    """A kind: its record, and the strategies that take it; as data, and as lines."""
    from ..data import shipped_files
    from ..registry import kinds, strategies
    from .explain import USUAL_WIDTH, parameters_of, summary_of

    target, origin = kinds.part(kind.name, "problem"), kinds.origin(kind.name)
    example = None if kind.example is None else _near(kind.example_file() or Path("instances", kind.example))
    asked = strategies_for(kind, target)
    taking = [*(name for name in kind.strategies if name in strategies), *asked]
    taking = list(dict.fromkeys(taking))
    shipped = [name for name, file in shipped_files().items() if file.parent.name == kind.name]
    entry: dict[str, Any] = {
        "what": kinds.noun,
        "name": kind.name,
        "origin": origin,
        "summary": summary_of(target),
        "parameters": [parameter.name for parameter in parameters_of(target)],  # for Python; a file has others
        "measures": list(kind.measures),
        "meanings": dict(kind.measures),
        "question": kind.question,
        "paper": kind.paper,
        "strategies": taking,
        "proves": {name: kind.strategies[name] for name in taking if name in kind.strategies},
        "recommended": list(kind.recommended),
        "simulated": kind.simulated,
        "commands": list(kind.commands),
        "example": kind.example,
        "instances": shipped,
    }
    room = max(min(terminal_width() or USUAL_WIDTH, USUAL_WIDTH), 30)

    def lines_of(label: str, text: str, indent: int = 2) -> list[str]:
        return wrap(
            f"{label}: {text}",
            room,
            initial_indent=" " * indent,
            subsequent_indent=" " * (indent + 4),
            break_long_words=False,
            break_on_hyphens=False,
        )

    lines = [*_folded(f"{kinds.noun} {kind.name} ({origin}): {kind.question}"), *lines_of("paper", kind.paper)]
    lines.append("  measures:")
    for measure, meaning in kind.measures.items():
        lines += lines_of(measure, meaning, 4)
    lines.append("  strategies:" if taking else "  strategies: none")
    for name in taking:
        lines += lines_of(name, kind.strategies.get(name, f"see `optmodels list {name}`"), 4)
    if kind.recommended:
        lines += lines_of(
            "recommended", ", ".join([f"{kind.recommended[0]} (proves its answers)", *kind.recommended[1:]])
        )
    if kind.commands:
        lines += lines_of("commands", ", ".join(kind.commands))
    if shipped:
        lines += lines_of("instances", ", ".join(shipped))
    if example is not None:
        chosen = f" --strategy {kind.recommended[0]}" if kind.recommended else ""
        name = Path(example).stem if Path(example).stem in shipped else example
        lines.append(f"  example: optmodels {'solve' if chosen else 'check'} {name}{chosen}")  # whole, to be copied
    return entry, lines


def strategies_for(kind: Kind, target: Any) -> list[str]:
    """Names of the strategies that take problems of a kind.

    Each is asked about the smallest instance, if that is here and small; else its `needs` are held against the class
    of the problems.
    """
    from ..registry import lacks, make_strategy, strategies
    from ..solving import fitting

    problem = _example_of(kind)
    if problem is not None:
        return fitting(problem)
    from heuristics.running import members

    taking = []
    for name in strategies:
        with contextlib.suppress(RequestError):  # it is broken, or has parameters that must be given
            if not lacks(target, members(make_strategy(name).needs)):
                taking.append(name)
    return taking


def _near(file: Path) -> str:
    """Spell a path from here where it lies below, and whole elsewhere."""
    return str(file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file)


def _example_of(kind: Kind) -> Problem | None:
    from ..instance import load

    file = kind.example_file()
    if file is None or file.stat().st_size > CHEAP:
        return None
    try:
        return load(file)
    except RequestError:
        return None


def print_rows(rows: Sequence[FieldRow]) -> None:
    """Fields of files, a row each, folded where the terminal ends; in a narrow one below each other."""
    width = terminal_width()
    if width is not None and width < NARROW:
        for row in rows:
            rule = f"; rule: {row.rule}" if row.rule else ""
            print("\n".join(wrap(field_line(row) + rule, max(width, 20), subsequent_indent="    ")))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*rows[0]._fields, box=None, pad_edge=False, header_style="")
    for row in rows:
        table.add_row(*map(Text, row))
    Console(width=width or 250, color_system=None).print(table)


def field_line(row: FieldRow) -> str:
    """One field in words: its type, its unit, its default, and what it means."""
    plain = row.default.startswith(("required", "optional", "one of"))
    told = [row.type, *([row.unit] if row.unit else []), row.default if plain else f"default {row.default}"]
    return f"{row.field} ({', '.join(told)}): {row.meaning}"
