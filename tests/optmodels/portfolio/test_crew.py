"""Members of a portfolio in several processes: what is passed on, how they end, and what if they cannot start."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from heuristics import Budget, clock, run
from heuristics.testing import Knapsack
from optmodels import registry, solve
from optmodels.errors import RequestError
from optmodels.portfolio import BestOf
from optmodels.registry import make_strategy

pytestmark = pytest.mark.timeout(120)

STRATEGIES = """
import os
import time
from dataclasses import dataclass
from typing import ClassVar

from heuristics import Problem


@dataclass(frozen=True)
class Patient:
    "Waits, and shows only what another one has found."

    seconds: float = 20.0
    name: ClassVar[str] = "patient"
    needs: ClassVar[type] = Problem

    def solve(self, oracle, rng):
        until = time.monotonic() + self.seconds
        while time.monotonic() < until:
            oracle.require()
            for decision in oracle.problem.suggestions(rng):
                oracle(decision)
                return oracle.result(bound=-18.0, extra={"heard": True})
            time.sleep(0.02)
        return oracle.result()


@dataclass(frozen=True)
class Dying:
    "Its process ends without a word."

    name: ClassVar[str] = "dying"
    needs: ClassVar[type] = Problem

    def solve(self, oracle, rng):
        os._exit(7)
"""


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Strategies in a module that other processes find."""
    (tmp_path / "portfolio_trials.py").write_text(textwrap.dedent(STRATEGIES))
    monkeypatch.syspath_prepend(str(tmp_path))
    import portfolio_trials

    for target in (portfolio_trials.Patient, portfolio_trials.Dying):
        registry.strategies.register(target.name, target)
    yield
    for name in ("patient", "dying"):
        registry.strategies.unregister(name)
    sys.modules.pop("portfolio_trials", None)


def members(result):
    return {member["strategy"]: member for member in result.extra["best_of"]["members"]}


def test_a_decision_of_one_process_reaches_another_whose_bound_ends_both(elsewhere):
    best = run(Knapsack(), make_strategy("best-of:strategies=patient+local-search,cores=2"), Budget(seconds=30.0))
    assert (best.status, best.objective, best.bound, best.stopped_by) == ("optimal", -18.0, -18.0, "complete")
    assert best.seconds < 15.0
    told = members(best)
    assert told["patient"]["objective"] is not None  # it shows nothing but what it has heard of
    assert (told["patient"]["bound"], told["local-search"]["bound"]) == (-18.0, None)
    assert best.evaluations == sum(member["evaluations"] for member in told.values()) > 0
    assert "note" not in best.extra


def test_both_cores_have_the_whole_time():
    best = solve("gautam-4x4", "best-of:strategies=annealing+local-search,cores=2", seconds=2.0)
    assert best.stopped_by == "seconds" and best.objective == 11.0 and best.checked
    told = members(best)
    assert sum(member["seconds"] for member in told.values()) > 1.25 * best.seconds
    assert all(member["stopped_by"] == "seconds" for member in told.values())


def test_more_members_than_cores_take_turns():
    best = solve("gautam-4x4", "best-of:strategies=annealing+local-search+genetic,cores=2", seconds=2.0)
    told = members(best)
    assert list(told) == ["annealing", "local-search", "genetic"]
    assert all(member["turns"] >= 1 and member["objective"] is not None for member in told.values())


def test_a_process_that_dies_costs_its_members_only(elsewhere):
    best = run(Knapsack(), make_strategy("best-of:strategies=dying+local-search,cores=2"), Budget(seconds=3.0))
    assert best.objective == -18.0
    assert best.extra["best_of"]["left_out"] == {"dying": "its process died"}


def test_what_cannot_travel_works_in_one_process():
    class Local(Knapsack):
        """Of a class that other processes cannot find."""

    best = run(Local(), BestOf("annealing+local-search", cores=2), Budget(seconds=0.5))
    assert best.objective == -18.0
    assert best.extra["note"].startswith("all members worked in one process: the problem cannot travel")


def test_evaluations_are_counted_in_one_process_so_that_the_answer_is_the_same_again():
    alone, two = (
        solve("gautam-4x4", f"best-of:strategies=annealing+genetic,cores={n}", evaluations=300) for n in (1, 2)
    )
    assert (alone.decision, alone.evaluations) == (two.decision, two.evaluations)


@pytest.mark.parametrize("cores", ["0", "-1", "5000", "two"])
def test_a_number_of_cores_is_one(cores):
    with pytest.raises(RequestError, match="cores"):
        make_strategy(f"best-of:cores={cores}")


def test_the_clock_stands_still_while_processes_start():
    began = clock.start()
    with clock.standing():
        time.sleep(0.3)
    assert clock.now() - began < 0.2


def test_an_interrupt_returns_the_best_so_far_and_leaves_no_process():
    spec = "best-of:strategies=annealing+local-search,cores=2"
    words = ["solve", "gautam-6x6", "--strategy", spec, "--seconds", "60", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "optmodels", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    lanes = []
    until = time.monotonic() + 60
    while len(lanes) < 2 and time.monotonic() < until:
        time.sleep(0.2)
        lanes = children(process.pid)
    time.sleep(12.0)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors
    answer = json.loads(out)
    assert (answer["stopped_by"], answer["checked"]) == ("interrupt", True)
    assert answer["objective"] <= 25.0
    assert len(lanes) == 2 and not any(os.path.exists(f"/proc/{pid}") for pid in lanes)


def children(pid):
    """Numbers of the processes that a process has started."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as stream:
            return [int(word) for word in stream.read().split()]
    except OSError:
        pytest.skip("there is no /proc that tells")
