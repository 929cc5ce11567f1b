"""``tools/prove_gautam.py``: one proof for all values of a missing entry, on a corner of the grid."""

import runpy
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import optmodels as om
from optmodels.placement.engines import missing

pytestmark = pytest.mark.skipif(missing() is not None, reason="the extra 'sat' is not installed")

TOOL = runpy.run_path(str(Path(__file__).parents[4] / "tools" / "prove_gautam.py"))


def corner(value):
    """The 4 x 4 corner with another entry in its middle."""
    problem = om.load("gautam-4x4")
    demand = np.array(problem.demand).reshape(problem.shape)
    demand[2, 2] = value
    return replace(problem, demand=demand)


def test_one_proof_serves_all_values(tmp_path):
    path, lines = str(tmp_path / "four.proof"), []
    small = {"problem_of": corner, "values": (10, 12, 14), "steps": 3000, "seeds": (0, 1), "told": lines.append}
    assert TOOL["prove"](path, **small)
    first = (tmp_path / "four.proof").read_bytes()
    assert lines[-1].startswith("proved: ")
    assert sum("clauses that do not hold: 0" in line for line in lines) == 3
    assert TOOL["prove"](path, **small)  # it is there: it is checked only
    assert (tmp_path / "four.proof").read_bytes() == first
    second = str(tmp_path / "again.proof")
    assert TOOL["prove"](second, **small)
    with zipfile.ZipFile(path) as one, zipfile.ZipFile(second) as other:  # times stand in the header
        for member in ("question.cnf", "proof.drat"):
            assert one.read(member) == other.read(member)


def test_values_with_different_optima_are_not_proved_by_one(tmp_path):
    lines = []
    small = {"problem_of": corner, "values": (1, 23), "steps": 3000, "seeds": (0, 1), "told": lines.append}
    assert not TOOL["prove"](str(tmp_path / "four.proof"), **small)
    assert not any(line.startswith("proved: ") for line in lines)


def test_the_missing_entry_is_the_one_of_the_instance():
    shipped = om.load("gautam-11x22")
    demands = {value: np.array(TOOL["with_entry"](value).demand) for value in TOOL["VALUES"]}
    assert TOOL["VALUES"] == (10, 11, 12, 13, 14, 15)
    assert (demands[14] == np.array(shipped.demand)).all()
    assert all(np.flatnonzero(demands[10] != demands[v]).tolist() == [8 * 22 + 8] for v in TOOL["VALUES"][1:])
