"""The command line when its streams are closed, full or cut off, and when signals come late."""

import json
import os
import signal
import subprocess
import sys

import pytest

import optmodels.cli.commands
from optmodels.cli import main
from optmodels.cli.output import settle

UNWRITTEN = "optmodels: the answer cannot be written to standard output: No space left on device.\n"


@pytest.fixture
def small(instances):
    return instances / "placement" / "gautam-2x3.json"


def shell(line, *words, **environment):
    """Run ``optmodels`` through a shell, which can close its streams; the words are $1, $2, ..."""
    return subprocess.run(
        ["/bin/bash", "-c", line, sys.executable, *map(str, words)],
        capture_output=True, text=True, env={**os.environ, **environment},
    )  # fmt: skip


# -- closed, full, cut off --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(("words", "code"), [("list", 0), ("list genetik", 2)])
def test_closed_streams_are_no_defect(closed, words, code):
    answer = shell(f'"$0" -m optmodels {words} {closed}')
    assert answer.returncode == code
    assert "defect" not in answer.stderr
    assert "Exception" not in answer.stderr


def test_a_file_written_with_stdout_closed_holds_the_answer_alone(small, tmp_path):
    """The file must not get the number of stdout, or everything printed would go into it."""
    answer = shell('"$0" -m optmodels solve "$1" --strategy exhaustive --out "$2" >&-', small, tmp_path / "r.json")
    assert (answer.returncode, answer.stderr) == (0, "")
    assert json.loads((tmp_path / "r.json").read_text())["objective"] == 8.0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", ["list", "schema", "generate placement --rows 60 --columns 60"])
def test_a_full_disk_behind_stdout_is_one_sentence(words, unbuffered):
    answer = shell(f'"$0" -m optmodels {words} >/dev/full', PYTHONUNBUFFERED=unbuffered)
    assert (answer.returncode, answer.stderr) == (2, UNWRITTEN)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no device that is always full")
def test_a_full_disk_behind_stderr_leaves_the_exit_code():
    assert shell('"$0" -m optmodels list genetik 2>/dev/full').returncode == 2
    answer = shell('"$0" -m optmodels generate placement --rows 2 --columns 2 --out /dev/null/x 2>/dev/full')
    assert answer.returncode == 2


def test_a_reader_who_leaves_in_the_middle_of_a_long_answer_is_no_defect():
    line = '"$0" -m optmodels generate placement --rows 70 --columns 70 | head -c 1; exit "${PIPESTATUS[0]}"'
    answer = shell(line)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "{", "")


def test_control_characters_in_a_key_do_not_reach_the_terminal(small, tmp_path):
    content = json.loads(small.read_text())
    content["data"]["dem\x1b[31mand\nx"] = 1
    (tmp_path / "a.json").write_text(json.dumps(content))
    answer = shell('"$0" -m optmodels solve "$1" --strategy "x\x1b[31m" --seconds 1', tmp_path / "a.json")
    assert "\x1b" not in answer.stderr
    answer = shell('"$0" -m optmodels solve "$1" --strategy exhaustive', tmp_path / "a.json")
    assert answer.returncode == 2
    assert answer.stderr.count("\n") == 1
    assert r"data.dem\x1b[31mand\nx is 1" in answer.stderr


# -- late signals -----------------------------------------------------------------------------------------------------


@pytest.fixture
def late(monkeypatch):
    """Let a signal come as soon as the command has printed its answer."""

    def arrange(number):
        app = optmodels.cli.commands.app

        def and_then(**options):
            code = app(**options)
            os.kill(os.getpid(), number)
            return code

        monkeypatch.setattr(optmodels.cli.commands, "app", and_then)

    return arrange


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize(
    "words",
    [
        ["solve", "FILE", "--strategy", "exhaustive"],
        ["evaluate", "FILE", "--at", "0,0,1,1,1,0"],
        ["compare", "FILE", "--strategies", "exhaustive"],
        ["sweep", "FILE", "--vary", "data.service_rate=20", "--strategy", "exhaustive"],
        ["check", "FILE"],
        ["generate", "placement"],
        ["list"],
        ["list", "genetic"],
        ["schema"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_signal_after_the_answer_changes_nothing(late, capsys, small, number, words):
    words = [str(small) if word == "FILE" else word for word in words]
    assert main(words) == 0
    wanted = capsys.readouterr()
    late(number)
    assert main(words) == 0
    found = capsys.readouterr()
    assert found.err == wanted.err == ""
    assert found.out.splitlines()[-1].split()[:2] == wanted.out.splitlines()[-1].split()[:2]


def test_called_from_python_the_signal_handlers_are_given_back(capsys):
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    main(["list"])
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_an_interrupt_on_its_way_when_the_answer_is_there_is_swallowed():
    kept = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)

    def late_interrupt(number, frame):
        raise KeyboardInterrupt

    try:
        signal.signal(signal.SIGINT, late_interrupt)
        settle()
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, kept[0])
        signal.signal(signal.SIGTERM, kept[1])


def test_the_answer_of_a_search_survives_an_interrupt_while_the_progress_line_is_cleared(capsys, small, monkeypatch):
    from contextlib import contextmanager

    @contextmanager
    def clumsy(label, *, quiet=False):
        yield None
        raise KeyboardInterrupt

    monkeypatch.setattr(optmodels.cli.commands, "run_progress", clumsy)
    assert main(["solve", str(small), "--strategy", "exhaustive"]) == 0
    assert capsys.readouterr().out.startswith("gautam-2x3: optimal, objective 8")
