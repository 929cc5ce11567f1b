import itertools
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyomo")

import pyomo.environ as pyo
from pyomo.contrib.solver.common.factory import SolverFactory

from heuristics import Evaluation, refusal, run
from optmodels import load
from optmodels.costs import Limit, Limits, WeightedSum
from optmodels.mip import SOLVERS, Highs, compile_model, relaxation
from optmodels.mip import strategy as mip
from optmodels.placement import PlacementProblem, build
from optmodels.placement import mip as placement_mip
from optmodels.placement.mip import plan_of, read, refuses, start
from optmodels.placement.patterns import Reach, utilisations

INSTANCES = Path(__file__).parents[3] / "instances" / "placement"
FORMULATIONS = ("pattern", "base")
QUALITY = {"min_throughput": 1.7, "max_delay_probability": 0.1, "delay": 0.16, "guarantee": "farthest"}


def gautam(name, **options):
    data = json.loads((INSTANCES / f"gautam-{name}.json").read_text())["data"]
    return PlacementProblem.from_data(data | options.pop("data", {}), name=name, **options)


def solve(model):
    """Solve a model by Pyomo's own interface to HiGHS; the best point is left in its variables."""
    answer = SolverFactory("highs").solve(
        model, time_limit=100, rel_gap=0.0, load_solutions=False, raise_exception_on_nonoptimal_result=False
    )
    if answer.termination_condition.name == "provenInfeasible":
        return None
    assert answer.termination_condition.name == "convergenceCriteriaSatisfied"
    answer.solution_loader.load_vars()
    return answer.incumbent_objective


def relaxed(problem, formulation="automatic"):
    model = build(problem, formulation)
    for variable in model.component_data_objects(pyo.Var):
        variable.domain = pyo.Reals
    return solve(model)


def judged(problem):
    """Every placement with what the evaluator says of it."""
    return {decision: problem.evaluate(decision) for decision in itertools.product((0, 1), repeat=problem.layout.sites)}


def optimum(evaluations: dict[tuple[int, ...], Evaluation]):
    return min((found.objective for found in evaluations.values() if found.feasible), default=math.inf)


def draw_layout(rng, sites):
    """A grid or a connected network, often with many equally near sites."""
    if rng.random() < 0.5:
        rows = next(rows for rows in (3, 2, 1) if sites % rows == 0)
        return {"shape": [rows, sites // rows]}
    kind = rng.integers(3)
    if kind == 0:  # a star: ties among all leaves
        edges = [[0, leaf] for leaf in range(1, sites)]
    elif kind == 1:  # a tree and a few chords
        edges = [[int(rng.integers(node)), node] for node in range(1, sites)]
        edges += [sorted(rng.choice(sites, 2, replace=False).tolist()) for _ in range(2)]
    else:  # two sides, each seeing all of the other
        edges = [[one, other] for one in range(sites // 2) for other in range(sites // 2, sites)]
    return {"network": {"nodes": sites, "edges": [list(edge) for edge in sorted({tuple(edge) for edge in edges})]}}


def draw(seed, sites, guarantee="farthest", operating=False):
    """A random problem with a feasible placement."""
    rng = np.random.default_rng(seed)
    while (problem := draw_any(rng, sites, guarantee, operating)).infeasibility() is not None:
        pass
    return problem


def draw_any(rng, sites, guarantee, operating):
    layout = draw_layout(rng, sites)
    count = math.prod(layout["shape"]) if "shape" in layout else layout["network"]["nodes"]

    def shaped(values):
        return np.reshape(values, layout["shape"]).tolist() if "shape" in layout else list(values)

    demand = rng.integers(1, 14, count) * (rng.random(count) < 0.8)
    data = {
        **layout,
        "demand": shaped([int(value) for value in demand]),
        "opening_cost": shaped([int(value) for value in rng.integers(1, 4, count)]),
        # Slow servers cannot take their own cell alone: such sites are not allowed.
        "service_rate": shaped([float(value) for value in rng.choice([26.0, 40.0, 50.0], count, p=[0.2, 0.3, 0.5])]),
        "think_time": {"base": 0.48, "per_distance": float(rng.choice([0.005, 0.02]))},
        "quality": QUALITY | {"guarantee": guarantee},
    }
    if operating:
        data["operating_cost"] = shaped([round(float(value), 3) for value in rng.choice([0.0, 0.7, 2.5], count)])
    return PlacementProblem.from_data(data, name="drawn")


# -- exactness --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("seed", range(12))
def test_the_optimum_is_that_of_all_placements_judged(seed, formulation):
    problem = draw(seed, sites=8 + seed % 3, guarantee=("farthest", "worst-case")[seed % 2])
    model = build(problem, formulation)
    best = optimum(judged(problem))
    assert best < math.inf
    assert solve(model) == pytest.approx(best, abs=1e-6)
    assert problem.evaluate(read(model)).feasible
    assert problem.evaluate(read(model)).objective == pytest.approx(best)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("seed", range(6))
def test_medians_are_those_of_all_placements(seed, formulation):
    """As many sites as are needed and one more, as near to the clients as can be."""
    problem = draw(300 + seed, sites=8 + seed % 3, guarantee=("farthest", "worst-case")[seed % 2])
    counts = [found.measures["open_sites"] for found in judged(problem).values() if found.feasible]
    most = Limits({"open_sites": Limit(maximum=min(counts) + 1)})
    problem = replace(problem, cost=WeightedSum({"mean_distance": 2.5}), limits=most)
    best = optimum(judged(problem))
    assert best < math.inf
    model = build(problem, formulation)
    assert solve(model) == pytest.approx(best, abs=1e-6)
    found = problem.evaluate(read(model))
    assert found.feasible
    assert found.objective == pytest.approx(best)
    compiled = compile_model(build(problem))
    for decision, judgement in judged(problem).items():
        if judgement.feasible:
            start(problem, compiled.model, decision)
            assert compiled.program.objective(compiled.point()) == pytest.approx(judgement.objective)


@pytest.mark.parametrize("seed", range(6))
def test_a_limit_on_the_mean_distance_is_kept(seed):
    problem = draw(400 + seed, sites=8 + seed % 3)
    apart = sorted(found.measures["mean_distance"] for found in judged(problem).values() if found.feasible)
    for largest in (apart[0], apart[len(apart) // 3], apart[0] - 0.01):
        limited = replace(problem, limits=Limits({"mean_distance": Limit(maximum=largest)}))
        best = optimum(judged(limited))
        found = solve(build(limited))
        assert found == (None if best == math.inf else pytest.approx(best, abs=1e-6))
    assert best == math.inf


def test_the_shipped_median_is_that_of_all_sets_of_sites_and_of_the_program():
    data = json.loads((INSTANCES / "median-5x5.json").read_text())
    problem = load(INSTANCES / "median-5x5.json")
    assert problem.capacity.min() >= problem.demand.sum()  # no set of sites is infeasible
    sets = np.array(list(itertools.combinations(range(25), 4)))
    cells = np.array([divmod(cell, 5) for cell in range(25)])
    apart = np.abs(cells[:, None, :] - cells[None, :, :]).sum(axis=2) + 1
    demand = np.ravel(data["data"]["demand"])
    least = min((demand @ apart[:, part].min(axis=2)).min() for part in np.array_split(sets, 10))
    assert data["best_known"]["objective"] == least / demand.sum() == pytest.approx(480 / 239)


@pytest.mark.slow
def test_the_program_proves_the_shipped_median():
    problem = load(INSTANCES / "median-5x5.json")
    result = run(problem, Highs())
    assert result.status == "optimal"
    assert result.objective == pytest.approx(480 / 239, rel=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_the_optimum_with_operating_costs_is_that_of_all_placements_judged(seed):
    problem = draw(100 + seed, sites=6 + seed % 3, guarantee=("farthest", "worst-case")[seed % 2], operating=True)
    model = build(problem)
    best = optimum(judged(problem))
    assert solve(model) == pytest.approx(best, abs=1e-6)
    assert problem.evaluate(read(model)).objective == pytest.approx(best)


def test_the_drawn_problems_hold_what_they_should():
    problems = [draw(seed, sites=8 + seed % 3) for seed in range(12)]
    problems += [draw(100 + seed, sites=6 + seed % 3, operating=True) for seed in range(12)]
    assert any(not problem.allowed.all() for problem in problems)
    assert any((problem.demand == 0).any() for problem in problems)
    assert any(problem.shape is None for problem in problems)
    assert any(len(np.unique(problem.capacity, axis=0)) > 1 for problem in problems)
    services = [service for problem in problems for found in Reach.of(problem).services.values() for service in found]
    assert max(service.fewest for service in services) >= 4
    assert any(service.fewest < service.most for service in services)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("seed", range(5))
def test_a_placement_fits_the_model_if_and_only_if_it_is_feasible(seed, formulation):
    operating = formulation == "pattern" and seed % 2 == 0
    problem = draw(200 + seed, 5 + seed % 2, ("farthest", "worst-case")[seed // 2 % 2], operating)
    model = build(problem, formulation)
    outcomes = set()
    for decision, found in judged(problem).items():
        outcomes.add(found.feasible)
        if any(value > model.is_open[site].ub for site, value in enumerate(decision)):
            assert not found.feasible
            continue
        for site, value in enumerate(decision):
            model.is_open[site].fix(value)
        objective = solve(model)
        if found.feasible:
            assert objective == pytest.approx(found.objective, abs=1e-6), decision
        else:
            assert objective is None, decision
    assert outcomes == {True, False}


def test_a_site_that_cannot_be_open_is_closed_in_the_model():
    problem = next(drawn for seed in range(50) if not (drawn := draw(seed, 6)).allowed.all())
    model = build(problem)
    assert [model.is_open[site].ub for site in range(6)] == problem.allowed.astype(int).tolist()


def test_four_sites_that_share_a_cell_get_a_quarter_each_rounded_up():
    hub = {"network": {"nodes": 5, "edges": [[0, 1], [0, 2], [0, 3], [0, 4]]}}
    data = {
        **hub, "demand": [13, 5, 5, 5, 5], "opening_cost": [100, 1, 1, 1, 1], "service_rate": 28,
        "think_time": {"base": 0.48, "per_distance": 0.02}, "quality": QUALITY,
    }  # fmt: skip
    problem = PlacementProblem.from_data(data, name="hub")
    assert problem.capacity[1].tolist()[:2] == [9, 9]  # 5 + 4 clients, a quarter of 13 rounded up, and no more
    for formulation in FORMULATIONS:
        model = build(problem, formulation)
        assert solve(model) == pytest.approx(4)
        assert read(model) == (0, 1, 1, 1, 1)
        assert pyo.value(model.nearest[0, 2, 4]) == pytest.approx(1)


# -- the start --------------------------------------------------------------------------------------------------------


def check_start(problem, model, decision):
    start(problem, model, decision)
    compiled = compile_model(model)
    point = compiled.point()
    assert point is not None
    assert compiled.program.broken_row(point) is None
    assert compiled.program.objective(point) == pytest.approx(problem.evaluate(decision).objective)
    assert read(model) == tuple(decision)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("seed", range(4))
def test_every_feasible_placement_is_a_point_of_the_model(seed, formulation):
    problem = draw(300 + seed, 6, ("farthest", "worst-case")[seed % 2], operating=formulation == "pattern")
    model = build(problem, formulation)
    feasible = [decision for decision, found in judged(problem).items() if found.feasible]
    for decision in feasible[:: max(1, len(feasible) // 10)]:
        check_start(problem, model, decision)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_random_placements_of_a_larger_grid_are_points_of_the_model(formulation):
    problem = gautam("8x8")
    model = build(problem, formulation)
    rng = np.random.default_rng(5)
    for _ in range(4):
        decision = problem.repair(tuple(int(value) for value in rng.random(64) < 0.4), rng)
        assert problem.evaluate(decision).feasible
        check_start(problem, model, decision)


def test_an_infeasible_start_is_refused():
    problem = gautam("4x4")
    with pytest.raises(ValueError, match="feasible placement, and this one breaks: "):
        start(problem, build(problem), (0,) * 16)


# -- the paper's grids ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "best"), [("2x3", 8), ("2x3-printed", 5), ("4x4", 11), ("6x6", 23)])
def test_corners_of_the_papers_grid_are_solved(name, best):
    problem = gautam(name)
    model = build(problem)
    assert solve(model) == pytest.approx(best, abs=1e-6)
    assert problem.evaluate(read(model)).objective == best


def test_the_strategy_proves_the_papers_example_from_a_start():
    problem = gautam("4x4")
    result = run(problem, Highs(), seed=1)
    assert (result.status, result.objective, result.bound) == ("optimal", 11, 11)
    assert result.extra["solver"]["start"] >= 11  # a number: the program agreed with the start


@pytest.mark.parametrize(("name", "pattern", "base"), [("4x4", 10.87, 8.75), ("6x6", 20.67, 18.28)])
def test_the_linear_relaxation_is_tight(name, pattern, base):
    problem = gautam(name)
    assert relaxed(problem) >= pattern
    assert base <= relaxed(problem, "base") < pattern


@pytest.mark.slow
def test_the_linear_relaxation_is_tight_on_a_larger_grid():
    assert relaxed(gautam("8x8")) >= 38.08


def test_more_patterns_never_loosen_the_relaxation(monkeypatch):
    problem = gautam("4x4")
    bounds = []
    for most in (0, 30, 10_000):
        monkeypatch.setattr(placement_mip, "MOST_PATTERNS", most)
        plan_of.cache_clear()
        bounds.append(relaxed(problem, "pattern"))
    plan_of.cache_clear()
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[-1] == pytest.approx(11)


def test_cheapest_opening_first_is_not_optimal_when_utilisation_costs():
    """Theorem A.1 of the paper says it is, where opening costs exceed the sum of the operating costs' weights."""
    priced = gautam("2x3", data={"operating_cost": [[0, 0, 0], [2, 0, 0]]})
    assert optimum(judged(priced)) == 9
    model = build(priced)
    assert solve(model) == pytest.approx(9, abs=1e-6)
    assert read(model) == (1, 1, 0, 0, 0, 0)
    opening_only = build(gautam("2x3"))
    assert solve(opening_only) == pytest.approx(8)
    assert priced.evaluate(read(opening_only)).objective == pytest.approx(9.51, abs=0.005)


# -- prices, corners and refusals -------------------------------------------------------------------------------------


def test_weights_scale_the_prices():
    plain = draw(100, 6, operating=True)
    weights = {"opening": 0.5, "operating": 3.0, "open_sites": 0.25}
    problem = PlacementProblem.from_data(plain.to_data(), name="weighted", cost=WeightedSum(weights))
    assert solve(build(problem)) == pytest.approx(optimum(judged(problem)), abs=1e-6)


def test_utilisations_of_patterns_are_those_of_the_evaluator():
    for guarantee in ("farthest", "worst-case"):
        problem = draw(101, 6, guarantee, operating=True)
        plan = plan_of(problem)
        model = build(problem)
        for decision, found in judged(problem).items():
            if not found.feasible:
                continue
            start(problem, model, decision)
            shown = problem.describe(decision)["utilisation"]
            for site in np.flatnonzero(decision).tolist():
                if site not in plan.patterns or not math.isinf(plan.patterns[site].within):
                    continue
                patterns = plan.patterns[site].patterns
                number = next(i for i in range(len(patterns)) if model.pattern[site, i].value == 1)
                assert utilisations(Reach.of(problem), site, patterns)[number] == pytest.approx(
                    shown[site] or 0.0, rel=1e-12
                )


def test_without_clients_nothing_need_be_open():
    data = gautam("2x3").to_data() | {"demand": [[0, 0, 0], [0, 0, 0]]}
    problem = PlacementProblem.from_data(data, name="nobody")
    model = build(problem)
    assert solve(model) == pytest.approx(0)
    assert read(model) == (0,) * 6
    check_start(problem, model, (0,) * 6)
    check_start(problem, model, (1, 0, 0, 0, 0, 1))


def test_a_cell_too_large_for_all_sites_makes_the_model_infeasible():
    data = gautam("2x3").to_data() | {"demand": [[500, 1, 1], [1, 1, 1]]}
    problem = PlacementProblem.from_data(data, name="crowd")
    assert problem.infeasibility() is not None
    assert solve(build(problem)) is None


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"cost": WeightedSum({"opening": 1.0, "mean_delay": 2.0})}, "not mean_delay"),
        ({"cost": lambda measures: measures["opening"] ** 2}, "weighted sum"),
        ({"limits": Limits({"mean_delay": Limit(maximum=3.0)})}, "can limit .*, not mean_delay"),
    ],
)
def test_what_is_not_linear_is_refused_in_a_sentence(options, sentence):
    problem = gautam("2x3", **options)
    assert re.search(sentence, refuses(problem))
    with pytest.raises(ValueError, match=sentence):
        build(problem)


def test_operating_costs_of_sites_with_too_many_patterns_are_refused(monkeypatch):
    problem = gautam("4x4", data={"operating_cost": 1})
    assert refuses(problem) is None
    monkeypatch.setattr(placement_mip, "MOST_PRICED_PATTERNS", 50)
    plan_of.cache_clear()
    assert "more than 50 of them" in refuses(problem)
    plan_of.cache_clear()


def test_a_large_grid_takes_the_small_formulation(monkeypatch):
    problem = gautam("6x6")
    monkeypatch.setattr(placement_mip, "MOST_COLUMNS", 1_000)
    plan_of.cache_clear()
    assert {block.within for block in plan_of(problem).patterns.values()} == {1}
    assert {block.within for block in plan_of(problem, "pattern").patterns.values()} == {2, math.inf}
    plan_of.cache_clear()


def test_costs_the_model_cannot_price_are_refused_by_the_strategy():
    priced = gautam("2x3", cost=WeightedSum({"opening": 1.0, "mean_delay": 2.0}))
    nobody = gautam("2x3", data={"demand": [[0, 0, 0], [0, 0, 0]]}, cost=WeightedSum({"mean_distance": 1.0}))
    assert "their mean distance is not defined" in refusal(nobody, Highs())
    sentence = refusal(priced, Highs())
    assert sentence is not None and "mean_delay" in sentence and sentence.endswith(".")
    assert refusal(gautam("2x3"), Highs()) is None


def test_a_large_program_is_bounded_by_its_relaxation_while_the_solver_works(monkeypatch):
    class Companion:
        """Knows a bound that HiGHS does not have at first, and says whether it was asked and let go."""

        asked = closed = 0

        def __init__(self, program, seconds):
            assert seconds > 0

        @property
        def bound(self):
            Companion.asked += 1
            return 22.5

        def __enter__(self):
            return self

        def __exit__(self, *failure):
            Companion.closed += 1

    monkeypatch.setattr(mip, "COMPANION_ENTRIES", 1)
    monkeypatch.setattr(relaxation, "Companion", Companion)
    result = run(gautam("6x6"), Highs(start=False))
    assert Companion.asked > 0 and Companion.closed == 1
    bounds = [point.bound for point in result.trace if point.objective is None]
    assert bounds[:2] == [pytest.approx(gautam("6x6").lower_bound(), abs=1.0), 23.0]  # the companion's, before HiGHS's
    assert result.status == "optimal" and result.objective == 23.0


@pytest.mark.parametrize("name", ["2x3", "4x4", "6x6"])
def test_every_feasible_placement_is_a_point_of_whole_numbers(name):
    problem, rng = gautam(name), np.random.default_rng(5)
    compiled = compile_model(problem.to_pyomo())
    assert compiled.program.implied_whole
    for _ in range(20):
        placement = problem.repair(problem.space.sample(rng), rng)
        problem.start_pyomo(compiled.model, placement)
        point = compiled.point()
        assert np.array_equal(point, np.round(point))
        assert compiled.program.broken_row(point) is None


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["scip", "cpsat"])
def test_other_solvers_find_the_same_optimum(solver):
    if SOLVERS[solver].missing(solver):  # importing OR-Tools here would clash with highspy
        pytest.skip(f"needs the extra {solver}, which users may leave out; `make test-all` installs it")
    result = run(gautam("4x4"), Highs(solver=solver))
    assert (result.status, result.objective, result.bound) == ("optimal", 11.0, 11.0)
