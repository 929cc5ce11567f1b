r"""Policies of a robot fleet: what they achieve, and the best one with a certificate.

Small chains, and large ones that can be ordered so that moves are short, are eliminated without a subtraction
(:mod:`queueing.robots.fleet.banded`); the others are iterated (:mod:`queueing.robots.fleet.krylov`). Either way
relative values are corrected by what they leave of their equation, summed in twice the digits of a double, and the
least cost is bracketed by them (:mod:`queueing.robots.fleet.relative_values`), so that how they were found does not
matter to the proof.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...numerics import Vector
from ..measures import RobotMeasures
from . import banded, krylov
from .krylov import Pause
from .model import RobotFleet
from .policies import check_actions, first_actions, led_to, mean_loads
from .relative_values import greedy, images, in_two, residuals
from .stationary import Shares, closed_classes, layouts, shares_from_start, shares_within
from .transitions import Actions, Chain, chain_of, moves_of, paces_of

#: Corrections of values, and the part of the cost that may be left of their equation.
CORRECTIONS, PRECISION = 8, 1e-15

#: Differences of values below this part of their range mean nothing, however small what is left of the equation.
DIGITS = 1e-28

#: A state so many times less likely than the likeliest is no good to count values from.
UNLIKELY = 1e-6

#: Part of what is left that iterations leave of it.
CORRECTION = 1e-5

#: First and last accuracy of iterations inside `best_fleet_policy`: rough values lead to good policies.
ROUGH, FINE = 1e-4, 1e-10

#: Steps without a lower cost or a higher bound after which rounding is what is left to improve.
IDLE = 5

Watch = Callable[["FleetStep"], None]


@dataclass(frozen=True)
class FleetMeasures(RobotMeasures):
    """What a policy of a fleet achieves.

    Attributes
    ----------
    starvation, loss_rate, active_robots, mean_length, response_time, fewest_robots, most_robots
        as in `RobotMeasures`.
    by_class
        mean number of active robots of each class.
    error
        of the measure that is known least, relative, as iterations let one guess; 0 after an elimination.
    """

    by_class: tuple[float, ...] = ()
    error: float = 0.0


@dataclass(frozen=True, eq=False)
class FleetStep:
    """A policy of a fleet, what it costs, and a better one; see :class:`queueing.robots.PolicyStep`.

    Attributes
    ----------
    actions
        the policy that was evaluated; if it had several closed classes, it leads to the cheapest one from everywhere.
    gain
        its average cost.
    values
        relative values by state.
    better, changes
        the policy that is greedy for these values, and in how many states it differs.
    lower, upper
        a bracket of the least average cost.
    gap
        smallest difference of values, over all states, between the best action and the next.
    """

    actions: Actions
    gain: float
    values: Vector
    better: Actions
    changes: int
    lower: float
    upper: float
    gap: float


def fleet_rates(fleet: RobotFleet) -> NDArray[np.float64]:
    """Compute what is counted per unit of time, by state.

    Parameters
    ----------
    fleet
        The fleet.

    Returns
    -------
    NDArray[np.float64]
        Five rows: starvation, losses, robots that are out, pages, and whether the server is busy.
    """
    lengths = np.arange(fleet.capacity + 1.0)[:, np.newaxis, np.newaxis]
    exits = np.concatenate([one.journey.exit_rates for one in fleet.classes])
    coming = (fleet.counts * exits) @ paces_of(fleet)[:, fleet.class_of].T
    out = fleet.robots_out.sum(axis=1, dtype=np.float64)[:, np.newaxis]
    found = np.stack(
        [
            np.broadcast_to(column, fleet.shape)
            for column in (lengths == 0, (lengths == fleet.capacity) * coming, out, lengths, lengths > 0)
        ]
    )
    return np.ascontiguousarray(found.reshape(5, -1), dtype=np.float64)


def fleet_cost(
    fleet: RobotFleet, starvation: float, loss_rate: float = 1.0, length: float = 0.0, robots: float = 0.0
) -> Vector:
    """Compute the cost per unit of time by state, for weights of the measures.

    Parameters
    ----------
    fleet
        The fleet.
    starvation, loss_rate, length, robots
        Weights of an idle server, of a lost page, of each page in the system, and of each robot that is out.

    Returns
    -------
    Vector
        By state; 0 where there is no state.
    """
    cost = np.array([starvation, loss_rate, robots, length]) @ fleet_rates(fleet)[:4]
    cost[: fleet.environments] = 0.0
    return np.asarray(cost)


def fleet_measures(fleet: RobotFleet, actions: ArrayLike, pause: Pause | None = None) -> FleetMeasures:
    """Evaluate a policy, from the start without pages and robots.

    Parameters
    ----------
    fleet
        The fleet.
    actions
        The policy: an action for each state.
    pause
        Called a few times a second; what it raises ends the work.

    Returns
    -------
    FleetMeasures
        All measures; of several closed classes each counts as often as the fleet ends there.
    """
    policy = check_actions(fleet, actions)
    return measures_of(fleet, shares_from_start(fleet, policy, pause))


def measures_of(fleet: RobotFleet, shares: Shares) -> FleetMeasures:
    """Compute all measures from the stationary distribution."""
    rates = fleet_rates(fleet)
    found = rates @ shares.best
    if not np.isfinite(found).all():
        raise ValueError("shares of time must be numbers, but they are not; bring rates nearer to one another.")
    error = 0.0
    if shares.rough is not None:
        before = rates @ shares.rough
        # What is left of the equation and the error shrink together; ten times that is on the safe side.
        moved = np.abs(before - found) / np.maximum(found, 1e-300)
        error = float(max(1e-15, 10.0 * shares.progress * moved[found > 0].max(initial=0.0)))
    visited = np.flatnonzero(shares.recurs.reshape(fleet.shape).any(axis=(0, 2)))
    numbers = fleet.robots_out[visited].sum(axis=1)
    by_place = shares.best.reshape(fleet.shape).sum(axis=(0, 2))
    by_class = tuple(float(value) for value in by_place @ fleet.robots_out)
    fewest, most = int(numbers.min()), int(numbers.max())
    return FleetMeasures.of(found, fleet.service_rate, fewest, most, by_class=by_class, error=error)


def fleet_step(
    fleet: RobotFleet, cost: Vector, actions: Actions, near: Vector | None = None, pause: Pause | None = None
) -> FleetStep:
    """Evaluate a policy under a cost by state, and improve it.

    Parameters
    ----------
    fleet
        The fleet.
    cost
        Per unit of time, by state.
    actions
        The policy: an action for each state.
    near
        Values of a similar policy, from which iterations begin.
    pause
        Called a few times a second; what it raises ends the work.

    Returns
    -------
    FleetStep
        Its average cost and relative values, a better policy, and a bracket of the least cost.
    """
    return _step(fleet, cost, actions, near, FINE, CORRECTIONS, pause)


def best_fleet_policy(
    fleet: RobotFleet,
    cost: Vector,
    start: Actions | None = None,
    *,
    steps: int = 1000,
    watch: Watch | None = None,
    pause: Pause | None = None,
) -> FleetStep:
    """Improve a policy until nothing is left to improve (Howard), roughly first.

    Parameters
    ----------
    fleet
        The fleet.
    cost
        Per unit of time, by state.
    start
        Where to begin; `first_actions` unless said.
    steps
        Most policies that are evaluated.
    watch, pause
        Called with every step, and a few times a second in between; what they raise ends the iteration.

    Returns
    -------
    FleetStep
        The best policy that was evaluated, with a bracket of the least cost.
    """
    actions = first_actions(fleet) if start is None else check_actions(fleet, start)
    best: FleetStep | None = None
    accuracy, near, idle, changes = ROUGH, None, 0, fleet.states
    for _ in range(steps):
        found = _step(fleet, cost, actions, near, accuracy, CORRECTIONS if accuracy <= FINE else 0, pause)
        near, actions = found.values, found.better
        if accuracy > FINE:
            # Rough values say what to do in most states; finer ones are found when little is left to change by them.
            if found.changes <= 1e-4 * fleet.states:
                accuracy = FINE
            elif found.changes > 0.5 * changes:
                accuracy *= 0.1
            changes = found.changes
            if watch is not None:
                watch(found)
            continue
        if best is None or (found.gain, -found.lower) < (best.gain, -best.lower):
            best, idle = found, 0
        else:
            idle += 1
        if watch is not None:
            watch(found)
        if found.changes == 0 or idle > IDLE:
            break
    return found if best is None else best


def _step(
    fleet: RobotFleet,
    cost: Vector,
    actions: Actions,
    near: Vector | None,
    accuracy: float,
    corrections: int,
    pause: Pause | None,
) -> FleetStep:
    moves, absent = moves_of(fleet), fleet.environments
    chain = chain_of(moves, actions)
    present = np.arange(absent, fleet.states)
    classes = closed_classes(chain, present)
    recurrent = classes[0]
    if len(classes) > 1:
        actions, recurrent = _led_to_the_cheapest(fleet, cost, actions, chain, classes, pause)
        chain = chain_of(moves, actions)
    gain, values, rest, noise = _values(fleet, chain, recurrent, cost, near, accuracy, corrections, pause)
    better, choice, changes, gap = greedy(moves, fleet.idle, actions, values, rest, noise)
    image = images(moves, choice, cost, values, rest)[absent:]
    lower = max(float(cost[absent:].min()), min(float(image.min()), gain))
    return FleetStep(actions, gain, values, better, changes, lower, max(float(image.max()), gain), float(gap))


def _values(
    fleet: RobotFleet,
    chain: Chain,
    recurrent: NDArray[np.int64],
    cost: Vector,
    near: Vector | None,
    accuracy: float,
    corrections: int,
    pause: Pause | None,
) -> tuple[float, Vector, Vector, float]:
    """Average cost and relative values as sums of two doubles; and the difference of values that means nothing."""
    absent, size = fleet.environments, fleet.states
    solve: Callable[[Vector, float], tuple[Vector, float]]
    present = np.arange(absent, size)
    order, width = banded.short_order(chain, present, layouts(fleet, present))
    factors = _with_a_likely_end(fleet, chain, order, width, recurrent) if banded.fits(size, width) else None
    if factors is not None:
        times = banded.collected(factors, np.ones(size))

        def solve(wanted: Vector, tolerance: float) -> tuple[Vector, float]:
            assert factors is not None
            loads = banded.collected(factors, wanted)
            average = float(loads[factors.end] / times[factors.end])
            return banded.expectations(factors, loads - average * times, size), average

        values, gain = solve(cost, 0.0)
        corrections = max(corrections, 2)
    else:
        matrix = krylov.forward(chain, absent)

        def solve(wanted: Vector, tolerance: float) -> tuple[Vector, float]:
            found, _, _ = krylov.solved(matrix, wanted, tolerance, krylov.STEPS, pause)
            return found, float(matrix.left @ found)

        values, gain, wanted = np.zeros(size), 0.0, cost
        if near is not None:
            values = near
            wanted = residuals(chain, cost, gain, values, np.zeros(size), absent)
            largest = float(np.abs(cost).max()) or 1.0  # squares of prices may be no numbers
            accuracy *= float(np.linalg.norm(cost / largest)) / max(float(np.linalg.norm(wanted / largest)), 1e-300)
        change, gain = solve(wanted, accuracy)
        values = values + change
    rest = np.zeros(size)
    left = residuals(chain, cost, gain, values, rest, absent)
    for _ in range(corrections):
        change, moved = solve(left, CORRECTION)
        # Where rates lie far apart, corrections may be as large as what they correct: twice the digits all the same.
        more, less = in_two(values, rest + change)
        after = residuals(chain, cost, gain + moved, more, less, absent)
        if not np.abs(after).max() < 0.9 * np.abs(left).max():
            break
        values, rest, gain, left = more, less, gain + moved, after
        if np.abs(left).max() <= PRECISION * abs(gain):
            break
    noise = DIGITS * float(np.ptp(values[absent:]))
    if corrections > 0:  # rough values are followed wherever they lead
        noise *= 1.0 + float(np.abs(left).max()) / (DIGITS * max(float(np.abs(cost).max()), 1e-250))
    return gain, values, rest, noise


def _with_a_likely_end(
    fleet: RobotFleet, chain: Chain, order: NDArray[np.int64], width: int, recurrent: NDArray[np.int64]
) -> banded.Factors | None:
    """The chain, eliminated down to a state that is not much less likely than any other; ``None`` if that is beyond it.

    A guess is good enough almost always: half a buffer of pages, and robots that bring as many as are served.
    """
    place, length = recurrent // fleet.environments % fleet.places, recurrent // (fleet.environments * fleet.places)
    away = np.abs(np.minimum(2.0, fleet.robots_out[place] @ mean_loads(fleet)) - 1.0) + np.abs(
        length / fleet.capacity - 0.5
    )
    guess, lowest = recurrent[int(np.argmin(away))], order[np.isin(order, recurrent)][0]
    for end in (guess, lowest):
        try:
            factors = banded.eliminated(chain, order, width, end)
            likely = banded.shares_of_time(factors, fleet.states)
            if likely[end] >= UNLIKELY * likely.max():
                return factors
            if np.isfinite(likely).all():
                return banded.eliminated(chain, order, width, int(np.argmax(likely)))
        except ValueError:  # the end is beyond reach
            continue
    return None


def _led_to_the_cheapest(
    fleet: RobotFleet,
    cost: Vector,
    actions: Actions,
    chain: Chain,
    classes: list[NDArray[np.int64]],
    pause: Pause | None,
) -> tuple[Actions, NDArray[np.int64]]:
    """The policy, changed so that it ends in the closed class of least average cost, wherever it begins; this class."""
    averages = [float(shares_within(fleet, chain, states, pause).best @ cost) for states in classes]
    cheapest = classes[int(np.argmin(averages))]
    aim = np.zeros(fleet.states, dtype=np.bool_)
    aim[cheapest] = True
    return np.asarray(led_to(moves_of(fleet), actions, fleet.idle, aim)), cheapest
