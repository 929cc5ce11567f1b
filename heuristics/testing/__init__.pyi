from .contract import ENUMERABLE as ENUMERABLE
from .contract import Truth as Truth
from .contract import check_strategy as check_strategy
from .contract import enumerated as enumerated
from .spaces import LISTED as LISTED
from .spaces import check_space as check_space
from .spaces import is_same as is_same
from .toys import Box as Box
from .toys import Continuous as Continuous
from .toys import Control as Control
from .toys import Hopeless as Hopeless
from .toys import Knapsack as Knapsack
from .toys import Ladder as Ladder
from .toys import MendedKnapsack as MendedKnapsack
from .toys import Necklace as Necklace
from .toys import Ring as Ring
from .toys import RingWalk as RingWalk
from .toys import Routed as Routed
from .toys import Separable as Separable
from .toys import Shared as Shared
from .toys import Wide as Wide
from .toys import losses as losses
from .toys import toy_problems as toy_problems
from .walks import check_walk as check_walk

__all__ = [
    "ENUMERABLE",
    "LISTED",
    "Box",
    "Continuous",
    "Control",
    "Hopeless",
    "Knapsack",
    "Ladder",
    "MendedKnapsack",
    "Necklace",
    "Ring",
    "RingWalk",
    "Routed",
    "Separable",
    "Shared",
    "Truth",
    "Wide",
    "check_space",
    "check_strategy",
    "check_walk",
    "enumerated",
    "is_same",
    "losses",
    "toy_problems",
]
