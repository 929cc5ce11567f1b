from .plots import draw_fleet as draw_fleet
from .problem import RobotFleetProblem as RobotFleetProblem

__all__ = [
    "RobotFleetProblem",
    "draw_fleet",
]
