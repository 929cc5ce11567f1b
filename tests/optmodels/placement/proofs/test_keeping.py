"""Runs that keep their proof: what is in the file at the end and on the way, and who goes on from it."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from random_placements import random_classes, random_matrix, random_placement, random_scenarios

import optmodels as om
from heuristics import Budget, Status, run
from heuristics.search import Exhaustive
from optmodels.cli import main
from optmodels.placement import PlacementGenerator, PlacementProblem
from optmodels.placement.clauses import Clauses
from optmodels.placement.engines import deciding, missing
from optmodels.placement.proofs import keeping, read_proof, verify_proof, write_proof

pytestmark = pytest.mark.skipif(missing() is not None, reason="the extra 'sat' is not installed")


def kept(problem, path, *, seed=0, resume=False, **limits):
    with keeping(problem, path, resume=resume) as keeper:
        found = run(problem, Clauses(), Budget(**limits), seed=seed)
    return found, keeper


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.slow] if seed >= 6 else []) for seed in range(60)]
)
def test_what_is_kept_is_a_proof_of_the_optimum_of_enumeration(seed, tmp_path):
    problem = random_placement(seed, most=11)
    best = run(problem, Exhaustive())
    found, keeper = kept(problem, tmp_path / "a.proof", seed=seed)
    assert found.status == best.status
    if best.objective is None:
        return
    assert found.objective == pytest.approx(best.objective, rel=1e-12)
    assert keeper.complete
    verified = verify_proof(tmp_path / "a.proof", problem)
    assert verified.verified, str(verified)
    assert verified.bound == pytest.approx(best.objective, rel=1e-9)


@pytest.mark.parametrize("drawn", [random_matrix, random_classes])
@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.slow] if seed >= 4 else []) for seed in range(30)]
)
def test_optima_of_any_geometry_and_of_classes_have_proofs(drawn, seed, tmp_path):
    problem = drawn(seed)
    best = run(problem, Exhaustive())
    found, _ = kept(problem, tmp_path / "a.proof", seed=seed)
    assert found.status == best.status
    if best.objective is not None:
        verified = verify_proof(tmp_path / "a.proof", problem)
        assert verified.verified, str(verified)
        assert verified.bound == pytest.approx(best.objective, rel=1e-9)


def test_proofs_of_scenarios_are_refused_in_a_sentence(tmp_path):
    with pytest.raises(Exception, match="proofs are about placements with one demand, and 'scenarios-1' is something"):
        om.solve(random_scenarios(1), "clauses", proof=tmp_path / "a.proof")


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.slow] if seed >= 3 else []) for seed in range(30)]
)
def test_limits_on_the_number_of_open_sites_are_part_of_the_proof(seed, tmp_path):
    problem = random_placement(seed, most=9)
    rng = np.random.default_rng(seed)
    low, high = sorted(rng.integers(0, problem.layout.sites + 1, 2).tolist())
    problem = replace(problem, limits={"open_sites": {"min": low, "max": high}})
    best = run(problem, Exhaustive())
    found, keeper = kept(problem, tmp_path / "a.proof", seed=seed)
    assert found.status == best.status
    if best.objective is not None:
        assert keeper.complete
        verified = verify_proof(tmp_path / "a.proof", problem)
        assert verified.verified, str(verified)
        assert verified.bound == pytest.approx(best.objective, rel=1e-9)


def test_a_proof_is_made_even_where_the_first_bound_settles_all(tmp_path, monkeypatch):
    monkeypatch.setattr(PlacementProblem, "lower_bound", lambda self: 8.0)
    problem = om.load("gautam-2x3")
    plain = run(problem, Clauses("sat"))
    assert plain.extra["clauses"]["proved_by"] is None  # no engine was asked
    assert plain.status is Status.OPTIMAL
    found, keeper = kept(problem, tmp_path / "a.proof")
    assert keeper.complete
    assert found.extra["clauses"]["proved_by"] == "sat"
    assert verify_proof(tmp_path / "a.proof", problem).verified


@pytest.mark.skipif(deciding.kissat() is None, reason="no kissat")
def test_cadical_writes_proofs_where_there_is_no_kissat(tmp_path, monkeypatch):
    problem = PlacementGenerator(rows=5, columns=5, seed=4).instance().problem()
    monkeypatch.setattr(deciding, "kissat", lambda: None)
    deciding.version.cache_clear()
    found, keeper = kept(problem, tmp_path / "a.proof")
    deciding.version.cache_clear()
    assert keeper.complete
    assert "cadical" in read_proof(tmp_path / "a.proof").header.versions
    verified = verify_proof(tmp_path / "a.proof", problem)
    assert verified.verified, str(verified)
    assert verified.bound == found.objective


def test_a_checkpoint_holds_clauses_and_the_best_placement_and_another_run_goes_on_from_it(tmp_path):
    problem, path = om.load("gautam-6x6"), tmp_path / "a.proof"
    found, keeper = kept(problem, path, seconds=0.3)
    if keeper.complete:
        pytest.skip("a fast machine")
    before = read_proof(path)
    assert not before.header.complete
    assert before.header.objective == found.objective
    with pytest.raises(om.RequestError, match="this is a checkpoint of a run that did not end"):
        verify_proof(path, problem)
    found, keeper = kept(problem, path, resume=True)
    after = read_proof(path)
    assert keeper.complete
    assert set(before.overloads) <= set(after.overloads)
    assert found.objective == 23
    assert verify_proof(path, problem).verified
    with pytest.raises(om.RequestError, match="this proof is complete"):
        kept(problem, path, resume=True)


def test_nothing_in_a_checkpoint_is_trusted(tmp_path):
    problem, path = om.load("small-3x3"), tmp_path / "a.proof"
    kept(problem, path)
    whole = read_proof(path)
    header = whole.header.model_copy(update={"complete": False, "counters": (), "dear": 0})
    written = (header, list(whole.overloads))

    def resume(header, clauses):
        write_proof(path, header.model_copy(update={"overloads": len(clauses)}), clauses)
        return kept(problem, path, resume=True)

    found, keeper = resume(header.model_copy(update={"bound": 1e9}), written[1])  # the bound is proved anew
    assert (found.status, found.objective) == (Status.OPTIMAL, whole.header.objective)
    assert keeper.complete
    with pytest.raises(om.RequestError, match=r"clause 1 is \"1\"; it does not follow"):
        resume(header, [(1,), *written[1]])
    with pytest.raises(om.RequestError, match="it is not feasible"):
        resume(header.model_copy(update={"decision": (0,) * 9}), written[1])
    with pytest.raises(om.RequestError, match="decision"):
        resume(header.model_copy(update={"decision": (0,) * 8}), written[1])
    found, _ = resume(header.model_copy(update={"decision": None, "objective": None}), written[1])
    assert found.objective == whole.header.objective
    with pytest.raises(om.RequestError, match="No such file"):
        kept(problem, tmp_path / "none.proof", resume=True)


def test_python_tells_what_became_of_the_file(tmp_path):
    path = tmp_path / "a.proof"
    found = om.solve("gautam-4x4", "clauses", proof=path)
    assert found.extra["proof"] == {"file": str(path), "complete": True, "sha256": read_proof(path).sha256}
    assert "proof" not in om.solve("gautam-2x3", "clauses").extra
    with pytest.raises(om.RequestError, match="strategy 'annealing' keeps no proof"):
        om.solve("gautam-4x4", "annealing", proof=path)
    with pytest.raises(om.RequestError, match="--proof FILE --resume"):
        om.solve("gautam-4x4", "clauses", resume=True)


def test_the_command_line_keeps_a_proof_and_refuses_in_a_sentence(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["solve", "gautam-4x4", "--strategy", "clauses", "--proof", "a.proof"]) == 0
    assert "a.proof is a proof: check it with optmodels verify-proof a.proof gautam-4x4" in capsys.readouterr().err
    assert main(["verify-proof", "a.proof", "gautam-4x4", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["sha256"] == read_proof("a.proof").sha256
    (tmp_path / "folder").mkdir()
    for words, sentence in (
        (["--proof", "b.proof"], "keeps no proof in a file; take the strategy 'clauses'"),
        (["--proof", "b.proof", "--strategy", "clauses:engine=highs"], "engine 'highs' writes no proof"),
        (["--proof", "nowhere/b.proof", "--strategy", "clauses"], "there is no folder 'nowhere'"),
        (["--proof", "folder", "--strategy", "clauses"], "this is a directory"),
        (["--proof", "", "--strategy", "clauses"], "has no name"),
        (["--resume", "--strategy", "clauses"], "name its file"),
        (["--proof", "b.proof", "--resume", "--strategy", "clauses"], "No such file"),
        (["--proof", "a.proof", "--resume", "--strategy", "clauses"], "this proof is complete"),
        (["--proof", "a.proof", "--out", "a.proof", "--strategy", "clauses"], "choose another name"),
    ):
        assert main(["solve", "gautam-4x4", *words]) == 2, words
        err = capsys.readouterr().err.splitlines()
        assert sentence in err[-1], err
    assert main(["solve", "gautam-2x3", "--strategy", "clauses", "--proof", "a.proof", "--resume"]) == 2
    assert "about other data" in capsys.readouterr().err


@pytest.mark.slow
def test_ctrl_c_leaves_a_checkpoint(tmp_path):
    words = [sys.executable, "-m", "optmodels", "solve", "gautam-11x22", "--strategy", "clauses", "--proof", "a.proof"]
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 120
    while not os.path.exists(tmp_path / "a.proof") and time.monotonic() < until:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "interrupt" in out
    assert "a.proof is a checkpoint" in err
    proof = read_proof(tmp_path / "a.proof")
    assert not proof.header.complete
    assert proof.header.objective >= 147
    assert len(proof.overloads) > 1000
