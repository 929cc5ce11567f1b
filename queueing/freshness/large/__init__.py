"""Frequencies of any number of pages, by passes over them.

`blocks`
    Loops over many pages, block by block, as vector code: their traits, bins by worth, windows of worths.
`histogram`
    The price of a visit for any number of pages, from one pass over them.
`nodes`
    A few pages that stand for many: the bins of a histogram of worths, and the price they lead to.
`passes`
    Exact passes over many pages at a given price: the sums that prove an allocation, and its frequencies.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
