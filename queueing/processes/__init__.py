"""Arrivals and times: batch Markovian arrivals, phase-type laws, laws of access times.

`access_times`
    How long a robot takes to access a page: laws of a time X, known through its Laplace transform.
`bmap`
    Batch Markovian arrival processes (BMAP).
`phase_type`
    Phase-type laws: the time a Markov chain takes to end.
`reduction`
    The same phase-type law with fewer phases.
`transforms`
    Transforms of access times, compiled: decay and deficit of every law.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
