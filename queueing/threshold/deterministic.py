r"""Threshold queues whose pages go out of date after a constant time, as the limit of Erlang times of n phases.

Measures are computed for some n and continued to n = infinity. Two roads lead there:

`"own"`
    every page has an Erlang patience of its own: the queue of :mod:`queueing.threshold` as it is. With one page
    waiting at most (K = 2) errors are a series in 1/n. Else it matters when two pages leave in the wrong order, as
    deadlines nearer to one another than :math:`t / \sqrt n` do: errors are a series in
    :math:`n^{-1}, n^{-3/2}, n^{-2}, \ldots`, and with batches, whose pages all have one deadline, already in
    :math:`n^{-1/2}, n^{-1}, \ldots`
`"common"`
    all pages count the ticks of one clock: each has the same Erlang patience, but deadlines keep their order. Errors
    are a series in 1/n, batches or not, and there are far fewer states, so that n = 64 or 128 is no trouble for small
    K.

Pages that go out of date stay exactly the constant time t, so V2 = t; the total time follows from Little's law,
:math:`\lambda V = E[i]`, and V1 from :math:`V = V_1 P_{success} + t P_{obs}`. With one clock these are used for
every n, so that V1 is that of the limit only in the limit.

With room for one waiting page there is a closed form (used by the tests): the age of that page is a density
:math:`\pi(x) = \pi(0) e^{(D(1) \oplus S) x}` on [0, t). With room for w of them, densities live on w ages and satisfy
integral equations; one clock is what remains exact in all but n.

**One clock.** A page goes out of date at the n-th tick after its arrival, of a clock that ticks at rate n / t. Its
patience is then Erlang's, of mean t and variance t^2 / n, as if it had a clock of its own, but all pages hear the same
ticks: pages that came together leave together, and nobody outlives a younger page. That is how constant patience
behaves too, which is the limit for large n. Since ages never pass one another, the ages of w waiting pages are one of
:math:`\binom{n + w - 1}{w}` multisets, where clocks of their own would need :math:`n^w` words.

Ages stand in colexicographic order, b_1 <= ... <= b_w numbered by :math:`\sum_i \binom{b_i + i - 1}{i}`. Then ages that
are older by one tick stand later, those with the oldest page taken out are found in slices, and a level is solved
exactly in one pass. The chain is solved like that of :mod:`queueing.threshold.methods.matrix_free`: a sweep from the
top level down, given what batches bring, and GMRES for its fixed point.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import comb
from typing import TYPE_CHECKING, Literal, SupportsIndex, get_args

import numpy as np

from ..numerics import Integers, Matrix, Vector, positive, whole
from ..processes import PhaseType
from .methods import ELIMINATION, MATRIX_FREE, MATRIX_FREE_LIMIT, Chain, chain_of, fixed_point
from .model import Flows, ModeByLevel, ThresholdModel

if TYPE_CHECKING:
    from .queue import ThresholdMeasures, ThresholdQueue

#: Whose ticks a page counts.
Clock = Literal["common", "own"]
CLOCKS: tuple[str, ...] = get_args(Clock)

# Orders that are tried unless said, as far as they have at most so many states; so many of the largest are taken.
_ORDERS, _STATES, _TAKEN = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128), 250_000, 7

#: Most states of the method: a quarter of a minute and 1 GB.
CLOCK_LIMIT = 4_000_000

# Residual at which the iteration ends, relative to the solution; the one that must be reached; vectors kept; sweeps.
_TOLERANCE, _HOPELESS, _WINDOW, _STEPS = 1e-13, 1e-9, 24, 600


@dataclass(frozen=True)
class DeterministicPatience:
    """Measures of a queue whose pages go out of date after a constant time.

    Attributes
    ----------
    time
        the constant.
    clock
        the road that was taken.
    orders, measures
        numbers of phases n, rising, and the measures with Erlang times of n phases.
    limits
        scalar measures by name, continued to n = infinity; None where there are none.
    errors
        absolute error of each limit: how far it moves when the largest or the smallest n is left out; three times that
        where errors fall in half powers of n.

    Examples
    --------
    >>> from queueing import BMAP, PhaseType, ThresholdQueue, deterministic_patience
    >>> queue = ThresholdQueue((BMAP.poisson(1.0),), PhaseType.exponential(1.0), capacity=2)
    >>> found = deterministic_patience(queue, 1.0, (), orders=(2, 4, 8, 16))
    >>> found.clock, found.orders, round(found.limits["obsolete_time"], 9)
    ('common', (2, 4, 8, 16), 1.0)
    """

    time: float
    clock: Clock
    orders: tuple[int, ...]
    measures: tuple["ThresholdMeasures", ...]
    limits: Mapping[str, float | None] = field(hash=False)
    errors: Mapping[str, float | None] = field(hash=False)


def deterministic_patience(
    queue: "ThresholdQueue",
    time: float,
    thresholds: Sequence[SupportsIndex],
    orders: Sequence[SupportsIndex] | None = None,
    clock: Clock = "common",
) -> DeterministicPatience:
    r"""Compute the measures of a threshold policy where waiting pages go out of date after exactly `time`.

    Parameters
    ----------
    queue
        the queue; its own patience does not count.
    time
        how long a page may wait.
    thresholds
        as in `ThresholdQueue.measures`.
    orders
        two numbers of phases at least; unless said, up to seven that make at most 250000 states.
    clock
        `"common"`: all pages count the ticks of one clock; `"own"`: each has an Erlang patience of its own.

    Returns
    -------
    DeterministicPatience
        measures for Erlang times of n phases, their limits for n = infinity, and errors of these.

    Notes
    -----
    With one clock errors are a series in 1/n, which is continued to n = infinity; with a clock for each page they may
    be a series in half powers of n: see :mod:`queueing.threshold.deterministic`. Pages that go out of date stay exactly
    t, so that :math:`V_2 = t` and, by Little's law, :math:`V_1 = (E[i] / \lambda - t P_{obs}) / P_{success}`.

    Examples
    --------
    >>> from queueing import BMAP, PhaseType, ThresholdQueue, deterministic_patience
    >>> queue = ThresholdQueue((BMAP.poisson(1.0),), PhaseType.exponential(1.0), capacity=2)
    >>> found = deterministic_patience(queue, 1.0, ())
    >>> round(found.limits["obsolescence"], 6), found.errors["obsolescence"] < 1e-6
    (0.139765, True)
    """
    span = positive("time", time)
    if clock not in CLOCKS:
        raise ValueError(f"clock must be one of {', '.join(CLOCKS)}, but it is {clock!r}; name one.")
    modes = queue.mode_by_level(thresholds)
    numbers = _orders(queue, span, orders, clock)
    found = []
    for order in numbers:
        if clock == "own":
            model = _erlang(queue, span, order)
            method = ELIMINATION if ELIMINATION.refusal(model) is None else MATRIX_FREE
            flows, name = method.flows(model, modes), method.name
        else:
            flows, name = clock_flows(queue.model, modes, span, order), "common-clock"
        found.append(queue._measures(flows, modes, name))
    powers = _powers(queue, clock)
    limits: dict[str, float | None] = {}
    errors: dict[str, float | None] = {}
    for name in found[0].scalars():
        values = [measures.scalars()[name] for measures in found]
        known = np.array([value for value in values if value is not None])
        limits[name], errors[name] = _limit(numbers, known, powers) if len(known) == len(values) else (None, None)
    return DeterministicPatience(span, clock, numbers, tuple(found), limits, errors)


def _erlang(queue: "ThresholdQueue", time: float, order: int) -> ThresholdModel:
    """Return the queue with Erlang patience, which no fewer phases can tell."""
    return replace(queue.model, patience=PhaseType.deterministic(time, order))


def _powers(queue: "ThresholdQueue", clock: Clock) -> tuple[float, float]:
    """Return the first power of 1/n in the errors, and the step to the next."""
    if clock == "common" or queue.model.top <= 2:
        return 1.0, 1.0
    return (1.0, 0.5) if queue.model.largest_batch <= 1 else (0.5, 0.5)


def _limit(orders: Sequence[int], values: Vector, powers: tuple[float, float]) -> tuple[float, float]:
    """Return the value at n = infinity and how far it moves when an end of the orders is left out."""
    everything = _continued(orders, values, powers)
    fewer = _continued(orders[:-1], values[:-1], powers), _continued(orders[1:], values[1:], powers)
    # A series in half powers falls slowly: what its last term moved is about what is still missing.
    safety = 1.0 if powers[1] == 1.0 else 3.0
    return everything, safety * max(abs(everything - one) for one in fewer)


def _continued(orders: Sequence[int], values: Vector, powers: tuple[float, float]) -> float:
    """Return the constant term of the sum of as many powers of 1/n as there are values."""
    exponents = [0.0, *(powers[0] + powers[1] * place for place in range(len(orders) - 1))]
    scaled = np.array(orders, dtype=np.float64) / orders[-1]
    return float(np.linalg.solve(scaled[:, np.newaxis] ** -np.array(exponents), values)[0])


def _orders(
    queue: "ThresholdQueue", time: float, given: Sequence[SupportsIndex] | None, clock: Clock
) -> tuple[int, ...]:
    def states(order: int) -> int:
        if clock == "common":
            return clock_states(queue.model, order)
        return _erlang(queue, time, order).states

    if given is None:
        numbers = tuple([order for order in _ORDERS if order <= 2 or states(order) <= _STATES][-_TAKEN:])
    else:
        numbers = tuple(sorted({whole(f"orders[{place}]", order, least=1) for place, order in enumerate(given)}))
    if len(numbers) < 2:
        raise ValueError(f"orders must be two different numbers at least, but they are {numbers!r}; give more.")
    limit = CLOCK_LIMIT if clock == "common" else MATRIX_FREE_LIMIT
    largest = states(numbers[-1])
    if largest > limit:
        raise ValueError(
            f"Constant patience with clock {clock!r} takes at most {limit} states, but {numbers[-1]} phases make "
            f"{largest}; take lower orders or a smaller capacity."
        )
    return numbers


# -- one clock for all pages -------------------------------------------------------------------------------------------


def clock_states(model: ThresholdModel, ticks: int) -> int:
    """Count the states with so many ticks."""
    inner = model.arrivals[0].phases * model.service.order
    return model.arrivals[0].phases + inner * sum(comb(ticks + waiting - 1, waiting) for waiting in range(model.top))


def clock_flows(model: ThresholdModel, modes: ModeByLevel, time: float, ticks: int) -> Flows:
    """Return the flows of a policy where pages leave at the `ticks`-th tick of a clock of mean period time / ticks.

    Times are those of the limit: pages that go out of date stay exactly `time`, others what Little's law leaves. The
    error is the part of the pages that enter which the flows of served and obsolete pages do not account for.
    """
    sweep = _Sweep(chain_of(model, modes), time, ticks)
    row = sweep.apply(sweep.apply(np.full(sweep.states, 1.0 / float(sweep.states))))
    iterates = fixed_point(sweep.apply, row, coarse=1e-9, fine=_TOLERANCE, window=_WINDOW, steps=_STEPS)
    if not iterates.residuals[1] <= _HOPELESS:
        raise ValueError(
            f"A clock of {ticks} ticks must bring the residual below {_HOPELESS}, but it is "
            f"{iterates.residuals[1]:.1e} after {_STEPS} sweeps; take fewer ticks, or rates nearer to one another."
        )
    return sweep.flows(iterates.fine / iterates.fine.sum(), model.top)


@lru_cache(maxsize=64)
def _ages(ticks: int, waiting: int) -> Integers:
    """Return all b_1 <= ... <= b_w below `ticks`, in colexicographic order."""
    if waiting == 0:
        return np.zeros((1, 0), dtype=np.int64)
    shorter = _ages(ticks, waiting - 1)
    parts = []
    for oldest in range(ticks):
        count = comb(oldest + waiting - 1, waiting - 1)
        parts.append(np.column_stack([shorter[:count], np.full(count, oldest)]))
    return np.vstack(parts)


def _places(ages: Integers, younger: int = 0) -> Integers:
    """Return the numbers of these ages, with so many more pages of age 0."""
    total = np.zeros(len(ages), dtype=np.int64)
    for column in range(ages.shape[1]):
        place = column + 1 + younger
        largest = int(ages[:, column].max(initial=0))
        table = np.array([comb(age + place - 1, place) for age in range(largest + 1)], dtype=np.int64)
        total += table[ages[:, column]]
    return total


@dataclass(frozen=True)
class _Level:
    """Moves of the ages of one level.

    Attributes
    ----------
    stages
        for youngest ages 0, 1, ...: states, and those they are one tick after (none for age 0).
    expiring
        by number of pages that leave at the next tick: states, and what they become.
    joined
        by number of pages that join: what each state becomes.
    """

    stages: list[tuple[Integers, Integers]]
    expiring: list[tuple[int, Integers, Integers]]
    joined: dict[int, Integers]


class _Sweep:
    """One solution of all levels from the top down, given what batches bring."""

    def __init__(self, chain: Chain, time: float, ticks: int) -> None:
        self._chain, self._time, self._ticks, self._rate = chain, time, ticks, ticks / time
        phases, size = chain.climbs.shape[2], len(chain.start)
        counts = [comb(ticks + waiting - 1, waiting) for waiting in range(chain.top)]
        self._offsets = np.cumsum([0, phases, *(count * chain.inner for count in counts)])
        self._levels = [self._moves(level) for level in range(1, chain.top + 1)]
        self._inverses = [np.linalg.inv(-chain.climbs[0, 0]) if chain.climbs[0, 0].any() else np.eye(phases)]
        for level in range(1, chain.top + 1):
            block = np.kron(chain.climbs[level, 0], np.eye(size)) + np.kron(np.eye(phases), chain.service)
            ticking = self._rate if level > 1 else 0.0
            self._inverses.append(np.linalg.inv(ticking * np.eye(chain.inner) - block))
        begun = np.outer(chain.ending, chain.start)
        self._next_service = np.kron(np.eye(phases), begun)
        self._last_service = np.kron(np.eye(phases), chain.ending[:, np.newaxis])

    def _moves(self, level: int) -> _Level:
        waiting, chain = level - 1, self._chain
        ages = _ages(self._ticks, waiting)
        stages: list[tuple[Integers, Integers]] = []
        expiring: list[tuple[int, Integers, Integers]] = []
        if waiting:
            for youngest in range(self._ticks):
                states = np.flatnonzero(ages[:, 0] == youngest)
                before = _places(ages[states] - 1) if youngest else np.zeros(0, dtype=np.int64)
                stages.append((states, before))
            leaving = (ages == self._ticks - 1).sum(axis=1)
            for count in range(1, waiting + 1):
                states = np.flatnonzero(leaving == count)
                expiring.append((count, states, _places(ages[states, : waiting - count] + 1)))
        joined = {
            step: _places(ages, step)
            for step in range(1, min(chain.climbs.shape[1] - 1, chain.top - level) + 1)
            if chain.climbs[level, step].any()
        }
        return _Level(stages, expiring, joined)

    @property
    def states(self) -> int:
        """Number of states."""
        return int(self._offsets[-1])

    def parts(self, row: Vector) -> list[Matrix]:
        """Return views of the levels: ages by phases of arrivals and service."""
        chain = self._chain
        bounds = zip(self._offsets[:-1], self._offsets[1:], strict=True)
        return [
            row[first:last].reshape(-1, chain.inner if level else chain.climbs.shape[2])
            for level, (first, last) in enumerate(bounds)
        ]

    def apply(self, row: Vector) -> Vector:
        chain, old = self._chain, self.parts(row)
        result = np.zeros_like(row)
        new = self.parts(result)
        identity = np.eye(len(chain.start))
        for step in range(1, min(chain.climbs.shape[1] - 1, chain.top) + 1):
            new[step][0] += np.outer(old[0][0] @ chain.climbs[0, step], chain.start).ravel()
        for level in range(1, chain.top + 1):
            for step, places in self._levels[level - 1].joined.items():
                new[level + step][places] += old[level] @ np.kron(chain.climbs[level, step], identity)
        for level in range(chain.top, 0, -1):
            here, inverse, moves = new[level], self._inverses[level], self._levels[level - 1]
            if level == 1:
                here[:] = here @ inverse
                new[0][0] += here[0] @ self._last_service
                continue
            for states, before in moves.stages:
                flow = here[states]
                if len(before):
                    flow += self._rate * here[before]
                here[states] = flow @ inverse
            served, below, first = here @ self._next_service, new[level - 1], 0
            for oldest in range(self._ticks):
                count = comb(oldest + level - 2, level - 2)
                below[:count] += served[first : first + count]
                first += count
            for count, states, places in moves.expiring:
                new[level - count][places] += self._rate * here[states]
        new[0][0] = new[0][0] @ self._inverses[0]
        return result

    def flows(self, row: Vector, top: int) -> Flows:
        """Return the means per unit of time, as `clock_flows` tells them."""
        chain, parts = self._chain, self.parts(row)
        phases = chain.climbs.shape[2]
        levels = np.zeros(top + 1)
        levels[: chain.top + 1] = [float(part.sum()) for part in parts]
        arriving = lost = obsolete = served = 0.0
        for level, part in enumerate(parts):
            mass = part.sum(axis=0).reshape(phases, -1)
            arriving += float(mass.sum(axis=1) @ chain.offered[level])
            lost += float(mass.sum(axis=1) @ chain.refused[level])
            if level:
                served += float(mass.sum(axis=0) @ chain.ending)
                for count, states, _ in self._levels[level - 1].expiring:
                    obsolete += count * self._rate * float(part[states].sum())
        entering = arriving - lost
        unbalanced = abs(served + obsolete - entering) / entering if entering > 0 else 0.0
        obsolete_time = self._time * obsolete
        served_time = float(np.arange(len(levels)) @ levels) - obsolete_time
        error = max(unbalanced, 1e-15)
        return Flows(levels, arriving, lost, obsolete, served, served_time, obsolete_time, error_estimate=error)
