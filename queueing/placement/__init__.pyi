from .capacity import capacity_by_distance as capacity_by_distance
from .finite_source import CLIENT_CAP as CLIENT_CAP
from .finite_source import POPULATION_CAP as POPULATION_CAP
from .finite_source import FiniteSourceQueue as FiniteSourceQueue
from .mixed_source import CLIENT_LIMIT as CLIENT_LIMIT
from .mixed_source import MixedSourceMeasures as MixedSourceMeasures
from .mixed_source import MixedSourceQueue as MixedSourceQueue
from .mixed_source import MixedSourceTable as MixedSourceTable
from .priority_source import EVENT_LIMIT as EVENT_LIMIT
from .priority_source import STATE_LIMIT as STATE_LIMIT
from .priority_source import PriorityMeasures as PriorityMeasures
from .priority_source import PrioritySourceQueue as PrioritySourceQueue
from .tokens import TOKEN_LIMIT as TOKEN_LIMIT

__all__ = [
    "CLIENT_CAP",
    "CLIENT_LIMIT",
    "EVENT_LIMIT",
    "POPULATION_CAP",
    "STATE_LIMIT",
    "TOKEN_LIMIT",
    "FiniteSourceQueue",
    "MixedSourceMeasures",
    "MixedSourceQueue",
    "MixedSourceTable",
    "PriorityMeasures",
    "PrioritySourceQueue",
    "capacity_by_distance",
]
