"""Windows of sites that are near to one another, searched for their best setting; all other sites stay as they are.

The strategy ``large-neighbourhood`` (`heuristics.siting`) goes from window to window.

`kernel`
    The search of one window, compiled.
`walk`
    A placement that moves window by window, and which problems have such walks.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
