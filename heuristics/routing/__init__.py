"""Packets to servers: cycles of least mean cost, balanced words, Whittle's index.

E. Altman, S. Bhulai, B. Gaujal, A. Hordijk, "Open-loop routeing to M parallel servers with no buffers", *Journal of
Applied Probability* 37 (2000), 668-684.

`backward_induction`
    Finitely many packets, both ends in sight: the best servers for them by dynamic programming.
`balanced`
    Balanced words for two servers.
`gap_graph`
    The gaps of all servers as states of a graph: routing is a walk on it, the best policy a cycle of least mean
    cost.
`howard`
    Howard's algorithm for the cycle of least mean cost on a graph of gaps.
`min_mean_cycle`
    The best periodic routing for any number of servers, proved: a cycle of least mean cost on a graph of gaps.
`pricing`
    Bounds and words for more servers than a graph of gaps can hold: some gaps are kept, the others have a price.
`problem`
    What strategies for open-loop routing ask of a problem: costs of gaps.
`server_densities`
    How often each server is worth using, and the index that says which one is next; the rule that goes by it.
`two_server`
    Two servers need no search: one packet for the one, then n - 1 for the other, and n is found by bisection.
`value_iteration`
    Sweeps of relative value iteration over a graph of gaps.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
