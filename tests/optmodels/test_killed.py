"""What is left of a run that is killed, or told twice to stop."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

#: What differs between two runs of the same thing.
TIMES = {"seconds", "time_to_best", "trace", "versions"}


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "optmodels", *words]


def comparison(instances: Path, out: Path, *more: str) -> list[str]:
    files = [str(instances / name) for name in ("placement/gautam-2x3.json", "threshold/avrachenkov-k5.json")]
    strategies = ["exhaustive", "genetic", "annealing", "local-search"]
    limits = ["--seeds", "4", "--evaluations", "4000"]
    return command("compare", *files, "--strategies", *strategies, *limits, "--out", str(out), *more)


def runs(folder: Path) -> dict[str, dict[str, object]]:
    """Runs by what identifies them, without times."""
    lines = [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]
    return {line["key"]: {name: value for name, value in line.items() if name not in TIMES} for line in lines}


def test_a_comparison_killed_again_and_again_ends_with_the_table_of_an_unbroken_one(instances, tmp_path):
    subprocess.run(comparison(instances, tmp_path / "whole"), check=True, capture_output=True)
    broken, kills = tmp_path / "broken", 0
    for pause in (1.5, 2.0, 2.5, 3.0, 3.5, 4.0):  # a process takes about a second to begin
        with subprocess.Popen(
            comparison(instances, broken, "--resume"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            try:
                process.wait(pause)
            except subprocess.TimeoutExpired:
                process.kill()
                kills += 1
    assert kills >= 2
    ended = subprocess.run(comparison(instances, broken, "--resume"), capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert runs(broken) == runs(tmp_path / "whole")
    first, second = (
        [{k: v for k, v in row.items() if k not in TIMES} for row in csv.DictReader((folder / "runs.csv").open())]
        for folder in (tmp_path / "whole", broken)
    )
    assert [row["objective"] for row in first] == [row["objective"] for row in second]
    assert not [file for file in broken.rglob("*") if file.name.endswith((".tmp", ".part"))]


def test_a_killed_sweep_goes_on_from_its_file(instances, tmp_path):
    def sweep(out: Path) -> list[str]:
        file = str(instances / "threshold" / "avrachenkov-k5.json")
        return command("sweep", file, "--vary", "data.capacity=1..30", "--strategy", "exhaustive", "--out", str(out))

    subprocess.run(sweep(tmp_path / "whole.csv"), check=True, capture_output=True)
    for pause in (1.5, 2.0, 2.5):
        with subprocess.Popen(
            sweep(tmp_path / "broken.csv"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            try:
                process.wait(pause)
            except subprocess.TimeoutExpired:
                process.kill()
    subprocess.run(sweep(tmp_path / "broken.csv"), check=True, capture_output=True)
    whole, broken = (
        [(row["data.capacity"], row["objective"], row["status"]) for row in csv.DictReader((tmp_path / name).open())]
        for name in ("whole.csv", "broken.csv")
    )
    assert whole == broken
    assert len(whole) == 30


@pytest.mark.parametrize("strategy", ["annealing", "genetic", "highs", "exhaustive"])
@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
def test_two_signals_end_a_run_at_once_and_without_a_traceback(instances, strategy, first):
    file = str(instances / "placement" / "gautam-6x6.json") if strategy != "exhaustive" else ""
    file = file or str(instances / "placement" / "gautam-4x4.json")
    words = command("solve", file, "--strategy", strategy, "--seconds", "60", "--json")
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    ) as process:
        time.sleep(2.5)
        for number in (first, signal.SIGINT):
            if process.poll() is None:
                process.send_signal(number)
                time.sleep(0.2)
        out, err = process.communicate(timeout=30)
    assert process.returncode in (0, 3), err
    assert "Traceback" not in err
    if out.strip():
        assert json.loads(out)["status"] in {"optimal", "feasible", "unknown"}
