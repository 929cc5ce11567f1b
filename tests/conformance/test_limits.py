"""Time limits hold for every strategy on the largest shipped instances it takes, from the command line."""

import json
import subprocess
import sys
from pathlib import Path

import golden
import pytest

from heuristics import refusal
from optmodels import instance as instances
from optmodels.registry import BUILT_IN, make_strategy, strategies

FOLDER = Path(__file__).parents[2] / "instances"
NAMES = sorted(entry.name for entry in strategies.entries() if entry.origin == BUILT_IN)

SECONDS = 1.0

#: What takes pages by the million.
FRESHNESS = [
    "lagrangian",
    "uniform",
    "proportional",
    "randomized",
    "greedy",
    "whittle",
    "regular",
    "golden-ratio",
    "power-of-two",
    "adaptive",
]

#: What may come on top of the limit: a share of it, and some seconds.
SHARE, GRACE = 0.2, 2.0

#: The command; it tells how long it took from the start of the run's clock to the last byte, but for compiling: by the
#: clock on the wall: seconds of CPU would miss whoever waits, for a solver in a process of its own, say.
DRIVER = """
import os, sys
from heuristics import clock, oracle
began = []
usual = oracle.Oracle.__init__
def first(self, *arguments, **options):
    usual(self, *arguments, **options)
    began.append(clock.now() - self.seconds)
oracle.Oracle.__init__ = first
from optmodels.cli import main
code = main(sys.argv[1:])
sys.stdout.flush()
print(clock.now() - began[0], file=sys.stderr)
sys.stderr.flush()
os._exit(code)
"""


def largest() -> list[tuple[str, Path]]:
    """Each strategy, and of every sort of problem the instance with the most decisions that it takes."""
    loaded = {file: instances.load(file) for file in sorted(FOLDER.glob("*/*.json"))}
    in_order = sorted(loaded, key=lambda file: (loaded[file].space.size, file.stat().st_size), reverse=True)
    pairs = []
    for name in NAMES:
        classes: dict[tuple[type, bool], Path] = {}
        for file in in_order:
            kind = golden.sort_of(loaded[file])
            if kind not in classes and refusal(loaded[file], make_strategy(name)) is None:
                classes[kind] = file
        pairs += [(name, file) for file in classes.values()]
    return pairs


def taken(file: Path, name: str, out: Path, limit: float) -> tuple[float, int]:
    """Seconds that the command took, but for its start, imports, parsing and compiling; and its exit code."""
    words = ["solve", str(file), "--strategy", name, "--seconds", str(limit), "--json", "--out", str(out)]
    answer = subprocess.run([sys.executable, "-c", DRIVER, *words], capture_output=True, text=True)
    assert answer.returncode in (0, 3), answer.stderr
    if answer.stdout:
        json.loads(answer.stdout)
    return float(answer.stderr.splitlines()[-1]), answer.returncode


@pytest.mark.slow
@pytest.mark.timeout(900)  # with nothing compiled
@pytest.mark.parametrize(
    ("name", "file"), largest(), ids=lambda value: value.stem if isinstance(value, Path) else value
)
def test_a_time_limit_holds(name, file, tmp_path):
    assert_in_time(file, name, tmp_path / "r.json", SECONDS)


@pytest.fixture(scope="module")
def million(tmp_path_factory) -> Path:
    """An instance of a million pages, in columns beside its file."""
    folder = tmp_path_factory.mktemp("million")
    words = ["generate", "freshness", "--pages", "1000000", "--name", "million", "--out", str(folder / "million.json")]
    subprocess.run([sys.executable, "-m", "optmodels", *words], check=True, capture_output=True)
    return folder / "million.json"


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", FRESHNESS)
def test_a_time_limit_holds_for_a_million_pages(name, million, tmp_path):
    assert_in_time(million, name, tmp_path / "r.json", 2.0)


def assert_in_time(file: Path, name: str, out: Path, limit: float) -> None:
    """Run the command, up to three times: another process may take the machine for a while."""
    for _ in range(3):
        seconds, _ = taken(file, name, out, limit)
        if seconds <= (1 + SHARE) * limit + GRACE:
            return
    raise AssertionError(f"{name} on {file.name}: {seconds:.1f} s for a limit of {limit:g} s")
