from .fleet import RobotFleetProblem as RobotFleetProblem
from .generate import RobotsGenerator as RobotsGenerator
from .kind import KIND as KIND
from .plots import draw_robots as draw_robots
from .plots import plot_static_dynamic as plot_static_dynamic
from .problem import RobotsProblem as RobotsProblem
from .static import Static as Static

__all__ = [
    "KIND",
    "RobotFleetProblem",
    "RobotsGenerator",
    "RobotsProblem",
    "Static",
    "draw_robots",
    "plot_static_dynamic",
]
