from .highs import load as load
from .program import common_step as common_step
from .pyomo import compile_model as compile_model
from .pyomo import quiet_pyomo as quiet_pyomo
from .pyomo import warm_up as warm_up
from .relaxation import bounds as bounds
from .strategy import COMPANION_ENTRIES as COMPANION_ENTRIES
from .strategy import EXPLAIN_NAMES as EXPLAIN_NAMES
from .strategy import EXPLAIN_SECONDS as EXPLAIN_SECONDS
from .strategy import SOLVERS as SOLVERS
from .strategy import AlgebraicProblem as AlgebraicProblem
from .strategy import Highs as Highs
from .strategy import Solver as Solver
from .strategy import SolverFailure as SolverFailure
from .strategy import Starting as Starting
from .strategy import UnboundedProgram as UnboundedProgram
from .strategy import almost_feasible as almost_feasible
from .strategy import explain as explain
from .strategy import infeasibility as infeasibility
from .strategy import objective_step as objective_step
from .strategy import raised_to_step as raised_to_step
from .timing import within as within
from .worker import die_with as die_with

__all__ = [
    "COMPANION_ENTRIES",
    "EXPLAIN_NAMES",
    "EXPLAIN_SECONDS",
    "SOLVERS",
    "AlgebraicProblem",
    "Highs",
    "Solver",
    "SolverFailure",
    "Starting",
    "UnboundedProgram",
    "almost_feasible",
    "bounds",
    "common_step",
    "compile_model",
    "die_with",
    "explain",
    "infeasibility",
    "load",
    "objective_step",
    "quiet_pyomo",
    "raised_to_step",
    "warm_up",
    "within",
]
