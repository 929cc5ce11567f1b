"""``optmodels pareto``: the table, the files, JSON, exit codes, and Ctrl-C."""

import json
import os
import signal
import subprocess
import sys

import pytest

from optmodels.cli import main
from optmodels.instance import read


@pytest.fixture
def paper(instances) -> str:
    """The example of section 7, K = 5."""
    return str(instances / "threshold" / "avrachenkov-k5.json")


def test_the_table_tells_points_weights_and_gaps(paper, capsys):
    assert main(["pareto", paper, "--measures", "starvation", "response_time"]) == 0
    head, *lines, summary = capsys.readouterr().out.splitlines()
    assert head.split("  ")[0] == "starvation"
    assert [name for name in ("supported", "weights of the second", "gap", "decisions") if name not in head] == []
    assert lines[0].split() == ["0.0418119", "2.07363", "yes", "0", "to", "0.0436644", "-", "1", "-1,4,4"]
    assert lines[-1].endswith("-1,0,0")
    assert summary.startswith(
        "avrachenkov-k5: 12 points, 6 of them supported, exact (exhaustive, 1 run, 84 evaluations"
    )


def test_json_stands_alone_on_stdout_and_files_are_written(paper, tmp_path, capsys):
    out, picture = tmp_path / "front.csv", tmp_path / "front.png"
    words = ["pareto", paper, "--measures", "loss", "max:success", "--json", "--out", str(out), "--plot", str(picture)]
    assert main(words) == 0
    answer = capsys.readouterr()
    data = json.loads(answer.out)
    assert answer.err == ""
    assert data["exact"] is True
    assert len(data["points"]) == len(out.read_text().splitlines()) - 1
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_file_may_stand_after_the_measures(paper, capsys):
    assert main(["pareto", "--measures", "loss", "starvation", paper]) == 0
    assert "5 points" in capsys.readouterr().out


def test_limits_that_nobody_keeps_end_with_exit_code_3(paper, tmp_path, capsys):
    file = tmp_path / "impossible.json"
    content = {key: value for key, value in read(paper).to_data().items() if key != "best_known"}
    file.write_text(json.dumps(content | {"limits": {"loss": 0.02}}))
    assert main(["pareto", str(file), "--measures", "loss", "starvation", "--json"]) == 3
    answer = capsys.readouterr()
    assert json.loads(answer.out)["points"] == []
    assert answer.err == "optmodels: no decision keeps all limits.\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--measures", "loss"], "a Pareto front needs two measures, got 1"),
        (["--measures", "loss", "starvation", "--plot", "front.txt"], "a picture is written as"),
        (["--measures", "loss", "starvation", "--strategy", "exhaustiv"], "Did you mean 'exhaustive'"),
        (["--measures", "loss", "starvation", "--runs", "0", "--strategy", "annealing"], "runs are counted from 1"),
        ([], "--measures"),
    ],
)
def test_requests_not_understood_end_with_exit_code_2_and_one_sentence(words, sentence, paper, capsys):
    assert main(["pareto", paper, *words]) == 2
    answer = capsys.readouterr()
    assert answer.out == ""
    assert sentence in answer.err
    assert answer.err.count("\n") == 1


def test_a_strategy_without_limits_is_refused(instances, capsys):
    file = str(instances / "placement" / "gautam-2x3.json")
    assert main(["pareto", file, "--measures", "opening", "mean_delay", "--strategy", "highs"]) == 2
    assert "does not handle limits on measures of 'gautam-2x3'" in capsys.readouterr().err


def test_other_strategies_give_points_without_a_claim(instances, capsys):
    file = str(instances / "placement" / "gautam-2x3.json")
    words = ["pareto", file, "--measures", "opening", "mean_delay", "--strategy", "annealing", "--evaluations", "200"]
    assert main([*words, "--runs", "5", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["exact"], data["runs"], data["stopped_by"]) == (False, 5, "runs")
    assert not any(point["proved"] for point in data["points"])


def test_ctrl_c_keeps_the_points_found_so_far(instances, tmp_path):
    file, out = str(instances / "placement" / "gautam-4x4.json"), tmp_path / "front.csv"
    words = ["pareto", file, "--measures", "opening", "mean_delay", "--strategy", "annealing", "--seconds", "1"]
    run = subprocess.Popen(
        [sys.executable, "-c", _INTERRUPTED, *words, "--out", str(out), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    answer, told = run.communicate(timeout=120)
    assert run.returncode == 0, told
    data = json.loads(answer)
    assert data["stopped_by"] == "interrupt"
    assert data["runs"] == 3
    assert len(data["points"]) == len(out.read_text().splitlines()) - 1 > 0
    assert "interrupted; points found" in told


#: The command line, with a signal that comes in the middle of the third run.
_INTERRUPTED = f"""
import os, sys, threading
from optmodels.studies import pareto_search; from optmodels import solving
from optmodels.cli import main
calls = []
def solve(*arguments, **options):
    calls.append(1)
    if len(calls) == 3:
        threading.Timer(0.2, os.kill, (os.getpid(), {int(signal.SIGINT)})).start()
    return solving.solve(*arguments, **options)
pareto_search.solve = solve
sys.exit(main(sys.argv[1:]))
"""
