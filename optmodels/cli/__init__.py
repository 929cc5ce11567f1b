"""The command line.

`arguments`
    What people type, made into what commands take: options that several commands share, decisions, exit codes.
`checking`
    The command ``check``: whether instance files hold what they must.
`commands`
    The command line with the commands of all kinds, and those that answer for one instance.
`demo`
    The command ``demo``: every kind once, as a table, as pictures and as one page.
`demo_page`
    The page of the demo: one HTML file that asks no other host for anything.
`doctor`
    The command ``doctor``: what is installed here, and what this machine offers.
`explain`
    What stands behind a name, for `optmodels list NAME`: read off the class, its fields and its documentation.
`listing`
    The command ``list``: what there is, by name, and what stands behind a name.
`output`
    What commands print: answers to stdout, everything else to stderr.
`process`
    One command from its words to its exit code: signals, streams, and a sentence where there is no answer.
`starting`
    The command ``new``: a problem to begin with, whose notes explain every field.
`studies`
    Commands that make many runs, or make instances: pareto, simulate, compare, sweep, generate.
`warming`
    The command ``warm-up``: compile once what would be compiled at first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
