"""The columns of a run, each with its unit, and the runs as a Parquet file.

``runs.csv``, `Comparison.rows` and the Parquet file have the same columns; the last has three more, which hold what is
no single number: the decision, the measures, and the trace.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...data import parquet, replaced
from ...errors import UnwritableFile
from ...results import plain, result_to_data
from .ioh import new_folder

if TYPE_CHECKING:
    from ..comparison import Comparison


class Described(NamedTuple):
    """A column: the type of its values (as pyarrow calls it), its unit, and what it holds."""

    type: str
    unit: str
    meaning: str


#: The columns of a run, in order. A value that is not known is empty in CSV and null in Parquet.
COLUMNS: dict[str, Described] = {
    "problem": Described("string", "", "what people call the problem"),
    "kind": Described("string", "", "kind of the problem"),
    "strategy": Described("string", "", "what people call the strategy"),
    "parameters": Described("string", "JSON", "parameters of the strategy"),
    "seed": Described("int64", "", "seed of the random numbers"),
    "budget_seconds": Described("float64", "s", "time limit of the run"),
    "budget_evaluations": Described("int64", "evaluations", "limit on the decisions that the run evaluates"),
    "status": Described("string", "", "optimal, feasible, infeasible, unknown, error, or not applicable"),
    "objective": Described("float64", "of the problem", "objective of the best feasible decision"),
    "bound": Described("float64", "of the problem", "proved by the run: nothing lies below"),
    "gap": Described("float64", "relative", "distance of the objective above the bound"),
    "reference": Described("string", "", "what `gap_to_reference` is measured from"),
    "reference_value": Described("float64", "of the problem", "its value"),
    "gap_to_reference": Described("float64", "relative", "distance of the objective above the reference"),
    "gap_to_bound": Described("float64", "relative", "the same as `gap`"),
    "best_known": Described("float64", "of the problem", "best value that its file or a run of the comparison shows"),
    "best_known_proved": Described("bool", "", "whether nothing better exists"),
    "gap_to_best_known": Described("float64", "relative", "distance of the objective above the best known"),
    "evaluations": Described("int64", "evaluations", "decisions that the run evaluated"),
    "seconds": Described("float64", "s", "duration of the run, without imports and compilation"),
    "seconds_to_best": Described("float64", "s", "when the best decision was found"),
    "stopped_by": Described("string", "", "what ended the run"),
    "checked": Described("bool", "", "whether the evaluator has confirmed the answer"),
    "error": Described("string", "", "why the run failed"),
    "reason": Described("string", "", "why the strategy does not take the problem"),
    "threads": Described("int64", "threads", "how many the run was allowed"),
    "megabytes": Described("float64", "1e6 bytes", "peak of the memory of its process, with `--memory`"),
    "study": Described("string", "SHA-256", "checksum of the study that asked for the run"),
    "machine": Described("string", "SHA-256", "first digits of the checksum of the machine's description"),
    "versions": Described("string", "JSON", "versions of the package and of the libraries in use"),
    "key": Described("string", "SHA-256", "first digits of a checksum: the same for the same run"),
}

#: What only a Parquet file has beside them.
NESTED: dict[str, Described] = {
    "decision": Described("string", "JSON", "the best feasible decision"),
    "measures": Described("string", "JSON", "its measures"),
    "trace": Described(
        "list", "s, evaluations, of the problem", "each improvement: seconds, evaluations, objective, bound"
    ),
}


def write_parquet(comparison: Comparison, path: str | os.PathLike[str]) -> None:
    """Write the runs of a comparison as a Parquet file, one row per run, traces included.

    Parameters
    ----------
    comparison
        What is written.
    path
        Of the file, which is written whole or not at all.

    Raises
    ------
    RequestError
        If pyarrow is not installed: ``pip install 'optmodels[scale]'``.
    """
    module = parquet()
    import pyarrow as pa

    rows = [row | _nested(run.result) for row, run in zip(comparison.rows(), comparison.runs, strict=True)]
    point = pa.struct([(name, pa.int64() if name == "evaluations" else pa.float64()) for name in POINT])
    types = {name: pa.list_(point) if told.type == "list" else getattr(pa, TYPES[told.type])() for name, told in ALL}
    names = list(dict.fromkeys([*types, *(name for row in rows for name in row)]))
    columns = {name: pa.array([row.get(name) for row in rows], types.get(name)) for name in names}
    fields = [pa.field(name, column.type, metadata=_metadata(name)) for name, column in columns.items()]
    table = pa.Table.from_arrays(list(columns.values()), schema=pa.schema(fields))
    with replaced(path) as stream:
        module.write_table(table, stream)


def check_exports(parquet_file: str | os.PathLike[str] | None, ioh: str | os.PathLike[str] | None) -> None:
    """Refuse exports that will not be possible, before the work is done.

    Parameters
    ----------
    parquet_file
        Of `write_parquet`, or ``None``.
    ioh
        Folder of `write_ioh`, or ``None``.

    Raises
    ------
    RequestError
        If pyarrow is not installed, or the folder cannot be made, or holds something.
    """
    if parquet_file is not None:
        parquet()
        parent = Path(parquet_file).absolute().parent
        if not parent.is_dir():
            raise UnwritableFile("cannot be written: there is no such folder.", os.fspath(parquet_file))
        if Path(parquet_file).is_dir():
            raise UnwritableFile("cannot be written: this is a directory; name a file.", os.fspath(parquet_file))
    if ioh is not None:
        new_folder(Path(ioh))


POINT = ("seconds", "evaluations", "objective", "bound")
TYPES = {"string": "string", "int64": "int64", "float64": "float64", "bool": "bool_"}
ALL = tuple({**COLUMNS, **NESTED}.items())


def _nested(result: Any) -> dict[str, Any]:
    told = result_to_data(result, files=False)
    return {
        "decision": None if told["decision"] is None else json.dumps(told["decision"]),
        "measures": json.dumps(plain(told["measures"])),
        "trace": told["trace"],
    }


def _metadata(name: str) -> Mapping[str, str]:
    told = {**COLUMNS, **NESTED}.get(name)
    return {} if told is None else {"unit": told.unit, "description": told.meaning}
