from .control import PolicyStep as PolicyStep
from .control import best_policy as best_policy
from .control import descend as descend
from .control import first_policy as first_policy
from .control import policy_step as policy_step
from .feedback_states import Policy as Policy
from .measures import MEASURES as MEASURES
from .measures import RobotMeasures as RobotMeasures
from .queue import RobotQueue as RobotQueue
from .queue import balancing_weight as balancing_weight
from .queue import best_static as best_static
from .queue import static_measures as static_measures
from .queue import static_shares as static_shares
from .structure import ROUNDING as ROUNDING
from .structure import curves as curves
from .structure import is_monotone as is_monotone
from .structure import robot_structure as robot_structure
from .structure import structure_of as structure_of
from .talim import PaperChain as PaperChain
from .talim import paper_chain as paper_chain
from .value_iteration import greedy as greedy
from .value_iteration import sweep as sweep

__all__ = [
    "MEASURES",
    "ROUNDING",
    "PaperChain",
    "Policy",
    "PolicyStep",
    "RobotMeasures",
    "RobotQueue",
    "balancing_weight",
    "best_policy",
    "best_static",
    "curves",
    "descend",
    "first_policy",
    "greedy",
    "is_monotone",
    "paper_chain",
    "policy_step",
    "robot_structure",
    "static_measures",
    "static_shares",
    "structure_of",
    "sweep",
]
