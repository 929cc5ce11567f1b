"""Packets sent to servers, one by one.

`kernel`
    The compiled events of simulated servers without buffers.
`runs`
    Packets sent to servers without buffers, one by one: a witness that shares nothing with the evaluators.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
