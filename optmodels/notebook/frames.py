"""Results as tables of pandas, a row for each run.

pandas is an extra (``frames``), and is imported when a table is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import RequestError

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..solving import Result

#: Columns of a table of runs; behind them comes one for each measure.
COLUMNS = (
    "problem",
    "kind",
    "strategy",
    "seed",
    "status",
    "objective",
    "bound",
    "gap_to_bound",
    "gap_to_best_known",
    "evaluations",
    "seconds",
    "seconds_to_best",
    "stopped_by",
    "error",
    "decision",
)


def run_row(result: Result, **named: Any) -> dict[str, Any]:
    """Tell of one run what a row of a table has: the columns `COLUMNS`, and a column for each measure.

    Parameters
    ----------
    result
        What came of the run.
    **named
        Values of columns that a study knows better: what it calls the problem and the strategy, why a run failed.

    Returns
    -------
    dict
        Values by column; a measure that has the name of another column stands under ``measure.`` and its name.
    """
    row = {name: getattr(result, name, None) for name in COLUMNS}
    row |= {"status": str(result.status), "gap_to_bound": result.gap(), **named}
    return row | {f"measure.{name}" if name in row else name: value for name, value in result.measures.items()}


def frame(rows: Sequence[Mapping[str, Any]] | Mapping[str, Any], columns: Sequence[str] = ()) -> DataFrame:
    """Make a table of pandas.

    Parameters
    ----------
    rows
        A mapping from column to value for each row, or one from column to values.
    columns
        Those that a table without rows has.

    Returns
    -------
    pandas.DataFrame
        A row for each.

    Raises
    ------
    RequestError
        If pandas is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise RequestError("frames need an extra: pip install 'optmodels[frames]'") from None
    return pandas.DataFrame(rows) if rows else pandas.DataFrame(columns=list(columns))
