from .backward_induction import BackwardInduction as BackwardInduction
from .backward_induction import HorizonCosts as HorizonCosts
from .backward_induction import horizon_costs as horizon_costs
from .backward_induction import horizon_total as horizon_total
from .balanced import Balanced as Balanced
from .balanced import closed as closed
from .balanced import lengths_of as lengths_of
from .balanced import proved as proved
from .balanced import refuses_lengths as refuses_lengths
from .gap_graph import Charges as Charges
from .gap_graph import GapGraph as GapGraph
from .gap_graph import Kinds as Kinds
from .howard import least_mean_cycle as least_mean_cycle
from .min_mean_cycle import MinMeanCycle as MinMeanCycle
from .problem import GapTable as GapTable
from .problem import GapTables as GapTables
from .problem import cyclic_cost as cyclic_cost
from .problem import later_slopes as later_slopes
from .problem import refuses_prices as refuses_prices
from .problem import word_cost as word_cost
from .server_densities import IndexRule as IndexRule
from .server_densities import densities as densities
from .two_server import Split as Split
from .two_server import TwoServer as TwoServer
from .two_server import closed_form as closed_form
from .value_iteration import RoutingSweeps as RoutingSweeps
from .value_iteration import too_many_gaps as too_many_gaps

__all__ = [
    "BackwardInduction",
    "Balanced",
    "Charges",
    "GapGraph",
    "GapTable",
    "GapTables",
    "HorizonCosts",
    "IndexRule",
    "Kinds",
    "MinMeanCycle",
    "RoutingSweeps",
    "Split",
    "TwoServer",
    "closed",
    "closed_form",
    "cyclic_cost",
    "densities",
    "horizon_costs",
    "horizon_total",
    "later_slopes",
    "least_mean_cycle",
    "lengths_of",
    "proved",
    "refuses_lengths",
    "refuses_prices",
    "too_many_gaps",
    "word_cost",
]
