from .limits import solve_areas as solve_areas
from .plots import draw_areas as draw_areas
from .problem import Area as Area
from .problem import Control as Control
from .problem import RobotAreasProblem as RobotAreasProblem

__all__ = [
    "Area",
    "Control",
    "RobotAreasProblem",
    "draw_areas",
    "solve_areas",
]
