"""What kinds of layouts share, and those that are neither a grid nor a network of steps.

`by_site`
    Fields with something for each site, or for each cell: numbers, names, coordinates.
`fixed`
    Sites that are open, or closed, whatever is decided about the others.
`distances`
    Distances of any sort, and who is nearest in whole numbers: what searches and programs read off them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
