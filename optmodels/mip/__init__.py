"""Integer programs: problems that write themselves in Pyomo, and solvers in processes of their own.

`checking`
    A check that a solver keeps the contract.
`circulation`
    Cyclic words over several symbols as circulations of gaps: pieces that kinds put together.
`commands`
    The command ``export``.
`cpsat`
    CP-SAT inside its own process, which it must not share with highspy.
`exporting`
    Integer programs as files that other solvers read: MPS and LP.
`highs`
    HiGHS inside its own process: solve, and name an infeasible part.
`process`
    A solver in a process of its own, which is stopped in time whatever it does.
`program`
    A linear integer program as plain arrays: what travels from the model to a solver in another process.
`pyomo`
    From a Pyomo model to a program and back.
`relaxation`
    A bound for programs whose linear relaxation is too large for the simplex method: any time, and safe.
`scip`
    SCIP inside its own process.
`solvers`
    Solvers by name: those built in, and those of other distributions.
`strategy`
    Exact answers for any problem that can write itself as a linear program with whole numbers.
`timing`
    The time of exact solvers: a good decision to start from in a share of it, and an end for what has no clock.
`worker`
    The inside of a solver's process: read a request, let the backend work on it, report as it goes.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
