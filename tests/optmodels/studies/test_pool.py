"""Many calls in several processes."""

import contextlib
import math
import os
import signal
import subprocess
import sys
import time

import pytest

from optmodels.errors import RequestError
from optmodels.studies.pool import call_all, sentence


def answers(function, calls, workers):
    return {answer.index: answer for answer in call_all(function, calls, workers)}


@pytest.mark.parametrize("workers", [1, 2])
def test_every_call_is_answered(workers):
    begun = []
    calls = [(n,) for n in range(6)]
    found = {answer.index: answer for answer in call_all(math.factorial, calls, workers, begun=begun.append)}
    assert [found[i].value for i in range(6)] == [1, 1, 2, 6, 24, 120]
    assert begun == list(range(6))


@pytest.mark.parametrize("workers", [1, 2])
def test_a_call_that_fails_is_one_sentence_and_harms_no_other(workers):
    found = answers(math.sqrt, [(4.0,), (-1.0,), (9.0,)], workers)
    assert (found[0].value, found[2].value) == (2.0, 3.0)
    assert found[1].error.startswith("ValueError: ")


def test_a_process_that_dies_costs_one_call():
    found = answers(os._exit, [(3,), (4,)], 2)
    assert {found[0].error, found[1].error} == {
        "the process of this run died (exit code 3).",
        "the process of this run died (exit code 4).",
    }


def test_work_goes_on_after_a_death():
    found = answers(eval, [("1+1",), ("__import__('os')._exit(9)",), ("2+2",), ("3+3",)], 2)
    assert [found[i].value for i in (0, 2, 3)] == [2, 4, 6]
    assert "exit code 9" in found[1].error


def test_what_cannot_travel_is_said_so():
    found = answers(len, [((),), ((lambda: 0),)], 2)
    assert found[0].value == 0
    assert "cannot travel to another process" in found[1].error


def test_an_answer_that_cannot_travel_is_said_so():
    found = answers(eval, [("1",), ("lambda: 0",)], 2)
    assert found[0].value == 1
    assert "the answer cannot travel" in found[1].error


@pytest.mark.parametrize("workers", [0, -1])
def test_a_number_of_workers_that_makes_no_sense_is_refused(workers):
    with pytest.raises(RequestError, match="workers must be 1 or more"):
        list(call_all(len, [], workers))


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_leaving_early_ends_the_processes():
    going = call_all(eval, [("__import__('os').getpid()",)] + [("__import__('time').sleep(60)",)] * 3, 2)
    pid = next(going).value
    going.close()
    deadline = time.monotonic() + 10
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(pid)


def test_a_script_without_a_guard_is_told_what_to_do(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("from optmodels.studies.pool import call_all\nprint(list(call_all(abs, [(1,), (2,)], 2)))\n")
    answer = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert answer.returncode == 1
    assert "if __name__ == '__main__':" in answer.stderr.splitlines()[-1]


def test_workers_ignore_the_interrupt_and_the_parent_ends_them(tmp_path):
    """Ctrl-C reaches the whole group: one KeyboardInterrupt in the parent, no traceback from a child."""
    script = tmp_path / "script.py"
    script.write_text(
        "import signal\n"
        "from optmodels.studies.pool import call_all\n"
        "if __name__ == '__main__':\n"
        "    signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "    print('started', flush=True)\n"
        "    try:\n"
        "        for answer in call_all(eval, [('1',)] + [(\"__import__('time').sleep(60)\",)] * 3, 2):\n"
        "            print(answer.value, flush=True)\n"
        "    except KeyboardInterrupt:\n"
        "        print('interrupted', flush=True)\n"
    )
    process = subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout.readline() == "started\n"
    assert process.stdout.readline() == "1\n"
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert (output, errors, process.returncode) == ("interrupted\n", "", 0)


def test_a_sentence_is_one_line():
    assert sentence(ValueError("two\nlines")) == "ValueError: two lines"
    assert sentence(RequestError("so.")) == "so."
    assert sentence(AssertionError()) == "AssertionError."


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc"), reason="processes are looked for in /proc")
@pytest.mark.parametrize("strategy", ["annealing", "highs"])
def test_no_process_outlives_a_parent_that_was_killed(tmp_path, instances, strategy):
    """`kill -9` of a comparison left its workers, which went on for as long as their runs took."""
    word = f"orphan-{os.getpid()}-{strategy}"  # in the environment of every descendant
    file = instances / "placement" / "gautam-11x22.json"
    command = [sys.executable, "-m", "optmodels", "compare", str(file), "--strategies", strategy]
    command += ["local-search"] if strategy == "highs" else ["--seeds", "4"]
    going = subprocess.Popen(
        [*command, "--seconds", "100", "--workers", "2"],
        env={**os.environ, "OPTMODELS_TEST": word},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        least = 4 if strategy == "highs" else 3  # the command, its workers, the solver of one; a tracker besides
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and sum(busy(pid) for pid in with_word(word)) < least:
            time.sleep(0.2)
        assert len(with_word(word)) >= least
    finally:
        going.kill()
        going.wait()
    deadline = time.monotonic() + 10
    while with_word(word) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert with_word(word) == []


def with_word(word):
    """Processes in whose environment a word stands."""
    found = []
    for folder in os.scandir("/proc"):
        if folder.name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{folder.name}/environ", "rb") as stream:
                if word.encode() in stream.read():
                    found.append(int(folder.name))
    return found


def busy(pid):
    """Whether a process has computed for a second: it is in the middle of its run."""
    try:
        with open(f"/proc/{pid}/stat") as stream:
            used = sum(map(int, stream.read().rsplit(")", 1)[1].split()[11:13]))
    except OSError:
        return False
    return used / os.sysconf("SC_CLK_TCK") > 1.0
