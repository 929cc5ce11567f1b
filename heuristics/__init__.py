"""Search strategies, and the contract between them and the problems they are asked about.

A problem judges decisions, an oracle asks it on behalf of a strategy, and the result is closed on the best decision
shown:

>>> from heuristics import Budget, run
>>> from heuristics.exhaustive import Exhaustive
>>> from heuristics.testing import Separable
>>> print(run(Separable(), Exhaustive()).status)
optimal
"""

from __future__ import annotations

from .budget import Budget
from .evaluation import Decision, Evaluation
from .oracle import BudgetSpent, Candidate, Disagreement, Oracle, OracleWalk, Progress
from .protocols import (
    Batch,
    Bounded,
    Describing,
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

__all__ = [
    "Batch",
    "BinaryVectors",
    "Bounded",
    "Budget",
    "BudgetSpent",
    "Candidate",
    "Decision",
    "Describing",
    "Disagreement",
    "Evaluation",
    "Followed",
    "Incremental",
    "IntegerBox",
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
