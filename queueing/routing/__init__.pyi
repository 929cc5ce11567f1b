from .arrivals import Arrivals as Arrivals
from .arrivals import MarkovArrivals as MarkovArrivals
from .arrivals import RenewalArrivals as RenewalArrivals
from .arrivals import TraceArrivals as TraceArrivals
from .cost_tables import GapCosts as GapCosts
from .cost_tables import callable_costs as callable_costs
from .cost_tables import not_convex as not_convex
from .costs import freshness_costs as freshness_costs
from .costs import horizon_cost as horizon_cost
from .costs import loss_costs as loss_costs
from .costs import word_cost as word_cost
from .costs import word_gaps as word_gaps
from .costs import words_cost as words_cost

__all__ = [
    "Arrivals",
    "GapCosts",
    "MarkovArrivals",
    "RenewalArrivals",
    "TraceArrivals",
    "callable_costs",
    "freshness_costs",
    "horizon_cost",
    "loss_costs",
    "not_convex",
    "word_cost",
    "word_gaps",
    "words_cost",
]
