from .generate import FreshnessGenerator as FreshnessGenerator
from .kind import KIND as KIND
from .plots import draw_freshness as draw_freshness
from .problem import FreshnessProblem as FreshnessProblem

__all__ = [
    "KIND",
    "FreshnessGenerator",
    "FreshnessProblem",
    "draw_freshness",
]
