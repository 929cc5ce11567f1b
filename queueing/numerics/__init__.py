"""Numerics that the queues share: Markov chains without subtractions, sums, checks of numbers.

`checks`
    Checks of numbers handed to the models: one sentence for each refusal.
`double_double`
    Sums and products kept as sums of two doubles: twice the digits, at a few operations each.
`elementary`
    Logarithms without branches, which compilers turn into vector code, with all digits near 1.
`markov`
    Stationary distributions and first passages of Markov chains, by eliminations that never subtract.
`matrices`
    Checks of vectors and matrices of rates: one sentence for each refusal, naming place, value and rule.
`sums`
    Sums that are rounded once, whatever the number of their terms.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
