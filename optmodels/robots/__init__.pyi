from .generate import RobotsGenerator as RobotsGenerator
from .plots import draw_robots as draw_robots
from .plots import plot_static_dynamic as plot_static_dynamic
from .problem import RobotsProblem as RobotsProblem
from .static import Static as Static

__all__ = [
    "RobotsGenerator",
    "RobotsProblem",
    "Static",
    "draw_robots",
    "plot_static_dynamic",
]
