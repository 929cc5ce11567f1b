"""The integer program of the best cycles against all cycles there are."""

import dataclasses
import math

import cycle_problems
import numpy as np
import pytest

import optmodels as om
from optmodels import exponential
from optmodels.freshness import FreshnessProblem
from optmodels.freshness.cycles.mip import build
from optmodels.freshness.cycles.reduction import reduced
from optmodels.mip import compile_model


def cycles(rates, weights, cycle, **asked):
    return FreshnessProblem(change_rates=rates, weights=weights, access_time=1.0, cycle=cycle, **asked)


def proves(problem):
    """Whether the program proves what all cycles say, from a start and without one."""
    best = cycle_problems.best_cycle(problem)
    for strategy in ("highs", "highs:start=False"):
        found = om.solve(dataclasses.replace(problem), strategy)
        if best is None:
            assert found.status.value == "infeasible"
            continue
        assert found.status.value == "optimal"
        assert found.objective == pytest.approx(best, rel=1e-6)
        assert found.bound <= found.objective
        assert not isinstance(found.extra["solver"].get("start"), str)  # refused: a sentence
    return best


@pytest.mark.parametrize("seed", range(100, 114))
def test_no_cycle_is_better(seed):
    problem = cycle_problems.random_cycles(seed)
    if problem is None or problem.algebraic_refusal() or problem.space.size > 1000:
        pytest.skip("refused, or too many cycles to be listed")
    proves(problem)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(114, 400))
def test_no_cycle_is_better_300(seed):
    test_no_cycle_is_better(seed)


@pytest.mark.parametrize(
    ("rates", "weights", "cycle", "asked"),
    [
        ([24.78, 6.1e-6], [127.9, 0.0134], 6, {"robots": 2}),
        ([0.0, 5.5e-6, 2.1], [6.3e-4, 5.2e-5, 2.2], 2, {"robots": 2}),
        # Entries of the second page are so small beside its weight that solvers drop them.
        (
            [4.9944583206215636e-05, 1.7888994204910843e-09],
            [2.9792006025089455, 1.2728378323147496e-11],
            5,
            {"robots": 2},
        ),
    ],
)
def test_light_pages_beside_heavy_ones_are_no_noise(rates, weights, cycle, asked):
    problem = FreshnessProblem(change_rates=rates, weights=weights, access_time=exponential(2.0), cycle=cycle, **asked)
    assert proves(problem) is not None


def test_equal_pages_robots_and_hosts_at_once():
    same = [0.3] * 4
    assert proves(cycles(same, same, 4, robots=2)) is not None
    assert proves(cycles(same, same, 3, robots=2, hosts=[0, 1, 2, 3], host_gap=2)) is not None
    assert proves(cycles(same, same, 3, hosts=[0, 0, 1, 1], host_gap=2)) is not None  # one slot is idle
    assert proves(cycles(same, same, 2, hosts=[0, 1, 2, 2], host_gap=3)) is not None  # all slots are


def test_limits_that_the_model_has():
    rates, weights = [0.1, 0.5, 2.0], [1.0, 0.2, 3.0]
    free = proves(cycles(rates, weights, 4))
    held = proves(cycles(rates, weights, 4, limits={"largest_gap": {"max": 2.0}}))
    all_visited = proves(cycles(rates, weights, 4, limits={"pages_never_visited": 0.0}))
    assert free <= all_visited
    assert free < held
    assert proves(cycles(rates, weights, 2, limits={"pages_never_visited": 0.0})) is None


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (
            {"cost": {"name": "weighted-sum", "weights": {"largest_gap": 1.0}}},
            "can price obsolescence alone; annealing",
        ),
        ({"limits": {"obsolescence": 0.5}}, "can limit largest_gap, pages_never_visited, not obsolescence; annealing"),
        ({"limits": {"largest_gap": {"min": 2.0}}}, "can limit largest_gap from above only; annealing"),
        ({"cycle": 1000}, "2 pages x 1000 slots x 1000 gaps = 2000000 variables.*annealing takes any size"),
    ],
)
def test_what_the_model_cannot_say_is_told_with_what_can(asked, told, monkeypatch):
    monkeypatch.setattr("optmodels.freshness.cycles.mip.MOST_GAPS", 1_999_999)
    with pytest.raises(om.UnsupportedProblem, match=told):
        om.solve(cycles([0.1, 0.2], [1.0, 1.0], **{"cycle": 4, **asked}), "highs")


def test_nothing_is_left_out_that_a_cycle_as_good_has():
    for seed in range(60):
        problem = cycle_problems.random_cycles(seed, ruled=bool(seed % 2), other=False)
        if problem is None or problem.space.size > 2000 or problem.infeasibility():
            continue
        judged = [(problem.evaluate(one), one) for one in problem.space]
        costs = sorted(found.objective for found, _ in judged if found.feasible)
        for known in costs[:1] + costs[len(costs) // 2 :][:1]:
            left = reduced(problem.counts, known)
            for found, decision in judged:
                if not found.feasible or found.objective > known:
                    continue
                for page in range(problem.columns.count):
                    visits = [
                        (slot, robot)
                        for robot, cycle in enumerate(decision.cycles)
                        for slot, one in enumerate(cycle)
                        if one == page
                    ]
                    slots = [slot for slot, _ in visits]
                    assert left.fewest[page] <= len(slots) <= left.most[page]
                    for slot, after in zip(slots, slots[1:] + slots[:1], strict=True):
                        assert left.gaps[page, (after - slot - 1) % problem.cycle]


def test_the_relaxation_is_worth_the_bound_of_whole_visits():
    rng = np.random.default_rng(3)
    problem = cycles(0.05 * rng.lognormal(size=6), rng.lognormal(size=6), 13)
    program = compile_model(build(problem)).program
    from scipy.optimize import linprog
    from scipy.sparse import csc_array

    matrix = csc_array((program.values, program.rows, program.starts), shape=program.shape)
    upper, lower = np.isfinite(program.row_upper), np.isfinite(program.row_lower)
    from scipy.sparse import vstack

    relaxed = linprog(
        program.cost,
        A_ub=vstack([matrix.tocsr()[upper], -matrix.tocsr()[lower]]),
        b_ub=np.concatenate([program.row_upper[upper], -program.row_lower[lower]]),
        bounds=np.stack([program.column_lower, program.column_upper], axis=1),
    )
    value = relaxed.fun + program.offset
    assert value >= problem.counts.bound * (1 - 1e-7)
    assert value > problem.schedule_bound
    assert math.isfinite(problem.least_known)
