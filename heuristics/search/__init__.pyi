from .annealing import Annealing as Annealing
from .common import EvaluatedWalk as EvaluatedWalk
from .common import starting_points as starting_points
from .exhaustive import LARGEST_BATCH as LARGEST_BATCH
from .exhaustive import Exhaustive as Exhaustive
from .exhaustive import evaluate_all as evaluate_all
from .exhaustive import spelled as spelled
from .exhaustive import sweep_all as sweep_all
from .genetic import Genetic as Genetic
from .local_search import LocalSearch as LocalSearch

__all__ = [
    "LARGEST_BATCH",
    "Annealing",
    "EvaluatedWalk",
    "Exhaustive",
    "Genetic",
    "LocalSearch",
    "evaluate_all",
    "spelled",
    "starting_points",
    "sweep_all",
]
