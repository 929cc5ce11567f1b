"""Checks that clauses contradict one another, as a solver's proof says: every step by propagation alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from . import checker_kernel as kernel
from . import drat

Ints = NDArray[np.int64]
Literals = NDArray[np.int32]
Clause = Sequence[int]

#: Largest variable of a proof.
MOST_VARIABLES = 50_000_000
#: Largest number of bytes of a proof.
MOST_BYTES = 2**31
#: Steps between two moments at which Ctrl-C is heard and progress is told.
STRETCH = 2_000


@dataclass(frozen=True, eq=False)
class Checked:
    """What a checker says of a proof.

    Parameters
    ----------
    mistake
        Why it proves nothing, a clause of a sentence; ``None``: the clauses contradict one another.
    lemmas
        Clauses that the proof adds.
    checked
        How many of them the contradiction needs; each of these was checked.
    core
        Numbers of the input clauses that the contradiction needs, from 0.
    """

    mistake: str | None
    lemmas: int = 0
    checked: int = 0
    core: tuple[int, ...] = ()

    @property
    def proved(self) -> bool:
        """Whether the clauses contradict one another."""
        return self.mistake is None


def check_refutation(
    clauses: Sequence[Clause],
    proof: bytes,
    lemmas: Sequence[Clause] = (),
    progress: Callable[[float], None] | None = None,
) -> Checked:
    r"""Check a proof that clauses contradict one another.

    Parameters
    ----------
    clauses
        The input: literals of DIMACS, variables from 1.
    proof
        A DRAT file, binary or in letters: clauses that follow, one after the other, and clauses that are not used any
        more.
    lemmas
        Clauses that follow from the input in this order, put before those of `proof`.
    progress
        Told every so often which share of the steps back is done.

    Returns
    -------
    Checked
        Whether it is a proof, and which input clauses it needs.

    Notes
    -----
    *What is accepted.* A lemma follows by reverse unit propagation (RUP) if, with all its literals false, the clauses
    before it lead to a contradiction by unit clauses alone. Then whatever satisfies these clauses satisfies the lemma.
    Steps of DRAT that only keep satisfiability (RAT: extended resolution, bounded variable addition) are not accepted,
    so ask the solver for a proof without; kissat: ``--factor=0``. Deletions are trusted for speed alone: fewer clauses
    imply less. What cannot be paired with a clause is passed over, and what is true by unit clauses stays true, as in
    drat-trim.

    *How.* Forward, the steps are taken without checks, until unit clauses contradict one another. Backward from there,
    only lemmas that this needs are checked, each when it is taken away; what its check needs is needed, too. Clauses
    that are needed already are tried first (Heule, Hunt and Wetzler 2013, "Trimming while checking clausal proofs",
    FMCAD 2013, 181-188). The contradiction itself needs no step: an empty clause at the end adds nothing.

    Examples
    --------
    >>> from optmodels.placement.proofs import check_refutation
    >>> clauses = [(1, 2), (1, -2), (-1, 3), (-1, -3), (4, 5)]
    >>> check_refutation(clauses, b"1 0\n0\n")
    Checked(mistake=None, lemmas=2, checked=1, core=(0, 1, 2, 3))
    >>> check_refutation(clauses, b"5 0\n-5 0\n").mistake
    'lemma 2 of the proof (-5) does not follow from the clauses before it'
    """
    given, starts = _flat([*clauses, *lemmas])
    steps = _read(proof)
    if isinstance(steps, str):
        return Checked(steps)
    literals, ends, deletes = steps
    inputs, added = len(clauses), int((deletes == 0).sum()) + len(lemmas)
    pool = np.concatenate([given, literals])
    starts = np.concatenate([starts, len(given) + ends])
    variables = max(1, int(pool.max(initial=0)) >> 1)
    size = np.diff(starts).astype(np.int64)
    start = starts[:-1].copy()
    deletes = np.concatenate([np.zeros(len(lemmas), np.int8), deletes])
    keys, partner = np.zeros(len(size), np.int64), np.full(len(deletes), -1, np.int64)
    drat.tidy(pool, start, size, keys, len(size), variables)
    drat.pair_deletions(keys, deletes, inputs, partner)
    run = _Run(_formula(pool, start, size, variables), inputs, deletes, partner, variables)
    mistake, checked = run.check(progress)
    core = np.flatnonzero(run.formula.core[:inputs]) if mistake is None else ()
    return Checked(mistake, added, checked, tuple(int(c) for c in core))


def _flat(clauses: Sequence[Clause]) -> tuple[Literals, Ints]:
    """All literals one after the other, as the kernel writes them, and where each clause begins, and the end."""
    count = len(clauses)
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.fromiter(map(len, clauses), np.int64, count), out=starts[1:])
    signed = np.fromiter(chain.from_iterable(clauses), np.int64, int(starts[-1]))
    if len(signed) and not 0 < np.abs(signed).min() <= np.abs(signed).max() <= MOST_VARIABLES:
        raise ValueError(f"clauses: a literal is a number from 1 to {MOST_VARIABLES}, or its opposite.")
    return (2 * np.abs(signed) + (signed < 0)).astype(np.int32), starts


def _read(proof: bytes) -> tuple[Literals, Ints, NDArray[np.int8]] | str:
    """Literals, the end of every step (after a first 0), and which are deletions; or what is wrong."""
    if len(proof) > MOST_BYTES:
        return f"the proof has {len(proof)} bytes, more than the {MOST_BYTES} that are read"
    data = np.frombuffer(proof, np.uint8)
    read = drat.read_binary if b"\0" in proof else drat.read_text
    nothing = np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int8)
    at, steps, used = read(data, *nothing, MOST_VARIABLES)
    if at != drat.SOUND:
        return f"the proof breaks off, or is no DRAT file, at byte {at} of {len(proof)}"
    literals, ends, deletes = np.zeros(used, np.int32), np.zeros(steps, np.int64), np.zeros(steps, np.int8)
    if steps:
        read(data, literals, ends, deletes, MOST_VARIABLES)
    return literals, ends, deletes


def _formula(pool: Literals, start: Ints, size: Ints, variables: int) -> kernel.Formula:
    count, lists = len(size), 2 * (2 * variables + 2)
    return kernel.Formula(
        pool=pool,
        start=start,
        size=size,
        active=np.zeros(count, np.int8),
        core=np.zeros(count, np.int8),
        value=np.zeros(2 * variables + 2, np.int8),
        reason=np.full(variables + 1, kernel.NO_REASON, np.int64),
        seen=np.zeros(variables + 1, np.int8),
        trail=np.zeros(variables + 1, np.int32),
        begin=np.zeros(lists, np.int64),
        sizes=np.zeros(lists, np.int64),
        room=np.zeros(lists, np.int64),
        counts=np.zeros(4, np.int64),
    )


@dataclass(eq=False)
class _Run:
    """A proof on its way through the kernel."""

    formula: kernel.Formula
    inputs: int
    deletes: NDArray[np.int8]
    partner: Ints
    variables: int

    def check(self, progress: Callable[[float], None] | None) -> tuple[str | None, int]:
        """What is wrong, or ``None``; and how many lemmas were checked."""
        formula, end = self.formula, len(self.formula.size)
        heights = np.zeros(end, np.int64)
        watchers = kernel.Watchers(np.zeros(0, np.int32), np.zeros(0, np.int32))
        beginning = (self.inputs, self.deletes, self.partner, heights)
        step, conflict = 0, kernel.QUIET
        while step < end and conflict == kernel.QUIET:
            watchers, conflict, step = kernel.forward(formula, watchers, *beginning, step, min(end, step + STRETCH))
        if conflict == kernel.QUIET:
            return "the proof ends without a contradiction", 0
        stack, fresh = np.zeros(self.variables + 2, np.int64), np.zeros(self.variables + 2, np.int64)
        watchers = kernel.begin_backward(formula, watchers, conflict, stack, fresh)
        checked, total = 0, max(1, step - self.inputs)
        while step > self.inputs:
            before = max(self.inputs, step - STRETCH)
            watchers, failed, step, more = kernel.backward(formula, watchers, *beginning, step, before, stack, fresh)
            checked += more
            if failed != kernel.QUIET:
                return f"{self._named(failed)} does not follow from the clauses before it", checked
            if progress is not None:
                progress(1.0 - (step - self.inputs) / total)
        return None, checked

    def _named(self, c: int) -> str:
        """A lemma in words, with its literals if they are few."""
        formula, number = self.formula, c - self.inputs + 1 - int(self.deletes[: c - self.inputs].sum())
        literals = sorted(formula.pool[formula.start[c] : formula.start[c] + formula.size[c]].tolist())
        signed = [literal // 2 * (-1 if literal % 2 else 1) for literal in literals[:12]]
        shown = " ".join(map(str, signed)) if signed else "the empty clause"
        return f"lemma {number} of the proof ({shown}{' ...' if len(literals) > 12 else ''})"
