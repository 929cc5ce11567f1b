"""Placements proved by clauses: what no feasible placement may leave closed, and a counter of costs.

A site that is overloaded even with everything outside a set Z open is closed, or one of Z is open: a clause. With
enough of them, "cheaper than the best known" has no solution, and a solver of clauses proves it.

J. N. Hooker and G. Ottosson, "Logic-based Benders decomposition", *Mathematical Programming* 96 (2003), 33-60.

`counter`
    A limit on the cost of open sites as clauses: a counter that runs along the sites.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
