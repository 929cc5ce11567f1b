"""The threshold queue, event by event.

`kernel`
    The compiled events of a simulated queue.
`model`
    The queue that is simulated: its data as plain arrays, and as the tables the compiled events read.
`runs`
    The threshold queue, event by event: a witness that shares nothing with the evaluators.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
