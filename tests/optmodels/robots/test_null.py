"""As many robots as ever help: found from prices soon, inside the clock, and not by who only reads a file."""

import json
from dataclasses import replace

import numpy as np
import pytest

import optmodels as om
from heuristics import BudgetSpent, interrupting
from heuristics.dynamic import PolicyIteration
from heuristics.running import refusal
from optmodels.cli import main
from optmodels.costs import WeightedSum
from optmodels.errors import RequestError
from optmodels.robots import RobotFleetProblem, RobotsProblem, Static
from optmodels.robots import enough as robots_enough
from optmodels.robots import static as robots_static
from optmodels.robots.linear_program import LinearProgram
from queueing import RobotQueue, best_policy, static_measures
from queueing.robots import control as robots_control
from queueing.robots import first_policy
from queueing.robots import queue as robot_queue
from queueing.robots.control import best_base_stock
from queueing.robots.fleet import fleet_measures


def asked(ratio: float, weights=None, capacity=3) -> RobotsProblem:
    return RobotsProblem(
        name="fast",
        robots=None,
        capacity=capacity,
        arrival_rate=1.0,
        service_rate=ratio,
        cost=WeightedSum(weights or {"starvation": 1.67}),
    )


@pytest.mark.parametrize("ratio", [1e3, 1e5, 1e6])
def test_a_fast_server_is_given_its_robots_in_few_steps(ratio, monkeypatch):
    """From mu / lambda robots on, a step moved the policy by some: as many steps as robots, and no end from 1e5 on."""
    steps, real = [], robots_control.policy_step
    monkeypatch.setattr(robots_control, "policy_step", lambda *given: steps.append(1) or real(*given))
    problem = asked(ratio)
    found = problem.queue.robots
    assert found < ratio / 10 and len(steps) < 60
    # More do not help, one fewer does: costs are the same to all digits, or higher.
    costs = []
    for number in (found - 1, found, found + 7):
        queue = RobotQueue(number, 3, 1.0, ratio)
        costs.append(best_policy(queue, queue.cost(1.67)).gain)
    assert costs[0] >= costs[1] == pytest.approx(costs[2], rel=1e-14)


def test_the_first_guess_is_around_the_best_fixed_number():
    queue = RobotQueue(400, 6, 0.01)
    for starvation in (0.01, 1.0, 100.0):
        cost = queue.cost(starvation)
        costs = [
            starvation * one.starvation + one.loss_rate for one in (static_measures(queue, n) for n in range(1, 401))
        ]
        assert best_base_stock(queue, cost) == 1 + int(np.argmin(costs))
        used = np.flatnonzero(first_policy(queue, cost)[3])
        assert abs(len(used) - best_base_stock(queue, cost)) <= 1


def test_reading_and_checking_a_file_does_not_search(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(robots_enough, "enough_of_queue", None)
    monkeypatch.setattr(robots_enough, "enough_of_fleet", None)
    for switching in ("one", "any"):
        file = tmp_path / f"{switching}.json"
        data = {"robots": None, "capacity": 3, "arrival_rate": 1.0, "service_rate": 1e6, "switching": switching}
        cost = {"name": "weighted-sum", "weights": {"starvation": 1.67}}
        file.write_text(json.dumps({"format": 1, "kind": "robots", "name": "n", "data": data, "cost": cost}))
        assert main(["check", str(file)]) == 0
        problem = om.load(file)
        for strategy in (LinearProgram(), PolicyIteration(), Static()):
            assert refusal(problem, strategy) is None
    capsys.readouterr()


def test_more_than_can_be_handled_is_refused_before_work_starts(monkeypatch):
    monkeypatch.setattr(robots_enough, "best_policy", None)
    with pytest.raises(om.RequestError, match=r"with 1.50e\+06 of them there are 5.99e\+06 states.*give a number"):
        asked(1e9).space.size  # noqa: B018
    monkeypatch.setattr(robots_enough, "best_fleet_policy", None)
    data = {"robots": None, "capacity": 3, "arrival_rate": 1.0, "service_rate": 1e8, "switching": "any"}
    with pytest.raises(om.RequestError, match=r"states, where 100000 are supported; give a number of robots\.$"):
        RobotFleetProblem.from_data(data, cost=WeightedSum({"starvation": 1.67})).space.size  # noqa: B018


@pytest.mark.parametrize("switching", ["one", "any"])
def test_a_long_search_is_inside_the_clock_and_hears_an_interrupt(switching, monkeypatch):
    monkeypatch.setattr(robots_enough, "UNPAUSED", 10)
    monkeypatch.setattr(robots_enough, "UNPAUSED_STATES", 10)
    data = {"robots": None, "capacity": 5, "arrival_rate": 0.05, "service_rate": 1.0, "switching": switching}

    def fresh():
        return RobotsProblem.from_data(data, cost=WeightedSum({"starvation": 1.4}))

    answer = om.solve(fresh(), "policy-iteration", seconds=1e-6)
    assert (str(answer.status), answer.stopped_by) == ("unknown", "seconds")
    interrupting.note()
    try:
        with pytest.raises(KeyboardInterrupt):
            fresh().space.length  # noqa: B018
    finally:
        interrupting.answered()
    assert om.solve(fresh(), "policy-iteration", seconds=60).status == "optimal"


def test_a_short_search_is_finished_whatever_the_clock_says():
    problem = asked(20.0, {"starvation": 1.4 * 20}, 5)
    answer = om.solve(problem, "policy-iteration", seconds=1e-6)
    assert (str(answer.status), answer.stopped_by) == ("feasible", "seconds")


def test_a_descent_in_stretches_ends_where_one_in_one_piece_does(monkeypatch):
    queue = RobotQueue(300, 8, 1 / 200)
    cost = queue.cost(1.2)
    start, calls = queue.base_stock(40), []
    whole = robots_control.descended(start, queue.arrival_rate, 1.0, cost)
    monkeypatch.setattr(robots_control, "STRETCH", 1)
    found = robots_control.descended(start, queue.arrival_rate, 1.0, cost, lambda: calls.append(1))
    assert calls and (found[0] == whole[0]).all() and found[1] == whole[1]

    def ended() -> None:
        raise BudgetSpent("seconds")

    with pytest.raises(BudgetSpent):
        robots_control.descended(start, queue.arrival_rate, 1.0, cost, ended)


# -- many cuts ---------------------------------------------------------------------------------------------------------


def test_measures_are_the_same_through_cuts_along_levels_and_state_by_state(monkeypatch):
    queue = RobotQueue(40, 6, 0.05)
    curve = best_policy(queue, queue.cost(1.3)).policy
    rng = np.random.default_rng(1)
    odd = curve.copy()
    odd[3, rng.integers(0, 40, 6)] ^= 1
    known = [queue.measures(policy).scalars() for policy in (curve, odd)]
    monkeypatch.setattr(robot_queue, "FEW_CUTS", 0)
    assert queue.measures(curve).scalars() == pytest.approx(known[0], rel=1e-12)
    assert queue.measures(odd).scalars() == known[1]
    monkeypatch.setattr(robot_queue, "MOST_CUTS", 0)
    assert queue.measures(odd).scalars() == pytest.approx(known[1], rel=1e-10)
    assert isinstance(queue.measures(odd), type(fleet_measures(robot_queue_fleet(queue), odd)))


def robot_queue_fleet(queue: RobotQueue):
    from queueing.robots.fleet import fleet_of

    return fleet_of(queue.robots, queue.capacity, queue.arrival_rate, queue.service_rate)


def test_a_step_from_a_policy_of_too_many_cuts_is_taken_state_by_state(monkeypatch):
    queue, rng = RobotQueue(12, 5, 0.1), np.random.default_rng(2)
    policy = rng.integers(0, 2, queue.shape).astype(np.int8)
    policy[:, -1], policy[0, 0] = 0, 1
    cost = queue.cost(1.3)
    known = robots_control.policy_step(queue, cost, policy)
    monkeypatch.setattr(robots_control, "has_few_cuts", lambda *given: False)
    found = robots_control.policy_step(queue, cost, policy)
    assert found.gain == pytest.approx(known.gain, rel=1e-10)


# -- fixed numbers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "weights",
    [
        {"starvation": 1.0, "response_time": 0.05},
        {"starvation": 1.0, "mean_length": 0.02},
        {"starvation": 1.0, "active_robots": 0.01},
        {"starvation": 1.0, "most_robots": 0.01, "response_time": 0.3},
    ],
)
def test_fixed_numbers_are_judged_by_one_formula_for_all(weights, monkeypatch):
    """A price on response_time made describe() look at 100 000 fleets one by one, and throw the result away."""
    problem = RobotsProblem(
        name="fixed", robots=200, capacity=5, arrival_rate=0.02, service_rate=1.0, cost=WeightedSum(weights)
    )
    one_by_one = [problem.judge(static_measures(problem.queue, n).scalars()).objective for n in range(1, 201)]
    calls, real = [], robots_static.static_measures
    monkeypatch.setattr(robots_static, "static_measures", lambda *given: calls.append(1) or real(*given))
    told = problem.describe(problem.first_policy())
    assert told["best_static"]["robots"] == 1 + int(np.argmin(one_by_one))
    assert told["best_static"]["objective"] == min(one_by_one)
    assert (told["best_static_unrestricted"] is None) == ("response_time" in weights)
    assert len(calls) <= 2


def test_costs_without_a_formula_are_told_of_for_few_robots_alone():
    from optmodels.costs import Lexicographic

    def described(robots: int):
        problem = RobotsProblem(
            name="order",
            robots=robots,
            capacity=2,
            arrival_rate=1.0,
            service_rate=10.0,
            cost=Lexicographic(("starvation", "loss_rate")),
        )
        return problem.describe(problem.keeping(1))["best_static"]

    assert described(30) is not None
    assert described(10_001) is None


@pytest.mark.parametrize("capacity", [3, 15])
def test_a_price_that_asks_for_too_many_robots_is_refused_before_any_policy(capacity, monkeypatch):
    """Doubling from 16 mu / lambda up to five million states took seconds, and ended with the same sentence."""
    monkeypatch.setattr(robots_enough, "best_policy", lambda *given, **_: pytest.fail("a policy was computed"))
    with pytest.raises(RequestError, match="how many robots ever help"):
        asked(100, {"starvation": 1e200, "loss_rate": 1}, capacity).queue  # noqa: B018 - the number is found at first use


def test_a_search_that_would_take_a_gigabyte_is_refused_before_any_policy(monkeypatch):
    """Slow pages at a small price: 3.8 million states, some of whose values need twice the digits, took 0.97 GB."""
    monkeypatch.setattr(robots_enough, "best_policy", lambda *given, **_: pytest.fail("a policy was computed"))
    with pytest.raises(RequestError, match=r"345048 of them there are 3.80e\+06 states, .* give a number of robots"):
        replace(asked(1.0, {"starvation": 0.4, "loss_rate": 1}, 10), arrival_rate=5e-6).queue  # noqa: B018


def test_who_takes_a_problem_is_told_without_a_long_search(monkeypatch):
    """The sentence that refuses a strategy of another kind names those that fit: 7 s of CPU, and deaf to --seconds."""
    from optmodels import solving

    def endless(self):
        while True:
            interrupting.check()

    problem = asked(10.0)
    monkeypatch.setattr(type(problem), "enough", endless)
    taking = solving.fitting(problem)
    assert "policy-iteration" in taking
    assert "annealing" not in taking


def test_a_search_that_failed_is_not_made_again(monkeypatch):
    """A strategy of another kind was refused after five such searches, 31 s of CPU, one for each that might fit."""
    made = []
    problem = asked(100, {"starvation": 1e200, "loss_rate": 1})
    enough = type(problem).enough
    monkeypatch.setattr(type(problem), "enough", lambda self: made.append(1) or enough(self))
    for _ in range(3):
        with pytest.raises(RequestError, match="how many robots ever help"):
            problem.space.size  # noqa: B018
    assert len(made) == 1


@pytest.mark.parametrize(("ratio", "starvation"), [(3.0, 1e4), (30.0, 1e6), (200.0, 1e7)])
def test_the_best_policy_never_stops_below_the_best_fixed_number(ratio, starvation):
    """Otherwise a fixed number that is too large would refuse what could be solved."""
    problem = asked(ratio, {"starvation": starvation, "loss_rate": 1}, 6)
    found = [static_measures(problem.queue, number) for number in range(1, problem.queue.robots + 1)]
    fixed = 1 + int(np.argmin([starvation * one.starvation + one.loss_rate for one in found]))
    assert fixed < problem.queue.robots
