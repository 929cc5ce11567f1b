"""Benchmark sets: the same instances for everybody, and what is known of them.

`benching`
    Strategies compared on a set, their answers held against its solution file, and changes that are offered.
`commands`
    The command ``bench``.
`papers`
    The tables and figures of the five papers, remade beside what is printed.
`sets`
    Named lists of instances: TOML files of shipped instances and of families drawn from seeds.
`solutions`
    Solution files: the best known value of each instance, who proved it, and when.
`tuned`
    What tuning found: who fell when, and what the test says of the winner.
`tuning`
    The parameters of a strategy tuned on some instances of a set, and tested on the others.
`tuning_command`
    The command ``tune``.
`tuning_race`
    A race of configurations: successive halving on the same blocks for all, with a paired test.
`tuning_space`
    Ranges of parameters, declared by a strategy or given, and configurations drawn from them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
