"""Write the tables of fields in the documentation, from the models that read the fields.

>>> python tools/fields.py
>>> python tools/fields.py --check

In ``docs/<kind>.md`` the table stands between two markers. With ``--check`` nothing is written, and documents that are
no longer what the models say are named.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

#: Between these lines of a document stands the table.
BEGIN = "<!-- fields of the data: written by `make fields`, not by hand -->"
END = "<!-- end of the fields -->"


def table(kind: str) -> str:
    """The fields of a kind, as Markdown."""
    from optmodels.instance import data_fields

    rows = [("field", "type", "unit", "default", "meaning", "rule"), ("---",) * 6]
    for row in data_fields(kind):
        name, bracket, law = row.field.partition(" (")
        told = row.type if not row.type.startswith("as ") else f"as `{row.type[3:]}`"
        default = row.default if row.default.startswith(("required", "optional", "one of ")) else f"`{row.default}`"
        rows.append((f"`{name}`{bracket}{law}", told, row.unit, default, row.meaning, row.rule))
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)


def refreshed(document: str, kind: str) -> str:
    """A document with the table between its markers.

    Raises
    ------
    ValueError
        If the markers are not there, once each and in order.
    """
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end) or BEGIN in after or END in before + after:
        raise ValueError(f"the fields of {kind} stand between two lines, once each: {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{table(kind)}\n\n{END}{after}"


def stale(root: Path) -> dict[Path, str]:
    """Documents of kinds that describe their data and are not what they should be, and what they should be."""
    from optmodels.registry import kinds

    found = {}
    for kind in kinds.having("data"):
        file = root / "docs" / f"{kind}.md"
        if file.is_file():
            document = file.read_text(encoding="utf-8")
            if (new := refreshed(document, kind)) != document:
                found[file] = new
    return found


def main() -> int:
    """Write, or check."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="name documents that are not what the models say")
    options = parser.parse_args()
    found = stale(ROOT)
    for file, text in found.items():
        print(file.relative_to(ROOT))
        if not options.check:
            file.write_text(text, encoding="utf-8")
    return 1 if options.check and found else 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))  # this tree, whatever is installed
    raise SystemExit(main())
