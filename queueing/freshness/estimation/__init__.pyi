from .likelihood import History as History
from .likelihood import RateEstimates as RateEstimates
from .likelihood import estimate as estimate
from .likelihood import history as history
from .prior import GammaPrior as GammaPrior

__all__ = [
    "GammaPrior",
    "History",
    "RateEstimates",
    "estimate",
    "history",
]
