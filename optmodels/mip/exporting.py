r"""Integer programs as files that other solvers read: MPS and LP.

Both are written from the program that our own solvers get (`optmodels.mip.program`), in the units of the problem: the
optimum of the file is that of the problem, its offset included. Every bound is written out, since readers differ in
what they take for granted, and every number with all its digits.

Symbols are what the model calls its variables and constraints, in letters that both formats take. A model may say how
the parts of an index are called: its attribute ``labels`` maps the name of a component to one function, or ``None``,
for each part. So ``is_open[1]`` becomes ``is_open_cell_0_1``.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics import Problem, refusal

from ..data import write_text
from ..errors import RequestError
from ..protocols import AlgebraicProblem, kind_of
from ..registry import kinds
from .program import Program
from .strategy import Highs

if TYPE_CHECKING:
    from ..solving import ProblemLike

#: What files are called by their endings.
FORMATS = (".mps", ".lp")

#: Longest symbol, and longest line of an LP file, that all readers take.
SYMBOL, LINE = 200, 200

#: What both formats take for a symbol everywhere; words such as "free" or "st" mean something in LP files.
_FOREIGN = re.compile(r"[^A-Za-z0-9_]+")
_RESERVED = re.compile(r"(?i)(e\d*|inf|infinity|free|st|subject|such|min|max|minimi[sz]e|maximi[sz]e|bounds?|gen|"
                       r"generals?|integers?|int|bin|binary|binaries|end|obj|rhs|rng|bnd|sos)")  # fmt: skip


def export(problem: ProblemLike, path: str | os.PathLike[str]) -> Program:
    """Write the integer program of a problem to a file, whole or not at all.

    Parameters
    ----------
    problem
        A problem, its instance, the path of its file, or the name of a shipped instance.
    path
        Ends in ``.mps`` (free format) or ``.lp``.

    Returns
    -------
    Program
        What was written: its ``column_names`` and ``row_names`` are the symbols of the file.

    Raises
    ------
    RequestError
        If the problem cannot be written as a program (the sentence names the kinds that can), the ending is another,
        or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from optmodels import export
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     program = export("gautam-2x3", f"{folder}/model.mps")
    >>> program.column_names[0]
    'is_open_cell_0_0'
    """
    from ..solving import as_problem

    ending = Path(path).suffix.lower()
    if ending not in FORMATS:
        raise RequestError(f"{os.fspath(path)}: a program is written to a file that ends in {' or '.join(FORMATS)}.")
    program = named_program(as_problem(problem))
    write_text(path, mps_text(program) if ending == ".mps" else lp_text(program))
    return program


def named_program(problem: Problem) -> Program:
    """Write a problem as a program whose symbols other readers take, or refuse in a sentence."""
    if not isinstance(problem, AlgebraicProblem):
        kind = kind_of(problem)
        told = "no kind that has a name here" if kind is None else f"kind {kind}"
        able = ", ".join(exporting_kinds()) or "none"
        raise RequestError(
            f"{problem.name!r} cannot be exported: it is of {told}, and what can be written as an integer program are "
            f"problems of kind {able}."
        )
    reason = refusal(problem, Highs())
    if reason is not None:
        raise RequestError(f"{problem.name!r} cannot be exported: {reason}")
    from .pyomo import InfeasibleConstraint, compile_model, quiet_pyomo

    try:
        with quiet_pyomo():
            compiled = compile_model(problem.to_pyomo())
    except InfeasibleConstraint as broken:
        raise RequestError(f"{problem.name!r} cannot be exported: {broken}") from None
    program, labels = compiled.program, getattr(compiled.model, "labels", {})
    columns = symbols(program.column_names, labels)
    rows = symbols(program.row_names, labels, taken=columns)
    return replace(program, column_names=columns, row_names=rows, name=problem.name)


def exporting_kinds() -> list[str]:
    """Name the kinds whose problems can be written as integer programs."""
    able = []
    for kind in kinds.sound():
        try:
            if hasattr(kinds.part(kind.name, "problem"), "to_pyomo"):
                able.append(kind.name)
        except RequestError:  # a broken plug-in is told elsewhere
            continue
    return able


def symbols(names: Sequence[str], labels: Mapping[str, Any], taken: Sequence[str] = ()) -> tuple[str, ...]:
    """Turn names of a model into symbols, each another one.

    >>> symbols(["is_open[1]", "nearest[0,2]", "x.y", "e5", "x_y"], {"is_open": (lambda j: f"node {j}",)})
    ('is_open_node_1', 'nearest_0_2', 'x_y', 'n_e5', 'x_y_2')
    """
    found: list[str] = []
    seen = set(taken)
    for name in names:
        component, _, index = name.partition("[")
        parts = index.rstrip("]").split(",") if index else []
        called = labels.get(component, ())
        for place, label in enumerate(called[: len(parts)]):
            if label is not None and parts[place].strip().isdecimal():
                parts[place] = str(label(int(parts[place])))
        words = (_FOREIGN.sub("_", part).strip("_") for part in (component, *parts))
        plain = "_".join(word for word in words if word)[:SYMBOL] or "n"
        if not plain[0].isalpha() or _RESERVED.fullmatch(plain):
            plain = f"n_{plain}"
        symbol, count = plain, 1
        while symbol in seen:
            count += 1
            symbol = f"{plain}_{count}"
        seen.add(symbol)
        found.append(symbol)
    return tuple(found)


# -- MPS ---------------------------------------------------------------------------------------------------------------


def mps_text(program: Program) -> str:
    """Write a program in free MPS format."""
    return "\n".join([*_mps_lines(program), "ENDATA", ""])


def _mps_lines(program: Program) -> Iterator[str]:
    yield f"NAME {_FOREIGN.sub('_', program.name)}"
    yield from ("OBJSENSE", f"    {'MAX' if program.maximise else 'MIN'}")
    lower, upper = program.row_lower, program.row_upper
    kind = np.select(
        [lower == upper, np.isfinite(lower), np.isfinite(upper)], ["E", "G", "L"], default="N"
    ).tolist()  # a row with two bounds is a G with a range
    yield from ("ROWS", " N obj")
    for name, letter in zip(program.row_names, kind, strict=True):
        yield f" {letter} {name}"
    yield "COLUMNS"
    whole = False
    for j, name in enumerate(program.column_names):
        if bool(program.whole[j]) != whole:
            whole = not whole
            yield f"    MARKER 'MARKER' '{'INTORG' if whole else 'INTEND'}'"
        entries = range(int(program.starts[j]), int(program.starts[j + 1]))
        if program.cost[j] != 0 or not len(entries):
            yield f"    {name} obj {float(program.cost[j])!r}"
        for entry in entries:
            yield f"    {name} {program.row_names[program.rows[entry]]} {float(program.values[entry])!r}"
    if whole:
        yield "    MARKER 'MARKER' 'INTEND'"
    yield "RHS"
    if program.offset:
        yield f"    rhs obj {-program.offset!r}"  # as readers have it: the right side is taken off
    for i, name in enumerate(program.row_names):
        right = upper[i] if kind[i] == "L" else lower[i]
        if kind[i] != "N" and right != 0:
            yield f"    rhs {name} {float(right)!r}"
    yield "RANGES"
    for i, name in enumerate(program.row_names):
        if kind[i] == "G" and math.isfinite(upper[i]):
            yield f"    rng {name} {float(upper[i] - lower[i])!r}"
    yield "BOUNDS"
    for j, name in enumerate(program.column_names):
        low, high = float(program.column_lower[j]), float(program.column_upper[j])
        if low == high:
            yield f" FX bnd {name} {low!r}"
            continue
        if math.isinf(low) and math.isinf(high):
            yield f" FR bnd {name}"
            continue
        yield f" MI bnd {name}" if math.isinf(low) else f" LO bnd {name} {low!r}"
        yield f" PL bnd {name}" if math.isinf(high) else f" UP bnd {name} {high!r}"


# -- LP ----------------------------------------------------------------------------------------------------------------


def lp_text(program: Program) -> str:
    """Write a program in LP format, as CPLEX defined it."""
    return "\n".join([*_lp_lines(program), "end", ""])


def _lp_lines(program: Program) -> Iterator[str]:
    yield f"\\ {_FOREIGN.sub('_', program.name)}"
    yield "maximize" if program.maximise else "minimize"
    priced = np.flatnonzero(program.cost)
    terms = [(float(program.cost[j]), program.column_names[j]) for j in priced]
    constant = f" {_signed(program.offset)}" if program.offset else ""
    yield from _folded("obj:", terms or [(0.0, name) for name in program.column_names[:1]], constant)
    yield "subject to"
    columns = program.columns
    order = np.argsort(program.rows, kind="stable")
    ends = np.cumsum(np.bincount(program.rows, minlength=program.shape[0]))
    for i, name in enumerate(program.row_names):
        entries = order[(0 if i == 0 else ends[i - 1]) : ends[i]]
        terms = [(float(program.values[entry]), program.column_names[columns[entry]]) for entry in entries]
        terms = terms or [(0.0, other) for other in program.column_names[:1]]
        lower, upper = float(program.row_lower[i]), float(program.row_upper[i])
        if lower == upper:
            yield from _folded(f"{name}:", terms, f" = {lower!r}")
            continue
        both = math.isfinite(lower) and math.isfinite(upper)
        if math.isfinite(lower):
            yield from _folded(f"{name}:", terms, f" >= {lower!r}")
        if math.isfinite(upper):
            yield from _folded(f"{name}_upper:" if both else f"{name}:", terms, f" <= {upper!r}")
    yield "bounds"
    for j, name in enumerate(program.column_names):
        low, high = float(program.column_lower[j]), float(program.column_upper[j])
        if math.isinf(low) and math.isinf(high):
            yield f" {name} free"
        else:
            yield f" {_bound(low)} <= {name} <= {_bound(high)}"
    if program.whole.any():
        yield "general"
        yield from (f" {name}" for name, whole in zip(program.column_names, program.whole, strict=True) if whole)


def _folded(head: str, terms: Sequence[tuple[float, str]], tail: str) -> Iterator[str]:
    """A sum of terms on lines that are not too long."""
    line = f" {head}"
    for factor, name in terms:
        term = f" {_signed(factor)} {name}"
        if len(line) + len(term) > LINE:
            yield line
            line = " "
        line += term
    yield line + tail


def _signed(number: float) -> str:
    return f"{'-' if number < 0 else '+'} {abs(float(number))!r}"


def _bound(number: float) -> str:
    return repr(number) if math.isfinite(number) else ("-inf" if number < 0 else "+inf")
