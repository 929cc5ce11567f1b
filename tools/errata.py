"""Write the page of all errata, docs/errata.md, from the tables in ``docs/<kind>.md``.

>>> python tools/errata.py
>>> python tools/errata.py --check

In ``docs/<kind>.md`` the table stands between two markers, and its last column names tests; on the page each test is
named by its path. A name that no file of tests has, or that two have in different folders, is an error. With
``--check`` nothing is written, and the exit code is 1 if the page is not what the tables say.
"""

from __future__ import annotations

import argparse
import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = "docs/errata.md"

#: Between these lines of a document stands the table.
BEGIN = "<!-- errata: `make errata` copies this table to docs/errata.md -->"
END = "<!-- end of the errata -->"

COLUMNS = ["where", "printed", "right", "why", "test"]

#: Instead of tests, where there is nothing to compute.
NONE = "none"

#: Kind to the paper, and to the files that hold its tests.
PAPERS = {
    "threshold": ("Avrachenkov, Dudin, Klimenok, Nain, Semenova (2011)", ["tests/published/test_avrachenkov.py"]),
    "robots": ("Talim, Liu, Nain, Coffman (2001)", ["tests/published/test_talim.py"]),
    "freshness": (
        "Coffman, Liu, Weber (1998)",
        ["tests/published/test_coffman.py", "tests/published/test_coffman_golden.py"],
    ),
    "routing": (
        "Altman, Bhulai, Gaujal, Hordijk (2000)",
        ["tests/published/test_altman.py", "tests/published/test_altman_multimodular.py"],
    ),
    "placement": ("Gautam (2002)", ["tests/published/test_gautam.py", "tests/optmodels/placement/test_mip.py"]),
}

INTRODUCTION = """\
# The literature corrected

<!-- written by `make errata` from docs/<kind>.md, not by hand -->

optmodels stands on five papers. Each was computed anew, table by table and formula by formula. Most of what they
print is right, and tested as such. What is not right is listed here: {total} entries, each with what is printed, what
is right, why, and the tests that show both. A reading that a paper leaves open, and that its own numbers decide, is an
entry too.

Run a test by its name, for instance

```
python -m pytest {example}
```

| paper | kind | entries |
| --- | --- | --- |
{papers}
"""


@dataclass(frozen=True)
class Erratum:
    """A row of a table."""

    where: str
    printed: str
    right: str
    why: str
    tests: tuple[str, ...]


def errata(document: str, kind: str) -> list[Erratum]:
    """Read the table of a document.

    Raises
    ------
    ValueError
        If the table is not there, or a row has not all columns.
    """
    _, begin, rest = document.partition(BEGIN)
    table, end, _ = rest.partition(END)
    lines = table.strip().splitlines()
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))] for line in lines]
    if not (begin and end) or len(rows) < 3 or rows[0] != COLUMNS:
        raise ValueError(f"the errata of {kind} stand between two lines, {BEGIN} and {END}, with columns {COLUMNS}")
    found = []
    for cells in rows[2:]:
        if len(cells) != len(COLUMNS) or not all(cells):
            raise ValueError(f"an erratum of {kind} has {len(COLUMNS)} cells, none of them empty: {' | '.join(cells)}")
        tests = tuple(re.findall(r"`(test_\w+)`", cells[4]))
        if not tests and cells[4] != NONE:
            raise ValueError(f"an erratum of {kind} names its tests, or says {NONE!r}: {' | '.join(cells)}")
        found.append(Erratum(*cells[:4], tests))
    return found


@cache
def tests_of(file: Path) -> frozenset[str]:
    """Name the tests of a file, without importing it."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def path_of(test: str, kind: str, root: Path = ROOT) -> str:
    """Name a test by its path.

    Raises
    ------
    ValueError
        If not exactly one file of the kind has it.
    """
    files = [file for file in PAPERS[kind][1] if test in tests_of(root / file)]
    if len(files) != 1:
        raise ValueError(f"{test}, an erratum of {kind}, is a test in one of {', '.join(PAPERS[kind][1])}; not so here")
    return f"{files[0]}::{test}"


def section(kind: str, rows: list[Erratum]) -> str:
    """Write the errata of one paper."""
    lines = [
        f"## {PAPERS[kind][0]}",
        "",
        f"The model, its methods and what was measured: [{kind}]({kind}.md).",
    ]
    for row in rows:
        tests = [f"`{path_of(test, kind)}`" for test in row.tests]
        lines += [
            "",
            f"**{row.where}**",
            "",
            f"- printed: {row.printed}",
            f"- right: {row.right}",
            f"- why: {row.why}",
            f"- {'test' if len(tests) == 1 else 'tests'}: {', '.join(tests) or NONE}",
        ]
    return "\n".join(lines)


def page(root: Path = ROOT) -> str:
    """Write the whole page."""
    found = {kind: errata((root / f"docs/{kind}.md").read_text(encoding="utf-8"), kind) for kind in PAPERS}
    papers = "\n".join(f"| {PAPERS[kind][0]} | [{kind}]({kind}.md) | {len(rows)} |" for kind, rows in found.items())
    example = path_of(found["placement"][-1].tests[0], "placement")
    total = sum(map(len, found.values()))
    head = INTRODUCTION.format(total=total, papers=papers, example=example)
    return "\n\n".join([head.rstrip(), *(section(kind, rows) for kind, rows in found.items())]) + "\n"


def main() -> int:
    """Write, or check."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="exit with 1 if the page is not what the tables say")
    options = parser.parse_args()
    text = page()
    if options.check:
        return int(text != (ROOT / PAGE).read_text(encoding="utf-8"))
    (ROOT / PAGE).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
