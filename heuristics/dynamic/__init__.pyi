from .decision_process import DecisionProcess as DecisionProcess
from .decision_process import EvaluatedPolicy as EvaluatedPolicy
from .decision_process import Watch as Watch
from .decision_process import solve_process as solve_process
from .fractional_process import FractionalSearch as FractionalSearch
from .policy_iteration import Improvable as Improvable
from .policy_iteration import Improvement as Improvement
from .policy_iteration import PolicyIteration as PolicyIteration
from .policy_iteration import iterate as iterate
from .value_iteration import Closing as Closing
from .value_iteration import Rule as Rule
from .value_iteration import Sweeps as Sweeps
from .value_iteration import Swept as Swept
from .value_iteration import ValueIteration as ValueIteration
from .whittle import Whittle as Whittle

__all__ = [
    "Closing",
    "DecisionProcess",
    "EvaluatedPolicy",
    "FractionalSearch",
    "Improvable",
    "Improvement",
    "PolicyIteration",
    "Rule",
    "Sweeps",
    "Swept",
    "ValueIteration",
    "Watch",
    "Whittle",
    "iterate",
    "solve_process",
]
