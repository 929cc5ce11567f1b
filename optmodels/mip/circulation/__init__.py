"""Cyclic words over several symbols as circulations of gaps: pieces of integer programs that kinds put together.

`constraints`
    Variables and constraints, one function each: visits, the gaps between them, slots, windows, symmetry, the price.
`points`
    A word as a point of such a model, and back.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
