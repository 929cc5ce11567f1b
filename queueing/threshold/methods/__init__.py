"""Methods for the stationary distribution of a threshold queue.

`accuracy`
    How accurate the flows of an iterative method are: two iterates, the better one told, their difference the
    judge.
`assembly`
    The generator of a threshold queue, written by compiled code.
`chain`
    One policy of a threshold queue as arrays: what the compiled kernels are given.
`elimination`
    Threshold queues with exponential patience (or none), level by level, without a subtraction.
`flows`
    All flows of a threshold queue from its stationary distribution, with what lies before each page that enters.
`generator`
    Threshold queues by their full generator: the references every other method is tested against.
`gmres`
    Fixed points of linear maps too large for matrices, by GMRES: x = F x is solved with applications of F alone.
`krylov`
    Threshold queues by a Krylov method (BiCGSTAB with Jacobi's preconditioner) on the assembled generator.
`matrix_free`
    Threshold queues without a matrix: millions of states, each level solved by itself, from the top down.
`phase_words`
    The phases of the pages that wait, as words: patience in triangular coordinates, and compiled moves on all
    words.
`recursion`
    Threshold queues without batches: the block-tridiagonal recursion of Avrachenkov et al. (2011), section 6.
`truncation`
    Queues with more room than exact methods take, cut off at a level that is hardly ever reached.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
