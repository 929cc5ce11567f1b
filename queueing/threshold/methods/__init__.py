"""Methods for the stationary distribution of a threshold queue.

`chain`
    One policy of a threshold queue as arrays, which the compiled kernels are given, and its generator.
`elimination`
    Threshold queues with exponential patience (or none), level by level, without a subtraction.
`flows`
    All flows of a threshold queue from its stationary distribution, with what lies before each page that enters,
    and how accurate they are.
`generator`
    Threshold queues by their full generator: the references every other method is tested against, and the
    recursion of Avrachenkov et al. (2011), section 6, for arrivals without batches.
`krylov`
    Krylov methods: GMRES for x = F x, and BiCGSTAB on the assembled generator of a threshold queue.
`matrix_free`
    Threshold queues without a matrix: millions of states, each level solved by itself, from the top down.
`phase_words`
    The phases of the pages that wait, as words: patience in triangular coordinates, and compiled moves on all
    words.
`truncation`
    Queues with more room than exact methods take, cut off at a level that is hardly ever reached.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
