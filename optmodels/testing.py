"""Checks that any problem and any kind must pass, for us and for third parties.

::

    from optmodels.testing import check_kind, check_problem

    def test_my_problem_keeps_the_house_rules():
        check_problem(MyProblem(...))

    def test_my_kind_keeps_what_its_record_says():
        check_kind("my-kind")
"""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics import (
    Batch,
    Bounded,
    Decision,
    Describing,
    Evaluation,
    Incremental,
    Problem,
    Repairable,
    Result,
    Status,
    UnsupportedProblem,
    agree,
    refusal,
)
from heuristics.testing import check_space as check_space
from heuristics.testing import check_walk

from .errors import BrokenPlugin, RequestError
from .instance import check_best_known, problem_of, read
from .mip import check_solver as check_solver
from .protocols import Measured, Simulable, Stored, cost_of, has_objective, kind_of, limits_of
from .registry import kinds, lacks, make_strategy, strategies
from .results import plain, result_to_data
from .solving import solve

if TYPE_CHECKING:
    from .kinds import Kind

#: Spaces up to this size are enumerated and their optimum compared with that of the integer program.
ENUMERABLE = 4096

#: Evaluations of a recommended strategy that need not prove anything, and replications of a simulation.
FEW_EVALUATIONS, FEW_REPLICATIONS = 2_000, 5


def check_kind(
    kind: Kind | str, *, options: Mapping[str, Any] | None = None, decisions: int = 20, seconds: float = 20.0
) -> None:
    """Assert that a kind keeps what its record says.

    Everything that the record refers to is loaded and tried on the example: the file is read, its problem passes
    `check_problem`, the recommended strategies take it and the first of them proves its answer, the simulation agrees
    with the evaluator, the picture is drawn with and without an answer, the generator makes instances, `choice` names
    strategies with their reasons, `words` tells every answer in lines of text, `beginning` is read, and the command
    line takes the commands. All rules are tried, and every one that is broken is told.

    Parameters
    ----------
    kind
        A kind that has a name here (`optmodels.registry.kinds`), by its record or its name.
    options
        For the generator, where instances by its defaults are large.
    decisions
        Random decisions that are looked at, see `check_problem`.
    seconds
        For each recommended strategy, and for the simulation.

    Raises
    ------
    AssertionError
        With one line for each rule that is broken.
    UnknownName
        If nothing has this name.

    Examples
    --------
    >>> from optmodels import Kind, check_kind, registry
    >>> meaning = {"heads": "number of coins that show heads"}
    >>> coins = Kind("coins", "Which coins are turned.", "nobody's", "collections:Counter", meaning)
    >>> registry.kinds.register("coins", coins)
    >>> check_kind("coins")
    Traceback (most recent call last):
    AssertionError: kind 'coins': the question does not end in a question mark.
    kind 'coins': its class Counter has no kind, from_data, to_data, measure_names, name, space, evaluate.
    kind 'coins': there is no example; name the smallest instance.
    >>> registry.kinds.unregister("coins")
    """
    record = kinds[kind if isinstance(kind, str) else kind.name]
    trial = _Trial(record, dict(options or {}), decisions, seconds)
    broken: dict[str, None] = {}  # in order, and each once
    for rule in _RULES:
        try:
            for sentence in rule(trial):
                broken[f"kind {record.name!r}: {sentence}"] = None
        except (AssertionError, RequestError, UnsupportedProblem) as failure:
            broken[f"kind {record.name!r}: {failure}"] = None
            if rule is _example_faults:
                break  # nothing else can be tried
    assert not broken, "\n".join(broken)


@dataclass(frozen=True)
class _Trial:
    """A kind that is tried, and what its example gives."""

    kind: Kind
    options: dict[str, Any]
    decisions: int
    seconds: float
    answers: dict[str, Result] = field(default_factory=dict)

    @cached_property
    def problem(self) -> Problem:
        """The problem of the example."""
        file = self.kind.example_file()
        assert file is not None, "there is no example; name the smallest instance."
        content = read(file)
        assert content.kind == self.kind.name, f"the example is of kind {content.kind!r}."
        problem = problem_of(content, file)
        check_best_known(content, problem)
        return problem


def _record_faults(trial: _Trial) -> Iterator[str]:
    """What can be seen without an instance."""
    kind = trial.kind
    target = kind.part("problem")
    if not kind.question.endswith("?"):
        yield "the question does not end in a question mark."
    asked = ("kind", "from_data", "to_data", "measure_names", "name", "space", "evaluate")
    if lacking := lacks(target, asked):
        yield f"its class {target.__name__} has no {', '.join(lacking)}."
        return
    if target.kind != kind.name:
        yield f"problems call their kind {target.kind!r}."
    if list(target.measure_names) != list(kind.measures):
        yield f"its measures are {', '.join(kind.measures)}, those of problems {', '.join(target.measure_names)}."
    if kind.simulated != hasattr(target, "experiment"):
        yield f"simulated is {kind.simulated}, and problems have {'no' if kind.simulated else 'a'} method experiment."
    for part in ("generator", "picture", "fit", "visits", "beside", "on_cluster", "choice", "portfolio", "words"):
        kinds.part(kind.name, part)


def _example_faults(trial: _Trial) -> Iterator[str]:
    check_problem(trial.problem, decisions=trial.decisions)
    yield from ()


def _strategy_faults(trial: _Trial) -> Iterator[str]:
    """What the recommended strategies make of the example."""
    for position, name in enumerate(trial.kind.recommended):
        if name not in strategies:
            yield f"the recommended {name!r} is no strategy that has a name here."
        elif sentence := refusal(trial.problem, make_strategy(name)):
            yield f"the recommended {name!r} does not take the example: {sentence}"
        else:
            few = FEW_EVALUATIONS if position else None
            answer = solve(trial.problem, name, seconds=trial.seconds, evaluations=few, seed=1)
            if answer.decision is None:
                yield f"the recommended {name!r} finds no decision of the example: {answer}."
            elif not position and answer.status is not Status.OPTIMAL:
                yield f"{name!r}, recommended first, does not prove its answer to the example: {answer}."
            trial.answers[name] = answer


def _simulation_faults(trial: _Trial) -> Iterator[str]:
    """Whether the simulation confirms the evaluator, on what strategies found or, without any, on a random decision."""
    if not isinstance(trial.problem, Simulable):
        return
    from .studies import simulate

    found = [answer.decision for answer in trial.answers.values() if answer.decision is not None]
    decision = found[0] if found else trial.problem.space.sample(np.random.default_rng(1))
    try:
        seen = simulate(trial.problem, decision, replications=FEW_REPLICATIONS, seconds=trial.seconds, seed=1)
    except BrokenPlugin:
        raise
    except RequestError:  # not every instance of a kind can be tried out
        return
    if seen.replications < 2:
        yield f"the simulation of the example makes no two replications in {trial.seconds:g} seconds."
    elif seen.agree is False:
        yield f"the simulation of the example does not agree with the evaluator:\n{seen.table()}"


def _generator_faults(trial: _Trial) -> Iterator[str]:
    """Whether the same options make the same instance, another seed another one."""
    if trial.kind.generator is None:
        return
    from .generating import generate

    name = trial.kind.name
    first, again, other = (generate(name, **trial.options, seed=seed) for seed in (1, 1, 2))
    if first.kind != name:
        yield f"the generator makes instances of kind {first.kind!r}."
    if first != again:
        yield "the generator makes two instances by the same options and seed."
    if first.data == other.data:
        yield "the generator makes the same data by another seed."


def _picture_faults(trial: _Trial) -> Iterator[str]:
    """Whether the example can be drawn, and every answer to it."""
    if trial.kind.picture is None:
        return
    from matplotlib.figure import Figure

    from .plotting import plot_problem

    for answer in (None, *map(result_to_data, trial.answers.values())):
        if not isinstance(figure := plot_problem(trial.problem, answer), Figure):
            yield f"the picture is no figure of matplotlib but {type(figure).__name__}."
            return


def _choice_faults(trial: _Trial) -> Iterator[str]:
    """Whether `auto` is offered strategies that have a name here, each with a clause that says why."""
    find = kinds.part(trial.kind.name, "choice")
    if find is None or not has_objective(trial.problem):
        return
    with kinds.blame(trial.kind.name, "choice"):
        pairs = list(find(trial.problem))
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2 or not all(_is_line(text) for text in pair):
            yield f"choice yields {pair!r}, where a strategy and the reason for it are asked, two texts."
        elif pair[1].endswith("."):
            yield f"the reason that choice gives for {pair[0]!r} ends in a full stop; it is a clause after a colon."
        else:
            make_strategy(pair[0])


def _portfolio_faults(trial: _Trial) -> Iterator[str]:
    """Whether `best-of` is offered strategies that have a name here."""
    find = kinds.part(trial.kind.name, "portfolio")
    if find is not None and has_objective(trial.problem):
        with kinds.blame(trial.kind.name, "portfolio"):
            names = list(find(trial.problem))
        for name in names:
            make_strategy(name)
    yield from ()


def _words_faults(trial: _Trial) -> Iterator[str]:
    """Whether every answer to the example is told in lines of text."""
    tell = kinds.part(trial.kind.name, "words")
    for name, answer in trial.answers.items() if tell is not None else ():
        with kinds.blame(trial.kind.name, "words"):
            lines = list(tell(trial.problem, result_to_data(answer)))
        if wrong := [line for line in lines if not _is_line(line)]:
            yield f"words tells the answer of {name!r} by {wrong[0]!r}, which is no line of text."
            return


def _beginning_faults(trial: _Trial) -> Iterator[str]:
    """Whether the instance that ``optmodels new`` begins with is there, and is one of the kind."""
    path, file = trial.kind.beginning, trial.kind.beginning_file()
    if path is not None and file is None:
        yield f"there is no file {path!r}, with which `optmodels new` is to begin."
    elif path is not None and file is not None:
        content = read(file)
        if content.kind != trial.kind.name:
            yield f"the beginning is of kind {content.kind!r}."
        else:
            problem_of(content, file)


def _command_faults(trial: _Trial) -> Iterator[str]:
    """Whether the command line takes the commands."""
    from .cli import command_of

    for name in trial.kind.commands:
        if not command_of(trial.kind.name, name).help:
            yield f"command {name!r} has no docstring, and so no help."


_RULES: tuple[Callable[[_Trial], Iterator[str]], ...] = (
    _record_faults,
    _example_faults,
    _strategy_faults,
    _simulation_faults,
    _generator_faults,
    _picture_faults,
    _choice_faults,
    _portfolio_faults,
    _words_faults,
    _beginning_faults,
    _command_faults,
)


def check_problem(problem: Problem, *, decisions: int = 20, steps: int = 200, seed: int = 0) -> None:
    """Assert that a problem keeps the rules of the house.

    It is pure (the same answer twice, nothing changed by asking, the same after pickling), survives the way to a file
    and back, its space is consistent, its evaluations are finite and its measures are those it announces. Where it
    offers more, a walk, a batch, a repair, a bound, an integer program, these agree with its evaluator.

    Parameters
    ----------
    problem
        Of any kind.
    decisions
        Random decisions that are looked at.
    steps
        Length of the random walk.
    seed
        Of the random decisions.

    Raises
    ------
    AssertionError
        With a sentence on the first rule that is broken.

    Examples
    --------
    >>> from optmodels import check_problem, load
    >>> check_problem(load("instances/placement/gautam-2x3.json"), decisions=3, steps=5)
    """
    is_problem = isinstance(problem, Problem) and not isinstance(problem, type)
    assert is_problem, f"{problem!r} needs a name, a space and a method 'evaluate'."
    assert isinstance(problem.name, str) and problem.name, f"a problem's name is a text, got {problem.name!r}."
    before = _shown(problem)
    rng = np.random.default_rng(seed)
    check_space(problem.space, rng, decisions)
    sample = [problem.space.check(problem.space.sample(rng)) for _ in range(decisions)]
    _check_evaluations(problem, sample)
    _check_purity(problem, sample, before)
    _check_file(problem, sample)
    if isinstance(problem, Describing):
        _check_description(problem, sample)
    if isinstance(problem, Batch):
        _check_batch(problem, sample)
    if isinstance(problem, Incremental):
        check_walk(problem, sample[0], rng, steps)
    if isinstance(problem, Repairable):
        for decision in sample:
            repaired = problem.repair(decision, rng)
            assert repaired in problem.space, f"repair({decision}) gives {repaired}, which is not in the space."
    if has_objective(problem):
        _check_bound(problem, sample)
        _check_program(problem)


# -- one rule each ----------------------------------------------------------------------------------------------------


def _check_evaluations(problem: Problem, sample: list[Decision]) -> None:
    names = problem.measure_names if isinstance(problem, Measured) else None
    for decision in sample:
        evaluation = problem.evaluate(decision)
        assert isinstance(evaluation, Evaluation), f"evaluate returns {type(evaluation).__name__}, not an Evaluation."
        if has_objective(problem):
            assert math.isfinite(evaluation.objective), f"the objective of {decision} is {evaluation.objective}."
        for name, amount in evaluation.violations.items():
            assert math.isfinite(amount) and amount >= 0, f"violation {name!r} of {decision} is {amount}."
        for name, value in evaluation.measures.items():
            assert value is None or math.isfinite(value), (
                f"measure {name!r} of {decision} is {value}; None is for undefined."
            )
        if names is not None:
            found = tuple(evaluation.measures)
            assert set(found) == set(names), f"measures of {decision} are {found}, announced are {tuple(names)}."
        if not evaluation.feasible:
            higher = evaluation.penalised > evaluation.objective or math.isnan(evaluation.objective)
            assert higher, f"{decision} breaks constraints at no penalty."


def _check_purity(problem: Problem, sample: list[Decision], before: str) -> None:
    answers = [problem.evaluate(decision) for decision in sample]
    for decision, answer in zip(reversed(sample), reversed(answers), strict=True):
        _assert_equal(problem.evaluate(decision), answer, f"{decision} evaluated twice gives two answers")
    assert _shown(problem) == before, "asking about decisions changes the problem."
    travelled = pickle.loads(pickle.dumps(problem))
    for decision, answer in zip(sample, answers, strict=True):
        _assert_equal(travelled.evaluate(decision), answer, f"{decision} is evaluated otherwise after pickling")
        back = pickle.loads(pickle.dumps(answer))
        _assert_equal(back, answer, f"the evaluation of {decision} does not survive pickling")


def _check_file(problem: Problem, sample: list[Decision]) -> None:
    if not isinstance(problem, Stored):
        kind = kind_of(problem)
        assert kind is None, f"kind {kind!r} needs to_data and from_data to live in files."
        return
    data = problem.to_data()
    written = json.loads(json.dumps(data, allow_nan=False))
    assert written == data, "to_data gives something that JSON changes (tuples, whole numbers as keys, numpy scalars)."
    name = f"{problem.name}, read back"
    again = type(problem).from_data(written, name=name, cost=cost_of(problem), limits=limits_of(problem))
    assert again.name == name, f"from_data forgets the name: {again.name!r}."
    assert again.to_data() == data, "reading and writing again gives other data."
    for decision in sample:
        _assert_equal(
            again.evaluate(decision), problem.evaluate(decision), f"{decision} is evaluated otherwise after a file"
        )


def _check_description(problem: Describing, sample: list[Decision]) -> None:
    names: set[str] | None = None
    for decision in sample:
        described = problem.describe(decision)
        json.dumps(plain(described), allow_nan=False)
        assert names is None or set(described) == names, f"describe({decision}) tells other things than for others."
        names = set(described)
        clash = names & set(problem.evaluate(decision).measures)
        assert not clash, f"describe and the measures share the names {sorted(clash)}."
        first, second = (json.dumps(plain(one), sort_keys=True) for one in (described, problem.describe(decision)))
        assert first == second, f"describe({decision}) gives two answers."


def _check_batch(problem: Batch, sample: list[Decision]) -> None:
    answers = list(problem.evaluate_many(sample))
    assert len(answers) == len(sample), f"evaluate_many answers {len(answers)} of {len(sample)} decisions."
    for decision, answer in zip(sample, answers, strict=True):
        _assert_equal(answer, problem.evaluate(decision), f"evaluate_many and evaluate differ on {decision}")


def _check_bound(problem: Problem, sample: list[Decision]) -> None:
    if not isinstance(problem, Bounded):
        return
    bound = problem.lower_bound()
    assert not math.isnan(bound), "the lower bound is not a number."
    for decision in sample:
        judged = problem.evaluate(decision)
        below = judged.feasible and judged.objective < bound - 1e-9 * abs(bound)
        assert not below, f"{decision} has the objective {judged.objective}, below the bound {bound}."


def _check_program(problem: Problem) -> None:
    """Compare enumeration and the integer program where both can be had."""
    from heuristics import run
    from heuristics.search import Exhaustive

    from .mip import AlgebraicProblem, Highs

    if not isinstance(problem, AlgebraicProblem) or problem.space.size > ENUMERABLE or refusal(problem, Highs()):
        return
    listed, solved = run(problem, Exhaustive()), run(problem, Highs())
    proved = (Status.OPTIMAL, Status.INFEASIBLE)
    assert solved.status in proved, f"the integer program of {problem.name} is not solved: {solved}."
    assert solved.status == listed.status, f"enumeration says {listed.status}, the integer program {solved.status}."
    if listed.objective is not None and solved.objective is not None:
        same = agree(listed.objective, solved.objective)
        assert same, f"the optimum is {listed.objective} by enumeration, {solved.objective} by the integer program."


# -- inside -----------------------------------------------------------------------------------------------------------


def _assert_equal(first: Evaluation, second: Evaluation, sentence: str) -> None:
    both = ((first.violations, second.violations), (first.measures, second.measures))
    same = _close(first.objective, second.objective) and all(_all_close(*pair) for pair in both)
    assert same, f"{sentence}: {_told(first)} and {_told(second)}."


def _all_close(first: Any, second: Any) -> bool:
    return set(first) == set(second) and all(_close(first[name], second[name]) for name in first)


def _close(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return first is second
    return math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(first) and math.isnan(second))


def _told(evaluation: Evaluation) -> str:
    parts = {"violations": dict(evaluation.violations), "measures": dict(evaluation.measures)}
    return f"objective {evaluation.objective}, {parts}"


def _shown(problem: Any) -> str:
    """What can be seen of a problem from outside; without a file form, its fields."""
    if isinstance(problem, Stored):
        return json.dumps(plain(problem.to_data()), sort_keys=True)
    fields = getattr(problem, "__dataclass_fields__", None)
    return repr({name: getattr(problem, name) for name in fields}) if fields else str(problem.name)


def _is_line(text: Any) -> bool:
    return isinstance(text, str) and bool(text.strip()) and text.isprintable()
