"""Placements proved by clauses: what no feasible placement may leave closed, and a counter of costs.

A site that is overloaded even with everything outside a set Z open is closed, or one of Z is open: a clause. With
enough of them, "cheaper than the best known" has no solution, and a solver of clauses proves it.

J. N. Hooker and G. Ottosson, "Logic-based Benders decomposition", *Mathematical Programming* 96 (2003), 33-60.

`counter`
    A limit on the cost of open sites as clauses: a counter that runs along the sites.
`implied`
    Clauses made shorter by unit propagation, in compiled code: for engines that have no SAT solver at hand.
`kernels`
    Who is overloaded when some sites are closed, and why: in compiled code.
`operating`
    Operating costs in clauses: what a site costs at least while others are closed.
`pool`
    Clauses that every feasible placement keeps.
`refutation`
    What a proof is made of, kept for those who ask.
`search`
    One run of the strategy `clauses`: what its engines share, and how they take turns.
`sources`
    Where clauses come from: what one demand, several classes of clients, or scenarios of demand forbid.
`strategy`
    Strategy `clauses`: exact placement of sites by what no feasible placement may leave closed.
`units`
    Prices of sites in whole numbers, so that what is proved of their sums is exact.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
