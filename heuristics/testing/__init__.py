"""Checks of a strategy and of a space, and toy problems, for us and for third parties.

`contract`
    A check that a strategy keeps the contract: for our own tests and for third parties.
`spaces`
    A check that a space of decisions is consistent: for our own tests and for third parties.
`toys`
    Toy problems, one of each kind that strategies meet: small enough to know the truth by enumeration.
`walks`
    A check that a walk of small steps agrees with the evaluator: for our own tests and for third parties.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
