from .mixture import parts_of as parts_of
from .program import LinearLimit as LinearLimit
from .program import power_of_two as power_of_two
from .program import solve_program as solve_program
from .program import solved_by_highs as solved_by_highs
from .search import LimitedSearch as LimitedSearch
from .search import rank_of as rank_of
from .strategy import LinearProgram as LinearProgram

__all__ = [
    "LimitedSearch",
    "LinearLimit",
    "LinearProgram",
    "parts_of",
    "power_of_two",
    "rank_of",
    "solve_program",
    "solved_by_highs",
]
