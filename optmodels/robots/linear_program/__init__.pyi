from .program import LinearLimit as LinearLimit
from .program import power_of_two as power_of_two
from .program import solved_by_highs as solved_by_highs
from .search import rank_of as rank_of
from .strategy import LinearProgram as LinearProgram

__all__ = [
    "LinearLimit",
    "LinearProgram",
    "power_of_two",
    "rank_of",
    "solved_by_highs",
]
