"""Commands about proofs: ``verify-proof``, which checks one step by step."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ...cli import ANSWERED, File, Json, batch_progress, deliver, print_json, settle
from ...errors import InstanceError, RequestError


def verify_proof(
    proof: Annotated[str, typer.Argument(metavar="PROOF", help="A proof, as `solve --proof` writes it.")],
    file: File,
    json: Json = False,
) -> int:
    """Check a proof that a placement is the cheapest, without the solver that found it.

    Every clause is checked by the evaluator of placements, every counter by its definition, and that they contradict
    one another by propagation alone; drat-trim is asked, too, where it is installed. Each step is printed with what was
    checked and the seconds. Exit code 0: every step is confirmed; 2: a step is refuted, or is a solver's word.

    The proof is made by `optmodels solve gautam-6x6 --strategy clauses --proof six.proof`.

    For example:
        optmodels verify-proof six.proof gautam-6x6
    """
    from ... import instance as instances
    from . import verifying

    problem: Any = instances.load(file)  # `refuse` looks whether it is a placement
    try:
        with batch_progress("verifying", quiet=json) as show:
            tell = None if show is None else lambda step, share: show(int(100 * share), 100, step)
            found = verifying.verify_proof(proof, problem, tell)
            settle()
    except InstanceError as failure:
        if json:
            told = {"problem": problem.name, "verified": False, "objective": None, "bound": None, "sha256": ""}
            print_json({"file": proof, **told, "steps": [], "error": str(failure)})
        raise
    error = None if found.complaint is None else f"{proof}: {found.complaint}"
    deliver(lambda: {"file": proof, **found.to_data(), "error": error}, str(found), as_json=json)
    if error is not None:
        raise RequestError(error)
    return ANSWERED
