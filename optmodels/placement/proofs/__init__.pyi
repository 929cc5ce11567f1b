from .checker import Verdict as Verdict
from .checker import check_refutation as check_refutation

__all__ = [
    "Verdict",
    "check_refutation",
]
