"""Options that every command takes, completion by the shell, and what is told while something runs."""

import doctest
import json
import os
import subprocess
import sys

import pytest

import optmodels.cli.process
from heuristics import Progress, clock
from optmodels.cli import main, output
from optmodels.cli.arguments import complete_instance, complete_kind, complete_name, complete_strategy
from optmodels.cli.output import batch_progress, run_progress, talk, time_left
from optmodels.cli.process import Common, take_common


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*words):
        code = main([str(word) for word in words])
        return code, *capsys.readouterr()

    return run


def test_the_examples_in_the_documentation_hold():
    assert doctest.testmod(optmodels.cli.process).failed == 0
    assert doctest.testmod(output).failed == 0


# -- options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [["-q", "solve", "gautam-2x3"], ["solve", "gautam-2x3", "--quiet"]])
def test_quiet_leaves_answers_and_errors(call, words):
    code, out, err = call(*words)
    assert (code, err) == (0, "")
    assert out.startswith("gautam-2x3: optimal")
    code, out, err = call("-q", "solve", "nowhere")
    assert (code, out) == (2, "")
    assert "no shipped instance" in err
    assert call("new", "routing", "-q")[2] == ""


def test_verbose_tells_every_improvement_and_stdout_stays_alone(call):
    code, out, err = call("solve", "avrachenkov-k5", "--strategy", "annealing", "--evaluations", "50", "-v", "--json")
    assert code == 0
    assert json.loads(out)["status"] == "feasible"
    lines = err.splitlines()
    assert lines[0].startswith(
        "optmodels: optmodels solve avrachenkov-k5 --strategy annealing --evaluations 50 --json ("
    )
    assert any("avrachenkov-k5 by annealing: objective" in line for line in lines)
    assert lines[-1].startswith("optmodels: ended after ")


def test_the_log_file_keeps_all_of_it_and_grows(call, tmp_path):
    assert call("solve", "gautam-2x3", "--log", "run.log")[0] == 0
    first = (tmp_path / "run.log").read_text().splitlines()
    assert all(line[:2] == "20" and line[10] == "T" for line in first)
    assert "optmodels solve gautam-2x3" in first[0]
    assert any("auto chooses highs" in line for line in first)
    assert call("-q", "check", "nowhere", "--log=run.log")[0] == 2
    both = (tmp_path / "run.log").read_text().splitlines()
    assert both[: len(first)] == first
    assert any("no shipped instance" in line for line in both[len(first) :])
    assert talk.log is None and not talk.quiet


@pytest.mark.parametrize("words", [["-q", "-v", "solve", "gautam-2x3"], ["-v", "solve", "gautam-2x3", "--quiet"]])
def test_quiet_and_verbose_together_are_refused(call, words):
    code, out, err = call(*words)
    assert (code, out) == (2, "")
    assert err == "optmodels: options -q (say less) and -v (say more) contradict each other; give one of them.\n"


def test_a_log_that_cannot_be_written_is_refused_before_any_work(call):
    code, out, err = call("solve", "gautam-2x3", "--log", "nowhere/run.log")
    assert (code, out) == (2, "")
    assert err == "optmodels: nowhere/run.log: the log cannot be written: No such file or directory.\n"
    code, out, err = call("solve", "gautam-2x3", "--log")
    assert (code, err) == (2, "optmodels: option --log needs a file: --log run.log.\n")


def test_a_command_of_another_distribution_keeps_its_options(monkeypatch):
    monkeypatch.setattr("optmodels.cli.commands.added", lambda: {"theirs": "staffing", "fit": "freshness"})
    monkeypatch.setattr(optmodels.cli.process.kinds, "origin", lambda name: "built in" if name == "freshness" else name)
    assert take_common(["theirs", "-v", "--log", "x", "--debug"]) == (
        ["theirs", "-v", "--log", "x"],
        Common(debug=True),
    )
    assert take_common(["-v", "theirs", "-q"]) == (["theirs", "-q"], Common(verbose=True))
    assert take_common(["fit", "-v"]) == (["fit"], Common(verbose=True))
    assert take_common(["solve", "--", "-v"]) == (["solve", "--", "-v"], Common())


# -- completion -------------------------------------------------------------------------------------------------------


def test_names_are_completed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gautam-mine.json").write_text("{}")
    (tmp_path / "gautam-mine.txt").write_text("")
    (tmp_path / "folder" / "deeper").mkdir(parents=True)
    (tmp_path / "folder" / "a.json").write_text("{}")
    assert complete_instance("gautam-2x3") == ["gautam-2x3", "gautam-2x3-printed"]
    assert complete_instance("gautam-m") == ["gautam-mine.json"]
    assert complete_instance("fo") == ["folder/"]
    assert complete_instance("folder/") == ["folder/a.json", "folder/deeper/"]
    assert complete_instance("nowhere/a") == []
    assert complete_strategy("a") == ["auto", "adaptive", "annealing"]
    assert complete_kind("ro") == ["robots", "routing"]
    assert complete_name("wh") == ["whittle"] and "placement" in complete_name("") and "auto" in complete_name("au")


def test_after_several_strategies_one_more_is_completed(monkeypatch):
    monkeypatch.setenv("COMP_WORDS", "optmodels compare --strategies highs dej")
    assert complete_instance("dej") == ["dejavu"]
    monkeypatch.setenv("COMP_WORDS", "optmodels compare --strategies highs --seeds 3 dej")
    assert complete_instance("dej") == []


def test_the_shell_is_answered(root, tmp_path):
    """One process: what bash calls when the tab key is pressed."""
    asked = {"COMP_WORDS": "optmodels solve gautam-2x3 --strategy h", "COMP_CWORD": "4"}
    environment = {**os.environ, **asked, "_OPTMODELS_COMPLETE": "complete_bash", "PYTHONPATH": str(root)}
    words = [sys.executable, "-m", "optmodels"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.stdout.split(), done.stderr) == (["highs"], "")


# -- while something runs ---------------------------------------------------------------------------------------------


class Terminal:
    """Takes what is printed, and calls itself a terminal."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text
        return len(text)

    def flush(self):
        pass

    def isatty(self):
        return True


def test_a_bar_tells_the_run_the_total_and_the_time_left_at_most(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(output, "settle", lambda: None)
    with batch_progress("comparing", seconds=60, workers=2) as show:
        show(0, 7, "gautam-2x3 by highs")
    assert "0/7" in terminal.text
    assert "at most 4 min left" in terminal.text
    assert "gautam-2x3 by highs" in terminal.text


def test_a_line_tells_the_run_and_how_things_stand(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("TERM", "xterm")
    with run_progress("gautam-2x3 by highs, at most 60 s") as show:
        show(Progress(seconds=12.0, evaluations=5, objective=8.0, bound=7.0))
    assert "gautam-2x3 by highs, at most 60 s: objective 8, bound 7, 5 evaluations, 12 s" in terminal.text


def test_compiling_is_counted_on_the_line(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("TERM", "xterm")
    with run_progress("gautam-2x3 by highs"):
        clock.tell()
    assert "gautam-2x3 by highs: compiling (first use, about 20 s), function 1" in terminal.text


def test_compiling_is_told_once_and_counted_where_there_is_no_terminal(monkeypatch, capsys):
    monkeypatch.setenv("OPTMODELS_QUIET", "0")
    with run_progress("gautam-2x3 by highs"):
        clock.tell()
        clock.tell()
    first, last = capsys.readouterr().err.splitlines()
    assert first.startswith("optmodels: compiling (first use, about 20 s); ")
    assert last.startswith("optmodels: compiled 2 functions in ")


def test_runs_without_a_time_limit_have_no_time_left():
    assert (time_left(5, None), time_left(0, 10.0), time_left(300, 60.0, 1)) == ("", "", "at most 5 h left")
