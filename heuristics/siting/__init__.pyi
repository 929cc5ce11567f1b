from .dejavu import Dejavu as Dejavu
from .large_neighbourhood import LargeNeighbourhood as LargeNeighbourhood
from .large_neighbourhood import Settled as Settled
from .large_neighbourhood import Windowed as Windowed
from .large_neighbourhood import WindowWalk as WindowWalk

__all__ = [
    "Dejavu",
    "LargeNeighbourhood",
    "Settled",
    "WindowWalk",
    "Windowed",
]
