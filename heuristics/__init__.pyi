from . import clock as clock
from . import interrupting as interrupting
from .oracle import BudgetSpent as BudgetSpent
from .oracle import Candidate as Candidate
from .oracle import Disagreement as Disagreement
from .oracle import Oracle as Oracle
from .oracle import Progress as Progress
from .oracle_share import Share as Share
from .oracle_share import adopt as adopt
from .oracle_walk import OracleWalk as OracleWalk
from .protocols import NOTHING as NOTHING
from .protocols import Batch as Batch
from .protocols import Bounded as Bounded
from .protocols import Decision as Decision
from .protocols import Describing as Describing
from .protocols import Estimating as Estimating
from .protocols import Evaluation as Evaluation
from .protocols import Explaining as Explaining
from .protocols import Followed as Followed
from .protocols import Incremental as Incremental
from .protocols import Moves as Moves
from .protocols import Problem as Problem
from .protocols import Repairable as Repairable
from .protocols import Space as Space
from .protocols import Strategy as Strategy
from .protocols import Suggesting as Suggesting
from .protocols import Walk as Walk
from .result import AGREEMENT as AGREEMENT
from .result import OPTIMALITY_TOLERANCE as OPTIMALITY_TOLERANCE
from .result import Budget as Budget
from .result import Result as Result
from .result import Status as Status
from .result import TracePoint as TracePoint
from .result import agree as agree
from .result import relative_gap as relative_gap
from .running import UnsupportedProblem as UnsupportedProblem
from .running import last_word as last_word
from .running import nonlinear_cost as nonlinear_cost
from .running import parameters as parameters
from .running import refusal as refusal
from .running import require_fields as require_fields
from .running import run as run
from .running import warm_up as warm_up
from .running import word_of as word_of
from .search import Annealing as Annealing
from .search import Exhaustive as Exhaustive
from .search import Genetic as Genetic
from .search import LocalSearch as LocalSearch
from .spaces import BinaryVectors as BinaryVectors
from .spaces import IntegerBox as IntegerBox
from .spaces import OrderedIntegers as OrderedIntegers
from .spaces import Policies as Policies
from .spaces import Simplex as Simplex
from .spaces import Splits as Splits
from .spaces import Words as Words

__all__ = [
    "AGREEMENT",
    "NOTHING",
    "OPTIMALITY_TOLERANCE",
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
    "Share",
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
    "adopt",
    "agree",
    "clock",
    "interrupting",
    "last_word",
    "nonlinear_cost",
    "parameters",
    "refusal",
    "relative_gap",
    "require_fields",
    "run",
    "warm_up",
    "word_of",
]
