"""A genetic algorithm on any discrete space, with DEAP."""

from __future__ import annotations

import math
import random
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from ..oracle import Oracle
from ..protocols import Decision, Incremental, Problem, Repairable
from ..result import Result
from ..running import require_fields
from .common import LEAST_PENALTY, EvaluatedWalk, Slices, refuses_continuum, starting_points

#: DEAP keeps the classes it makes in one place for the whole process; nobody else will take these names.
FITNESS, INDIVIDUAL = "HeuristicsGeneticFitness", "HeuristicsGeneticIndividual"

#: Generations in a row with hardly a new decision, less than this share of the children wanted, that end the run.
SETTLED, HARDLY = 5, 0.1

#: Share of the first population that may come from the suggestions of the problem; the rest is random.
SUGGESTED = 0.2

#: Suggestions evaluated at a time: there may be many, and the budget small.
SOME = 20

#: A child that was seen before is mutated so often before its parents are given up; children drawn for each wanted.
MUTATIONS, DRAWS = 3, 2

#: Decisions remembered as seen (some 100 bytes each), and numbers that a population may hold, each with some more.
SEEN, NUMBERS, OVERHEAD = 500_000, 20_000_000, 40


@dataclass(frozen=True)
class Genetic:
    """Let a population of decisions compete, mix and mutate.

    Parents are chosen by tournament, mixed by the crossover of the space and mutated by steps to neighbours; the best
    individuals live on. Fitness is the penalised objective. A problem that can repair decisions (`Repairable`) gets
    every new individual to repair, and the repaired one takes its place in the population. On problems that offer small
    steps (`Incremental`) it is then polished by random ones, downhill only: a *memetic* algorithm. For the first half
    of them broken constraints cost a random part of their penalty, from 0.03 to 1, where walks offer that (`Lenient`).

    No decision is evaluated twice: a child that was seen before is mutated again, and if that does not help it is given
    up. Where diversity is gone, because half of the children are refused so or because the best individual has not
    changed for `patience` generations, all but the best are replaced by random decisions. ``extra`` counts
    ``generations``, ``restarts`` and ``repeats``, the children refused.

    DEAP draws from Python's global generator of random numbers. Here it gets one of its own, seeded from the run's, so
    that the same seed gives the same answer whatever other threads draw, and nobody else notices.

    Parameters
    ----------
    population
        Number of individuals.
    generations
        Rounds of selection, unless the budget ends first or 5 of them in a row bring hardly anything new.
    crossover
        Probability that a pair of parents is mixed.
    mutation
        Probability that a child is mutated, by one step and with probability 1/2 each by one more.
    tournament
        Individuals among which the best becomes a parent.
    elite
        Best individuals that live on unchanged.
    repair
        Whether to repair decisions of problems that can; otherwise only the penalty leads to feasible ones.
    polish
        Steps for each entry of the decision by which a child is polished; 0: none.
    patience
        Generations without a better individual after which the population is renewed.

    Examples
    --------
    >>> from heuristics import run
    >>> from heuristics.testing import MendedKnapsack
    >>> run(MendedKnapsack(), Genetic(population=20, generations=20), seed=1).objective
    -18.0
    """

    population: int = 50
    generations: int = 1000
    crossover: float = 0.9
    mutation: float = 0.5
    tournament: int = 3
    elite: int = 2
    repair: bool = True
    polish: int = 20
    patience: int = 20

    name: ClassVar[str] = "genetic"
    needs: ClassVar[type] = Problem
    tunable: ClassVar[Mapping[str, str]] = {
        "population": "10..200:log",
        "crossover": "0.3..1",
        "mutation": "0.1..1",
        "tournament": "2..8",
        "elite": "1..9",
        "polish": "5..60",  # with fewer steps, so many evaluations are full ones, and take hundreds of times as long
        "patience": "5..80:log",
    }

    def __post_init__(self) -> None:
        require_fields(
            self,
            population=(self.population >= 2, "2 or more"),
            generations=(self.generations >= 0, "0 or more"),
            crossover=(0 <= self.crossover <= 1, "a probability"),
            mutation=(0 <= self.mutation <= 1, "a probability"),
            tournament=(self.tournament >= 1, "1 or more"),
            elite=(0 <= self.elite < self.population, "0 or more, and less than the population"),
            polish=(self.polish >= 0, "0 or more"),
            patience=(self.patience >= 1, "1 or more"),
        )

    def refuses(self, problem: Problem) -> str | None:
        """Refuse a continuum, and populations that would not fit into memory."""
        sentence = refuses_continuum(self.name, problem)
        if sentence is not None:
            return sentence
        length = len(problem.space.sample(np.random.default_rng(0)))
        most = NUMBERS // (length + OVERHEAD)
        if self.population <= most:
            return None
        advice = f"'genetic:population={most}' would do" if most >= 2 else "other strategies keep fewer decisions"
        return (
            f"strategy 'genetic' keeps a population of {self.population} decisions, and those of {problem.name!r} have "
            f"{length} entries each, more than {NUMBERS} numbers together; {advice}."
        )

    def prepare(self, problem: Problem) -> None:
        """Import DEAP."""
        individual_class()

    def solve(self, oracle: Oracle[Problem], rng: np.random.Generator) -> Result:
        """Evolve until the generations are over or the budget is spent."""
        with own_draws(int(rng.integers(2**63))):
            settled = Evolution(self, oracle, rng).run()
        return oracle.result(stopped_by="settled" if settled else "complete")


class Evolution:
    """One run: the population, and what was seen."""

    def __init__(self, strategy: Genetic, oracle: Oracle[Problem], rng: np.random.Generator) -> None:
        self.strategy, self.oracle, self.rng = strategy, oracle, rng
        self.problem: Problem = oracle.problem
        self.mends = self.problem if strategy.repair and isinstance(self.problem, Repairable) else None
        self.polishes = strategy.polish > 0 and takes_small_steps(self.problem)
        self.new = individual_class()
        self.toolbox = self._toolbox()
        self.slices = Slices(oracle)
        self.seen: set[int] = set()
        self.drawn = self.refused = 0
        oracle.extra |= {"generations": 0, "restarts": 0, "repeats": 0}

    def run(self) -> bool:
        """Go through the generations; return whether hardly anything new was left before the last."""
        from deap import tools

        strategy, extra = self.strategy, self.oracle.extra
        population = self._filled(self._suggested())
        best, stale, idle = math.inf, 0, 0
        for generation in range(1, strategy.generations + 1):
            self.drawn = self.refused = 0
            kept = tools.selBest(population, strategy.elite)
            children = self._children(population, strategy.population - len(kept))
            population = kept + children if children else population
            extra["generations"] = generation
            idle = 0 if len(children) >= HARDLY * (strategy.population - len(kept)) else idle + 1
            if idle == SETTLED or len(self.seen) >= self.problem.space.size:
                return True
            fittest = tools.selBest(population, 1)[0].fitness.values[0]
            stale = 0 if fittest < best else stale + 1
            best = min(best, fittest)
            if stale >= strategy.patience or 2 * self.refused > self.drawn:
                population = self._filled(tools.selBest(population, max(1, strategy.elite)))
                extra["restarts"] += 1
                stale = 0
        return False

    def _children(self, population: list[Any], count: int) -> list[Any]:
        """Make children that were not seen before: as many as wanted, fewer where they are hard to find."""
        from deap import algorithms, tools

        strategy = self.strategy
        children: list[Any] = []
        for _ in range(DRAWS * count // 2):  # pairs
            if len(children) >= count:
                break
            parents = tools.selTournament(population, 2, strategy.tournament)
            for child in algorithms.varAnd(parents, self.toolbox, strategy.crossover, strategy.mutation):
                grown = self._grown(tuple(child))
                if grown is not None and len(children) < count:
                    children.append(grown)
        return children

    def _filled(self, population: list[Any]) -> list[Any]:
        """Add random individuals to a population until it is complete; fewer if there are no more to be found."""
        for _ in range(DRAWS * self.strategy.population):
            if len(population) >= self.strategy.population:
                break
            grown = self._grown(self.problem.space.sample(self.rng))
            if grown is not None:
                population.append(grown)
        return population

    def _suggested(self) -> list[Any]:
        """Begin with what the problem suggests, as far as it goes, or with random decisions."""
        points = islice(starting_points(self.problem, self.rng), max(1, int(SUGGESTED * self.strategy.population)))
        population: list[Any] = []
        while some := [self.new(decision) for decision in islice(points, SOME)]:
            # Before anything is repaired: small budgets should see the suggestions.
            population += [one for one in judge(self.oracle, some) if self._notes(tuple(one))]
        return population

    def _grown(self, decision: Decision) -> Any | None:
        """Make an individual of a decision: repair, evaluate and polish it; ``None`` if nothing is new about it."""
        self.drawn += 1
        for tries in range(1 + MUTATIONS):
            self.oracle.require()  # repairing may take longer than evaluating
            if self.mends is not None:
                decision = self.mends.repair(decision, self.rng)
            if self._notes(decision):
                break
            self.refused += 1
            self.drawn += 1
            self.oracle.extra["repeats"] += 1
            for _ in range(1 + tries):  # repair may have undone a small step
                decision = self._mutated(decision)
        else:
            return None
        individual = judge(self.oracle, [self.new(decision)])[0]
        polished = self._polished(decision) if self.polishes else decision
        if polished == decision:
            return individual
        if self._notes(polished):
            return judge(self.oracle, [self.new(polished)])[0]
        self.refused += 1
        self.oracle.extra["repeats"] += 1
        return None

    def _polished(self, decision: Decision) -> Decision:
        """Walk downhill for a while, lenient at first."""
        walk = self.oracle.walk(decision)
        moves = walk.draw(self.rng, self.strategy.polish * len(decision))
        lenient = 0
        if walk.weigh(1.0):
            walk.weigh(LEAST_PENALTY ** self.rng.random())
            lenient = len(moves) // 2
        self.slices.descend(walk, moves[:lenient])
        walk.weigh(1.0)
        self.slices.descend(walk, moves[lenient:])
        return walk.current

    def _notes(self, decision: Decision) -> bool:
        """Tell whether a decision is new; it is not any more."""
        key = hash(np.asarray(decision).tobytes())  # of tuples that differ in -1 and -2 only, Python has one hash
        if key in self.seen:
            return False
        if len(self.seen) >= SEEN:
            self.seen.clear()
        self.seen.add(key)
        return True

    def _mutated(self, decision: Decision) -> Decision:
        """Step to a neighbour, and with probability 1/2 each to one more."""
        decision = self.problem.space.neighbour(decision, self.rng)
        while self.rng.random() < 0.5:
            decision = self.problem.space.neighbour(decision, self.rng)
        return decision

    def _toolbox(self) -> Any:
        """Dress the operators of the space in DEAP's clothes; individuals are tuples, so nothing needs to be copied."""
        from deap import base

        def mate(first: Decision, second: Decision) -> tuple[Any, Any]:
            one, other = self.problem.space.crossover(tuple(first), tuple(second), self.rng)
            return self.new(one), self.new(other)

        toolbox = base.Toolbox()
        toolbox.register("clone", lambda individual: individual)
        toolbox.register("mate", mate)
        toolbox.register("mutate", lambda individual: (self.new(self._mutated(tuple(individual))),))
        return toolbox


def takes_small_steps(problem: Problem) -> bool:
    """Tell whether steps cost less than evaluating in full: otherwise polishing would take all the time."""
    if not isinstance(problem, Incremental):
        return False
    return not isinstance(problem.start(problem.space.sample(np.random.default_rng(0))), EvaluatedWalk)


def judge(oracle: Oracle[Problem], individuals: list[Any]) -> list[Any]:
    """Ask the oracle about individuals, note their fitness, and return them."""
    for individual, evaluation in zip(individuals, oracle.many([tuple(i) for i in individuals]), strict=True):
        individual.fitness.values = (evaluation.penalised,)
    return individuals


def individual_class() -> Any:
    """Make DEAP's class of our individuals: a tuple with a fitness to be minimised; made once per process."""
    from deap import base, creator

    if not hasattr(creator, INDIVIDUAL):
        creator.create(FITNESS, base.Fitness, weights=(-1.0,))
        creator.create(INDIVIDUAL, tuple, fitness=getattr(creator, FITNESS))
    return getattr(creator, INDIVIDUAL)


class _Draws(threading.local):
    """In place of the module `random` in DEAP: the generator of the run in this thread, where there is one."""

    generator: random.Random | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(random if self.generator is None else self.generator, name)


_draws = _Draws()


@contextmanager
def own_draws(seed: int) -> Iterator[None]:
    """Let DEAP draw from a generator of this thread for the length of a block.

    It knows only Python's global one, from which other threads may draw at any moment: a Dask worker does, and the same
    seed would not give the same answer.
    """
    from deap import algorithms
    from deap.tools import selection

    algorithms.random = selection.random = _draws
    before, _draws.generator = _draws.generator, random.Random(seed)
    try:
        yield
    finally:
        _draws.generator = before
