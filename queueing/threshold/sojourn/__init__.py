"""How long a page stays in a threshold queue: the law, not only the mean.

`arrivals`
    What an arriving page meets: the stationary distribution of a threshold queue, seen by the pages that enter.
`distribution`
    Sojourn times of a threshold queue, in law: transforms, moments, distribution and quantiles.
`tagged_page`
    One page of a threshold queue from its arrival to its end: an absorbing chain in which no later arrival matters.
`transient`
    How long a page stays: its chain (:mod:`queueing.threshold.sojourn.tagged_page`) in time, by two methods.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
