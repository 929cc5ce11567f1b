"""Strategy optimal-policy: the best policy by state, its proof, and the price of thresholds."""

import json
import pickle
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from heuristics import Budget, Status, UnsupportedProblem, run
from heuristics.interrupting import answered
from heuristics.oracle import Oracle
from optmodels import instance as instance_files
from optmodels.cli import main
from optmodels.costs import Lexicographic, Limit, Limits, WeightedSum
from optmodels.errors import InstanceError, RequestError
from optmodels.instance import load
from optmodels.results import result_from_data, result_to_data
from optmodels.solving import evaluate, solve
from optmodels.threshold import OptimalPolicy, ThresholdProblem
from optmodels.threshold.occupation import AVERAGES, QUOTIENTS, priced
from optmodels.threshold.optimal_policy import MOST_THRESHOLDS, _price
from optmodels.threshold.policy_pairs import small_process
from optmodels.threshold.space import StatePolicy
from optmodels.verification import verify
from queueing import BMAP, Mode, PhaseType
from queueing.threshold import MEASURES
from queueing.threshold.policies import chain as threshold_policies

PRICES = {"loss_rate": 5, "obsolescence_rate": 10, "response_time": 2, "active_robots": 20, "starvation": 300}


@pytest.fixture(scope="module")
def paper(instances) -> ThresholdProblem:
    """The example of section 7, K = 5."""
    return load(instances / "threshold" / "avrachenkov-k5.json")


def random_process(rng: np.random.Generator, phases: int, largest: int) -> BMAP:
    blocks = rng.random((largest + 1, phases, phases)) * rng.uniform(0.3, 2.0)
    np.fill_diagonal(blocks[0], 0.0)
    blocks[0] -= np.diag(blocks.sum(axis=(0, 2)))
    return BMAP(tuple(blocks))


def random_problem(seed: int, *, capacity: int = 2, modes: int = 2, phases: int = 1, order: int = 1, **more):
    """A small queue with random prices; patience exponential unless said."""
    rng = np.random.default_rng(seed)
    rates = rng.uniform(0.2, 2.0, (order, order)) * (1 - np.eye(order))
    service = PhaseType(
        rng.dirichlet(np.ones(order)), rates - np.diag(rates.sum(axis=1) + rng.uniform(0.3, 2.0, order))
    )
    fields = {
        "modes": tuple(Mode(index + 1, random_process(rng, phases, 2)) for index in range(modes)),
        "service": service,
        "patience": more.get("patience", PhaseType.exponential(float(rng.uniform(0.1, 1.0)))),
        "capacity": capacity,
        "admission": str(rng.choice(["partial", "whole-batch", "complete"])),
    }
    prices = {name: float(rng.uniform(0.0, 10.0)) for name in PRICES}
    return ThresholdProblem(**fields, cost=more.get("prices", prices))


def best_by_enumeration(problem: ThresholdProblem) -> float:
    states = problem.policies().states
    judged = (problem.evaluate(StatePolicy(policy)) for policy in product(range(len(problem.modes)), repeat=states))
    return min(one.objective for one in judged if one.feasible)


# -- known values ------------------------------------------------------------------------------------------------------


def test_the_best_policy_of_the_paper_and_the_price_of_thresholds(paper):
    found = solve(paper, "optimal-policy")
    assert found.objective == pytest.approx(53.9179, abs=5e-5)
    assert found.status == Status.OPTIMAL
    low, high = found.extra["policy_search"]["bracket"]
    assert low <= high
    assert high - low <= 1e-9 * high
    assert high == pytest.approx(found.objective, rel=1e-11)
    assert found.extra["best_threshold"]["decision"] == [-1, 2, 2]
    assert found.extra["best_threshold"]["objective"] == pytest.approx(63.5425, abs=5e-5)
    assert found.extra["best_threshold"]["proved"]
    assert found.extra["price_of_thresholds"] == pytest.approx(0.179, abs=5e-4)
    assert len(found.decision["policy"]) == 2 * (1 + 2 * 5)
    assert [len(row) for row in found.extra["policy_map"]] == [2, 4, 4, 4, 4, 4]
    assert [mode for row in found.extra["policy_map"] for mode in row] == list(found.decision["policy"])


@pytest.mark.parametrize(("name", "value"), [("inria-batches-mended", 550.9328), ("inria-quiet-mended", 552.2959)])
def test_on_the_crawler_data_thresholds_cost_about_two_percent(name, value, instances):
    found = solve(instances / "threshold" / f"{name}.json", "optimal-policy")
    assert found.status == Status.OPTIMAL
    assert found.objective == pytest.approx(value, abs=5e-5)
    assert found.extra["price_of_thresholds"] == pytest.approx(0.022, abs=5e-4)


def test_a_hundred_pages_are_no_obstacle(instances):
    found = solve(instances / "threshold" / "avrachenkov-k100.json", "optimal-policy:thresholds=no")
    assert found.status == Status.OPTIMAL
    assert found.objective < 57.232
    assert "best_threshold" not in found.extra


def test_thresholds_that_are_too_many_to_list_are_searched_and_nothing_is_claimed(instances):
    problem = load(instances / "threshold" / "avrachenkov-k100.json")
    assert problem.space.size > MOST_THRESHOLDS
    found = solve(problem, "optimal-policy").extra["best_threshold"]
    assert found["objective"] == pytest.approx(57.2321, abs=5e-5)
    assert (found["proved"], found["by"]) == (False, "local search")


# -- two roads ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("phases", "order"), [(1, 1), (2, 1), (1, 2)])
def test_no_policy_of_a_small_queue_is_better(seed, phases, order):
    problem = random_problem(seed, phases=phases, order=order)
    if problem.policies().states > 9:
        problem = replace(problem, admission="partial")
    least = best_by_enumeration(problem)
    found = solve(problem, OptimalPolicy(thresholds=False))
    assert found.objective == pytest.approx(least, rel=1e-9)
    assert found.bound <= least * (1 + 1e-9)
    assert found.status == Status.OPTIMAL


@pytest.mark.parametrize("patience", [PhaseType.erlang(2, 1.0), PhaseType.hyperexponential([0.5, 0.5], [4.0, 0.2])])
@pytest.mark.parametrize("seed", range(3))
def test_no_policy_is_better_where_waiting_pages_have_phases(seed, patience):
    problem = random_problem(seed, capacity=3, patience=patience)
    problem = replace(problem, admission="partial")
    assert problem.policies().states == 8
    found = solve(problem, OptimalPolicy(thresholds=False))
    assert found.objective == pytest.approx(best_by_enumeration(problem), rel=1e-9)
    assert found.status == Status.OPTIMAL


@pytest.mark.parametrize("less", [1e-16, 1e-9])
def test_the_price_of_thresholds_is_never_negative(less, paper):
    """Thresholds are policies: one that the policy beats by rounding, or before its search has ended, costs no less."""
    oracle = Oracle(paper, Budget())
    oracle((-1, 2, 2))
    best = oracle.best.evaluation.objective
    oracle.extra["best_threshold"] = {"objective": np.nextafter(best, 0.0) * (1 - less)}
    _price(oracle)
    assert oracle.extra["price_of_thresholds"] == 0.0
    oracle.extra["best_threshold"] = {"objective": 1.5 * best}
    _price(oracle)
    assert oracle.extra["price_of_thresholds"] == pytest.approx(0.5)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("patience", ["exponential", "none", "erlang"])
def test_thresholds_are_never_better(seed, patience):
    law = {"exponential": PhaseType.exponential(0.3), "none": None, "erlang": PhaseType.erlang(2, 0.7)}[patience]
    problem = random_problem(seed, capacity=4, modes=3, phases=2, order=2, patience=law)
    found = solve(problem, "optimal-policy")
    best = solve(problem, "exhaustive")
    assert found.objective <= best.objective * (1 + 1e-12)
    assert found.bound <= found.objective
    assert found.extra["best_threshold"]["objective"] == pytest.approx(best.objective)
    assert found.extra["price_of_thresholds"] >= 0.0


@pytest.mark.parametrize("name", AVERAGES)
def test_an_average_alone_agrees_with_the_linear_program(name, paper):
    """One more price beside it: alone, an average is often least where nothing moves."""
    problem = replace(paper, cost=WeightedSum({name: 1.0, "arrival_rate": -0.3, "loss_rate": 2.0, "starvation": 5.0}))
    found = solve(problem, "optimal-policy")
    costs, denominator = priced(problem)
    assert denominator is None
    rates = problem.policies().rates.toarray()
    balance = np.vstack([rates.T, np.ones(len(rates))])
    program = linprog(costs[0].ravel(), A_eq=balance, b_eq=np.append(np.zeros(rates.shape[1]), 1.0), method="highs")
    assert found.objective == pytest.approx(program.fun, rel=1e-8)
    assert found.status == Status.OPTIMAL


@pytest.mark.parametrize("name", QUOTIENTS)
def test_every_quotient_is_priced_as_the_evaluator_prices_it(name, paper):
    problem = replace(paper, cost=WeightedSum({name: 3.0, "active_robots": 0.7, "mean_length": 0.2}))
    costs, denominator = priced(problem)
    assert denominator is not None
    rng = np.random.default_rng(0)
    chain = problem.policies()
    for _ in range(3):
        policy = rng.integers(0, 4, chain.states)
        generator = chain.generator(policy).toarray()
        system = np.vstack([generator.T, np.ones(chain.states)])
        share = np.linalg.lstsq(system, np.append(np.zeros(chain.states), 1.0), rcond=None)[0]
        linear, numerator, below = costs[:, policy, np.arange(chain.states)] @ share
        assert linear + numerator / below == pytest.approx(problem.evaluate(StatePolicy(tuple(policy))).objective)


@pytest.mark.parametrize("name", QUOTIENTS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_every_quotient_can_be_minimised(name, sign):
    prices = {name: sign * 3.0, "active_robots": 0.5, "starvation": 1.0}
    problem = random_problem(4, capacity=3, phases=1, order=1, prices=prices)
    problem = replace(problem, admission="partial")
    least = best_by_enumeration(problem)
    found = solve(problem, OptimalPolicy(thresholds=False))
    assert found.bound is not None
    assert found.bound <= least + 1e-9
    assert found.objective == pytest.approx(least, rel=1e-9)


def test_the_ends_of_the_range_of_the_denominator_are_ruled_out_too():
    """At the least and the most denominator all policies lean to one side: only far multipliers tell them apart."""
    prices = {"success": -500.0, "active_robots": 5.0, "starvation": 100.0, "loss_rate": 3.0}
    found = solve(random_problem(9, capacity=3, prices=prices), OptimalPolicy(thresholds=False))
    assert found.status == Status.OPTIMAL


def test_all_measures_are_averages_or_quotients():
    assert set(AVERAGES) | set(QUOTIENTS) == set(MEASURES)


def test_a_mode_that_brings_nothing_is_used_and_does_no_harm():
    quiet = BMAP((np.array([[-0.5, 0.5], [0.5, -0.5]]), np.zeros((2, 2))))
    busy = BMAP((np.array([[-1.5, 0.5], [0.5, -3.5]]), np.diag([1.0, 3.0])))
    prices = {"response_time": 1.0, "starvation": 4.0, "active_robots": 0.1}
    problem = ThresholdProblem(
        modes=(Mode(0, quiet), Mode(1, busy)),
        service=PhaseType.exponential(1.0),
        patience=None,
        capacity=2,
        cost=prices,
    )
    found = solve(problem, "optimal-policy")
    assert found.objective == pytest.approx(best_by_enumeration(problem), rel=1e-9)
    assert found.status == Status.OPTIMAL
    assert 0 in found.decision["policy"]


# -- refusals ----------------------------------------------------------------------------------------------------------


def test_costs_and_limits_it_cannot_prove_are_refused_in_one_sentence(paper):
    two = replace(paper, cost=WeightedSum({"response_time": 1, "loss": 1}))
    with pytest.raises(UnsupportedProblem, match="quotients of one denominator only"):
        solve(two, "optimal-policy")
    with pytest.raises(UnsupportedProblem, match="linear in the measures"):
        solve(replace(paper, cost=Lexicographic(("loss", "starvation"))), "optimal-policy")
    with pytest.raises(UnsupportedProblem, match="does not handle limits on measures"):
        solve(replace(paper, limits=Limits({"loss": Limit(maximum=0.1)})), "optimal-policy")
    large = replace(paper, patience=PhaseType.erlang(3, 1.0), capacity=12)
    with pytest.raises(UnsupportedProblem, match=r"at most 300000 states"):
        solve(large, "optimal-policy")


# -- decisions by state ------------------------------------------------------------------------------------------------


def test_a_policy_is_a_decision_that_can_be_hashed_pickled_and_written(paper):
    decision = paper.space.check({"policy": [0] * 22})
    assert decision == {"policy": (0,) * 22} == paper.space.check(decision)
    assert hash(decision) == hash(paper.space.check({"policy": np.zeros(22, dtype=int)}))
    assert pickle.loads(pickle.dumps(decision)) == decision
    assert decision in paper.space
    assert list(paper.space.neighbours((5, 5, 5)))  # and thresholds are what is listed
    assert evaluate(paper, decision).objective == pytest.approx(149.9115, abs=5e-5)


@pytest.mark.parametrize(
    ("decision", "why"),
    [
        ({"policy": [0] * 21}, "each of 22 states, but 21 came"),
        ({"policy": [0] * 21 + [4]}, r"policy\[21\] is 4; modes are numbered from 0 to 3"),
        ({"policy": [0.5] * 22}, "whole numbers"),
        ({"policy": 3}, "whole numbers"),
        ({"policy": [True] * 22}, r"policy\[0\] is True"),
        ({"modes": [0] * 22}, "list of thresholds or"),
    ],
)
def test_policies_that_are_none_are_refused(decision, why, paper):
    with pytest.raises(RequestError, match=why):
        evaluate(paper, decision)


def test_policies_and_thresholds_are_judged_together(paper):
    policy = paper.space.check({"policy": [2] * 22})
    mixed = paper.evaluate_many([(-1, 5, 5), policy])
    assert mixed[0].objective == pytest.approx(mixed[1].objective, rel=1e-12)


def test_an_answer_survives_its_file_and_is_verified(paper, instances):
    content = instance_files.read(instances / "threshold" / "avrachenkov-k5.json")
    found = solve(paper, "optimal-policy")
    data = json.loads(json.dumps(result_to_data(found)))
    assert data["decision"] == {"policy": list(found.decision["policy"])}
    verification = verify(result_from_data(data), paper, content)
    assert any("below the best known" in finding for finding in verification.findings)
    with pytest.raises(InstanceError, match="objective"):
        verify(result_from_data(data | {"objective": 50.0}), paper, content).check()
    changed = data["extra"] | {"policy_map": [[0, 0], *data["extra"]["policy_map"][1:]]}
    with pytest.raises(InstanceError, match="policy_map"):
        verify(result_from_data(data | {"extra": changed}), paper, content).check()


def test_thresholds_below_a_proved_best_are_still_an_error(paper, instances):
    content = instance_files.read(instances / "threshold" / "avrachenkov-k5.json")
    assert content.best_known is not None
    higher = content.best_known.model_copy(update={"objective": 70.0, "decision": None})
    with pytest.raises(InstanceError, match=r"below 70\.0, which the instance calls proved"):
        verify(solve(paper, "exhaustive"), paper, content.model_copy(update={"best_known": higher}))


def test_the_command_line_solves_verifies_evaluates_and_draws(instances, tmp_path, capsys):
    file = str(instances / "threshold" / "avrachenkov-k5.json")
    answer = tmp_path / "answer.json"
    assert main(["solve", file, "--strategy", "optimal-policy", "--json"]) == 0
    printed = capsys.readouterr().out
    answer.write_text(printed)
    data = json.loads(printed)
    assert (data["status"], round(data["objective"], 4)) == ("optimal", 53.9179)
    assert main(["verify", str(answer), file]) == 0
    assert "verified" in capsys.readouterr().out
    policy = tmp_path / "policy.json"
    policy.write_text(json.dumps(data["decision"]))
    for given in (answer, policy):
        assert main(["evaluate", file, "--at", f"@{given}", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["objective"] == pytest.approx(data["objective"], rel=1e-9)
    picture = tmp_path / "policy.svg"
    assert main(["plot", file, "--result", str(answer), "--out", str(picture)]) == 0
    assert 'id="policy-map"' in picture.read_text()
    assert main(["list", "optimal-policy"]) == 0
    assert "by pages, then arrival, service, patience phases" in capsys.readouterr().out


# -- budgets -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [1, 2, 5, 20, 60])
def test_a_budget_of_evaluations_is_kept_and_the_best_so_far_told(budget, paper):
    found = run(paper, OptimalPolicy(), Budget(evaluations=budget))
    assert found.evaluations <= budget
    assert found.stopped_by == "evaluations"
    assert found.decision is not None
    assert found.bound is None or found.bound <= 53.9180
    assert found.objective >= 53.9179
    verify(replace(found, kind="threshold"), paper).check()


def test_an_interrupt_tells_the_best_so_far(paper, monkeypatch):
    problem = replace(paper)
    original = ThresholdProblem.evaluate_many

    def interrupted(self, decisions):
        raise KeyboardInterrupt

    monkeypatch.setattr(ThresholdProblem, "evaluate_many", interrupted)
    monkeypatch.setattr(ThresholdProblem, "describe", lambda self, decision: {})
    found = run(problem, OptimalPolicy(), Budget())
    monkeypatch.setattr(ThresholdProblem, "evaluate_many", original)
    answered()
    assert found.stopped_by == "interrupt"
    assert found.objective == pytest.approx(53.9179, abs=5e-5)
    assert found.status == Status.OPTIMAL  # it was proved before the thresholds were looked at
    assert found.extra["best_threshold"] is None


# -- beyond what can be proved -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", [PhaseType.erlang(2, 0.7), PhaseType.hyperexponential([0.5, 0.5], [4.0, 0.2])])
@pytest.mark.parametrize("seed", range(3))
def test_a_policy_on_pairs_lies_between_the_best_thresholds_and_the_best_policy(seed, law, monkeypatch):
    problem = random_problem(seed, capacity=4, modes=3, phases=2, order=2, patience=law)
    best = solve(problem, "optimal-policy")
    monkeypatch.setattr(threshold_policies, "POLICY_LIMIT", 10)
    found = solve(problem, "optimal-policy")
    assert found.status == Status.FEASIBLE
    assert found.bound is None
    assert len(found.decision["policy"]) == problem.policies().order.pairs < problem.policies().states
    assert best.objective <= found.objective * (1 + 1e-9)
    assert found.objective <= found.extra["best_threshold"]["objective"] * (1 + 1e-9)
    assert found.extra["price_of_thresholds"] <= best.extra["price_of_thresholds"] + 1e-9
    assert found.extra["state_order"] == "by pages, then arrival phase, then service phase"
    verify(found, problem).check()


def test_where_patience_has_one_phase_pairs_are_states_and_their_means_are_exact(paper):
    chain = paper.policies()
    costs, _ = priced(paper)
    process = small_process(chain, costs, np.zeros(chain.states, dtype=np.int64))
    assert abs(process.rates - chain.rates).max() < 1e-12
    assert process.costs == pytest.approx(costs)


def test_one_policy_at_a_time_has_the_generator_of_all(monkeypatch):
    problem = random_problem(1, capacity=4, modes=3, phases=2, order=2, patience=PhaseType.erlang(2, 0.7))
    chain = problem.policies()
    policy = np.random.default_rng(0).integers(0, 3, chain.states)
    rows = chain.generator(policy)
    monkeypatch.setattr(threshold_policies, "POLICY_LIMIT", 10)
    assert abs(rows - chain.generator(policy)).max() == 0.0
