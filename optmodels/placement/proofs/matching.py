"""Which problem a proof is about, and whether it is the one that was asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import InstanceError, RequestError
from ...studies import problem_digest
from .proof import Proof

if TYPE_CHECKING:
    from ..problem import PlacementProblem


def refuse(proof: Proof, problem: PlacementProblem, *, complete: bool = True) -> None:
    """Refuse what is no proof about a problem.

    Parameters
    ----------
    proof
        As it was read.
    problem
        What it must be about.
    complete
        Whether a checkpoint is refused, too.

    Raises
    ------
    InstanceError
        One sentence.
    """
    header = proof.header
    refuse_other(problem)
    if header.digest != problem_digest(problem):
        rule = (
            f"this is a proof about other data, cost or limits than those of {problem.name!r}; take its own instance."
        )
        raise InstanceError("problem", header.problem, rule)
    if complete and not header.complete:
        rule = "this is a checkpoint of a run that did not end; go on with `optmodels solve --proof ... --resume`."
        raise InstanceError("complete", False, rule)
    sites = problem.layout.sites
    if len(header.prices) != sites:
        raise InstanceError("prices", len(header.prices), f"there is one for each of the {sites} sites.")
    over_sites = max((abs(literal) for clause in (*proof.overloads, *proof.dear) for literal in clause), default=0)
    if over_sites > sites:
        raise InstanceError("clauses", over_sites, f"clauses of overloads speak of the sites 1 to {sites}.")


def refuse_other(problem: Any) -> None:
    """Refuse what proofs are not about.

    Parameters
    ----------
    problem
        Whatever is asked about.

    Raises
    ------
    RequestError
        One sentence.
    """
    from ..classes import ClassPlacement
    from ..problem import PlacementProblem

    if type(problem) not in (PlacementProblem, ClassPlacement):
        told = f"proofs are about placements with one demand, and {getattr(problem, 'name', '')!r} is something else"
        raise RequestError(f"{told}.")
