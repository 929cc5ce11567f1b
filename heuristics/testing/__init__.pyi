from .contract import ENUMERABLE as ENUMERABLE
from .contract import Box as Box
from .contract import Continuous as Continuous
from .contract import Control as Control
from .contract import Hopeless as Hopeless
from .contract import Knapsack as Knapsack
from .contract import Ladder as Ladder
from .contract import MendedKnapsack as MendedKnapsack
from .contract import Necklace as Necklace
from .contract import Ring as Ring
from .contract import RingWalk as RingWalk
from .contract import Separable as Separable
from .contract import Shared as Shared
from .contract import Truth as Truth
from .contract import Watch as Watch
from .contract import Watched as Watched
from .contract import Wide as Wide
from .contract import check_strategy as check_strategy
from .contract import counting as counting
from .contract import enumerated as enumerated
from .contract import toy_problems as toy_problems
from .routing import Routed as Routed
from .routing import losses as losses

__all__ = [
    "ENUMERABLE",
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
    "Watch",
    "Watched",
    "Wide",
    "check_strategy",
    "counting",
    "enumerated",
    "losses",
    "toy_problems",
]
