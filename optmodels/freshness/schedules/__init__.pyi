from .adaptive import Adaptive as Adaptive
from .strategies import GoldenRatio as GoldenRatio
from .strategies import Greedy as Greedy
from .strategies import LargestIndex as LargestIndex
from .strategies import PowerOfTwo as PowerOfTwo
from .strategies import Proportional as Proportional
from .strategies import Randomized as Randomized
from .strategies import Regular as Regular
from .strategies import Uniform as Uniform
from .visits import write_visits as write_visits

__all__ = [
    "Adaptive",
    "GoldenRatio",
    "Greedy",
    "LargestIndex",
    "PowerOfTwo",
    "Proportional",
    "Randomized",
    "Regular",
    "Uniform",
    "write_visits",
]
