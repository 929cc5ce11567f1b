"""Costs as formulas: arithmetic over measures, written as text and never run as code.

`expression`
    The cost ``expression``: a formula, its constants, and its weights where it is affine.
`parsing`
    From text to a tree: numbers, names, six functions and nothing else.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
