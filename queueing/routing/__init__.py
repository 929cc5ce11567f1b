"""Packets sent to servers without buffers in an order fixed beforehand: what it costs.

E. Altman, S. Bhulai, B. Gaujal, A. Hordijk, "Open-loop routeing to M parallel servers with no buffers", *Journal of
Applied Probability* 37 (2000), 668-684.

`arrivals`
    Packets that arrive one by one, and what becomes of a service begun at one of them.
`cost_tables`
    Tables of costs of gaps, by server, whatever they come from; and functions of one's own as such costs.
`costs`
    What it costs to send arriving packets to servers without buffers, in an order fixed beforehand.
`residual_service`
    A service that runs while packets arrive: what is left of it after 1, 2, 3, ... slots, for phases of any kind.
`simulation`
    Packets sent to servers, one by one.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
