"""Threads are the same for all runs, and the memory of a run is that of its process."""

import json
import os
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from heuristics import Problem
from heuristics.testing import Knapsack
from optmodels.cluster import allowed_threads
from optmodels.errors import RequestError
from optmodels.studies import compare
from optmodels.studies.resources import MemoryPeak, check_threads, limited_threads, thread_environment


@dataclass(frozen=True)
class Looking:
    """Tells in what it finds how many threads it may use, and holds some memory."""

    megabytes: int = 0
    name: ClassVar[str] = "looking"
    needs: ClassVar[type] = Problem

    def solve(self, oracle, rng):
        held = np.ones(self.megabytes * 125_000)
        oracle(oracle.problem.space.sample(rng))
        told = {
            "allowed": allowed_threads(),
            "environment": os.environ.get("OMP_NUM_THREADS"),
            "kernels": os.environ.get("NUMBA_NUM_THREADS"),
            "libraries": sorted({library["num_threads"] for library in threadpool_info()}),
            "process": os.getpid(),
            "held": float(held.sum()),
        }
        return oracle.result(extra=told)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("threads", [1, 2])
def test_every_run_has_the_threads_that_it_is_allowed(workers, threads):
    made = compare(Knapsack(), Looking(), seeds=2, threads=threads, workers=workers)
    for run in made.runs:
        extra = run.result.extra
        assert (run.threads, extra["allowed"], extra["environment"]) == (threads, threads, str(threads))
        assert max(extra["libraries"]) <= threads
        assert (extra["process"] == os.getpid()) == (workers == 1)
        if workers == 2:
            assert extra["kernels"] == str(threads)


def test_one_thread_is_what_a_run_has_unless_more_is_said(tmp_path):
    made = compare(Knapsack(), Looking(), out=tmp_path)
    assert made.runs[0].threads == 1
    assert json.loads((tmp_path / "runs.jsonl").read_text())["threads"] == 1
    assert made.rows()[0]["threads"] == 1


def test_another_number_of_threads_is_another_run():
    keys = {compare(Knapsack(), Looking(), threads=threads).runs[0].key for threads in (1, 2, 3)}
    assert len(keys) == 3


def test_the_environment_is_as_before_afterwards(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    with thread_environment(3, kernels=True):
        assert os.environ["OMP_NUM_THREADS"] == os.environ["MKL_NUM_THREADS"] == "3"
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ
    with pytest.raises(KeyError), limited_threads(2):
        raise KeyError
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert allowed_threads() is None


@pytest.mark.parametrize("threads", [0, -1, True, 1.5, "2", 10**9])
def test_what_is_no_number_of_threads_is_refused(threads):
    with pytest.raises(RequestError, match="threads is a whole number from 1 to 1024, got"):
        check_threads(threads)
    with pytest.raises(RequestError, match="threads is a whole number"):
        compare(Knapsack(), Looking(), threads=threads)


@pytest.mark.parametrize("solver", ["highs", "scip", "cpsat"])
def test_a_solver_has_the_threads_of_the_comparison_or_its_own(solver):
    pytest.importorskip({"highs": "highspy", "scip": "pyscipopt", "cpsat": "ortools"}[solver])
    own = f"highs:solver={solver},start=false,threads=2"
    made = compare("gautam-2x3", [f"highs:solver={solver},start=false", own])
    assert [run.result.extra["solver"]["threads"] for run in made.runs] == [1, 2]
    assert [run.threads for run in made.runs] == [1, 2]
    assert made.warnings == (f"{own} asks for 2 threads by a parameter of its own; the comparison allows 1.",)


# -- memory -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2])
def test_each_run_has_a_process_of_its_own_whose_peak_is_told(workers, tmp_path):
    strategies = [Looking(), Looking(megabytes=150)]
    made = compare(Knapsack(), strategies, seeds=2, memory=True, workers=workers, out=tmp_path)
    assert len({run.result.extra["process"] for run in made.runs}) == 4
    few, many = (max(run.megabytes for run in made.runs if run.strategy == name) for name in sorted(names(made)))
    assert 100 < many - few < 250  # a little is given back, a little more is used
    assert [row["megabytes"] for row in made.rows()] == [run.megabytes for run in made.runs]
    lines = [json.loads(line) for line in (tmp_path / "runs.jsonl").read_text().splitlines()]
    assert sorted(line["megabytes"] for line in lines) == sorted(run.megabytes for run in made.runs)


def names(made):
    return {run.strategy for run in made.runs}


def test_memory_is_not_measured_unless_asked_for():
    assert compare(Knapsack(), Looking()).runs[0].megabytes is None


def test_processes_that_a_run_starts_count(tmp_path):
    import subprocess
    import sys

    with MemoryPeak() as alone:
        pass
    hungry = "import time; held = bytearray(80_000_000); time.sleep(0.3)"
    with MemoryPeak() as both:
        subprocess.run([sys.executable, "-c", hungry], check=True)
    assert both.megabytes > alone.megabytes + 70


def test_memory_is_not_measured_on_a_cluster():
    with pytest.raises(RequestError, match="measured in processes of this machine, not of a cluster"):
        compare(Knapsack(), Looking(), memory=True, cluster="local")
