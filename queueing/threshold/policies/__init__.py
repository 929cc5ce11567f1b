"""Policies of the threshold queue that see more than the number of pages.

`chain`
    Threshold queues under any policy that sees the whole state, not only the number of pages: stationary
    distributions, flows and measures.
`transitions`
    The states of a threshold queue in order, the rates of all transitions, and what a unit of time yields, by mode.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
