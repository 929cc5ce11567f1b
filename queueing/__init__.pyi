from .freshness import Allocation as Allocation
from .freshness import Histogram as Histogram
from .freshness import PassSums as PassSums
from .freshness import PricedPages as PricedPages
from .freshness import Traits as Traits
from .freshness import allocate as allocate
from .freshness import allocate_randomized as allocate_randomized
from .freshness import even_obsolescence as even_obsolescence
from .freshness import frequencies_at as frequencies_at
from .freshness import histogram_of as histogram_of
from .freshness import integer_bound as integer_bound
from .freshness import integer_obsolescence as integer_obsolescence
from .freshness import objective_pass as objective_pass
from .freshness import price_pages as price_pages
from .freshness import randomized_obsolescence as randomized_obsolescence
from .freshness import schedule_gaps as schedule_gaps
from .freshness import schedule_obsolescence as schedule_obsolescence
from .freshness import traits as traits
from .numerics import stationary_by_levels as stationary_by_levels
from .numerics import stationary_distribution as stationary_distribution
from .placement import POPULATION_CAP as POPULATION_CAP
from .placement import FiniteSourceQueue as FiniteSourceQueue
from .placement import MixedSourceMeasures as MixedSourceMeasures
from .placement import MixedSourceQueue as MixedSourceQueue
from .placement import MixedSourceTable as MixedSourceTable
from .placement import PriorityMeasures as PriorityMeasures
from .placement import PrioritySourceQueue as PrioritySourceQueue
from .placement import capacity_by_distance as capacity_by_distance
from .processes import BMAP as BMAP
from .processes import AccessTime as AccessTime
from .processes import Constant as Constant
from .processes import Erlang as Erlang
from .processes import Exponential as Exponential
from .processes import Hyperexponential as Hyperexponential
from .processes import PhaseType as PhaseType
from .processes import PhaseTypeTime as PhaseTypeTime
from .processes import Samples as Samples
from .processes import reduce_order as reduce_order
from .robots import PolicyStep as PolicyStep
from .robots import RobotMeasures as RobotMeasures
from .robots import RobotQueue as RobotQueue
from .robots import balancing_weight as balancing_weight
from .robots import best_policy as best_policy
from .robots import best_static as best_static
from .robots import policy_step as policy_step
from .robots import static_measures as static_measures
from .routing import GapCosts as GapCosts
from .routing import MarkovArrivals as MarkovArrivals
from .routing import RenewalArrivals as RenewalArrivals
from .routing import TraceArrivals as TraceArrivals
from .routing import callable_costs as callable_costs
from .routing import freshness_costs as freshness_costs
from .routing import horizon_cost as horizon_cost
from .routing import loss_costs as loss_costs
from .routing import word_cost as word_cost
from .routing import word_gaps as word_gaps
from .routing import words_cost as words_cost
from .threshold import DeterministicPatience as DeterministicPatience
from .threshold import Mode as Mode
from .threshold import SojournLaw as SojournLaw
from .threshold import SojournTimes as SojournTimes
from .threshold import ThresholdMeasures as ThresholdMeasures
from .threshold import ThresholdQueue as ThresholdQueue
from .threshold import Truncation as Truncation
from .threshold import deterministic_patience as deterministic_patience
from .threshold import independent_modes as independent_modes
from .threshold import marked_modes as marked_modes
from .threshold import sojourn_times as sojourn_times
from .threshold import thinned_modes as thinned_modes
from .threshold import unbounded_room as unbounded_room

__all__ = [
    "BMAP",
    "POPULATION_CAP",
    "AccessTime",
    "Allocation",
    "Constant",
    "DeterministicPatience",
    "Erlang",
    "Exponential",
    "FiniteSourceQueue",
    "GapCosts",
    "Histogram",
    "Hyperexponential",
    "MarkovArrivals",
    "MixedSourceMeasures",
    "MixedSourceQueue",
    "MixedSourceTable",
    "Mode",
    "PassSums",
    "PhaseType",
    "PhaseTypeTime",
    "PolicyStep",
    "PricedPages",
    "PriorityMeasures",
    "PrioritySourceQueue",
    "RenewalArrivals",
    "RobotMeasures",
    "RobotQueue",
    "Samples",
    "SojournLaw",
    "SojournTimes",
    "ThresholdMeasures",
    "ThresholdQueue",
    "TraceArrivals",
    "Traits",
    "Truncation",
    "allocate",
    "allocate_randomized",
    "balancing_weight",
    "best_policy",
    "best_static",
    "callable_costs",
    "capacity_by_distance",
    "deterministic_patience",
    "even_obsolescence",
    "frequencies_at",
    "freshness_costs",
    "histogram_of",
    "horizon_cost",
    "independent_modes",
    "integer_bound",
    "integer_obsolescence",
    "loss_costs",
    "marked_modes",
    "objective_pass",
    "policy_step",
    "price_pages",
    "randomized_obsolescence",
    "reduce_order",
    "schedule_gaps",
    "schedule_obsolescence",
    "sojourn_times",
    "static_measures",
    "stationary_by_levels",
    "stationary_distribution",
    "thinned_modes",
    "traits",
    "unbounded_room",
    "word_cost",
    "word_gaps",
    "words_cost",
]
