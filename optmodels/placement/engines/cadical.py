"""A program that answers as kissat does, by python-sat's CaDiCaL: for machines without kissat.

Run as ``python cadical.py FILE [PROOF]``; it imports nothing of optmodels.
"""

from __future__ import annotations

import sys


def main(path: str, drat: str | None = None) -> int:
    """Decide the clauses of a DIMACS file: 10 and a model if they can be kept, 20 and a proof if they cannot."""
    from pysat.solvers import Cadical195

    with open(path, encoding="ascii") as file:
        next(file)
        clauses = [[int(word) for word in line.split()[:-1]] for line in file]
    with Cadical195(bootstrap_with=clauses, with_proof=drat is not None) as solver:
        if not solver.solve():
            if drat is not None:
                with open(drat, "w", encoding="ascii") as file:
                    file.writelines(f"{step}\n" for step in solver.get_proof())
            print("s UNSATISFIABLE")
            return 20
        print("s SATISFIABLE")
        print("v", *solver.get_model(), 0)
        return 10


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
