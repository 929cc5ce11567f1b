"""Rates and weights over up to eighteen powers of ten: no order of visits leaves out what matters."""

from itertools import product

import numpy as np
import pytest

import optmodels as om
from optmodels.cli import main
from optmodels.freshness import FreshnessProblem
from optmodels.freshness.partition import best_parts
from optmodels.freshness.schedules import Greedy, LargestIndex, PowerOfTwo, Regular
from optmodels.freshness.schedules.cycle_frequencies import crowded, once_or_never
from optmodels.instance import Instance, write
from queueing.freshness import allocate, even_cost

ORDERS = ("whittle", "greedy", "regular", "golden-ratio", "power-of-two")

LAWS = (
    {"law": "constant", "value": 1.0},
    {"law": "exponential", "mean": 1.0},
    {"law": "hyperexponential", "probabilities": [0.3, 0.7], "means": [2.0, 0.5]},
)


def wide(seed):
    """1 to 60 pages, rates over up to 18 powers of ten about any middle, weights over as many, or the rates."""
    rng = np.random.default_rng(seed)
    pages, spread, middle = int(rng.integers(1, 61)), rng.uniform(0, 18), rng.uniform(-4, 2)
    rates = 10 ** (middle + spread * rng.uniform(-0.5, 0.5, pages))
    weights = (10 ** (rng.uniform(0, 18) * rng.uniform(-0.5, 0.5, pages))).tolist()
    if rng.random() < 0.3:
        weights = "change-rates"
    data = {"change_rates": rates.tolist(), "weights": weights, "access_time": LAWS[int(rng.integers(len(LAWS)))]}
    return FreshnessProblem.from_data(data, name=f"wide-{seed}")


def lognormal(pages, sigma, seed):
    rng = np.random.default_rng(seed)
    rates = rng.lognormal(sigma=sigma, size=pages)
    data = {"change_rates": (0.5 * rates / rates.sum()).tolist(), "weights": rng.lognormal(size=pages).tolist()}
    return FreshnessProblem.from_data(data | {"access_time": LAWS[1]}, name=f"lognormal-{sigma}")


def check(problem):
    uniform, evenly = om.solve(problem, "uniform"), om.solve(problem, "power-of-two")
    bound = problem.lower_bound()
    for name in ORDERS:
        found = om.solve(problem, name)
        assert found.objective <= uniform.objective * (1 + 1e-12), (problem.name, name)
        if evenly.objective <= 1.05 * bound:
            assert found.objective <= 1.05 * bound * (1 + 1e-12), (problem.name, name)
        assert found.extra["rule"].partition(":")[0] in (name, "power-of-two", "uniform")
        assert ("note" in found.extra) == (found.extra["rule"].partition(":")[0] != name)


@pytest.mark.parametrize("seed", range(25))
def test_no_order_is_worse_than_visits_in_turn_nor_far_from_the_bound(seed):
    check(wide(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(25, 300))
def test_no_order_is_worse_than_visits_in_turn_nor_far_from_the_bound_300(seed):
    check(wide(seed))


@pytest.mark.parametrize("rule", [LargestIndex, Greedy, Regular], ids=lambda rule: rule.name)
def test_heavy_pages_that_change_rarely_are_visited_by_the_rules_themselves(rule):
    """No other rule has to help: what is left out is worth less than the visits it would take."""
    for problem in (lognormal(300, 6.0, 1), lognormal(60, 9.0, 2), lognormal(200, 4.0, 3)):
        found = om.solve(problem, rule())
        assert found.objective <= 1.04 * found.bound, problem.name
        assert found.extra["rule"].startswith(rule.name)
        assert found.extra["weight_left_out"] < 1e-3


def test_a_rule_with_parameters_does_what_it_is_told():
    problem = FreshnessProblem.from_data(
        {"change_rates": [0.001] * 94, "weights": "change-rates", "access_time": LAWS[0]}, name="equal"
    )
    told, held = om.solve(problem, "golden-ratio:slots=4181"), om.solve(problem, "golden-ratio")
    assert (told.extra["rule"], held.extra["rule"]) == ("golden-ratio", "uniform")
    assert told.objective > 1.1 * held.objective
    assert held.status == "optimal"
    assert f"golden-ratio itself would cost {told.objective:.6g}"[:-2] in held.extra["note"]
    stateless = om.solve(problem, "golden-ratio:form=stateless")
    assert stateless.extra["rule"] == "golden-ratio"


def test_what_is_left_out_is_told(capsys, tmp_path):
    problem = lognormal(100, 6.0, 4)
    short = om.solve(problem, "greedy:slots=100")
    visited = np.bincount(short.decision["schedule"], minlength=100) > 0
    wanted = problem.allocation().frequencies > 0
    lost = problem.columns.weights[wanted & ~visited].sum() / problem.columns.weights.sum()
    assert lost > 0
    assert short.extra["weight_left_out"] == pytest.approx(lost, rel=1e-12)
    assert short.extra["pages_left_out"] == np.count_nonzero(wanted & ~visited)
    assert short.extra["left_out"].startswith(f"{short.extra['pages_left_out']} pages with ")
    assert om.solve(problem, "lagrangian").extra["weight_left_out"] == 0
    write(Instance.from_problem(problem), tmp_path / "p.json")
    assert main(["solve", str(tmp_path / "p.json"), "--strategy", "greedy:slots=100"]) == 0
    assert f"left out: {short.extra['left_out']}\n" in capsys.readouterr().out
    assert main(["solve", str(tmp_path / "p.json"), "--strategy", "lagrangian"]) == 0
    assert "left out" not in capsys.readouterr().out


def test_a_visit_is_made_where_it_gains_more_than_its_price():
    """Against all other choices of who is visited at all, for few pages: none costs noticeably less."""
    tried = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        pages, slots = int(rng.integers(3, 9)), 24
        rates, weights = 10 ** rng.uniform(-7, 1, pages), 10 ** rng.uniform(-2, 2, pages)
        data = {"change_rates": rates.tolist(), "weights": weights.tolist(), "access_time": LAWS[0]}
        problem = FreshnessProblem.from_data(data, name="few")
        (part,) = best_parts(problem.traits, problem.rules, problem.allocation())
        if not crowded(part.frequencies, slots):
            continue
        tried += 1
        found = once_or_never(part, slots)
        assert found.sum() == pytest.approx(1.0, rel=1e-12)
        assert ((found == 0) | (found >= (1 - 1e-12) / slots)).all()
        costs = []
        for chosen in product((False, True), repeat=pages):
            if any(chosen):
                least, most = np.where(chosen, 1.0 / slots, 0.0), np.where(chosen, 1.0, 0.0)
                costs.append(allocate(part.traits, 1.0, least, most).objective)
        assert even_cost(part.traits, found) <= min(costs) * (1 + 1e-3)
    assert tried >= 5


def test_power_of_two_is_held_to_visits_in_turn_too():
    problem = FreshnessProblem.from_data(
        {"change_rates": [0.01] * 5, "weights": "change-rates", "access_time": LAWS[0]}, name="five"
    )
    assert om.solve(problem, "power-of-two").status == "optimal"
    assert om.solve(problem, PowerOfTwo(slots=64)).status == "feasible"
