"""What an answer claims, checked: measured again, and proved again.

`claims`
    What an answer says, and what became of it when it was checked.
`proving`
    Proving again, cheaply, what an answer claims: lower bounds, and decisions that lie below them.
`verifying`
    Checking an answer without the strategy that gave it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
