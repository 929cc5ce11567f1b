"""Solvers by name, from here and from elsewhere, and the check that all of them must pass."""

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from optmodels import check_solver, registry, solve
from optmodels.errors import BrokenPlugin, NameTaken, RequestError
from optmodels.mip import SOLVERS, Solver
from optmodels.registry import make_strategy

PLUGIN = Path(__file__).parents[2] / "plugins" / "optmodels-branching"
PREAMBLE = """
from dataclasses import replace
import numpy as np
import time
from optmodels.mip import highs
from optmodels.mip.program import Bound, Incumbent, Outcome
from optmodels.mip.worker import Refusal
"""


@pytest.fixture
def backend(tmp_path, monkeypatch):
    """Make a solver from the text of its function."""

    def make(text):
        (tmp_path / "lying.py").write_text(PREAMBLE + textwrap.dedent(text))
        monkeypatch.syspath_prepend(str(tmp_path))
        return Solver("lying:solve", "numpy")

    return make


@pytest.fixture
def branching(tmp_path):
    """An environment in which the solver from outside is found by its entry point, as if it were installed."""
    info = tmp_path / "optmodels_branching-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: optmodels-branching\nVersion: 1.0\n")
    points = re.search(r'entry-points\."(.+)"\]\n(.+)\n', (PLUGIN / "pyproject.toml").read_text())
    (info / "entry_points.txt").write_text(f"[{points[1]}]\n{points[2].replace(chr(34), '')}\n")
    path = os.pathsep.join([str(tmp_path), str(PLUGIN), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path}


def command(*words, env):
    """What the command prints."""
    told = subprocess.run([sys.executable, "-m", "optmodels", *words], capture_output=True, text=True, env=env)
    assert told.returncode == 0, told.stderr
    return told.stdout


# -- the contract ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["highs", "scip", pytest.param("cpsat", marks=pytest.mark.slow)])
def test_every_solver_of_ours_keeps_the_contract(name):
    if SOLVERS[name].missing(name):
        pytest.skip(SOLVERS[name].missing(name))
    check_solver(name)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            """
            def solve(request, channel):
                return replace(highs.solve(request, channel), objective=1.0)
            """,
            "its optimum is 1.0, and 134.0 is right",
        ),
        pytest.param(
            """
            def solve(request, channel):
                found = highs.solve(request, channel)
                return replace(found, bound=None if found.bound is None else found.bound + request.program.sign)
            """,
            "it claims a bound of",
            marks=pytest.mark.slow,
        ),
        (
            """
            def solve(request, channel):
                return Outcome("infeasible")
            """,
            "it said 'infeasible' .*, not 'optimal'",
        ),
        pytest.param(
            """
            def solve(request, channel):
                if request.program.name == "contradictory":
                    return Outcome("optimal", 0.0, 0.0)
                return highs.solve(request, channel)
            """,
            "'contradictory' has no solution, and was called 'optimal'",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            """
            def solve(request, channel):
                if request.program.name == "unbounded":
                    return Outcome("optimal", -1e30, -1e30)
                return highs.solve(request, channel)
            """,
            "'unbounded' has no smallest value",
            marks=pytest.mark.slow,
        ),
        (
            """
            def solve(request, channel):
                channel.send(Incumbent(np.ones(request.program.shape[1]), 1.0))
                return highs.solve(request, channel)
            """,
            "it sent a point that breaks row_",
        ),
        (
            """
            def solve(request, channel):
                if request.program.name == "hard":
                    time.sleep(60)
                return highs.solve(request, channel)
            """,
            "it did not stop at its limit",
        ),
        pytest.param(
            """
            def solve(request, channel):
                if not request.program.whole.all():
                    raise Refusal("no")
                return highs.solve(request, channel)
            """,
            "a refusal is one line that ends with a period",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            """
            def solve(request, channel):
                if request.start is not None:
                    raise ValueError("I want no start")
                return highs.solve(request, channel)
            """,
            "with a start: it said 'error' .*I want no start",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_solver_that_does_not_keep_it_is_told_which_rule_it_breaks(backend, text, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_solver(backend(text))


def test_one_that_is_not_installed_is_told_what_to_install():
    with pytest.raises(AssertionError, match="needs the package no_such_package: pip install"):
        check_solver(Solver("nowhere:solve", "no_such_package"))


# -- names -------------------------------------------------------------------------------------------------------------


def test_a_name_given_in_this_process_is_a_parameter_of_highs(backend, monkeypatch):
    mine = backend("def solve(request, channel):\n    return highs.solve(request, channel)\n")
    with pytest.raises(RequestError, match="solver must be one of highs, scip, cpsat, got 'mine'"):
        make_strategy("highs:solver=mine")
    registry.solvers.register("mine", mine)
    try:
        best = solve("gautam-2x3", "highs:solver=mine")
        assert (best.status, best.objective, best.extra["solver"]["name"]) == ("optimal", 8.0, "mine")
        assert list(SOLVERS) == ["highs", "scip", "cpsat", "mine"]
    finally:
        registry.solvers.unregister("mine")
    assert "mine" not in SOLVERS


def test_a_name_of_ours_is_not_given_away():
    with pytest.raises(NameTaken, match=r"solver 'scip' is taken by optmodels\.mip\.solvers:SCIP"):
        registry.solvers.register("scip", Solver("mine:solve", "numpy"))


def test_what_is_no_solver_is_refused_by_name():
    registry.solvers.register("nothing", object())
    try:
        with pytest.raises(BrokenPlugin, match=r"solver 'nothing' .* has no backend, package, missing"):
            solve("gautam-2x3", "highs:solver=nothing")
        assert "nothing" not in SOLVERS.sound()
    finally:
        registry.solvers.unregister("nothing")


# -- a solver of another distribution ----------------------------------------------------------------------------------


def test_a_solver_from_outside_is_listed_with_its_distribution_and_solves(branching):
    lines = command("list", env=branching).splitlines()
    assert ["solver", "branching", "optmodels-branching"] in [line.split() for line in lines]
    assert ["solver", "scip", "built", "in"] in [line.split() for line in lines]
    about = command("list", "branching", env=branching)
    assert "solver branching (optmodels-branching): branch and bound" in about
    assert "--strategy highs:solver=branching" in about
    words = ("solve", "gautam-2x3", "--strategy", "highs:solver=branching", "--json")
    answer = json.loads(command(*words, env=branching))
    assert (answer["status"], answer["objective"], answer["bound"]) == ("optimal", 8.0, 8.0)
    assert answer["extra"]["solver"]["name"] == "branching"


@pytest.mark.slow  # that it is found, and solves, is tried above
def test_a_solver_from_outside_keeps_the_contract(monkeypatch):
    monkeypatch.syspath_prepend(str(PLUGIN))
    from optmodels_branching import BRANCHING

    check_solver(BRANCHING)


def test_a_name_that_nobody_has_is_told_in_a_sentence():
    with pytest.raises(RequestError, match=r"no solver is called 'skip'\. Did you mean 'scip'"):
        check_solver("skip")
