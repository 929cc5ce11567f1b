from .lagrangian import Lagrangian as Lagrangian
from .lagrangian import Relaxation as Relaxation
from .lagrangian import SeparableProblem as SeparableProblem
from .marginal_analysis import MarginalAnalysis as MarginalAnalysis
from .marginal_analysis import additions as additions
from .marginal_analysis import envelope as envelope
from .marginal_analysis import least_split as least_split
from .marginal_analysis import marginal as marginal
from .marginal_analysis import total as total

__all__ = [
    "Lagrangian",
    "MarginalAnalysis",
    "Relaxation",
    "SeparableProblem",
    "additions",
    "envelope",
    "least_split",
    "marginal",
    "total",
]
