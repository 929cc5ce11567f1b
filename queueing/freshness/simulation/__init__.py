"""Visits to pages, access by access.

`crawlers`
    Robots of the simulation: who visits which pages, and by which rule.
`kernel`
    The compiled events of simulated robots that keep pages fresh.
`runs`
    Pages that change and robots that visit them, event by event: a witness that shares nothing with the evaluators.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
