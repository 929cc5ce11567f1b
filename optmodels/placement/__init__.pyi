from .generate import PlacementGenerator as PlacementGenerator
from .kind import KIND as KIND
from .measures import assign as assign
from .mip import build as build
from .plots import draw_placement as draw_placement
from .problem import PlacementProblem as PlacementProblem
from .sources import import_file as import_file
from .walk import flip as flip
from .walk import standing_of as standing_of

__all__ = [
    "KIND",
    "PlacementGenerator",
    "PlacementProblem",
    "assign",
    "build",
    "draw_placement",
    "flip",
    "import_file",
    "standing_of",
]
