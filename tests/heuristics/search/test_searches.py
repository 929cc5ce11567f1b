"""What genetic search, annealing and local search have in common, and what each promises."""

from __future__ import annotations

import pickle
import random
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from heuristics import (
    BinaryVectors,
    Budget,
    BudgetSpent,
    Decision,
    Evaluation,
    Followed,
    Oracle,
    Problem,
    Status,
    Strategy,
    UnsupportedProblem,
    run,
)
from heuristics.search import Annealing, EvaluatedWalk, Genetic, LocalSearch
from heuristics.search.annealing import temperatures
from heuristics.search.genetic import INDIVIDUAL, own_draws
from heuristics.search.local_search import swap_pairs
from heuristics.testing import (
    Box,
    Continuous,
    Hopeless,
    Knapsack,
    Ladder,
    MendedKnapsack,
    Necklace,
    Ring,
    RingWalk,
    Separable,
    Wide,
    enumerated,
    toy_problems,
)

SEARCHES: list[Strategy] = [
    Genetic(population=20, generations=60),
    Annealing(steps=5_000, start_temperature=4.0),
    LocalSearch(restarts=60),
    LocalSearch(restarts=60, improvement="best"),
]
SOLVABLE = [p for p in toy_problems() if p.space.size <= 1000 and p.name != "hopeless"]


def label(item: Any) -> str:
    return f"{item.name}-{item.improvement}" if isinstance(item, LocalSearch) else str(item.name)


@pytest.mark.parametrize("problem", SOLVABLE, ids=label)
@pytest.mark.parametrize("strategy", SEARCHES, ids=label)
def test_every_search_finds_the_optimum_of_every_small_problem_and_claims_nothing(
    strategy: Strategy, problem: Problem
) -> None:
    result = run(problem, strategy, seed=1)
    assert result.objective == pytest.approx(enumerated(problem).optimum)
    assert result.status == Status.FEASIBLE and result.bound is None and result.checked


@pytest.mark.parametrize("strategy", SEARCHES, ids=label)
def test_a_hopeless_problem_stays_unknown(strategy: Strategy) -> None:
    result = run(Hopeless(), strategy)
    assert result.status == Status.UNKNOWN and result.decision is None


@pytest.mark.parametrize("strategy", SEARCHES, ids=label)
def test_a_continuum_is_refused_in_one_sentence(strategy: Strategy) -> None:
    with pytest.raises(UnsupportedProblem) as refused:
        run(Continuous(), strategy)
    assert str(refused.value) == (
        f"strategy {strategy.name!r} needs discrete decisions, and those of 'continuous' are continuous."
    )


@pytest.mark.parametrize("evaluations", [1, 2, 3, 7, 50])
@pytest.mark.parametrize("problem", [Knapsack(), MendedKnapsack(), Ring(), Wide()], ids=label)
@pytest.mark.parametrize(
    "strategy", [Genetic(), Annealing(), LocalSearch(), LocalSearch(improvement="best")], ids=label
)
def test_the_budget_of_evaluations_is_kept(strategy: Strategy, problem: Problem, evaluations: int) -> None:
    result = run(problem, strategy, Budget(evaluations=evaluations))
    assert 1 <= result.evaluations <= evaluations


@pytest.mark.parametrize(
    "strategy", [Genetic(), Annealing(), LocalSearch(), LocalSearch(improvement="best")], ids=label
)
@pytest.mark.parametrize("problem", [Wide(), Ring(), Necklace()], ids=label)
def test_the_same_seed_gives_the_same_answer_step_by_step(strategy: Strategy, problem: Problem) -> None:
    first, second = (run(problem, strategy, Budget(evaluations=300), seed=4) for _ in range(2))
    steps = [[(p.evaluations, p.objective) for p in result.trace] for result in (first, second)]
    assert first.decision == second.decision and steps[0] == steps[1]
    assert first.extra == second.extra


@pytest.mark.parametrize("strategy", [Genetic(), Annealing(), LocalSearch()], ids=label)
def test_different_seeds_search_differently(strategy: Strategy) -> None:
    traces = {
        tuple(p.objective for p in run(Wide(), strategy, Budget(evaluations=200), seed=s).trace) for s in range(4)
    }
    assert len(traces) > 1


@dataclass(frozen=True)
class Suggested(Wide):
    """Knows a good start."""

    def suggestions(self, rng: np.random.Generator) -> Iterator[Decision]:
        yield (0, *self.target[1:])
        while True:
            yield (1,) * len(self.target)


@pytest.mark.parametrize(
    "strategy", [Genetic(), Annealing(), LocalSearch(), LocalSearch(improvement="best")], ids=label
)
def test_searches_start_where_the_problem_suggests(strategy: Strategy) -> None:
    assert run(Suggested(), strategy, Budget(evaluations=1)).objective == 2.0


@pytest.mark.parametrize(
    "strategy", [Genetic(), Annealing(), LocalSearch(), LocalSearch(improvement="best")], ids=label
)
def test_strategies_and_results_travel_between_processes(strategy: Strategy) -> None:
    assert pickle.loads(pickle.dumps(strategy)) == strategy
    result = run(Ring(), strategy, Budget(evaluations=40))
    assert pickle.loads(pickle.dumps(result)) == result


@pytest.mark.parametrize("strategy", [Annealing(), LocalSearch(), Genetic()], ids=label)
def test_a_time_limit_is_kept_however_slow_the_steps_are(strategy: Strategy, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    @dataclass(frozen=True)
    class Slow(Wide):
        def evaluate(self, decision: Decision) -> Evaluation:
            now[0] += 0.01
            return super().evaluate(decision)

        def start(self, decision: Decision) -> EvaluatedWalk:
            return EvaluatedWalk(self, decision)

        def repair(self, decision: Decision, rng: np.random.Generator) -> Decision:
            now[0] += 0.01
            return decision

    result = run(Slow(), strategy, Budget(seconds=5.0))
    assert result.stopped_by == "seconds"
    assert 5.0 <= result.seconds <= 5.2


# -- genetic -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("failure", [None, BudgetSpent("evaluations"), KeyboardInterrupt(), ZeroDivisionError()])
def test_the_global_generator_is_put_back_whatever_happens(failure: BaseException | None) -> None:
    @dataclass(frozen=True)
    class Failing(Separable):
        asked: list[int] = field(default_factory=list)

        def evaluate(self, decision: Decision) -> Evaluation:
            self.asked.append(1)
            if failure is not None and len(self.asked) == 40:
                raise failure
            return super().evaluate(decision)

    random.seed(11)
    state = random.getstate()
    try:
        run(Failing(), Genetic(population=10, generations=30))
    except ZeroDivisionError:
        assert isinstance(failure, ZeroDivisionError)
    assert random.getstate() == state


def test_the_answer_does_not_depend_on_the_global_generator() -> None:
    answers = []
    for seed in (1, 2):
        random.seed(seed)
        answers.append(run(Wide(), Genetic(), Budget(evaluations=500), seed=0).decision)
    assert answers[0] == answers[1]


def test_deap_has_a_generator_of_its_own_inside_and_the_global_one_outside() -> None:
    from deap import algorithms
    from deap.tools import selection

    state = random.getstate()
    with own_draws(5):
        inside = algorithms.random.random(), selection.random.random()
    expected = random.Random(5)
    assert inside == (expected.random(), expected.random())
    assert random.getstate() == state
    random.seed(3)
    assert algorithms.random.random() == random.Random(3).random()


def test_the_answer_does_not_depend_on_what_other_threads_draw() -> None:
    def answer() -> Decision | None:
        return run(Wide(), Genetic(), Budget(evaluations=500), seed=0).decision

    alone, over = answer(), threading.Event()

    def disturb() -> None:
        while not over.is_set():
            random.random()
            run(Wide(), Genetic(), Budget(evaluations=50), seed=1)

    other = threading.Thread(target=disturb)
    other.start()
    try:
        assert answer() == alone
    finally:
        over.set()
        other.join()


def test_deap_gets_its_classes_once(recwarn: pytest.WarningsRecorder) -> None:
    from deap import creator

    for _ in range(2):
        run(Separable(), Genetic(population=4, generations=2))
    assert hasattr(creator, INDIVIDUAL)
    assert not [w for w in recwarn if "creat" in str(w.message)]


def test_repair_makes_every_individual_feasible_and_can_be_switched_off() -> None:
    seen: list[bool] = []

    @dataclass(frozen=True)
    class Tight(MendedKnapsack):
        capacity: int = 6

        def evaluate(self, decision: Decision) -> Evaluation:
            evaluation = super().evaluate(decision)
            seen.append(evaluation.feasible)
            return evaluation

    run(Tight(), Genetic(population=10, generations=5))
    without_suggestions = seen[2:]  # the first fifth is judged as it was drawn
    assert all(without_suggestions)
    seen.clear()
    run(Tight(), Genetic(population=10, generations=5, repair=False))
    assert not all(seen)


def test_a_population_that_has_settled_ends_the_run() -> None:
    result = run(Separable((1, 0, 1)), Genetic(population=30, generations=100_000))
    assert result.stopped_by == "settled" and result.evaluations == 8


class Asked(Oracle[Any]):
    """An oracle that writes down what it is asked."""

    def __init__(self, problem: Problem, budget: Budget | None = None) -> None:
        super().__init__(problem, budget)
        self.asked: list[Decision] = []

    def _recall(self, decision: Decision) -> tuple[Decision, Evaluation | None]:
        self.asked.append(decision)
        return super()._recall(decision)


@pytest.mark.parametrize("problem", [MendedKnapsack(), Necklace(), Box(), Ladder(), Wide(), Ring()], ids=label)
def test_no_decision_is_judged_twice(problem: Problem) -> None:
    oracle = Asked(problem)
    Genetic(population=20, generations=40, polish=0).solve(oracle, np.random.default_rng(2))
    repeats = len(oracle.asked) - len(set(oracle.asked))
    assert repeats <= 4  # suggestions are judged as they come: here random ones, a fifth of the population
    assert len(oracle.asked) > min(0.3 * problem.space.size, 500)


def test_polished_children_are_new_too() -> None:
    oracle = Asked(Ring(tuple(1.0 + (7 * i) % 5 for i in range(20))))
    Genetic(population=20, generations=10, polish=2).solve(oracle, np.random.default_rng(2))
    walked_from = [first for first, second in pairwise(oracle.asked) if first == second]  # judged, then walked
    asked = len(oracle.asked) - len(walked_from)
    assert asked > 200
    assert len(set(oracle.asked)) >= asked - 4


def test_polishing_steps_are_paid_for_and_can_be_switched_off() -> None:
    plain, polished = (run(Ring(), Genetic(population=5, generations=0, polish=polish)) for polish in (0, 10))
    assert plain.evaluations == 5
    assert polished.evaluations >= 4 * 9 * 10
    assert polished.objective is not None and plain.objective is not None and polished.objective <= plain.objective


def test_steps_that_cost_as_much_as_judging_are_not_spent_on_polishing() -> None:
    @dataclass(frozen=True)
    class Slow(Wide):
        def start(self, decision: Decision) -> EvaluatedWalk:
            return EvaluatedWalk(self, decision)

    assert run(Slow(), Genetic(population=7, generations=0)).evaluations == 7


@dataclass(frozen=True)
class Trap(Wide):
    """Every decision is as good as any other: nothing ever gets better."""

    drawn: list[Decision] = field(default_factory=list)

    def evaluate(self, decision: Decision) -> Evaluation:
        self.drawn.append(decision)
        return Evaluation(1.0)


def test_a_population_that_no_longer_gets_better_is_renewed() -> None:
    problem = Trap()
    result = run(problem, Genetic(population=10, generations=20, patience=5))
    assert result.extra["restarts"] == 3  # the best of all was there from the first generation on
    renewed = run(Trap(), Genetic(population=10, generations=20, patience=100))
    assert renewed.extra["restarts"] == 0
    assert result.evaluations == 10 + 20 * 8 + 3 * 8 and renewed.evaluations == 10 + 20 * 8


def test_a_population_whose_children_are_all_known_is_renewed() -> None:
    result = run(Ladder(), Genetic(population=10, generations=60, patience=1000))
    assert result.extra["restarts"] > 0 and result.extra["repeats"] > 0


def test_a_population_too_large_for_memory_is_refused_in_one_sentence() -> None:
    long = Separable((0, 1) * 300_000, name="long")
    with pytest.raises(UnsupportedProblem) as refused:
        run(long, Genetic())
    assert str(refused.value) == (
        "strategy 'genetic' keeps a population of 50 decisions, and those of 'long' have 600000 entries each, more "
        "than 20000000 numbers together; 'genetic:population=33' would do."
    )
    assert Genetic(population=33).refuses(long) is None
    assert "other strategies" in (Genetic().refuses(Separable((0,) * 12_000_000)) or "")


def test_generations_may_be_none_at_all() -> None:
    result = run(Wide(), Genetic(population=7, generations=0))
    assert result.evaluations == 7 and result.stopped_by == "complete"


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"population": 1}, "population must be 2 or more, got 1."),
        ({"generations": -1}, "generations must be 0 or more, got -1."),
        ({"crossover": 1.5}, "crossover must be a probability, got 1.5."),
        ({"mutation": -0.1}, "mutation must be a probability, got -0.1."),
        ({"tournament": 0}, "tournament must be 1 or more, got 0."),
        ({"population": 5, "elite": 5}, "elite must be 0 or more, and less than the population, got 5."),
    ],
)
def test_impossible_parameters_of_genetic_search_are_refused(parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError) as refused:
        Genetic(**parameters)
    assert str(refused.value) == sentence


# -- annealing ---------------------------------------------------------------------------------------------------------


def test_given_temperatures_are_used_and_missing_ones_found() -> None:
    result = run(Ring(), Annealing(steps=500, start_temperature=3.0, end_temperature=0.5))
    assert (result.extra["start_temperature"], result.extra["end_temperature"]) == (3.0, 0.5)
    for problem in (Ring(), Separable()):
        extra = run(problem, Annealing(steps=500)).extra
        assert 0 < extra["end_temperature"] <= extra["start_temperature"]


def test_temperatures_follow_the_uphill_moves() -> None:
    start, end = temperatures(np.array([1.0, 1.0, 2.0, 4.0, 8.0, -50.0, np.inf]), None, None)
    assert start == pytest.approx(1.0 / np.log(100)) and end == pytest.approx(1.0 / np.log(1e6))
    assert temperatures(np.array([-2.0]), None, None)[0] == pytest.approx(2.0 / np.log(100))
    assert temperatures(np.empty(0), 5.0, None)[1] <= 5.0
    assert temperatures(np.array([1e-9]), None, 2.0) == (2.0, 2.0)


def test_tolerances_fall_over_a_cooling_and_every_move_is_offered() -> None:
    offered: list[float] = []

    class Listening(RingWalk):
        def follow(self, moves: Any, tolerances: Any, below: float) -> Followed:
            offered.extend(tolerances.tolist())
            return super().follow(moves, tolerances, below)

    @dataclass(frozen=True)
    class Heard(Ring):
        def start(self, decision: Decision) -> RingWalk:
            honest = super().start(decision)
            return Listening(self, honest.bits, honest.price, honest.bare)

    strategy = Annealing(steps=10_000, start_temperature=8.0, end_temperature=0.01)
    oracle = Oracle(Heard())
    strategy.solve(oracle, np.random.default_rng(0))
    cooling = np.array(offered[-10_000:])
    assert np.median(cooling[:1000]) > 100 * np.median(cooling[-1000:])
    # The median of an exponential number with mean T is T ln 2; half way T is the geometric mean of the two ends.
    assert np.median(cooling[4500:5500]) == pytest.approx(np.sqrt(8.0 * 0.01) * np.log(2), rel=0.15)


def test_a_time_limit_cools_to_the_end_within_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    last: list[float] = []

    class Ticking(RingWalk):
        def follow(self, moves: Any, tolerances: Any, below: float) -> Followed:
            now[0] += 1e-3 * len(moves)
            last.append(float(np.mean(tolerances)))
            return super().follow(moves, tolerances, below)

    @dataclass(frozen=True)
    class Ticked(Ring):
        def start(self, decision: Decision) -> RingWalk:
            honest = super().start(decision)
            return Ticking(self, honest.bits, honest.price, honest.bare)

    result = run(Ticked(), Annealing(start_temperature=8.0, end_temperature=0.01), Budget(seconds=30.0))
    assert result.stopped_by == "seconds"
    assert np.mean(last[60:110]) > 1.0 and np.mean(last[-50:]) < 0.02


@pytest.mark.parametrize("budget", [Budget(evaluations=3000), Budget(evaluations=3000, seconds=1000.0)])
def test_coolings_share_the_budget(budget: Budget) -> None:
    result = run(Ring(), Annealing(coolings=3), budget)
    assert result.evaluations <= 3000
    assert result.extra["coolings"] >= 2


def test_the_steps_given_are_the_steps_of_a_cooling_whatever_the_budget() -> None:
    result = run(Ring(), Annealing(steps=300), Budget(evaluations=3000))
    assert result.stopped_by == "complete" and result.extra["coolings"] == 1
    assert 300 <= result.evaluations < 1000


def test_a_population_too_large_for_the_budget_does_not_hold_up_its_end() -> None:
    result = run(MendedKnapsack(), Genetic(population=400_000), Budget(seconds=0.2))
    assert result.stopped_by in ("seconds", "repeats")
    assert result.decision is not None


def test_a_stall_limit_does_not_shorten_the_cooling() -> None:
    with_stall = run(Ring(), Annealing(), Budget(stall=5_000))
    assert with_stall.stopped_by == "stall" and with_stall.evaluations > 5_000


def test_small_problems_do_not_use_up_their_time() -> None:
    result = run(Separable((1, 0)), Annealing(), Budget(seconds=1000.0))
    assert result.stopped_by in ("complete", "repeats")


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"steps": 0}, "steps"),
        ({"coolings": 0}, "coolings"),
        ({"start_temperature": 0.0}, "start_temperature"),
        ({"start_temperature": 1.0, "end_temperature": 2.0}, "end_temperature"),
        ({"end_temperature": float("nan")}, "end_temperature"),
    ],
)
def test_impossible_parameters_of_annealing_are_refused(parameters: dict[str, Any], name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be "):
        Annealing(**parameters)


# -- local search ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("improvement", ["first", "best"])
@pytest.mark.parametrize("problem", [Ring(), Knapsack(), Necklace()], ids=label)
def test_a_descent_ends_in_a_local_optimum(problem: Problem, improvement: str) -> None:
    result = LocalSearch(restarts=1, improvement=improvement).solve(Oracle(problem), np.random.default_rng(3))
    assert result.objective is not None
    around = [problem.evaluate(neighbour) for neighbour in problem.space.neighbours(result.decision)]
    assert min(neighbour.penalised for neighbour in around) >= result.objective - 1e-9
    assert result.extra["local_optima"] == 1 and result.status == Status.FEASIBLE


def test_the_best_neighbour_is_taken_where_asked() -> None:
    asked: list[Decision] = []

    @dataclass(frozen=True)
    class Recording(Separable):
        def evaluate(self, decision: Decision) -> Evaluation:
            asked.append(decision)
            return super().evaluate(decision)

        def suggestions(self, rng: np.random.Generator) -> Iterator[Decision]:
            yield tuple(1 - bit for bit in self.target)

    run(Recording(), LocalSearch(restarts=1, improvement="best"))
    start = tuple(1 - bit for bit in Separable().target)
    assert asked[0] == start and set(asked[1:8]) == set(BinaryVectors(7).neighbours(start))
    # Entry 6 weighs most, so it is put right first; of the seven neighbours there the start is known already.
    step = (*start[:6], Separable().target[6])
    assert set(asked[8:14]) == set(BinaryVectors(7).neighbours(step)) - {start}


def test_the_number_of_descents_can_be_chosen_and_has_an_end_without_a_budget() -> None:
    assert run(Ring(), LocalSearch(restarts=4)).extra["local_optima"] == 4
    assert run(Ring(), LocalSearch()).extra["local_optima"] == 10
    assert run(Separable((1, 0)), LocalSearch(), Budget(seconds=1000.0)).extra["local_optima"] == 4
    for wrong in ({"restarts": 0}, {"improvement": "some"}):
        with pytest.raises(ValueError, match="must be"):
            LocalSearch(**wrong)  # type: ignore[arg-type]


def test_ties_do_not_make_circles() -> None:
    @dataclass(frozen=True)
    class Flat(Separable):
        def evaluate(self, decision: Decision) -> Evaluation:
            return Evaluation(0.1 + 1e-13 * sum(decision))

    for improvement in ("first", "best"):
        assert run(Flat(), LocalSearch(restarts=3, improvement=improvement)).stopped_by == "complete"


@dataclass(frozen=True)
class Pairs(Separable):
    """Exactly three entries are 1, the cheapest are best, and no single flip leads from three to three."""

    prices: tuple[float, ...] = (5.0, 4.0, 3.0, 3.5, 2.0, 1.0, 4.5)
    length: int = 7

    def evaluate(self, decision: Decision) -> Evaluation:
        price = sum(p for p, bit in zip(self.prices, decision, strict=True) if bit)
        return Evaluation(price, {"count": float(abs(sum(decision) - 3))}, penalty=100.0 * abs(sum(decision) - 3))

    def suggestions(self, rng: np.random.Generator) -> Iterator[Decision]:
        yield (1, 1, 0, 0, 0, 0, 1)


class WalkedPairs(Pairs):
    def start(self, decision: Decision) -> EvaluatedWalk:
        return EvaluatedWalk(self, decision)


@pytest.mark.parametrize("improvement", ["first", "best"])
@pytest.mark.parametrize("kind", [Pairs, WalkedPairs])
def test_swaps_lead_on_where_no_single_flip_does(kind: type[Pairs], improvement: str) -> None:
    stuck = run(kind(), LocalSearch(restarts=1, improvement=improvement, swaps=0))
    assert stuck.objective == 13.5
    result = run(kind(), LocalSearch(restarts=1, improvement=improvement))
    assert result.objective == 6.0 and result.decision == (0, 0, 1, 0, 1, 1, 0)


def test_swaps_are_all_pairs_or_some_of_them() -> None:
    rng = np.random.default_rng(0)
    assert sorted(map(tuple, swap_pairs((1, 0, 0, 1), rng, 50).tolist())) == [(0, 1), (0, 2), (3, 1), (3, 2)]
    assert swap_pairs((1, 1, 1), rng, 50).shape == swap_pairs((0,), rng, 50).shape == (0, 2)
    long = tuple(rng.integers(0, 2, 200_000).tolist())
    some = swap_pairs(long, rng, 50)
    assert len(some) == 1_000_000
    assert set(np.asarray(long)[some[:, 0]]) == {1} and set(np.asarray(long)[some[:, 1]]) == {0}
    assert len(swap_pairs(long[:1000], rng, 3)) == 3000


@pytest.mark.parametrize("scale", [1e-200, 1e-10, 1e200])
@pytest.mark.parametrize("kind", [Pairs, WalkedPairs])
def test_small_and_large_objectives_are_searched_alike(kind: type[Pairs], scale: float) -> None:
    @dataclass(frozen=True)
    class Scaled(kind):  # type: ignore[misc, valid-type]
        def evaluate(self, decision: Decision) -> Evaluation:
            judged = super().evaluate(decision)
            return Evaluation(judged.objective * scale, judged.violations, penalty=(judged.penalty or 0.0) * scale)

    assert run(Scaled(), LocalSearch(restarts=1)).decision == run(kind(), LocalSearch(restarts=1)).decision


def test_a_descent_that_was_cut_short_is_told() -> None:
    result = run(Wide(), LocalSearch(), Budget(evaluations=30))
    assert result.extra["descents"] == 1 and "local_optima" not in result.extra
    assert "descents" not in run(Ring(), LocalSearch()).extra
