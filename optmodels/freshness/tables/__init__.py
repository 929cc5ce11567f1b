"""Problems of so many pages that they stay in files.

`engine`
    Whoever goes over the pages of a table, piece by piece: threads of this process, or a cluster.
`pages`
    Tables of pages in Parquet or ``.npy`` columns, too large for memory, and the hosts and URLs of those that do fit.
`problem`
    Pages by the million: frequencies found, evaluated and written without the pages ever being in memory together.
`streaming`
    The best frequencies of a table of pages that does not fit into memory.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
