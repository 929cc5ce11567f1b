from .counter import Counter as Counter

__all__ = [
    "Counter",
]
