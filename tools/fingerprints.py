"""Tell whether code was only moved: a fingerprint of every body, wherever it stands.

A body is a top-level statement of a module of the three packages: a function, a class, a constant, the module's
docstring. Its fingerprint is a hash of its syntax tree, so that neither its file, its line, its layout nor its comments
matter. Imports do not count, wherever they stand, nor does ``__all__``: they say where things are, and that is what a
move changes. For the same reason a string that names a module of ours (``"optmodels.costs:WeightedSum"``) counts for
the part behind the colon only, and such names inside docstrings do not count (``--exact`` counts both as they are
written). Docstrings count, since help texts and refusals are made of them; ``--code`` leaves them out.

The bodies of a tree are a multiset. If it is the same before and after, nothing was changed, added or lost:

>>> python tools/fingerprints.py --against HEAD~1

The exit code is 1 if the two differ; every body that was added or lost is named with its file. ``--without-doors``
leaves out ``__init__.py``, on both sides: new folders need new doors. Fingerprints of different versions of Python
cannot be compared, for their syntax trees differ.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import io
import re
import subprocess
import sys
import tarfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("optmodels", "heuristics", "queueing")
DOOR = "__init__.py"

#: A string that is a place in our packages and nothing else; its first group is what does not depend on the place.
PLACE = re.compile(r"(?:optmodels|heuristics|queueing)(?:\.\w+)*((?::\w+)?)")

#: A place named in prose.
MENTION = re.compile(r"\b(?:optmodels|heuristics|queueing)(?:\.\w+)+")


@dataclass(frozen=True)
class Rules:
    """What counts.

    Parameters
    ----------
    docstrings
        Whether docstrings do.
    places
        Whether the names of our modules do, in strings and docstrings.
    doors
        Whether the ``__init__.py`` do.
    """

    docstrings: bool = True
    places: bool = False
    doors: bool = True


#: What counts for a move.
USUAL = Rules()


class Normal(ast.NodeTransformer):
    """Takes out of a syntax tree what does not count."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    def visit_Import(self, node: ast.Import) -> None:
        """Drop an import."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Drop an import."""

    def visit_If(self, node: ast.If) -> ast.If | None:
        """Drop a condition that held nothing but imports, such as ``if TYPE_CHECKING``."""
        self.generic_visit(node)
        return node if node.body or node.orelse else None

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        """Drop a docstring, or the places it mentions."""
        if not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):
            self.generic_visit(node)
            return node
        if not self.rules.docstrings:
            return None
        text = node.value.value
        return ast.Expr(ast.Constant(text if self.rules.places else MENTION.sub("", text)))

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        """Shorten a string that is a place."""
        if self.rules.places or not isinstance(node.value, str):
            return node
        place = PLACE.fullmatch(node.value)
        return node if place is None else ast.Constant(place[1])


def bodies(source: str, rules: Rules = USUAL) -> Iterator[tuple[str, str]]:
    """Yield the fingerprint and the name of every body of a module."""
    for statement in Normal(rules).visit(ast.parse(source)).body:
        name = name_of(statement)
        if name != "__all__":
            yield hashlib.sha256(ast.dump(statement).encode()).hexdigest()[:16], name


def name_of(statement: ast.stmt) -> str:
    """Name what a statement defines, or show how it begins."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return statement.name
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    names = [node.id for target in targets if target for node in ast.walk(target) if isinstance(node, ast.Name)]
    if names:
        return ", ".join(names)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return "(docstring)"
    return f"({ast.unparse(ast.fix_missing_locations(statement)).splitlines()[0][:60]})"


def fingerprints(sources: Mapping[str, str], rules: Rules = USUAL) -> dict[str, list[str]]:
    """Map every fingerprint to the bodies that have it, each as ``file: name``."""
    found: dict[str, list[str]] = defaultdict(list)
    for file, source in sorted(sources.items()):
        if rules.doors or Path(file).name != DOOR:
            for fingerprint, name in bodies(source, rules):
                found[fingerprint].append(f"{file}: {name}")
    return dict(found)


def digest(found: Mapping[str, list[str]]) -> str:
    """Hash the multiset of fingerprints."""
    lines = (f"{fingerprint} {len(places)}\n" for fingerprint, places in sorted(found.items()))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def differences(before: Mapping[str, list[str]], after: Mapping[str, list[str]]) -> tuple[list[str], list[str]]:
    """List the bodies that were lost and those that were added.

    Where a body stood several times and now stands another number of times, all its places are named on the side that
    has more of it: which of them came or went cannot be told.
    """
    lost: list[str] = []
    added: list[str] = []
    for fingerprint in before.keys() | after.keys():
        old, new = before.get(fingerprint, []), after.get(fingerprint, [])
        if len(old) != len(new):
            note = f" ({len(old)} -> {len(new)} alike)" if old and new else ""
            (lost if len(old) > len(new) else added).extend(place + note for place in max(old, new, key=len))
    return sorted(lost), sorted(added)


def working_tree(root: Path = ROOT) -> dict[str, str]:
    """Read the modules of the three packages."""
    files = [file for package in PACKAGES for file in sorted((root / package).rglob("*.py"))]
    return {file.relative_to(root).as_posix(): file.read_text(encoding="utf-8") for file in files}


def revision(name: str, root: Path = ROOT) -> dict[str, str]:
    """Read the modules of the three packages as they were in a revision, without checking it out."""
    archive = subprocess.run(["git", "archive", name, "--", *PACKAGES], cwd=root, check=True, stdout=subprocess.PIPE)
    sources = {}
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tree:
        for member in tree:
            content = tree.extractfile(member) if member.name.endswith(".py") else None
            if content is not None:
                sources[member.name] = content.read().decode("utf-8")
    return sources


def main(words: list[str] | None = None, root: Path = ROOT) -> int:
    """List the bodies, or compare them with those of a revision."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--against", metavar="REV", help="compare the working tree with this revision")
    parser.add_argument("--code", action="store_true", help="leave docstrings out")
    parser.add_argument(
        "--exact", action="store_true", help="count names of our modules in strings as they are written"
    )
    parser.add_argument("--without-doors", action="store_true", help="leave __init__.py out")
    options = parser.parse_args(words)
    rules = Rules(docstrings=not options.code, places=options.exact, doors=not options.without_doors)
    now = fingerprints(working_tree(root), rules)
    if options.against is None:
        for fingerprint, places in sorted(now.items()):
            print(f"{len(places):4d}  {fingerprint}  {'; '.join(places)}")
    else:
        try:
            then = fingerprints(revision(options.against, root), rules)
        except subprocess.CalledProcessError:  # git has said why
            return 2
        lost, added = differences(then, now)
        for heading, places in (("lost", lost), ("added", added)):
            for place in places:
                print(f"{heading:5}  {place}")
        print(f"{len(lost)} lost, {len(added)} added since {options.against}")
    print(f"{sum(map(len, now.values()))} bodies, {len(now)} different, digest {digest(now)}")
    return 0 if options.against is None else int(bool(lost or added))


if __name__ == "__main__":
    sys.exit(main())
