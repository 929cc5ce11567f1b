"""Search strategies, and the contract between them and the problems they are asked about.

A problem judges decisions, an oracle asks it on behalf of a strategy, and the result is closed on the best decision
shown:

>>> from heuristics import Exhaustive, run
>>> from heuristics.testing import Separable
>>> print(run(Separable(), Exhaustive()).status)
optimal
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
