"""Search strategies, and the contract between them and the problems they are asked about.

A problem judges decisions, an oracle asks it on behalf of a strategy, and the result is closed on the best decision
shown:

>>> from heuristics import Exhaustive, run
>>> from heuristics.testing import Separable
>>> print(run(Separable(), Exhaustive()).status)
optimal
"""

from __future__ import annotations

from .annealing import Annealing
from .budget import Budget
from .evaluation import Decision, Evaluation
from .exhaustive import Exhaustive
from .genetic import Genetic
from .local_search import LocalSearch
from .oracle import BudgetSpent, Candidate, Disagreement, Oracle, OracleWalk, Progress
from .protocols import (
    Batch,
    Bounded,
    Describing,
    Estimating,
    Explaining,
    Followed,
    Incremental,
    Moves,
    Problem,
    Repairable,
    Space,
    Strategy,
    Suggesting,
    Walk,
)
from .result import Result, Status, TracePoint
from .running import UnsupportedProblem, refusal, run
from .spaces import BinaryVectors, IntegerBox, OrderedIntegers, Policies, Simplex, Words
from .splits import Splits

__all__ = [
    "Annealing",
    "Batch",
    "BinaryVectors",
    "Bounded",
    "Budget",
    "BudgetSpent",
    "Candidate",
    "Decision",
    "Describing",
    "Disagreement",
    "Estimating",
    "Evaluation",
    "Exhaustive",
    "Explaining",
    "Followed",
    "Genetic",
    "Incremental",
    "IntegerBox",
    "LocalSearch",
    "Moves",
    "Oracle",
    "OracleWalk",
    "OrderedIntegers",
    "Policies",
    "Problem",
    "Progress",
    "Repairable",
    "Result",
    "Simplex",
    "Space",
    "Splits",
    "Status",
    "Strategy",
    "Suggesting",
    "TracePoint",
    "UnsupportedProblem",
    "Walk",
    "Words",
    "refusal",
    "run",
]
