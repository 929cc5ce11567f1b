"""Policies of the threshold queue that see more than the number of pages.

`chain`
    Threshold queues under any policy that sees the whole state, not only the number of pages.
`states`
    The states of a threshold queue, in the order in which a policy names their modes.
`stationary`
    Stationary distributions under policies that choose the mode by state.
`transitions`
    Rates of all transitions of a threshold queue, mode by mode, written by compiled code.
`yields`
    What a unit of time yields in each state of a threshold queue under each mode.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
