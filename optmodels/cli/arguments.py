"""What people type, made into what commands take: options that several commands share, decisions, exit codes."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..data import whole_from_text
from ..errors import RequestError
from .output import note

if TYPE_CHECKING:
    from ..solving import Result

ANSWERED, DEFECT, NOT_UNDERSTOOD, NOTHING_FEASIBLE = 0, 1, 2, 3

#: Options that take several values after one flag, by command.
SEVERAL = {
    **{"compare": ("--strategies",), "bench": ("--strategies",), "pareto": ("--measures",), "sweep": ("--vary",)},
    **{"tune": ("--vary",)},
}


#: Files that are named in a note; others are counted.
SHOWN_FILES = 5


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
    """Tell whether a word stands for an instance, a folder or a set of them, rather than for one more value."""
    if ":" in word or "=" in word:
        return False
    if word.endswith((".json", ".toml")):
        return True
    from ..benchmarking import shipped_sets
    from ..data import shipped_files
    from ..registry import AUTO, strategies

    named = word in shipped_files() or word in shipped_sets()
    return (named or os.path.isdir(word)) and word != AUTO and word not in strategies


def instance_files(paths: Sequence[str]) -> list[str]:
    """Put the instance files below a folder in its place.

    Parameters
    ----------
    paths
        Files, names of shipped instances, folders.

    Returns
    -------
    list of str
        Files and names as they are given; those of a folder sorted, without what else lies there, which a note names.

    Raises
    ------
    RequestError
        If a folder holds none.
    """
    files: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            judged = {str(file): _something_else(file) for file in sorted(Path(path).rglob("*.json"))}
            skipped = [f"{file} ({reason})" for file, reason in judged.items() if reason is not None]
            if len(skipped) == len(judged):
                raise RequestError(f"{path}: {_nothing_in(skipped)}.")
            if skipped:
                note(f"skipped, as no instances: {_some(skipped)}.")
            files += [file for file, reason in judged.items() if reason is None]
        else:
            files.append(path)
    return files


def _nothing_in(skipped: Sequence[str]) -> str:
    found = f"; there are {_some(skipped)}" if skipped else ""
    return f"there is no .json file in this folder that holds an instance{found}"


def _some(names: Sequence[str]) -> str:
    """Name a few, and count the others."""
    more = f", and {len(names) - SHOWN_FILES} more" if len(names) > SHOWN_FILES else ""
    return f"{', '.join(names[:SHOWN_FILES])}{more}"


def _something_else(file: Path) -> str | None:
    """Say what a file is that is sound JSON, and no attempt at an instance; ``None``: whoever reads it tells more."""
    from ..data import read_json

    try:
        content = read_json(file)
    except RequestError:
        return None
    if not isinstance(content, dict):
        return "a list" if isinstance(content, list) else "one value"
    if {"problem", "status"} <= set(content):
        return "a result"
    return None if {"kind", "data"} & set(content) else "neither kind nor data"


def on_cluster(file: str, address: str) -> AbstractContextManager[Any]:
    """The problem of an instance, with a cluster to work on it, where its kind can use one."""
    from ..instance import read
    from ..registry import kinds

    kind = read(file).kind
    opened: Any = kinds.part(kind, "on_cluster") if kind in kinds else None
    if opened is None:
        able = ", ".join(kinds.having("on_cluster"))
        told = f"a cluster works on problems of kind {able}, and this one is of kind {kind!r}"
        raise RequestError(f"{file}: {told}; leave --cluster out.")
    manager: AbstractContextManager[Any] = opened(file, address)
    return manager


def parse_decision(text: str, problem: str | None = None) -> Any:
    """Read the decision after ``--at``.

    Parameters
    ----------
    text
        ``-1,2,2``, ``@file.json`` (a list, an object, or a result; the ``@`` may be left out), or JSON itself.
    problem
        Name of the problem it is for: a result must be an answer to it.

    Returns
    -------
    tuple, list or dict
        As it was written, numbers as a tuple.

    Raises
    ------
    RequestError
        If this is no decision.
    """
    if text.startswith("@") or text.endswith(".json"):
        return read_decision(text.removeprefix("@"), problem)
    if text.lstrip()[:1] in ("[", "{"):
        from ..data import parse_json

        return parse_json(text, "--at")
    return tuple(_number(part, text) for part in text.replace(",", " ").split())


def read_decision(path: str, problem: str | None = None) -> Any:
    """The decision in a file: a list, an object, or the decision of a result, which may be for one problem only."""
    from ..data import read_json

    refuse_folder(path)
    content = read_json(path)
    if isinstance(content, Mapping) and {"decision", "status"} <= set(content):
        return read_answer(path, problem, need=True).decision
    if isinstance(content, Mapping) and {"kind", "data"} <= set(content):
        raise RequestError(f"{path}: this is an instance, not a decision or a result.")
    if not isinstance(content, (list, dict)):
        raise RequestError(f"{path}: a decision is a list, an object, or a result file.")
    return content


def read_answer(path: str, problem: str | None = None, *, need: bool = False) -> Result:
    """Read a result file, and refuse an answer to another problem.

    Parameters
    ----------
    path
        Of the file.
    problem
        Name of the problem; ``None``: any.
    need
        Whether a result without a decision is refused, too.

    Returns
    -------
    Result
        As written.

    Raises
    ------
    RequestError
        One sentence with the file.
    """
    from ..results import read_result

    refuse_folder(path)
    result = read_result(path)
    if problem is not None and result.problem not in ("", problem):  # one that ended before its run names no problem
        told = f"this is an answer to {result.problem!r}, not to {problem!r}"
        raise RequestError(f"{path}: {told}; name the instance that it answers.")
    if need and result.decision is None:
        raise RequestError(f"{path}: this result has no decision.")
    return result


def refuse_folder(path: str) -> None:
    """Refuse a folder where a result or a decision is read."""
    if os.path.isdir(path):
        raise RequestError(f"{path}: this is a directory; name a file with a result or a decision.")


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
        where = "" if part == text else f" in {text!r}"
        raise RequestError(f"a decision is a list of finite numbers such as 0,1,1, or @file.json; got {part!r}{where}.")
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
        "--at",
        metavar="DECISION",
        help="Numbers such as 0,1,1, or @file.json with a list, an object or a result of this instance.",
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
Verify = Annotated[
    bool,
    typer.Option("--verify", help="Ask another solver for a second opinion; a third of --seconds is kept for it."),
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
