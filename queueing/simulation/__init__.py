"""What the simulations of all kinds share: laws to draw from, replications, confidence intervals.

`draws`
    Times and transitions as simulations draw them: laws as tables of sums, and a compiled choice from a row of sums.
`intervals`
    What independent replications tell, and how surely.
`laws`
    Laws of the access time as a simulation draws them: from their parameters alone, never from a transform.
`replications`
    Independent replications one after another, and what they have seen together: one harness for all kinds.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
