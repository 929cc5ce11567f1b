"""The study file (TOML): instances, strategies with parameters, seeds, budget, and who does the work.

It holds data only, and is read by ``tomllib``. Paths are relative to the file. What determines the results (instances,
strategies, seeds, budget, threads) has a checksum, which stands in every result; who does the work and where the
results go has no part in it.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heuristics import Budget, Strategy

from ...data import build, locate
from ...errors import InstanceError, MissingField, RequestError, UnreadableFile, suggestion
from ...registry import make_strategy, strategies
from ..resources import check_threads
from ..runs import label_of
from .subjects import is_set

FIELDS = (
    "format", "name", "notes", "instances", "strategies", "seeds", "budget", "threads", "memory", "workers", "cluster",
    "out",
)  # fmt: skip

BUDGET = ("seconds", "evaluations", "stall")
STRATEGY = ("name", "parameters", "label")

#: What a study file is called.
SUFFIX = ".toml"


@dataclass(frozen=True)
class Study:
    """What a study file asks for.

    Parameters
    ----------
    file
        Path of the file, as it was given.
    instances
        Files and names of shipped instances, folders resolved.
    strategies
        By what people call them.
    seeds
        How many, or which; ``None`` where the file does not say, as in all that follows.
    budget
        Limits of each run.
    threads
        Of each run.
    memory
        Whether each run has a process of its own, whose memory is measured.
    workers, cluster
        Who shares the runs.
    out
        The folder.
    text
        The file itself, which is kept in the folder.
    """

    file: str
    instances: tuple[str, ...]
    strategies: Mapping[str, Strategy]
    seeds: int | tuple[int, ...] | None = None
    budget: Budget = field(default_factory=Budget)
    threads: int | None = None
    memory: bool | None = None
    workers: int | None = None
    cluster: str | None = None
    out: str | None = None
    text: str = ""


def is_study(thing: object) -> bool:
    """Tell whether a path is that of a study file.

    Parameters
    ----------
    thing
        What was given in place of problems.

    Returns
    -------
    bool
        Whether it is a path that ends in ``.toml``.
    """
    return isinstance(thing, (str, os.PathLike)) and os.fspath(thing).endswith(SUFFIX)


def read_study(path: str | os.PathLike[str]) -> Study:
    """Read a study file.

    Parameters
    ----------
    path
        Of a TOML file.

    Returns
    -------
    Study
        With strategies made and instances found, but not yet read.

    Raises
    ------
    InstanceError
        One sentence with file, field, value and rule.
    """
    file = os.fspath(path)
    try:
        text = Path(path).read_bytes().decode()
        data = tomllib.loads(text)
    except FileNotFoundError:
        raise UnreadableFile("there is no such file.", file) from None
    except OSError as failure:
        raise UnreadableFile(f"cannot be read: {failure.strerror or failure}.", file) from None
    except UnicodeDecodeError:
        raise UnreadableFile("this is not text in UTF-8.", file) from None
    except (tomllib.TOMLDecodeError, RecursionError) as failure:
        raise UnreadableFile(f"this is not TOML: {failure}.", file) from None
    try:
        return _study(data, Path(path), text)
    except InstanceError as failure:
        raise failure if failure.file == file else failure.at(file) from None


# -- inside -----------------------------------------------------------------------------------------------------------


def _study(data: Mapping[str, Any], path: Path, text: str) -> Study:
    _refuse_unknown(data, FIELDS, "")
    if data.get("format", 1) != 1 or isinstance(data.get("format"), bool):
        raise InstanceError("format", data["format"], "this version reads format 1.")
    for name in ("name", "notes", "cluster", "out"):
        if name in data and (not isinstance(data[name], str) or not data[name]):
            raise InstanceError(name, data[name], "this is a text.")
    if "workers" in data and "cluster" in data:
        raise InstanceError("cluster", data["cluster"], "the runs are shared by workers or by a cluster, not by both.")
    if "memory" in data and not isinstance(data["memory"], bool):
        raise InstanceError("memory", data["memory"], "this is true or false.")
    workers = data.get("workers")
    if workers is not None and (not _is_whole(workers) or workers < 1):
        raise InstanceError("workers", workers, "the number of processes is 1 or more.")
    out = data.get("out")
    return Study(
        file=os.fspath(path),
        instances=_instances(data, path.parent),
        strategies=_strategies(data),
        seeds=_seeds(data),
        budget=_budget(data.get("budget", {})),
        threads=_threads(data.get("threads")),
        memory=data.get("memory"),
        workers=workers,
        cluster=data.get("cluster"),
        out=None if out is None else os.fspath(path.parent / out),
        text=text,
    )


def _refuse_unknown(data: Mapping[str, Any], known: Sequence[str], place: str) -> None:
    for name in data:
        if name not in known:
            rule = f"there is no such field. {suggestion(name, known)}"
            raise InstanceError(f"{place}{name}", data[name], rule)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _listed(data: Mapping[str, Any], name: str, rule: str) -> list[Any]:
    if name not in data:
        raise MissingField(name, rule)
    if not isinstance(data[name], list) or not data[name]:
        raise InstanceError(name, data[name], rule)
    return list(data[name])


def _instances(data: Mapping[str, Any], folder: Path) -> tuple[str, ...]:
    """Find the instances: files and folders beside the study file come first, then names of shipped instances."""
    from ...cli import instance_files

    rule = 'list at least one instance: a file, a folder, or a name such as "gautam-2x3".'
    found: list[str] = []
    for index, entry in enumerate(_listed(data, "instances", rule)):
        place = f"instances[{index}]"
        if not isinstance(entry, str) or not entry or "\0" in entry:
            raise InstanceError(place, entry, "an instance is a file, a folder, or the name of a shipped instance.")
        beside = folder / entry
        try:
            if beside.exists():
                found += instance_files([os.fspath(beside)])
            elif is_set(entry) or locate(entry).exists():
                found.append(entry)
            else:
                raise InstanceError(place, entry, f"there is no such file or folder in {os.fspath(folder)!r}.")
        except UnreadableFile as failure:
            raise InstanceError(place, entry, failure.rule) from None
        except InstanceError:
            raise
        except RequestError as failure:
            raise InstanceError(place, entry, str(failure)) from None
    return tuple(dict.fromkeys(found))


def _strategies(data: Mapping[str, Any]) -> dict[str, Strategy]:
    rule = 'list at least one strategy: "annealing", "annealing:steps=500", or {name = ..., parameters = {...}}.'
    made: dict[str, Strategy] = {}
    for index, entry in enumerate(_listed(data, "strategies", rule)):
        place = f"strategies[{index}]"
        try:
            label, strategy = _strategy(entry, place)
        except InstanceError:
            raise
        except RequestError as failure:
            raise InstanceError(place, entry, str(failure)) from None
        if label in made and made[label] != strategy:
            raise InstanceError(f"{place}.label", label, "another strategy has this label.")
        made[label] = strategy
    return made


def _strategy(entry: Any, place: str) -> tuple[str, Strategy]:
    if isinstance(entry, str):
        return entry.strip(), make_strategy(entry)
    if not isinstance(entry, Mapping):
        raise InstanceError(place, entry, "a strategy is a text, or a table with name, parameters and label.")
    _refuse_unknown(entry, STRATEGY, f"{place}.")
    name, given, label = entry.get("name"), entry.get("parameters", {}), entry.get("label")
    if not isinstance(name, str) or not name:
        raise InstanceError(f"{place}.name", name, 'name the strategy, see `optmodels list`; "name" is a text.')
    if not isinstance(given, Mapping):
        raise InstanceError(f"{place}.parameters", given, "parameters are a table such as {steps = 500}.")
    if label is not None and (not isinstance(label, str) or not label.strip() or not label.isprintable()):
        raise InstanceError(f"{place}.label", label, "a label is printable text on one line.")
    strategy: Strategy = build(strategies[name], given, f"strategy {name!r}") if given else make_strategy(name)
    return label or label_of(strategy), strategy


def _seeds(data: Mapping[str, Any]) -> int | tuple[int, ...] | None:
    seeds = data.get("seeds")
    if seeds is None:
        return None
    if _is_whole(seeds) and seeds >= 1:
        return int(seeds)
    if isinstance(seeds, list) and seeds and all(_is_whole(seed) and seed >= 0 for seed in seeds):
        return tuple(seeds)
    raise InstanceError("seeds", seeds, "this is how many, 1 or more, or a list of seeds, each 0 or more.")


def _budget(data: Any) -> Budget:
    if not isinstance(data, Mapping):
        raise InstanceError("budget", data, "a budget is a table with seconds, evaluations or both.")
    _refuse_unknown(data, BUDGET, "budget.")
    for name, value in data.items():
        try:
            Budget(**{name: value})
        except ValueError as failure:
            raise InstanceError(f"budget.{name}", value, str(failure)) from None
    return Budget(**data)


def _threads(threads: Any) -> int | None:
    try:
        return None if threads is None else check_threads(threads)
    except RequestError:
        raise InstanceError(
            "threads", threads, "the number of threads of a run is a whole number, 1 or more."
        ) from None
