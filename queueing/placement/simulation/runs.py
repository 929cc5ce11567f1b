"""Requests of clients at one server, one by one: a witness that shares nothing with the evaluators.

Nothing here knows a product form or a chain of states. Clients think for drawn times and send requests, which wait in
the order they came, or in that of their priorities; what is in service is never interrupted. What is counted are
requests served, how long each was at the server, and time in which processors were busy, by groups of clients that are
alike: those of one class at one distance. Groups, priorities, several requests per client and several processors can be
told together, also where nothing exact is known.

>>> server = SimulatedServer(10.0, [6, 6], [1.0, 1.4])
>>> found = simulate(server, time=2000.0, replications=5, seed=1)
>>> abs(found.throughput()[1].value - 0.585) < 0.02
True
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...numerics import equally_many, not_negative, positive, whole
from ...simulation import (
    STEP,
    Estimate,
    Observations,
    Vector,
    first_finished,
    jackknife,
    jackknife_columns,
    run_replications,
)
from ...simulation import Seen as Seen
from . import kernel

#: Part of the time observed that passes before counting, and mean times of a request and its client, at least.
WARM_UP, ROUNDS = 0.1, 20.0


@dataclass(frozen=True, eq=False)
class SimulatedServer:
    """A server and groups of clients.

    Parameters
    ----------
    service_rate
        requests that a processor serves per unit of time.
    counts, think_times
        by group: how many clients there are, and their mean think time.
    priorities
        by group: whose requests go first, those of 0; None: all are served in the order they come.
    processors
        of the server.
    requests, request_share
        requests that each client may have under way; the part of the think time that an answer spends at the first of
        two stations of its client (0: there is one).
    delay
        the time at the server that few requests exceed.
    """

    service_rate: float
    counts: Sequence[int]
    think_times: Sequence[float]
    priorities: Sequence[int] | None = None
    processors: int = 1
    requests: int = 1
    request_share: float = 0.0
    delay: float = 0.0
    crowd: kernel.Crowd = field(init=False, repr=False)

    def __post_init__(self) -> None:
        positive("service_rate", self.service_rate)
        not_negative("delay", self.delay)
        whole("processors", self.processors, least=1)
        whole("requests", self.requests, least=1)
        counts = [whole("counts", count, least=0) for count in self.counts]
        times = [positive("think_times", time) for time in self.think_times]
        equally_many("counts and think_times", len(counts), len(times), "give one think time for each group.")
        given = [0] * len(counts) if self.priorities is None else self.priorities
        ranks = [whole("priorities", priority, least=0) for priority in given]
        equally_many("counts and priorities", len(counts), len(ranks), "give one priority for each group.")
        if not 0 <= self.request_share < 1:
            raise ValueError(f"request_share must be from 0, below 1, but it is {self.request_share}; give such.")
        if not sum(counts):
            raise ValueError("counts must not be all 0, but nobody is there; give one client at least.")
        group = np.repeat(np.arange(len(counts)), counts)
        order = sorted(set(ranks))
        rates = np.zeros((len(group), 2))
        for client, own in enumerate(group.tolist()):
            share, time = self.request_share, times[own]
            rates[client] = (1 / time, 0.0) if share == 0 else (1 / (share * time), 1 / ((1 - share) * time))
        rank = np.array([order.index(ranks[own]) for own in group.tolist()], np.int64)
        crowd = kernel.Crowd(group.astype(np.int64), rank, rates, float(rates.max()), self.requests)
        object.__setattr__(self, "crowd", crowd)

    def begin(self) -> kernel.State:
        """Begin with every client at work on all of its answers."""
        ranks = int(self.crowd.rank.max()) + 1
        processors = min(self.processors, len(self.crowd.group) * self.requests)
        return kernel.first_state(self.crowd, len(self.counts), ranks, processors)

    @property
    def slowest(self) -> float:
        """About the longest mean time that a request and the work on its answer take, where all wait for all."""
        each = len(self.crowd.group) * self.requests / self.service_rate
        times = [time for time, count in zip(self.think_times, self.counts, strict=True) if count]
        return max(times) * self.requests + each


def replicate(server: SimulatedServer, *, time: float, seed: int = 0, step: int = STEP) -> Iterator[Seen | None]:
    """Observe a server in one replication after another, without end.

    Parameters
    ----------
    server
        What is simulated.
    time
        Units of time observed in each replication.
    seed
        Same seed, same answer; every replication has its own random numbers.
    step
        Events after which a caller can look at its watch.

    Returns
    -------
    Iterator[Seen | None]
        None every `step` events, and at the end of a replication what it has seen.
    """
    return run_replications(lambda index: one_replication(server, time, np.random.default_rng([seed, index]), step))


def one_replication(
    server: SimulatedServer, time: float, rng: np.random.Generator, step: int = STEP
) -> Iterator[Seen | None]:
    """Yield None every `step` events, and at last what was seen."""
    state, observed = server.begin(), positive("time", time)
    begins = max(WARM_UP * observed, ROUNDS * server.slowest)
    for until in (begins, begins + observed):
        kernel.begin_counting(state)
        while not kernel.serve(server.crowd, server.service_rate, server.delay, state, rng, until, step):
            yield None
    counted = np.concatenate([[state.clocks[kernel.BUSY]], state.seen.T.ravel()]) / observed
    yield Seen(counted, int(state.numbers[kernel.EVENTS]))


def usual_time(server: SimulatedServer, events: int) -> float:
    """Compute in what time about so many events happen at most.

    Parameters
    ----------
    server
        What is simulated.
    events
        Services, and works of clients.

    Returns
    -------
    float
        Units of time, for `replicate` or `simulate`.
    """
    useful = min(server.processors, len(server.crowd.group) * server.requests)
    return float(events / (useful * server.service_rate + len(server.crowd.group) * server.crowd.fastest))


def simulate(server: SimulatedServer, *, time: float, replications: int = 20, seed: int = 0) -> "ServerSimulation":
    """Observe a server in so many independent replications.

    Parameters
    ----------
    server
        What is simulated.
    time
        Units of time observed in each replication.
    replications
        Two at least give confidence intervals.
    seed
        Same seed, same answer.

    Returns
    -------
    ServerSimulation
        What was seen, with confidence intervals.
    """
    return ServerSimulation.of(server, first_finished(replicate(server, time=time, seed=seed), replications))


class ServerSimulation(Observations[SimulatedServer, Seen]):
    """Estimate what clients get from what was seen of their requests.

    A row of observations holds the time that processors were busy; by group requests served, the sum of their delays,
    and how many were above the limit: all per unit of time.

    Parameters
    ----------
    model
        What was simulated.
    replications
        What each replication has seen; two at least give confidence intervals.
    """

    def utilisation(self) -> Estimate:
        """Estimate the fraction of processors that are busy."""
        return jackknife(lambda means: float(means[0] / self.model.processors), self.observations)

    def throughput(self) -> list[Estimate]:
        """Estimate, by group, the requests of one client that are served per unit of time."""
        counts = np.maximum(1, np.array(self.model.counts))
        return jackknife_columns(lambda means: self._by_group(means)[kernel.DONE] / counts, self.observations)

    def mean_delay(self) -> list[Estimate]:
        """Estimate, by group, the mean time of a request at the server; nan where none was served."""
        return self._per_request(kernel.DELAY)

    def delay_probability(self) -> list[Estimate]:
        """Estimate, by group, the share of requests whose delay is above the limit; nan where none was served."""
        return self._per_request(kernel.LATE)

    def _by_group(self, means: Vector) -> Vector:
        return np.asarray(means[1:].reshape(3, -1))

    def _per_request(self, column: int) -> list[Estimate]:
        def quotient(means: Vector) -> Vector:
            counted = self._by_group(means)
            found = np.full(counted.shape[1], np.nan)
            np.divide(counted[column], counted[kernel.DONE], out=found, where=counted[kernel.DONE] > 0)
            return found

        return jackknife_columns(quotient, self.observations)
