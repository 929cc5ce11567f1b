"""A comparison that is killed at any moment, and resumed, ends with the same table."""

import random
import re
import signal
import subprocess
import sys
import time

import pytest

from optmodels.studies import compare, read_comparison

STUDY = """
instances = ["gautam-2x3", "gautam-4x4", "avrachenkov-k5"]
strategies = ["exhaustive", "annealing:steps=200", "local-search", "dejavu"]
seeds = 3
out = "runs"
[budget]
evaluations = 300
"""

SCRIPT = """
import sys
from optmodels.studies import compare
if __name__ == "__main__":
    compare(sys.argv[1], resume=True, workers=int(sys.argv[2]))
    print("ended")
"""


def told(comparison):
    """The table without the seconds, which are never the same twice, and every run without them."""
    of_run = ("problem", "strategy", "seed", "status", "reason", "key", "study")
    of_result = ("objective", "decision", "evaluations", "stopped_by")
    runs = [
        [getattr(run, name) for name in of_run] + [getattr(run.result, name) for name in of_result]
        for run in comparison.runs
    ]
    table = [re.sub(r"\s*-?\d+\.\d{3}\b", " SECONDS", line) for line in comparison.table().splitlines()]
    return [re.sub(r"\s+", " ", line) for line in table if set(line) != {"-"}], runs


@pytest.fixture
def study(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "script.py").write_text(SCRIPT)
    return tmp_path / "study.toml"


def start(study, workers):
    words = [sys.executable, str(study.parent / "script.py"), str(study), str(workers)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def lines(study):
    file = study.parent / "runs" / "runs.jsonl"
    return file.read_bytes().count(b"\n") if file.exists() else 0


def wanted(study, tmp_path):
    return told(compare(study, out=tmp_path / "at-once"))


def test_killed_once_in_the_middle(study, tmp_path):
    process = start(study, 1)
    until = time.monotonic() + 60
    while lines(study) < 3 and process.poll() is None and time.monotonic() < until:
        time.sleep(0.002)
    process.kill()
    process.communicate()
    held = lines(study)
    assert held >= 3
    partly = read_comparison(tmp_path / "runs")
    assert len(partly.runs) >= 3
    again = compare(study, resume=True)
    assert told(again) == wanted(study, tmp_path)
    assert told(read_comparison(tmp_path / "runs")) == told(again)
    if process.returncode == -signal.SIGKILL and held < len(again.runs):
        assert not partly.complete


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("workers", [1, 2])
def test_killed_again_and_again_at_random_moments(study, tmp_path, workers):
    draw = random.Random(workers)
    kills, waits = 0, 1.0
    for _ in range(60):
        before = lines(study)
        process = start(study, workers)
        try:
            process.communicate(timeout=draw.uniform(0.05, waits))
            break
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            kills += 1
            waits += 0.15 if lines(study) == before else 0.0
    assert kills >= 3
    assert told(compare(study, resume=True)) == wanted(study, tmp_path)
    assert read_comparison(tmp_path / "runs").complete
