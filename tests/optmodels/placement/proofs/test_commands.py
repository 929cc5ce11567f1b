"""``optmodels verify-proof``: steps and exit codes."""

import json

import pytest
from placement_proofs import make_proof

import optmodels as om
from optmodels.cli import main
from optmodels.placement.proofs import write_proof


@pytest.fixture
def proof(tmp_path):
    """The file of a sound proof, and what it is made of."""
    made = make_proof(om.load("small-3x3"))
    write_proof(tmp_path / "nine.proof", *made)
    return str(tmp_path / "nine.proof"), made


def test_a_sound_proof_is_told_step_by_step(proof, capsys):
    path, _ = proof
    assert main(["verify-proof", path, "small-3x3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith("confirmed  ") for line in lines[:-1]) and len(lines) == 7
    assert lines[-1] == "proved: nothing costs less than 6, and the placement costs just that: it is optimal"
    assert main(["verify-proof", path, "small-3x3", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["verified"] and told["bound"] == 6.0 and told["error"] is None and told["file"] == path


def test_what_does_not_hold_ends_in_a_sentence_and_exit_code_2(proof, tmp_path, capsys):
    _, (header, clauses, steps) = proof
    changed = [(1,), *clauses[1:]]
    cases = {
        "changed.proof": (header, changed, steps),
        "trusted.proof": (header.model_copy(update={"engine": "highs"}), clauses, None),
    }
    for name, made in cases.items():
        write_proof(tmp_path / name, *made)
    for name, instance, words in (
        ("changed.proof", "small-3x3", "overloads: clause 1 "),
        ("trusted.proof", "small-3x3", "is the word of highs"),
        ("nine.proof", "gautam-2x3", "about other data"),
        ("nine.proof", "avrachenkov-k1", "about placements with one demand"),
        ("absent.proof", "small-3x3", "No such file"),
    ):
        for as_json in ((), ("--json",)):
            assert main(["verify-proof", str(tmp_path / name), instance, *as_json]) == 2
            out, err = capsys.readouterr()
            assert err.startswith("optmodels: ") and words in err and err.count("\n") == 1
            if as_json and "about placements" not in words:
                told = json.loads(out)
                assert not told["verified"] and words in told["error"]
