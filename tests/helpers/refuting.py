"""Refutations of small formulas, found by plain search and written as DRAT."""


def units(clauses, true):
    """All that follows by unit clauses, ``None``: a contradiction."""
    true = set(true)
    if any(-literal in true for literal in true):
        return None
    while True:
        before = len(true)
        for clause in clauses:
            if true.isdisjoint(clause):
                left = {literal for literal in clause if -literal not in true}
                if not left:
                    return None
                if len(left) == 1:
                    true |= left
        if len(true) == before:
            return true


def searched(clauses, rng, below=()):
    """Refute by trying both signs of a variable; the steps of the proof, as (deletes, clause)."""
    true = units(clauses, below)
    if true is None:
        return [(False, tuple(-literal for literal in below))]
    open_ones = sorted({abs(v) for clause in clauses for v in clause} - {abs(v) for v in true})
    if not open_ones:
        raise AssertionError("satisfiable")
    branch = int(rng.choice(open_ones))
    steps = searched(clauses, rng, (*below, branch)) + searched(clauses, rng, (*below, -branch))
    steps.append((False, tuple(int(-v) for v in rng.permutation(below))))
    for _, clause in steps[:-1]:
        if branch in clause and rng.random() < 0.5:
            if len(clause) == len(below) + 1:
                steps.append((True, tuple(int(v) for v in rng.permutation(clause))))
            break
    return steps


def letters(steps):
    """A proof as text."""
    return "".join(f"{'d ' * deletes}{' '.join(map(str, (*clause, 0)))}\n" for deletes, clause in steps).encode()


def binary(steps):
    """A proof in the binary format."""
    written = bytearray()
    for deletes, clause in steps:
        written += b"d" if deletes else b"a"
        for number in [2 * abs(v) + (v < 0) for v in clause] + [0]:
            while number > 127:
                written.append(number & 127 | 128)
                number >>= 7
            written.append(number)
    return bytes(written)
