"""The command line.

`arguments`
    What people type, made into what commands take.
`commands`
    The ``optmodels`` command.
`explain`
    What stands behind a name, for `optmodels list NAME`: read off the class, its fields and its documentation.
`fit`
    The command ``fit``: change rates of pages from a crawl log.
`options`
    Options that several commands share, and the exit codes.
`output`
    What commands print: answers to stdout, everything else to stderr.
`pareto`
    The command that makes Pareto fronts.
`simulate`
    The command ``simulate``: exact and simulated side by side.
`studies`
    Commands that make many runs, or make instances: compare, sweep, generate.
`visits`
    The command ``visits``: when pages are visited next.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
