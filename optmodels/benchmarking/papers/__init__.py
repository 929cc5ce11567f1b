"""The tables and figures of the five papers, remade and held against what is printed.

`altman`
    Altman et al. (2000): kind "routing".
`avrachenkov`
    Avrachenkov et al. (2011): kind "threshold".
`coffman`
    Coffman et al. (1998): kind "freshness".
`gautam`
    Gautam (2002): kind "placement".
`published_iteration`
    The value iteration of Talim et al. (2001) as it was published.
`remaking`
    All of them, in one run.
`tables`
    A printed table beside ours.
`talim`
    Talim et al. (2001): kind "robots".
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
