"""Policies of the threshold queue that see more than the number of pages.

`chain`
    Threshold queues under any policy that sees the whole state, not only the number of pages.
`stationary`
    Stationary distributions under policies that choose the mode by state.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
