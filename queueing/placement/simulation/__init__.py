"""One server and its clients, request by request.

`kernel`
    The compiled events of a simulated server and its clients.
`runs`
    Requests of clients at one server, one by one: a witness that shares nothing with the evaluators.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
