from . import verifying as verifying
from .verdicts import Verification as Verification
from .verdicts import not_understood as not_understood
from .verifying import judge as judge
from .verifying import verify as verify

__all__ = [
    "Verification",
    "judge",
    "not_understood",
    "verify",
    "verifying",
]
