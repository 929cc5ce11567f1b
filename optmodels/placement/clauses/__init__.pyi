from .checker import Verdict as Verdict
from .checker import check_refutation as check_refutation
from .counter import Counter as Counter

__all__ = [
    "Counter",
    "Verdict",
    "check_refutation",
]
