r"""Pages that come and go, and what that costs: re-planning visits one page at a time.

A table of N pages is the population: each page leaves at rate :math:`\delta` and is followed by another of its kind; or
pages join at a rate of their own, and the table is the mean population. The least cost of the table, if it stayed as it
is, is the bound for static pages; the loss against it is what churn costs: new pages are out of date until they are
found, their first visits take slots, and the price of a visit lags behind the pages that are there.

The plan is incremental. A page that joins, or is visited, gets the frequency that the present price says; a page that
leaves is forgotten. The price is corrected every few cycles, by solving for the pages that are there.

>>> from queueing.processes import Constant
>>> world = ChurningPages([1.0, 2.0, 0.5], [1.0, 1.0, 1.0], Constant(0.1), leave_rate=0.01)
>>> found = simulate_churn(world, rounds=50, replications=3)
>>> 0 < found.bound < found.cost.value
True
"""

from dataclasses import dataclass, field

import numpy as np
from freshness_churn_kernel import (
    BEGIN,
    CHANGED,
    FIRST_VISITS,
    IN_HEAP,
    JOINED,
    KIND,
    LEAVES,
    NEXT_JOIN,
    NOW,
    STALE_COST,
    STAYED,
    UNUSED,
    VISITED,
    VISITS,
    Churn,
    Kinds,
    begin_counting,
    begin_cycle,
    correct,
    end_counting,
    no_pages,
    pass_slots,
    with_more_room,
)

from queueing.freshness import Traits, allocate, frequencies_at, traits
from queueing.numerics import positive, whole
from queueing.processes import AccessTime
from queueing.simulation import Estimate, Vector, column_means, drawn_law


@dataclass(frozen=True, eq=False)
class ChurningPages:
    """Pages that come and go.

    Parameters
    ----------
    rates, weights
        change rates and weights of the kinds of pages; one of each is there on average.
    law
        of the time of an access.
    leave_rate
        each page stays for an exponential time of this rate.
    join_rate
        pages per unit of time that join, of a kind drawn at random; their number then comes and goes by chance. Unless
        said, every page that leaves is followed by another of its kind.
    """

    rates: Vector
    weights: Vector
    law: AccessTime
    leave_rate: float
    join_rate: float | None = None
    traits: Traits = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "traits", traits(self.rates, self.weights, self.law))
        object.__setattr__(self, "leave_rate", positive("leave_rate", self.leave_rate))
        if self.join_rate is not None:
            object.__setattr__(self, "join_rate", positive("join_rate", self.join_rate))

    @property
    def joining(self) -> float:
        """Pages per unit of time that join."""
        return self.leave_rate * len(self.traits) if self.join_rate is None else self.join_rate

    @property
    def population(self) -> float:
        """Mean number of pages."""
        return self.joining / self.leave_rate


@dataclass(frozen=True)
class ChurnSimulation:
    """What was seen.

    Attributes
    ----------
    cost
        weighted number of pages that are out of date, those included that were not found yet.
    bound
        the least cost of the mean population, if it stayed as it is.
    loss
        how far the cost lies above the bound, in parts of it.
    population
        mean number of pages.
    first_visits
        share of the visits that found a new page.
    """

    cost: Estimate
    bound: float
    loss: Estimate
    population: Estimate
    first_visits: Estimate


def simulate_churn(
    world: ChurningPages,
    *,
    rounds: float = 50.0,
    cycle: int | None = None,
    corrections: int = 1,
    replications: int = 10,
    seed: int = 0,
) -> ChurnSimulation:
    """Let a robot visit pages that come and go.

    Parameters
    ----------
    rounds
        slots observed in a replication, in parts of the number of pages; a fifth of it passes before.
    cycle
        slots after which the plan hears of new pages; as many as there are pages unless said.
    corrections
        cycles after which the price of a visit is corrected.
    replications, seed
        two at least give confidence intervals; same seed, same answer.
    """
    length = whole("cycle", len(world.traits) if cycle is None else cycle, least=1)
    every = whole("corrections", corrections, least=1)
    cycles = max(1, round(positive("rounds", rounds) * len(world.traits) / length))
    planned = _planned(world)
    rows = [
        _Run(world, planned.multiplier, np.random.default_rng([seed, index])).observe(length, every, cycles)
        for index in range(whole("replications", replications, least=1))
    ]
    seen = np.array(rows)
    bound = planned.bound
    cost, population, first = column_means(seen)
    loss = column_means(seen[:, :1] / bound - 1.0)[0]
    return ChurnSimulation(cost, bound, loss, population, first)


def _planned(world: ChurningPages) -> "_Planned":
    """The price and the least cost of the mean population: each kind as often as it is there on average."""
    copies = world.population / len(world.traits)
    found = allocate(world.traits, 1.0 / copies)  # each of the copies has its share of the robot
    return _Planned(found.multiplier, copies * found.bound)


@dataclass(frozen=True)
class _Planned:
    multiplier: float
    bound: float


class _Run:
    """One replication."""

    def __init__(self, world: ChurningPages, price: float, rng: np.random.Generator) -> None:
        self.world, self.price, self.rng = world, price, rng
        found = world.traits
        with np.errstate(divide="ignore"):
            self.kinds = Kinds(1.0 / found.rates, found.weights, found.decays, found.worths)
        self.law = drawn_law(world.law)
        self.churn = self._first_pages()

    def _first_pages(self) -> Churn:
        """As many pages as chance will have it, visited at times as far apart as planned, seen from now."""
        world, rng = self.world, self.rng
        followed = world.join_rate is None
        count = len(world.traits) if followed else int(rng.poisson(world.population))
        churn = no_pages(2 * count + 100)
        churn.numbers[UNUSED] -= count
        places = churn.unused[churn.numbers[UNUSED] :][:count]
        kind = np.arange(count) if followed else rng.integers(len(world.traits), size=count)
        churn.pages[places, KIND] = kind
        churn.pages[places, VISITED] = 0.0
        churn.pages[places, JOINED] = 0.0
        churn.pages[places, CHANGED] = rng.standard_exponential(count) * self.kinds.means[kind]
        churn.pages[places, LEAVES] = np.inf if followed else rng.standard_exponential(count) / world.leave_rate
        frequencies = frequencies_at(world.traits.rates, world.traits.weights, world.law, self.price)
        with np.errstate(divide="ignore"):
            churn.due[places] = rng.random(count) / frequencies[kind]
        churn.heap[:count] = places
        churn.numbers[IN_HEAP] = count
        churn.clocks[NEXT_JOIN] = rng.standard_exponential() / world.joining
        correct(self.kinds, churn, self.price)
        return churn._replace(followed=places.copy()) if followed else churn

    def observe(self, length: int, every: int, cycles: int) -> list[float]:
        """Cost per unit of time, mean number of pages, share of first visits."""
        before = -(-cycles // 5)
        self._pass(length, every, before)
        begin_counting(self.churn)
        self._pass(length, every, cycles)
        end_counting(self.kinds, self.churn)
        clocks, numbers = self.churn.clocks, self.churn.numbers
        time = clocks[NOW] - clocks[BEGIN]
        return [clocks[STALE_COST] / time, clocks[STAYED] / time, numbers[FIRST_VISITS] / max(1, numbers[VISITS])]

    def _pass(self, length: int, every: int, cycles: int) -> None:
        """Let so many cycles pass; the price is corrected before the first, and then once in a while."""
        world = self.world
        for done in range(0, cycles, every):
            begin_cycle(self.kinds, self.churn, self.price)
            self._correct()
            left = length * min(every, cycles - done)
            while left := pass_slots(
                self.kinds, self.churn, self.price, world.joining, world.leave_rate, self.law, self.rng, length, left
            ):
                self.churn = with_more_room(self.churn)

    def _correct(self) -> None:
        """Solve for the pages that are there, and let the plan know the new price."""
        there = self.churn.heap[: self.churn.numbers[IN_HEAP]]
        alive = there[self.churn.pages[there, LEAVES] > self.churn.clocks[NOW]]
        if len(alive):
            kinds = self.churn.pages[alive, KIND].astype(np.int64)
            self.price = allocate(self.world.traits.of(kinds)).multiplier
        correct(self.kinds, self.churn, self.price)
