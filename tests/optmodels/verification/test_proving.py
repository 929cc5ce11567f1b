"""What an answer claims is proved again, refuted, or taken on trust: never believed, whatever the scale of costs."""

import copy
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

import optmodels as om
from heuristics import Evaluation, Result, Status
from heuristics.spaces import BinaryVectors
from heuristics.testing import Knapsack
from optmodels.costs import Limits
from optmodels.instance import Instance
from optmodels.solving import evaluate, solve
from optmodels.verification import verify
from optmodels.verification.proving import lists, next_multiple, other_roads, prove_again
from optmodels.verification.verdicts import Verdict

CONFIRMED, REFUTED, ON_TRUST, NOT_CLAIMED = Verdict

SCALES = (1e-150,)  # the others take their time: see the slow test

#: Small instances of every kind, and how the best decision is found.
SMALL = {
    "placement": ("placement", {"rows": 2, "columns": 4}, "exhaustive"),
    "placement-continuous": ("placement", {"rows": 3, "columns": 3, "cost_law": "continuous"}, "exhaustive"),
    "threshold": ("threshold", {"modes": 3, "capacity": 5}, "exhaustive"),
    "threshold-policy": ("threshold", {"modes": 2, "capacity": 4}, "optimal-policy"),
    "robots": ("robots", {"robots": 4, "capacity": 5}, "policy-iteration"),
    "fleet": ("robots", {"robots": 2, "capacity": 3, "classes": 2}, "policy-iteration"),
    "freshness": ("freshness", {"pages": 6}, "lagrangian"),
    "freshness-hosts": ("freshness", {"pages": 8, "hosts": 3, "access": "constant"}, "lagrangian"),
    "routing": ("routing", {"servers": 3, "spread": 2.0}, "min-mean-cycle"),
    "routing-two": ("routing", {"servers": 2, "spread": 3.0}, "two-server"),
    "routing-period": ("routing", {"servers": 3, "period": 7}, "exhaustive"),
}


@pytest.fixture(autouse=True)
def short_search(monkeypatch):
    """Searches that prove nothing need not be long here."""
    monkeypatch.setattr("optmodels.verification.proving.SEARCH", 500)


def scaled(instance, scale):
    """The same instance with all costs times so much."""
    data = copy.deepcopy(instance.to_data())
    data.pop("best_known", None)
    if instance.kind == "placement":
        data["data"]["opening_cost"] = (scale * np.array(data["data"]["opening_cost"], dtype=float)).tolist()
    elif instance.kind in ("freshness", "routing"):
        measure = "obsolescence" if instance.kind == "freshness" else "cost"
        data["cost"] = {"name": "weighted-sum", "weights": {measure: scale}}
    else:
        weights = {"loss_rate": 1.0} if instance.kind == "robots" else {}
        weights |= data["cost"]["weights"]
        scale = min(scale, 1e40) if instance.kind == "robots" else scale  # prices are at most 1e50 there
        data["cost"]["weights"] = {name: scale * weight for name, weight in weights.items()}
    return Instance.from_data(data)


def problem_of(name, seed, scale):
    kind, options, _ = SMALL[name]
    return scaled(om.generate(kind, seed=seed, **options), scale).problem()


def claimed(problem, decision, **claims):
    """A result that says of a decision what it likes."""
    return replace(evaluate(problem, decision), strategy="by hand", **claims)


def verdicts(result, problem, **options):
    found = verify(result, problem, **options)
    return found.claims["bound"].verdict, found.claims["status"].verdict


def worse_than(problem, best):
    """A feasible decision that costs more."""
    rng = np.random.default_rng(1)
    for _ in range(300):
        decision = problem.space.check(problem.space.sample(rng))
        judged = problem.evaluate(decision)
        if judged.feasible and judged.objective > best * (1 + 1e-6):
            return decision
    return None


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("seed", [1])
@pytest.mark.parametrize("name", SMALL)
def test_true_claims_are_confirmed_and_false_ones_refuted(name, seed, scale):
    plain, problem = problem_of(name, seed, 1.0), problem_of(name, seed, scale)
    decision = solve(plain, SMALL[name][2]).decision
    best = problem.evaluate(problem.space.check(decision)).objective
    assert verdicts(claimed(problem, decision, status=Status.OPTIMAL, bound=best), problem) == (CONFIRMED, CONFIRMED)
    below = claimed(problem, decision, status=Status.OPTIMAL, bound=best * (1 - 5e-10))
    assert verdicts(below, problem) == (CONFIRMED, CONFIRMED)
    lower = claimed(problem, decision, bound=0.9 * best)
    assert verdicts(lower, problem) == (CONFIRMED, CONFIRMED)
    higher = claimed(problem, decision, bound=best * (1 + 2e-9))
    assert verdicts(higher, problem) == (REFUTED, CONFIRMED)
    assert verdicts(replace(higher, status=Status.OPTIMAL), problem) == (REFUTED, REFUTED)
    worse = worse_than(problem, best)
    if worse is not None and lists(problem, worse) == lists(problem, decision):  # else the claims are about others
        value = problem.evaluate(worse).objective
        assert verdicts(claimed(problem, worse, status=Status.OPTIMAL, bound=value), problem) == (REFUTED, REFUTED)
        # Only the best decision itself lies below this bound, and it may take longer to find than proofs are given.
        assert verdicts(claimed(problem, worse, bound=best * (1 + 2e-9)), problem)[0] in (REFUTED, ON_TRUST)
        assert verdicts(claimed(problem, worse, bound=best), problem) == (CONFIRMED, CONFIRMED)
        assert verdicts(claimed(problem, worse), problem) == (NOT_CLAIMED, CONFIRMED)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", SMALL)
def test_the_same_on_many_instances_and_scales(name):
    for seed in range(2, 8):
        for scale in (1.0, 1e-12, 1e-150, 1e7, 1e150):
            test_true_claims_are_confirmed_and_false_ones_refuted(name, seed, scale)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("scale", [1e-10, 1e-200, 1e200])
def test_a_false_optimum_of_tiny_costs_is_found_among_65536_placements(instances, scale):
    plain = om.load(instances / "placement" / "gautam-4x4.json")
    problem = replace(plain, opening_cost=plain.opening_cost * scale)
    best = solve(plain, "highs").decision
    value = problem.evaluate(best).objective
    right = claimed(problem, best, status=Status.OPTIMAL, bound=value)
    assert verdicts(right, problem, seconds=60) == (CONFIRMED, CONFIRMED)
    others = [problem.repair((1,) * 16, np.random.default_rng(seed)) for seed in range(30)]  # no site can be closed
    other = min(
        (o for o in others if problem.evaluate(o).objective > 1.001 * value), key=lambda o: plain.evaluate(o).objective
    )
    worse = problem.evaluate(other).objective
    wrong = claimed(problem, other, status=Status.OPTIMAL, bound=worse)
    assert verdicts(wrong, problem, seconds=60) == (REFUTED, REFUTED)


# -- what no cheap road reaches ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def large(instances):
    """36 sites: the linear relaxation proves 21 where 23 is best."""
    return om.load(instances / "placement" / "gautam-6x6.json")


@pytest.fixture(scope="module")
def known(instances):
    return om.read_instance(instances / "placement" / "gautam-6x6.json").best_known


def test_a_proof_that_took_long_is_taken_on_trust_and_not_called_verified(large, known):
    found = verify(claimed(large, known.decision, status=Status.OPTIMAL, bound=known.objective), large, seconds=0.05)
    assert found.on_trust == ("bound", "status")
    assert not found.verified and not found.refuted
    assert "verified" not in str(found)
    assert "--prove would solve it again by highs within --seconds" in str(found)
    assert found.check() is found
    assert found.to_data()["status"] == "taken on trust"


def test_proving_solves_again_by_another_strategy(monkeypatch):
    """With the cheap roads closed, an exact strategy decides; the one that answered is not asked."""
    monkeypatch.setattr("optmodels.verification.proving.MOST", 0)
    monkeypatch.setattr("optmodels.verification.proving.QUICK", ())
    problem = Knapsack()
    answer = replace(solve(problem, "exhaustive"), strategy="highs", parameters={})
    best = answer.objective
    assert verify(answer, problem).on_trust == ("bound", "status")
    found = verify(answer, problem, prove=True)
    assert found.verified
    assert found.proved.tried == ("exhaustive",)
    assert found.proved.by == "exhaustive"
    same = verify(replace(answer, strategy="exhaustive"), problem, prove=True)
    assert same.on_trust == ("bound", "status")
    assert same.prove == "no other exact strategy takes this problem"
    assert best is not None


def test_the_strategy_that_answered_is_asked_last_and_named(instances):
    problem = om.load(instances / "routing" / "loss-3.json")
    answer = solve(problem, "min-mean-cycle")
    found = verify(answer, problem)
    assert found.verified
    assert found.claims["bound"].reason.endswith("by min-mean-cycle:states=200000, the strategy that answered")
    other = verify(replace(answer, strategy="by hand"), problem)
    assert other.claims["bound"].reason.endswith("by min-mean-cycle:states=200000")
    proved = verify(answer, problem, prove=True, seconds=30)
    assert proved.verified
    assert proved.proved.by == "value-iteration:accuracy=1e-10"
    assert "the strategy that answered" not in str(proved)


def test_another_solver_is_another_road(large, known):
    answer = claimed(large, known.decision, status=Status.OPTIMAL, bound=known.objective)
    by_highs = replace(answer, strategy="highs", parameters={"solver": "highs"})
    assert "highs" in other_roads(large, answer)
    assert "highs" not in other_roads(large, by_highs)
    assert "highs" in other_roads(large, replace(by_highs, parameters={"solver": "scip"}))


def test_the_other_road_refutes_what_cheap_ones_leave(monkeypatch):
    for name in ("MOST", "DESCENT"):
        monkeypatch.setattr(f"optmodels.verification.proving.{name}", 0)
    monkeypatch.setattr("optmodels.verification.proving.SEARCH", 1)
    problem = Knapsack()
    worst = min(
        (d for d in problem.space if problem.evaluate(d).feasible), key=lambda d: -problem.evaluate(d).objective
    )
    value = problem.evaluate(worst).objective
    answer = claimed(problem, worst, status=Status.OPTIMAL, bound=value)
    assert verdicts(answer, problem, prove=True) == (REFUTED, REFUTED)


# -- the forms of a claim ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole():
    """Costs are whole numbers, so that a bound within a step of the objective proves it."""
    problem = problem_of("placement", 1, 1.0)
    assert problem.objective_step == 1.0
    return problem, solve(problem, "exhaustive")


def test_a_bound_within_the_step_of_objectives_proves_an_optimum(whole):
    problem, answer = whole
    for bound in (answer.objective, answer.objective - 0.99):
        assert verify(replace(answer, bound=bound), problem).verified
    assert verify(replace(answer, bound=answer.objective - 1.0), problem).claims["status"].verdict == REFUTED


@pytest.mark.parametrize(
    ("bound", "step", "raised"),
    [
        (6.2, 2.0, 8.0), (6.0, 2.0, 6.0), (6.0 + 1e-12, 2.0, 6.0), (6.0 + 1e-6, 2.0, 8.0), (-0.5, 1.0, 0.0),
        (6.2, None, 6.2), (-math.inf, 1.0, -math.inf), (math.inf, 1.0, math.inf), (6.2e7 + 0.3, 1.0, 6.2e7 + 0.3),
    ],
)  # fmt: skip
def test_bounds_are_raised_to_the_next_possible_objective(bound, step, raised):
    assert next_multiple(bound, step) == raised


def infeasible(problem):
    return Result(problem.name, Status.INFEASIBLE, None, None, checked=True, kind=getattr(problem, "kind", None))


def test_a_claim_that_nothing_is_feasible(whole):
    problem, _ = whole
    found = verify(infeasible(problem), problem)
    assert found.claims["status"].verdict == REFUTED
    assert "is feasible, objective" in found.error.rule
    hopeless = replace(problem, limits=Limits.from_data({"opening": {"max": -1.0}}))
    found = verify(infeasible(hopeless), hopeless)
    assert found.verified
    assert found.claims["status"].reason.startswith("infeasible: enumeration of all 256 decisions")


def test_a_problem_that_knows_why_it_is_infeasible_confirms_it(whole):
    problem, _ = whole
    crowded = replace(problem, demand=problem.demand * 10_000)
    found = verify(infeasible(crowded), crowded)
    assert found.verified
    assert "clients, more than any site can take" in found.claims["status"].reason


def test_that_nothing_is_feasible_may_be_left_on_trust(large):
    tight = replace(large, limits=Limits.from_data({"opening": {"max": 22.0}}))
    assert verify(infeasible(tight), tight, seconds=0.05).on_trust == ("status",)


def test_nothing_found_is_nothing_claimed(whole):
    problem, _ = whole
    found = verify(replace(infeasible(problem), status=Status.UNKNOWN), problem)
    assert {claim.verdict for claim in found.claims.values()} == {NOT_CLAIMED}
    with_bound = verify(replace(infeasible(problem), status=Status.UNKNOWN, bound=1e9), problem)
    assert with_bound.claims["bound"].verdict == REFUTED


def test_thresholds_are_judged_among_thresholds_and_policies_among_all(instances):
    problem = om.load(instances / "threshold" / "avrachenkov-k2.json")
    policy, threshold = solve(problem, "optimal-policy"), solve(problem, "exhaustive")
    assert policy.objective < threshold.objective * (1 - 1e-6)
    assert verify(threshold, problem).verified
    assert verify(policy, problem).verified
    above = replace(policy, status=Status.FEASIBLE, bound=policy.objective * (1 + 1e-8))
    assert verify(above, problem).claims["bound"].verdict == REFUTED
    # An enumeration of thresholds proves nothing about policies: one that does as the best of them does is refuted.
    by_level = problem.queue.mode_by_level(threshold.decision)
    told = {"policy": tuple(int(by_level[level]) for level in problem.policies().order.level)}
    value = problem.evaluate(problem.space.check(told)).objective
    assert value == pytest.approx(threshold.objective, rel=1e-9)
    assert verdicts(claimed(problem, told, status=Status.OPTIMAL, bound=value), problem) == (REFUTED, REFUTED)


def test_policies_do_not_refute_what_is_said_of_thresholds(instances, monkeypatch):
    monkeypatch.setattr("optmodels.verification.proving.MOST", 0)
    problem = om.load(instances / "threshold" / "avrachenkov-k2.json")
    found = verify(solve(problem, "exhaustive"), problem)
    assert found.on_trust == ("bound", "status")
    assert found.proved.bound < found.proved.best.evaluation.objective * (1 - 1e-6), "what policies cost at least"


class SomeOf(BinaryVectors):
    """A space that lists some of its decisions only."""

    complete = False


@dataclass(frozen=True)
class Listed(Knapsack):
    """A problem with more decisions than its space lists."""

    @property
    def space(self):
        return SomeOf(len(self.values))


@dataclass(frozen=True)
class Estimated(Knapsack):
    """A problem that knows its decisions only up to errors that matter."""

    estimated = True


@pytest.mark.parametrize("kind", [Listed, Estimated])
def test_a_list_proves_nothing_where_there_is_more_or_nothing_is_certain(kind):
    answer = solve(Knapsack(), "exhaustive")
    assert verify(answer, Knapsack()).verified
    assert verify(answer, kind()).on_trust == ("bound", "status")
    worse = claimed(kind(), (0,) * len(answer.decision), status=Status.OPTIMAL, bound=0.0)
    assert verdicts(worse, kind()) == (REFUTED, REFUTED)


@dataclass(frozen=True)
class Near:
    """Two decisions whose costs differ by little more than counts as the same."""

    name = "near"
    space = BinaryVectors(1)

    def evaluate(self, decision):
        return Evaluation(1.0 - 1.5e-9 * decision[0])


def test_optimal_is_refuted_by_what_lies_below_the_objective_even_if_its_bound_stands():
    answer = claimed(Near(), (0,), status=Status.OPTIMAL, bound=1.0 - 9e-10)
    assert verdicts(answer, Near()) == (CONFIRMED, REFUTED)


def test_a_cycle_is_refuted_by_the_optimal_frequencies():
    problem = problem_of("freshness", 1, 1.0)
    cycle = solve(problem, "greedy")
    fake = replace(cycle, status=Status.OPTIMAL, bound=cycle.objective)
    found = verify(fake, problem)
    assert found.refuted
    assert "the relaxed optimum at the best multiplier" in found.claims["bound"].reason


def test_a_bound_without_limits_holds_with_them():
    problem = problem_of("robots", 1, 1.0)
    best = solve(problem, "policy-iteration")
    limit = 0.9 * best.evaluation.measures["starvation"]
    limited = replace(problem, limits=Limits.from_data({"starvation": {"max": limit}}))
    assert prove_again(limited, seconds=5).bound >= best.objective * (1 - 1e-9)
    answer = solve(limited, "linear-program")
    assert answer.bound >= best.objective
    assert verify(replace(answer, bound=best.objective), limited).claims["bound"].verdict == CONFIRMED


def test_proofs_may_be_left_out(whole):
    problem, answer = whole
    assert verify(answer, problem, seconds=0).on_trust == ("bound", "status")
    with pytest.raises(om.RequestError, match="seconds for proofs are a number, zero or more, got -1"):
        verify(answer, problem, seconds=-1)
