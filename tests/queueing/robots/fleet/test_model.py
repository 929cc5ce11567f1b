"""Robot fleets: numbering, chains and measures against a model written down by hand, the best policy against all."""

import itertools

import numpy as np
import pytest

from queueing import PhaseType, RobotQueue, best_policy, stationary_distribution
from queueing.robots.fleet import (
    Environment,
    RobotClass,
    RobotFleet,
    allowed_actions,
    banded,
    best_fleet_policy,
    chain_of,
    control,
    first_actions,
    fleet_cost,
    fleet_measures,
    fleet_of,
    fleet_rates,
    fleet_step,
    greedy,
    keep_out,
    led_to,
    moves_of,
    sweep,
)
from queueing.robots.fleet.policies import check_actions
from queueing.robots.fleet.stationary import closed_classes

SCALARS = ("starvation", "loss_rate", "active_robots", "mean_length", "response_time", "fewest_robots", "most_robots")


def random_journey(rng: np.random.Generator, phases: int) -> PhaseType:
    rates = rng.uniform(0.1, 2.0, (phases, phases))
    np.fill_diagonal(rates, 0.0)
    exits = rng.uniform(0.1, 2.0, phases)
    initial = rng.dirichlet(np.ones(phases))
    return PhaseType(initial, rates - np.diag(rates.sum(axis=1) + exits))


def random_fleet(rng: np.random.Generator, small: bool = False) -> RobotFleet:
    """Two classes or one, up to two phases, up to three environments, "one" or "any"."""
    several = bool(rng.integers(2))
    count = 1 if several else int(rng.integers(1, 3))
    phases = 1 if small or count == 2 else int(rng.integers(1, 3))
    robots = 1 if small else 3
    classes = []
    for _ in range(count):
        journey = PhaseType.erlang(phases, 1.5) if several else random_journey(rng, phases)
        classes.append(RobotClass(int(rng.integers(1, robots + 1)), journey))
    environment = None
    if rng.integers(2):
        worlds = 2 if small else int(rng.integers(2, 4))
        rates = rng.uniform(0.05, 1.0, (worlds, worlds))
        np.fill_diagonal(rates, 0.0)
        factors = rng.uniform(0.2, 2.0, (worlds, count)) if rng.integers(2) else rng.uniform(0.2, 2.0, worlds)
        environment = Environment(rates - np.diag(rates.sum(axis=1)), factors)
    capacity = 2 if small else int(rng.integers(2, 5))
    return RobotFleet(tuple(classes), capacity, float(rng.uniform(0.3, 2.0)), environment, "any" if several else "one")


def random_actions(fleet: RobotFleet, rng: np.random.Generator) -> np.ndarray:
    possible = allowed_actions(fleet)
    actions = np.zeros(fleet.states, dtype=np.int64)
    for state in range(fleet.states):
        choices = np.flatnonzero(possible[state // fleet.environments % fleet.places])
        actions[state] = rng.choice(choices[choices > 0] if state < fleet.environments else choices)
    return actions


class ByHand:
    """The same model once more, with states as tuples and moves in dictionaries: a witness of the arrays."""

    def __init__(self, fleet: RobotFleet) -> None:
        self.fleet = fleet
        self.worlds = fleet.environments
        per_class = [
            [
                counts
                for counts in itertools.product(range(one.robots + 1), repeat=one.journey.order)
                if sum(counts) <= one.robots
            ]
            for one in fleet.classes
        ]
        self.robots = [tuple(parts) for parts in itertools.product(*per_class)]
        self.states = [
            (q, robots, j) for q in range(fleet.capacity + 1) for robots in self.robots for j in range(self.worlds)
        ]
        self.number = {state: index for index, state in enumerate(self.states)}

    def pace(self, j: int, index: int) -> float:
        environment = self.fleet.environment
        if environment is None:
            return 1.0
        factors = environment.factors
        return float(factors[j] if factors.ndim == 1 else factors[j, index])

    def with_robot(self, robots: tuple, index: int, phase: int, change: int) -> tuple:
        parts = [list(part) for part in robots]
        parts[index][phase] += change
        return tuple(tuple(part) for part in parts)

    def decided(self, q: int, robots: tuple, j: int, actions: np.ndarray) -> list[tuple[float, tuple]]:
        action = int(actions[self.number[q, robots, j]])
        if action == 0:
            return [(1.0, (q, robots, j))]
        if self.fleet.switching == "any":
            phase = int(np.argmax(self.fleet.classes[0].journey.initial))
            for _ in range(action):
                robots = self.with_robot(robots, 0, phase, 1)
            return [(1.0, (q, robots, j))]
        initial = self.fleet.classes[action - 1].journey.initial
        return [
            (float(chance), (q, self.with_robot(robots, action - 1, phase, 1), j))
            for phase, chance in enumerate(initial)
            if chance > 0
        ]

    def moves(self, state: tuple, actions: np.ndarray) -> list[tuple[float, tuple]]:
        q, robots, j = state
        found = []
        if q > 0:
            found += [(self.fleet.service_rate * p, z) for p, z in self.decided(q - 1, robots, j, actions)]
        for index, one in enumerate(self.fleet.classes):
            for phase in range(one.journey.order):
                speed = robots[index][phase] * self.pace(j, index)
                if speed == 0:
                    continue
                back = self.with_robot(robots, index, phase, -1)
                full = min(q + 1, self.fleet.capacity)
                brought = speed * one.journey.exit_rates[phase]
                found += [(brought * p, z) for p, z in self.decided(full, back, j, actions) if brought > 0]
                for other in range(one.journey.order):
                    if other != phase:
                        rate = speed * one.journey.generator[phase, other]
                        found.append((rate, (q, self.with_robot(back, index, other, 1), j)))
        if self.fleet.environment is not None:
            for other in range(self.worlds):
                if other != j:
                    found.append((self.fleet.environment.generator[j, other], (q, robots, other)))
        return [(rate, z) for rate, z in found if rate > 0]

    def generator(self, actions: np.ndarray) -> np.ndarray:
        size = len(self.states)
        matrix = np.zeros((size, size))
        for here, state in enumerate(self.states[self.worlds :], start=self.worlds):
            for rate, there in self.moves(state, actions):
                matrix[here, self.number[there]] += rate
        np.fill_diagonal(matrix, 0.0)
        return matrix - np.diag(matrix.sum(axis=1))

    def averages(self, actions: np.ndarray) -> np.ndarray:
        """Averages of starvation, losses, robots, pages, busy time from the start: squared until nothing moves."""
        matrix = self.generator(actions)
        size = len(self.states)
        start = np.zeros(size)
        for chance, state in self.decided(0, self.robots[0], 0, actions):
            start[self.number[state]] += chance
        pace = 2.0 * np.abs(np.diag(matrix)).max()
        limit = np.eye(size) + matrix / pace
        for _ in range(40):
            limit = limit @ limit
            limit /= limit.sum(axis=1, keepdims=True)  # or rounding grows as the steps do
        rates = np.array([self.rates(state) for state in self.states]).T
        return rates @ (start @ limit)

    def rates(self, state: tuple) -> list[float]:
        q, robots, j = state
        coming = sum(
            robots[index][phase] * self.pace(j, index) * one.journey.exit_rates[phase]
            for index, one in enumerate(self.fleet.classes)
            for phase in range(one.journey.order)
        )
        out = sum(sum(part) for part in robots)
        return [float(q == 0), coming if q == self.fleet.capacity else 0.0, out, q, float(q > 0)]


@pytest.mark.parametrize("seed", range(12))
def test_states_rates_and_chains_are_those_written_down_by_hand(seed):
    rng = np.random.default_rng(seed)
    fleet = random_fleet(rng)
    witness, actions = ByHand(fleet), random_actions(fleet, rng)
    assert len(witness.states) == fleet.states
    for place, robots in enumerate(witness.robots):
        assert tuple(itertools.chain(*robots)) == tuple(fleet.counts[place])
    ours = chain_of(moves_of(fleet), actions).matrix().toarray()
    theirs = witness.generator(actions)
    np.fill_diagonal(theirs, 0.0)
    np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=0)
    by_hand = np.array([witness.rates(state) for state in witness.states]).T
    np.testing.assert_allclose(fleet_rates(fleet), by_hand, rtol=1e-13)


@pytest.mark.parametrize("seed", range(20))
def test_measures_of_random_policies_are_those_of_the_full_generator(seed):
    rng = np.random.default_rng(100 + seed)
    fleet = random_fleet(rng)
    witness = ByHand(fleet)
    for _ in range(3):
        actions = random_actions(fleet, rng)
        found = fleet_measures(fleet, actions)
        starvation, lost, active, length, busy = witness.averages(actions)
        assert found.starvation == pytest.approx(starvation, rel=1e-7, abs=1e-9)
        assert found.loss_rate == pytest.approx(lost, rel=1e-7, abs=1e-9)
        assert found.active_robots == pytest.approx(active, rel=1e-7, abs=1e-9)
        assert found.mean_length == pytest.approx(length, rel=1e-7, abs=1e-9)
        if found.response_time is not None and busy > 1e-6:
            assert found.response_time == pytest.approx(length / busy / fleet.service_rate, rel=1e-5)
        assert sum(found.by_class) == pytest.approx(found.active_robots, rel=1e-12)


def test_a_policy_with_several_closed_classes_counts_each_as_often_as_it_ends_there():
    """Two robots, kept out once they are: ended with one or with both, as a race decides."""
    fleet = fleet_of(2, 3, 0.7)
    witness, rng = ByHand(fleet), np.random.default_rng(5)
    several = 0
    for _ in range(200):
        actions = random_actions(fleet, rng)
        chain = chain_of(moves_of(fleet), actions)
        several += len(closed_classes(chain, np.arange(1, fleet.states))) > 1
        found = fleet_measures(fleet, actions)
        wanted = witness.averages(actions)
        got = [found.starvation, found.loss_rate, found.active_robots, found.mean_length]
        np.testing.assert_allclose(got, wanted[:4], rtol=1e-7, atol=1e-9)
    assert several > 10


@pytest.mark.parametrize("seed", range(6))
def test_the_base_model_is_a_fleet(seed):
    rng = np.random.default_rng(seed)
    queue = RobotQueue(int(rng.integers(1, 12)), int(rng.integers(2, 9)), float(rng.uniform(0.05, 1.0)))
    fleet = fleet_of(queue.robots, queue.capacity, queue.arrival_rate)
    for _ in range(5):
        policy = rng.integers(0, 2, queue.shape).astype(np.int8)
        policy[:, -1], policy[0, 0] = 0, 1
        ours, theirs = fleet_measures(fleet, policy).scalars(), queue.measures(policy).scalars()
        for name in SCALARS:
            assert ours[name] == (None if theirs[name] is None else pytest.approx(theirs[name], rel=1e-11))
    exact = best_policy(queue, queue.cost(1.4, length=0.01))
    found = best_fleet_policy(fleet, fleet_cost(fleet, 1.4, length=0.01))
    assert found.gain == pytest.approx(exact.gain, rel=1e-13)
    assert found.upper - found.lower <= 1e-13 * found.gain


@pytest.mark.parametrize("seed", range(10))
def test_the_best_policy_is_the_best_of_all(seed):
    rng = np.random.default_rng(1000 + seed)
    while True:
        fleet = random_fleet(rng, small=True)
        possible = allowed_actions(fleet)
        choices = [
            [
                int(a)
                for a in np.flatnonzero(possible[s // fleet.environments % fleet.places])
                if a or s >= fleet.environments
            ]
            for s in range(fleet.states)
        ]
        if np.prod([float(len(one)) for one in choices]) <= 700:
            break
    cost = fleet_cost(fleet, float(rng.uniform(0.2, 3.0)), 1.0, float(rng.uniform(0, 0.1)), float(rng.uniform(0, 0.1)))
    least = np.inf
    for actions in itertools.product(*choices):
        found = fleet_step(fleet, cost, np.array(actions))
        least = min(least, found.gain)
        assert found.lower <= found.gain <= found.upper
    best = best_fleet_policy(fleet, cost)
    assert best.gain == pytest.approx(least, rel=1e-12)
    assert best.lower == pytest.approx(least, rel=1e-12)
    assert best.changes == 0


@pytest.mark.parametrize("seed", range(8))
def test_elimination_and_iteration_agree(seed, monkeypatch):
    rng = np.random.default_rng(300 + seed)
    fleet = random_fleet(rng)
    cost = fleet_cost(fleet, 1.3)
    exact = best_fleet_policy(fleet, cost)
    measured = fleet_measures(fleet, exact.actions)
    assert measured.error == 0.0
    monkeypatch.setattr(banded, "MOST_STEPS", 0.0)
    iterated = best_fleet_policy(fleet, cost)
    again = fleet_measures(fleet, exact.actions)
    assert iterated.gain == pytest.approx(exact.gain, rel=1e-11)
    assert iterated.upper - iterated.lower <= 1e-11 * iterated.gain
    assert 0.0 < again.error < 1e-6
    for name in SCALARS:
        assert again.scalars()[name] == pytest.approx(measured.scalars()[name], rel=max(again.error, 1e-11))


def test_shares_of_time_have_all_their_digits():
    """Rare states too: against the dense elimination of the whole generator."""
    rng = np.random.default_rng(8)
    fleet = RobotFleet((RobotClass(3, random_journey(rng, 2)),), 6, 9.0)
    actions = first_actions(fleet)
    matrix = ByHand(fleet).generator(actions)[1:, 1:]
    shares = stationary_distribution(matrix)
    cost = fleet_cost(fleet, 1e-9)  # losses are rare: 1e-9 and less
    assert fleet_step(fleet, cost, actions).gain == pytest.approx(float(shares @ cost[1:]), rel=1e-12)


def test_equal_classes_are_one_class():
    journey = PhaseType.exponential(0.3)
    both = RobotFleet((RobotClass(3, journey), RobotClass(4, journey)), 5)
    one = fleet_of(7, 5, 0.3)
    found = best_fleet_policy(both, fleet_cost(both, 1.4))
    assert found.gain == pytest.approx(best_fleet_policy(one, fleet_cost(one, 1.4)).gain, rel=1e-12)


def test_an_environment_that_changes_nothing_is_none():
    steady = Environment(np.array([[-1.0, 1.0], [0.2, -0.2]]), np.array([1.0, 1.0]))
    fleet = RobotFleet((RobotClass(6, PhaseType.exponential(0.3)),), 5, 1.0, steady)
    one = fleet_of(6, 5, 0.3)
    found = best_fleet_policy(fleet, fleet_cost(fleet, 1.4))
    assert found.gain == pytest.approx(best_fleet_policy(one, fleet_cost(one, 1.4)).gain, rel=1e-12)


def test_a_journey_of_hidden_phases_is_its_law():
    """Two phases that both end at the same rate are one exponential phase."""
    split = PhaseType(np.array([0.3, 0.7]), np.array([[-0.8, 0.5], [0.4, -0.7]]))
    fleet = RobotFleet((RobotClass(5, split),), 4)
    one = fleet_of(5, 4, 0.3)
    found = best_fleet_policy(fleet, fleet_cost(fleet, 2.0))
    assert found.gain == pytest.approx(best_fleet_policy(one, fleet_cost(one, 2.0)).gain, rel=1e-12)


@pytest.mark.parametrize("gamma", [0.4, 1.4, 2.4])
def test_sending_several_is_no_worse_than_sending_one(gamma):
    classes = (RobotClass(20, PhaseType.exponential(0.1)),)
    one, several = RobotFleet(classes, 5), RobotFleet(classes, 5, switching="any")
    least = best_fleet_policy(several, fleet_cost(several, gamma))
    assert least.gain < best_fleet_policy(one, fleet_cost(one, gamma)).gain


def test_robots_kept_out_are_a_finite_queue():
    """n robots always out: the closed form of M/M/1/K, with any number sent at once or one after the other."""
    for switching in ("one", "any"):
        fleet = RobotFleet((RobotClass(9, PhaseType.exponential(0.2)),), 6, switching=switching)
        for robots in (1, 4, 9):
            found = fleet_measures(fleet, keep_out(fleet, [robots]))
            powers = (0.2 * robots) ** np.arange(7.0)
            assert found.starvation == pytest.approx(1.0 / powers.sum(), rel=1e-13)
            assert found.loss_rate == pytest.approx(0.2 * robots * powers[-1] / powers.sum(), rel=1e-13)
            assert found.fewest_robots == found.most_robots == robots


@pytest.mark.parametrize("seed", range(6))
def test_sweeps_close_in_on_the_least_cost(seed):
    rng = np.random.default_rng(seed)
    fleet = random_fleet(rng)
    cost = fleet_cost(fleet, 1.3)
    least = best_fleet_policy(fleet, cost)
    values = np.zeros(fleet.states)
    lower, upper = -np.inf, np.inf
    for _ in range(20_000):
        values, low, high = sweep(fleet, cost, values)
        lower, upper = max(lower, low), min(upper, high)
        if upper - lower <= 1e-8 * upper:
            break
    assert lower <= least.gain * (1 + 1e-12) and upper >= least.gain * (1 - 1e-12)
    assert upper - lower <= 1e-8 * upper
    assert fleet_step(fleet, cost, greedy(fleet, values)).gain == pytest.approx(least.gain, rel=1e-7)


def test_policies_are_led_to_a_set_and_decide_as_before_inside():
    rng = np.random.default_rng(3)
    fleet = fleet_of(4, 4, 0.4)
    moves = moves_of(fleet)
    led = 0
    for _ in range(100):
        actions = random_actions(fleet, rng)
        chain = chain_of(moves, actions)
        classes = closed_classes(chain, np.arange(1, fleet.states))
        aim = np.zeros(fleet.states, dtype=bool)
        aim[classes[-1]] = True
        found = led_to(moves, actions, fleet.idle, aim)
        check_actions(fleet, found)
        after = closed_classes(chain_of(moves, found), np.arange(1, fleet.states))
        assert len(after) == 1 and (after[0] == classes[-1]).all()
        led += len(classes) > 1
    assert led > 5


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"classes": ()}, "classes must not be empty"),
        ({"capacity": 1}, "capacity must be a whole number of at least 2"),
        ({"service_rate": 0.0}, "service_rate must be a finite number above 0"),
        ({"switching": "two"}, "switching must be 'one' or 'any'"),
        ({"classes": (RobotClass(2, PhaseType.exponential(1.0)),) * 2, "switching": "any"}, "several classes"),
        (
            {"classes": (RobotClass(2, PhaseType.hyperexponential([0.5, 0.5], [1, 2])),), "switching": "any"},
            "begin in different phases",
        ),
        ({"classes": (RobotClass(400, PhaseType.erlang(4, 1.0)),)}, "states must be at most"),
    ],
)
def test_what_is_no_fleet_is_refused_in_one_sentence(change, told):
    data = {"classes": (RobotClass(2, PhaseType.exponential(1.0)),), "capacity": 3} | change
    with pytest.raises(ValueError, match=told):
        RobotFleet(**data)


@pytest.mark.parametrize(
    ("factors", "told"),
    [
        ([1.0], "a row for each of 2 states"),
        ([1.0, -1.0], r"factors\[1\] must be"),
        ([0.0, 0.0], "must not be 0 in every state"),
        ([[1.0, 0.0], [1.0, 0.0]], "must not be 0 in every state"),
    ],
)
def test_paces_that_are_none_are_refused(factors, told):
    with pytest.raises(ValueError, match=told):
        Environment(np.array([[-1.0, 1.0], [1.0, -1.0]]), np.array(factors))


def test_policies_that_are_none_are_refused():
    fleet = fleet_of(2, 2, 1.0)
    good = first_actions(fleet)
    for change, told in (
        (np.zeros(4), "needs 9 entries"),
        (np.where(np.arange(9) == 2, 1, good), "idle are 0"),
        (np.where(np.arange(9) == 1, -1, good), "action -1 in state 1"),
        (np.where(np.arange(9) == 0, 0, good), "state 0 must send a robot out"),
        (good + 0.5, "whole numbers"),
    ):
        with pytest.raises(ValueError, match=told):
            check_actions(fleet, change)


def test_steps_that_gain_nothing_are_no_reason_to_give_up_the_iteration(monkeypatch):
    """Four steps in a row neither cost less nor prove more, and the fifth does."""
    fleet = RobotFleet((RobotClass(1, PhaseType.exponential(1.0)),), 2, 1.0)
    gains = iter([3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 1.0])
    none = np.zeros(fleet.states, dtype=np.int64)

    def step(fleet, cost, actions, near, accuracy, corrections, pause):
        gain = next(gains)
        return control.FleetStep(none, gain, np.zeros(fleet.states), none, int(gain > 1.0), 0.0, 9.0, 0.0)

    monkeypatch.setattr(control, "_step", step)
    monkeypatch.setattr(control, "ROUGH", control.FINE)
    assert best_fleet_policy(fleet, np.ones(fleet.states)).gain == 1.0
