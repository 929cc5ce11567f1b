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
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
