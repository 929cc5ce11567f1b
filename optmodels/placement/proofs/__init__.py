"""Proofs that a placement is the cheapest, kept in a file that a stranger can check.

What must be trusted is small: the plain evaluator of loads, the definition of a counter, and a checker of propagation.
The solvers that found the proof are not among it.

M. J. H. Heule, W. A. Hunt and N. Wetzler, "Trimming while checking clausal proofs", *Formal Methods in Computer-Aided
Design* 2013, 181-188.

`checker`
    Checks that clauses contradict one another, as a solver's proof says: every step by propagation alone.
`checker_kernel`
    The compiled part of the checker: propagation, and the way back through the lemmas of a proof.
`commands`
    Commands about proofs: ``verify-proof``, which checks one step by step.
`drat`
    DRAT files, the proofs of solvers, read byte by byte in compiled code.
`keeper`
    A run that keeps its proof: checkpoints on the way, the proof at the end, and how to go on from a checkpoint.
`matching`
    Which problem a proof is about, and whether it is the one that was asked about.
`proof`
    The file of a proof: clauses that a solver found contradictory, how it found that, and what follows.
`verifying`
    Holding a proof against the problem: every step again, by means that share nothing with the solver that found it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
