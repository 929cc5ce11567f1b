from .counts import CountBound as CountBound
from .problem import CycleProblem as CycleProblem
from .space import CycleOfVisits as CycleOfVisits
from .space import VisitCycles as VisitCycles

__all__ = [
    "CountBound",
    "CycleOfVisits",
    "CycleProblem",
    "VisitCycles",
]
