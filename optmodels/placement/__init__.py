"""Kind "placement": which sites to open, and which cells they serve.

N. Gautam, "Performance analysis and optimization of web proxy servers and mirror sites", *European Journal of
Operational Research* 142 (2002), 396-418.

`classes`
    Where to put sites for several classes of clients: kind "placement" with the field ``classes``.
`clauses`
    Placements proved by clauses: what no feasible placement may leave closed, and a counter of costs.
`constraints`
    Variables and constraints of the integer program of a placement, piece by piece.
`data`
    The data of a placement instance: every field with its rule, and what they make together.
`engines`
    Who proves placements by clauses: engines that know some clauses and the costs, and nothing else.
`framing`
    Where the sites of a placement are drawn: cells side by side, nodes that are near in hops near on paper.
`geometry`
    What kinds of layouts share, and those that are neither a grid nor a network of steps.
`generate`
    Random grids and networks of sites: instances of kind "placement".
`kind`
    Kind "placement" as one value: what `optmodels list placement` tells, and where the rest is found.
`layout`
    Where sites lie and how far they are from cells: grids, networks, named topologies, matrices.
`measures`
    How well the sites of a placement serve: who goes where, capacities, the service of each site, and all measures.
`mip`
    The integer program of a placement: who is open, who is nearest, who has room.
`patterns`
    Whom a site can serve at once: the patterns behind the integer program of a placement.
`plots`
    The picture of a placement: clients, opening costs, which sites are open, who goes where, how full each site is.
`problem`
    Where to put proxies or mirror sites: kind "placement".
`proofs`
    Proofs that a placement is the cheapest, kept in a file that a stranger can check.
`repairing`
    Feasible placements out of others, in compiled code: sites opened where too many clients come, others closed.
`scenarios`
    Random demand: kind "placement" with the field ``scenarios``.
`searching`
    What searches for a placement lean on: penalties, a bound at the price of a sort, walks, repair, and parts.
`server_types`
    Where to put servers of several types: kind "placement" with the field ``server_types``.
`sources`
    Where real networks come from: topologies of topohub, files of other collections.
`walk`
    Loads of a placement flip by flip, in compiled code.
`windows`
    Windows of sites that are near to one another, searched for their best setting; all other sites stay as they are.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
