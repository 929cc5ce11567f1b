"""What people type, made into what commands take: options that several commands share, decisions, exit codes."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ..data import whole_from_text
from ..errors import RequestError

ANSWERED, DEFECT, NOT_UNDERSTOOD, NOTHING_FEASIBLE = 0, 1, 2, 3

#: Options that take several values after one flag, by command.
SEVERAL = {"compare": ("--strategies",), "pareto": ("--measures",), "sweep": ("--vary",)}


def spread(arguments: Sequence[str]) -> list[str]:
    """Repeat flags that stand once before several values.

    >>> spread(["compare", "a.json", "--strategies", "highs", "dejavu", "--seeds", "3"])
    ['compare', 'a.json', '--strategies', 'highs', '--strategies', 'dejavu', '--seeds', '3']

    A value that looks like an instance ends the list, so that files may also come last: a file, the name of a shipped
    instance, or a folder; what is the name of a strategy is none of these.

    >>> spread(["compare", "--strategies", "highs", "dejavu", "gautam-2x3"])
    ['compare', '--strategies', 'highs', '--strategies', 'dejavu', 'gautam-2x3']
    """
    command = next((word for word in arguments if not word.startswith("-")), "")
    flags = SEVERAL.get(command, ())
    words: list[str] = []
    flag: str | None = None
    first = False
    for position, word in enumerate(arguments):
        if word == "--":
            return words + list(arguments[position:])
        if word.startswith("--"):
            name, equals, _ = word.partition("=")
            flag = name if name in flags else None
            first = flag is not None and not equals
            words.append(word)
        elif flag is None or first or word.startswith("-") or _is_instance(word):
            flag = flag if first else None
            first = False
            words.append(word)
        else:
            words += [flag, word]
    return words


def _is_instance(word: str) -> bool:
    """Tell whether a word stands for an instance, or a folder of them, rather than for one more value of a flag."""
    if ":" in word or "=" in word:
        return False
    if word.endswith((".json", ".toml")):
        return True
    from ..data import shipped_files
    from ..registry import AUTO, strategies

    return (word in shipped_files() or os.path.isdir(word)) and word != AUTO and word not in strategies


def instance_files(paths: Sequence[str]) -> list[str]:
    """Put the instance files below a folder in its place.

    Parameters
    ----------
    paths
        Files, names of shipped instances, folders.

    Returns
    -------
    list of str
        Files and names as they are given; those of a folder sorted, without results, which may lie beside.

    Raises
    ------
    RequestError
        If a folder holds none.
    """
    files: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            found = sorted(str(file) for file in Path(path).rglob("*.json") if not _is_something_else(file))
            if not found:
                raise RequestError(f"{path}: there is no .json file in this folder that holds an instance.")
            files += found
        else:
            files.append(path)
    return files


def _is_something_else(file: Path) -> bool:
    """Tell whether a file is sound JSON, and no attempt at an instance: a result, a list."""
    from ..data import read_json

    try:
        content = read_json(file)
    except RequestError:
        return False  # whoever reads it tells what is wrong
    return not isinstance(content, dict) or not {"kind", "data"} & set(content) or {"problem", "status"} <= set(content)


def parse_decision(text: str) -> Any:
    """The decision after ``--at``: ``-1,2,2``, ``@file.json`` (a list, an object, or a result), or JSON itself."""
    if text.startswith("@"):
        return read_decision(text[1:])
    if text.lstrip()[:1] in ("[", "{"):
        from ..data import parse_json

        return parse_json(text, "--at")
    return tuple(_number(part, text) for part in text.replace(",", " ").split())


def read_decision(path: str) -> Any:
    """The decision in a file: a list, an object, or the decision of a result."""
    from ..data import read_json
    from ..results import result_from_data

    content = read_json(path)
    if isinstance(content, Mapping) and {"decision", "status"} <= set(content):
        decision = result_from_data(content, folder=Path(path).parent).decision
        if decision is None:
            raise RequestError(f"{path}: this result has no decision.")
        return decision
    if isinstance(content, Mapping) and {"kind", "data"} <= set(content):
        raise RequestError(f"{path}: this is an instance, not a decision or a result.")
    if not isinstance(content, (list, dict)):
        raise RequestError(f"{path}: a decision is a list, an object, or a result file.")
    return content


def parse_options(words: Iterable[str]) -> dict[str, str]:
    """Options of a generator, ``--rows 8 --demand-law=cluster``, as names and texts."""
    given: dict[str, str] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--") or len(word) < 3:
            raise RequestError(f"options are written --name value, got {word!r}.")
        name, equals, value = word[2:].partition("=")
        key = name.replace("-", "_")
        if not equals:
            if not rest or rest[0].startswith("--"):
                raise RequestError(f"option --{name} needs a value.")
            value = rest.pop(0)
        if key in given:
            raise RequestError(f"option --{name} is given twice.")
        given[key] = value
    return given


def _number(part: str, text: str) -> int | float:
    try:
        return int(part)
    except ValueError:
        pass
    try:
        number = float(part)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise RequestError(
            f"a decision is a list of finite numbers such as 0,1,1, or @file.json; got {part!r} in {text!r}."
        )
    return number


# -- options ---------------------------------------------------------------------------------------------------------


def seconds_of(text: str) -> float:
    """A time after a flag."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number of seconds such as 60 or 0.5.") from None


def whole_number(text: str | int) -> int:
    """Read a whole number after a flag.

    Parameters
    ----------
    text
        What was typed; ``1e6`` is a whole number.

    Returns
    -------
    int
        The number.
    """
    try:
        return whole_from_text(str(text))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a whole number such as 10 or 1e6.") from None


def complete_instance(incomplete: str) -> list[str]:
    """Complete the name of a shipped instance, of a file or of a folder; after --strategies strategies, too."""
    from ..data import shipped_files

    words = (os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or "").split()
    flags = [word for word in words if word.startswith("--")]
    found = complete_strategy(incomplete) if flags[-1:] == ["--strategies"] else []
    found += [name for name in shipped_files() if name.startswith(incomplete)]
    folder, _, start = incomplete.rpartition("/")
    place = Path(folder or ("/" if incomplete.startswith("/") else "."))
    entries = sorted(place.iterdir()) if place.is_dir() and os.access(place, os.R_OK | os.X_OK) else []
    for entry in entries:
        if entry.name.startswith(start) and (start or not entry.name.startswith(".")):
            head = f"{folder}/" if folder or incomplete.startswith("/") else ""
            found += [f"{head}{entry.name}/"] if entry.is_dir() else [f"{head}{entry.name}"] if _is_json(entry) else []
    return found


def complete_strategy(incomplete: str) -> list[str]:
    """Complete the name of a strategy."""
    from ..registry import AUTO, strategies

    return [name for name in (AUTO, *strategies) if name.startswith(incomplete)]


def complete_kind(incomplete: str) -> list[str]:
    """Complete the name of a kind."""
    from ..registry import kinds

    return [name for name in kinds if name.startswith(incomplete)]


def complete_name(incomplete: str) -> list[str]:
    """Complete any name that `optmodels list` knows."""
    from ..registry import AUTO, REGISTRIES

    known = {AUTO, *(name for registry in REGISTRIES for name in registry)}
    return sorted(name for name in known if name.startswith(incomplete))


def _is_json(file: Path) -> bool:
    return file.suffix == ".json"


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="An instance file (JSON), or the name of a shipped instance.",
        autocompletion=complete_instance,
    ),
]
Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="Instance files, names of shipped instances, or folders of instances.",
        autocompletion=complete_instance,
    ),
]
KindName = Annotated[
    str,
    typer.Argument(
        metavar="KIND",
        help="Kind of problem: placement, threshold, ... (see `optmodels list`).",
        autocompletion=complete_kind,
    ),
]
DecisionAt = Annotated[
    str,
    typer.Option(
        "--at", metavar="DECISION", help="Numbers such as 0,1,1, or @file.json with a list, an object or a result."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on stdout.")]
Seconds = Annotated[
    float | None,
    typer.Option(parser=seconds_of, metavar="S", help="Time limit of a run; imports and compilation do not count."),
]
ClusterAddress = Annotated[
    str | None, typer.Option("--cluster", metavar="ADDRESS|local", help="Dask cluster whose workers share the runs.")
]
Evaluations = Annotated[
    int | None, typer.Option(parser=whole_number, metavar="E", help="Limit on the decisions that a run evaluates.")
]
Seed = Annotated[int, typer.Option(parser=whole_number, metavar="N", help="Seed of the random numbers.")]
Seeds = Annotated[
    int | None,
    typer.Option(
        parser=whole_number,
        metavar="N",
        help="Runs of each strategy that draws random numbers, with different seeds (default 1).",
    ),
]
ChosenName = Annotated[
    str,
    typer.Option(
        "--strategy",
        metavar="NAME[:p=v,...]",
        help="Strategy and its parameters (see `optmodels list`); auto chooses one.",
        autocompletion=complete_strategy,
    ),
]
Workers = Annotated[
    int, typer.Option(parser=whole_number, metavar="W", help="Number of processes that share the runs.")
]
SharedBy = Annotated[
    int | None,
    typer.Option(
        "--workers", parser=whole_number, metavar="W", help="Number of processes that share the runs (default 1)."
    ),
]
