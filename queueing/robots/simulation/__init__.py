"""Robots and their server, event by event.

`closed_classes`
    In which states may a fleet end up? A question of what can follow what, in which no rate occurs.
`kernel`
    The compiled events of a simulated fleet of robots.
`model`
    The fleet that is simulated: its data, and the policy, as the tables the compiled events read.
`runs`
    Robots one by one, page by page: a witness that shares nothing with the evaluators of policies.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
