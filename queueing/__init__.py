"""Queues that, given a policy or a population, say how well they serve.

`FiniteSourceQueue`
    a server and clients that all think equally long: throughput, delay, largest population.
`MixedSourceQueue`
    the same with classes of clients, exactly; `mean_value_analysis` is the textbook road to its means.
`capacity_by_distance`, `largest_safe_population`
    how many clients a server can take when they live at different distances.
"""

from .capacity import capacity_by_distance, largest_safe_population
from .finite_source import POPULATION_CAP, FiniteSourceQueue
from .mixed_source import MixedSourceMeasures, MixedSourceQueue, MixedSourceTable, mean_value_analysis

__all__ = [
    "POPULATION_CAP",
    "FiniteSourceQueue",
    "MixedSourceMeasures",
    "MixedSourceQueue",
    "MixedSourceTable",
    "capacity_by_distance",
    "largest_safe_population",
    "mean_value_analysis",
]
