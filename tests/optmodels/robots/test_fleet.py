"""Robot fleets: what policies cost, and that all roads lead to the same best one."""

import json
import math
from itertools import product

import numpy as np
import pytest

from heuristics import Status, UnsupportedProblem
from optmodels import Instance, RequestError, generate, solve
from optmodels.cli import main
from optmodels.instance import load
from optmodels.robots import RobotFleetProblem
from optmodels.robots.enough import least_of
from optmodels.robots.static import all_numbers, closed_form, judged_by_formula
from optmodels.robots.structure import decision_rates, habits, is_order_up_to, recurring_decisions
from optmodels.testing import check_problem
from queueing import RobotQueue, static_measures
from queueing.robots.fleet import keep_out

ERLANG = {"initial": [1, 0], "generator": [[-1, 1], [0, -2]]}
MIXED = {"initial": [0.5, 0.5], "generator": [[-1, 0.5], [0, -2]]}
WORLD = {"generator": [[-0.3, 0.3], [0.5, -0.5]], "factors": [0.5, 2.0]}

#: One fleet of every sort; but for the last so small that all policies can be listed.
SMALL = {
    "any": {"robots": 2, "capacity": 2, "arrival_rate": 0.7, "switching": "any"},
    "any, journeys": {"robots": 1, "capacity": 3, "travel_time": ERLANG, "switching": "any"},
    "any, environment": {"robots": 1, "capacity": 3, "arrival_rate": 0.7, "environment": WORLD, "switching": "any"},
    "classes": {"classes": [{"robots": 1, "arrival_rate": 0.7}, {"robots": 1, "arrival_rate": 0.3}], "capacity": 2},
    "journeys": {"robots": 1, "capacity": 4, "travel_time": MIXED},
    "two on journeys": {"robots": 2, "capacity": 2, "travel_time": MIXED},
    "environment": {"robots": 2, "capacity": 2, "arrival_rate": 0.7, "environment": WORLD},
    "everything": {
        "classes": [{"robots": 1, "arrival_rate": 0.7}, {"robots": 1, "travel_time": ERLANG}],
        "capacity": 2,
        "environment": WORLD | {"factors": [[1.5, 0.5], [0, 1]]},
    },
}


def problem(data, weights=None, limits=None, name="test") -> RobotFleetProblem:
    content = {"format": 1, "kind": "robots", "name": name, "data": {"service_rate": 1.0} | data}
    content |= {"cost": {"name": "weighted-sum", "weights": weights or {"starvation": 1.4}}, "limits": limits or {}}
    return Instance.from_data(content).problem()


def best(data, weights=None) -> float:
    answer = solve(problem(data, weights), "policy-iteration")
    lower, upper = answer.extra["bracket"]
    assert answer.status == Status.OPTIMAL and upper - lower <= 1e-10 * upper
    return answer.objective


def drawn(rng: np.random.Generator, **options) -> dict:
    """Data and prices of a random fleet."""
    instance = generate("robots", capacity=4, holding=0.1, activity=0.1, seed=int(rng.integers(1 << 30)), **options)
    return instance.data, instance.cost["weights"]


def by_hand(data, decision) -> dict[str, float]:
    """Starvation and losses of a policy with one closed class by a dense generator, from the words of the docs alone.

    States are tuples (pages, robots by class and phase, environment), numbered in the order of tuples.
    """
    sorts = data.get("classes", [data])
    laws = [one.get("travel_time", {"initial": [1], "generator": [[-one.get("arrival_rate", 1)]]}) for one in sorts]
    world = data.get("environment", {"generator": [[0]], "factors": [1]})
    phases = [(c, p) for c, law in enumerate(laws) for p in range(len(law["initial"]))]

    def out(robots, c):
        return sum(count for (owner, _), count in zip(phases, robots, strict=True) if owner == c)

    most = [range(sorts[c]["robots"] + 1) for c, _ in phases]
    ways = [n for n in product(*most) if all(out(n, c) <= one["robots"] for c, one in enumerate(sorts))]
    states = list(product(range(data["capacity"] + 1), ways, range(len(world["generator"]))))
    chosen = dict(zip(states, decision, strict=True))

    def more(robots, index, by=1):
        return tuple(count + by * (place == index) for place, count in enumerate(robots))

    def decided(state):
        """States after the decision, and their probabilities."""
        q, n, j = state
        entry = chosen[state]
        c, count = (0, entry) if len(sorts) == 1 else (entry, int(entry >= 0))
        if count == 0:
            return {state: 1.0}
        starts = {index: laws[c]["initial"][p] for index, (owner, p) in enumerate(phases) if owner == c}
        return {(q, more(n, index, count), j): chance for index, chance in starts.items() if chance > 0}

    rates = np.zeros((len(states), len(states)))
    numbers = {state: number for number, state in enumerate(states)}
    lost = np.zeros(len(states))
    for q, n, j in states:
        here = numbers[q, n, j]
        moves = [(1.0, decided((q - 1, n, j)))] if q > 0 else []
        for index, (c, p) in enumerate(phases):
            factor = world["factors"][j]
            pace = n[index] * (factor[c] if isinstance(factor, list) else factor)
            row = laws[c]["generator"][p]
            if pace == 0:
                continue
            ending = -sum(row) * pace
            if ending > 0:
                moves.append((ending, decided((min(q + 1, data["capacity"]), more(n, index, -1), j))))
                lost[here] += ending * (q == data["capacity"])
            for other, rate in enumerate(row):
                if other != p:
                    moves.append((rate * pace, {(q, more(more(n, index, -1), index + other - p), j): 1.0}))
        moves += [(rate, {(q, n, k): 1.0}) for k, rate in enumerate(world["generator"][j]) if k != j]
        for rate, ends in moves:
            for end, chance in ends.items():
                rates[here, numbers[end]] += rate * chance
    nothing = tuple(0 for _ in phases)
    for j in range(len(world["generator"])):  # no state: whatever starts there leaves for good
        here = numbers[0, nothing, j]
        rates[here] = 0.0
        for end, chance in decided((0, nothing, j)).items():
            rates[here, numbers[end]] = chance
    generator = rates - np.diag(rates.sum(axis=1))
    right = np.zeros(len(states) + 1)
    right[-1] = 1.0
    shares = np.linalg.lstsq(np.vstack([generator.T, np.ones(len(states))]), right, rcond=None)[0]
    empty = np.array([q == 0 for q, _, _ in states])
    return {"starvation": float(shares[empty].sum()), "loss_rate": float(shares @ lost)}


# -- judging -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", SMALL.values(), ids=SMALL)
def test_small_fleets_keep_the_house_rules(data):
    check_problem(problem(data), decisions=4)


@pytest.mark.parametrize("data", SMALL.values(), ids=SMALL)
def test_policies_are_judged_as_by_the_dense_generator(data):
    asked, rng = problem(data), np.random.default_rng(3)
    decisions = [
        asked.keeping(1 if len(asked.fleet.classes) == 1 else (1, 1)),
        solve(asked, "policy-iteration").decision,
    ]
    for decision in decisions + [asked.space.sample(rng) for _ in range(5)]:
        if len(np.unique(closed_labels(asked, decision))) > 1:
            continue  # the generator alone does not say where such a policy ends
        found, expected = asked.evaluate(decision).measures, by_hand(data, decision)
        assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-9, abs=1e-12)


def closed_labels(asked, decision):
    from queueing.robots.fleet import chain_of, moves_of
    from queueing.robots.fleet.stationary import closed_classes

    fleet = asked.fleet
    present = np.arange(fleet.environments, fleet.states)
    classes = closed_classes(chain_of(moves_of(fleet), asked.actions_of(decision)), present)
    return np.concatenate([np.full(len(states), label) for label, states in enumerate(classes)])


def test_without_a_cost_policies_are_evaluated_and_not_sought():
    content = {"format": 1, "kind": "robots", "name": "bare", "data": SMALL["classes"] | {"service_rate": 1.0}}
    asked = Instance.from_data(content).problem()
    assert math.isnan(asked.evaluate(asked.first_policy()).objective)
    assert asked.describe(asked.first_policy())["best_static"] is None
    with pytest.raises(RequestError, match="no cost to minimise"):
        solve(asked, "static")


# -- decisions ---------------------------------------------------------------------------------------------------------


def test_what_is_no_policy_is_said_in_one_sentence():
    one = problem(SMALL["environment"]).space
    right = one.check(one.sample(np.random.default_rng(0)))
    assert right[:2] == (1, 1) and len(right) == 3 * 3 * 2
    with pytest.raises(ValueError, match="entry 1 is 0; without pages and robots one is always sent out"):
        one.check((1, 0, *right[2:]))
    with pytest.raises(ValueError, match="entry 4 is 1; with all 2 robots out none is left to send"):
        one.check((*right[:4], 1, *right[5:]))
    with pytest.raises(ValueError, match="entry 3 is 2; entries are 0 or 1"):
        one.check((*right[:3], 2, *right[4:]))
    several = problem(SMALL["any"]).space
    with pytest.raises(ValueError, match="entry 1 is 2; with 1 of 2 robots out 1 are left to send"):
        several.check((1, 2, 0) * 3)
    classes = problem(SMALL["classes"]).space
    assert classes.check((0, -1, 1, -1) * 3) == (0, -1, 1, -1) * 3
    with pytest.raises(ValueError, match="entry 5 is 1; with all 1 robots of class 1 out"):
        classes.check((0, -1, 1, -1, 0, 1, 1, -1, 0, -1, 1, -1))
    with pytest.raises(ValueError, match="entry 0 is -1; without pages"):
        classes.check((-1,) * 12)


@pytest.mark.parametrize(("name", "size"), [("any", 2 * 2 * (3 * 2) ** 2), ("classes", 2 * 2 * 2 * (3 * 2 * 2) ** 2)])
def test_policies_are_counted(name, size):
    space = problem(SMALL[name]).space
    assert space.size == size == len(set(space))


@pytest.mark.parametrize("name", ["any", "classes", "everything"])
def test_neighbours_differ_in_one_entry_and_are_drawn_alike(name):
    space, rng = problem(SMALL[name]).space, np.random.default_rng(5)
    here = space.sample(rng)
    around = list(space.neighbours(here))
    assert len(set(around)) == len(around) == int((space.choices - 1).sum())
    assert all(sum(a != b for a, b in zip(here, there, strict=True)) == 1 for there in around)
    drawn = [space.neighbour(here, rng) for _ in range(60 * len(around))]
    counts = [drawn.count(there) for there in around]
    assert sum(counts) == len(drawn) and min(counts) > 20


def test_repair_finds_the_nearest_policy():
    space = problem(SMALL["classes"]).space
    assert space.repair([-1.0] * 12) == (0, *[-1] * 11)
    assert space.repair([0.4, 0.6, 0.9, 1.0] * 3) == (0, 0, 1, -1) * 3
    assert problem(SMALL["any"]).space.repair([5.0, math.nan, 1.0] * 3) == (2, 0, 0) * 3


# -- the best policy ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", SMALL.values(), ids=SMALL)
def test_every_exact_strategy_finds_what_enumeration_finds(data):
    weights = {"starvation": 1.1, "loss_rate": 0.7, "mean_length": 0.03, "active_robots": 0.02}
    asked = problem(data, weights)
    if asked.space.size <= 2500:
        listed = solve(asked, "exhaustive")
        assert listed.status == Status.OPTIMAL
    else:  # too many to list: of all that differ in one state none is better
        listed = solve(asked, "policy-iteration")
        around = [asked.evaluate(there).objective for there in asked.space.neighbours(listed.decision)]
        assert min(around) >= listed.objective * (1 - 1e-12)
    for name in ("policy-iteration", "value-iteration:accuracy=1e-10"):
        answer = solve(asked, name)
        assert answer.objective == pytest.approx(listed.objective, rel=1e-9), name
        lower, upper = answer.extra["bracket"]
        assert lower <= listed.objective * (1 + 1e-12) and listed.objective <= upper * (1 + 1e-9)
    assert solve(asked, "policy-iteration").status == Status.OPTIMAL
    assert solve(asked, "static").objective >= listed.objective * (1 - 1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_any_number_is_never_worse_than_one_and_one_than_a_fixed_number(seed):
    data, weights = drawn(np.random.default_rng(seed), robots=6)
    one, several = (
        best(data | {"environment": WORLD}, weights),
        best(data | {"environment": WORLD, "switching": "any"}, weights),
    )
    assert several <= one * (1 + 1e-12)
    assert one <= solve(problem(data | {"environment": WORLD}, weights), "static").objective * (1 + 1e-12)
    assert best(data | {"switching": "any"}, weights) <= best(data, weights) * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_more_robots_and_more_classes_are_never_worse(seed):
    data, weights = drawn(np.random.default_rng(10 + seed), robots=4, classes=2)
    classes = data["classes"]
    grown = [classes[0] | {"robots": classes[0]["robots"] + 1}, classes[1]]
    third = [*classes, {"robots": 1, "arrival_rate": 0.2}]
    own = best(data, weights)
    assert best(data | {"classes": grown}, weights) <= own * (1 + 1e-12)
    assert best(data | {"classes": third}, weights) <= own * (1 + 1e-12)
    assert own <= best(data | {"classes": classes[:1]}, weights) * (1 + 1e-12)


def test_fleets_that_say_nothing_new_cost_what_the_base_model_costs():
    base = {"robots": 5, "capacity": 4, "arrival_rate": 0.3}
    least = best(base)
    one = {"robots": 5, "arrival_rate": 0.3}
    equal = {"generator": [[-2, 2], [1, -1]], "factors": [1, 1]}
    same = [
        {"classes": [one], "capacity": 4},
        {"classes": [{"robots": 2, "arrival_rate": 0.3}, {"robots": 3, "arrival_rate": 0.3}], "capacity": 4},
        base | {"environment": equal},
        {"robots": 5, "capacity": 4, "travel_time": {"initial": [0.2, 0.8], "generator": [[-0.3, 0], [0, -0.3]]}},
        {"robots": 5, "capacity": 4, "travel_time": {"initial": [1, 0], "generator": [[-0.9, 0.6], [0, -0.3]]}},
    ]
    assert [best(data) for data in same] == pytest.approx([least] * 5, rel=1e-12)
    two_stages = {"initial": [1, 0], "generator": [[-0.6, 0.6], [0, -0.6]]}
    assert best({"robots": 5, "capacity": 4, "travel_time": two_stages}) != pytest.approx(least, rel=1e-3)
    # An environment that changes fast is a constant one.
    fast = {"generator": [[-2e5, 2e5], [1e5, -1e5]], "factors": [0.1, 1.45]}
    assert best(base | {"environment": fast}) == pytest.approx(least, rel=1e-4)


def test_steps_one_by_one_lead_where_quick_ones_do():
    data, weights = drawn(np.random.default_rng(2), robots=8, classes=2, environment=2, phases=2)
    slow = solve(problem(data, weights), "policy-iteration", evaluations=1000)
    quick = solve(problem(data, weights), "policy-iteration")
    assert slow.objective == pytest.approx(quick.objective, rel=1e-12)
    assert slow.evaluations > quick.evaluations
    assert slow.status == quick.status == Status.OPTIMAL


def test_a_second_run_on_the_same_problem_gives_the_same_answer():
    asked = problem(*drawn(np.random.default_rng(4), robots=6, phases=2))
    first, second = (solve(asked, "policy-iteration", evaluations=100) for _ in range(2))
    assert (first.decision, first.evaluations, first.status) == (second.decision, second.evaluations, second.status)


def test_the_figure_of_the_paper_gains_by_any_number():
    base = {"robots": 16, "capacity": 5, "arrival_rate": 0.1}
    answer = solve(problem(base | {"switching": "any"}), "policy-iteration")
    assert best(base) == pytest.approx(0.259239596069, abs=5e-13)
    assert answer.objective < 0.99 * 0.259239596069
    assert answer.extra["order_up_to"]
    assert answer.extra["best_static"] == {"robots": 10, "objective": pytest.approx(0.4)}


def test_what_ignoring_the_environment_or_the_stages_of_journeys_costs(instances):
    """The best policy of the base model with the mean rate, in the world as it is: figures of the documentation."""
    world = load(instances / "robots" / "fleet-environment.json")
    mean = float(world.fleet.environment.shares @ world.fleet.environment.factors)
    ignorant = solve(
        problem({"robots": 60, "capacity": 10, "arrival_rate": 0.03 * mean}, {"starvation": 1.2}), "policy-iteration"
    )
    copied = world.evaluate(tuple(np.repeat(ignorant.decision, 3).tolist())).objective
    assert (ignorant.objective, copied) == pytest.approx((0.110289, 0.193741), abs=1e-6)
    assert copied > best_known(instances, "fleet-environment") == pytest.approx(0.138709, abs=1e-6)
    stages = load(instances / "robots" / "fleet-erlang.json")
    blind = solve(
        problem({"robots": 60, "capacity": 10, "arrival_rate": 0.03}, {"starvation": 1.2}), "policy-iteration"
    )
    by_total = np.array(blind.decision).reshape(11, 61)[:, stages.fleet.robots_out[:, 0]]
    copied = stages.evaluate(tuple(by_total.ravel().tolist())).objective
    assert (blind.objective, copied) == pytest.approx((0.111736, 0.141816), abs=1e-6)
    assert copied > best_known(instances, "fleet-erlang") == pytest.approx(0.131449, abs=1e-6)


def best_known(instances, name) -> float:
    return json.loads((instances / "robots" / f"{name}.json").read_text())["best_known"]["objective"]


def test_as_many_as_ever_help_are_as_good_as_any_number():
    base = {"robots": None, "capacity": 5, "arrival_rate": 0.1, "switching": "any"}
    answer = solve(problem(base), "policy-iteration")
    used = answer.extra["robots_used"]
    assert answer.evaluation.measures["most_robots"] <= used == answer.extra["targets"][0]
    for robots in (used + 1, 3 * used):
        assert best(base | {"robots": robots}) == pytest.approx(answer.objective, rel=1e-12)
    assert best(base | {"robots": used - 2}) > answer.objective * (1 + 1e-9)


# -- what is told ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_what_is_sent_comes_back_and_is_served_or_lost(seed):
    options = [{"classes": 2, "phases": 2}, {"environment": 3}, {"switching": "any"}, {"phases": 3, "switching": "any"}]
    asked = problem(*drawn(np.random.default_rng(20 + seed), robots=5, **options[seed]))
    decision = asked.space.sample(np.random.default_rng(seed))
    measures, told = asked.evaluate(decision).measures, asked.describe(decision)
    coming = (1.0 - measures["starvation"]) * asked.plan.service_rate + measures["loss_rate"]
    assert sum(told["sent_by_class"]) == pytest.approx(coming, rel=1e-9)
    assert sum(told["robots_by_class"]) == pytest.approx(measures["active_robots"], rel=1e-9)


def test_targets_are_seen_and_so_is_a_planted_exception():
    asked = problem(SMALL["any"] | {"robots": 4, "capacity": 5, "arrival_rate": 0.2})
    fleet = asked.fleet
    actions = keep_out(fleet, (3,)).reshape(fleet.shape)
    for q in range(2, 6):
        actions[q, :, 0] = np.maximum(0, 4 - q - np.arange(5))
    told = habits(fleet, actions.ravel())
    assert told["targets"] == [3, 3, 2, 1, 0, 0] and told["order_up_to"]
    actions[2, 1, 0] = 0  # with one robot out and two pages left, which does come up
    flat = actions.ravel()
    assert decision_rates(fleet, flat).reshape(fleet.shape)[2, 1, 0] > 0
    assert not is_order_up_to(fleet, flat)


@pytest.mark.parametrize("data", SMALL.values(), ids=SMALL)
def test_decisions_that_recur_are_those_that_come_up(data):
    asked, rng = problem(data), np.random.default_rng(8)
    for actions in [asked.actions_of(asked.space.sample(rng)) for _ in range(5)]:
        assert (recurring_decisions(asked.fleet, actions) == (decision_rates(asked.fleet, actions) > 0)).all()


def test_the_class_that_goes_first_and_the_one_that_never_goes_are_told():
    asked = problem(
        {"classes": [{"robots": 3, "arrival_rate": 0.1}, {"robots": 3, "arrival_rate": 0.5}], "capacity": 3}
    )
    told = asked.describe(asked.keeping((0, 3)))
    assert told["sent_first"] == [1, 1, 1, 1]
    assert told["sent_by_class"] == pytest.approx([0.0, 1.5])
    assert told["robots_by_class"] == pytest.approx([0.0, 3.0])


# -- fixed numbers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{"classes": 2}, {"environment": 2}, {"phases": 2}, {"classes": 2, "environment": 2}]
)
def test_static_is_the_best_of_all_fixed_numbers(options):
    asked = problem(*drawn(np.random.default_rng(30), robots=5, **options))
    robots = [one.robots for one in asked.fleet.classes]
    costs = {
        counts: asked.evaluate(asked.keeping(counts if len(robots) > 1 else counts[0])).objective
        for counts in all_numbers(robots)
    }
    answer = solve(asked, "static")
    assert answer.objective == pytest.approx(min(costs.values()), rel=1e-12)
    assert answer.extra["best_static"]["objective"] == pytest.approx(answer.objective, rel=1e-12)
    assert answer.status == Status.FEASIBLE and answer.bound is None
    kept = answer.extra["static_robots"]
    assert costs[tuple(kept) if len(robots) > 1 else (kept,)] == pytest.approx(answer.objective, rel=1e-12)


def test_fixed_numbers_of_exponential_robots_are_the_queue_of_the_textbook():
    asked = problem(*drawn(np.random.default_rng(31), robots=6, classes=2))
    for counts in ((1, 0), (2, 3), (3, 3)):
        formula, exact = judged_by_formula(asked, counts), asked.evaluate(asked.keeping(counts))
        assert formula.objective == pytest.approx(exact.objective, rel=1e-10)
        assert dict(formula.measures) == pytest.approx(dict(exact.measures), rel=1e-10)
    loads = np.array([1e-3, 0.5, 1.0, 1.7, 300.0])
    for capacity in (2, 9):
        for rate, *found in zip(loads, *closed_form(loads, capacity), strict=True):
            one = static_measures(RobotQueue(1, capacity, float(rate)), 1)
            assert found == pytest.approx(
                [one.starvation, one.loss_rate / rate, 1 - one.starvation, one.mean_length], rel=1e-12
            )


def test_large_fleets_are_searched_by_golden_section():
    asked = []

    def value(number):
        asked.append(number)
        return (number - 377) ** 2

    assert least_of(value, 1, 1000) == 377
    assert len(set(asked)) < 25
    assert [least_of(lambda number, at=at: abs(number - at), 0, 7) for at in range(8)] == list(range(8))


def test_limits_are_kept_by_searches_and_fixed_numbers():
    data = {"classes": [{"robots": 2, "arrival_rate": 0.5}, {"robots": 2, "arrival_rate": 0.25}], "capacity": 3}
    free = solve(problem(data), "static")
    limited = problem(data, limits={"loss_rate": {"max": 0.5 * free.evaluation.measures["loss_rate"]}})
    answer = solve(limited, "static")
    assert answer.status == Status.FEASIBLE and answer.objective > free.objective
    searched = solve(limited, "annealing", evaluations=300, seed=1)
    assert searched.status == Status.FEASIBLE and not searched.evaluation.violations
    one = problem(SMALL["environment"], limits={"starvation": {"max": 0.3}})
    assert solve(one, "local-search").objective == pytest.approx(solve(one, "exhaustive").objective)
    with pytest.raises(UnsupportedProblem, match="does not handle limits on measures"):
        solve(limited, "policy-iteration")


# -- refusals ----------------------------------------------------------------------------------------------------------


def test_strategies_that_cannot_say_so_in_one_sentence():
    asked = problem(SMALL["any"])
    with pytest.raises(UnsupportedProblem, match="the paper's own iteration is for robots of one sort"):
        solve(asked, "value-iteration:rule=paper")
    for name in ("policy-iteration", "value-iteration", "linear-program"):
        with pytest.raises(UnsupportedProblem, match="no weighted sum of"):
            solve(problem(SMALL["any"], {"starvation": 1, "response_time": 0.1}), name)
    priced = problem(SMALL["any"], {"starvation": 1, "response_time": 0.1})
    assert solve(priced, "static").objective == pytest.approx(priced.best_static.objective)


# -- the command line --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["fleet-all-small", "fleet-any-50"])
def test_a_fleet_is_solved_verified_drawn_and_simulated(name, instances, tmp_path, capsys):
    file, result = instances / "robots" / f"{name}.json", tmp_path / "result.json"
    assert main(["solve", str(file), "--strategy", "policy-iteration", "--json"]) == 0
    text = capsys.readouterr().out
    result.write_text(text, encoding="utf-8")
    answer = json.loads(text)
    assert answer["status"] == "optimal" and answer["checked"]
    assert main(["verify", str(result), str(file)]) == 0
    assert "equal to the best known" in capsys.readouterr().out
    assert main(["plot", str(file), "--result", str(result), "--out", str(tmp_path / "fleet.svg")]) == 0
    assert (tmp_path / "fleet.svg").stat().st_size > 5_000
    capsys.readouterr()
    assert main(["simulate", str(file), "--at", f"@{result}", "--replications", "8", "--time", "5000", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["agree"]
    assert main(["evaluate", str(file), "--at", f"@{result}", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["objective"] == pytest.approx(answer["objective"], rel=1e-12)
