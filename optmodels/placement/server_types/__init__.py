"""Where to put servers of several types: kind "placement" with the field ``server_types``.

`copies`
    Sites once for each type of server: bounds, and the integer program of servers of several types.
`data`
    Types of servers in a file, and which fields stand beside them.
`problem`
    Where to put servers of which type, as a problem.
`space`
    Which sites have a server, and of which type, as a space of decisions.
`walk`
    Loads of a placement step by step where sites have types, in compiled code.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
