"""What an answer says, and what became of it when it was checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ..errors import InstanceError
from ..results import plain
from .proving import Proved


class Verdict(StrEnum):
    """What became of a claim."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    ON_TRUST = "taken on trust"
    NOT_CLAIMED = "not claimed"


@dataclass(frozen=True)
class Claim:
    """One thing that an answer says, and what became of it.

    Parameters
    ----------
    verdict
        Confirmed, refuted, taken on trust, or not claimed.
    reason
        Why, in words.
    place, value
        The field of the result that is refuted, and what stands there.
    """

    verdict: Verdict
    reason: str
    place: str = ""
    value: Any = None


@dataclass(frozen=True, repr=False)
class Verification:
    """What became of the claims of an answer.

    Attributes
    ----------
    problem
        Its name.
    claims
        By name: ``objective``, ``feasibility``, ``measures``, ``bound``, ``status``, and of a file ``gap``.
    proved
        What was proved and found on the way.
    prove
        What `prove` would do, or has done, about claims taken on trust, as the end of a sentence.
    compared
        How the objective compares with the best known of the instance, where there is one.

    Examples
    --------
    >>> from optmodels import solve, verify
    >>> file = "instances/placement/gautam-2x3.json"
    >>> found = verify(solve(file, "exhaustive"), file)
    >>> found.verified, found.on_trust, str(found.claims["objective"].verdict)
    (True, (), 'confirmed')
    """

    problem: str
    claims: Mapping[str, Claim]
    proved: Proved = field(default_factory=Proved)
    prove: str = ""
    compared: str | None = None

    @property
    def refuted(self) -> bool:
        """Whether some claim does not hold."""
        return any(claim.verdict is Verdict.REFUTED for claim in self.claims.values())

    @property
    def on_trust(self) -> tuple[str, ...]:
        """Names of claims that were neither confirmed nor refuted."""
        return tuple(name for name, claim in self.claims.items() if claim.verdict is Verdict.ON_TRUST)

    @property
    def verified(self) -> bool:
        """Whether all that is claimed is confirmed."""
        return not self.refuted and not self.on_trust

    @property
    def error(self) -> InstanceError | None:
        """The first claim that does not hold, as the sentence that refuses it."""
        for claim in self.claims.values():
            if claim.verdict is Verdict.REFUTED:
                return InstanceError(claim.place, claim.value, claim.reason)
        return None

    def check(self) -> Verification:
        """Raise `InstanceError` if a claim is refuted; the sentence says what was found instead."""
        if self.error is not None:
            raise self.error
        return self

    @property
    def findings(self) -> tuple[str, ...]:
        """One line for each claim: what it is, what became of it, and why."""
        lines = [f"{name} {claim.verdict}: {claim.reason}" for name, claim in self.claims.items()]
        return (*lines, *([self.compared] if self.compared else []))

    def to_data(self) -> dict[str, Any]:
        """As ``verify --json`` prints it."""
        return {
            "problem": self.problem,
            **{name: str(claim.verdict) for name, claim in self.claims.items()},
            "verified": self.verified,
            "reasons": {name: claim.reason for name, claim in self.claims.items()},
            "bound_proved_here": plain(self.proved.bound),
            "proved_by": self.proved.by or None,
            "best_met_here": plain(self.proved.least),
            "solved_again_by": list(self.proved.tried),
            "findings": list(self.findings),
            "error": None if self.error is None else str(self.error),
        }

    def __repr__(self) -> str:
        return f"<Verification of {str(self).partition(chr(10))[0]}>"

    def __str__(self) -> str:
        if self.refuted:
            head = f"{self.problem}: refuted: {', '.join(n for n, c in self.claims.items() if c.verdict == 'refuted')}"
        elif self.on_trust:
            head = f"{self.problem}: nothing refuted, but {' and '.join(self.on_trust)} taken on trust; {self.prove}"
        else:
            head = f"{self.problem}: verified: every claim is confirmed"
        width = max(len(name) for name in self.claims)
        lines = [f"  {n.ljust(width)}  {str(c.verdict).ljust(14)}  {c.reason}" for n, c in self.claims.items()]
        return "\n".join([head, *lines, *([f"  {self.compared}"] if self.compared else [])])


def not_understood(problem: str, error: str) -> dict[str, Any]:
    """Write what ``verify --json`` prints of a file without claims that could be held against the problem.

    Parameters
    ----------
    problem
        Its name.
    error
        What is wrong with the file, in a sentence.

    Returns
    -------
    dict
        The object that `Verification.to_data` gives, without verdicts.
    """
    claims: dict[str, Any] = dict.fromkeys(("objective", "feasibility", "bound", "status"))
    return {"problem": problem, **claims, "verified": False, "reasons": {}, "findings": [], "error": error}
