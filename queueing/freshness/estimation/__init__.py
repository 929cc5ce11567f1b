r"""Change rates of pages from what visits found.

`kernel`
    The compiled part of estimating change rates: one page after the other, in :math:`\theta = \ln \mu`.
`likelihood`
    Change rates of pages from the history of their visits, and their law over all pages.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
