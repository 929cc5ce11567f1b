"""Kind "robots": what files may say, what policies cost, and that all roads lead to the same best one."""

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from heuristics import Status, UnsupportedProblem
from optmodels import Instance, InstanceError, RequestError, solve
from optmodels.robots import RobotsProblem
from optmodels.robots.structure import structure, switching_curves
from optmodels.testing import check_problem
from queueing import RobotQueue

FOLDER = Path(__file__).parents[3] / "instances" / "robots"


def content(robots=16, capacity=5, rate=0.1, weights=None, limits=None, **data):
    return {
        "format": 1,
        "kind": "robots",
        "name": "test",
        "data": {"robots": robots, "capacity": capacity, "arrival_rate": rate, "service_rate": 1.0} | data,
        "cost": {"name": "weighted-sum", "weights": weights or {"starvation": 1.4}},
        "limits": limits or {},
    }


def problem(*arguments, **options) -> RobotsProblem:
    return Instance.from_data(content(*arguments, **options)).problem()


def drawn(rng: np.random.Generator, robots=None, capacity=None) -> RobotsProblem:
    """A random queue with random prices, of which half have no price on pages and robots."""
    weights = {"starvation": math.exp(rng.uniform(-2, 2)), "loss_rate": math.exp(rng.uniform(-2, 2))}
    if rng.random() < 0.5:
        weights |= {"mean_length": rng.uniform(0, 0.2), "active_robots": rng.uniform(0, 0.2)}
    robots = robots or int(rng.integers(1, 12))
    return problem(robots, capacity or int(rng.integers(2, 9)), rng.uniform(0.3, 3.0) / robots, weights)


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("robots", 0, "whole numbers, 1 or more"),
        ("robots", 2.5, "whole numbers, 1 or more"),
        ("robots", True, "whole numbers, 1 or more"),
        ("capacity", 1, "2 or more"),
        ("capacity", None, "2 or more"),
        ("arrival_rate", 0, "above 0"),
        ("arrival_rate", -1.0, "above 0"),
        ("arrival_rate", 1e-200, "nearer to one another"),
        ("service_rate", 0.0, "above 0"),
        ("service_rate", "1", "above 0"),
        ("switching", "two", '"one" at a time'),
    ],
)
def test_bad_data_are_refused_in_one_sentence_with_field_and_value(field, value, rule):
    with pytest.raises(InstanceError, match=rule) as refusal:
        problem(**{field: value} if field in ("robots", "capacity") else {}, **_other(field, value))
    assert refusal.value.field == f"data.{field}"
    assert refusal.value.value == value
    assert "\n" not in str(refusal.value)


def _other(field, value):
    return {} if field in ("robots", "capacity") else {field: value}


@pytest.mark.parametrize("gamma", [0, -0.4, -1e-9])
def test_a_server_that_may_idle_for_nothing_is_refused(gamma):
    with pytest.raises(InstanceError, match="price of an idle server is a number above 0"):
        problem(weights={"starvation": gamma})


def test_a_price_that_is_no_number_is_refused():
    text = json.dumps(content(weights={"starvation": math.nan}))
    with pytest.raises(RequestError, match=r"cost.weights.starvation"):
        Instance.from_data(json.loads(text)).problem()


def test_a_price_of_starvation_is_needed():
    with pytest.raises(InstanceError, match=r"cost.weights.starvation is missing"):
        problem(weights={"loss_rate": 1})


def test_negative_prices_are_refused():
    with pytest.raises(InstanceError, match="prices are zero or more"):
        problem(weights={"starvation": 1, "active_robots": -0.1})
    with pytest.raises(InstanceError, match=r"cost.weights.loss_rate is 1e\+300; prices are .*e\+2\d\d at most"):
        problem(weights={"starvation": 1, "loss_rate": 1e300})


@pytest.mark.parametrize(
    ("field", "value", "states"), [("capacity", 10**7, "170000017"), ("robots", 1e308, r"6.00e\+308")]
)
def test_what_makes_too_many_states_is_named(field, value, states):
    """In a number that can be read, however large."""
    data = {"robots": 16, "capacity": 5, "arrival_rate": 0.1, "service_rate": 1.0} | {field: value}
    rule = rf"data.{field} is .*; states must be at most .* make {states}; give fewer"
    with pytest.raises(InstanceError, match=rule) as refusal:
        RobotsProblem.from_data(data)
    assert len(str(refusal.value)) < 150


def test_losses_cost_one_unless_said():
    policy = problem().first_policy()
    found = problem().evaluate(policy)
    measures = found.measures
    assert found.objective == pytest.approx(1.4 * measures["starvation"] + measures["loss_rate"])
    free = problem(weights={"starvation": 1.4, "loss_rate": 0}).evaluate(policy)
    assert free.objective == pytest.approx(1.4 * measures["starvation"])


@pytest.mark.parametrize(
    "options",
    [
        {"weights": {"starvation": 1, "loss_rate": 0}},
        {"limits": {"loss_rate": 0.1}},
        {"weights": {"starvation": 1, "response_time": 1}},
    ],
)
def test_any_number_of_robots_is_refused_where_it_is_not_known_how_many_help(options):
    with pytest.raises(InstanceError, match="number"):
        problem(None, **options)


def test_without_a_cost_policies_are_evaluated_and_not_sought():
    bare = {key: value for key, value in content().items() if key != "cost"}
    asked = Instance.from_data(bare).problem()
    assert math.isnan(asked.evaluate(asked.first_policy()).objective)
    assert asked.describe(asked.first_policy())["relative_improvement"] is None
    with pytest.raises(RequestError, match="no cost to minimise"):
        solve(asked, "static")


@pytest.mark.parametrize("robots", [1, 3, None])
def test_small_problems_keep_the_house_rules(robots):
    check_problem(problem(robots, 2, 0.7), decisions=5)


# -- decisions ---------------------------------------------------------------------------------------------------------


def test_a_decision_has_an_entry_for_each_state_and_two_kinds_are_given():
    space = problem(2, 3).space
    right = (1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0)
    assert space.check(list(right)) == right
    assert space.size == 2**7 == len(set(space))
    with pytest.raises(ValueError, match="entry 0 is 0"):
        space.check((0, *right[1:]))
    with pytest.raises(ValueError, match="entry 5 is 1; with all 2 robots active"):
        space.check((*right[:5], 1, *right[6:]))
    with pytest.raises(ValueError, match="entry 3 is 2"):
        space.check((*right[:3], 2, *right[4:]))


def test_the_fixed_number_of_robots_is_the_queue_of_the_textbook():
    asked = problem(9, 5, 0.2)
    decision = asked.decision_of(asked.queue.base_stock(5))  # load 1: all lengths are equally likely
    measures = asked.evaluate(decision).measures
    assert measures["starvation"] == pytest.approx(1 / 6)
    assert measures["loss_rate"] == pytest.approx(1 / 6)
    assert measures["mean_length"] == pytest.approx(2.5)
    assert (measures["fewest_robots"], measures["most_robots"]) == (5, 5)


# -- the paper's curves ------------------------------------------------------------------------------------------------


def test_switching_curves_say_what_the_policy_says_event_by_event():
    rng = np.random.default_rng(1)
    for _ in range(50):
        most, robots = int(rng.integers(2, 8)), int(rng.integers(1, 8))
        tops = np.sort(rng.integers(-1, most + 1, size=robots))[::-1]
        policy = np.zeros((most + 1, robots + 1), dtype=np.int8)
        for r, top in enumerate(tops):
            policy[: top + 1, r] = 1
        policy[0, 0] = 1
        curves = switching_curves(policy)
        assert curves["monotone"]
        for r in range(robots + 1):
            for q in range(1, most + 1):
                assert policy[q - 1, r] == (q <= curves["departure"][r])
            for q in range(most + 1):
                if r > 0:
                    assert policy[min(q + 1, most), r - 1] == (q <= curves["arrival"][r])


def test_a_planted_hole_is_no_switching_curve():
    policy = np.ones((5, 4), dtype=np.int8)
    policy[:, -1] = 0
    assert switching_curves(policy)["monotone"]
    policy[2, 1] = 0
    assert not switching_curves(policy)["monotone"]
    rising = np.zeros((5, 4), dtype=np.int8)
    rising[0, :3] = 1
    rising[1, 2] = 1
    assert not switching_curves(rising)["monotone"]


def test_planted_violations_of_convexity_and_supermodularity_are_seen():
    lengths, robots = np.indices((6, 7), dtype=np.float64)
    policy = np.zeros((6, 7), dtype=np.int8)
    fine = robots**2 + lengths * robots
    assert structure(policy, fine) == {
        "monotone_switching_curve": True,
        "convex_in_robots": True,
        "supermodular": True,
        "violations": {"switching": 0.0, "convexity": 0.0, "supermodularity": 0.0},
    }
    assert not structure(policy, -(robots**2) + 10 * lengths * robots)["convex_in_robots"]
    assert not structure(policy, robots**2 - lengths * robots)["supermodular"]


# -- the best policy ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_every_exact_strategy_finds_what_enumeration_finds(seed):
    rng = np.random.default_rng(seed)
    asked = drawn(rng, robots=2, capacity=int(rng.integers(2, 4)))
    best = solve(asked, "exhaustive").objective
    for name in ("policy-iteration", "value-iteration", "linear-program", "linear-program:method=interior-point"):
        answer = solve(asked, name)
        assert answer.objective == pytest.approx(best, rel=1e-9), name
        lower, upper = answer.extra["bracket"]
        assert lower <= best * (1 + 1e-12) and best <= upper * (1 + 1e-7)
    assert solve(asked, "policy-iteration").status == Status.OPTIMAL


@pytest.mark.parametrize("seed", range(8))
def test_no_fixed_number_is_better_and_more_robots_never_hurt(seed):
    rng = np.random.default_rng(100 + seed)
    asked = drawn(rng, robots=6)
    data = asked.to_data()
    costs = []
    for robots in (1, 2, 3, 6, 9):
        larger = RobotsProblem.from_data(data | {"robots": robots}, cost=asked.cost)
        answer = solve(larger, "policy-iteration")
        lower, upper = answer.extra["bracket"]
        assert answer.status == Status.OPTIMAL and upper - lower <= 1e-10 * upper
        assert answer.objective <= solve(larger, "static").objective * (1 + 1e-12)
        costs.append(answer.objective)
    # Policies of few robots are policies of many that never ask for more.
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(costs))


def test_the_figures_of_the_paper_come_out_to_all_digits():
    for gamma, cost in ((1.0, 0.209074134655), (1.4, 0.259239596069), (2.0, 0.322114668871)):
        answer = solve(problem(weights={"starvation": gamma}), "policy-iteration")
        assert answer.objective == pytest.approx(cost, abs=5e-13)
        shapes = dict(answer.extra["structure"])
        assert max(shapes.pop("violations").values()) < 1e-11
        assert all(shapes.values())
        assert answer.extra["decision_gap"] > 0


def test_value_iteration_by_the_rule_of_the_paper_takes_as_many_sweeps_as_printed():
    for gamma, count in ((1.0, 254), (1.4, 255), (2.0, 256)):
        answer = solve(problem(weights={"starvation": gamma}), "value-iteration:rule=paper")
        assert answer.extra["sweeps"] == count
        assert answer.extra["printed_cost"] == pytest.approx(answer.objective, abs=5e-6)


def test_the_rule_of_the_paper_is_for_the_prices_of_the_paper():
    with pytest.raises(UnsupportedProblem, match="losses at 1"):
        solve(problem(weights={"starvation": 1, "loss_rate": 2}), "value-iteration:rule=paper")


@pytest.mark.parametrize(
    ("unit", "limited"),
    [
        *[(unit, False) for unit in (1e-150, 1e-20, 1e20, 1e150)],
        (1e-150, True),
        *[pytest.param(unit, True, marks=pytest.mark.slow) for unit in (1e-20, 1e20, 1e150)],
    ],
)
def test_the_unit_of_time_does_not_matter(unit, limited):
    def measured_in(unit):
        limits = {"loss_rate": 0.02 * unit, "mean_length": 1.5} if limited else {}
        weights = {"starvation": 1.4, "loss_rate": 0.0, "mean_length": 0.1}
        return problem(rate=0.1 * unit, service_rate=unit, weights=weights, limits=limits)

    names = ["linear-program", "static"] if limited else ["linear-program", "policy-iteration", "value-iteration"]
    for name in names:
        usual, found = solve(measured_in(1.0), name), solve(measured_in(unit), name)
        assert (found.status, found.stopped_by) == (usual.status, "complete")
        assert found.objective == pytest.approx(usual.objective, rel=1e-9)


@pytest.mark.parametrize("name", ["policy-iteration", "value-iteration", "linear-program"])
def test_exact_strategies_refuse_costs_that_are_no_averages(name):
    with pytest.raises(UnsupportedProblem, match="no weighted sum of"):
        solve(problem(weights={"starvation": 1, "response_time": 0.1}), name)


def test_searches_take_a_price_on_the_response_time():
    asked = problem(2, 3, 0.7, weights={"starvation": 1, "response_time": 0.1})
    assert solve(asked, "local-search").objective == pytest.approx(solve(asked, "exhaustive").objective)


def test_tiny_costs_keep_their_digits_and_their_proof():
    answer = solve(problem(60, 40, 0.1, weights={"starvation": 1}), "policy-iteration")
    lower, upper = answer.extra["bracket"]
    assert 1e-13 < answer.objective < 1e-12
    assert upper - lower <= 1e-10 * upper
    assert answer.status == Status.OPTIMAL


def test_a_cost_too_small_for_its_bracket_is_not_called_optimal():
    answer = solve(problem(60, 60, 0.1, weights={"starvation": 1e-9}), "policy-iteration")
    lower, upper = answer.extra["bracket"]
    assert lower <= answer.objective <= upper * (1 + 1e-12)
    assert (answer.status == Status.OPTIMAL) == (upper - lower <= 1e-9 * upper)


# -- as many robots as ever help ---------------------------------------------------------------------------------------


def test_any_number_of_robots_is_one_that_no_other_number_beats():
    answer = solve(problem(None), "policy-iteration")
    used = answer.extra["robots_used"]
    assert used == 17 and len(answer.decision) == 6 * 18
    assert answer.evaluation.measures["most_robots"] < used
    for robots in (used + 1, 3 * used):
        assert solve(problem(robots), "policy-iteration").objective == pytest.approx(answer.objective, rel=1e-13)
    assert solve(problem(used - 3), "policy-iteration").objective > answer.objective * (1 + 1e-9)


def test_any_number_of_robots_is_found_with_other_prices_too():
    weights = {"starvation": 1.4, "loss_rate": 0, "active_robots": 0.02}
    answer = solve(problem(None, weights=weights), "policy-iteration")
    more = solve(problem(2 * answer.extra["robots_used"], weights=weights), "policy-iteration")
    assert more.objective == pytest.approx(answer.objective, rel=1e-13)


# -- a fixed number ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_static_is_the_best_of_all_fixed_numbers(seed):
    asked = drawn(np.random.default_rng(200 + seed))
    answer = solve(asked, "static")
    robots = range(1, asked.queue.robots + 1)
    costs = [asked.evaluate(asked.decision_of(asked.queue.base_stock(count))).objective for count in robots]
    assert answer.objective == pytest.approx(min(costs), rel=1e-12)
    assert answer.status == Status.FEASIBLE and answer.bound is None


def test_static_within_n_is_told_beside_the_unrestricted_one():
    answer = solve(problem(7), "static")
    assert answer.extra["best_static"]["robots"] == answer.extra["static_robots"] == 7
    assert answer.extra["best_static_unrestricted"] == {"robots": 10, "objective": pytest.approx(0.4)}


def test_improvement_is_that_over_the_fixed_number():
    answer = solve(problem(10), "policy-iteration")
    assert answer.extra["relative_improvement"] == pytest.approx(0.4 / answer.objective - 1)


# -- limits ------------------------------------------------------------------------------------------------------------


def test_the_randomised_policy_of_the_program_keeps_the_limit_and_costs_what_is_said():
    asked = problem(limits={"starvation": {"max": 0.05}})
    answer = solve(asked, "linear-program")
    randomised = answer.extra["randomised"]
    measures = randomised_measures(asked.queue, np.array(randomised["policy"]).reshape(asked.queue.shape))
    assert measures[0] == pytest.approx(0.05, rel=1e-7)
    assert 1.4 * measures[0] + measures[1] == pytest.approx(randomised["objective"], rel=1e-7)
    assert len(randomised["states_left_to_chance"]) == 1
    assert answer.bound == pytest.approx(randomised["objective"], rel=1e-7)
    assert answer.status == Status.FEASIBLE
    assert answer.bound < answer.objective < 1.02 * answer.bound


def randomised_measures(queue: RobotQueue, chances) -> tuple[float, float]:
    """Starvation and loss rate of a policy that activates with these probabilities, by the dense generator."""
    width, most = queue.robots + 1, queue.capacity
    generator = np.zeros(((most + 1) * width,) * 2)
    for q in range(most + 1):
        for r in range(width):
            here = q * width + r
            moves = [(queue.service_rate, q - 1, r)] if q > 0 else []
            moves += [(queue.arrival_rate * r, min(q + 1, most), r - 1)] if r > 0 else []
            for rate, there, left in moves:
                chance = chances[there, left]
                generator[here, there * width + left] += rate * (1 - chance)
                if chance > 0:
                    generator[here, there * width + left + 1] += rate * chance
            generator[here, here] -= sum(rate for rate, _, _ in moves)
    generator[0, 1], generator[0, 0] = 1.0, -1.0  # (0, 0) is no state; whatever starts there leaves
    right = np.zeros(len(generator) + 1)
    right[-1] = 1.0
    shares = np.linalg.lstsq(np.vstack([generator.T, np.ones(len(generator))]), right, rcond=None)[0]
    grid = shares.reshape(most + 1, width)
    return float(grid[0].sum()), float(queue.arrival_rate * (grid[-1] * np.arange(width)).sum())


@pytest.mark.parametrize(
    "limits",
    [
        {"starvation": 0.3},
        {"loss_rate": 0.1},
        {"response_time": 1.2},
        {"active_robots": {"min": 1.5}},
        {"starvation": 0.35, "loss_rate": 0.04},
        {"starvation": 0.2, "loss_rate": 0.01},
        {"mean_length": 1e-3},
    ],
    ids=str,
)
def test_limits_are_judged_as_enumeration_judges_them(limits):
    asked = problem(2, 3, 0.7, limits=limits)
    listed, answer = solve(asked, "exhaustive"), solve(asked, "linear-program")
    if listed.status == Status.INFEASIBLE:
        assert answer.status in (Status.INFEASIBLE, Status.UNKNOWN)
        return
    assert answer.bound is None or answer.bound <= listed.objective * (1 + 1e-9)
    if answer.status == Status.OPTIMAL:
        assert answer.objective == pytest.approx(listed.objective, rel=1e-9)
    assert answer.status != Status.INFEASIBLE


def test_limits_that_only_together_are_too_much_are_proved_to_be():
    asked = problem(limits={"starvation": 0.08, "loss_rate": 0.15})
    assert asked.infeasibility() is None
    answer = solve(asked, "linear-program")
    assert answer.status == Status.INFEASIBLE
    assert "no policy" in answer.extra["reason"]


def test_a_limit_beyond_all_policies_is_told_by_every_strategy():
    answer = solve(problem(limits={"starvation": 1e-6}), "static")
    assert answer.status == Status.INFEASIBLE
    assert answer.extra["reason"] == "every policy has starvation above 1e-06."


def test_a_limit_on_the_range_of_robots_is_refused_by_the_program():
    with pytest.raises(UnsupportedProblem, match="most_robots"):
        solve(problem(limits={"most_robots": 12}), "linear-program")


def test_large_programs_are_refused_in_one_sentence():
    with pytest.raises(UnsupportedProblem, match="102 states, and at most 100"):
        solve(problem(), "linear-program:largest=100")


# -- budgets -----------------------------------------------------------------------------------------------------------


def test_a_budget_of_one_step_leaves_a_policy_and_a_bound():
    answer = solve(problem(), "policy-iteration", evaluations=1)
    assert answer.stopped_by == "evaluations"
    assert answer.evaluations == 1 and answer.status == Status.FEASIBLE
    assert answer.bound < solve(problem(), "policy-iteration").objective < answer.objective


def test_steps_one_by_one_lead_where_quick_ones_do():
    asked = problem(30, 9, 0.05, weights={"starvation": 2.4})
    slow, quick = solve(asked, "policy-iteration", evaluations=1000), solve(asked, "policy-iteration")
    assert slow.objective == pytest.approx(quick.objective, rel=1e-13)
    assert slow.evaluations > quick.evaluations
    assert slow.status == quick.status == Status.OPTIMAL


def test_all_rows_of_both_tables_and_the_figures_are_shipped():
    names = [file.stem for file in FOLDER.glob("*.json")]
    assert sum(name.startswith("talim-table1-") for name in names) == 27
    assert sum(name.startswith("talim-table2-") for name in names) == 27
    assert {"talim-fig2", "talim-fig3", "talim-fig4"} <= set(names)
