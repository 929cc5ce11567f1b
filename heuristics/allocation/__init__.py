"""A shared budget handed out: one multiplier for all, or one unit at a time.

`lagrangian`
    One multiplier for a shared budget: the optimum of a sum of convex costs, and its proof.
`marginal_analysis`
    Marginal analysis: give the next unit to whoever gains most by it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
