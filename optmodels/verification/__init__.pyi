from . import verifying as verifying
from .claims import Verification as Verification
from .claims import not_understood as not_understood
from .verifying import judge as judge
from .verifying import verify as verify

__all__ = [
    "Verification",
    "judge",
    "not_understood",
    "verify",
    "verifying",
]
