"""Kind "robots" with areas: what files may say, what splits cost, that every road leads to the best one, and shapes."""

import csv
import json
import math
import warnings
from itertools import pairwise, product

import numpy as np
import pytest

from heuristics import Status, UnsupportedProblem
from heuristics.allocation.marginal_analysis import is_convex
from optmodels import Instance, InstanceError, RequestError, solve
from optmodels.cli import main
from optmodels.instance import load
from optmodels.plotting import plot_problem
from optmodels.results import result_to_data
from optmodels.robots import RobotsProblem
from optmodels.robots.areas import RobotAreasProblem
from optmodels.testing import check_problem
from queueing import RobotQueue, static_measures

AREAS = (
    {"name": "news", "capacity": 4, "arrival_rate": 0.4, "service_rate": 1.0, "importance": 2.0},
    {"capacity": 3, "arrival_rate": 0.5, "service_rate": 2.0},
)


def content(robots=5, areas=AREAS, control="dynamic", weights=None, limits=None, **data):
    return {
        "format": 1,
        "kind": "robots",
        "name": "test",
        "data": {"robots": robots, "areas": [dict(area) for area in areas], "control": control} | data,
        "cost": {"name": "weighted-sum", "weights": weights or {"starvation": 1.4}},
        "limits": limits or {},
    }


def problem(*arguments, **options) -> RobotAreasProblem:
    return Instance.from_data(content(*arguments, **options)).problem()


def drawn_weights(rng, priced=None):
    weights = {"starvation": math.exp(rng.uniform(-2, 2)), "loss_rate": math.exp(rng.uniform(-2, 2))}
    if rng.random() < 0.5 if priced is None else priced:
        weights |= {"mean_length": rng.uniform(0, 0.2), "active_robots": rng.uniform(0, 0.2)}
    return weights


def drawn_area(rng):
    return {
        "capacity": int(rng.integers(2, 8)),
        "arrival_rate": rng.uniform(0.1, 1.5),
        "service_rate": rng.uniform(0.5, 2.0),
        "importance": rng.uniform(0.3, 3.0),
    }


def drawn(seed, control, robots=None, areas=None) -> RobotAreasProblem:
    """Random areas and prices, half of them without a price on pages and robots."""
    rng = np.random.default_rng(seed)
    robots = int(rng.integers(1, 10)) if robots is None else robots
    listed = [drawn_area(rng) for _ in range(areas or int(rng.integers(1, 4)))]
    return problem(robots, listed, control, drawn_weights(rng))


def one_queue(asked: RobotAreasProblem, area: int, robots: int) -> RobotsProblem:
    """The same area as a problem of its own."""
    own = asked.areas[area]
    return RobotsProblem(
        name="own",
        robots=robots,
        capacity=own.capacity,
        arrival_rate=own.arrival_rate,
        service_rate=own.service_rate,
        cost=asked.cost,
    )


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "field", "rule"),
    [
        ({"robots": -1}, "robots", "a whole number, 0 or more"),
        ({"robots": None}, "robots", "a whole number, 0 or more"),
        ({"robots": 2.5}, "robots", "a whole number, 0 or more"),
        ({"robots": True}, "robots", "a whole number, 0 or more"),
        ({"robots": 10**8}, "robots", "5000000 at most"),
        ({"control": "both"}, "control", '"static" keeps all its robots active'),
        ({"control": ["static"]}, "control", '"static" keeps all its robots active'),
        ({"areas": []}, "areas", "a list of objects, one or more"),
        ({"areas": {"news": {}}}, "areas", "a list of objects, one or more"),
        ({"areas": [7]}, "areas[0]", "an area is an object"),
        ({"capacity": 5}, "capacity", "each of the areas has its own"),
        ({"arrival_rate": 1.0}, "arrival_rate", "each of the areas has its own"),
        ({"service_rate": 1.0}, "service_rate", "each of the areas has its own"),
        ({"speed": 1.0}, "speed", "no such field"),
        ({"areas": [AREAS[0], AREAS[0]]}, "areas[1].name", "no two areas have the same name"),
        ({"areas": [AREAS[0] | {"capacity": 10**9}]}, "areas[0].capacity", "5000000 at most"),
        ({"robots": 10**15}, "robots", r"but 5e\+15"),
    ],
)
def test_bad_data_are_refused_in_one_sentence_with_field_and_value(change, field, rule):
    bad = content()
    bad["data"] |= change
    refused(bad, f"data.{field}", rule)


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("capacity", 1, "2 or more"),
        ("capacity", 2.5, "2 or more"),
        ("arrival_rate", 0, "above 0"),
        ("arrival_rate", 1e-200, "nearer to one another"),
        ("service_rate", -1.0, "above 0"),
        ("service_rate", "1", "above 0"),
        ("importance", 0, "importance is a finite number above 0"),
        ("importance", None, "importance is a finite number above 0"),
        ("importance", 1e51, r"importance is a finite number above 0, 1e\+50 at most"),
        ("name", 5, "printable text"),
        ("name", "two\nlines", "printable text"),
        ("speed", 1.0, "no such field; known are arrival_rate, capacity"),
    ],
)
def test_bad_areas_are_refused_in_one_sentence_with_place_and_value(field, value, rule):
    bad = content()
    bad["data"]["areas"][1][field] = value
    refused(bad, f"data.areas[1].{field}", rule)


@pytest.mark.parametrize("field", ["capacity", "arrival_rate", "service_rate"])
def test_an_area_needs_capacity_and_rates(field):
    bad = content()
    del bad["data"]["areas"][0][field]
    refused(bad, f"data.areas[0].{field}", "an area needs it")


def refused(bad, field, rule):
    with pytest.raises(InstanceError, match=rule) as refusal:
        Instance.from_data(bad).problem()
    assert refusal.value.field == field
    assert "\n" not in str(refusal.value)


def test_the_number_of_robots_is_needed():
    bad = content()
    del bad["data"]["robots"]
    refused(bad, "data.robots", "areas share a given number of robots")


def test_costs_that_do_not_add_up_over_areas_are_refused():
    refused(content(weights={"starvation": 1, "response_time": 0.1}), "cost.weights.response_time", "are added up")
    refused(content(weights={"loss_rate": 1}), "cost.weights.starvation", "price of an idle server")
    lexicographic = content() | {"cost": {"name": "lexicographic", "measures": ["starvation", "loss_rate"]}}
    refused(lexicographic, "cost.name", "are added up")


def test_without_a_cost_no_policy_is_best_but_fixed_numbers_can_be_evaluated():
    bare = {key: value for key, value in content().items() if key != "cost"}
    refused(bare, "cost", "which policy is best in an area depends on its prices")
    bare["data"]["control"] = "static"
    asked = Instance.from_data(bare).problem()
    assert math.isnan(asked.evaluate((2, 3)).objective)
    assert asked.evaluate((2, 3)).measures["active_robots"] == 5
    assert asked.describe((2, 3))["best_static"] is None
    with pytest.raises(RequestError, match="no cost to minimise"):
        solve(asked, "marginal-analysis")


@pytest.mark.parametrize("control", ["dynamic", "static"])
@pytest.mark.parametrize("robots", [0, 4])
def test_problems_keep_the_house_rules(control, robots):
    check_problem(problem(robots, control=control), decisions=8)
    limited = problem(robots, control=control, limits={"starvation": {"max": 0.9}})
    check_problem(limited, decisions=8)


# -- what splits cost --------------------------------------------------------------------------------------------------


def test_fixed_numbers_are_queues_of_the_textbook():
    asked = problem(9, control="static")
    measures = asked.evaluate((5, 4)).measures  # loads 2 and 1: lengths as 1, 2, 4, 8, 16, and all alike
    assert measures["starvation"] == pytest.approx(1 / 31 + 1 / 4)
    assert measures["loss_rate"] == pytest.approx(2 * 16 / 31 + 2 * 1 / 4)
    assert measures["mean_length"] == pytest.approx((2 + 8 + 24 + 64) / 31 + 1.5)
    assert (measures["fewest_robots"], measures["most_robots"], measures["active_robots"]) == (9, 9, 9)
    assert asked.evaluate((5, 4)).objective == pytest.approx(2 * (1.4 / 31 + 32 / 31) + 1.4 / 4 + 1 / 2)


@pytest.mark.parametrize("control", ["dynamic", "static"])
def test_an_area_without_robots_starves_and_does_nothing_else(control):
    measures = problem(control=control).evaluate((0, 0)).measures
    assert measures["starvation"] == 2.0
    assert measures["response_time"] is None
    assert all(value == 0 for name, value in measures.items() if name not in ("starvation", "response_time"))
    assert problem(control=control).evaluate((0, 0)).objective == pytest.approx(1.4 * 3)


@pytest.mark.parametrize("control", ["dynamic", "static"])
@pytest.mark.parametrize("seed", range(3))
def test_response_times_follow_from_what_robots_bring_and_what_is_lost(seed, control):
    asked = drawn(seed, control, robots=6, areas=3)
    for decision in ((2, 1, 3), (0, 4, 2), (6, 0, 0)):
        found = asked.evaluate(decision).measures
        parts = [area["measures"] for area in asked.describe(decision)["areas"]]
        rates = [area.arrival_rate for area in asked.areas]
        served = sum(rate * part["active_robots"] for rate, part in zip(rates, parts, strict=True)) - found["loss_rate"]
        assert found["response_time"] == pytest.approx(found["mean_length"] / served, rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_a_controlled_area_costs_what_policy_iteration_finds_for_its_queue(seed):
    """By the table of the area, which starts from another policy and stops where more robots are not asked for."""
    asked = drawn(seed, "dynamic", robots=14, areas=1)
    for robots in (1, 2, 3, 5, 8, 13, 14):
        answer = solve(one_queue(asked, 0, robots), "policy-iteration")
        lower, upper = asked.allocation_cost(0, robots)
        importance = asked.areas[0].importance
        assert upper == pytest.approx(importance * answer.objective, rel=1e-11)
        assert lower <= importance * answer.objective * (1 + 1e-12) and upper - lower <= 1e-10 * upper
        measures = asked.evaluate((robots,)).measures
        priced = {name: weight for name, weight in asked.prices.items() if weight}
        assert importance * sum(priced[name] * measures[name] for name in priced) == pytest.approx(upper, rel=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_control_never_costs_more_and_more_robots_never_hurt_it(seed):
    asked = drawn(seed, "dynamic", robots=12, areas=1)
    dynamic = [asked.outcome(0, robots).objective for robots in range(13)]
    static = [asked.outcome(0, robots, "static").objective for robots in range(13)]
    assert all(best <= fixed * (1 + 1e-12) for best, fixed in zip(dynamic, static, strict=True))
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(dynamic[1:]))


@pytest.mark.parametrize("control", ["dynamic", "static"])
def test_more_robots_to_split_never_hurt(control):
    costs = [solve(drawn(3, control, robots=robots, areas=3), "marginal-analysis").objective for robots in range(12)]
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(costs))


def test_what_was_asked_before_does_not_matter():
    one, other = drawn(5, "dynamic", robots=9, areas=2), drawn(5, "dynamic", robots=9, areas=2)
    for decision in other.space:
        other.evaluate(decision)
    for decision in ((3, 6), (1, 2), (0, 9)):
        assert one.describe(decision) == other.describe(decision)


def test_importance_multiplies_what_an_area_costs():
    twice = [area | {"importance": 2 * area.get("importance", 1.0)} for area in AREAS]
    assert problem(areas=twice).evaluate((2, 3)).objective == 2 * problem().evaluate((2, 3)).objective
    eager = [AREAS[0] | {"importance": 1e6}, AREAS[1]]
    plain = solve(problem(areas=AREAS), "marginal-analysis").decision
    assert solve(problem(areas=eager), "marginal-analysis").decision[0] > plain[0]


# -- the best split ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("control", ["dynamic", "static"])
@pytest.mark.parametrize("seed", range(10))
def test_enumeration_programme_and_marginal_analysis_find_the_same(seed, control):
    asked = drawn(100 + seed, control)
    best = solve(asked, "exhaustive")
    for name in ("marginal-analysis", "marginal-analysis:largest=0"):
        answer = solve(asked, name)
        assert answer.status == Status.OPTIMAL
        assert answer.objective == pytest.approx(best.objective, rel=1e-12)
        assert answer.extra["convex"]
        assert answer.extra["greedy"]["gap"] <= 1e-12
    assert solve(asked, "local-search").objective == pytest.approx(best.objective, rel=1e-12)


@pytest.mark.parametrize("control", ["dynamic", "static"])
def test_fifty_robots_are_split_as_enumeration_splits_them(control):
    """50 where 65 would balance arrivals and services."""
    rates = ((12, 0.05, 1.0, 2.0), (8, 0.04, 1.2, 1.0), (5, 0.06, 0.9, 0.5))
    fields = ("capacity", "arrival_rate", "service_rate", "importance")
    asked = problem(50, [dict(zip(fields, row, strict=True)) for row in rates], control)
    best = solve(asked, "exhaustive")
    assert best.evaluations == math.comb(53, 3)
    assert sum(best.decision) == 50 and min(best.decision) > 0
    answer = solve(asked, "marginal-analysis")
    assert answer.status == Status.OPTIMAL
    assert answer.objective == pytest.approx(best.objective, rel=1e-12)


@pytest.mark.parametrize("control", ["dynamic", "static"])
def test_shipped_areas_are_split_as_a_plain_programme_splits_them(instances, control):
    asked = load(instances / "robots" / f"areas-8-{control}.json")
    least = {0: 0.0}
    for costs in asked.costs(control):
        found: dict[int, float] = {}
        for used, cost in least.items():
            for robots in range(asked.robots - used + 1):
                found[used + robots] = min(found.get(used + robots, math.inf), cost + costs[robots])
        least = found
    answer = solve(asked, "marginal-analysis")
    assert answer.objective == pytest.approx(min(least.values()), rel=1e-13)
    assert answer.status == Status.OPTIMAL and sum(answer.decision) <= 60


def test_limits_are_on_all_areas_together_and_left_to_searches():
    asked = problem(8, limits={"loss_rate": {"max": 0.05}})
    best = solve(asked, "exhaustive")
    kept = [one for one in map(asked.evaluate, asked.space) if one.measures["loss_rate"] <= 0.05]
    assert best.objective == min(one.objective for one in kept)
    assert best.objective > solve(problem(8), "marginal-analysis").objective
    assert solve(asked, "local-search").objective == pytest.approx(best.objective)
    with pytest.raises(UnsupportedProblem, match="does not handle limits on measures"):
        solve(asked, "marginal-analysis")


@pytest.mark.parametrize("name", ["policy-iteration", "value-iteration", "static"])
def test_strategies_for_one_queue_refuse_areas_in_one_sentence(name):
    with pytest.raises(UnsupportedProblem, match=r"^[^\n]+\.$"):
        solve(problem(), name)


def test_areas_are_told_one_by_one():
    answer = solve(problem(6), "marginal-analysis")
    areas = answer.extra["areas"]
    assert [area["name"] for area in areas] == ["news", "area 1"]
    assert tuple(area["robots"] for area in areas) == answer.decision
    assert math.fsum(area["objective"] for area in areas) == answer.objective
    assert all(area["bracket"][0] <= area["bracket"][1] == area["objective"] for area in areas)
    assert all(area["switching_curves"]["monotone"] for area in areas)
    static = solve(problem(6, control="static"), "exhaustive")
    assert answer.extra["best_static"] == {"robots": list(static.decision), "objective": static.objective}
    assert answer.extra["relative_improvement"] == pytest.approx(static.objective / answer.objective - 1)
    assert "bracket" not in static.extra["areas"][0]
    assert static.extra["areas"][0]["objective"] == static.extra["areas"][0]["static_objective"]
    assert problem(6).describe((0, 1))["areas"][0]["switching_curves"] is None


# -- shapes ------------------------------------------------------------------------------------------------------------


def test_starvation_and_losses_are_convex_in_a_fixed_number_of_robots():
    """As the docstring of the module proves: 2 E[X]^2 >= E[X(X-1)] for the number of pages X."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        queue = RobotQueue(1, int(rng.integers(2, 30)), float(10 ** rng.uniform(-2, 1)))
        found = [static_measures(queue, robots) for robots in range(1, 40)]
        for name, first in (("starvation", 1.0), ("loss_rate", 0.0)):
            values = np.array([first, *(getattr(one, name) for one in found)])
            assert (values[:-2] + values[2:] - 2 * values[1:-1] >= -1e-13 * values.max()).all()


def test_starvation_is_convex_as_a_function_of_the_mean_length():
    """m^2 V + m T >= V^2 for mean, variance and third central moment of the number of pages, with equality at K = 1."""
    for most, rate in product([1, 2, 3, 5, 10, 30, 100], 10.0 ** np.arange(-3, 3.01, 0.05)):
        pages = np.arange(most + 1)
        weights = rate ** (pages - most * (rate > 1.0))
        chances = weights / weights.sum()
        mean = chances @ pages
        second, third = (chances @ (pages - mean) ** power for power in (2, 3))
        assert mean**2 * second + mean * third >= second**2 * (1 - 1e-9)


@pytest.mark.parametrize("control", ["dynamic", "static"])
def test_costs_fall_by_less_and_less_as_far_as_robots_help(control):
    rng = np.random.default_rng(2)
    bent = 0
    for _ in range(60):
        asked = problem(14, [drawn_area(rng)], control, drawn_weights(rng, priced=True))
        lower, upper = np.array([asked.allocation_cost(0, robots) for robots in range(15)]).T
        assert is_convex(lower, upper)
        bent += bool((upper[:-2] + upper[2:] - 2 * upper[1:-1] < -1e-9 * upper[0]).any())
    assert bent > 10  # as a whole, with a price on pages or robots, they are often not convex


def test_one_robot_helps_a_controlled_area_if_any_number_does():
    """And one does if a page in service costs less than the starvation it ends, its robot's time included."""
    rng = np.random.default_rng(3)
    verdicts = []
    for _ in range(60):
        area, weights = drawn_area(rng), drawn_weights(rng, priced=True)
        weights["starvation"] = rng.uniform(0.01, 0.6)
        costs = problem(8, [area], weights=weights).costs("dynamic")[0]
        per_page = weights["mean_length"] + weights["active_robots"] * area["service_rate"] / area["arrival_rate"]
        helps = per_page < weights["starvation"]
        assert (costs[1] < costs[0]) == helps
        assert (costs[1:].min() < costs[0]) == helps
        verdicts.append(helps)
    assert any(verdicts) and not all(verdicts)


# -- from the command line ---------------------------------------------------------------------------------------------


@pytest.fixture
def call(capsys):
    def answer(*words):
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        return code, out, err

    return answer


@pytest.mark.parametrize("name", ["areas-3", "areas-8-dynamic", "areas-8-static"])
def test_shipped_areas_are_solved_and_verified(call, instances, tmp_path, name):
    file = instances / "robots" / f"{name}.json"
    code, out, _ = call("solve", file, "--strategy", "marginal-analysis", "--json")
    assert code == 0
    told = json.loads(out)
    assert told["status"] == "optimal" and told["extra"]["exact"] and told["extra"]["convex"]
    (tmp_path / "r.json").write_text(out)
    code, out, _ = call("verify", tmp_path / "r.json", file)
    assert (code, "equal to the best known" in out) == (0, True)
    code, out, _ = call("check", file)
    assert (code, "confirmed" in out) == (0, True)
    at = ",".join(map(str, told["decision"]))
    code, out, _ = call("evaluate", file, "--at", at, "--json")
    assert json.loads(out)["objective"] == told["objective"]


def test_a_split_of_too_many_robots_is_refused(call, instances):
    code, out, err = call("evaluate", instances / "robots" / "areas-3.json", "--at", "9,9,9")
    assert (code, out) == (2, "")
    assert "add up to 27; they add up to 12 at most" in err


def test_areas_are_compared(call, instances):
    file = instances / "robots" / "areas-3.json"
    code, out, _ = call("compare", file, "--strategies", "marginal-analysis", "exhaustive", "--workers", 1)
    assert code == 0
    assert out.count("optimal") >= 2 and out.count("0.753901") >= 2


def test_areas_are_swept_over_robots_and_rates(call, instances, tmp_path):
    file, table = instances / "robots" / "areas-3.json", tmp_path / "sweep.csv"
    code, _, _ = call(
        *("sweep", file, "--vary", "data.robots=0,6,12", "--vary", "data.areas[0].arrival_rate=0.1,0.3"),
        *("--strategy", "marginal-analysis", "--out", table, "--workers", 1),
    )
    assert code == 0
    rows = list(csv.DictReader(table.open()))
    assert [row["status"] for row in rows] == ["optimal"] * 6
    assert float(rows[-1]["objective"]) == pytest.approx(0.7539007905331382)
    assert int(rows[-1]["robots_used"]) == 12
    assert float(rows[-1]["relative_improvement"]) == pytest.approx(0.749, abs=1e-3)


# -- the picture -------------------------------------------------------------------------------------------------------


def bars(axes):
    return [[bar.get_width() for bar in container] for container in axes.containers]


def test_the_picture_shows_robots_costs_and_what_another_robot_is_worth(instances, tmp_path):
    asked = load(instances / "robots" / "areas-3.json")
    answer = solve(asked, "marginal-analysis")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = plot_problem(asked, result_to_data(answer), tmp_path / "areas.png")
        alone = plot_problem(asked)
    panels = {axes.get_label(): axes for axes in figure.axes}
    assert bars(panels["robots"]) == [[5, 5, 2]]
    areas = answer.extra["areas"]
    assert bars(panels["cost"]) == [[one["static_objective"] for one in areas], [one["objective"] for one in areas]]
    lines = {line.get_gid(): line.get_ydata() for line in panels["total"].get_lines()}
    assert {line.get_drawstyle() for line in panels["total"].get_lines()} == {"steps-mid"}  # robots are whole
    assert lines["dynamic"][-1] == pytest.approx(answer.objective)
    assert lines["static"][-1] == pytest.approx(answer.extra["best_static"]["objective"])
    assert "0.753901" in figure.get_suptitle() and "12 of 12 robots" in figure.get_suptitle()
    assert bars(alone.axes[0]) == [[5, 5, 2]]
    assert (tmp_path / "areas.png").stat().st_size > 5_000


def test_pictures_of_other_splits_controls_and_names():
    asked = problem(4, [AREAS[0] | {"name": "$x$"}, AREAS[1]], "static", limits={"loss_rate": 0.01})
    figure = plot_problem(asked, {"decision": [1, 3]})
    assert bars(figure.axes[0]) == [[1, 3]] and len(bars(figure.axes[1])) == 1
    assert "breaks limits" in figure.get_suptitle()
    with pytest.raises(RequestError, match="give a result to draw"):
        plot_problem(asked)
    with pytest.raises(InstanceError, match="it is no policy of 'test'"):
        plot_problem(asked, {"decision": [4, 1]})


def test_of_many_areas_those_with_fewest_robots_are_left_out_and_counted():
    many = plot_problem(problem(3, [AREAS[1] | {"name": f"a{n}"} for n in range(61)]), {"decision": [0] * 59 + [1, 2]})
    assert bars(many.axes[0]) == [[0] * 28 + [1, 2]]
    assert many.axes[0].get_title(loc="left") == "Robots by area\n(31 areas with fewest robots left out)"
