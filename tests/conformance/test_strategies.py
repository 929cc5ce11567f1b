"""Every built-in strategy on one shipped instance of every kind it accepts, and through `check_strategy`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import golden
import pytest

from heuristics import Status, refusal
from heuristics.testing import check_strategy, toy_problems
from optmodels import instance as instances
from optmodels.generating import generate
from optmodels.registry import BUILT_IN, kinds, make_strategy, strategies
from optmodels.solving import solve
from optmodels.verification import verify

FOLDER = Path(__file__).parents[2] / "instances"
KINDS = sorted(folder.name for folder in FOLDER.iterdir() if folder.is_dir() and folder.name != "sets")
NAMES = sorted(entry.name for entry in strategies.entries() if entry.origin == BUILT_IN)

#: What compiles little: the fast tests see it start with nothing compiled.
LITTLE = [("exhaustive", FOLDER / "placement" / "gautam-2x3-printed.json")]

#: What needs more kernels, or others, than the smallest instances do.
MUCH = [
    ("value-iteration", FOLDER / "routing" / "loss-3.json"),
    ("exhaustive", FOLDER / "threshold" / "avrachenkov-k5.json"),
    ("whittle", FOLDER / "routing" / "map-3.json"),
]

#: Solvers that start processes and import large libraries: one budget and one seed are enough here.
HEAVY = {"clauses", "highs"}


def smallest(kind: str) -> tuple[Path, ...]:
    """Of every sort of problem of a kind the shipped instance with the fewest decisions, then the smallest file."""
    classes: dict[tuple[type, bool], Path] = {}
    loaded = {file: instances.load(file) for file in sorted((FOLDER / kind).glob("*.json"))}
    for file in sorted(loaded, key=lambda file: (loaded[file].space.size, file.stat().st_size)):
        classes.setdefault(golden.sort_of(loaded[file]), file)
    return tuple(classes.values())


SMALLEST = {file.stem: file for kind in KINDS for file in smallest(kind)}


def accepted() -> list[tuple[str, str]]:
    """Pairs of a strategy and an instance it takes."""
    loaded = {label: instances.load(file) for label, file in SMALLEST.items()}
    return [
        (name, label) for name in NAMES for label in SMALLEST if refusal(loaded[label], make_strategy(name)) is None
    ]


ACCEPTED = accepted()


def test_every_kind_has_instances_and_every_folder_is_a_kind():
    built_in = {entry.name for entry in kinds.entries() if entry.origin == BUILT_IN}
    assert set(KINDS) == built_in


def test_every_strategy_accepts_some_kind_and_every_kind_some_strategy():
    assert {name for name, _ in ACCEPTED} == set(NAMES)
    assert {label for _, label in ACCEPTED} == set(SMALLEST)


@pytest.mark.parametrize(("name", "label"), ACCEPTED, ids=lambda value: value)
def test_a_strategy_answers_on_a_kind_it_accepts(name, label):
    file = SMALLEST[label]
    content = instances.read(file)
    problem = instances.problem_of(content, file)
    result = solve(problem, name, evaluations=2_000, seconds=20, seed=1)
    assert result.decision is not None, f"{name} finds nothing feasible on {file.name}"
    assert result.checked
    assert (result.strategy, result.kind, result.seed) == (name, content.kind, 1)
    verify(result, problem, content, seconds=0).check()
    best = content.best_known
    if best is not None and best.proved and result.status == Status.OPTIMAL:
        # A best known of all thresholds is no bound for policies that see more.
        listed = getattr(problem.space, "lists", lambda _: True)(result.decision)
        assert result.objective == pytest.approx(best.objective) if listed else result.objective <= best.objective


@pytest.mark.parametrize(
    ("name", "label"), [pair for pair in ACCEPTED if pair[0] not in HEAVY], ids=lambda value: value
)
def test_the_same_seed_gives_the_same_answer(name, label):
    first, second = (solve(SMALLEST[label], name, evaluations=500, seed=3) for _ in range(2))
    assert (first.decision, first.evaluations, first.status) == (second.decision, second.evaluations, second.status)


@pytest.mark.parametrize("name", NAMES)
def test_a_strategy_keeps_the_house_rules(name):
    shipped = [instances.load(file) for file in SMALLEST.values()]
    if name in HEAVY:
        check_strategy(make_strategy(name), shipped, evaluations=(50,), seeds=(0,))
    else:
        check_strategy(make_strategy(name), [*toy_problems(), *shipped])


# -- compiling is not part of a run -----------------------------------------------------------------------------------


def told(file: Path, *words: str, cache: Path) -> tuple[dict, str]:
    """The answer of the command, and what it said on stderr, with the compiled kernels of `cache` only."""
    answer = subprocess.run(
        [sys.executable, "-m", "optmodels", "solve", file, "--json", *words],
        capture_output=True, text=True, check=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), "OPTMODELS_QUIET": "0"},
    )  # fmt: skip
    return json.loads(answer.stdout), answer.stderr


def check_a_cold_run_is_like_a_warm_one(name: str, file: Path, folder: Path) -> None:
    """The same answer after the same evaluations; and the same seconds, up to a factor and a moment."""
    for attempt in range(3):  # another process may take the machine for a while
        words = ("--strategy", name, "--evaluations", "300", "--seed", "1")
        cold, said = told(file, *words, cache=folder / str(attempt))
        warm, silence = told(file, *words, cache=folder / str(attempt))
        assert "compiling" in said or not any((folder / str(attempt)).rglob("*.nbc"))
        assert silence == ""
        for key in ("status", "decision", "objective", "bound", "evaluations", "stopped_by"):
            assert cold[key] == warm[key], f"{key} depends on what was compiled before"
        if cold["seconds"] <= 2 * warm["seconds"] + 0.3:
            return
    raise AssertionError(f"{cold['seconds']:.2f} s with an empty cache, {warm['seconds']:.2f} s with a full one")


def stem(value: object) -> str:
    return value.stem if isinstance(value, Path) else str(value)


@pytest.mark.parametrize(("name", "file"), LITTLE, ids=stem)
def test_compiling_is_not_part_of_a_run(name, file, tmp_path):
    check_a_cold_run_is_like_a_warm_one(name, file, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("name", "file"),
    [pair for pair in [(n, SMALLEST[at]) for n, at in ACCEPTED] + MUCH if pair not in LITTLE],
    ids=stem,
)
def test_compiling_is_not_part_of_any_run(name, file, tmp_path):
    check_a_cold_run_is_like_a_warm_one(name, file, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", ["dejavu", "highs"])
def test_compiling_is_not_part_of_a_run_on_a_grid_of_five_by_five(name, tmp_path):
    instances.write(generate("placement", rows=5, columns=5, seed=1), tmp_path / "grid.json")
    check_a_cold_run_is_like_a_warm_one(name, tmp_path / "grid.json", tmp_path)
