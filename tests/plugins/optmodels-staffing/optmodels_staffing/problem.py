"""How many servers work in each hour: kind "staffing"."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import model_validator

from heuristics import Decision, Evaluation
from heuristics.spaces import IntegerBox
from optmodels.costs import CostFunction, Limits, is_linear
from optmodels.data import Data, Number, Refusal, Rows, entry, read_as

from .queue import mean_wait, waiting_probability
from .simulation import StaffingExperiment, experiment_of

MEASURES = ("wages", "server_hours", "worst_waiting_probability", "worst_mean_wait")
Positive = Annotated[float, Number("it is a number above 0.", above=0)]
Hours = Annotated[tuple[Positive, ...], Rows("it is a list of numbers, one for each hour.")]


class StaffingData(Data):
    """The data of kind "staffing"."""

    needed = "kind 'staffing' needs arrival_rates, service_rate, wages, most_servers."

    arrival_rates: Hours = entry("customers that come, hour by hour", unit="per hour")
    service_rate: Positive = entry("customers that one server serves", unit="per hour")
    wages: Hours = entry("of one server, hour by hour", unit="per hour")
    most_servers: Annotated[int, Number("it is a whole number from 1 to 1000.", least=1, most=1000, whole=True)] = (
        entry("that can work in any hour")
    )
    max_waiting_probability: Positive = entry("that no hour may exceed", default=1.0)
    max_mean_wait: Positive = entry("that no hour may exceed", unit="hours", default=math.inf)

    @model_validator(mode="after")
    def _has_a_wage_for_each_hour(self) -> StaffingData:
        if len(self.arrival_rates) != len(self.wages):
            raise Refusal("there is one for each arrival rate.", "wages")
        return self


@dataclass(frozen=True)
class StaffingProblem:
    """Choose the number of servers in each hour at least cost; every hour is a queue M/M/c in its steady state.

    Parameters
    ----------
    name
        For the reader.
    arrival_rates
        Customers per hour, hour by hour.
    service_rate
        Customers that one server serves per hour.
    wages
        Of one server, hour by hour.
    most_servers
        In any hour.
    max_waiting_probability, max_mean_wait
        What no hour may exceed; the second in hours.
    cost
        Price of the measures; ``None``: the wages.
    limits
        Limits on measures.
    """

    name: str
    arrival_rates: tuple[float, ...]
    service_rate: float
    wages: tuple[float, ...]
    most_servers: int
    max_waiting_probability: float = 1.0
    max_mean_wait: float = math.inf
    cost: CostFunction | None = None
    limits: Limits = field(default_factory=Limits)

    kind: ClassVar[str] = "staffing"
    measure_names: ClassVar[tuple[str, ...]] = MEASURES
    has_objective: ClassVar[bool] = True

    @classmethod
    def from_data(
        cls,
        data: Mapping[str, Any],
        *,
        name: str = "staffing",
        cost: CostFunction | None = None,
        limits: Limits | None = None,
        folder: Path | None = None,
    ) -> StaffingProblem:
        """Read the ``data`` of an instance file."""
        read: StaffingData = read_as(StaffingData, data)
        limits = limits or Limits()
        return cls(name, cost=cost, limits=limits, **{key: getattr(read, key) for key in StaffingData.model_fields})

    def to_data(self) -> dict[str, Any]:
        """The data of an instance file that `from_data` reads back to the same problem."""
        data: dict[str, Any] = {
            "arrival_rates": list(self.arrival_rates),
            "service_rate": self.service_rate,
            "wages": list(self.wages),
            "most_servers": self.most_servers,
        }
        if self.max_waiting_probability < 1:
            data["max_waiting_probability"] = self.max_waiting_probability
        if self.max_mean_wait < math.inf:
            data["max_mean_wait"] = self.max_mean_wait
        return data

    @property
    def space(self) -> IntegerBox:
        """From 1 server to the most, in each hour."""
        hours = len(self.arrival_rates)
        return IntegerBox((1,) * hours, (self.most_servers,) * hours)

    @property
    def linear_cost(self) -> bool:
        """Whether the cost is linear in the measures."""
        return self.cost is None or is_linear(self.cost)

    def evaluate(self, decision: Decision) -> Evaluation:
        """Wages, the worst waits, and by how much they are too long."""
        hours = [self._hour(hour, int(servers)) for hour, servers in enumerate(decision)]
        longest = max(wait for _, wait in hours)
        measures: dict[str, float | None] = {
            "wages": float(sum(wage * servers for wage, servers in zip(self.wages, decision, strict=True))),
            "server_hours": float(sum(decision)),
            "worst_waiting_probability": max(probability for probability, _ in hours),
            "worst_mean_wait": longest if longest < math.inf else None,
        }
        excess = {
            "overloaded hours": float(sum(wait == math.inf for _, wait in hours)),
            "waiting probability": sum(max(0.0, p - self.max_waiting_probability) for p, _ in hours),
            "mean wait": sum(max(0.0, wait - self.max_mean_wait) for _, wait in hours if wait < math.inf),
        }
        broken = {name: amount for name, amount in excess.items() if amount > 0} | self.limits.violations(measures)
        objective = measures["wages"] if self.cost is None else self.cost(measures)
        return Evaluation(float(objective or 0.0), broken, measures)

    def allowed(self, hour: int, servers: int) -> bool:
        """Whether so many servers keep the waits of an hour short enough."""
        probability, wait = self._hour(hour, servers)
        return wait < math.inf and probability <= self.max_waiting_probability and wait <= self.max_mean_wait

    def prepare(self) -> None:
        """Do before the clock starts what is done once; a kind with compiled kernels compiles them here."""
        waiting_probability(1.0, 2)

    def suggestions(self, rng: np.random.Generator) -> Iterator[Decision]:
        """The fewest servers that will do, hour by hour, if there are such."""
        fewest = [self._fewest(hour) for hour in range(len(self.arrival_rates))]
        if None not in fewest:
            yield tuple(number for number in fewest if number is not None)

    def infeasibility(self) -> str | None:
        """An hour in which the most servers are too few, if there is one."""
        for hour in range(len(self.arrival_rates)):
            if self._fewest(hour) is None:
                return f"in hour {hour} even {self.most_servers} servers are too few."
        return None

    def algebraic_refusal(self) -> str | None:
        """Why this problem cannot be written as a linear program, if it cannot."""
        return None if self.cost is None else "its model minimises wages, and this instance has a cost of its own."

    def to_pyomo(self) -> Any:
        """Choose one allowed number of servers in each hour."""
        import pyomo.environ as pyo

        model = pyo.ConcreteModel(self.name)
        model.hours = pyo.RangeSet(0, len(self.arrival_rates) - 1)
        model.numbers = pyo.RangeSet(1, self.most_servers)
        model.chosen = pyo.Var(model.hours, model.numbers, domain=pyo.Binary)
        model.one = pyo.Constraint(
            model.hours, rule=lambda m, hour: sum(m.chosen[hour, number] for number in m.numbers) == 1
        )
        model.short_waits = pyo.Constraint(
            model.hours,
            model.numbers,
            rule=lambda m, hour, number: (
                pyo.Constraint.Skip if self.allowed(hour, number) else m.chosen[hour, number] <= 0
            ),
        )
        model.wages = pyo.Objective(
            expr=sum(self.wages[h] * n * model.chosen[h, n] for h in model.hours for n in model.numbers)
        )
        return model

    def start_pyomo(self, model: Any, decision: Decision) -> None:
        """Write a decision into the model, for the solver to start from."""
        for hour, servers in enumerate(decision):
            for number in model.numbers:
                model.chosen[hour, number].value = int(number == servers)

    def from_pyomo(self, model: Any) -> Decision:
        """Read the numbers of servers off a solved model."""
        return tuple(
            max(model.numbers, key=lambda number, hour=hour: model.chosen[hour, number].value) for hour in model.hours
        )

    def experiment(self, decision: Decision) -> StaffingExperiment:
        """The servers of a decision, to be tried out customer by customer."""
        return experiment_of(self, tuple(int(servers) for servers in decision))

    def _hour(self, hour: int, servers: int) -> tuple[float, float]:
        rate = self.arrival_rates[hour]
        return (
            waiting_probability(rate / self.service_rate, servers),
            mean_wait(rate, self.service_rate, servers),
        )

    def _fewest(self, hour: int) -> int | None:
        return next((number for number in range(1, self.most_servers + 1) if self.allowed(hour, number)), None)
