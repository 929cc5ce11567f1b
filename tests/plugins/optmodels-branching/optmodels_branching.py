"""A solver from outside: optmodels knows it by its entry point, and it knows the contract of `optmodels.mip.worker`."""

from optmodels.mip import Solver

#: The record alone is loaded by those who list solvers; the backend is imported by the solver's own process.
BRANCHING = Solver(
    backend="optmodels_branching_backend:solve",
    package="scipy",
    about="branch and bound on linear relaxations by SciPy: a teaching example, for small programs",
)
