"""The command ``export``: the integer program of an instance, for other solvers."""

from __future__ import annotations

from typing import Annotated

import typer

from ..cli import ANSWERED, File, Json, check_target, deliver, note
from ..registry import kinds


def export(
    file: File,
    out: Annotated[str, typer.Option(metavar="F.mps|F.lp", help="File of the program, in MPS or LP format.")],
    json: Json = False,
) -> int:
    """Write the integer program of an instance to a file that other solvers read.

    The optimum of the file is that of the instance, in the same units. Variables and constraints have readable names:
    is_open_cell_0_1 says whether the site in row 0, column 1 is open. Kinds that cannot be written as an integer
    program are refused, and the sentence names those that can.

    For example:
        optmodels export gautam-6x6 --out model.mps
        optmodels export gautam-6x6 --out model.lp
    """
    from ..instance import load
    from .exporting import export as write

    problem = load(file)
    check_target(out, file, *kinds.beside(problem, file))
    program = write(problem, out)
    rows, columns = program.shape
    told = {"file": out, "rows": rows, "columns": columns, "whole_columns": int(program.whole.sum())}
    deliver(told, lambda: note(f"wrote {out}: {rows} constraints, {columns} variables"), as_json=json)
    return ANSWERED
