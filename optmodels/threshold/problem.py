"""When to switch crawler robots on and off: kind "threshold".

Robots bring pages to one indexing server; how many of them are active is decided by the number of pages in the system.
Few robots starve the server, many fill the buffer with pages that are lost or go out of date before they are indexed.
Find the numbers of pages at which to switch.

References
----------
.. [1] K. Avrachenkov, A. Dudin, V. Klimenok, P. Nain, O. Semenova, "Optimal threshold control by the robots of web
   search engines with obsolescence of documents", *Computer Networks* 55 (2011) 1880-1893.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heuristics import NOTHING, Decision, Evaluation
from queueing import Mode, PhaseType, ThresholdMeasures, ThresholdQueue
from queueing.threshold import MEASURES, measures_of_many, shares_work

from ..costs import (
    CostFunction,
    CostLike,
    Limits,
    LimitsLike,
    Measures,
    WeightedSum,
    is_linear,
    measures_used,
    price_of,
)
from ..data import OPTIONAL, REQUIRED, Constructed, LawLike, Takes, natural, read_as, shared, write_law
from ..errors import InstanceError, RequestError, refusals
from .data import Admission, ThresholdData, write_modes
from .sojourn import cheap_sojourn, sojourn_quantiles
from .space import Thresholds
from .subsets import LARGEST_TABLE, best_by_subset, single_mode, two_mode_policies

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from queueing.threshold.policies import PolicyChain

    from .simulation import ThresholdExperiment

#: Methods of the queue that estimate: cut off at a light tail, or by tensor trains.
ESTIMATING = ("truncated", "tensor-train")

#: Price of a measure e - 1 times its limit beyond it, in objectives: at 1, searches settle just beyond tight limits.
PENALTY = 10.0


#: What is broken by a policy that fills a system without bound, and what a unit of it counts in a search.
UNKNOWN, UNKNOWN_PENALTY = "all measures undefined", 1e6


@natural
@dataclass(eq=False, kw_only=True, repr=False)
class ThresholdProblem(Constructed):
    """Choose the thresholds at which robots are switched.

    A decision holds one threshold fewer than there are modes, those of the modes with the most robots first, not
    decreasing, each between -1 and the capacity. -1 or equal neighbours switch a mode off: of four modes "3 or 1
    robots, threshold 2" is ``(-1, 2, 2)``, "always 2" is ``(-1, -1, K)``.

    A policy that sees more than the number of pages is a decision too: ``{"policy": [mode index of each state]}``, with
    the states in the order of `queueing.threshold.policies.chain`.

    Parameters
    ----------
    capacity
        K: most pages in the system, the one in service included; ``None``, which needs patience: room for all.
    service
        Law of the time that indexing a page takes.
    patience
        Law of the time after which a waiting page is out of date; ``None``: it never is.
    modes
        Arrivals by number of active robots, fewest robots first: ``[{"robots": 1, "arrivals": [D0, D1]}, ...]``, or one
        of the other forms of a file. Matrices are arrays; a number or a law stands for single arrivals.
    admission
        Of a batch without enough room enter as many as fit (``"partial"``), none (``"whole-batch"``), or all where one
        fits (``"complete"``).
    use_all_modes
        Thresholds lie in 0..K-1, as in the tables of Avrachenkov et al. (2011): the modes with the most and with the
        fewest robots are in use at some level.
    name
        For the reader.
    cost
        Price of the measures; ``None``: there is nothing to minimise, decisions can only be evaluated.
    limits
        Limits on measures.

    Attributes
    ----------
    queue
        The queue; its capacity is the room that there is, or that stands for room without bound.
    tail_mass
        The room stands for room without bound: under no policy would more of the time be spent where it ends. ``None``:
        it ends there.

    References
    ----------
    K. Avrachenkov, A. Dudin, V. Klimenok, P. Nain, O. Semenova, "Optimal threshold control by the robots of web search
    engines with obsolescence of documents", *Computer Networks* 55 (2011), 1880-1893.

    Examples
    --------
    >>> from optmodels import solve
    >>> from optmodels.threshold import ThresholdGenerator
    >>> problem = ThresholdGenerator(modes=2, capacity=3).instance().problem()
    >>> round(problem.evaluate((1,)).objective, 4)
    105.2934
    >>> solve(problem, "exhaustive").decision
    (2,)
    """

    capacity: Takes[int | None, int | None] = REQUIRED
    service: Takes[LawLike, PhaseType] = REQUIRED
    patience: Takes[LawLike | None, PhaseType | None] = REQUIRED
    modes: Takes[Sequence[Mapping[str, Any] | Mode] | Mapping[str, Any], tuple[Mode, ...]] = REQUIRED
    admission: Takes[str | None, Admission] = OPTIONAL
    use_all_modes: Takes[bool | None, bool] = OPTIONAL
    name: str = "threshold"
    cost: Takes[CostLike | None, CostFunction | None] = OPTIONAL
    limits: Takes[LimitsLike | None, Limits] = OPTIONAL

    if TYPE_CHECKING:

        @property
        def queue(self) -> ThresholdQueue: ...
        @property
        def tail_mass(self) -> float | None: ...

    kind: ClassVar[str] = "threshold"
    measure_names: ClassVar[tuple[str, ...]] = MEASURES
    algebraic_limits: ClassVar[bool] = True
    #: Where rates lie decades apart, the program's equations of the stationary distribution hold this well.
    model_noise: ClassVar[float] = 1e-4
    #: What `describe` tells that is worth a column in a parameter study.
    summary_names: ClassVar[tuple[str, ...]] = ("relative_profit", "single_mode_costs")
    #: Measures per page, and the measures whose product is the rate of these pages; all others are means over time.
    ratios: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "loss": ("arrival_rate",),
        "obsolescence": ("arrival_rate",),
        "success": ("arrival_rate",),
        "sojourn_time": ("arrival_rate",),
        "response_time": ("arrival_rate", "success"),
        "obsolete_time": ("obsolescence_rate",),
    }

    # -- from and to files --------------------------------------------------------------------------------------------

    @classmethod
    def _natural(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Modes that were kept are objects of a file again, their arrivals as they are."""
        data = super()._natural(given)
        if isinstance(data.get("modes"), list):
            data["modes"] = [
                {"robots": mode.robots, "arrivals": mode.arrivals} if isinstance(mode, Mode) else mode
                for mode in data["modes"]
            ]
        return data

    def _read(self, data: Mapping[str, Any], *, folder: Path | None, **beside: Any) -> None:
        found: ThresholdData = read_as(ThresholdData, data)
        room, tail_mass = found.room()
        queue = shared(
            ThresholdQueue,
            modes=found.modes,
            service=found.service,
            patience=found.patience,
            capacity=room,
            admission=found.admission,
        )
        try:
            queue.method()
        except ValueError as refusal:  # too many states for any method
            raise InstanceError("data.capacity", data["capacity"], str(refusal)) from None
        _refuse_undefined(queue, beside["cost"])
        self._keep(queue=queue, tail_mass=tail_mass, **dict(found), **beside)

    def to_data(self) -> dict[str, Any]:
        """Return the data of an instance file that `from_data` reads back to the same problem."""
        return {
            "capacity": self.capacity,
            "service": write_law(self.queue.service),
            "patience": None if self.queue.patience is None else write_law(self.queue.patience),
            "modes": write_modes(self.queue.modes),
            "admission": self.queue.admission,
            "use_all_modes": self.use_all_modes,
        }

    # -- what follows from the data -----------------------------------------------------------------------------------

    @cached_property
    def space(self) -> Thresholds:
        """Non-decreasing thresholds; with one mode, the one decision without entries."""
        model = self.queue.model
        lengths = tuple(sorted({model.pairs, model.states if model.top > 1 else model.pairs}))
        if self.use_all_modes:
            return Thresholds(len(self.modes) - 1, 0, self.queue.capacity - 1, lengths)
        return Thresholds(len(self.modes) - 1, -1, self.queue.capacity, lengths)

    @property
    def has_objective(self) -> bool:
        """Whether there is something to minimise."""
        return self.cost is not None

    @property
    def linear_cost(self) -> bool:
        """Whether the cost is linear in the measures."""
        return is_linear(self.cost)

    def suggestions(self, rng: np.random.Generator) -> Iterator[Decision]:
        """Yield policies of two modes that switch at a low level, then at higher ones, then single modes.

        Far above the levels that are ever reached all thresholds are alike, so that no neighbour leads out of there:
        with much room, random thresholds are of no use to begin with.
        """
        yield from two_mode_policies(self)

    # -- evaluating --------------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Import, before any clock starts, what `describe` needs."""
        if self.limits:
            from .. import multipliers  # noqa: F401 - what `describe` needs of it takes a moment to load

    def evaluate(self, decision: Decision) -> Evaluation:
        """Return all measures of a policy and their price; infeasible where it fills a system without bound."""
        try:
            return self.judge(self.measures(decision).scalars())
        except RequestError:
            if not self._open or isinstance(decision, Mapping):
                raise
            # Lower thresholds mean fewer robots, so the way down leads to policies that can be evaluated.
            excess = 1.0 + sum(threshold + 1 for threshold in decision)
            return Evaluation(0.0, {UNKNOWN: excess}, dict.fromkeys(MEASURES), UNKNOWN_PENALTY * excess)

    def evaluate_many(self, decisions: Sequence[Decision]) -> list[Evaluation]:
        """Evaluate several policies; what they share is computed once."""
        if self._open or any(isinstance(decision, Mapping) for decision in decisions):
            return [self.evaluate(decision) for decision in decisions]
        with refusals(f"{self.name!r} cannot be evaluated"):
            found = measures_of_many(self.queue, decisions)
        rows = found.rows()
        if isinstance(self.cost, WeightedSum) and not self.limits:  # the usual case, without a call for each policy
            with np.errstate(over="ignore", invalid="ignore"):  # infinite as in `judge`, and without a warning
                used = [weight * found.values[name] for name, weight in self.cost.weights.items() if weight != 0]
                total: NDArray[np.float64] = np.sum(used, axis=0) if used else np.zeros(len(rows))
            if not np.isnan(total).any():
                return [Evaluation(value, NOTHING, row) for value, row in zip(total.tolist(), rows, strict=True)]
        return [self.judge(row) for row in rows]

    def measures(self, decision: Decision) -> ThresholdMeasures:
        """Tell what the queue says about a policy."""
        # Rates may be too far apart for doubles, or a policy may never settle.
        with refusals(f"{self.name!r} cannot be evaluated at {decision}"):
            if isinstance(decision, Mapping):
                from queueing.threshold.policies import policy_measures

                return policy_measures(self.queue, decision["policy"], self.policies())
            if self._open:
                from queueing.threshold import open_measures

                return open_measures(self.queue, decision)
            return self.queue.measures(decision)

    def policies(self) -> PolicyChain:
        """Return the chain under every mode in every state, of which policies by state are made."""
        return self._policies

    @cached_property
    def _policies(self) -> PolicyChain:
        from queueing.threshold.policies import policy_chain

        return policy_chain(self.queue.model)

    def judge(self, measures: Measures) -> Evaluation:
        """Price and broken limits of measures."""
        violations = self.limits.violations(measures) if self.limits else {}
        if self.cost is None:
            return Evaluation(math.nan, violations, measures)
        read = _Noting(measures)
        objective = price_of(self.cost, measures if None not in measures.values() else read)
        if not violations and not read.undefined:
            return Evaluation(objective, NOTHING, measures)
        violations |= {f"{name} undefined": 1.0 for name in sorted(read.undefined)}
        excess = self.limits.excess(measures) + len(read.undefined)
        return Evaluation(objective, violations, measures, PENALTY * (1.0 + abs(objective)) * excess)

    def describe(self, decision: Decision) -> dict[str, Any]:
        """Tell what a policy means level by level, and what others cost.

        ``best_by_modes`` has the best thresholds of every sub-set of modes, the rows of Tables 1 and 5 of Avrachenkov
        et al. (2011); it is ``None`` where it would take another search, see `optmodels.threshold.subsets`. The
        relative profit is that over the best single mode within the limits. ``multipliers`` has the prices that the
        limits are worth among threshold policies, see `optmodels.multipliers`; ``sojourn_quantiles`` the times within
        which 50, 95 and 99 % of the pages that are served, that go out of date and that come at all have left; ``None``
        in large queues. ``truncation`` has the room that stands for a system without bound, and which part of the time
        at most is spent beyond it under any policy (``tail_mass``); where this policy was evaluated with less room,
        also that room (``truncated_at``) and the part of the time that is estimated to be spent beyond
        (``estimated_tail``).
        """
        found = self.measures(decision)
        costs = self.single_mode_costs
        known = not any(UNKNOWN in one.violations for one in self._single_modes)
        least = min((one.objective for one in self._single_modes if one.feasible), default=0.0) if known else 0.0
        objective = self.judge(found.scalars()).objective
        details: dict[str, Any] = {
            "level_probabilities": list(found.level_probabilities),
            "mode_probabilities": list(found.mode_probabilities),
            "robots": [mode.robots for mode in self.modes],
            "single_mode_costs": {str(robots): value for robots, value in costs.items()},
            "relative_profit": 1.0 - objective / least if self.has_objective and least > 0 else None,
            "best_by_modes": self.best_by_modes,
            "method": found.method,
            "error_estimate": found.error_estimate,
            "errors": dict(found.errors),
            **self._truncation(found),
        }
        if isinstance(decision, Mapping):
            from .policy_pairs import policy_map

            return details | {"policy_map": policy_map(self, decision)}
        priced = {"multipliers": self.multipliers} if self.limits else {}
        return details | {"sojourn_quantiles": sojourn_quantiles(cheap_sojourn(self.queue, decision))} | priced

    @cached_property
    def single_mode_costs(self) -> dict[int, float | None]:
        """Objective of each mode on its own, by number of robots; ``None`` where there is none."""
        if not self.has_objective:
            return {mode.robots: None for mode in self.modes}
        return {
            mode.robots: None if any("undefined" in name for name in one.violations) else one.objective
            for mode, one in zip(self.modes, self._single_modes, strict=True)
        }

    @cached_property
    def _single_modes(self) -> list[Evaluation]:
        return self.evaluate_many([single_mode(self, index) for index in range(len(self.modes))])

    @cached_property
    def best_by_modes(self) -> list[dict[str, Any]] | None:
        """The best thresholds of every sub-set of modes, or ``None`` if they are too many to look at in passing."""
        return best_by_subset(self) if self.has_objective and self.quickly_listed(LARGEST_TABLE) else None

    @cached_property
    def multipliers(self) -> dict[str, Any] | None:
        """Lagrange multipliers of the limits among threshold policies, or ``None`` if these are too many to look at."""
        if not self.limits or not self.has_objective or not self.quickly_listed(LARGEST_TABLE):
            return None
        from ..multipliers import find_multipliers

        return find_multipliers(self).to_data()

    def _truncation(self, found: ThresholdMeasures) -> dict[str, Any]:
        if self.tail_mass is None:
            return {}
        told: dict[str, Any] = {"capacity": self.queue.capacity, "tail_mass": self.tail_mass}
        if self._open:
            told |= {"truncated_at": found.truncated_at, "estimated_tail": found.tail}
        return {"truncation": told}

    @cached_property
    def estimated(self) -> bool:
        """Whether policies are evaluated by methods that estimate (`ESTIMATING`)."""
        try:
            return self._open or self.queue.method().name in ESTIMATING
        except ValueError:  # no method at all
            return True

    @cached_property
    def _open(self) -> bool:
        """Whether each policy is evaluated with room of its own, as room for all of them is too much."""
        if self.tail_mass is None:
            return False
        from queueing.threshold import takes_open

        return takes_open(self.queue)

    def quickly_listed(self, most: int) -> bool:
        """Tell whether all policies together are evaluated in seconds: at most `most`, in one go or few and small.

        Policies that share all their work take microseconds, others milliseconds, more with more states.
        """
        count = Thresholds(len(self.modes) - 1, -1, self.queue.capacity).size
        return count <= most and (shares_work(self.queue) or count * (3000 + self.queue.model.states) <= 300 * most)

    # -- as an integer program ----------------------------------------------------------------------------------------

    def algebraic_refusal(self) -> str | None:
        """Tell why the problem cannot be written as a linear program after all, or return ``None``."""
        from .occupation import refuses

        return refuses(self)

    def to_pyomo(self) -> pyo.ConcreteModel:
        """Write the problem as an integer program, see `optmodels.threshold.mip`."""
        from .mip import build

        return build(self)

    def from_pyomo(self, model: pyo.ConcreteModel) -> Decision:
        """Read the thresholds off a solved model."""
        from .mip import read

        return read(model)

    def start_pyomo(self, model: pyo.ConcreteModel, decision: Decision) -> None:
        """Fill in every variable of the model for given thresholds."""
        from .mip import start

        start(self, model, decision)

    def almost_feasible(self, decision: Decision) -> bool:
        """Tell whether thresholds break limits by no more than solvers take for rounding."""
        from .mip import almost_feasible

        return almost_feasible(self, decision)

    def experiment(self, decision: Decision) -> ThresholdExperiment:
        """Return a policy to be tried out event by event, see `optmodels.studies.simulating`."""
        from .simulation import experiment_of

        return experiment_of(self, decision)


class _Noting(Mapping[str, float | None]):
    """Measures that give 0 where they are undefined, and note that they were asked."""

    def __init__(self, measures: Measures) -> None:
        self.measures = measures
        self.undefined: set[str] = set()

    def __getitem__(self, name: str) -> float:
        value = self.measures[name]
        if value is None:
            self.undefined.add(name)
            return 0.0
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def __len__(self) -> int:
        return len(self.measures)


def _refuse_undefined(queue: ThresholdQueue, cost: CostFunction | None) -> None:
    """Refuse a price on the time of pages that go out of date where none ever does."""
    place, value = measures_used(cost).get("obsolete_time", ("", 0))
    if value == 0 or (queue.patience is not None and queue.model.top > 1):
        return
    why = "patience is null" if queue.patience is None else "no page ever waits"
    raise InstanceError(place, value, f"no page goes out of date, as {why}, so that this measure has no value.")
