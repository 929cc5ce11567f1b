"""Policies of the threshold queue that see more than the number of pages.

`chain`
    Threshold queues under any policy that sees the whole state, not only the number of pages: what a unit of time
    yields in each state, flows and measures.
`stationary`
    Stationary distributions under policies that choose the mode by state.
`transitions`
    The states of a threshold queue in order, and the rates of all transitions, written by compiled code.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
