from .generate import ThresholdGenerator as ThresholdGenerator
from .kind import KIND as KIND
from .mip import build as build
from .optimal_policy import OptimalPolicy as OptimalPolicy
from .plots import draw_threshold as draw_threshold
from .problem import ThresholdProblem as ThresholdProblem

__all__ = [
    "KIND",
    "OptimalPolicy",
    "ThresholdGenerator",
    "ThresholdProblem",
    "build",
    "draw_threshold",
]
