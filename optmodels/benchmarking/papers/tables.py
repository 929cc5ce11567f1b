"""Tables of the papers beside ours: printed, computed, the difference, and what is known about it.

What the papers print, misprints included, stands in ``instances/sets/papers``, one file per paper, with a list of the
places where the right value is another one: each names that value, the erratum (its number among those of the paper
in ``docs/errata.md``) and why. A difference is an erratum only if ours is the right value that the list names: if a
computation goes wrong, its cell differs and is no known erratum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ...data import columns, read_json, shipped_folder
from ...errors import UnreadableFile

SAME, DIFFERS = "same", "differs"

#: Folder of what the papers print, below that of shipped instances.
FOLDER = ("sets", "papers")


@dataclass(frozen=True)
class Cell:
    """A printed value beside ours.

    Parameters
    ----------
    row, column
        Where it stands.
    printed, ours
        As texts; ours with two digits more.
    difference
        Ours less the printed one, where both are numbers.
    verdict
        ``"same"`` if ours rounds, or is cut, to the printed value; else ``"differs"``.
    erratum
        Number among the errata of the paper; ``None``: not among them.
    why
        Why they differ, as far as it is known.
    """

    row: str
    column: str
    printed: str
    ours: str
    difference: float | None = None
    verdict: str = SAME
    erratum: int | None = None
    why: str = ""

    @property
    def told(self) -> str:
        """The verdict with its erratum."""
        return self.verdict if self.erratum is None else f"{self.verdict}, erratum {self.erratum}"


@dataclass(frozen=True)
class PaperTable:
    """A table, a figure or an example of a paper, remade.

    Parameters
    ----------
    paper, title
        Where it is printed.
    cells
        All that could be compared.
    note
        What was compared, where that is not all.
    """

    paper: str
    title: str
    cells: tuple[Cell, ...]
    note: str = ""

    @property
    def differing(self) -> tuple[Cell, ...]:
        """The cells that differ."""
        return tuple(cell for cell in self.cells if cell.verdict == DIFFERS)

    @property
    def unexplained(self) -> tuple[Cell, ...]:
        """The cells that differ and are no known errata."""
        return tuple(cell for cell in self.differing if cell.erratum is None)

    def text(self, *, full: bool = True) -> str:
        """Write the table: all cells, or those that differ."""
        shown = self.cells if full else self.differing
        same = len(self.cells) - len(self.differing)
        head = f"{self.paper}, {self.title}: {same} of {len(self.cells)} values are the same"
        lines = [head + (f". {self.note}" if self.note else "")]
        if shown:
            rows = [["row", "column", "printed", "ours", "difference", "verdict", ""]]
            rows += [
                [cell.row, cell.column, cell.printed, cell.ours, signed(cell.difference), cell.told, cell.why]
                for cell in shown
            ]
            lines.append(columns(rows, "  "))
        return "\n".join(lines)

    def records(self) -> list[dict[str, Any]]:
        """One flat record per cell, for CSV and JSON."""
        return [vars(cell) | {"verdict": cell.told} for cell in self.cells]

    def to_data(self) -> dict[str, Any]:
        """As JSON."""
        return {"paper": self.paper, "title": self.title, "note": self.note, "cells": self.records()}


@dataclass(frozen=True)
class Printed:
    """What a paper prints.

    Parameters
    ----------
    paper
        How it is cited.
    content
        Its tables, by name.
    differs
        By table, row and column: the right value, or how far from the printed one it is at most (``within``, relative);
        number of the erratum, and why.
    """

    paper: str
    content: Mapping[str, Any]
    differs: Mapping[tuple[str, str, str], Mapping[str, Any]] = field(default_factory=dict)

    def rows(self, table: str) -> list[dict[str, str]]:
        """Rows of a table, each by column."""
        part = self.content[table]
        return [dict(zip(part["columns"], row, strict=True)) for row in part["rows"]]

    def cell(
        self,
        table: str,
        row: str,
        column: str,
        printed: str,
        ours: float | str,
        *,
        units: float = 0.5,
        decimals: int | None = None,
    ) -> Cell:
        """Compare a printed value with ours.

        Parameters
        ----------
        table, row, column
            Where it stands.
        printed, ours
            Both values; texts are the same if they are equal.
        units
            How far apart numbers may be, in units of the last printed digit: 0.5 where digits are rounded, 1 where the
            paper cuts them off.
        decimals
            Of the printed number; counted unless given.
        """
        difference = None
        if isinstance(ours, str):
            same, shown = ours == printed, ours
        else:
            bare = printed.rstrip("%").replace(" ", "")
            decimals = len(bare.partition(".")[2]) if decimals is None else decimals
            difference = ours - float(bare)
            same = abs(difference) <= units * 10.0**-decimals * (1 + 1e-9)
            shown = f"{ours:.{decimals + 2}f}" if ours != int(ours) else str(int(ours))
        if same:
            return Cell(row, column, printed, shown, difference)
        places = ((table, row, column), (table, row, "*"), (table, "*", column), (table, "*", "*"))
        known = next((self.differs[place] for place in places if place in self.differs), None)
        if known is None:
            return Cell(row, column, printed, shown, difference, DIFFERS, None, "not among the errata")
        if not _is_right(ours, printed, known):
            why = f"not as erratum {known['erratum']} says"
            return Cell(row, column, printed, shown, difference, DIFFERS, None, why)
        return Cell(row, column, printed, shown, difference, DIFFERS, known["erratum"], known["why"])


def _is_right(ours: float | str, printed: str, known: Mapping[str, Any]) -> bool:
    """Tell whether ours is the value that an erratum calls right, to its last digit."""
    if "right" not in known:
        return not isinstance(ours, str) and abs(ours / float(printed) - 1.0) <= known["within"]
    right = str(known["right"])
    if isinstance(ours, str):
        return ours == right
    return abs(ours - float(right)) <= 0.51 * 10.0 ** -len(right.partition(".")[2])


@cache
def printed(name: str, paper: str) -> Printed:
    """Read what a paper prints.

    Parameters
    ----------
    name
        Of the file.
    paper
        How the paper is cited.

    Returns
    -------
    Printed
        The content of the file.

    Raises
    ------
    UnreadableFile
        If the package was installed without instances.
    """
    folder = shipped_folder()
    if folder is None:
        raise UnreadableFile("the package was installed without instances, and so without what papers print.")
    content = read_json(folder.joinpath(*FOLDER, f"{name}.json"))
    differs = {(one["table"], one["row"], one["column"]): one for one in content["differs"]}
    return Printed(paper, content, differs)


def signed(value: float | None) -> str:
    """Write a difference with its sign; nothing where there is none."""
    return "" if value is None else f"{value:+.3g}"
