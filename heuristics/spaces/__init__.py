"""Spaces of decisions: what they hold, how to draw from them and walk through them.

`shares`
    A total that is shared: in any parts, which is a continuum, or in whole units.
`vectors`
    Vectors of whole numbers as decisions, the ways to move among them, and the checks of entries that all spaces share.
`words`
    Cyclic words: a space of decisions in which a rotation is the same decision.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
