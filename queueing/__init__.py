"""Queues that, given a policy or a population, say how well they serve.

`FiniteSourceQueue`
    a server and clients that all think equally long: throughput, delay, largest population.
`MixedSourceQueue`
    the same with classes of clients, exactly; `mean_value_analysis` is the textbook road to its means.
`capacity_by_distance`, `largest_safe_population`
    how many clients a server can take when they live at different distances.
`PhaseType`, `reduce_order`
    times made of exponential phases: moments, tails, and the same law with fewer phases.
`BMAP`
    arrivals in batches, driven by a Markov chain: rates and correlation.
`Mode`, `independent_modes`, `thinned_modes`, `marked_modes`, `direct_modes`
    what robots bring when some of them are active.
`ThresholdQueue`, `ThresholdMeasures`
    one server, robots switched by the number of pages: every measure of any threshold policy.
`SojournTimes`, `SojournLaw`
    how long pages of such a queue stay: transforms, moments, distribution, quantiles.
`deterministic_patience`
    measures where pages go out of date after a constant time, as a limit with its error.
`unbounded_room`, `Truncation`
    how much room is as good as room for all pages, under every policy.
`RobotQueue`, `RobotMeasures`, `static_measures`, `best_static`, `balancing_weight`
    one server, robots sent out one at a time: every measure of any policy, and of a fixed number of robots.
`best_policy`, `policy_step`, `PolicyStep`
    the best such policy, with a certificate.
`Constant`, `Exponential`, `Erlang`, `Hyperexponential`, `PhaseTypeTime`, `Samples`
    how long one access to a page takes.
`traits`, `even_obsolescence`, `schedule_obsolescence`, `randomized_obsolescence`, `integer_bound`
    how long pages of an index are out of date, for any way of visiting them.
`allocate`, `allocate_randomized`, `price_pages`, `objective_pass`
    how often to visit each page, with a proved bound; the same for any number of pages, by passes over them.
`RenewalArrivals`, `MarkovArrivals`, `TraceArrivals`
    packets that arrive one by one.
`loss_costs`, `freshness_costs`, `callable_costs`, `GapCosts`, `word_cost`, `words_cost`, `horizon_cost`
    what it costs to send them to servers without buffers in an order fixed beforehand.
`stationary_distribution`, `stationary_by_levels`
    Markov chains, without a subtraction: small probabilities have all their digits.
"""

from .arrivals import BMAP
from .capacity import capacity_by_distance, largest_safe_population
from .finite_source import POPULATION_CAP, FiniteSourceQueue
from .freshness import (
    Traits,
    even_obsolescence,
    integer_bound,
    integer_obsolescence,
    randomized_obsolescence,
    schedule_gaps,
    schedule_obsolescence,
    traits,
)
from .freshness_allocation import Allocation, allocate, allocate_randomized
from .freshness_histogram import Histogram, PricedPages, histogram_of, price_pages
from .freshness_passes import PassSums, frequencies_at, objective_pass
from .laws import AccessTime, Constant, Erlang, Exponential, Hyperexponential, PhaseTypeTime, Samples
from .markov import stationary_by_levels, stationary_distribution
from .mixed_source import MixedSourceMeasures, MixedSourceQueue, MixedSourceTable, mean_value_analysis
from .modes import Mode, direct_modes, independent_modes, marked_modes, thinned_modes
from .phasetype import PhaseType
from .phasetype_reduction import reduce_order
from .robots import RobotQueue, balancing_weight, best_static, static_measures
from .robots_control import PolicyStep, best_policy, policy_step
from .robots_measures import RobotMeasures
from .routing import (
    GapCosts,
    callable_costs,
    freshness_costs,
    horizon_cost,
    loss_costs,
    word_cost,
    word_gaps,
    words_cost,
)
from .routing_arrivals import MarkovArrivals, RenewalArrivals, TraceArrivals
from .threshold import ThresholdMeasures, ThresholdQueue
from .threshold_deterministic import DeterministicPatience, deterministic_patience
from .threshold_sojourn import SojournLaw, SojournTimes, sojourn_times
from .threshold_unbounded import Truncation, unbounded_room

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
    "direct_modes",
    "even_obsolescence",
    "frequencies_at",
    "freshness_costs",
    "histogram_of",
    "horizon_cost",
    "independent_modes",
    "integer_bound",
    "integer_obsolescence",
    "largest_safe_population",
    "loss_costs",
    "marked_modes",
    "mean_value_analysis",
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
