"""What `progress=True` shows: a line on stderr, and in a notebook one that is rewritten, with a picture."""

import io
import sys
import types

import pytest

import optmodels as om
from heuristics import Progress
from optmodels.notebook import follow_batch, follow_run, following


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def notebook(monkeypatch):
    """A kernel of IPython, as far as it is asked: outputs by number, each with all that it showed."""
    outputs = []

    class Handle:
        def __init__(self, first):
            self.shown = [first]
            outputs.append(self.shown)

        def update(self, thing):
            self.shown.append(thing)

    display = types.ModuleType("IPython.display")
    display.HTML = str
    display.display = lambda thing, display_id: Handle(thing) if display_id else None
    python = types.ModuleType("IPython")
    python.display, python.version_info = display, (9, 0, 0)  # which matplotlib asks for
    python.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", python)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return outputs


@pytest.mark.parametrize("progress", [None, False])
def test_nothing_is_shown_unless_asked_for(capsys, progress):
    om.solve("gautam-2x3", "exhaustive", progress=progress)
    om.compare("gautam-2x3", "exhaustive", progress=progress)
    assert capsys.readouterr() == ("", "")


def test_a_run_is_told_on_stderr(capsys):
    om.solve("gautam-2x3", "exhaustive", progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    first, last = err.splitlines()
    assert first == "gautam-2x3 by exhaustive: started"
    assert last.startswith("gautam-2x3 by exhaustive: objective 8, ")


def test_studies_are_told_on_stderr(capsys):
    om.compare("gautam-2x3", ["exhaustive", "dejavu"], progress=True)
    om.sweep("gautam-2x3", {"data.service_rate": [20, 25]}, "exhaustive", progress=True)
    om.pareto("gautam-2x3", ["opening", "mean_delay"], progress=True)
    om.simulate("avrachenkov-k3", [-1, 1, 1], replications=3, time=20.0, progress=True)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert "comparison: 2 of 2, gautam-2x3 by dejavu" in lines
    assert "sweep of gautam-2x3: 2 of 2, data.service_rate = 25 by exhaustive" in lines
    assert any(line.startswith("front of gautam-2x3: 64 of 64") for line in lines)
    assert "simulation of avrachenkov-k3: 3 of 3, replications" in lines


def test_a_function_still_works():
    seen, batches = [], []
    om.solve("gautam-2x3", "exhaustive", progress=seen.append)
    om.compare("gautam-2x3", "exhaustive", progress=lambda *told: batches.append(told))
    assert all(isinstance(one, Progress) for one in seen)
    assert seen[-1].objective == 8.0
    assert batches[-1][:2] == (1, 1)


def test_a_line_of_a_terminal_is_rewritten(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(following, "OFTEN", 0.0)
    monkeypatch.setenv("COLUMNS", "50")
    with follow_batch("runs") as follow:
        for done in range(3):
            follow(done, 3, "a name with a tab\t" + 80 * "x")
    written = screen.getvalue()
    assert written.count("\n") == 1
    assert written.count("\r") == 4
    assert {len(line) for line in written.rstrip("\n").split("\r")[1:]} == {49}
    assert "\t" not in written


def test_lines_of_a_file_are_few(capsys):
    with follow_batch("runs") as follow:
        for done in range(1000):
            follow(done, 1000, "going")
    assert capsys.readouterr().err.splitlines() == ["runs: 0 of 1000, going", "runs: 999 of 1000, going"]


def test_a_run_that_fails_ends_its_line(capsys):
    with pytest.raises(om.UnsupportedProblem):
        om.solve("coffman-4", "exhaustive", progress=True)
    assert capsys.readouterr().err == "coffman-4 by exhaustive: started\n"


def test_a_stream_that_takes_nothing_is_no_reason_to_fail(monkeypatch):
    closed = io.StringIO()
    closed.isatty = lambda: False
    monkeypatch.setattr(sys, "stderr", closed)
    with follow_batch("runs") as follow:
        closed.close()
        follow(1, 1, "done")


def test_a_notebook_has_one_output_with_the_trace(notebook, capsys):
    answer = om.solve("gautam-4x4", "annealing", evaluations=2000, progress=True)
    [shown] = notebook
    assert f"objective {answer.objective:.8g}" in shown[-1]
    assert "gautam-4x4 by annealing" in shown[-1]
    assert 'src="data:image/svg+xml;base64,' in shown[-1]
    assert capsys.readouterr() == ("", "")


def test_a_notebook_shows_names_as_data(notebook):
    with follow_run("<script>") as follow:
        follow(Progress(seconds=1.0, evaluations=5, objective=None, bound=None))
    [shown] = notebook
    assert shown[-1] == "<div>&lt;script&gt;: nothing feasible yet, 5 evaluations, 1.0 s</div>"


def test_a_notebook_without_matplotlib_has_the_line(notebook, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with follow_run("run") as follow:
        follow(Progress(seconds=1.0, evaluations=5, objective=2.0, bound=1.5))
    assert notebook[0][-1] == "<div>run: objective 2, bound 1.5, 5 evaluations, 1.0 s</div>"


def test_pictures_and_lines_of_a_notebook_are_not_made_at_every_call(notebook):
    with follow_run("run") as follow:
        for i in range(1000):
            follow(Progress(seconds=0.001 * i, evaluations=i, objective=1000.0 - i, bound=None))
    assert len(notebook[0]) < 20


def test_a_shell_in_a_terminal_is_no_notebook(monkeypatch, notebook, capsys):
    sys.modules["IPython"].get_ipython = lambda: types.SimpleNamespace()
    om.solve("gautam-2x3", "exhaustive", progress=True)
    assert notebook == []
    assert "started" in capsys.readouterr().err
