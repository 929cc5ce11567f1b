from . import verifying as verifying
from .keeping import kept_proof as kept_proof
from .seconding import answer_twice as answer_twice
from .seconding import second_opinion as second_opinion
from .verdicts import Verification as Verification
from .verdicts import not_understood as not_understood
from .verifying import judge as judge
from .verifying import verify as verify

__all__ = [
    "Verification",
    "answer_twice",
    "judge",
    "kept_proof",
    "not_understood",
    "second_opinion",
    "verify",
    "verifying",
]
