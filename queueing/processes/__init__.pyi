from .access_times import AccessTime as AccessTime
from .access_times import Constant as Constant
from .access_times import Erlang as Erlang
from .access_times import Exponential as Exponential
from .access_times import Hyperexponential as Hyperexponential
from .access_times import PhaseTypeTime as PhaseTypeTime
from .access_times import Samples as Samples
from .access_times import not_negative_numbers as not_negative_numbers
from .bmap import BMAP as BMAP
from .bmap import check_same_phases as check_same_phases
from .phase_type import PhaseType as PhaseType
from .reduction import distance as distance
from .reduction import reduce_order as reduce_order
from .transforms import CONSTANT as CONSTANT
from .transforms import ERLANG as ERLANG
from .transforms import EXPONENTIAL as EXPONENTIAL
from .transforms import decay_and_deficit_at as decay_and_deficit_at
from .transforms import decay_at as decay_at
from .transforms import decays_and_deficits as decays_and_deficits
from .transforms import exp_excess as exp_excess
from .transforms import first_negative as first_negative
from .transforms import power_series as power_series

__all__ = [
    "BMAP",
    "CONSTANT",
    "ERLANG",
    "EXPONENTIAL",
    "AccessTime",
    "Constant",
    "Erlang",
    "Exponential",
    "Hyperexponential",
    "PhaseType",
    "PhaseTypeTime",
    "Samples",
    "check_same_phases",
    "decay_and_deficit_at",
    "decay_at",
    "decays_and_deficits",
    "distance",
    "exp_excess",
    "first_negative",
    "not_negative_numbers",
    "power_series",
    "reduce_order",
]
