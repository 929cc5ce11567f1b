r"""Packets sent to servers without buffers, one by one: a witness that shares nothing with the evaluators.

Nothing here knows a transform or the cost of a gap. Packets come after drawn times, services are drawn, and what is
counted are packets still in service when the next one came to their server, and time without a service: for freshness,
a service is the time until a page changes, and without one the page is out of date. Both applications are seen in the
same run.

A word is followed for whole rounds, after one that only gives every server its first packet, and the source begins as
it is at an arrival after years: so means over replications are those of the stationary regime, without a bias. A trace
begins anywhere. A server that is not in the word loses nothing and is always idle.

>>> from queueing.processes import Exponential
>>> from queueing.routing import RenewalArrivals
>>> routing = SimulatedRouting([1.0, 2.0], RenewalArrivals(Exponential(1.0)), [0, 1])
>>> found = simulate(routing, time=1000.0, replications=5, seed=1)
>>> 0.1 < found.losses().value < 0.25
True
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...numerics import equally_many, positive
from ...processes import Constant, PhaseType, not_negative_numbers
from ...simulation import (
    MANY,
    STEP,
    Estimate,
    Matrix,
    Observations,
    Vector,
    Whole,
    chain_tables,
    drawn_law,
    first_finished,
    jackknife,
    jackknife_columns,
    law_of,
    run_replications,
)
from ...simulation import Seen as Seen
from ..arrivals import Arrivals, MarkovArrivals, RenewalArrivals, Service, TraceArrivals
from . import kernel

#: Rounds counted at least.
FEWEST_ROUNDS = 4

_NOTHING = drawn_law(Constant(1.0))


@dataclass(frozen=True, eq=False)
class SimulatedRouting:
    """Servers, packets, and the order in which they are sent.

    Parameters
    ----------
    services
        by server, its rate if services are exponential, else their law.
    arrivals
        the source of packets.
    word
        servers in turn, repeated for ever.
    weights
        what a loss, or a unit of time without service, costs by server; 1 if left out.
    """

    services: Sequence[Service]
    arrivals: Arrivals
    word: Whole
    weights: Vector | None = None
    source: kernel.Source = field(init=False, repr=False)
    tables: kernel.Services = field(init=False, repr=False)
    starts: Vector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        tables = _services(self.services)
        word = np.array(self.word, dtype=np.int64)
        count = len(self.services)
        if word.ndim != 1 or not word.size or word.min() < 0 or word.max() >= count:
            raise ValueError(
                f"word must be a list of servers from 0 to {count - 1}, but it is {word.tolist()!r:.60}; give such."
            )
        prices = np.ones(count) if self.weights is None else not_negative_numbers("weights", self.weights)
        equally_many("services and weights", count, len(prices), "give one weight for each server.")
        source, starts = _source(self.arrivals)
        made = {"word": word, "weights": prices, "source": source, "starts": starts, "tables": tables}
        for name, value in made.items():
            object.__setattr__(self, name, value)

    @property
    def prices(self) -> Vector:
        """The weights, also where they were left out."""
        assert self.weights is not None
        return self.weights

    @property
    def used(self) -> NDArray[np.bool_]:
        """Whether a server is in the word."""
        return np.bincount(self.word, minlength=len(self.services)) > 0


def replicate(routing: SimulatedRouting, *, time: float, seed: int = 0, step: int = STEP) -> Iterator[Seen | None]:
    """Observe servers in one replication after another, without end.

    Parameters
    ----------
    routing
        What is simulated.
    time
        Units of time observed in each replication, about: whole rounds of the word.
    seed
        Same seed, same answer; every replication has its own random numbers.
    step
        Packets after which a caller can look at its watch.

    Returns
    -------
    Iterator[Seen | None]
        None every `step` packets, and at the end of a replication what it has seen.
    """
    return run_replications(lambda index: one_replication(routing, time, np.random.default_rng([seed, index]), step))


def one_replication(
    routing: SimulatedRouting, time: float, rng: np.random.Generator, step: int = STEP
) -> Iterator[Seen | None]:
    """Yield None every `step` packets, and at last what was seen."""
    length = len(routing.word)
    rounds = max(FEWEST_ROUNDS, round(positive("time", time) / (routing.arrivals.mean * length)))
    state = kernel.first_state(len(routing.services), int(rng.choice(len(routing.starts), p=routing.starts)))
    for slots in (length, rounds * length):
        kernel.begin_counting(state)
        for done in range(0, slots, step):
            kernel.send(routing.word, routing.source, routing.tables, state, rng, min(step, slots - done))
            yield None
    kernel.end_counting(state)
    passed = state.clocks[kernel.NOW] - state.clocks[kernel.BEGIN]
    lost, idle = state.servers[:, kernel.LOST], state.servers[:, kernel.IDLE]
    seen = np.concatenate([[rounds * length, passed], lost, idle]) / time
    yield Seen(seen, int(state.numbers[kernel.SLOTS]))


def usual_time(routing: SimulatedRouting, events: int) -> float:
    """Compute in what time about so many packets come.

    Parameters
    ----------
    routing
        What is simulated.
    events
        Packets.

    Returns
    -------
    float
        Units of time, for `replicate` or `simulate`.
    """
    return events * routing.arrivals.mean


def simulate(routing: SimulatedRouting, *, time: float, replications: int = 20, seed: int = 0) -> "RoutingSimulation":
    """Observe servers in so many independent replications.

    Parameters
    ----------
    routing
        What is simulated.
    time
        Units of time observed in each replication, about: whole rounds of the word.
    replications
        Two at least give confidence intervals.
    seed
        Same seed, same answer.

    Returns
    -------
    RoutingSimulation
        What was seen, with confidence intervals.
    """
    return RoutingSimulation.of(routing, first_finished(replicate(routing, time=time, seed=seed), replications))


class RoutingSimulation(Observations[SimulatedRouting, Seen]):
    """Estimate losses and idle times from what was seen of servers and packets.

    A row of observations holds packets and time observed; by server, packets lost there, and by server, time without
    service: all per unit of time asked for.

    Parameters
    ----------
    model
        What was simulated.
    replications
        What each replication has seen; two at least give confidence intervals.
    """

    def losses(self) -> Estimate:
        """Estimate the weighted losses per arrival."""
        return jackknife(lambda means: float(self.model.prices @ losses(means)), self.observations)

    def obsolescence(self) -> Estimate:
        """Estimate the weighted sum of fractions of time without service: for freshness, out of date."""
        return jackknife(lambda means: float(self.model.prices @ fractions(self.model, means)), self.observations)

    def losses_by_server(self) -> list[Estimate]:
        """Estimate the packets lost at each server, per arrival anywhere."""
        return jackknife_columns(losses, self.observations)

    def obsolescence_by_server(self) -> list[Estimate]:
        """Estimate, by server, the fraction of time without service."""
        return jackknife_columns(lambda means: fractions(self.model, means), self.observations)


def losses(means: Vector) -> Vector:
    """Compute the packets lost at each server, per arrival anywhere.

    Parameters
    ----------
    means
        A row of observations, or a mean of rows.

    Returns
    -------
    NDArray[np.float64]
        By server; 0 for one that is not in the word.
    """
    count = (len(means) - 2) // 2
    return np.asarray(means[2 : 2 + count] / means[0])


def fractions(routing: SimulatedRouting, means: Vector) -> Vector:
    """Compute the fraction of time that each server is without service.

    Parameters
    ----------
    routing
        What was simulated.
    means
        A row of observations, or a mean of rows.

    Returns
    -------
    NDArray[np.float64]
        By server; 1 for one that is not in the word.
    """
    count = len(routing.services)
    return np.where(routing.used, means[2 + count :] / means[1], 1.0)


def resolution_of(routing: SimulatedRouting, time: float, *, freshness: bool) -> float:
    """Compute what the cost would differ by, had one more thing happened at a server at which hardly any happen.

    Such a server gets a packet, or ends a service, fewer than `MANY` times. What happened more or less often than it
    should does not show in the differences between replications, if it happened in none of them.

    Parameters
    ----------
    routing
        What was simulated.
    time
        Units of time observed in all.
    freshness
        Whether the cost is time without service, instead of losses.

    Returns
    -------
    float
        The difference; 0 if something happens often at every server.
    """
    mean, shares = routing.arrivals.mean, np.bincount(routing.word, minlength=len(routing.services)) / len(routing.word)
    speeds = np.array([1 / law.mean if isinstance(law, PhaseType) else float(law) for law in routing.services])
    rare = (np.minimum(shares / mean, speeds) * time < MANY) & (shares > 0)
    if not freshness:
        return float((routing.prices[rare] * mean / time).max(initial=0.0))
    spells = routing.prices[rare] / np.maximum(shares[rare] / mean, speeds[rare])
    return float(spells.max(initial=0.0)) / time


def _source(arrivals: Arrivals) -> tuple[kernel.Source, Vector]:
    """Return the source as it is drawn, and the chances of the phases it may begin in."""
    no_rates, no_moves, one = np.ones(1), np.ones((1, 2)), np.ones(1)
    match arrivals:
        case RenewalArrivals():
            return kernel.Source(kernel.RENEWAL, drawn_law(arrivals.law), no_rates, no_moves, one), one
        case TraceArrivals():
            values = np.array(arrivals.values)
            starts = np.full(len(values), 1 / len(values))
            return kernel.Source(kernel.TRACE, _NOTHING, no_rates, no_moves, values), starts
        case MarkovArrivals():
            quiet, arrival = (np.array(block) for block in arrivals.process.blocks[:2])
            rates, moves = chain_tables([[quiet, arrival]])
            return kernel.Source(kernel.MARKOV, _NOTHING, rates[0].copy(), moves, one), _at_arrivals(quiet, arrival)
    raise ValueError(
        f"arrivals must be of a kind that can be drawn, but {type(arrivals).__name__} is none; "
        "give RenewalArrivals, MarkovArrivals or TraceArrivals."
    )


def _at_arrivals(quiet: Matrix, arrival: Matrix) -> Vector:
    """Return the chances of phases just after an arrival: those that a slot leaves as they are."""
    slot = np.linalg.solve(-quiet, arrival)
    size = len(slot)
    system = np.vstack([slot.T - np.eye(size), np.ones(size)])
    found = np.maximum(0.0, np.linalg.lstsq(system, np.append(np.zeros(size), 1.0), rcond=None)[0])
    return np.asarray(found / found.sum())


def _services(services: Sequence[Service]) -> kernel.Services:
    if not len(services):
        raise ValueError("services must not be empty, but there is no server; give a rate or a law for each server.")
    laws = [
        law_of(f"services[{index}]", one if isinstance(one, PhaseType) else _one_phase(f"services[{index}]", one))
        for index, one in enumerate(services)
    ]
    most = max(len(law.rates) for law in laws)
    start, rates = np.ones((len(laws), most)), np.ones((len(laws), most))
    moves = np.ones((len(laws), most, most + 1))
    for server, law in enumerate(laws):
        phases = len(law.rates)
        start[server, :phases] = law.start[0]
        start[server, phases:] = law.start[0, -1]
        rates[server, :phases] = law.rates
        moves[server, :phases, :phases] = law.moves[:, :phases]
        moves[server, :phases, phases:most] = law.moves[:, phases - 1 : phases]
        moves[server, :phases, most] = law.moves[:, phases]
    return kernel.Services(start, rates, moves.reshape(-1, most + 1))


def _one_phase(name: str, rate: float) -> PhaseType:
    return PhaseType.exponential(positive(name, rate))
