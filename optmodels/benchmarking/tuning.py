"""`tune`: which parameters of a strategy do best on some instances, and whether they do better on others.

The instances are divided in two by a seed. Configurations race on the training instances
(`optmodels.benchmarking.tuning_race`). Then the winner meets the strategy as it was on the test instances, which no
configuration has seen, with seeds that were not used before. What is said about the tuned strategy is said of the test
alone.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from heuristics import Budget, Problem, Strategy, refusal

from ..data import as_path, as_whole, check_switch, pretty, write_text
from ..errors import RequestError, short
from ..solving import ProblemLike, as_problem, check_seed, make_budget
from ..statistics import FEWEST_DIFFERENT
from ..studies import Comparison, compare, label_of, problem_digest
from .sets import BenchmarkSet, read_set
from .solutions import read_solutions
from .tuned import Tuning
from .tuning_race import FIRST_BLOCKS, field_size, run_race
from .tuning_space import TuningSpace, space_of

#: Runs that tuning makes if nobody says how many, and the part of them that the test may take.
RUNS, TEST_SHARE = 500, 1 / 3

#: More runs than this are a slip of the pen.
MOST_RUNS = 100_000

#: Seeds of runs are drawn below this, without replacement: every instance has its own, for with the same seed luck on
#: one instance may be luck on another, and then instances that differ are no independent pairs.
SEEDS = 2**31

#: What a folder of tuning holds besides the runs.
FILE, TABLE = "tuning.json", "tuning.txt"


def tune(
    strategy: str | Strategy,
    on: BenchmarkSet | str | os.PathLike[str] | Iterable[ProblemLike],
    *,
    vary: str | Iterable[str] | Mapping[str, str | Sequence[Any]] | None = None,
    seconds: float | None = None,
    evaluations: int | None = None,
    runs: int = RUNS,
    seed: int = 0,
    workers: int = 1,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
) -> Tuning:
    """Tune the parameters of a strategy by a race, and compare the winner with the default on other instances.

    With a budget in evaluations, the same seed gives the same answer. Ctrl-C ends it with the best configuration so
    far.

    Parameters
    ----------
    strategy
        A name, or an object; parameters that are given stay as they are.
    on
        A benchmark set, its name or file; or problems and instances, as `optmodels.solve` takes them. Those that the
        strategy does not take are left out. Half of them train, the others test.
    vary
        Parameters and their ranges, as in ``"population=20..200"``; by default what the strategy declares as
        ``tunable``.
    seconds, evaluations
        Limits of each run; those of the set unless one is given.
    runs
        How many may be made in all, for training and test; never exceeded.
    seed
        Of the division, the configurations and the seeds of runs.
    workers
        Processes that share the runs.
    out
        A file ending in ``.json`` for what is found; or a folder for that and every run, as `optmodels.compare` keeps
        them.
    resume
        Use the runs that the folder holds already.
    progress
        Called with runs done, runs allowed, and what is running.

    Returns
    -------
    Tuning
        The winner, who fell when, and what the test says.

    Raises
    ------
    RequestError
        If there is nothing to tune, too few instances or runs, or a name or range is wrong.

    Examples
    --------
    >>> from optmodels.benchmarking import tune
    >>> grids = [f"gautam-{size}" for size in ("2x3", "4x4", "6x6", "8x8")]
    >>> tuning = tune("local-search", grids, vary="swaps=0,10", evaluations=200, runs=40)
    >>> tuning.training_runs + tuning.test_runs <= 40, sorted(tuning.training + tuning.test) == sorted(grids)
    (True, True)
    """
    check_switch("resume", resume)
    allowed = _runs(runs)
    space = space_of(strategy, vary)
    path = as_path("out", out)
    to_file = path is not None and path.suffix == ".json"
    folder = None if to_file else path
    if resume and folder is None:
        raise RequestError("resuming needs the folder of the tuning to resume: give out as well.")
    name, given, limits = _given(on, seconds, evaluations)
    problems, left_out = _taken(given, space.base)
    rng = np.random.default_rng(check_seed(seed))
    training, test = divide(problems, rng)
    plan = _Plan.of(space, training, test, allowed)
    seeds = iter(_seeds(plan.levels * len(training) + plan.test_seeds * len(test), rng))
    test_seeds = {problem.name: [next(seeds) for _ in range(plan.test_seeds)] for problem in test}
    blocks = [(problem, next(seeds)) for _ in range(plan.levels) for problem in training]
    entrants = space.draw(plan.entrants, rng)
    runner = _Runner(limits, workers, folder, resume, progress, allowed)

    def ask(labels: Sequence[str], block: range, number: int) -> dict[tuple[str, int], float]:
        return runner.blocks({label: entrants[label] for label in labels}, blocks, block, f"round {number}")

    race = run_race(list(entrants), [problem.name for problem, _ in blocks], ask, plan.training_runs)
    comparison = None
    if race.complete and race.winner != space.label:
        both = [space.base, entrants[race.winner]]
        comparison = runner.compare(test, both, test_seeds, "test")
    tuning = Tuning(
        space.label,
        space.ranges,
        name,
        tuple(problem.name for problem in training),
        tuple(problem.name for problem in test),
        left_out,
        limits,
        allowed,
        check_seed(seed),
        race,
        comparison,
        tuple(runner.warnings),
    )
    if path is not None:
        write_text(path if to_file else path / FILE, pretty(tuning.to_data()) + "\n")
    if folder is not None:
        write_text(folder / TABLE, tuning.report() + "\n")
    return tuning


def divide(problems: Sequence[Problem], rng: np.random.Generator) -> tuple[list[Problem], list[Problem]]:
    """Divide problems into those for training and those for test, about as many of each.

    Neighbours in a list are often alike, as families of a set are: of every two neighbours one trains and one tests,
    and the draw says which. Both are then shuffled.

    Parameters
    ----------
    problems
        No two of them the same.
    rng
        Draws.

    Returns
    -------
    tuple of list
        Training and test; of an odd number, the test has one more.
    """
    sides: tuple[list[Problem], list[Problem]] = [], []
    for begin in range(0, len(problems) - 1, 2):
        first = int(rng.integers(2))
        sides[first].append(problems[begin])
        sides[1 - first].append(problems[begin + 1])
    if len(problems) % 2:
        sides[1].append(problems[-1])
    training, test = ([side[place] for place in rng.permutation(len(side))] for side in sides)
    return training, test


# -- inside -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Plan:
    """How the runs are shared out: to the test first, what is left to the race."""

    entrants: int
    levels: int
    test_seeds: int
    training_runs: int

    @classmethod
    def of(cls, space: TuningSpace, training: Sequence[Problem], test: Sequence[Problem], runs: int) -> _Plan:
        fixed = bool(getattr(space.base, "deterministic", False))
        first = min(FIRST_BLOCKS, len(training)) if fixed else FIRST_BLOCKS
        needed = 2 * len(test) + 2 * first
        if runs < needed:
            raise RequestError(
                f"runs is {needed} or more here, for a race of two on {first} blocks and a test on {len(test)} "
                f"instances, got {runs}."
            )
        seeds = 1 if fixed else max(1, int(runs * TEST_SHARE) // (2 * len(test)))
        left = runs - 2 * len(test) * seeds
        entrants = field_size(left, space.size + 1, first)  # the default need not be among what is varied
        levels = 1 if fixed else math.ceil(left / 2 / len(training))
        return cls(entrants, levels, seeds, left)


@dataclass
class _Runner:
    """Makes runs, all under the same limits, and counts them."""

    limits: Budget
    workers: int
    folder: Path | None
    resume: bool
    progress: Callable[[int, int, str], None] | None
    allowed: int

    def __post_init__(self) -> None:
        self.done = 0
        self.warnings: dict[str, None] = {}

    def compare(
        self, problems: Sequence[Problem], strategies: Sequence[Strategy], seeds: Mapping[str, list[int]], what: str
    ) -> Comparison:
        """Run strategies on problems; once there are runs in the folder, they are ours."""
        comparison = compare(
            problems,
            strategies,
            seeds=seeds,
            budget=self.limits,
            workers=self.workers,
            out=self.folder,
            resume=self.resume,
            progress=self._tell(what),
        )
        self.resume = self.folder is not None
        self.done += len(comparison.runs)
        self.warnings |= dict.fromkeys(comparison.warnings)
        return comparison

    def blocks(
        self, strategies: Mapping[str, Strategy], blocks: Sequence[tuple[Problem, int]], chosen: range, what: str
    ) -> dict[tuple[str, int], float]:
        """Run strategies on blocks."""
        problems = {blocks[place][0].name: blocks[place][0] for place in chosen}
        seeds: dict[str, list[int]] = {name: [] for name in problems}
        for place in chosen:
            seeds[blocks[place][0].name].append(blocks[place][1])
        places = {(blocks[place][0].name, blocks[place][1]): place for place in chosen}
        try:
            comparison = self.compare(list(problems.values()), list(strategies.values()), seeds, what)
        except KeyboardInterrupt:  # between runs
            return {}
        found: dict[tuple[str, int], float] = {}
        for run in comparison.runs:
            value = run.result.objective if run.error is None else None
            found[run.strategy, places[run.problem, run.seed]] = math.inf if value is None else value
        return found

    def _tell(self, what: str) -> Callable[[int, int, str], None] | None:
        if self.progress is None:
            return None
        told, before = self.progress, self.done
        return lambda done, total, running: told(before + done, self.allowed, f"{what}: {running}")


def _seeds(count: int, rng: np.random.Generator) -> list[int]:
    """Draw so many seeds, no two the same."""
    return [int(one) for one in rng.choice(SEEDS, size=count, replace=False)]


def _runs(runs: Any) -> int:
    whole = as_whole(runs)
    if whole is None or not 1 <= whole <= MOST_RUNS:
        raise RequestError(f"runs is a whole number from 1 to {MOST_RUNS}, got {short(runs)}.")
    return whole


def _given(
    on: BenchmarkSet | str | os.PathLike[str] | Iterable[ProblemLike], seconds: float | None, evaluations: int | None
) -> tuple[str | None, list[Problem], Budget]:
    """Find the name of the set, its problems, and the limits of each run."""
    chosen = read_set(on) if isinstance(on, (str, os.PathLike)) else on
    if isinstance(chosen, BenchmarkSet):
        if seconds is None and evaluations is None:
            seconds, evaluations = chosen.seconds, chosen.evaluations
        known = read_solutions(chosen)
        problems = [
            drawn.model_copy(update={"best_known": known[drawn.name].best_known(drawn)}).problem()
            for drawn in chosen.instances()
        ]
        name: str | None = chosen.name
    elif isinstance(chosen, Iterable):
        problems, name = [as_problem(one) for one in chosen], None
    else:
        raise RequestError(f"instances to tune on are a benchmark set, or a list of problems; got {short(on)}.")
    limits = make_budget(None, seconds, evaluations)
    if limits.seconds is None and limits.evaluations is None:
        raise RequestError("configurations are compared under the same limit: give seconds or evaluations of a run.")
    return name, problems, limits


def _taken(problems: Sequence[Problem], strategy: Strategy) -> tuple[list[Problem], tuple[str, ...]]:
    """Return the problems that the strategy takes, each once, and the names of the others."""
    taken: dict[str, Problem] = {}
    refused: dict[str, str] = {}
    for problem in problems:
        sentence = refusal(problem, strategy)
        if sentence is None:
            taken.setdefault(problem_digest(problem), problem)
        else:
            refused[problem.name] = sentence
    names = [problem.name for problem in taken.values()]
    twice = next((one for one in names if names.count(one) > 1), None)
    if twice is not None:
        raise RequestError(f"two instances to tune on are called {twice!r}; give them names of their own.")
    if len(taken) < 2:
        why = f" {next(iter(refused.values()))}" if refused else ""
        raise RequestError(
            f"tuning needs two instances at least, one for training and one for test (for a test that can show "
            f"something, {FEWEST_DIFFERENT}), and {label_of(strategy)!r} takes {len(taken)} of those given.{why}"
        )
    return list(taken.values()), tuple(refused)
