"""A solver's process: what it says, how it is stopped, and that it never stays behind."""

import importlib.util
import math
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from optmodels.mip import process as mip_process
from optmodels.mip.process import SolverProcess
from optmodels.mip.program import Bound, Incumbent, Log, Outcome, Program, Request

BACKENDS = """
import os, sys, time
import numpy as np
from optmodels.mip.program import Bound, Incumbent, Log, Outcome
from optmodels.mip.worker import Refusal

def sleeps_for_ever(request, channel):
    channel.send(Incumbent(np.zeros(2), 3.0))
    while True:
        time.sleep(60)

def waits_for_the_stop(request, channel):
    channel.send(Log(str(os.getpid())))
    while not channel.stopped:
        time.sleep(0.01)
    return Outcome("interrupt", 3.0, 1.0)

def tells_its_modules(request, channel):
    return Outcome("optimal", detail={"modules": sorted(sys.modules)})

def looks_into_cpsat(request, channel):
    from optmodels.mip import cpsat as mip_cpsat
    return Outcome("optimal", detail={"modules": sorted(sys.modules)})

def fails(request, channel):
    raise KeyError("no such luck")

def refuses(request, channel):
    raise Refusal("not this one.")

def prints(request, channel):
    print("noise from a library", flush=True)
    os.write(1, b"noise from C")
    return Outcome("optimal", 1.0, 1.0)

def leaves(request, channel):
    sys.stderr.write("my last words")
    sys.stderr.flush()
    os._exit(7)

def bounds(request, channel):
    for value in (1.0, float("-inf"), 0.5, 2.0, float("nan")):
        channel.bound(value)
        time.sleep(0.06)
    return Outcome("optimal", 2.0, 2.0)
"""


@pytest.fixture
def backends(tmp_path, monkeypatch):
    """A module of solvers that misbehave, importable by the solver's process as by this one."""
    (tmp_path / "misbehaving.py").write_text(BACKENDS)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "misbehaving"


def small_program(maximise=False):
    return Program(
        cost=np.ones(2),
        offset=0.0,
        maximise=maximise,
        starts=np.array([0, 0, 0], dtype=np.int32),
        rows=np.array([], dtype=np.int32),
        values=np.array([]),
        row_lower=np.array([]),
        row_upper=np.array([]),
        column_lower=np.zeros(2),
        column_upper=np.ones(2),
        whole=np.array([True, False]),
        row_names=(),
        column_names=("x", "y"),
    )


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def ask(backend, seconds=math.inf, **request):
    with SolverProcess(backend) as process:
        messages = list(process.ask(Request(small_program(), **request), seconds))
    assert not is_alive(process.pid)
    return messages


def test_a_solver_that_sleeps_for_ever_is_ended_and_its_incumbent_kept(backends, monkeypatch):
    monkeypatch.setattr(mip_process, "GRACE", 0.3)
    incumbent, outcome = ask(f"{backends}:sleeps_for_ever", seconds=5.0)
    assert isinstance(incumbent, Incumbent) and incumbent.objective == 3.0
    assert outcome.status == "seconds"
    assert "ended" in outcome.message


def test_a_solver_that_listens_is_asked_to_stop_at_its_limit(backends):
    _, outcome = ask(f"{backends}:waits_for_the_stop", seconds=3.0)
    assert (outcome.status, outcome.objective, outcome.bound) == ("seconds", 3.0, 1.0)


def test_winding_up_stops_a_solver_that_listens(backends):
    with SolverProcess(f"{backends}:waits_for_the_stop") as process:
        first = next(process.ask(Request(small_program())))
        assert isinstance(first, Log) and int(first.text) == process.pid
        rest = process.wind_up(seconds=20)
    assert [message.status for message in rest] == ["interrupt"]


def test_winding_up_ends_a_solver_that_does_not_listen(backends):
    with SolverProcess(f"{backends}:sleeps_for_ever") as process:
        assert isinstance(next(process.ask(Request(small_program()))), Incumbent)
        assert process.wind_up(seconds=0.2) == []
        assert not is_alive(process.pid)


def test_a_killed_process_is_named(backends):
    with SolverProcess(f"{backends}:sleeps_for_ever") as process:
        messages = process.ask(Request(small_program()))
        next(messages)
        os.kill(process.pid, signal.SIGKILL)
        outcome = next(messages)
    assert (outcome.status, outcome.message) == ("died", "SIGKILL")


def test_a_process_that_just_leaves_is_an_error_with_its_last_words(backends):
    (outcome,) = ask(f"{backends}:leaves")
    assert outcome.status == "error"
    assert "code 7" in outcome.message and "my last words" in outcome.message


def test_an_exception_in_a_backend_is_an_error_that_names_it(backends):
    (outcome,) = ask(f"{backends}:fails")
    assert outcome.status == "error" and "no such luck" in outcome.message


def test_a_backend_that_cannot_be_imported_is_an_error_that_names_it(backends):
    (outcome,) = ask("no_such_module:solve")
    assert outcome.status == "error" and "no_such_module" in outcome.message


def test_a_refusal_is_passed_on(backends):
    (outcome,) = ask(f"{backends}:refuses")
    assert (outcome.status, outcome.message) == ("refused", "not this one.")


def test_what_a_library_prints_does_not_disturb_the_messages(backends):
    assert ask(f"{backends}:prints") == [Outcome("optimal", 1.0, 1.0)]


def test_only_finite_bounds_that_are_better_are_sent(backends):
    *bounds, _ = ask(f"{backends}:bounds")
    assert bounds == [Bound(1.0), Bound(2.0)]


def test_the_process_imports_neither_the_front_door_nor_pyomo(backends):
    (outcome,) = ask(f"{backends}:tells_its_modules")
    modules = set(outcome.detail["modules"])
    assert "optmodels.mip.worker" in modules
    assert not modules & {"pyomo", "highspy", "heuristics", "optmodels.mip.strategy", "optmodels.registry", "pytest"}


def test_cpsat_never_meets_highspy(backends):
    if importlib.util.find_spec("ortools") is None:  # to import it here would be the very thing to avoid
        pytest.skip("needs the extra cpsat, which users may leave out; `make test` installs it")
    (outcome,) = ask(f"{backends}:looks_into_cpsat")
    assert outcome.status == "optimal", outcome.message
    assert "ortools" in outcome.detail["modules"] and "highspy" not in outcome.detail["modules"]


def test_a_process_that_is_never_asked_ends_with_its_owner(backends):
    with SolverProcess(f"{backends}:fails") as process:
        assert is_alive(process.pid)
    assert not is_alive(process.pid)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")
def test_the_process_dies_with_a_parent_that_is_killed(backends, root):
    script = f"""
        import sys
        sys.path[:0] = {sys.path!r}
        import numpy as np
        from optmodels.mip.process import SolverProcess
        from optmodels.mip.program import Program, Request
        none, start = np.zeros(0), np.zeros(1, dtype=np.int32)
        program = Program(none, 0.0, False, start, start[1:], none, none, none, none, none, none > 0, (), ())
        with SolverProcess("misbehaving:sleeps_for_ever") as process:
            for message in process.ask(Request(program)):
                print(process.pid, flush=True)
    """
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    try:
        child = int(parent.stdout.readline())
        assert is_alive(child)
    finally:
        parent.kill()
        parent.communicate(timeout=30)
    for _ in range(300):
        if not is_alive(child):
            break
        time.sleep(0.1)
    assert not is_alive(child)
