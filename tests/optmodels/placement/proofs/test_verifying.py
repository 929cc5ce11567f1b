"""Proofs of small placements: what is sound is confirmed, and what is planted is found."""

import itertools
import stat
from dataclasses import replace

import numpy as np
import pytest
from placement_proofs import best_of, make_proof, overload_clauses
from refuting import binary, letters, searched

import optmodels as om
from optmodels.placement import PlacementGenerator, PlacementProblem
from optmodels.placement.clauses.counter import counter
from optmodels.placement.proofs import Counted, read_proof, verify_proof, write_proof
from optmodels.placement.proofs.verifying import is_overload, unsound


@pytest.fixture(scope="module")
def problem():
    return om.load("gautam-2x3")


@pytest.fixture(scope="module")
def proof(problem):
    return make_proof(problem)


@pytest.fixture
def verified(tmp_path, problem, proof):
    """Write a proof with some fields of its header changed, other clauses or another DRAT file, and verify it."""

    def run(*, clauses=None, drat=None, of=problem, **changed):
        header, own, steps = proof
        path = tmp_path / "answer.proof"
        written = type(header)(**header.model_dump() | changed)
        write_proof(path, written, own if clauses is None else clauses, steps if drat is None else drat)
        return verify_proof(path, of)

    return run


def drawn(seed, **options):
    """A random placement of a few sites."""
    rng = np.random.default_rng(seed)
    shape = {"rows": 2, "columns": int(rng.integers(1, 4))}
    return PlacementGenerator(**shape | options, seed=seed).instance().problem()


# -- what is sound -----------------------------------------------------------------------------------------------------


def test_a_sound_proof_is_confirmed_step_by_step(verified):
    found = verified()
    assert found.verified and found.bound == found.objective == 8.0 and found.complaint is None
    names = ["file", "placement", "overloads", "limits", "counters", "contradiction"]
    assert [step.name for step in found.steps] == names
    assert str(found).endswith("proved: nothing costs less than 8, and the placement costs just that: it is optimal")
    assert {step["verdict"] for step in found.to_data()["steps"]} == {"confirmed"}


@pytest.mark.parametrize("seed", range(8))
def test_prices_may_be_counted_from_below(tmp_path, seed):
    """Units that divide no price: placements that rounding lets through are cut off one by one."""
    problem = drawn(seed)
    if best_of(problem) is None:
        return
    for unit in (1.0, 0.75, 1.9):
        header, clauses, steps = make_proof(problem, unit=unit, seed=seed)
        write_proof(tmp_path / "a.proof", header, clauses, steps)
        found = verify_proof(tmp_path / "a.proof", problem)
        assert found.verified and found.bound == best_of(problem)[0], found
        assert unit == 1.0 or "from below" in str(found)


@pytest.mark.parametrize("seed", range(30))
def test_a_clause_that_follows_from_overloads_is_kept_by_every_feasible_placement(seed):
    problem = drawn(seed, columns=3)
    sites, rng = problem.layout.sites, np.random.default_rng(seed)
    feasible = [x for x in itertools.product((0, 1), repeat=sites) if problem.evaluate(x).feasible]
    held = 0
    for _ in range(60):
        literals = rng.choice(sites, int(rng.integers(0, 5)), replace=False) + 1
        clause = tuple(int(v) for v in literals * rng.choice([-1, 1], len(literals), p=[0.3, 0.7]))
        if is_overload(problem, clause):
            held += 1
            assert all(any(x[abs(v) - 1] == (v > 0) for v in clause) for x in feasible), clause
    assert all(is_overload(problem, clause) for clause in overload_clauses(problem))
    assert held or len(feasible) > 2 ** (sites - 2)


@pytest.mark.parametrize("seed", range(40))
def test_a_clause_of_a_counter_that_is_let_through_holds_by_its_definition(seed):
    """Clauses of a counter, as they are and with one number changed, against every choice of sites."""
    rng = np.random.default_rng(seed)
    sites = int(rng.integers(1, 6))
    prices = tuple(int(v) for v in rng.integers(0, 4, sites))
    order = tuple(int(v) for v in rng.permutation(sites))
    most = int(rng.integers(0, sum(prices) + 1))
    counted = counter(prices, order, most, sites + 1)
    what = {"sum": "cost", "most": most, "order": order, "first": sites + 1, "clauses": 1}
    made = Counted(**what, places=tuple(counted.places.tolist()), levels=tuple(counted.levels.tolist()))
    assert unsound(made, tuple(counted.tuples()), prices) is None
    wrong = 0
    for _ in range(60):
        clauses = counted.tuples() or [(-1,)]
        clause = list(clauses[rng.integers(len(clauses))])
        at = int(rng.integers(len(clause)))
        clause[at] = int(rng.choice([-1, 1]) * rng.integers(1, counted.variables + 1))
        if unsound(made, (tuple(clause),), prices) is not None:
            wrong += 1
            continue
        for chosen in itertools.product((0, 1), repeat=sites):
            sums = np.cumsum([0, *(prices[site] * chosen[site] for site in order)])
            if sums[-1] <= most:
                truth = [*chosen, *(sums[p] >= v for p, v in zip(counted.places, counted.levels, strict=True))]
                assert any(truth[abs(v) - 1] == (v > 0) for v in clause), clause
    assert wrong or not counted.tuples()


def test_numbers_of_open_sites_are_counted_if_the_instance_limits_them(tmp_path):
    """A limit on open sites as a counter of its own; without the limit in the instance it is refused."""
    free = om.load("gautam-2x3")
    limited = replace(free, limits={"open_sites": {"max": 3}})
    header, clauses, _ = make_proof(limited)
    sites = limited.layout.sites
    for problem, sum_, most in ((limited, "open", 3), (limited, "open", 2), (free, "open", 3), (limited, "closed", 2)):
        counted = counter([1] * sites, range(sites), most, header.counters[0].first + len(header.counters[0].places))
        rows = counted.tuples()
        if sum_ == "closed":
            rows = [tuple(-v if abs(v) <= sites else v for v in clause) for clause in rows]
        second = Counted(
            sum=sum_,
            most=most,
            order=tuple(range(sites)),
            first=counted.first,
            places=tuple(counted.places.tolist()),
            levels=tuple(counted.levels.tolist()),
            clauses=len(rows),
        )
        steps = searched([*clauses, *rows], np.random.default_rng(0))
        fields = header.model_dump() | {"digest": make_proof(problem)[0].digest, "objective": best_of(problem)[0]}
        fields |= {"decision": best_of(problem)[1], "bound": None, "counters": (header.counters[0], second)}
        write_proof(tmp_path / "b.proof", type(header)(**fields), [*clauses, *rows], binary(steps))
        found = verify_proof(tmp_path / "b.proof", problem)
        assert found.verified == (problem is limited and sum_ == "open" and most == 3), found
        assert found.verified or "the instance has no such limit" in found.complaint


# -- what is planted ---------------------------------------------------------------------------------------------------


def test_every_literal_dropped_from_an_overload_is_noticed_unless_the_rest_holds(verified, problem, proof):
    header, clauses, _ = proof
    feasible = [x for x in itertools.product((0, 1), repeat=6) if problem.evaluate(x).feasible]
    noticed = 0
    for number in range(header.overloads):
        for at in range(len(clauses[number])):
            changed = list(clauses)
            changed[number] = tuple(v for i, v in enumerate(clauses[number]) if i != at)
            found = verified(clauses=changed)
            noticed += not found.verified
            if found.verified:
                assert all(any(x[abs(v) - 1] == (v > 0) for v in changed[number]) for x in feasible)
            else:
                assert f"clause {number + 1} " in found.complaint
    assert noticed > 10


def test_a_clause_of_the_counter_that_says_more_is_noticed(verified, proof):
    header, clauses, _ = proof
    first = header.overloads + header.dear
    for number in range(first, len(clauses), 3):
        changed = list(clauses)
        changed[number] = clauses[number][:-1]
        found = verified(clauses=changed)
        assert not found.verified and found.steps[-1].name == "counters", found


def test_a_proof_without_a_clause_that_it_needs_is_noticed(verified, proof):
    header, clauses, _ = proof
    fewer = clauses[: header.overloads - 8] + clauses[header.overloads :]
    found = verified(clauses=fewer, overloads=header.overloads - 8)
    assert found.steps[-1].name == "contradiction" and not found.verified


@pytest.mark.parametrize(
    "changed, step, told",
    [
        ({"objective": 7.0, "bound": 7.0}, "placement", "costs 8.0, and the proof says 7.0"),
        ({"decision": (0, 0, 0, 0, 0, 0)}, "placement", "not feasible"),
        ({"decision": (0, 1)}, "placement", "6"),
        ({"decision": None}, "placement", "there is none"),
        ({"bound": 9.0}, "limits", "not 9.0"),
        ({"unit": 1.5}, "limits", "is counted with"),
        ({"prices": (9, 9, 9, 9, 9, 9)}, "limits", "is counted with 9 units, and it costs"),
        ({"counters": ()}, "file", "clauses"),
    ],
)
def test_a_header_that_says_too_much_is_refuted(verified, changed, step, told):
    try:
        found = verified(**changed)
    except om.InstanceError as failure:
        assert step == "file" and told in str(failure)
        return
    assert not found.verified and found.steps[-1].name == step and told in found.complaint


def test_a_limit_that_is_too_low_proves_less(verified, proof):
    """With 6 instead of 7 units the clauses contradict one another all the more, and prove only 7."""
    header, _, _ = proof
    counter_ = header.counters[0]
    found = verified(counters=(counter_.model_copy(update={"most": 6}),))
    assert found.steps[-1].name == "limits" and "proves the bound 7.0, not 8.0" in found.complaint


def test_without_a_proof_of_the_contradiction_it_is_an_engines_word(verified):
    found = verified(drat=b"", engine="cpsat", versions={"ortools": "9"})
    assert not found.verified and found.steps[-1].confirmed is None
    assert "is the word of cpsat (ortools 9) alone" in found.complaint
    assert found.bound is None and "not proved" in str(found)


def test_lemmas_that_are_cut_or_wrong_are_refuted(verified, proof):
    _, _, steps = proof
    assert "at byte" in verified(drat=steps[:-3]).complaint
    assert "does not follow" in verified(drat=letters([(False, (1,)), (False, (-1,)), (False, ())])).complaint


def test_proofs_of_others_and_checkpoints_are_refused(verified, tmp_path):
    with pytest.raises(om.InstanceError, match="about other data, cost or limits than those of 'small-3x3'"):
        verified(of=om.load("small-3x3"))
    dearer = om.load("gautam-2x3").to_data()
    dearer["opening_cost"][0][0] += 1
    with pytest.raises(om.InstanceError, match="about other data"):
        verified(of=PlacementProblem.from_data(dearer, name="gautam-2x3"))
    with pytest.raises(om.InstanceError, match="complete is false; this is a checkpoint"):
        verified(complete=False)
    with pytest.raises(om.RequestError, match="about placements with one demand"):
        verified(of=om.load("avrachenkov-k1"))


def test_dear_placements_must_be_dear(verified, proof):
    header, clauses, _ = proof
    cheap = [*clauses[: header.overloads], (-1,), *clauses[header.overloads :]]
    found = verified(clauses=cheap, dear=1)
    assert found.steps[-1].name == "dear placements" and "less than 8.0" in found.complaint
    opened = [*clauses[: header.overloads], (1, 2, 3), *clauses[header.overloads :]]
    assert "opens a site" in verified(clauses=opened, dear=1).complaint


def test_drat_trim_is_asked_where_it_is_installed(verified, tmp_path, monkeypatch):
    program = tmp_path / "bin" / "drat-trim"
    program.parent.mkdir()
    for said, verdict in (("s VERIFIED", True), ("s NOT VERIFIED", False), ("", False)):
        program.write_text(f"#!/bin/sh\ntest -s question.cnf && test -s proof.drat && echo '{said}'\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{program.parent}:/bin:/usr/bin")
        found = verified()
        assert found.steps[-1].name == "drat-trim" and found.verified is verdict


def test_a_proof_can_be_read_back(tmp_path, proof):
    header, clauses, steps = proof
    write_proof(tmp_path / "c.proof", header, clauses, steps)
    write_proof(tmp_path / "d.proof", header, clauses, steps)
    assert (tmp_path / "c.proof").read_bytes() == (tmp_path / "d.proof").read_bytes()
    again = read_proof(tmp_path / "c.proof")
    assert again.header == header and list(again.clauses) == clauses and again.drat == steps
    assert replace(again, drat=b"").overloads == tuple(clauses[: header.overloads])
