"""Spaces of decisions: what they hold, how to draw from them and walk through them.

`splits`
    Ways to hand out equal units: a space of decisions, beside those of :mod:`heuristics.spaces`.
`vectors`
    Sets of decisions, and the ways to move in them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
