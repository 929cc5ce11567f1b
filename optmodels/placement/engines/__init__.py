"""Who proves placements by clauses: engines that know some clauses and the costs, and nothing else.

An engine is asked for the cheapest placement that keeps the clauses known (`highs`, `cpsat`), or whether there is one
cheaper than a limit (`sat`). What it answers is evaluated, and gives more clauses.

`cadical`
    A program that answers as kissat does, by python-sat's CaDiCaL: for machines without kissat.
`cpsat`
    CP-SAT on clauses, in its own process: one worker, guided by cores, no linear relaxation.
`deciding`
    Is there a placement that keeps all clauses? Asked of a SAT solver in a process of its own.
`highs`
    HiGHS on clauses, in its own process: rows are added round by round.
`master`
    The program over sites alone: cheapest placement that keeps the clauses known.
`rounds`
    Rounds of a solver that knows some clauses: its cheapest placement, the clauses that it breaks, and once more.
`sat`
    The engine `sat`: clauses made shorter, and a SAT solver that decides whether anything is cheaper.
`shortening`
    Clauses made shorter: literals that the others make superfluous are dropped.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
