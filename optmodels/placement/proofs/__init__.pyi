from .checker import Checked as Checked
from .checker import check_refutation as check_refutation
from .keeper import ProofKeeper as ProofKeeper
from .keeper import keeping as keeping
from .proof import Counted as Counted
from .proof import Header as Header
from .proof import Proof as Proof
from .proof import read_proof as read_proof
from .proof import write_proof as write_proof
from .verifying import Step as Step
from .verifying import Verified as Verified
from .verifying import verify_proof as verify_proof

__all__ = [
    "Checked",
    "Counted",
    "Header",
    "Proof",
    "ProofKeeper",
    "Step",
    "Verified",
    "check_refutation",
    "keeping",
    "read_proof",
    "verify_proof",
    "write_proof",
]
