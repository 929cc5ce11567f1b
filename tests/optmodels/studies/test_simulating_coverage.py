"""Verdicts of `simulate` hold as often as they say: over many seeds, where all is right and where something is not."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.stats import binom

import optmodels as om
from heuristics import Evaluation
from heuristics.spaces import BinaryVectors
from optmodels.instance import load
from optmodels.studies import simulate
from queueing.simulation.intervals import student_quantile

#: File, decision or the strategy that finds it, units of time of a replication: short ones, for the sake of many.
CASES = {
    "threshold": ("threshold/avrachenkov-k5.json", (-1, 2, 2), 1000.0),
    "threshold, two phases": ("threshold/avrachenkov-fig4-3.json", (-1, 1, 1), 1000.0),
    "threshold, shorter than its warm-up": ("threshold/avrachenkov-k20.json", (-1, 3, 3), 20.0),
    "robots": ("robots/talim-table1-0.05-k5-1.4.json", "policy-iteration", 5000.0),
    "fleet": ("robots/fleet-all-small.json", "policy-iteration", 5000.0),
    "freshness": ("freshness/lognormal-100-general.json", "whittle", 10_000.0),
    "freshness, three robots": ("freshness/robots-3.json", "whittle", 4000.0),
    "routing": ("routing/loss-5.json", "min-mean-cycle", 10_000.0),
    "routing, slow phases": ("routing/mmpp-slow.json", "local-search", 10_000.0),
}
REPLICATIONS = 20

SPACE = BinaryVectors(1)


def case(name: str, instances) -> tuple[Any, Any, float]:
    file, decision, time = CASES[name]
    problem = load(instances / file)
    if isinstance(decision, str):
        decision = om.solve(problem, decision, budget=om.Budget(evaluations=2000)).decision
    return problem, decision, time


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", CASES)
def test_two_hundred_seeds_of_every_kind_deviate_as_often_as_they_say(name, instances):
    problem, decision, time = case(name, instances)
    found = [simulate(problem, decision, time=time, replications=REPLICATIONS, seed=seed) for seed in range(200)]
    assert all(one.agree is not None for one in found)
    # One in a thousand: four in two hundred would happen once in 17 000 times.
    assert sum(one.agree is False for one in found) <= 3
    limit = student_quantile(0.975, REPLICATIONS - 1)
    measures = {line.name for one in found for line in one.lines if line.deviation}
    assert measures
    for measure in measures:
        deviations = [line.deviation for one in found for line in one.lines if line.name == measure]
        judged = np.array([value for value in deviations if value is not None])
        beyond = int((np.abs(judged) > limit).sum())
        least, most = binom.ppf([1e-5, 1 - 1e-5], len(judged), 0.05)
        assert least <= beyond <= most, measure
        assert abs(judged.mean()) < 5 / np.sqrt(len(judged)), measure


@pytest.mark.parametrize("name", ["threshold", "fleet", "freshness", "routing"])
def test_a_few_seeds_agree(name, instances):
    problem, decision, time = case(name, instances)
    assert all(simulate(problem, decision, time=time / 4, replications=10, seed=seed).agree for seed in range(3))


@pytest.mark.parametrize("seed", range(2))
def test_many_short_replications_have_forgotten_the_beginning(seed, instances):
    """Seven events each, from an empty queue: 67 standard errors, were they all that is looked at."""
    found = simulate(instances / "threshold" / "avrachenkov-k5.json", (-1, 2, 2), time=2.0, replications=300, seed=seed)
    assert found.agree
    assert found.time == 2.0


@pytest.mark.parametrize("seed", range(3))
def test_a_planted_mistake_is_seen(seed, instances, monkeypatch):
    """Of a queue is said what holds for one whose service is three percent slower."""
    problem = load(instances / "threshold" / "avrachenkov-k5.json")
    slower = replace(problem, service=problem.queue.service.scaled(0.97))
    wrong = slower.evaluate((-1, 2, 2))
    monkeypatch.setattr(type(problem), "evaluate", lambda self, decision: wrong)
    assert simulate(problem, (-1, 2, 2), time=4000.0, seed=seed).agree is False


# -- what happens rarely, and in bursts -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Seen:
    """Losses of one replication, among a thousand pages."""

    observation: np.ndarray
    events: int = 1000


@dataclass(frozen=True)
class BurstExperiment:
    """Losses that come in bursts of ten, about."""

    bursts: float

    def usual_time(self, events, seed):
        return 1.0

    def replications(self, time, seed):
        rng = np.random.default_rng(seed)
        while True:
            yield None
            bursts = rng.poisson(self.bursts)
            yield Seen(np.array([float(rng.geometric(0.1, bursts).sum()), 1000.0]))

    def measures(self, means):
        return {"loss": float(means[0] / means[1])}

    def occurrences(self, means):
        return {"loss": (float(means[0]), float(means[1]))}

    def describe(self, done):
        return {}


@dataclass(frozen=True)
class Bursts:
    """A problem with one decision, and a loss that is known."""

    bursts: float = 2.0
    told: float = 1.0
    name: str = "bursts"
    space: Any = SPACE

    kind: ClassVar[str] = "bursts"
    has_objective: ClassVar[bool] = False
    measure_names: ClassVar[tuple[str, ...]] = ("loss",)

    def evaluate(self, decision):
        return Evaluation(float("nan"), measures={"loss": self.told * self.bursts / 100})

    def experiment(self, decision):
        return BurstExperiment(self.bursts)


class PricedBursts(Bursts):
    """A hundred for each loss."""

    has_objective: ClassVar[bool] = True
    linear_cost: ClassVar[bool] = True

    def judge(self, measures):
        return Evaluation(100.0 * measures["loss"], measures=measures)


@pytest.mark.parametrize("seed", range(4))
def test_a_price_is_judged_as_what_it_is_the_price_of(seed):
    loss, objective = simulate(PricedBursts(), (1,), seed=seed).lines
    assert objective.deviation == pytest.approx(loss.deviation)
    if loss.estimate.value < loss.exact:  # fewer than expected: their error is that of the number expected
        assert abs(loss.deviation) < abs(loss.estimate.deviation(loss.exact))


@pytest.mark.slow
@pytest.mark.parametrize(("bursts", "replications"), [(2.0, 30), (5.0, 30), (2.0, 10), (2.0, 5)])
def test_bursts_that_happen_to_be_few_are_no_disagreement(bursts, replications):
    """The fewer there are by chance, the smaller their error seems: that was called a mistake once in 200 times."""
    found = [simulate(Bursts(bursts), (1,), replications=replications, seed=seed).agree for seed in range(4000)]
    assert found.count(False) <= binom.ppf(1 - 1e-3, 4000, 1e-3)


def test_losses_that_are_told_too_low_or_too_high_are_seen():
    for told in (0.3, 3.0):
        assert simulate(Bursts(5.0, told), (1,), replications=100).agree is False


def test_equal_numbers_by_chance_have_an_error():
    """Two replications with as many losses each, and others expected: no difference between them is no certainty."""
    alike = next(seed for seed in range(300) if len(set(_losses(seed))) == 1)
    assert simulate(Bursts(), (1,), replications=2, seed=alike).agree is not False


def _losses(seed: int) -> list[float]:
    runs = [one for _, one in zip(range(4), BurstExperiment(2.0).replications(1.0, seed), strict=False) if one]
    return [one.observation[0] for one in runs]
