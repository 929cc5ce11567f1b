"""The command line.

`arguments`
    What people type, made into what commands take.
`commands`
    The commands that answer for one instance, and the command line that all commands belong to.
`explain`
    What stands behind a name, for `optmodels list NAME`: read off the class, its fields and its documentation.
`listing`
    The command ``list``: what there is, by name, and what stands behind a name.
`of_kinds`
    Commands that kinds of problems add to the command line, found in their records when they are asked for.
`options`
    Options that several commands share, and the exit codes.
`output`
    What commands print: answers to stdout, everything else to stderr.
`pareto`
    The command that makes Pareto fronts.
`process`
    One command from its words to its exit code: signals, streams, and a sentence where there is no answer.
`simulate`
    The command ``simulate``: exact and simulated side by side.
`studies`
    Commands that make many runs, or make instances: compare, sweep, generate.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
