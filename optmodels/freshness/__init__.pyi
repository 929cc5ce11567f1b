from .generate import FreshnessGenerator as FreshnessGenerator
from .plots import draw_freshness as draw_freshness
from .problem import FreshnessProblem as FreshnessProblem

__all__ = [
    "FreshnessGenerator",
    "FreshnessProblem",
    "draw_freshness",
]
