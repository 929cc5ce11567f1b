"""The checker of refutations against search, enumeration and a slow checker that takes every step in order."""

import itertools

import numpy as np
import pytest
from refuting import binary, letters, searched, units

from optmodels.placement.proofs import check_refutation
from optmodels.placement.proofs import checker as checkers

# -- formulas ----------------------------------------------------------------------------------------------------------


def random_clauses(rng, variables, count, longest=3):
    """Clauses of up to three literals; some repeat a literal, or hold both signs of a variable."""
    return [
        tuple(int(v) for v in rng.choice([-1, 1], k) * rng.integers(1, variables + 1, k))
        for k in rng.integers(1 if rng.random() < 0.2 else 2, longest + 1, count)
    ]


def pigeons(holes):
    """One pigeon too many."""
    place = {pair: number for number, pair in enumerate(itertools.product(range(holes + 1), range(holes)), 1)}
    rows = [tuple(place[pigeon, hole] for hole in range(holes)) for pigeon in range(holes + 1)]
    pairs = itertools.combinations(range(holes + 1), 2)
    return rows + [(-place[one, hole], -place[two, hole]) for one, two in pairs for hole in range(holes)]


def odd_and_even(count):
    """Parity: a chain of sums says that a sum is odd, another that it is even, in another order."""
    clauses, free = [], count + 1
    for order, parity in ((range(1, count + 1), 1), (range(count, 0, -1), -1)):
        total = None
        for bit in order:
            if total is None:
                total = bit
                continue
            for one, two, three in itertools.product((1, -1), repeat=3):
                if one * two * three == -1:
                    clauses.append((one * total, two * bit, three * free))
            total, free = free, free + 1
        clauses.append((parity * total,))
    return clauses


def satisfiable(clauses):
    """By enumeration."""
    variables = max((abs(literal) for clause in clauses for literal in clause), default=0)
    return any(
        all(any((literal > 0) == truth[abs(literal) - 1] for literal in clause) for clause in clauses)
        for truth in itertools.product((False, True), repeat=variables)
    )


# -- proofs ------------------------------------------------------------------------------------------------------------


def plainly(clauses, steps):
    """Tell whether every lemma follows from the clauses before it, all kept, and ends in a contradiction."""
    known = list(clauses)
    for deletes, clause in steps:
        if not deletes:
            if units(known, {-literal for literal in clause}) is not None:
                return False
            known.append(clause)
    return units(known, ()) is None


def unsatisfiable(rng, variables=6):
    """A random formula that contradicts itself, not by unit clauses alone."""
    while True:
        clauses = random_clauses(rng, variables, int(rng.integers(3, 7)) * variables)
        if units(clauses, ()) is not None and not satisfiable(clauses):
            return clauses


# -- what is proved ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_a_refutation_is_accepted_and_its_core_contradicts_itself(seed):
    rng = np.random.default_rng(seed)
    clauses = unsatisfiable(rng)
    steps = searched(clauses, rng)
    assert plainly(clauses, steps)
    for written in (letters(steps), binary(steps), binary(steps[:-1])):  # the empty clause need not be said
        verdict = check_refutation(clauses, written)
        assert verdict.proved, verdict.mistake
        assert not satisfiable([clauses[c] for c in verdict.core])
        assert verdict.checked <= verdict.lemmas
    half = len(steps) // 2
    kept = [clause for deletes, clause in steps[:half] if not deletes]
    assert check_refutation(clauses, letters(steps[half:]), lemmas=kept).proved


@pytest.mark.parametrize("seed", range(40))
def test_a_formula_with_a_solution_is_never_refuted(seed):
    rng = np.random.default_rng(100 + seed)
    for _ in range(10):
        clauses = random_clauses(rng, 6, int(rng.integers(4, 24)))
        lemmas = random_clauses(rng, 7, int(rng.integers(0, 20)))
        deleted = [clauses[i] for i in rng.integers(len(clauses), size=4)] + lemmas[:3]
        steps = [(False, clause) for clause in lemmas] + [(True, clause) for clause in deleted]
        steps = [steps[i] for i in rng.permutation(len(steps))] + [(False, ())]
        verdict = check_refutation(clauses, binary(steps))
        assert not (verdict.proved and satisfiable(clauses))
        assert verdict.proved or verdict.mistake


@pytest.mark.parametrize("seed", range(60))
def test_a_changed_proof_is_accepted_only_if_its_needed_steps_follow(seed):
    """Lemmas dropped, changed, moved: what is still accepted is a contradiction by steps that a slow checker takes."""
    rng = np.random.default_rng(200 + seed)
    clauses = unsatisfiable(rng, 7)
    steps = searched(clauses, rng)
    lemmas = [clause for deletes, clause in steps if not deletes]
    at = int(rng.integers(len(lemmas)))
    clause = list(lemmas[at])
    how = seed % 4
    if how == 0:
        del lemmas[at]
    elif how == 1 and clause:
        place = int(rng.integers(len(clause)))
        clause[place] = -clause[place]
        lemmas[at] = tuple(clause)
    elif how == 2 and clause:
        lemmas[at] = tuple(clause[1:])
    else:
        lemmas = lemmas[::-1]
    changed = [(False, lemma) for lemma in lemmas]
    verdict = check_refutation(clauses, binary(changed))
    if plainly(clauses, changed):
        assert verdict.proved
    elif not verdict.proved:
        assert "does not follow" in verdict.mistake or "without a contradiction" in verdict.mistake
    else:  # a step that nobody needs is not checked
        assert verdict.checked < verdict.lemmas
        assert not satisfiable([clauses[c] for c in verdict.core])


def test_a_step_that_is_needed_and_does_not_follow_is_named():
    clauses = pigeons(3)
    steps = searched(clauses, np.random.default_rng(0))
    wrong = [(False, (1,)), (False, (-1,))]
    for proof in (letters(wrong), binary(wrong)):
        verdict = check_refutation(clauses, proof)
        assert verdict.mistake in (
            "lemma 1 of the proof (1) does not follow from the clauses before it",
            "lemma 2 of the proof (-1) does not follow from the clauses before it",
        )
    assert check_refutation(clauses, letters(wrong[:1])).mistake == "the proof ends without a contradiction"
    assert check_refutation(clauses, b"0\n").mistake == (
        "lemma 1 of the proof (the empty clause) does not follow from the clauses before it"
    )
    assert check_refutation(clauses, letters(steps)).proved


def test_a_clause_that_was_deleted_does_not_help_before_the_proof_ends():
    """Deletions count: without a clause that the last step needs, the step does not follow."""
    clauses = [(1, 2), (1, -2), (-1, 2), (-1, -2)]
    assert check_refutation(clauses, b"1 0\n0\n").proved
    told = check_refutation(clauses, b"d 2 1 0\n1 0\n0\n").mistake
    assert told == "lemma 1 of the proof (1) does not follow from the clauses before it"
    assert check_refutation(clauses, b"d 7 8 0\n1 0\n0\n").proved  # of a clause that nobody knows
    assert check_refutation([*clauses, (2, 1)], b"d 2 1 0\n1 0\n0\n").proved  # one of two that are alike
    assert check_refutation(clauses, b"1 0\nd 1 0\n0\n").proved  # a reason stays


def test_clauses_that_contradict_one_another_at_once_need_no_proof():
    assert check_refutation([(1,), (-1, 2), (-2, -1), (3, 4)], b"").core == (0, 1, 2)
    assert check_refutation([(1, 2), ()], b"").core == (1,)
    assert check_refutation([], b"").mistake == "the proof ends without a contradiction"
    assert not check_refutation([], b"0\n").proved


@pytest.mark.parametrize("solver", ["cadical195", "glucose4", "lingeling", "minisat22"])
@pytest.mark.parametrize("formula", ["pigeons", "parity", "random"])
def test_proofs_of_solvers_are_accepted_whole_and_refused_cut(solver, formula):
    solvers = pytest.importorskip("pysat.solvers")
    if solver == "minisat22":
        solver = "glucose3"
    rng = np.random.default_rng(5)
    triples = [tuple(int(v) for v in rng.choice([-1, 1], 3) * rng.choice(60, 3, False) + 0) for _ in range(330)]
    clauses = {
        "pigeons": pigeons(6),
        "parity": odd_and_even(9),
        "random": [tuple(v + (1 if v > 0 else -1) for v in triple) for triple in triples if 0 not in triple],
    }[formula]
    with solvers.Solver(solver, bootstrap_with=clauses, with_proof=True) as run:
        assert run.solve() is False
        lines = run.get_proof()
    proof = "\n".join(lines).encode() + b"\n"
    verdict = check_refutation(clauses, proof)
    assert verdict.proved, verdict.mistake
    core = [clauses[c] for c in verdict.core]
    with solvers.Solver("minisat22", bootstrap_with=core) as run:
        assert run.solve() is False
    assert not check_refutation(clauses, b"".join(line.encode() + b"\n" for line in lines[:5])).proved
    assert not check_refutation(core[:-1], proof).proved or len(core) == 1 or _refuted(solvers, core[:-1])


def _refuted(solvers, clauses):
    with solvers.Solver("minisat22", bootstrap_with=clauses) as run:
        return run.solve() is False


# -- what cannot be read -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "proof",
    [b"1 2", b"1 2 0\nd 3", b"1 x 0\n", b"1 2 0\n- 0\n", b"dd 1 0\n", b"1.5 0\n", b"99999999999 0\n", b"1-2 0\n"],
)
def test_text_that_is_no_proof_is_refused(proof):
    assert "at byte" in check_refutation([(1,), (2,)], proof).mistake


def test_bytes_that_are_no_proof_are_refused():
    whole = binary([(False, (1, -200, 7)), (True, (1, 2))])
    assert "without a contradiction" in check_refutation([(1, 2)], whole).mistake
    for end in range(1, len(whole)):
        if whole[:end] != binary([(False, (1, -200, 7))]):
            assert "at byte" in check_refutation([(1, 2)], whole[:end]).mistake, end
    for wrong in (b"b\2\0", b"a\1\0", b"a" + b"\xff" * 9 + b"\0", b"\0", b"a\2\0\0"):
        assert "at byte" in check_refutation([(1, 2)], wrong).mistake, wrong


def test_sizes_are_limited(monkeypatch):
    monkeypatch.setattr(checkers, "MOST_BYTES", 3)
    assert "more than the 3 that are read" in check_refutation([(1,)], b"1 0\n").mistake
    with pytest.raises(ValueError, match="a literal is a number from 1"):
        check_refutation([(0,)], b"")
    with pytest.raises(ValueError, match="a literal is a number from 1"):
        check_refutation([(10**9,)], b"")


def test_progress_goes_up_to_one():
    clauses = pigeons(3)
    shares = []
    check_refutation(clauses, letters(searched(clauses, np.random.default_rng(1))), progress=shares.append)
    assert shares == sorted(shares) and shares[-1] == 1.0
