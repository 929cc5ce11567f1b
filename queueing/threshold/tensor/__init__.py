"""The threshold queue in tensor-train form, for states beyond memory.

`bases`
    Small spaces for the patience phases of all waiting pages, nested from the oldest on, and the queue seen in
    them.
`growth`
    Better spaces of patience phases: what rows and worths fill is kept, what they leave of their equations is
    added.
`levels`
    Levels of a threshold queue seen in small spaces of patience phases, solved as they are: level by level,
    directly; and what lies before a page that enters.
`tensor_train`
    The tensor-train method, for queues of many pages with patience of several phases, and how accurate it is.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
