"""Where real networks come from: topologies of topohub, files of other collections.

`commands`
    The command ``import``: instances of files of other collections.
`demands`
    Demands that a topology is published with, as clients.
`importing`
    Instances made of files of other collections, and what had to be chosen for that.
`lines`
    Text files of collections, line by line: what is no such text ends in a sentence with file and line.
`orlib`
    Uncapacitated p-median problems of the OR-Library.
`topologies`
    Topologies of topohub, which ships SNDlib, the Topology Zoo and others.
`tsplib`
    Cities of TSPLIB: coordinates, and the rule that makes whole distances of them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
