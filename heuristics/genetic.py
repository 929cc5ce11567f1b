"""A genetic algorithm on any discrete space, with DEAP."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from .evaluation import Decision
from .oracle import Oracle
from .protocols import Problem, Repairable
from .result import Result
from .searching import refuses_continuum, require_fields, starting_points

#: DEAP keeps the classes it makes in one place for the whole process; nobody else will take these names.
FITNESS, INDIVIDUAL = "HeuristicsGeneticFitness", "HeuristicsGeneticIndividual"

#: Generations in a row without a single new decision after which the population is taken to have settled.
SETTLED = 20

#: Share of the first population that may come from the suggestions of the problem; the rest is random.
SUGGESTED = 0.2

#: Suggestions judged at a time: there may be many, and the budget small.
SOME = 20


@dataclass(frozen=True)
class Genetic:
    """Let a population of decisions compete, mix and mutate.

    Parents are chosen by tournament, mixed by the crossover of the space and mutated by steps to neighbours; the best
    individuals live on. Fitness is the penalised objective. A problem that can repair decisions (`Repairable`) gets
    every new individual to repair, and the repaired one takes its place in the population.

    DEAP draws from Python's global generator of random numbers. Here it gets one of its own, seeded from the run's, so
    that the same seed gives the same answer whatever other threads draw, and nobody else notices.

    Parameters
    ----------
    population
        Number of individuals.
    generations
        Rounds of selection, unless the budget ends first or 20 of them in a row bring nothing new.
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
    """

    population: int = 100
    generations: int = 1000
    crossover: float = 0.9
    mutation: float = 0.5
    tournament: int = 3
    elite: int = 2
    repair: bool = True

    name: ClassVar[str] = "genetic"
    needs: ClassVar[type] = Problem
    deterministic: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_fields(
            self,
            population=(self.population >= 2, "2 or more"),
            generations=(self.generations >= 0, "0 or more"),
            crossover=(0 <= self.crossover <= 1, "a probability"),
            mutation=(0 <= self.mutation <= 1, "a probability"),
            tournament=(self.tournament >= 1, "1 or more"),
            elite=(0 <= self.elite < self.population, "0 or more, and less than the population"),
        )

    def refuses(self, problem: Problem) -> str | None:
        """Refuse a continuum."""
        return refuses_continuum(self.name, problem)

    def prepare(self, problem: Problem) -> None:
        """Import DEAP."""
        individual_class()

    def solve(self, oracle: Oracle[Problem], rng: np.random.Generator) -> Result:
        """Evolve until the generations or the budget are over."""
        with own_draws(int(rng.integers(2**63))):
            settled = self._evolve(oracle, rng)
        return oracle.result(stopped_by="settled" if settled else "complete")

    def _evolve(self, oracle: Oracle[Problem], rng: np.random.Generator) -> bool:
        """Go through the generations; return whether the population settled before the last."""
        from deap import algorithms, tools

        toolbox = self._toolbox(oracle.problem, rng)
        population = self._first_population(oracle, rng, toolbox)
        idle = 0
        for generation in range(1, self.generations + 1):
            chosen = tools.selTournament(population, self.population - self.elite, self.tournament)
            children = algorithms.varAnd(chosen, toolbox, self.crossover, self.mutation)
            for i, child in enumerate(children):
                if not child.fitness.valid:
                    oracle.require()  # repairing may take longer than judging
                    children[i] = toolbox.finish(child)
            before = oracle.evaluations
            judge(oracle, [child for child in children if not child.fitness.valid])
            population = tools.selBest(population, self.elite) + children
            oracle.extra["generations"] = generation
            idle = 0 if oracle.evaluations > before else idle + 1
            if idle == SETTLED:
                return True
        return False

    def _first_population(self, oracle: Oracle[Problem], rng: np.random.Generator, toolbox: Any) -> list[Any]:
        """What the problem suggests, as far as it goes, and random decisions."""
        problem, new = oracle.problem, individual_class()
        suggested = max(1, int(SUGGESTED * self.population))
        population: list[Any] = []
        points = islice(starting_points(problem, rng), suggested)
        while some := [new(decision) for decision in islice(points, SOME)]:
            judge(oracle, some)  # before anything is repaired: small budgets should see the suggestions
            population += some
        while len(population) < self.population:
            child = toolbox.finish(new(problem.space.sample(rng)))
            judge(oracle, [child])
            population.append(child)
        return population

    def _toolbox(self, problem: Problem, rng: np.random.Generator) -> Any:
        """The operators of the space in DEAP's clothes; individuals are tuples, so nothing needs to be copied."""
        from deap import base

        space, new = problem.space, individual_class()
        mends = problem if self.repair and isinstance(problem, Repairable) else None

        def mate(first: Decision, second: Decision) -> tuple[Any, Any]:
            one, other = space.crossover(tuple(first), tuple(second), rng)
            return new(one), new(other)

        def mutate(individual: Decision) -> tuple[Any]:
            decision = space.neighbour(tuple(individual), rng)
            while rng.random() < 0.5:
                decision = space.neighbour(decision, rng)
            return (new(decision),)

        def finish(individual: Decision) -> Any:
            return individual if mends is None else new(mends.repair(tuple(individual), rng))

        toolbox = base.Toolbox()
        toolbox.register("clone", lambda individual: individual)
        toolbox.register("mate", mate)
        toolbox.register("mutate", mutate)
        toolbox.register("finish", finish)
        return toolbox


def judge(oracle: Oracle[Problem], individuals: list[Any]) -> None:
    """Ask the oracle about individuals and note their fitness."""
    for individual, evaluation in zip(individuals, oracle.many([tuple(i) for i in individuals]), strict=True):
        individual.fitness.values = (evaluation.penalised,)


def individual_class() -> Any:
    """DEAP's class of our individuals: a tuple with a fitness to be minimised; made once per process."""
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
    """A block in which DEAP draws from a generator of this thread.

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
