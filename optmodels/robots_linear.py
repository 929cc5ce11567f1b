"""Strategy `linear-program` for kind "robots": costs and limits as a linear program, solved by HiGHS."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from heuristics import Oracle, Result
from heuristics.policy_iteration import report_bound
from heuristics.searching import require_fields
from queueing import RobotQueue, best_policy
from queueing.robots_control import led_to
from queueing.robots_cuts import closed_class
from queueing.robots_sweeps import greedy, sweep

from .costs import ROUNDING
from .robots_limits import linear_limits
from .robots_program import METHODS, TOLERANCE, ProgramAnswer, solve_program
from .robots_static import RobotControl

if TYPE_CHECKING:
    from .robots import RobotsProblem

#: Times that the prices of limits are raised, at most, until a policy keeps them; then halvings towards the first.
RAISES, HALVINGS = 40, 20


@dataclass(frozen=True)
class LinearProgram:
    """The linear program of average costs; its answer is a policy, randomised if limits ask for it.

    Without limits the policy is proved by the bracket of its own values or of those of the program. With limits
    ``extra.randomised`` has the best policy of all, which activates robots by chance in some states; the decision is
    the best one found without chance, and the bound, computed anew from the prices of the limits, is that of the
    randomised one.

    Parameters
    ----------
    method
        ``"simplex"`` or ``"interior-point"``.
    largest
        More states than this are refused.
    """

    method: Literal["simplex", "interior-point"] = "simplex"
    largest: int = 100_000

    name: ClassVar[str] = "linear-program"
    needs: ClassVar[type] = RobotControl
    deterministic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_fields(
            self,
            method=(self.method in METHODS, "'simplex' or 'interior-point'"),
            largest=(self.largest >= 1, "1 or more"),
        )

    def refuses(self, problem: Any) -> str | None:
        """Refuse costs and limits that are no averages over states, and large queues."""
        if not hasattr(problem, "queue"):
            return f"strategy {self.name!r} takes robots of one sort, sent out one at a time, not {problem.name!r}."
        sentence = problem.unimprovable()
        ranges = sorted({"fewest_robots", "most_robots"} & set(problem.limits.by_measure))
        if sentence is None and ranges:
            sentence = f"a limit on {ranges[0]} is none on an average over states."
        if sentence is None and problem.space.length > self.largest:
            sentence = f"it has {problem.space.length} states, and at most {self.largest} are taken."
        return None if sentence is None else f"strategy {self.name!r} cannot take {problem.name!r}: {sentence}"

    def prepare(self, problem: Any) -> None:
        """Compile."""
        queue = RobotQueue(2, 2, 1.0)
        cost = queue.cost(1.0)
        found = best_policy(queue, cost)
        sweep(queue.arrival_rate, queue.service_rate, cost, solve_program(queue, cost).values)
        led_to(found.policy, closed_class(found.policy, 1, 1))

    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        """Solve the program, make a policy of its answer, and prove it anew."""
        problem: RobotsProblem = oracle.problem
        limits = list(linear_limits(problem))
        rows = [(rates, bound) for _, rates, bound in limits]
        oracle.require()
        seconds = oracle.remaining_seconds
        answer = solve_program(problem.queue, problem.state_costs, rows, method=self.method, seconds=seconds)
        if answer.status == "infeasible":
            return self._without_policy(oracle, rows)
        if answer.status != "optimal":
            return oracle.result(stopped_by=answer.status)
        oracle.extra["program"] = {"objective": answer.objective, "method": self.method}
        policy = _policy(problem, answer)
        if not limits:
            step = problem.policy_step(problem.decision_of(policy))
            oracle(step.decision)
            # States that never recur are nothing to the program: its values prove where those of the policy may not.
            lower, upper = max(step.lower, _proved(problem, answer.values)), step.upper
            oracle.extra["bracket"] = [lower, upper]
            report_bound(oracle, lower)
            return oracle.result()
        names = [told for told, _, _ in limits]
        oracle.extra["randomised"] = _randomised(problem, answer)
        oracle.extra["prices_of_limits"] = dict(zip(names, answer.prices.tolist(), strict=True))
        bound = _priced(problem, rows, answer.prices).lower - float(answer.prices @ [bound for _, bound in rows])
        oracle(problem.decision_of(policy))
        report_bound(oracle, bound)
        _raise_prices(oracle, rows, answer.prices)
        report_bound(oracle, bound)
        return oracle.result()

    def _without_policy(self, oracle: Oracle[Any], rows: list[tuple[NDArray[np.float64], float]]) -> Result:
        """Prove that no policy keeps the limits together: some prices of them cost more than the limits allow."""
        problem: RobotsProblem = oracle.problem
        queue, cost = problem.queue, problem.state_costs
        answer = solve_program(queue, cost, rows, method=self.method, seconds=oracle.remaining_seconds, relaxed=True)
        total = np.zeros(queue.shape)
        for price, (rates, bound) in zip(answer.prices, rows, strict=True):
            total += price * (rates - bound)
        if answer.prices.any() and best_policy(queue, total).lower > ROUNDING * float(np.abs(total).max()):
            return oracle.result(proved=True, extra={"reason": "no policy, randomised or not, keeps all limits."})
        return oracle.result(stopped_by="unsolved")


def _policy(problem: RobotsProblem, answer: ProgramAnswer) -> NDArray[np.int8]:
    """The likelier action where events lead, the greedy one elsewhere, so that all states lead to the likeliest."""
    policy = greedy(answer.values)
    flows = answer.stays + answer.activations > TOLERANCE
    policy = np.where(flows, answer.activations > answer.stays, policy).astype(np.int8)
    policy[:, -1] = 0
    policy[0, 0] = 1
    place = np.unravel_index(int(answer.shares.argmax()), answer.shares.shape)
    return np.asarray(led_to(policy, closed_class(policy, int(place[0]), int(place[1]))))


def _proved(problem: RobotsProblem, values: NDArray[np.float64]) -> float:
    """What the multipliers of the program prove, whatever the solver's tolerances, up to rounding."""
    queue = problem.queue
    known = np.ascontiguousarray(values)
    _, lower, _ = sweep(queue.arrival_rate, queue.service_rate, problem.state_costs, known)
    return float(lower)


def _randomised(problem: RobotsProblem, answer: ProgramAnswer) -> dict[str, Any]:
    """The policy of the program: its cost, where it leaves things to chance, and all its probabilities."""
    chances = answer.probabilities()
    flows = answer.stays + answer.activations > TOLERANCE
    # Where it never is, the program says nothing: from there the policy is led to where it is.
    rounded: NDArray[np.int8] = (chances > 0.5).astype(np.int8)
    chances = np.where(flows, chances, led_to(rounded, answer.shares > TOLERANCE))
    mixed = np.argwhere((chances > 1e-9) & (chances < 1 - 1e-9))
    return {
        "objective": answer.objective,
        "states_left_to_chance": [
            {"pages": int(q), "robots": int(r), "probability": float(chances[q, r])} for q, r in mixed
        ],
        "policy": chances.ravel().tolist(),
    }


def _priced(problem: RobotsProblem, rows: list[tuple[NDArray[np.float64], float]], prices: Any) -> Any:
    total = problem.state_costs.copy()
    for price, (rates, _) in zip(prices, rows, strict=True):
        total += price * rates
    return best_policy(problem.queue, total)


def _raise_prices(oracle: Oracle[Any], rows: list[tuple[NDArray[np.float64], float]], prices: Any) -> None:
    """Raise the prices of limits until the best policy keeps them, then come back as near as that stays so."""
    problem: RobotsProblem = oracle.problem

    def keeps(factor: float) -> bool:
        oracle.require()
        found = _priced(problem, rows, np.asarray(prices) * factor)
        return oracle(problem.decision_of(found.policy)).feasible

    low, high = 1.0, 1.0 + 1e-6
    if not np.any(prices) or keeps(low):
        return
    for _ in range(RAISES):
        if keeps(high):
            break
        low, high = high, 1.0 + 2.0 * (high - 1.0)
    else:
        return
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if keeps(middle) else (middle, high)
