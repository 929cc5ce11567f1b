"""Numerics that the queues share: Markov chains without subtractions, sums, checks of numbers.

`checks`
    Checks of numbers, vectors and matrices handed to the models: one sentence for each refusal.
`elementary`
    Elementary operations that keep their digits: logarithms for vector code, compensated sums, sums of two doubles.
`markov`
    Stationary distributions and first passages of Markov chains, by eliminations that never subtract.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
