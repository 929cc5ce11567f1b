"""Exact and simulated side by side, as a table and as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from queueing.simulation import CONFIDENCE, Estimate

from ..data import columns, number
from ..errors import short
from ..results import plain
from ..solving import versions

#: How often all comparisons together go wrong by chance when everything is right: rarely enough that people who
#: simulate every day need not learn to shrug.
WRONG_BY_CHANCE = 0.001


@dataclass(frozen=True)
class Line:
    """One measure: exact, simulated, and how far apart.

    Attributes
    ----------
    name, exact, estimate
        of the measure.
    deviation
        standard errors between the two; ``None`` where they cannot be compared.
    remark
        why not.
    """

    name: str
    exact: float | None
    estimate: Estimate
    deviation: float | None
    remark: str = ""


@dataclass(frozen=True)
class Confrontation:
    """Exact and simulated side by side.

    Attributes
    ----------
    lines
        one for each measure, and one for the objective where it is linear in them.
    agree
        whether all deviations together are what chance would do; ``None`` if nothing could be compared.
    largest, limit
        the largest deviation, and what the largest of so many exceeds by chance once in a thousand times.
    replications, time, events, seconds, stopped_by
        what was run: so many, of so many units of time each, and why no more: ``complete``, ``seconds``, ``interrupt``,
        or ``memory``.
    """

    problem: str
    kind: str | None
    decision: Any
    seed: int
    lines: tuple[Line, ...]
    agree: bool | None
    largest: float | None
    limit: float | None
    replications: int
    time: float
    events: int
    seconds: float
    stopped_by: str
    extra: Mapping[str, Any]

    @property
    def verdict(self) -> str:
        """One line."""
        compared = sum(line.deviation is not None for line in self.lines)
        if self.agree is None or self.largest is None:
            return "nothing could be compared"
        told = (
            f"the largest of {compared} deviations is {self.largest:.2f} standard errors, and by chance alone it "
            f"exceeds {self.limit:.2f} in one simulation of {1 / WRONG_BY_CHANCE:.0f} at most"
        )
        return f"they agree: {told}" if self.agree else f"THEY DISAGREE: {told}; another --seed shows if it was chance"

    def table(self) -> str:
        """For people."""
        rows = [["measure", "exact", "simulated", f"+- ({100 * CONFIDENCE:g} %)", "z", ""]]
        for line in self.lines:
            half = line.estimate.half_width(CONFIDENCE)
            z = "-" if line.deviation is None else f"{line.deviation:.2f}"
            rows.append([line.name, number(line.exact), number(line.estimate.value), _rounded(half), z, line.remark])
        head = (
            f"{self.problem} at {short(plain(self.decision))}: {self.replications} replications of "
            f"{self.time:.6g} units of time, {self.events} events in {self.seconds:.1f} s, seed {self.seed}"
        )
        return f"{head}\n{columns(rows, '  ')}\n{self.verdict}"

    def to_data(self) -> dict[str, Any]:
        """For programs."""
        return {
            "format": 1,
            "problem": self.problem,
            "kind": self.kind,
            "decision": plain(self.decision),
            "seed": self.seed,
            "replications": self.replications,
            "time": self.time,
            "events": self.events,
            "seconds": plain(self.seconds),
            "stopped_by": self.stopped_by,
            "confidence": CONFIDENCE,
            "measures": {
                line.name: {
                    "exact": plain(line.exact),
                    "simulated": plain(line.estimate.value),
                    "half_width": plain(line.estimate.half_width(CONFIDENCE)),
                    "z": plain(line.deviation),
                    "remark": line.remark or None,
                }
                for line in self.lines
            },
            "agree": self.agree,
            "largest_z": plain(self.largest),
            "limit_z": plain(self.limit),
            "extra": plain(self.extra),
            "versions": versions(),
        }


def _rounded(half: float | None) -> str:
    return "-" if half is None else f"{half:.2g}"
