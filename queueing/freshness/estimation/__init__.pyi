from .likelihood import GammaPrior as GammaPrior
from .likelihood import History as History
from .likelihood import RateEstimates as RateEstimates
from .likelihood import estimate as estimate
from .likelihood import history as history

__all__ = [
    "GammaPrior",
    "History",
    "RateEstimates",
    "estimate",
    "history",
]
