"""SIGINT and SIGTERM from the first moment on: heard soon, answered by a result or one sentence, never a traceback."""

import contextlib
import doctest
import json
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from heuristics import BudgetSpent, interrupting
from optmodels import entry, solving
from optmodels.cli import main
from optmodels.results import FIELDS, result_from_data

UNKNOWN = "optmodels: interrupted before there was an answer.\n"

linux = pytest.mark.skipif(sys.platform != "linux", reason="only /proc tells which signals a process takes")
SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])


def takes_signals(process):
    """Whether a process has set a handler of its own for SIGTERM: Python itself sets none."""
    with contextlib.suppress(OSError), open(f"/proc/{process.pid}/status", encoding="utf-8") as status:
        caught = next(int(line.split()[1], 16) for line in status if line.startswith("SigCgt"))
        return bool(caught >> (signal.SIGTERM - 1) & 1)
    return process.poll() is not None


def ended(words, number, after, *, ignored=False):
    """Exit code, what was said on stderr, and the seconds until the end after a signal that comes `after` seconds."""
    process = subprocess.Popen(
        [sys.executable, "-m", "optmodels", *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=(lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) if ignored else None,
    )  # fmt: skip
    try:
        while not takes_signals(process):
            time.sleep(0.001)
        time.sleep(after)
        process.send_signal(number)
        sent = time.monotonic()
        out, errors = process.communicate(timeout=100)
        assert "--json" not in words or json.loads(out)["status"]
        return process.returncode, errors, time.monotonic() - sent
    finally:
        process.kill()
        process.wait()


@linux
@SIGNALS
def test_a_signal_in_the_first_moment_is_one_sentence(instances, number):
    """Started with SIGINT ignored, as a shell starts jobs in the background."""
    words = ["solve", instances / "placement" / "gautam-11x22.json", "--strategy", "highs"]
    assert ended(words, number, 0.0, ignored=True)[:2] == (3, UNKNOWN)


@linux
@SIGNALS
@pytest.mark.parametrize("after", [0.0, 0.1, 0.3])
def test_a_signal_in_the_first_moments_leaves_a_result_where_json_was_asked_for(instances, number, after):
    words = [
        "solve",
        instances / "placement" / "gautam-11x22.json",
        "--strategy",
        "genetic",
        "--seconds",
        "9",
        "--json",
    ]
    assert ended(words, number, after)[0] in (0, 3)


def test_the_result_of_a_run_that_never_began_is_one_that_can_be_read():
    assert doctest.testmod(entry).failed == 0
    data = json.loads(entry.unanswered(["solve", "gautam-2x3", "--json"]))
    assert tuple(data) == FIELDS
    read = result_from_data(data)
    assert (read.decision, read.status, read.stopped_by, read.checked) == (None, "unknown", "interrupt", False)
    assert entry.unanswered(["--log", "solve", "check", "gautam-2x3", "--json"]) is None
    assert entry.unanswered(["solve", "gautam-2x3"]) is None
    assert entry.unanswered(["solve", "--", "--json"]) is None


@pytest.mark.parametrize(
    ("where", "problem", "strategy"), [("as_problem", None, None), ("choose", "gautam-2x3", "auto")]
)
def test_ctrl_c_before_the_run_prints_what_is_known_of_the_result(monkeypatch, capsys, where, problem, strategy):
    """While the instance is read nothing is; while the strategy is chosen the problem has a name."""

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(solving, where, interrupted)
    words = ["solve", "gautam-2x3"] if problem else ["evaluate", "gautam-2x3", "--at", "0,0,1,1,1,0"]
    assert main([*words, "--json"]) == 3
    data = json.loads(capsys.readouterr().out)
    told = {name: data[name] for name in ("problem", "strategy", "status", "decision", "stopped_by")}
    assert told == {
        "problem": problem, "strategy": strategy, "status": "unknown", "decision": None, "stopped_by": "interrupt",
    }  # fmt: skip


RUNS = [
    ("placement/gautam-11x22.json", "highs"),
    ("placement/gautam-11x22.json", "genetic"),
    ("threshold/avrachenkov-k100.json", "exhaustive"),
    ("robots/fleet-erlang.json", "policy-iteration"),
    ("routing/synthetic-200.json", "multimodular"),
]


@linux
@pytest.mark.slow
@SIGNALS
@pytest.mark.parametrize("after", [0.05, 0.3, 1.0, 3.0, 8.0])
@pytest.mark.parametrize(("file", "strategy"), RUNS, ids=lambda value: value.rpartition("/")[2])
def test_a_signal_is_heard_soon_and_without_a_traceback(instances, file, strategy, after, number):
    words = ["solve", instances / file, "--strategy", strategy, "--seconds", "60"]
    for _ in range(3):  # another process may take the machine for a while
        code, errors, seconds = ended(words, number, after, ignored=after in (0.3, 3.0))
        assert code in (0, 3)
        assert errors in ("", UNKNOWN)
        if seconds <= 2.0:
            return
    raise AssertionError(f"heard after {seconds:.1f} s")


@linux
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_second_signal_is_no_traceback(instances):
    words = ["solve", instances / "placement" / "gautam-11x22.json", "--strategy", "highs", "--seconds", "60"]
    process = subprocess.Popen(
        [sys.executable, "-m", "optmodels", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while not takes_signals(process):
        time.sleep(0.001)
    time.sleep(6.0)
    for _ in range(20):
        process.send_signal(signal.SIGINT)
        time.sleep(0.01)
    _, errors = process.communicate(timeout=100)
    assert process.returncode in (0, 3)
    assert errors in ("", UNKNOWN)


# -- what the handlers do ---------------------------------------------------------------------------------------------


@pytest.fixture
def left(monkeypatch):
    """Leaving as an exception, so that the tests live on."""

    class Left(BaseException):
        pass

    def leave():
        raise Left

    monkeypatch.setattr(entry, "leave", leave)
    return Left


def test_while_libraries_are_imported_a_signal_leaves_at_once_unless_a_run_has_begun(left, monkeypatch, tmp_path):
    (tmp_path / "slow_library.py").write_text(
        "import sys\nfrom optmodels import entry\nentry.interrupt_or_leave(2, sys._getframe())\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(interrupting, "_begun", False)
    with pytest.raises(left):
        import slow_library
    with pytest.raises(KeyboardInterrupt):  # nothing is imported here
        entry.interrupt_or_leave(signal.SIGINT, sys._getframe())
    interrupting.answered()
    monkeypatch.setattr(interrupting, "_begun", True)
    with pytest.raises(KeyboardInterrupt):
        import slow_library  # noqa: F401
    interrupting.answered()


def test_an_interrupt_lost_in_the_deletion_of_an_object_is_heard_again_without_a_word(monkeypatch, capsys):
    told = []
    monkeypatch.setattr(interrupting, "lost", lambda: told.append("lost"))
    for kind in (KeyboardInterrupt, BudgetSpent, ValueError):
        failure = kind("x")
        entry.hear_lost_interrupts(
            SimpleNamespace(exc_type=kind, exc_value=failure, exc_traceback=None, err_msg=None, object=None)
            if kind is not ValueError
            else _unraisable(failure)
        )
    assert told == ["lost"]
    assert capsys.readouterr().err.count("ValueError") == 1


def _unraisable(failure):
    """What the interpreter hands over."""
    seen = []
    before, sys.unraisablehook = sys.unraisablehook, seen.append

    class Rude:
        def __del__(self):
            raise failure

    try:
        Rude()
    finally:
        sys.unraisablehook = before
    return seen[0]


def test_the_process_is_left_with_a_sentence_and_exit_code_three():
    answer = subprocess.run(
        [sys.executable, "-c", "from optmodels.entry import leave; leave()"], capture_output=True, text=True
    )
    assert (answer.returncode, answer.stdout, answer.stderr) == (3, "", UNKNOWN)
    answer = subprocess.run(
        [sys.executable, "-c", "from optmodels.entry import leave; leave()", "solve", "gautam-2x3", "--json"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert (answer.returncode, answer.stdout, answer.stderr) == (3, f"{entry.NO_RESULT}\n", UNKNOWN)
    answer = subprocess.run(
        ["/bin/bash", "-c", '"$0" -c "from optmodels.entry import leave; leave()" 2>&-', sys.executable],
        capture_output=True, env={**os.environ},
    )  # fmt: skip
    assert answer.returncode == 3
