"""Robot fleets whose rates lie far apart, and the two tools that they need: elimination down to a chosen state, and
closed classes of any chain."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from queueing import PhaseType, RobotQueue, policy_step
from queueing.robots import best_policy
from queueing.robots import sweep as base_sweep
from queueing.robots.fleet import (
    Environment,
    RobotClass,
    RobotFleet,
    allowed_actions,
    banded,
    best_fleet_policy,
    chain_of,
    first_actions,
    fleet_cost,
    fleet_measures,
    fleet_of,
    fleet_step,
    keep_out,
    krylov,
    moves_of,
    sweep,
)
from queueing.robots.fleet.relative_values import in_two
from queueing.robots.fleet.stationary import closed_classes, strong_components
from queueing.robots.fleet.transitions import Chain


def far_apart(rng: np.random.Generator) -> float:
    return float(10.0 ** rng.choice([-6, -3, 0, 3, 6]))


def extreme_fleet(rng: np.random.Generator) -> RobotFleet:
    """One class or two, rates up to 1e12 apart, environments in which nobody moves."""
    several = bool(rng.integers(2))
    count = 1 if several else int(rng.integers(1, 3))
    laws = [
        PhaseType.erlang(int(rng.integers(1, 3)), 1.0 / far_apart(rng))
        if several or rng.integers(2)
        else PhaseType.hyperexponential([0.4, 0.6], [far_apart(rng), far_apart(rng)])
        for _ in range(count)
    ]
    classes = tuple(RobotClass(int(rng.integers(1, 3)), law) for law in laws)
    environment = None
    if rng.integers(2):
        pace = far_apart(rng)
        rates = pace * np.array([[-1.0, 1.0], [4.0, -4.0]])
        environment = Environment(rates, np.array([0.7, 0.0 if rng.integers(2) else 1e3]))
    return RobotFleet(classes, int(rng.integers(2, 4)), far_apart(rng), environment, "any" if several else "one")


@pytest.mark.parametrize("seed", range(40))
def test_the_best_policy_is_proved_however_far_rates_are_apart(seed):
    rng = np.random.default_rng(seed)
    fleet = extreme_fleet(rng)
    cost = fleet_cost(fleet, float(rng.uniform(0.3, 3.0)), 1.0, float(rng.choice([0.0, 0.05])))
    found = best_fleet_policy(fleet, cost)
    assert cost.min() <= found.lower <= found.gain <= found.upper
    if found.gain > 1e-20 * cost.max():  # below, even twice the digits are not enough
        assert found.upper - found.lower <= 1e-10 * found.gain


def test_a_robot_that_hardly_ever_comes_back_is_still_sent_at_the_right_time():
    """Policy iteration in 150 digits ends here; one that ignores differences of 1e-18 stays a millionth above."""
    classes = (RobotClass(1, PhaseType.exponential(1e-6)), RobotClass(1, PhaseType.exponential(1e6)))
    fleet = RobotFleet(classes, 3, 1e6)
    found = best_fleet_policy(fleet, fleet_cost(fleet, 2.2702894339350927, 1.4616981563581568))
    assert found.gain == pytest.approx(0.5675723584837732, rel=1e-14)
    assert found.lower == pytest.approx(found.gain, rel=1e-12)


@pytest.mark.parametrize("rate", [1e-4, 100.0])
@pytest.mark.parametrize("switching", ["one", "any"])
def test_a_long_buffer_is_no_reason_to_overflow(rate, switching):
    """At 2000 pages the likeliest state is up to 200^2000 times as likely as the first one."""
    fleet = RobotFleet((RobotClass(2, PhaseType.exponential(rate)),), 2000, switching=switching)
    found = fleet_measures(fleet, keep_out(fleet, [2]))
    load = 2 * rate
    assert found.starvation == pytest.approx(1 - load if load < 1 else 0.0, rel=1e-12)
    assert found.loss_rate == pytest.approx(load - 1 if load > 1 else 0.0, rel=1e-12)
    best = best_fleet_policy(fleet, fleet_cost(fleet, 1.0))
    assert np.isfinite([best.gain, best.lower, best.upper]).all() and np.isfinite(best.values).all()
    if load < 1:
        assert best.lower == pytest.approx(1 - load, rel=1e-12)


def test_the_base_model_does_not_overflow_either():
    queue, fleet = RobotQueue(2, 2000, 100.0), fleet_of(2, 2000, 100.0)
    policy = queue.base_stock(2)
    ours, theirs = queue.measures(policy), fleet_measures(fleet, policy)
    assert ours.scalars() == theirs.scalars()
    assert ours.loss_rate == pytest.approx(199.0, rel=1e-12)
    step = policy_step(queue, queue.cost(1.0), policy)
    assert step.gain == pytest.approx(199.0, rel=1e-12) and step.changes > 0
    assert 0.0 <= best_policy(queue, queue.cost(1.0)).lower <= 1e-300


def random_chain(rng: np.random.Generator, size: int, moves: float) -> Chain:
    """Any graph: several moves between the same states, states without one."""
    rates = np.where(rng.random((size, size)) < moves / size, rng.uniform(0.1, 1.0, (size, size)), 0.0)
    np.fill_diagonal(rates, 0.0)
    rows, columns = np.nonzero(rates)
    twice = rng.random(len(rows)) < 0.2
    repeats = np.where(twice, 2, 1)
    pointers = np.concatenate([[0], np.cumsum(np.bincount(rows, weights=repeats, minlength=size))]).astype(np.int64)
    values = np.repeat(rates[rows, columns] / repeats, repeats)
    leaving = np.where(rates.sum(axis=1) > 0, rates.sum(axis=1), 1.0)
    return Chain(pointers, np.repeat(columns, repeats).astype(np.int64), values, leaving)


@pytest.mark.parametrize("seed", range(60))
def test_states_that_reach_one_another_are_those_that_scipy_finds(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 60))
    chain = random_chain(rng, size, float(rng.choice([0.5, 1.0, 1.5, 3.0])))
    labels, closed = strong_components(chain, np.arange(size))
    graph = chain.matrix().copy()
    graph.sum_duplicates()
    count, theirs = connected_components(graph, directed=True, connection="strong")
    assert len(closed) == count
    assert len(set(zip(labels.tolist(), theirs.tolist(), strict=True))) == count  # one to one
    for states in closed_classes(chain, np.arange(size)):
        inside = np.isin(np.arange(size), states)
        assert not graph.toarray()[inside][:, ~inside].any()
    assert len(closed_classes(chain, np.arange(size))) == closed.sum() > 0


@pytest.mark.parametrize("seed", range(10))
def test_an_elimination_may_end_in_any_state_that_recurs(seed):
    """Against dense equations: shares of time, and what is collected on the way to the end."""
    rng = np.random.default_rng(seed)
    fleet = RobotFleet((RobotClass(3, PhaseType.erlang(2, 1.5)),), 3)
    actions = first_actions(fleet)
    if seed:
        possible = allowed_actions(fleet)
        for state in range(1, fleet.states):
            actions[state] = rng.choice(np.flatnonzero(possible[state % fleet.places]))
    chain = chain_of(moves_of(fleet), actions)
    present = np.arange(1, fleet.states)
    (recurrent, *others) = closed_classes(chain, present)
    assert not others
    generator = chain.matrix().toarray()[1:, 1:]
    generator -= np.diag(generator.sum(axis=1))
    equations = np.vstack([generator.T, np.ones(len(present))])
    shares = np.linalg.lstsq(equations, np.append(np.zeros(len(present)), 1.0), rcond=None)[0]
    rates = rng.uniform(size=fleet.states)
    width = banded._width(chain, present)
    for end in rng.choice(recurrent, 3):
        factors = banded.eliminated(chain, present, width, end)
        found = banded.shares_of_time(factors, fleet.states)
        np.testing.assert_allclose(found[1:], shares, rtol=1e-9, atol=1e-12)
        loads = banded.collected(factors, rates)
        others = present != end
        wanted = np.linalg.solve(-generator[np.ix_(others, others)], rates[1:][others])
        np.testing.assert_allclose(
            banded.expectations(factors, loads, fleet.states)[present[others]], wanted, rtol=1e-10
        )
        times = banded.collected(factors, np.ones(fleet.states))
        assert loads[factors.end] / times[factors.end] == pytest.approx(float(shares @ rates[1:]), rel=1e-10)


def test_an_end_beyond_reach_is_refused():
    """Down from one state to the other at 1e-300: no double tells this from never."""
    chain = Chain(np.array([0, 1, 2]), np.array([1, 0]), np.array([1e-300, 1.0]), np.array([1e-300, 1.0]))
    with pytest.raises(ValueError, match="shares of time must lie less than 1e280 apart"):
        banded.eliminated(chain, np.arange(2), 1, 1)


def test_a_sum_in_two_parts_is_exact():
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=100) * 10.0 ** rng.integers(-20, 20, 100), rng.normal(size=100)
    total, lacking = in_two(first, second)
    for one, two, much, little in zip(first, second, total, lacking, strict=True):
        assert Fraction(one) + Fraction(two) == Fraction(much) + Fraction(little)


def test_iterations_pause_and_may_be_ended(monkeypatch):
    """Of values, of shares of time, and of the best policy; where chains are eliminated nothing takes long."""
    fleet = RobotFleet((RobotClass(6, PhaseType.erlang(2, 4.0)),), 6)
    cost, actions, pauses = fleet_cost(fleet, 1.0), first_actions(fleet), []
    fleet_measures(fleet, actions, lambda: pauses.append(1))
    fleet_step(fleet, cost, actions, pause=lambda: pauses.append(1))
    assert not pauses
    wanted = fleet_measures(fleet, actions)
    monkeypatch.setattr(banded, "MOST_STEPS", 0.0)
    found = fleet_measures(fleet, actions, lambda: pauses.append(1))
    assert found.starvation == pytest.approx(wanted.starvation, rel=1e-11) and len(pauses) > 3

    def stop() -> None:
        raise TimeoutError

    for call in (fleet_measures, lambda *both: fleet_step(both[0], cost, both[1], pause=both[2])):
        with pytest.raises(TimeoutError):
            call(fleet, actions, stop)
    with pytest.raises(TimeoutError):
        best_fleet_policy(fleet, cost, pause=stop)


def test_what_cannot_be_iterated_ends():
    matrix = krylov.forward(chain_of(moves_of(fleet_of(2, 3, 0.5)), first_actions(fleet_of(2, 3, 0.5))), 1)
    found, _, steps = krylov.solved(matrix, np.full(12, np.nan), 1e-9, 100)
    assert steps == 0 and not found.any()


@pytest.mark.parametrize("seed", range(10))
def test_brackets_of_sweeps_allow_for_rounding(seed):
    """Values of any size: exact sums of fractions lie within what doubles tell."""
    rng = np.random.default_rng(seed)
    fleet = RobotFleet((RobotClass(2, PhaseType([0.3, 0.7], [[-0.8, 0.5], [0.4, -0.7]])),), 2)
    cost, moves = fleet_cost(fleet, 1.3), moves_of(fleet)
    values = np.round(rng.normal(size=fleet.states) * 10.0 ** rng.uniform(0, 12), 3)
    _, lower, upper = sweep(fleet, cost, values)
    exact = [Fraction(value) for value in values]
    initial = [Fraction(3, 10), Fraction(7, 10)]

    def least(state: int) -> Fraction:
        q, place = divmod(state, fleet.places)
        found = [exact[state]] if state > 0 else []
        if fleet.idle[place, 0] > 0:
            found.append(sum(initial[phase] * exact[q * fleet.places + fleet.sent[place, phase]] for phase in range(2)))
        return min(found)

    images = []
    for state in range(1, fleet.states):
        image = Fraction(cost[state])
        for k in range(moves.pointers[state], moves.pointers[state + 1]):
            target = int(moves.targets[k])
            there = least(target) if moves.decided[k] else exact[target]
            image += Fraction(moves.rates[k]) * (there - exact[state])
        images.append(image)
    assert lower <= min(images) and max(images) <= upper
    assert upper - lower <= float(max(images) - min(images)) * (1 + 1e-12)


def test_brackets_of_sweeps_of_the_base_model_allow_for_rounding():
    rng = np.random.default_rng(5)
    queue = RobotQueue(3, 3, 0.7)
    cost = queue.cost(1.3)
    for size in (1.0, 1e6, 1e12):
        values = rng.normal(size=queue.shape) * size
        _, lower, upper = base_sweep(queue.arrival_rate, 1.0, cost, values)
        exact = np.vectorize(Fraction)(values)
        best = np.minimum(exact, np.hstack([exact[:, 1:], exact[:, -1:]]))
        best[0, 0] = exact[0, 1]
        images = [
            Fraction(cost[q, r])
            + (best[q - 1, r] - exact[q, r] if q else 0)
            + (Fraction(queue.arrival_rate * r) * (best[min(q + 1, 3), r - 1] - exact[q, r]) if r else 0)
            for q in range(4)
            for r in range(4)
            if q + r
        ]
        assert lower <= min(images) and max(images) <= upper
