from .checking import check_solver as check_solver
from .exporting import export as export
from .highs import load as load
from .process import SolverFailure as SolverFailure
from .program import common_step as common_step
from .program import raised_to_step as raised_to_step
from .pyomo import compile_model as compile_model
from .pyomo import quiet_pyomo as quiet_pyomo
from .pyomo import warm_up as warm_up
from .relaxation import bounds as bounds
from .solvers import SOLVERS as SOLVERS
from .solvers import Solver as Solver
from .strategy import AlgebraicProblem as AlgebraicProblem
from .strategy import Highs as Highs
from .strategy import Starting as Starting
from .strategy import UnboundedProgram as UnboundedProgram
from .timing import within as within
from .worker import die_with as die_with

__all__ = [
    "SOLVERS",
    "AlgebraicProblem",
    "Highs",
    "Solver",
    "SolverFailure",
    "Starting",
    "UnboundedProgram",
    "bounds",
    "check_solver",
    "common_step",
    "compile_model",
    "die_with",
    "export",
    "load",
    "quiet_pyomo",
    "raised_to_step",
    "warm_up",
    "within",
]
