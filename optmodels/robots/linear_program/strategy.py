"""Strategy `linear-program` for kind "robots": costs and limits as a linear program, solved by HiGHS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from heuristics import Oracle, Problem, Result, require_fields
from heuristics.dynamic import iterate
from queueing.robots.fleet import event_moves, fleet_of, mixed_chances, mixed_classes, mixed_measures

from ...costs import ROUNDING
from ..pricing import LimitedControl, control_of
from .mixture import Part, mixed_by_columns, parts_of, told
from .program import METHODS, ProgramAnswer, solve_program
from .search import LimitedSearch

#: Why a program without a solution is no end of the matter.
UNSOLVED = "HiGHS did not solve the program, as numbers in it lie too far apart or time was over; {} without it."


@runtime_checkable
class RobotProgram(Problem, Protocol):
    """A problem of kind "robots".

    ``unimprovable()`` returns a sentence where costs are no averages over states, else ``None``; ``known_states()`` the
    number of states, or of numbers of robots by area, and ``None`` while it was not found how many robots help.
    """

    def unimprovable(self) -> str | None: ...
    def known_states(self) -> int | None: ...


@dataclass(frozen=True)
class LinearProgram:
    """Solve the linear program of average costs, and take a policy from it; with limits, search further from there.

    Without limits the program's policy is finished by policy iteration, whose bracket proves it. With limits
    ``extra.randomised`` has the best policy of all, which leaves some decisions to chance, or a mixture of such
    policies; the decision is the best one found without chance, and the bound, computed anew from the prices of the
    limits (``extra.prices_of_limits``), holds for all policies, randomised or not.

    Parameters
    ----------
    method
        ``"simplex"`` or ``"interior-point"``.
    largest
        More states than this are refused.
    search
        Under limits: states in policies that are evaluated, all together, after which the search ends.
    """

    method: Literal["simplex", "interior-point"] = "simplex"
    largest: int = 100_000
    search: int = 2_000_000

    name: ClassVar[str] = "linear-program"
    needs: ClassVar[type] = RobotProgram
    deterministic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_fields(
            self,
            method=(self.method in METHODS, "'simplex' or 'interior-point'"),
            largest=(self.largest >= 1, "1 or more"),
            search=(self.search >= 0, "0 or more"),
        )

    def refuses(self, problem: Any) -> str | None:
        """Refuse costs and limits that are no averages over states, and what has too many states."""
        sentence = problem.unimprovable()
        ranges = sorted({"fewest_robots", "most_robots"} & set(problem.limits.by_measure))
        if sentence is None and ranges and getattr(problem, "areas", None) is None:
            sentence = f"a limit on {ranges[0]} is none on an average over states."
        if sentence is None:
            sentence = self._too_large(problem)
        return None if sentence is None else f"strategy {self.name!r} cannot take {problem.name!r}: {sentence}"

    def _too_large(self, problem: Any) -> str | None:
        """A sentence about the number of states, as far as it is known before it is found how many robots help."""
        states = problem.known_states()
        if states is None or states <= self.largest:
            return None
        what = "numbers of robots in areas" if getattr(problem, "areas", None) is not None else "states"
        return f"it has {states} {what}, and at most {self.largest} are taken."

    def prepare(self, problem: Any) -> None:
        """Compile, before any clock starts, what makes policies of a solution."""
        fleet = fleet_of(2, 2, 1.0)
        moves = event_moves(fleet)
        actions = np.array([1, 0, 0] * 3, dtype=np.int64)
        mixed_classes(fleet, mixed_chances(fleet, actions), moves)
        mixed_measures(fleet, mixed_chances(fleet, actions), moves)
        solve_program(moves, 1.0, np.ones(fleet.states))

    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        """Solve the program, make a policy of its answer, improve it and prove what can be proved."""
        problem = oracle.problem
        sentence = self._too_large(problem)
        if sentence is not None:  # it was first to be found how many robots help
            return oracle.result(stopped_by="size", extra={"reason": sentence})
        oracle.require()
        if getattr(problem, "areas", None) is not None:
            from ..areas import solve_areas

            return solve_areas(oracle, self.method, self.search)
        with oracle.in_time():
            control = control_of(problem)
            if problem.limits:
                return self._limited(oracle, control)
            answer = self._answer(oracle, control)
        start = problem.first_policy()
        if answer.status == "optimal":
            with oracle.in_time():
                start = control.decision(parts_of(control, answer)[0].actions)
        return iterate(oracle, start)

    def _answer(self, oracle: Oracle[Any], control: LimitedControl, relaxed: bool = False) -> ProgramAnswer:
        answer = solve_program(
            control.moves,
            control.fleet.service_rate,
            control.cost,
            control.limits,
            method=self.method,
            seconds=oracle.remaining_seconds,
            relaxed=relaxed,
        )
        if relaxed:
            return answer
        told: dict[str, Any] = {"status": answer.status, "method": self.method}
        if answer.status == "optimal":
            told["objective"] = answer.objective
        elif answer.status != "infeasible":
            what = "the policy was searched for" if control.limits else "the policy was found by policy iteration"
            told["note"] = UNSOLVED.format(what)
        oracle.extra["program"] = told
        return answer

    # -- limits -------------------------------------------------------------------------------------------------------

    def _limited(self, oracle: Oracle[Any], control: LimitedControl) -> Result:
        """Tell the randomised policy, bound, and search for one without chance; fixed numbers first, if time ends."""
        search = LimitedSearch(oracle, control, self.search)
        search.fixed()
        answer = self._answer(oracle, control)
        if answer.status == "infeasible":
            reason = self._beyond(oracle, control)
            if reason is not None:
                return oracle.result(proved=True, extra={"reason": reason})
        parts = []
        if answer.status == "optimal":
            parts = parts_of(control, answer)
            oracle.extra["randomised"] = self._kept(oracle, control, parts, answer)
            oracle.extra["prices_of_limits"] = {
                limit.told: price for limit, price in zip(control.limits, answer.prices.tolist(), strict=True)
            }
        bounds = [control.bounds(np.zeros(len(control.limits)))]
        if answer.prices.any():
            bounds.append(control.bounds(answer.prices))
        oracle.report(bound=max(bound for _, bound in bounds))
        search.bound = max(exact for exact, _ in bounds)
        search.run(parts, answer.prices)
        oracle.extra["policies_searched"] = search.judged
        return oracle.result(proved=search.proved or search.judge_all())

    def _kept(
        self, oracle: Oracle[Any], control: LimitedControl, parts: list[Part], answer: ProgramAnswer
    ) -> dict[str, Any]:
        """What the solution stands for; where that breaks a limit, a mixture that does not."""
        cost, limits = oracle.problem.cost, oracle.problem.limits
        found = told(control, parts, cost, limits)
        if not found["keeps_limits"]:
            mixture = mixed_by_columns(control, [part.actions for part in parts], answer.prices)
            if mixture:
                return told(control, mixture, cost, limits)
        return found

    def _beyond(self, oracle: Oracle[Any], control: LimitedControl) -> str | None:
        """Prove that no policy keeps the limits together: some prices of them cost more than the limits allow."""
        answer = self._answer(oracle, control, relaxed=True)
        total = np.zeros(control.fleet.states)
        for price, limit in zip(answer.prices, control.limits, strict=True):
            total += price * (limit.rates - limit.bound)
        total[: control.fleet.environments] = 0.0
        if answer.prices.any() and control.best(total).lower > ROUNDING * float(np.abs(total).max()):
            return "no policy, randomised or not, keeps all limits."
        return None
