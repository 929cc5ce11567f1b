"""Kind "routing": which server the next packet goes to.

E. Altman, S. Bhulai, B. Gaujal, A. Hordijk, "Open-loop routeing to M parallel servers with no buffers", *Journal of
Applied Probability* 37 (2000), 668-684.

`arrivals`
    Sources of packets in files: read with a sentence for every complaint, and written back.
`counting`
    How often each server can be used in the best words of a period, and with which gaps.
`data`
    The data of a routing instance: every field with its rule, and what they make together.
`gap_costs`
    Costs of a packet by the number of slots since the last one was sent to the same server: registry ``gap_costs``.
`generate`
    Random servers to route packets to: instances of kind "routing".
`horizon`
    Where to send a finite number of packets without looking, from a state of gaps that are open.
`kind`
    Kind "routing" as one value: what `optmodels list routing` tells, and where the rest is found.
`mip`
    The integer program of words of a period.
`plots`
    Pictures of kind "routing": which packets go where, what gaps cost, and the best period as a rate grows.
`problem`
    Where to send packets without looking: open-loop routing to servers that have no buffer, by words that are
    repeated for ever.
`simulation`
    Words of routing, tried out packet by packet.
`space`
    What can be decided about routing: one period of server numbers, or those of a finite number of slots.
`starting`
    A good word of a given number of slots, for integer programs to start from.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
