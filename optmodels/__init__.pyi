from . import costs as costs
from . import registry as registry
from .data import NamedLaw as NamedLaw
from .data import constant as constant
from .data import erlang as erlang
from .data import exponential as exponential
from .data import hyperexponential as hyperexponential
from .data import instances as instances
from .data import map as map
from .data import mmpp as mmpp
from .data import phase_type as phase_type
from .data import poisson as poisson
from .errors import InstanceError as InstanceError
from .errors import RequestError as RequestError
from .freshness import FreshnessProblem as FreshnessProblem
from .generating import fit as fit
from .generating import generate as generate
from .instance import BestKnown as BestKnown
from .instance import Instance as Instance
from .instance import load as load
from .instance import read_instance as read_instance
from .instance import write_instance as write_instance
from .kinds import Kind as Kind
from .mip import check_solver as check_solver
from .mip import export as export
from .multipliers import Multipliers as Multipliers
from .multipliers import find_multipliers as find_multipliers
from .placement import PlacementProblem as PlacementProblem
from .placement import import_file as import_file
from .plotting import plot as plot
from .protocols import Budget as Budget
from .protocols import Decision as Decision
from .protocols import Disagreement as Disagreement
from .protocols import Evaluation as Evaluation
from .protocols import Oracle as Oracle
from .protocols import Problem as Problem
from .protocols import Progress as Progress
from .protocols import Space as Space
from .protocols import Status as Status
from .protocols import Strategy as Strategy
from .protocols import TracePoint as TracePoint
from .protocols import UnsupportedProblem as UnsupportedProblem
from .results import read_result as read_result
from .results import result_from_data as result_from_data
from .results import result_to_data as result_to_data
from .results import write_result as write_result
from .robots import RobotsProblem as RobotsProblem
from .routing import RoutingProblem as RoutingProblem
from .solving import Result as Result
from .solving import evaluate as evaluate
from .solving import solve as solve
from .studies import Comparison as Comparison
from .studies import Front as Front
from .studies import Sweep as Sweep
from .studies import compare as compare
from .studies import pareto as pareto
from .studies import simulate as simulate
from .studies import sweep as sweep
from .studies import visits as visits
from .testing import check_kind as check_kind
from .testing import check_problem as check_problem
from .threshold import ThresholdProblem as ThresholdProblem
from .verification import Verification as Verification
from .verification import verify as verify

__version__: str

def clash(failure: ImportError) -> str | None: ...

__all__ = [
    "BestKnown",
    "Budget",
    "Comparison",
    "Decision",
    "Disagreement",
    "Evaluation",
    "FreshnessProblem",
    "Front",
    "Instance",
    "InstanceError",
    "Kind",
    "Multipliers",
    "NamedLaw",
    "Oracle",
    "PlacementProblem",
    "Problem",
    "Progress",
    "RequestError",
    "Result",
    "RobotsProblem",
    "RoutingProblem",
    "Space",
    "Status",
    "Strategy",
    "Sweep",
    "ThresholdProblem",
    "TracePoint",
    "UnsupportedProblem",
    "Verification",
    "__version__",
    "check_kind",
    "check_problem",
    "check_solver",
    "compare",
    "constant",
    "costs",
    "erlang",
    "evaluate",
    "exponential",
    "export",
    "find_multipliers",
    "fit",
    "generate",
    "hyperexponential",
    "import_file",
    "instances",
    "load",
    "map",
    "mmpp",
    "pareto",
    "phase_type",
    "plot",
    "poisson",
    "read_instance",
    "read_result",
    "registry",
    "result_from_data",
    "result_to_data",
    "simulate",
    "solve",
    "sweep",
    "verify",
    "visits",
    "write_instance",
    "write_result",
]
