"""Search that needs nothing of a problem but answers: exhaustive, local, annealing, genetic.

`annealing`
    Simulated annealing on any discrete space.
`common`
    What the searches over discrete spaces share: starts, slices of moves, and a walk that evaluates every step.
`exhaustive`
    Every decision of a finite space.
`genetic`
    A genetic algorithm on any discrete space, with DEAP.
`local_search`
    Descent to local optima from many starting points.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
