"""Strategy `linear-program`: the optimum without limits, a bound and a good policy with them, on a wide box."""

import json
import math

import numpy as np
import pytest

from heuristics import Status, UnsupportedProblem, interrupting
from optmodels import solve
from optmodels.costs import Limits, WeightedSum
from optmodels.robots import RobotFleetProblem, RobotsProblem
from optmodels.robots.areas import RobotAreasProblem
from optmodels.robots.linear_program.program import solve_program
from optmodels.robots.pricing import control_of
from queueing.robots.fleet import RobotFleet, event_moves, mixed_measures
from queueing.robots.fleet.mixed import mixed_chain
from queueing.robots.fleet.stationary import closed_classes, reachable

AVERAGES = ("starvation", "loss_rate", "active_robots", "mean_length", "response_time")


def drawn(rng: np.random.Generator, robots=None, capacity=None, limits=None) -> RobotsProblem:
    """1 to 12 robots, 2 to 8 pages, rates over four decades, prices over four."""
    weights = {"starvation": 10 ** rng.uniform(-2, 2)}
    for name, share in (("mean_length", 0.4), ("active_robots", 0.3), ("loss_rate", 0.3)):
        if rng.random() < share:
            weights[name] = 10 ** rng.uniform(-3, 1)
    robots, capacity = robots or int(rng.integers(1, 13)), capacity or int(rng.integers(2, 9))
    return RobotsProblem(
        name="drawn",
        robots=robots,
        capacity=capacity,
        arrival_rate=10 ** rng.uniform(-3, 1),
        service_rate=1.0,
        cost=WeightedSum(weights),
    )


def limits_of(problem, rng: np.random.Generator) -> Limits:
    """One or two limits among what some policies achieve, the best one included."""
    decisions = [problem.space.sample(rng) for _ in range(8)]
    if not isinstance(problem, RobotAreasProblem):
        decisions.append(solve(problem, "policy-iteration").decision)
    measures = [problem.evaluate(decision).measures for decision in decisions]
    found = {}
    for name in rng.choice(AVERAGES, size=int(rng.integers(1, 3)), replace=False).tolist():
        values = [one[name] for one in measures if one[name] is not None]
        side = "max" if rng.random() < 0.8 else "min"
        found[name] = {side: float(np.quantile(values or [1.0], rng.uniform(0.1, 0.8)))}
    return Limits.from_data(found)


def limited(rng: np.random.Generator, robots=None, capacity=None) -> RobotsProblem:
    free = drawn(rng, robots, capacity)
    return RobotsProblem(
        name="limited",
        robots=free.robots,
        capacity=free.capacity,
        arrival_rate=free.arrival_rate,
        service_rate=1.0,
        cost=free.cost,
        limits=limits_of(free, rng),
    )


def keeps(problem, measures, slack=1e-7) -> bool:
    return problem.limits.excess(measures) <= slack


# -- without limits ----------------------------------------------------------------------------------------------------


def _equals_policy_iteration(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(count):
        asked = drawn(rng)
        answer, best = solve(asked, "linear-program"), solve(asked, "policy-iteration")
        assert answer.objective == pytest.approx(best.objective, rel=1e-9), (asked.to_data(), asked.cost)
        assert answer.status == best.status, (asked.to_data(), asked.cost)
        assert answer.extra["program"]["status"] == "optimal", (asked.to_data(), asked.cost)


def test_without_limits_the_program_ends_where_policy_iteration_does():
    _equals_policy_iteration(1, 40)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_without_limits_the_program_ends_where_policy_iteration_does_1500_times():
    _equals_policy_iteration(2, 1500)


@pytest.mark.parametrize(
    ("robots", "capacity", "rate", "weights"),
    [
        (5, 7, 0.02442, {"starvation": 0.1119}),  # 16.8 % above the optimum when actions were read off the multipliers
        (1, 8, 0.004112372377360166, {"starvation": 0.03933616854555225, "mean_length": 0.00910780126051821}),
    ],
)
@pytest.mark.parametrize("method", ["simplex", "interior-point"])
def test_slow_robots_are_controlled_best(robots, capacity, rate, weights, method):
    asked = RobotsProblem(
        name="slow", robots=robots, capacity=capacity, arrival_rate=rate, service_rate=1.0, cost=WeightedSum(weights)
    )
    answer = solve(asked, f"linear-program:method={method}")
    assert answer.status == Status.OPTIMAL
    assert answer.objective == pytest.approx(solve(asked, "policy-iteration").objective, rel=1e-12)


@pytest.mark.parametrize("scale", [1e-200, 1e-12, 1e49])
def test_prices_may_be_of_any_size(scale):
    for limits in ({}, {"active_robots": {"max": 1.2}}):
        found = [
            solve(
                RobotsProblem(
                    robots=2,
                    capacity=3,
                    arrival_rate=0.4,
                    service_rate=1.0,
                    cost={"starvation": 0.1 * unit, "loss_rate": unit},
                    limits=limits,
                ),
                "linear-program",
            )
            for unit in (1.0, scale)
        ]
        assert found[0].status == found[1].status
        assert found[1].objective == pytest.approx(scale * found[0].objective, rel=1e-9)
        assert found[1].bound == pytest.approx(scale * found[0].bound, rel=1e-9)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("limits", [{}, {"active_robots": {"max": 1.5}}])
def test_rates_too_far_apart_for_the_solver_are_told_in_a_sentence(limits):
    asked = RobotsProblem(
        name="far",
        robots=3,
        capacity=3,
        arrival_rate=1e93,
        service_rate=1.0,
        cost=WeightedSum({"starvation": 1.0}),
        limits=Limits.from_data(limits),
    )
    answer = solve(asked, "linear-program")
    assert answer.extra["program"]["status"] == "unsolved"
    assert "numbers in it lie too far apart" in answer.extra["program"]["note"]
    assert answer.status == Status.FEASIBLE and answer.objective < 1e-200


def test_fleets_are_solved_to_the_optimum_too():
    data = {"robots": 6, "capacity": 4, "arrival_rate": 0.3, "service_rate": 1.0, "switching": "any"}
    asked = RobotFleetProblem.from_data(data, cost=WeightedSum({"starvation": 1.2}))
    answer, best = solve(asked, "linear-program"), solve(asked, "policy-iteration")
    assert answer.status == best.status == Status.OPTIMAL
    assert answer.objective == pytest.approx(best.objective, rel=1e-12)
    assert answer.extra["program"]["objective"] == pytest.approx(best.objective, rel=1e-8)


# -- limits ------------------------------------------------------------------------------------------------------------


def _as_good_as_enumeration(asked) -> None:
    """Compared whatever the status: the decision, the bound, and what is claimed."""
    listed, answer = solve(asked, "exhaustive"), solve(asked, "linear-program")
    told = json.dumps([asked.to_data(), dict(asked.prices), asked.limits.to_data()])
    if listed.status == Status.INFEASIBLE:
        assert answer.status in (Status.INFEASIBLE, Status.UNKNOWN), told
        return
    assert answer.status in (Status.OPTIMAL, Status.FEASIBLE), told
    assert answer.objective <= listed.objective * (1 + 1e-9), told
    assert answer.bound <= listed.objective * (1 + 1e-12), told
    if answer.status == Status.OPTIMAL:
        assert answer.objective == pytest.approx(listed.objective, rel=2e-9), told
    told_of_chance(asked, answer)


def told_of_chance(asked, answer) -> None:
    """The randomised policy keeps the limits, costs what the bound says and no more than any other."""
    randomised = answer.extra.get("randomised")
    if randomised is None:
        return
    assert randomised["keeps_limits"] and keeps(asked, randomised["measures"])
    assert randomised["objective"] == pytest.approx(asked.cost(randomised["measures"]), rel=1e-12)
    assert randomised["objective"] <= answer.objective * (1 + 1e-7)
    if answer.status == Status.FEASIBLE:  # else the bound is that of policies without chance, all of them judged
        assert answer.bound * (1 - 1e-12) <= randomised["objective"]
    assert all(price >= 0 for price in answer.extra["prices_of_limits"].values())
    for part in randomised.get("classes", [randomised]):
        again, _ = mixed_measures(control_of(asked).fleet, chances_of(part["policy"]))
        assert again.scalars() == pytest.approx(part["measures"], rel=1e-9)


def chances_of(policy) -> np.ndarray:
    table = np.array(policy)
    return table if table.ndim == 2 else np.stack([1.0 - table, table])


SIZES = [(1, 2), (1, 5), (2, 3), (2, 4), (3, 2), (4, 2), (3, 3)]


@pytest.mark.parametrize("size", SIZES[:-1])
def test_limits_are_kept_as_well_as_by_the_best_of_all_policies(size):
    rng = np.random.default_rng(sum(size))
    for _ in range(2):
        _as_good_as_enumeration(limited(rng, *size))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("size", SIZES)
def test_limits_are_kept_as_well_as_by_the_best_of_all_policies_many_times(size):
    rng = np.random.default_rng(100 + sum(size))
    for _ in range(60):
        _as_good_as_enumeration(limited(rng, *size))


def _no_worse_than_static(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(count):
        asked = limited(rng)
        fixed, answer = solve(asked, "static"), solve(asked, "linear-program")
        told = json.dumps([asked.to_data(), dict(asked.prices), asked.limits.to_data()])
        if fixed.objective is not None:
            assert answer.objective is not None and answer.objective <= fixed.objective * (1 + 1e-12), told
        if answer.objective is not None:
            assert answer.bound <= answer.objective * (1 + 1e-12), told
            told_of_chance(asked, answer)


def test_limits_are_never_kept_at_a_higher_cost_than_by_a_fixed_number():
    _no_worse_than_static(3, 5)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_limits_are_never_kept_at_a_higher_cost_than_by_a_fixed_number_400_times():
    _no_worse_than_static(4, 400)


def test_several_classes_are_told_as_a_mixture():
    asked = RobotsProblem(
        name="mixture",
        robots=2,
        capacity=4,
        arrival_rate=0.3,
        service_rate=1.0,
        cost=WeightedSum({"starvation": 5.5}),
        limits=Limits.from_data({"active_robots": 1.66}),
    )
    answer = solve(asked, "linear-program")
    mixture = answer.extra["randomised"]
    assert mixture["kind"] == "mixture" and "policy" not in mixture and "time 0" in mixture["drawn"]
    assert len(mixture["classes"]) == 2
    chances = [part["probability"] for part in mixture["classes"]]
    assert math.fsum(chances) == pytest.approx(1.0, rel=1e-12)
    assert mixture["measures"]["active_robots"] == pytest.approx(1.66, rel=1e-9)
    parts = math.fsum(part["probability"] * part["objective"] for part in mixture["classes"])
    assert parts == pytest.approx(mixture["objective"], rel=1e-12) == pytest.approx(2.761, rel=1e-9)
    # Neither class alone is the answer: one breaks the limit, the other costs more.
    active = [part["measures"]["active_robots"] for part in mixture["classes"]]
    assert min(active) < 1.66 < max(active)
    told_of_chance(asked, answer)
    assert answer.objective == pytest.approx(solve(asked, "exhaustive").objective, rel=1e-12)


@pytest.mark.parametrize(
    ("robots", "capacity", "rate", "weights", "limits"),
    [
        (
            *(7, 8, 0.026064820121994427),
            {
                "starvation": 2.828990809510933,
                "loss_rate": 0.23037,
                "mean_length": 0.0097564,
                "active_robots": 0.568744,
            },
            {"response_time": {"min": 1.0743628059416248}},
        ),
        (
            *(5, 6, 0.0011925127057552548),
            {"starvation": 0.06899883753160124, "active_robots": 0.009866967086793672},
            {"active_robots": {"min": 1.9980074410855844}},
        ),
    ],
)
def test_where_tolerances_are_not_enough_evaluated_policies_are_mixed(robots, capacity, rate, weights, limits):
    """Slow robots hardly ever leave some states: what was made of the program's solution broke the limit by 1e-4."""
    asked = RobotsProblem(
        name="slow",
        robots=robots,
        capacity=capacity,
        arrival_rate=rate,
        service_rate=1.0,
        cost=WeightedSum(weights),
        limits=Limits.from_data(limits),
    )
    answer = solve(asked, "linear-program:search=0")
    told_of_chance(asked, answer)
    assert answer.extra["randomised"]["objective"] == pytest.approx(answer.bound, rel=1e-6)


def test_prices_of_limits_tell_what_a_unit_more_would_save():
    def least(most: float):
        limits = Limits.from_data({"loss_rate": {"max": most}})
        return solve(
            RobotsProblem(
                name="priced",
                robots=6,
                capacity=5,
                arrival_rate=0.2,
                service_rate=1.0,
                cost=WeightedSum({"starvation": 1.0}),
                limits=limits,
            ),
            "linear-program",
        )

    answer, step = least(0.01), 1e-6
    price = answer.extra["prices_of_limits"]["loss_rate above 0.01"]
    change = least(0.01 - step).extra["program"]["objective"] - answer.extra["program"]["objective"]
    assert price > 1
    assert change / step == pytest.approx(price, rel=1e-3)


# -- limits on fleets and areas ----------------------------------------------------------------------------------------

FLEETS = {
    "any": {"robots": 2, "capacity": 3, "arrival_rate": 0.7, "switching": "any"},
    "classes": {"classes": [{"robots": 1, "arrival_rate": 0.7}, {"robots": 1, "arrival_rate": 0.1}], "capacity": 2},
    "environment": {
        "robots": 1,
        "capacity": 2,
        "arrival_rate": 0.7,
        "environment": {"generator": [[-0.3, 0.3], [0.2, -0.2]], "factors": [1.0, 0.0]},
    },
    "journeys": {
        "robots": 1,
        "capacity": 3,
        "travel_time": {"initial": [0.5, 0.5], "generator": [[-1.0, 0.4], [0, -0.3]]},
    },
}


def fleet_problem(data, limits=None, starvation=1.4) -> RobotFleetProblem:
    return RobotFleetProblem.from_data(
        {"service_rate": 1.0} | data, cost=WeightedSum({"starvation": starvation}), limits=limits
    )


def _fleets_as_good_as_enumeration(sort: str, seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(count):
        starvation = 10 ** rng.uniform(-1, 1)
        free = fleet_problem(FLEETS[sort], starvation=starvation)
        _as_good_as_enumeration(fleet_problem(FLEETS[sort], limits_of(free, rng), starvation))


@pytest.mark.parametrize("sort", FLEETS)
def test_limits_on_fleets_are_kept_as_well_as_by_the_best_of_all_policies(sort):
    _fleets_as_good_as_enumeration(sort, 5, 1)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("sort", FLEETS)
def test_limits_on_fleets_are_kept_as_well_as_by_the_best_of_all_policies_many_times(sort):
    _fleets_as_good_as_enumeration(sort, 6, 25)


@pytest.mark.parametrize("sort", FLEETS)
def test_everything_can_be_reached_again_from_everywhere(sort):
    """So that every solution of the program is the long run of some policy, and no further variables are needed."""
    fleet: RobotFleet = fleet_problem(FLEETS[sort]).fleet
    moves = event_moves(fleet)
    anything = moves.allowed / moves.allowed.sum(axis=0)
    if moves.again:
        anything[1, ~moves.allowed[0]] = 1.0
    chain, decisions = mixed_chain(moves, anything)
    starts = np.asarray(decisions[[0], :].indices, dtype=np.int64)
    states = np.flatnonzero(reachable(chain, starts))
    assert [len(states)] == [len(one) for one in closed_classes(chain, states)]


def areas_problem(rng: np.random.Generator, control: str) -> RobotAreasProblem:
    areas = [
        {
            "capacity": int(rng.integers(2, 8)),
            "arrival_rate": 10 ** rng.uniform(-2, 0),
            "service_rate": 10 ** rng.uniform(-0.5, 0.5),
            "importance": rng.uniform(0.5, 2),
        }
        for _ in range(int(rng.integers(1, 4)))
    ]
    data = {"robots": int(rng.integers(1, 12)), "areas": areas, "control": control}
    cost = WeightedSum({"starvation": 10 ** rng.uniform(-1, 1)})
    free = RobotAreasProblem.from_data(data, cost=cost)
    return RobotAreasProblem.from_data(data, cost=cost, limits=limits_of(free, rng))


@pytest.mark.parametrize("control", ["dynamic", "static"])
def test_limits_on_areas_are_kept_as_well_as_by_the_best_of_all_splits(control):
    rng = np.random.default_rng(7)
    for _ in range(6):
        _as_good_as_enumeration(areas_problem(rng, control))


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("control", ["dynamic", "static"])
def test_limits_on_areas_are_kept_as_well_as_by_the_best_of_all_splits_many_times(control):
    rng = np.random.default_rng(8)
    for _ in range(80):
        _as_good_as_enumeration(areas_problem(rng, control))


def test_areas_without_limits_are_split_best_and_may_be_limited_by_robots_out():
    data = {"robots": 9, "areas": [{"capacity": 4, "arrival_rate": 0.4, "service_rate": 1.0}] * 2}
    cost = WeightedSum({"starvation": 1.4})
    free = RobotAreasProblem.from_data(data, cost=cost)
    answer = solve(free, "linear-program")
    assert answer.status == Status.OPTIMAL
    assert answer.objective == pytest.approx(solve(free, "marginal-analysis").objective, rel=1e-12)
    few = RobotAreasProblem.from_data(data, cost=cost, limits=Limits.from_data({"most_robots": 4}))
    assert solve(few, "linear-program").objective == pytest.approx(solve(few, "exhaustive").objective, rel=1e-12)
    never = RobotAreasProblem.from_data(data, cost=cost, limits=Limits.from_data({"starvation": 1e-9}))
    assert solve(never, "linear-program").extra["reason"] == "every split has starvation above 1e-09."


# -- refusals and ends -------------------------------------------------------------------------------------------------


def test_large_programs_are_refused_by_size_in_one_sentence():
    areas = {"robots": 60, "areas": [{"capacity": 4, "arrival_rate": 0.4, "service_rate": 1.0}] * 2}
    for asked, size in (
        (
            RobotsProblem(
                name="p",
                robots=20,
                capacity=9,
                arrival_rate=0.1,
                service_rate=1.0,
                cost=WeightedSum({"starvation": 1.0}),
            ),
            "210 states",
        ),
        (fleet_problem({"robots": 20, "capacity": 9, "arrival_rate": 0.1, "switching": "any"}), "210 states"),
        (RobotAreasProblem.from_data(areas, cost=WeightedSum({"starvation": 1.0})), "122 numbers of robots in areas"),
    ):
        with pytest.raises(UnsupportedProblem, match=f"it has {size}, and at most 100 are taken"):
            solve(asked, "linear-program:largest=100")


def test_the_solver_lets_go_when_it_is_told_to():
    asked = RobotsProblem(
        name="long", robots=60, capacity=20, arrival_rate=0.02, service_rate=1.0, cost=WeightedSum({"starvation": 1.0})
    )
    control, calls = control_of(asked), []

    def ended() -> None:
        calls.append(None)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), interrupting.within(ended):
        solve_program(control.moves, 1.0, control.cost)
    assert len(calls) >= 1


@pytest.mark.parametrize("limits", [{}, {"loss_rate": {"max": 0.01}}])
def test_a_clock_that_has_run_out_leaves_no_error(limits):
    cost, limit = WeightedSum({"starvation": 1.0}), Limits.from_data(limits)
    answer = solve(
        RobotsProblem(name="late", robots=12, capacity=8, arrival_rate=0.1, service_rate=1.0, cost=cost, limits=limit),
        "linear-program",
        seconds=1e-6,
    )
    assert answer.stopped_by == "seconds"
