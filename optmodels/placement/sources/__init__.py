"""Where real networks come from: topologies of topohub, files of other collections.

`demands`
    Demands that a topology is published with, as clients.
`topologies`
    Topologies of topohub: nodes with names and coordinates, lengths of links, what begins and ends at each node.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
