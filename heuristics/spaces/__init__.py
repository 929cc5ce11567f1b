"""Spaces of decisions: what they hold, how to draw from them and walk through them.

`entries`
    Entries of a decision: checked, rounded, replaced and exchanged, alike in all spaces.
`simplex`
    Shares that add up to a total: a space of decisions that is a continuum.
`splits`
    Ways to hand out equal units: a space of decisions, beside those of :mod:`heuristics.spaces`.
`vectors`
    Vectors of whole numbers as decisions, and the ways to move among them.
`words`
    Cyclic words: a space of decisions in which a rotation is the same decision.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
