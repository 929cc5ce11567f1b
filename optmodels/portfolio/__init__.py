"""Several strategies that share one budget, and answer as one: ``best-of:strategies=highs+annealing``.

A portfolio in the sense of B. A. Huberman, R. M. Lukose and T. Hogg, "An economics approach to hard computational
problems", Science 275 (1997), 51-54: which of several strategies does best on an instance is not known in advance, so
each gets a share of the time. Here they also help one another: a decision that one finds is where others start, and a
bound that one proves ends the search of all as soon as the best decision of any of them meets it.

`crew`
    Members in several processes side by side, for budgets in seconds.
`informed`
    The problem of a run, with what is known by now among its suggestions.
`lane`
    The inside of one of these processes.
`members`
    Which strategies take part, which are left out and why, and what each of them did.
`rounds`
    Members at work one after the other, in rounds, in this process.
`strategy`
    The strategy ``best-of``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
