"""A program that answers as kissat does, by python-sat's CaDiCaL: for machines without kissat.

Run as ``python cadical.py FILE``; it imports nothing of optmodels.
"""

from __future__ import annotations

import sys


def main(path: str) -> int:
    """Decide the clauses of a DIMACS file; print a model, and return 10 if there is one, 20 if there is none."""
    from pysat.solvers import Cadical195

    with open(path, encoding="ascii") as file:
        next(file)
        clauses = [[int(word) for word in line.split()[:-1]] for line in file]
    with Cadical195(bootstrap_with=clauses) as solver:
        if not solver.solve():
            print("s UNSATISFIABLE")
            return 20
        print("s SATISFIABLE")
        print("v", *solver.get_model(), 0)
        return 10


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
