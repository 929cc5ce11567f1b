"""When to send crawler robots out and when to keep them back: kind "robots".

Robots bring pages to one indexing server. After every arrival and every service one more robot may be activated, with
the numbers of pages and of active robots in view. Few robots starve the server, many fill the buffer, and pages are
lost. Find for every state what to do.

References
----------
.. [1] J. Talim, Z. Liu, P. Nain, E. G. Coffman Jr., "Controlling the robots of web search engines", *Proc. ACM
   Sigmetrics* 2001, *Performance Evaluation Review* 29 (1), 236-244.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heuristics import Decision, Evaluation, interrupting
from heuristics.dynamic import Improvement
from queueing import RobotMeasures, RobotQueue, best_policy, policy_step, static_measures
from queueing.robots import descend, first_policy

from .fleet import ControlledRobots
from .pricing import PRICED, Best, Vector, state_costs
from .static import BestStatic, best_fixed, is_soon_found
from .structure import structure, switching_curves

if TYPE_CHECKING:
    from heuristics.dynamic import Rule, Sweeps


class RobotsProblem(ControlledRobots):
    """Choose in which states one more robot is activated.

    A decision has (K+1)(N+1) entries 0 or 1; entry q(N+1)+r is 1 if, when an event leaves q pages and r active robots,
    one more is activated.

    Parameters
    ----------
    robots
        N; ``None``: as many as ever help, found from the prices.
    capacity
        K: most pages in the system, the one in service included.
    arrival_rate, service_rate
        Pages that one active robot brings, and that the server takes, per unit of time.
    travel_time, classes, environment, switching
        Of a fleet: the problem is then a `RobotFleetProblem`.
    areas, control
        Of areas that share robots: the problem is then a `RobotAreasProblem`.
    name
        For the reader.
    cost
        Price of the measures; in a weighted sum losses cost 1 unless said. ``None``: there is nothing to minimise,
        decisions can only be evaluated.
    limits
        Limits on measures.

    References
    ----------
    J. Talim, Z. Liu, P. Nain, E. G. Coffman Jr., "Controlling the robots of web search engines", *Proc. ACM Sigmetrics*
    2001, *Performance Evaluation Review* 29 (1), 236-244.

    Examples
    --------
    >>> from optmodels import solve
    >>> from optmodels.robots import RobotsProblem
    >>> problem = RobotsProblem(robots=2, capacity=3, arrival_rate=0.6, service_rate=1.0, cost={"starvation": 1.5})
    >>> problem.space.length
    12
    >>> result = solve(problem, "policy-iteration")
    >>> result.decision
    (1, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0)
    >>> round(result.objective, 6)
    0.333037
    """

    words: ClassVar[tuple[str, str]] = ("active", "activate")

    def enough(self) -> int:
        """Find how many robots are as good as any number."""
        queue = RobotQueue(1, self.capacity, self.arrival_rate, self.service_rate)
        from .enough import enough_of_queue

        return enough_of_queue(queue, self.prices, interrupting.check)

    @cached_property
    def queue(self) -> RobotQueue:
        """The queue, with as many robots as there are or as ever help."""
        return RobotQueue(self.fleet.classes[0].robots, self.capacity, self.arrival_rate, self.service_rate)

    @cached_property
    def state_costs(self) -> NDArray[np.float64]:
        """Cost per unit of time by state, where the cost is a sum of such."""
        found: NDArray[np.float64] = state_costs(self.queue, self.prices)
        return found

    # -- evaluating --------------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Compile, before any clock starts, what evaluations and steps of policy iteration need."""
        small = RobotsProblem(robots=2, capacity=2, arrival_rate=1.0, service_rate=1.0, cost={"starvation": 1.0})
        decision = small.first_policy(quick=True)
        small.evaluate(decision)
        small.policy_step(decision)
        small.policy_step((1, 0, 0, 1, 1, 0, 0, 0, 0))  # no falling curve, which is evaluated in another way

    def measures(self, decision: Decision) -> RobotMeasures:
        """Ask the queue for the measures of a policy."""
        with self.telling("evaluated at this decision"):
            return self.queue.measures(np.array(decision, dtype=np.int8))

    def details(self, decision: Decision, found: RobotMeasures) -> dict[str, Any]:
        """What else is told of a policy.

        ``switching_curves`` has f_0 (after a departure) and f_1 (after an arrival) of Talim et al. (2001), by number of
        active robots before the event: one more is activated while the pages before the event are at most f. 0 in f_0
        and -1 in f_1 stand for never; ``None``: no such event. The relative improvement is (C_s - C) / C, with the best
        fixed number within N; ``best_static_unrestricted`` is the best of all numbers, if it is known.
        """
        free = None if self.told_static is None else self.best_static_unrestricted
        return {
            "switching_curves": switching_curves(self.policy_of(decision)),
            "best_static_unrestricted": None if free is None else free.to_data(),
        }

    @cached_property
    def best_static(self) -> BestStatic | None:
        """The best fixed number of the robots that there are; limits are not looked at."""
        return best_fixed(self, self.queue.robots)

    @cached_property
    def best_static_unrestricted(self) -> BestStatic | None:
        """The best fixed number of robots, however many there are; ``None`` if that is not known."""
        return best_fixed(self, None)

    @property
    def told_static(self) -> BestStatic | None:
        """The best fixed number, if it is known or soon found."""
        return super().told_static if "best_static" in vars(self) or is_soon_found(self) else None

    def judge_fixed(self, counts: tuple[int, ...]) -> Evaluation:
        """What so many robots achieve that are always active."""
        return self.judge(static_measures(self.queue, counts[0]).scalars())

    # -- policies and values ------------------------------------------------------------------------------------------

    def policy_of(self, decision: Decision) -> NDArray[np.int8]:
        """A decision by queue length and number of active robots."""
        return np.array(decision, dtype=np.int8).reshape(self.queue.shape)

    def suggestions(self, rng: np.random.Generator) -> Iterable[Decision]:
        """The best fixed number of robots, as a policy."""
        static = self.best_static
        if static is not None:
            yield self.keeping(static.robots)

    def first_policy(self, quick: bool = False) -> Decision:
        """A guess around the best fixed number of robots, or that of balance if no cost says more; quick: improved."""
        queue = self.queue
        if self.unimprovable() is not None:
            return self.decision_of(queue.base_stock(min(queue.robots, max(1, round(queue.balanced)))))
        policy = first_policy(queue, self.state_costs)
        if quick:
            try:
                policy = descend(policy, queue.arrival_rate, queue.service_rate, self.state_costs, interrupting.check)
            except KeyboardInterrupt:
                interrupting.note()  # whoever asks next ends the run, and has a policy to tell
        return self.decision_of(policy)

    def policy_step(self, decision: Decision) -> Improvement:
        """Evaluate a policy, improve it, and bracket the least cost."""
        step = policy_step(self.queue, self.state_costs, self.policy_of(decision), interrupting.check)
        return self.improvement(step, step.policy, lambda: {"structure": structure(step.policy, step.values)})

    def unsweepable(self, rule: Rule) -> str | None:
        """Why values cannot be iterated, if they cannot."""
        if rule == "paper" and self.unimprovable() is None:
            others = {name for name in PRICED[2:] if self.prices.get(name, 0) != 0}
            if others or self.prices["loss_rate"] != 1:
                return "the paper's own iteration prices starvation, and losses at 1, and nothing else."
        return self.unimprovable()

    def sweeps(self, rule: Rule) -> Sweeps:
        """Values by state after a decision; with rule "paper", by the states of Talim et al. (2001)."""
        from queueing.robots import greedy, sweep

        from .value_iteration import PaperSweeps, StateSweeps

        if rule == "paper":
            return PaperSweeps(self)
        rates = self.queue.arrival_rate, self.queue.service_rate
        return StateSweeps(
            self.queue.shape,
            lambda values: sweep(*rates, self.state_costs, values),
            lambda values: self.decision_of(greedy(values)),
        )

    def best_for(self, cost: Vector) -> Best:
        """Find the best policy under a cost by state, limits not looked at."""
        grid = np.ascontiguousarray(cost.reshape(self.queue.shape))
        found = best_policy(self.queue, grid, pause=interrupting.check)
        return Best(found.policy.astype(np.int64).ravel(), found.lower)
