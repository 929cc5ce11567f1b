from .data import Area as Area
from .data import Control as Control
from .limits import solve_areas as solve_areas
from .plots import draw_areas as draw_areas
from .problem import RobotAreasProblem as RobotAreasProblem

__all__ = [
    "Area",
    "Control",
    "RobotAreasProblem",
    "draw_areas",
    "solve_areas",
]
