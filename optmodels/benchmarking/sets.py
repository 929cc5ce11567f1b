"""Benchmark sets: named lists of instances, so that everybody compares on the same ones.

A set is a TOML file, read as data and nothing else::

    format = 1
    name = "small"
    title = "Two grids and three random ones"
    strategies = ["highs", "annealing"]     # what `optmodels bench small` compares
    seconds = 10.0                          # for each run
    seeds = 3
    instances = ["gautam-2x3", "gautam-4x4"]  # shipped, by name

    [[family]]                              # drawn, by generator, options and seeds
    name = "grid-{seed}"
    generator = "placement"
    seeds = [0, 1, 2]
    digests = ["3f0c...", "91ab...", "77de..."]
    options = { rows = 6, columns = 6 }

A digest fixes what is drawn: kind, data, cost and limits, floats to ten digits. If a generator ever draws something
else from the same seed, the set is refused rather than silently changed. What is known of the instances stands beside,
in ``small.solutions.toml`` (`optmodels.benchmarking.solutions`).
"""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from ..data import is_number, is_whole, shipped_files, shipped_folder
from ..errors import InstanceError, MissingField, RequestError, UnknownName, UnreadableFile, nearest
from ..generating import generate
from ..instance import Instance, read
from ..registry import kinds

#: Folder of the sets that come with the package, below that of shipped instances; and what their files end with.
FOLDER, SUFFIX, SOLUTIONS = "sets", ".toml", ".solutions.toml"

#: Larger files are no sets, and larger sets no benchmarks.
LARGEST_FILE, MOST_MEMBERS = 1_000_000, 10_000

#: Papers whose tables can be remade, by first author.
PAPERS = ("avrachenkov", "talim", "coffman", "altman", "gautam")

#: Hexadecimal digits of a digest that a set holds.
DIGEST_LENGTH = 16


@dataclass(frozen=True)
class Member:
    """An instance of a set: a shipped one, or one that is drawn.

    Parameters
    ----------
    name
        In tables, and in the solution file; that of a shipped instance is its own.
    generator
        Kind whose generator draws it; ``None``: it is shipped.
    options
        Of the generator, the seed among them.
    digest
        What must come out.
    """

    name: str
    generator: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    digest: str | None = None

    @property
    def kind(self) -> str:
        """Kind of the problem, without drawing it."""
        return self.generator or shipped_files()[self.name].parent.name

    def instance(self) -> Instance:
        """Read or draw the instance.

        Returns
        -------
        Instance
            With the name that it has in the set.

        Raises
        ------
        RequestError
            If something else is drawn than the digest says.
        """
        if self.generator is None:
            return read(self.name)
        drawn = generate(self.generator, **self.options, name=self.name)
        if self.digest is not None and instance_digest(drawn) != self.digest:
            raise RequestError(
                f"{self.name}: the generator of kind {self.generator!r} draws another instance than the one in the set "
                f"(digest {instance_digest(drawn)}, not {self.digest}); results on it would not compare."
            )
        return drawn.model_copy(update={"name": self.name})


@dataclass(frozen=True)
class BenchmarkSet:
    """A named list of instances, and how strategies are compared on it unless somebody asks otherwise.

    Parameters
    ----------
    name, title, about
        What it is called, in a few words what it is, and where it comes from.
    members
        The instances, in order.
    strategies, seconds, evaluations, seeds
        Of a comparison.
    papers
        Whose tables are remade besides (`optmodels.benchmarking.papers`).
    file
        Where it was read from.
    """

    name: str
    title: str
    about: str
    members: tuple[Member, ...]
    strategies: tuple[str, ...] = ("auto",)
    seconds: float | None = None
    evaluations: int | None = None
    seeds: int = 1
    papers: tuple[str, ...] = ()
    file: Path | None = None

    def __len__(self) -> int:
        return len(self.members)

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of its problems, each once, in order."""
        return tuple(dict.fromkeys(member.kind for member in self.members))

    @property
    def solution_file(self) -> Path | None:
        """Where the best known values stand; the file need not be there."""
        return None if self.file is None else self.file.with_suffix("").with_suffix(SOLUTIONS)

    def instances(self) -> list[Instance]:
        """Read and draw all instances, in order."""
        return [member.instance() for member in self.members]


def instance_digest(instance: Instance) -> str:
    """Compute what fixes an instance in a set: kind, data, cost and limits, floats to ten digits.

    Parameters
    ----------
    instance
        As it was drawn.

    Returns
    -------
    str
        The beginning of a SHA-256 sum; ten digits leave out what another mathematical library rounds otherwise.
    """
    content = [instance.kind, instance.data, instance.cost, instance.limits]
    text = json.dumps(_rounded(content), sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.10g}")
    if isinstance(value, Mapping):
        return {key: _rounded(entry) for key, entry in value.items()}
    return [_rounded(entry) for entry in value] if isinstance(value, (list, tuple)) else value


@cache
def shipped_sets() -> dict[str, Path]:
    """Map the names of the sets that come with the package to their files, in alphabetical order.

    Returns
    -------
    dict of str to Path
        None where the package was installed without instances.
    """
    folder = shipped_folder()
    files = [] if folder is None else sorted((folder / FOLDER).glob(f"*{SUFFIX}"))
    return {file.stem: file for file in files if not file.name.endswith(SOLUTIONS)}


def read_set(name: str | os.PathLike[str]) -> BenchmarkSet:
    """Read a benchmark set.

    Parameters
    ----------
    name
        Of a set that comes with the package, or the path of a file ending in ``.toml``.

    Returns
    -------
    BenchmarkSet
        Checked, but nothing is drawn yet.

    Raises
    ------
    UnknownName
        If there is no set of this name; the sentence names the nearest.
    InstanceError
        If the file is no set; the sentence names file, field, value and rule.

    Examples
    --------
    >>> from optmodels.benchmarking import read_set
    >>> grids = read_set("gautam-25")
    >>> len(grids), grids.members[0].instance().kind
    (25, 'placement')
    """
    path = Path(name)
    if path.suffix != SUFFIX:
        known = shipped_sets()
        if str(name) not in known:
            meant = nearest(str(name), known)
            question = "" if meant is None else f" Did you mean {meant!r}?"
            raise UnknownName(
                f"there is no benchmark set {str(name)!r}.{question} Known: {', '.join(known)}; "
                f"or give the path of a file of your own, ending in {SUFFIX}."
            )
        path = known[str(name)]
    try:
        return _set_of(read_toml(path), path)
    except InstanceError as failure:
        raise (failure if failure.file else failure.at(os.fspath(path))) from None


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file as data.

    Parameters
    ----------
    path
        Of the file.

    Returns
    -------
    dict
        What stands in it.

    Raises
    ------
    UnreadableFile
        If it cannot be read, is too large, or is no TOML; the sentence names the line.
    """
    shown = os.fspath(path)
    try:
        content = path.read_bytes()
    except OSError as failure:
        raise UnreadableFile(f"cannot be read: {failure.strerror or failure}.", shown) from None
    if len(content) > LARGEST_FILE:
        raise UnreadableFile(f"has {len(content)} bytes; at most {LARGEST_FILE} are read.", shown)
    try:
        return tomllib.loads(content.decode("utf-8"))
    except UnicodeDecodeError as failure:
        raise UnreadableFile(f"is no text in UTF-8: {failure.reason} at byte {failure.start}.", shown) from None
    except (tomllib.TOMLDecodeError, RecursionError) as failure:
        raise UnreadableFile(f"is no TOML: {str(failure) or 'too deeply nested'}.", shown) from None


# -- fields -----------------------------------------------------------------------------------------------------------


def text_of(content: Mapping[str, Any], key: str, place: str = "", default: str | None = None) -> str:
    """Take a line of printable text, or several, out of a table; without a default the field is required."""
    if key not in content:
        if default is None:
            raise MissingField(place + key, "it is a text.")
        return default
    value = content[key]
    if not isinstance(value, str) or not value.strip() or not value.replace("\n", "").isprintable():
        raise InstanceError(place + key, value, "it is a printable text.")
    return value


def number_of(content: Mapping[str, Any], key: str, place: str = "") -> float | None:
    """Take a finite number out of a table, or nothing."""
    value = content.get(key)
    if value is not None and not is_number(value):
        raise InstanceError(place + key, value, "it is a finite number.")
    return None if value is None else float(value)


def refuse_others(content: Mapping[str, Any], known: tuple[str, ...], place: str = "") -> None:
    """Refuse fields that are none of these."""
    for key in content:
        if key not in known:
            meant = nearest(key, known)
            question = f"did you mean {meant!r}?" if meant else f"known are {', '.join(known)}."
            raise InstanceError(place + key, content[key], f"there is no such field; {question}")


def check_head(content: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Check the version of a file, and that it has no fields of another format."""
    refuse_others(content, known)
    if "format" not in content:
        raise MissingField("format", "it is 1.")
    if not is_whole(content["format"]) or content["format"] != 1:
        raise InstanceError("format", content["format"], "it is 1; this version reads no other.")


_SET = (
    *(
        "format",
        "name",
        "title",
        "about",
        "strategies",
        "seconds",
        "evaluations",
        "seeds",
        "papers",
        "instances",
        "family",
    ),
)
_FAMILY = ("name", "generator", "seeds", "digests", "options")


def _set_of(content: Mapping[str, Any], path: Path) -> BenchmarkSet:
    check_head(content, _SET)
    name = text_of(content, "name")
    if name != path.stem:
        raise InstanceError("name", name, f"a set has the name of its file, {path.stem!r}.")
    members = [*_shipped(content), *_drawn(content)]
    if not members:
        raise MissingField("instances", "a set has instances, a family, or both.")
    if len(members) > MOST_MEMBERS:
        raise InstanceError("family", len(members), f"a set has at most {MOST_MEMBERS} instances.")
    names = [member.name for member in members]
    twice = next((one for one in names if names.count(one) > 1), None)
    if twice is not None:
        raise InstanceError("name", twice, "no two instances of a set have one name.")
    strategies = content.get("strategies", ["auto"])
    if (
        not isinstance(strategies, list)
        or not strategies
        or not all(isinstance(one, str) and one for one in strategies)
    ):
        raise InstanceError("strategies", strategies, "it is a list of strategies such as 'annealing'.")
    papers = content.get("papers", [])
    if not isinstance(papers, list) or not all(paper in PAPERS for paper in papers):
        raise InstanceError("papers", papers, f"it is a list of papers: {', '.join(PAPERS)}.")
    seconds = number_of(content, "seconds")
    if seconds is not None and seconds <= 0:
        raise InstanceError("seconds", seconds, "it is above 0.")
    for key in ("evaluations", "seeds"):
        value = content.get(key, 1)
        if not is_whole(value) or value < 1:
            raise InstanceError(key, value, "it is a whole number, 1 or more.")
    return BenchmarkSet(
        name,
        text_of(content, "title"),
        text_of(content, "about", default=" ").strip(),
        tuple(members),
        tuple(strategies),
        seconds,
        content.get("evaluations"),
        content.get("seeds", 1),
        tuple(papers),
        path,
    )


def _shipped(content: Mapping[str, Any]) -> list[Member]:
    given = content.get("instances", [])
    if not isinstance(given, list):
        raise InstanceError("instances", given, "it is a list of names of shipped instances.")
    known = shipped_files()
    for index, name in enumerate(given):
        if not isinstance(name, str) or name not in known:
            meant = nearest(str(name), known)
            question = "" if meant is None else f" Did you mean {meant!r}?"
            raise InstanceError(f"instances[{index}]", name, f"no shipped instance has this name.{question}")
    return [Member(name) for name in given]


def _drawn(content: Mapping[str, Any]) -> list[Member]:
    families = content.get("family", [])
    if not isinstance(families, list) or not all(isinstance(one, Mapping) for one in families):
        raise InstanceError("family", families, "families are tables [[family]].")
    return [member for index, family in enumerate(families) for member in _members(family, f"family[{index}].")]


def _members(family: Mapping[str, Any], place: str) -> list[Member]:
    refuse_others(family, _FAMILY, place)
    generator = text_of(family, "generator", place)
    if generator not in kinds.having("generator"):
        raise InstanceError(
            place + "generator", generator, f"kinds that draw are {', '.join(kinds.having('generator'))}."
        )
    seeds = family.get("seeds")
    if not isinstance(seeds, list) or not seeds or not all(is_whole(seed) and seed >= 0 for seed in seeds):
        raise InstanceError(place + "seeds", seeds, "it is a list of whole numbers, each 0 or more.")
    digests = family.get("digests")
    if not isinstance(digests, list) or len(digests) != len(seeds) or not all(_is_digest(one) for one in digests):
        rule = f"it is a list of digests of {DIGEST_LENGTH} hexadecimal digits, one for each of the {len(seeds)} seeds."
        raise InstanceError(place + "digests", digests, rule)
    name = text_of(family, "name", place)
    if len(seeds) > 1 and "{seed}" not in name:
        raise InstanceError(place + "name", name, "the name of a family with several seeds has {seed} in it.")
    options = family.get("options", {})
    if not isinstance(options, Mapping) or {"seed", "name"} & set(options):
        raise InstanceError(place + "options", options, "it is a table of options, without seed and name.")
    for key, value in options.items():
        if not isinstance(value, (str, int, float)):
            raise InstanceError(f"{place}options.{key}", value, "an option is a text or a number.")
    return [
        Member(name.replace("{seed}", str(seed)), generator, {**options, "seed": seed}, digest)
        for seed, digest in zip(seeds, digests, strict=True)
    ]


def _is_digest(value: Any) -> bool:
    return isinstance(value, str) and len(value) == DIGEST_LENGTH and set(value) <= set("0123456789abcdef")
