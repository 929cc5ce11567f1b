from .dejavu import Dejavu as Dejavu

__all__ = [
    "Dejavu",
]
