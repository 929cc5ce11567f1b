"""One server, robots switched by the number of pages: measures of threshold policies.

K. Avrachenkov, A. Dudin, V. Klimenok, P. Nain, O. Semenova, "Optimal threshold control by the robots of web search
engines with obsolescence of documents", *Computer Networks* 55 (2011), 1880-1893.

`deterministic`
    Threshold queues whose pages go out of date after a constant time, as the limit of Erlang times of n phases.
`model`
    What every method that evaluates a threshold queue is given, and what it gives back.
`modes`
    What robots bring when 1, ..., N of them are active: the four readings of Avrachenkov et al. (2011), section 2.
`neighbours`
    Many policies of a queue whose patience has several phases: sweeps that share their tables and their starts.
`queue`
    A queue whose arrivals are switched by its length: robots that bring pages to one indexing server.
`tree`
    Measures of many threshold policies at once: what policies share is computed once.
`unbounded`
    Room without bound: how many pages there ever are, for all policies at once, and policies whose room grows until
    it is enough.
`methods`
    Methods for the stationary distribution of a threshold queue.
`policies`
    Policies of the threshold queue that see more than the number of pages.
`simulation`
    The threshold queue, event by event.
`sojourn`
    How long a page stays in a threshold queue: the law, not only the mean.
`tensor`
    The threshold queue in tensor-train form, for states beyond memory.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
