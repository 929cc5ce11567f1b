"""What an answer claims, checked: measured again, and proved again.

`keeping`
    Proofs that runs keep in files, by strategies that can.
`proving`
    Proving again, cheaply, what an answer claims: lower bounds, and decisions that lie below them.
`seconding`
    A second opinion on an answer, from another solver or by another road.
`verdicts`
    The verdict on each claim of an answer, with its reason.
`verifying`
    `verify`: each claim of an answer is confirmed, refuted or taken on trust.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
