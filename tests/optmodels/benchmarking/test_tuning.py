"""`tune`: the best parameter is found, test instances are others, budgets are kept, and nothing is claimed too much."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from heuristics import Problem, interrupting
from heuristics.testing import Continuous, Separable
from optmodels import RequestError, registry
from optmodels.benchmarking import read_set, shipped_sets, tune
from optmodels.benchmarking.tuned import BETTER, DEFAULT, INTERRUPTED, NO_TEST, NOT_SHOWN, WORSE
from optmodels.benchmarking.tuning import divide
from optmodels.cli import main
from optmodels.studies import compare, problem_digest

MADE, STOP_AFTER = [], []


@dataclass(frozen=True)
class Archer:
    """Shows one decision, each entry of which is wrong with a probability that is 0 at `aim` 7."""

    aim: int = 2
    colour: str = "red"

    name: ClassVar[str] = "archer"
    needs: ClassVar[type] = Problem
    tunable: ClassVar[Mapping[str, str]] = {"aim": "0..9"}

    def solve(self, oracle, rng):
        target = oracle.problem.target
        MADE.append((oracle.problem.name, self.aim))
        if len(MADE) in STOP_AFTER:
            interrupting.interrupt()  # the oracle raises it
        rng.random(len(self.colour))  # a colour changes nothing but luck
        wrong = rng.random(len(target)) < abs(self.aim - 7) / 10
        oracle(tuple(int(bit != flip) for bit, flip in zip(target, wrong, strict=True)))
        return oracle.result()


@dataclass(frozen=True)
class Turncoat(Archer):
    """Good at 7 on the first problems that it sees by their names, bad at 7 on all others."""

    liked: tuple[str, ...] = ()
    name: ClassVar[str] = "turncoat"

    def solve(self, oracle, rng):
        seen = self.aim if oracle.problem.name in self.liked else 9 - self.aim
        return replace(Archer(), aim=seen).solve(oracle, rng)


@dataclass(frozen=True)
class Plain:
    """Nothing to tune, nothing declared."""

    level: int = 1

    name: ClassVar[str] = "plain"
    needs: ClassVar[type] = Problem

    def solve(self, oracle, rng):
        oracle(oracle.problem.target)
        return oracle.result()


@pytest.fixture(autouse=True)
def _forget():
    MADE.clear()
    STOP_AFTER.clear()


@pytest.fixture
def archer():
    """The archer by its name."""
    registry.strategies.register("archer", Archer)
    yield "archer"
    registry.strategies.unregister("archer")


def targets(count, length=30):
    rng = np.random.default_rng(5)
    return [Separable(tuple(rng.integers(2, size=length).tolist()), f"target-{i}") for i in range(count)]


def test_the_best_parameter_is_found_and_shown_to_be_better_on_other_instances():
    tuning = tune(Archer(), targets(24), evaluations=10, runs=400)
    assert tuning.winner == "archer:aim=7" and tuning.verdict == BETTER and tuning.complete
    assert tuning.pair.p_value < 0.001 and tuning.pair.pairs == 12
    assert tuning.statistics.standings["archer:aim=7"].median_gap == 0.0
    assert tuning.sentences()[0].startswith("The tuned configuration is better than the default: ")
    fell = {one.label: one.fell for one in tuning.race.entrants}
    assert fell["archer:aim=7"] is None and "archer" in fell
    assert all(rounds is not None for label, rounds in fell.items() if label != tuning.winner)


@pytest.mark.parametrize("count", [2, 3, 24, 25])
def test_no_instance_trains_and_tests(count):
    tuning = tune(Archer(), targets(count), evaluations=10, runs=150)
    assert not set(tuning.training) & set(tuning.test)
    assert len(tuning.training) == count // 2
    assert sorted(tuning.training + tuning.test) == sorted(one.name for one in targets(count))
    trained = {name for name, _ in MADE[: tuning.training_runs]}
    tested = {name for name, _ in MADE[tuning.training_runs :]}
    assert trained <= set(tuning.training) and tested <= set(tuning.test)


def test_an_instance_by_two_names_is_one():
    twins = [replace(one, name=f"{one.name}-again") for one in targets(4)]
    tuning = tune(Archer(), [Hashed(one) for one in targets(4) + twins], evaluations=10, runs=100)
    assert len(tuning.training + tuning.test) == 4


class Hashed(Separable):
    """A problem that is the same under another name."""

    def __init__(self, other):
        super().__init__(other.target, other.name)

    def __reduce__(self):
        return Separable, (self.target,)


def test_problems_that_are_the_same_have_one_digest():
    one, two = targets(2)
    assert problem_digest(Hashed(one)) == problem_digest(Hashed(replace(one, name="other")))
    assert problem_digest(Hashed(one)) != problem_digest(Hashed(two))


def test_neighbours_are_divided():
    problems = targets(20)
    for seed in range(5):
        training, test = divide(problems, np.random.default_rng(seed))
        pairs = Counter(problems.index(one) // 2 for one in training)
        assert set(pairs.values()) == {1} and len(training) == len(test) == 10
    assert len({tuple(p.name for p in divide(problems, np.random.default_rng(seed))[1]) for seed in range(5)}) == 5


@pytest.mark.parametrize("runs", [32, 33, 50, 100, 101, 257, pytest.param(1000, marks=pytest.mark.slow)])
def test_no_more_runs_are_made_than_allowed(runs):
    tuning = tune(Archer(), targets(24), evaluations=10, runs=runs)
    assert len(MADE) == tuning.training_runs + tuning.test_runs <= runs
    assert len(MADE) > 0.7 * runs or tuning.verdict == DEFAULT or any(one.p_value for one in tuning.race.entrants)


def test_all_configurations_of_a_round_have_the_same_blocks():
    tuning = tune(Archer(), targets(24), evaluations=10, runs=300)
    seen = {}
    for name, aim in MADE[: tuning.training_runs]:
        seen.setdefault(aim, Counter())[name] += 1
    by_round = {}
    for one in tuning.race.entrants:
        aim = int(one.label.partition("aim=")[2] or 2)
        assert seen[aim].total() == one.blocks
        by_round.setdefault(one.fell, []).append(seen[aim])
    assert all(one == group[0] for group in by_round.values() for one in group)


def test_too_few_runs_or_instances_are_refused():
    with pytest.raises(RequestError, match=r"runs is 32 or more here.* got 31"):
        tune(Archer(), targets(24), evaluations=10, runs=31)
    with pytest.raises(RequestError, match="tuning needs two instances at least"):
        tune(Archer(), targets(1), evaluations=10)
    with pytest.raises(RequestError, match="runs is a whole number"):
        tune(Archer(), targets(4), evaluations=10, runs="many")
    with pytest.raises(RequestError, match="give seconds or evaluations"):
        tune(Archer(), targets(4))
    with pytest.raises(RequestError, match="two instances to tune on are called 'target-0'"):
        tune(Archer(), [*targets(4), Separable((1, 0), "target-0")], evaluations=10)
    with pytest.raises(RequestError, match="a benchmark set, or a list"):
        tune(Archer(), 7, evaluations=10)
    assert MADE == []


def test_the_same_seed_gives_the_same_answer_and_another_another():
    first, again, other = (tune(Archer(), targets(12), evaluations=10, runs=150, seed=seed) for seed in (3, 3, 4))
    assert first.to_data() == again.to_data()
    assert first.test != other.test and first.training != other.training


def test_workers_change_nothing():
    alone, shared = (
        tune("local-search", ["gautam-2x3", "gautam-4x4"], vary="swaps=0,9", evaluations=60, runs=10, workers=workers)
        for workers in (1, 2)
    )
    assert alone.to_data() == shared.to_data()


def test_a_configuration_that_is_no_better_elsewhere_is_said_to_be_none():
    problems = targets(24)
    honest = tune(Archer(), problems, evaluations=10, runs=300)
    turncoat = Turncoat(liked=honest.training)
    tuning = tune(turncoat, problems, vary="aim=2,7", evaluations=10, runs=300)
    assert tuning.training == honest.training
    assert "aim=7" in tuning.winner and tuning.verdict == WORSE
    assert tuning.sentences()[0].startswith("The tuned configuration is worse than the default, keep the default")


def test_a_parameter_that_does_nothing_is_not_shown_to_help():
    colours = {"colour": ["red", "green", "blue", "violet", "turquoise"]}
    found = [tune(Archer(), targets(24), vary=colours, evaluations=10, runs=200, seed=seed) for seed in range(30)]
    verdicts = Counter(tuning.verdict for tuning in found)
    tested = verdicts.total() - verdicts[DEFAULT]
    assert tested > 15 and verdicts[NOT_SHOWN] >= 0.8 * tested  # 0.95 is expected
    unshown = next(tuning for tuning in found if tuning.verdict == NOT_SHOWN)
    assert "is not shown to be better, keep the default" in unshown.sentences()[0]


def test_no_two_instances_share_a_seed():
    tuning = tune(Archer(), targets(12), evaluations=10, runs=200)
    seeds = [(run.problem, run.seed) for run in tuning.comparison.runs if run.strategy == "archer"]
    assert len({seed for _, seed in seeds}) == len(seeds) > 6


def test_the_default_may_win_and_needs_no_test():
    tuning = tune(Archer(aim=7), targets(12), evaluations=10, runs=150)
    assert tuning.winner == "archer:aim=7" == tuning.default
    assert tuning.verdict == DEFAULT and tuning.test_runs == 0 and tuning.comparison is None
    assert "nothing better was found" in tuning.sentences()[0]


def test_with_few_test_instances_nothing_is_shown():
    tuning = tune(Archer(), targets(6), evaluations=10, runs=300)
    assert tuning.verdict == NO_TEST and tuning.winner == "archer:aim=7"
    assert "a test needs 6 instances that differ" in tuning.sentences()[0]


def test_instances_that_a_strategy_does_not_take_are_left_out():
    tuning = tune("local-search", ["gautam-2x3", Continuous(), "gautam-4x4"], evaluations=20, runs=20)
    assert tuning.left_out == ("continuous",)
    assert set(tuning.training + tuning.test) == {"gautam-2x3", "gautam-4x4"}


def test_nothing_to_tune_is_said_with_what_to_do():
    with pytest.raises(RequestError, match=r"declares no ranges to tune over; give some by --vary.*'tunable'.*level=1"):
        tune(Plain(), targets(4), evaluations=10)


def test_ctrl_c_answers_with_the_best_so_far(tmp_path):
    STOP_AFTER.append(120)
    told = []
    tuning = tune(
        Archer(),
        targets(24),
        evaluations=10,
        runs=400,
        out=tmp_path / "kept",
        progress=lambda done, total, what: told.append((done, total, what.partition(":")[0])),
    )
    assert not tuning.complete and tuning.verdict == INTERRUPTED and tuning.race.rounds == 2
    assert tuning.training_runs == 119 and tuning.test_runs == 0
    assert tuning.winner == "archer:aim=7" and "leads so far, and nothing is shown" in tuning.sentences()[0]
    assert json.loads((tmp_path / "kept" / "tuning.json").read_text())["complete"] is False
    assert len((tmp_path / "kept" / "runs.jsonl").read_text().splitlines()) == 119
    assert {what for _, _, what in told} == {"round 1", "round 2"} and told[-1][:2] == (119, 400)


@pytest.mark.parametrize("after", [1, 60, 120, -1])
def test_what_was_interrupted_resumes_without_making_a_run_twice(tmp_path, after):
    asked = {"evaluations": 10, "runs": 300}
    whole = tune(Archer(), targets(24), **asked)
    runs = len(MADE)
    MADE.clear()
    STOP_AFTER.append(after if after > 0 else runs)
    part = tune(Archer(), targets(24), **asked, out=tmp_path / "kept")
    assert not part.complete
    STOP_AFTER.clear()
    rest = tune(Archer(), targets(24), **asked, out=tmp_path / "kept", resume=True)
    assert rest.to_data() == whole.to_data()
    assert len(MADE) == runs + 1  # the one that was interrupted
    with pytest.raises(RequestError, match=r"already holds .* runs; add --resume"):
        tune(Archer(), targets(24), **asked, out=tmp_path / "kept")
    with pytest.raises(RequestError, match="resuming needs the folder"):
        tune(Archer(), targets(24), **asked, out=tmp_path / "kept.json", resume=True)


SET = """
format = 1
name = "mine"
title = "Mine"
evaluations = 40
instances = ["gautam-2x3", "gautam-4x4", "gautam-6x6", "gautam-8x8"]
"""


@pytest.fixture
def mine(tmp_path):
    """A small set of shipped instances."""
    file = tmp_path / "mine.toml"
    file.write_text(SET)
    return str(file)


def test_the_command_prints_table_winner_and_verdict(mine, tmp_path, capsys):
    out = tmp_path / "found.json"
    assert main(["tune", "local-search", "--on", mine, "--vary", "swaps=0..50", "--runs", "40", "--out", str(out)]) == 0
    text = capsys.readouterr().out
    data = json.loads(out.read_text())
    assert "local-search (default)" in text and f"\n\n{data['winner']}\n\n" in text
    assert "2 training and 2 test instances of mine, divided by seed 0" in text and "each run 40 evaluations" in text
    assert data["ranges"] == {"swaps": "0..50"} and data["budget"] == {"seconds": None, "evaluations": 40}
    assert data["runs"]["training"] + data["runs"]["test"] <= data["runs"]["allowed"] == 40


def test_the_command_prints_json_alone(mine, capsys):
    assert main(["tune", "local-search", "--on", mine, "--vary", "swaps", "improvement", "--runs", "40", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["ranges"] == {"swaps": "0..200", "improvement": "first,best"} and data["set"] == "mine"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["genetik"], "Did you mean 'genetic'?"),
        (["genetic", "--vary", "popul=1..3"], "has no parameter 'popul' (did you mean 'population'?)"),
        (["exhaustive"], "declares no ranges to tune over"),
        (["local-search", "--runs", "5"], "runs is 12 or more here"),
    ],
)
def test_the_command_refuses_in_a_sentence(mine, words, sentence, capsys):
    assert main(["tune", *words, "--on", mine]) == 2
    assert sentence in capsys.readouterr().err


def test_what_wins_can_be_pasted(archer):
    tuning = tune(archer, targets(12), evaluations=10, runs=300)
    assert registry.make_strategy(tuning.winner) == Archer(aim=7)


def test_seeds_may_be_given_by_problem():
    problems = targets(2)
    found = compare(problems, Archer(), seeds={"target-0": [4, 5], "target-1": 1}, evaluations=10)
    assert [(run.problem, run.seed) for run in found.runs] == [("target-0", 4), ("target-0", 5), ("target-1", 0)]
    with pytest.raises(RequestError, match="'target-1' has none"):
        compare(problems, Archer(), seeds={"target-0": 2}, evaluations=10)


def test_what_we_tune_placement_on_is_not_in_a_benchmark_set():
    ours = read_set(Path(__file__).parents[3] / "benchmarks" / "tuning" / "placement-tuning.toml")
    others = {member.digest for name in shipped_sets() for member in read_set(name).members}
    digests = [member.digest for member in ours.members]
    assert len(set(digests)) == 40 and not others & set(digests)
    assert ours.members[0].instance().kind == "placement"


def test_the_page_says_what_the_stored_results_say():
    root = Path(__file__).parents[3]
    page = (root / "docs" / "guide" / "tuning.md").read_text(encoding="utf-8")
    stored = [
        json.loads((root / "benchmarks" / "tuning" / f"placement-{name}.json").read_text(encoding="utf-8"))
        for name in ("annealing", "genetic")
    ]
    for key in ("training", "budget", "seed", "set"):
        assert stored[0][key] == stored[1][key]
    assert stored[0]["runs"] == stored[1]["runs"] == {"allowed": 1000, "training": 680, "test": 320}
    for one in stored:
        test, default, winner = one["test"], one["default"], one["winner"]
        assert not set(one["training"]) & set(test["instances"]) and len(test["instances"]) == 20
        assert f"`{winner}`" in page and f"p = {test['p_value']:.2g}" in page
        assert f"{test['wins']}, {test['losses']}, {test['ties']}" in page
        for label in (default, winner):
            low, high = test["interval"][label]
            assert f"{test['median_gap'][label]:.2%} ({low:.2%} to {high:.2%})" in page
        assert f"{test['worst_gap'][default]:.2%}, {test['worst_gap'][winner]:.2%}" in page
    assert [one["verdict"] for one in stored] == [BETTER, NOT_SHOWN]
