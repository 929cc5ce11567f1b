"""Which sites to open: DEJAVU, which joins solved blocks of the map, and windows that are solved one by one.

N. Gautam, "Performance analysis and optimization of web proxy servers and mirror sites", *European Journal of
Operational Research* 142 (2002), 396-418.

`dejavu`
    DEJAVU: decompose a grid or a network into blocks small enough to enumerate, evaluate, join, append, verify, unplug.
`large_neighbourhood`
    Sites that are near to one another put into their best setting together, window by window.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
