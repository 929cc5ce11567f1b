"""Costs and limits of robots as a linear program, and what its solution means.

`mixture`
    What a solution of the robots' linear program stands for: a policy that leaves decisions to chance, or a
    mixture; and a mixture of evaluated policies where the solver's digits do not suffice.
`program`
    The linear program of average costs for robots, and what its solution means.
`search`
    A search for policies that keep limits and leave nothing to chance, from what the linear program says.
`strategy`
    Strategy `linear-program` for kind "robots": costs and limits as a linear program, solved by HiGHS.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
