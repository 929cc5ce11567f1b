"""The integer program of thresholds against enumeration and against the evaluator, decision by decision."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from heuristics import UnsupportedProblem
from optmodels import Budget, InstanceError, load, solve
from optmodels.mip import AlgebraicProblem
from optmodels.mip.pyomo import compile_model
from optmodels.threshold import OptimalPolicy, ThresholdGenerator, ThresholdProblem, build
from optmodels.threshold.occupation import (
    AVERAGES,
    HARDLY_EVER,
    MOST_PAIRS,
    known_thresholds,
    narrowed,
    occupation_of,
)

TOGETHER = (("loss", "obsolescence", "success", "sojourn_time"), ("response_time",), ("obsolete_time",))


class Whole(ThresholdProblem):
    """A problem whose program has all thresholds, also those that are proved to be dear."""

    def to_pyomo(self):
        return build(self, narrow=False)


def law(rng, phases, rate):
    """A phase-type law whose phases are left at rates near this."""
    moves = rng.uniform(0, 1, (phases, phases))
    np.fill_diagonal(moves, 0.0)
    ending = rng.uniform(0.1, 1.0, phases)
    generator = moves - np.diag(moves.sum(axis=1) + ending)
    return {"initial": rng.dirichlet(np.ones(phases)).tolist(), "generator": (rate * generator).tolist()}


def arrivals(rng, phases, rate, batch):
    """Matrices of arrivals in batches of up to this many pages, some entries of which are 0."""
    blocks = [rng.uniform(0, 1, (phases, phases)) * (rng.random((phases, phases)) < 0.8) for _ in range(batch + 1)]
    blocks[0] += 0.05
    blocks[1][0, 0] += 0.2
    np.fill_diagonal(blocks[0], 0.0)
    blocks[0] -= np.diag(sum(block.sum(axis=1) for block in blocks))
    return [(rate * block).tolist() for block in blocks]


def random_problem(seed, *, decades=1.0, limits=None, as_type=ThresholdProblem):
    """Draw 1 to 3 modes, 1 to 6 pages, phases, batches, costs of both signs; limits near measures of decisions."""
    rng = np.random.default_rng(seed)
    phases, modes = int(rng.integers(1, 3)), int(rng.integers(1, 4))
    rate = 10 ** rng.uniform(-decades, decades)
    fields = {
        "capacity": int(rng.integers(1, 7)),
        "service": law(rng, int(rng.integers(1, 3)), rate),
        "patience": law(rng, 1, rate * 10 ** rng.uniform(-decades, decades)) if rng.random() < 0.7 else None,
        "modes": [
            {
                "robots": index + 1,
                "arrivals": arrivals(
                    rng, phases, rate * 10 ** rng.uniform(-decades, decades), batch=int(rng.integers(1, 4))
                ),
            }
            for index in range(modes)
        ],
        "admission": ("partial", "whole-batch", "complete")[seed % 3],
        "use_all_modes": bool(rng.random() < 0.3),
        "name": f"random-{seed}",
    }
    names = [*rng.choice(AVERAGES, size=int(rng.integers(1, 4)), replace=False)]
    if rng.random() < 0.7:
        kinds = TOGETHER if fields["patience"] is not None and fields["capacity"] > 1 else TOGETHER[:2]
        together = kinds[int(rng.integers(len(kinds)))]
        names += [*rng.choice(together, size=int(rng.integers(1, len(together) + 1)), replace=False)]
    cost = {
        "name": "weighted-sum",
        "weights": {str(one): float(rng.normal() * 10 ** rng.uniform(-1, 2)) for one in names},
    }
    problem = as_type(**fields, cost=cost)
    if rng.random() < 0.5 if limits is None else limits:
        rows = [problem.evaluate(decision).measures for decision in problem.space]
        bounds = {}
        for name in rng.choice([*AVERAGES, "loss", "sojourn_time"], size=int(rng.integers(1, 3)), replace=False):
            values = [row[name] for row in rows if row[name] is not None]
            value = values[int(rng.integers(len(values)))] * rng.choice([1.0, 1.0, 0.97, 1.05])
            bounds[str(name)] = {str(rng.choice(["max", "min"])): float(value)}
        problem = as_type(**fields, cost=cost, limits=bounds)
    return problem


def agrees_with_enumeration(problem):
    """Solve by both roads; the program may leave a gap where its noise does."""
    wanted = solve(problem, "exhaustive")
    found = solve(problem, "highs")
    if wanted.decision is None:
        assert found.status == wanted.status == "infeasible"
        return
    assert found.evaluation.objective == pytest.approx(wanted.evaluation.objective, rel=1e-9)
    assert found.bound == pytest.approx(wanted.evaluation.objective, rel=1e-5)
    assert found.bound <= found.evaluation.objective


@pytest.mark.parametrize("seed", range(12))
def test_random_thresholds_are_those_of_enumeration(seed):
    agrees_with_enumeration(random_problem(seed))


@pytest.mark.parametrize("seed", [0, 8, 12, 21, 30, 33])
def test_the_whole_program_finds_the_same(seed):
    agrees_with_enumeration(random_problem(seed, as_type=Whole))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 220))
@pytest.mark.parametrize("as_type", [ThresholdProblem, Whole])
def test_many_more_random_thresholds(seed, as_type):
    try:
        problem = random_problem(seed, decades=1.5, as_type=as_type)
    except InstanceError:
        pytest.skip("these rates are too far apart for any method")
    if problem.algebraic_refusal() is None:
        agrees_with_enumeration(problem)


@pytest.mark.parametrize("seed", range(40, 52))
def test_every_decision_is_a_point_of_the_whole_program_and_costs_there_what_it_costs(seed):
    problem = random_problem(seed)
    if problem.algebraic_refusal():
        return
    compiled = compile_model(build(problem, narrow=False))
    for decision in problem.space:
        judged = problem.evaluate(decision)
        problem.start_pyomo(compiled.model, decision)
        point = compiled.point()
        assert problem.from_pyomo(compiled.load(point)) == decision
        broken = compiled.program.broken_row(point)
        if judged.feasible:
            assert broken is None
            size = compiled.program.size(point)
            assert compiled.program.objective(point) == pytest.approx(judged.objective, rel=1e-9, abs=1e-12 * size)
        elif not problem.almost_feasible(decision):
            assert broken.startswith("within_limits")


@pytest.mark.parametrize("seed", range(60, 80))
def test_no_threshold_as_good_as_the_known_one_is_left_out(seed):
    problem = random_problem(seed)
    if problem.algebraic_refusal():
        return
    ranges, known = narrowed(problem), known_thresholds(problem)
    found = occupation_of(problem)
    for decision in problem.space:
        judged = problem.evaluate(decision)
        inside = all(
            low <= value <= high for low, value, high in zip(ranges.lower, decision, ranges.upper, strict=True)
        )
        if known is None or (judged.feasible and judged.objective <= known[1]):
            assert inside
        if inside:
            levels = problem.measures(decision).level_probabilities
            assert (np.array(levels[: len(found.most)]) <= found.most).all()
            assert sum(levels[len(found.most) :]) <= HARDLY_EVER


@pytest.mark.parametrize("priced", [False, True])
def test_the_root_of_the_whole_program_is_the_best_policy_that_sees_phases(priced):
    problem = load("instances/threshold/avrachenkov-k5.json")
    if not priced:
        problem = replace(
            problem, cost={"name": "weighted-sum", "weights": {**problem.cost.weights, "response_time": 0}}
        )
    program = compile_model(build(problem, narrow=False)).program
    matrix = np.zeros(program.shape)
    matrix[program.rows, program.columns] = program.values
    equal = program.row_lower == program.row_upper
    found = linprog(
        program.cost,
        A_ub=np.vstack([matrix[~equal], -matrix[~equal & np.isfinite(program.row_lower)]]),
        b_ub=np.concatenate(
            [program.row_upper[~equal], -program.row_lower[~equal & np.isfinite(program.row_lower)]]
        ).clip(-1e30, 1e30),
        A_eq=matrix[equal],
        b_eq=program.row_lower[equal],
        bounds=np.stack([program.column_lower, program.column_upper], axis=1),
    )
    policy = solve(problem, OptimalPolicy(thresholds=False)).evaluation.objective
    # The quotient is loose by what its denominator can vary; without one nothing is lost.
    assert found.fun <= policy * (1 + 1e-7)
    assert found.fun >= policy * (1 - (1e-2 if priced else 1e-7))


@pytest.mark.parametrize(
    ("name", "decision", "objective"),
    [
        ("avrachenkov-k5", (-1, 2, 2), 63.54254769),
        ("avrachenkov-k5-loss-15", (-1, 1, 1), 67.44383663),
        pytest.param("inria-quiet-mended", (2, 2, 2), 564.49479359, marks=pytest.mark.slow),
    ],
)
def test_published_thresholds_are_found_and_bounded(name, decision, objective):
    found = solve(load(f"instances/threshold/{name}.json"), "highs")
    assert found.decision == decision
    assert found.evaluation.objective == pytest.approx(objective, rel=1e-9)
    assert found.bound == pytest.approx(objective, rel=1e-6)


@pytest.mark.parametrize(("capacity", "response_time"), [(100, 2), (None, 0)])
def test_a_hundred_pages_and_room_for_all_are_bounded_within_a_percent(capacity, response_time):
    problem = load("instances/threshold/avrachenkov-k100.json")
    weights = {**problem.cost.weights, "response_time": response_time}
    problem = replace(problem, capacity=capacity, cost={"name": "weighted-sum", "weights": weights})
    found = solve(problem, "highs", budget=Budget(seconds=60))
    assert found.decision == (-1, 3, 3)
    assert found.bound >= 0.99 * found.evaluation.objective


def test_models_with_nothing_to_choose():
    problem = random_problem(5)
    only = replace(problem, modes=problem.modes[:1], limits=None)
    found = solve(only, "highs")
    assert found.decision == ()
    assert found.bound == pytest.approx(found.evaluation.objective, rel=1e-6)


@pytest.mark.parametrize(("seed", "decision"), [(4, (3, 3, 3)), (10, (3, 3, 6))])
def test_equations_that_presolve_spoils_are_solved_without_it(seed, decision):
    """HiGHS 1.15 ends on these linear programs, whose thresholds are all decided, with "Unknown"."""
    problem = ThresholdGenerator(modes=4, capacity=25, seed=seed).instance().problem()
    found = solve(problem, "highs")
    assert found.decision == decision
    assert found.bound == pytest.approx(found.evaluation.objective, rel=1e-6)


# -- what is refused --------------------------------------------------------------------------------------------------


def refusal(problem):
    """The sentence with which the strategy refuses a problem."""
    assert isinstance(problem, AlgebraicProblem)
    with pytest.raises(UnsupportedProblem) as refused:
        solve(problem, "highs")
    return str(refused.value)


def test_two_denominators_are_refused_by_name_and_may_be_limited():
    problem = load("instances/threshold/avrachenkov-k5.json")
    two = replace(problem, cost={"name": "weighted-sum", "weights": {"loss": 100.0, "response_time": 2.0}})
    told = refusal(two)
    assert "loss (by pages arriving) and response_time (by pages served)" in told
    one = replace(
        two, cost={"name": "weighted-sum", "weights": {"loss": 100.0}}, limits={"response_time": {"max": 1.7}}
    )
    agrees_with_enumeration(one)


def test_costs_that_are_no_sums_are_refused():
    problem = replace(load("instances/threshold/avrachenkov-k5.json"), cost=lambda measures: measures["loss"] ** 2)
    assert "linear" in refusal(problem)


def test_patience_of_several_phases_is_refused_and_one_that_reduces_is_not():
    assert "2; use exhaustive" in refusal(load("instances/threshold/avrachenkov-fig4-3.json"))
    assert load("instances/threshold/avrachenkov-k5.json").algebraic_refusal() is None


def test_more_states_than_a_solver_can_take_are_told():
    problem = replace(load("instances/threshold/avrachenkov-k100.json"), capacity=1000)
    told = refusal(problem)
    assert f"{4 * 2 * (1 + 2 * 1000)} pairs" in told
    assert str(MOST_PAIRS) in told


def test_a_denominator_that_may_vanish_is_refused():
    once = {"initial": [1.0], "generator": [[-1.0]]}
    problem = ThresholdProblem(
        capacity=3,
        service=once,
        patience=once,
        modes=[{"robots": 1, "arrivals": 1e-7}, {"robots": 2, "arrivals": 5.0}],
        cost={"name": "weighted-sum", "weights": {"obsolete_time": 1.0}},
    )
    assert "divides obsolete_time by pages obsolete" in refusal(problem)


def test_a_mode_without_arrivals_is_never_where_something_is_divided_by_pages():
    once = {"initial": [1.0], "generator": [[-1.0]]}
    problem = ThresholdProblem(
        capacity=4,
        service=once,
        patience=once,
        modes=[{"robots": 0, "arrivals": [[[0.0]], [[0.0]]]}, {"robots": 2, "arrivals": 5.0}],
        cost={"name": "weighted-sum", "weights": {"response_time": 1.0, "active_robots": -1.0}},
    )
    agrees_with_enumeration(problem)
    assert solve(problem, "highs").decision != (-1,)
