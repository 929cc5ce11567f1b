"""Robots one by one against closed forms and exact evaluators, and mistakes that the comparison must find."""

import ast
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from joint_chances import joint_chance
from scipy.stats import binom

import queueing.robots.simulation.runs
from queueing import PhaseType, RobotQueue
from queueing.robots import static_measures
from queueing.robots.fleet import Environment, RobotClass, RobotFleet, fleet_measures, fleet_of, keep_out
from queueing.robots.simulation import (
    SERVED,
    FleetRun,
    FleetSimulation,
    SimulatedFleet,
    drifting,
    occurrences_of,
    replicate,
    resolution_of,
    usual_time,
)
from queueing.robots.simulation.closed_classes import closed_classes
from queueing.robots.simulation.kernel import AGE, HEAD, LEVEL, NOW
from queueing.robots.simulation.runs import RUNS, simulate
from queueing.simulation import joint_limit

WEATHER = Environment([[-0.3, 0.3], [0.5, -0.5]], [0.4, 2.0])
PHASES = PhaseType([0.3, 0.7], [[-1.5, 0.4], [0.1, -0.3]])


def observed(fleet, actions, events: float = 4e5, replications: int = 20, seed: int = 0) -> FleetSimulation:
    simulated = SimulatedFleet(fleet, actions)
    time = usual_time(simulated, int(events / replications), seed)
    return simulate(simulated, time=time, replications=replications, seed=seed)


def span(found: FleetSimulation) -> float:
    """Units of time of a replication: each of its runs has one end."""
    runs = RUNS if found.model.several else 1
    return runs / float(found.observations[0, found.model.layout.ends].sum())


def chance(found: FleetSimulation, exact) -> float:
    """A bound on the chance of what was seen, if the exact values are right: all comparisons taken together."""
    time = span(found) * len(found.observations)
    happened = occurrences_of(found.model, found.observations.mean(axis=0))
    deviations = []
    for name, one in found.measures().items():
        value = getattr(exact, name)
        if value is not None and value > 0 and happened[name][0] * time > 300:  # else too rare for Student's law
            deviations.append(one.deviation(value))
    assert len(deviations) >= 3
    return joint_chance(max(map(abs, deviations)), len(deviations), len(found.observations) - 1)


def assert_near(pairs, wrong: float = 0.01) -> None:
    largest = max(abs(one.deviation(value)) for one, value in pairs)
    assert largest < joint_limit(len(pairs), pairs[0][0].degrees, wrong)


def random_law(rng, order: int, one_start: bool = False) -> PhaseType:
    rates = rng.uniform(0.1, 2.0, (order, order)) * (1 - np.eye(order)) * (rng.random((order, order)) < 0.7)
    initial = np.eye(order)[rng.integers(order)] if one_start else rng.dirichlet(np.ones(order))
    return PhaseType(initial, rates - np.diag(rates.sum(axis=1) + rng.uniform(0.1, 2.0, order)))


def random_fleet(rng) -> RobotFleet:
    """Up to three classes of three robots and three phases; an environment that may bring all to a halt, or none."""
    any_number = rng.random() < 0.3
    count = 1 if any_number else int(rng.integers(1, 4))
    phases = 3 if count < 3 else 2
    classes = tuple(
        RobotClass(int(rng.integers(1, 4)), random_law(rng, int(rng.integers(1, phases + 1)), any_number))
        for _ in range(count)
    )
    environment = None
    if rng.random() < 0.6:
        states = int(rng.integers(2, 4))
        rates = rng.uniform(0.1, 1.0, (states, states)) * (1 - np.eye(states))
        factors = rng.uniform(0.2, 3.0, (states, count) if rng.random() < 0.5 else states)
        factors[0] *= rng.random() < 0.6
        environment = Environment(rates - np.diag(rates.sum(axis=1)), factors)
    switching = "any" if any_number else "one"
    return RobotFleet(classes, int(rng.integers(2, 6)), float(rng.uniform(0.3, 3.0)), environment, switching)


def random_actions(fleet: RobotFleet, rng) -> np.ndarray:
    idle = np.array([one.robots for one in fleet.classes]) - fleet.robots_out
    lazy, actions = rng.random(), np.zeros(fleet.shape, dtype=np.int64)
    for pages, place, world in np.ndindex(fleet.shape):
        if fleet.switching == "any":
            choices = np.arange(1, idle[place, 0] + 1)
        else:
            choices = 1 + np.flatnonzero(idle[place])
        if len(choices) and ((pages == 0 and not fleet.counts[place].any()) or rng.random() > lazy):
            actions[pages, place, world] = rng.choice(choices)
    return actions.reshape(-1)


def random_policy(queue: RobotQueue, rng) -> np.ndarray:
    policy = (rng.random(queue.shape) < rng.random()).astype(np.int8)
    policy[:, -1] = 0
    policy[0, 0] = 1
    return policy


# -- independence -----------------------------------------------------------------------------------------------------


def test_the_simulation_imports_no_evaluator():
    allowed = {"numpy", "numba", "scipy", "math", "collections", "dataclasses", "functools", "itertools", "typing"}
    files = sorted(Path(queueing.robots.simulation.runs.__file__).parent.glob("[!_]*.py"))
    assert len(files) == 4
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert {name.name.split(".")[0] for name in node.names} <= allowed, file
            elif isinstance(node, ast.ImportFrom) and node.level:
                data = node.module == "fleet" and [name.name for name in node.names] == ["RobotFleet"]
                own = node.level == 1 or node.module.split(".")[-1] == "simulation"
                assert data or own, (file, node.module)
            elif isinstance(node, ast.ImportFrom):
                assert node.module.split(".")[0] in allowed, file
                assert "linalg" not in node.module


def test_no_table_of_states_is_used(monkeypatch):
    """Of a fleet only the data are read: robots, journeys, environment, pages, service."""
    fleet = RobotFleet((RobotClass(2, PHASES), RobotClass(1, PhaseType.erlang(2, 1.0))), 3, 1.0, WEATHER)
    actions = keep_out(fleet, (1, 1))
    for name in ("counts", "class_of", "robots_out", "sent", "returned", "places", "shape"):
        monkeypatch.setattr(RobotFleet, name, property(lambda fleet, name=name: pytest.fail(f"{name} was used")))
    monkeypatch.setattr(RobotFleet, "states", len(actions))
    assert observed(fleet, actions, events=1000).measures()["active_robots"].value == pytest.approx(2, rel=0.2)


def test_states_are_numbered_as_policies_expect():
    rng = np.random.default_rng(1)
    for _ in range(30):
        fleet = random_fleet(rng)
        simulated = SimulatedFleet(fleet, np.zeros(fleet.states))
        pages, world = int(rng.integers(fleet.capacity + 1)), int(rng.integers(fleet.environments))
        numbers = [simulated.number(pages, counts, world) for counts in fleet.counts]
        expected = (pages * fleet.places + np.arange(fleet.places)) * fleet.environments + world
        np.testing.assert_array_equal(numbers, expected)


# -- closed forms -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("switching", ["one", "any"])
@pytest.mark.parametrize("robots", [1, 4])
def test_a_fixed_number_of_robots_is_an_mm1k_queue(robots, switching):
    queue = RobotQueue(6, 4, 0.3)
    fleet = replace(fleet_of(6, 4, 0.3), switching=switching)
    found = observed(fleet, keep_out(fleet, (robots,)), seed=1)
    exact = static_measures(queue, robots)
    measures = found.measures()
    levels = (0.3 * robots) ** np.arange(5)
    assert measures["active_robots"].deviation(robots) == 0
    assert_near(
        [
            *zip(found.level_probabilities(), levels / levels.sum(), strict=True),
            *((measures[name], getattr(exact, name)) for name in ("loss_rate", "mean_length", "response_time")),
        ]
    )
    assert found.robot_probabilities()[0][robots].value == pytest.approx(1.0)
    assert found.ends() == [1.0]


def renewal_queue(law: PhaseType, rate: float, capacity: int) -> dict[str, float]:
    """GI/M/1/K, from the numbers of pages that arrivals find."""
    size = law.order
    inverse = np.linalg.inv(rate * np.eye(size) - law.generator)
    served, left = [], inverse @ law.exit_rates
    for _ in range(capacity + 1):  # chances of 0, 1, ... services between two arrivals, if pages last
        served.append(float(law.initial @ left))
        left = rate * inverse @ left
    moves = np.zeros((capacity + 1, capacity + 1))
    for pages in range(capacity + 1):
        inside = min(pages + 1, capacity)
        for count in range(inside):
            moves[pages, inside - count] = served[count]
        moves[pages, 0] = 1 - moves[pages].sum()
    finds = np.linalg.matrix_power(moves, 2**20)[0]
    through = (1 - finds[-1]) / law.mean
    response = float(np.arange(1, capacity + 1) @ finds[:-1]) / (1 - finds[-1]) / rate
    return {
        "starvation": 1 - through / rate,
        "loss_rate": finds[-1] / law.mean,
        "active_robots": 1.0,
        "mean_length": response * through,
        "response_time": response,
    }


@pytest.mark.parametrize("law", [PHASES, PhaseType.erlang(3, 2.0), PhaseType.hyperexponential([0.9, 0.1], [3.0, 0.2])])
def test_one_robot_that_is_always_out_brings_a_renewal_stream(law):
    fleet = RobotFleet((RobotClass(1, law),), 4, 0.9)
    exact = renewal_queue(law, 0.9, 4)
    measures = observed(fleet, keep_out(fleet, (1,)), events=1e6, seed=2).measures()
    assert_near([(measures[name], value) for name, value in exact.items()])


def test_an_environment_without_effect_changes_nothing():
    rng = np.random.default_rng(3)
    queue = RobotQueue(3, 4, 0.5)
    policy = random_policy(queue, rng)
    calm = Environment(WEATHER.generator, [1.0, 1.0])
    fleet = replace(fleet_of(3, 4, 0.5), environment=calm)
    assert chance(observed(fleet, np.repeat(policy.reshape(-1), 2), seed=3), queue.measures(policy)) > 0.01


def test_an_environment_that_changes_all_the_time_sets_the_mean_pace():
    queue = RobotQueue(3, 4, 0.5)
    policy = queue.base_stock(2)
    wild = Environment([[-400.0, 400.0], [200.0, -200.0]], [0.1, 1.45])  # a third of the time, and two thirds: 1
    fleet = replace(fleet_of(3, 4, 0.5), environment=wild)
    assert chance(observed(fleet, np.repeat(policy.reshape(-1), 2), events=8e6, seed=3), queue.measures(policy)) > 0.01


def test_two_classes_that_are_alike_are_one():
    rng = np.random.default_rng(4)
    queue = RobotQueue(5, 4, 0.4)
    policy = random_policy(queue, rng)
    alike = PhaseType.exponential(0.4)
    fleet = RobotFleet((RobotClass(2, alike), RobotClass(3, alike)), 4)
    first, second = fleet.robots_out.T
    actions = policy[:, first + second] * np.where(first < 2, 1, 2)
    assert chance(observed(fleet, actions, seed=4), queue.measures(policy)) > 0.01


def two_ways(first: float, second: float, capacity: int) -> tuple[RobotFleet, np.ndarray, float]:
    """Two robots of one kind or two of another are out for ever, whichever happens to be first; and the chance.

    With none out, one of the first kind is sent if there is a page at most, else one of the second; with one out,
    another one like it. So it is decided while the second robot is out: is the first page served before it comes?
    """
    fleet = RobotFleet(
        (RobotClass(2, PhaseType.exponential(first)), RobotClass(2, PhaseType.exponential(second))), capacity
    )
    actions = np.zeros(fleet.shape, dtype=np.int64)
    for pages, place, _ in np.ndindex(fleet.shape):
        a, b = fleet.robots_out[place]
        if a + b == 0:
            actions[pages, place] = 1 if pages < 2 else 2
        elif a + b == 1:
            actions[pages, place] = 1 if a else 2
    return fleet, actions, 1.0 / (1.0 + first)


def test_several_closed_classes_count_by_their_chances():
    fleet, actions, share = two_ways(0.7, 0.2, 4)
    found = observed(fleet, actions, events=1e6, seed=5)
    assert found.model.several
    assert found.model.closed.number == 2
    ways = [static_measures(RobotQueue(2, 4, rate), 2) for rate in (0.7, 0.2)]
    chances = (share, 1 - share)
    mixed = {
        name: sum(part * getattr(way, name) for part, way in zip(chances, ways, strict=True))
        for name in ("starvation", "loss_rate", "mean_length")
    }
    measures = found.measures()
    assert_near([(measures[name], value) for name, value in mixed.items()])
    assert sorted(found.ends()) == pytest.approx(sorted(chances), abs=0.05)  # 1000 runs
    assert measures["active_robots"].value == pytest.approx(2, abs=1e-3)


def test_a_closed_class_that_is_hardly_ever_reached_is_told():
    for rate, often in ((0.7, True), (0.001, False)):
        fleet, actions, _ = two_ways(rate, 0.2, 4)
        found = observed(fleet, actions, events=1e5, seed=6)
        happened = [occurrences_of(found.model, row)["mean_length"][0] > 0 for row in found.observations]
        assert (np.mean(happened) > 2 / 3) == often


# -- exact evaluators -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_simulated_and_exact_measures_of_the_base_model_agree(seed):
    """All ten together go wrong by chance in one of a hundred choices of seeds."""
    rng = np.random.default_rng([7, seed])
    queue = RobotQueue(int(rng.integers(1, 7)), int(rng.integers(2, 7)), *rng.uniform(0.1, 2.0, 2))
    policy = random_policy(queue, rng)
    fleet = fleet_of(queue.robots, queue.capacity, queue.arrival_rate, queue.service_rate)
    assert chance(observed(fleet, policy, seed=seed), queue.measures(policy)) > 0.01 / 10


@pytest.mark.parametrize("seed", range(25))
def test_simulated_and_exact_measures_of_fleets_agree(seed):
    rng = np.random.default_rng([8, seed])
    fleet = random_fleet(rng)
    actions = random_actions(fleet, rng)
    assert chance(observed(fleet, actions, seed=seed), fleet_measures(fleet, actions)) > 0.01 / 25


def test_a_thousand_robots_are_simulated():
    queue = RobotQueue(1000, 5, 0.001)
    policy = queue.base_stock(900)
    found = observed(fleet_of(1000, 5, 0.001), policy, replications=10, seed=9)
    assert chance(found, queue.measures(policy)) > 0.01


def test_robots_out_by_class_are_those_of_the_evaluator():
    rng = np.random.default_rng(10)
    fleet = RobotFleet((RobotClass(2, PHASES), RobotClass(3, PhaseType.exponential(0.4))), 4, 1.0, WEATHER)
    actions = random_actions(fleet, rng)
    exact = fleet_measures(fleet, actions)
    assert_near(list(zip(observed(fleet, actions, seed=10).robots_by_class(), exact.by_class, strict=True)))


# -- mistakes ---------------------------------------------------------------------------------------------------------


def mistakes() -> dict[str, tuple[RobotFleet, np.ndarray]]:
    """The fleet as it is, and as it would be with a mistake in it."""
    fleet = RobotFleet((RobotClass(2, PHASES), RobotClass(1, PhaseType.erlang(2, 1.0))), 4, 0.8, WEATHER)
    grid = random_actions(fleet, np.random.default_rng(11)).reshape(fleet.shape)
    other_phase = RobotClass(2, PhaseType([0.7, 0.3], PHASES.generator))
    one_phase = RobotClass(1, PhaseType([1.0, 0.0], [[-0.5, 0.0], [0.0, -1.0]]))
    often = grid.copy()
    often[2] = (fleet.robots_out[:, 0] < 2)[:, None]
    changed = {
        "service is faster": replace(fleet, service_rate=1.03 * fleet.service_rate),
        "journeys begin in the wrong phase": replace(fleet, classes=(other_phase, fleet.classes[1])),
        "journeys have no phases": replace(fleet, classes=(fleet.classes[0], one_phase)),
        "the weather changes faster": replace(fleet, environment=replace(WEATHER, generator=2 * WEATHER.generator)),
        "a class has another pace": replace(fleet, environment=replace(WEATHER, factors=[[0.4, 0.4], [2.0, 1.8]])),
    }
    confused = {
        "the policy sees the wrong weather": grid[:, :, ::-1],
        "the policy counts a page too many": np.vstack([grid[1:], grid[-1:]]),
        "a robot is sent out once too often": often,
    }
    return (
        {"none": (fleet, grid.reshape(-1))}
        | {name: (other, grid.reshape(-1)) for name, other in changed.items()}
        | {name: (fleet, other.reshape(-1)) for name, other in confused.items()}
    )


@pytest.mark.parametrize("mistake", list(mistakes()))
def test_mistakes_are_found(mistake):
    right = fleet_measures(*mistakes()["none"])
    wrong = observed(*mistakes()[mistake], events=2e6, seed=12)
    if mistake == "none":
        assert chance(wrong, right) > 0.01
    else:
        assert chance(wrong, right) < 1e-6


def test_pages_that_tell_their_own_times_confirm_littles_law():
    fleet, actions = mistakes()["none"]
    found = observed(fleet, actions, events=1e6, seed=13)
    means = found.observations.mean(axis=0)
    length = means[found.model.layout.levels] @ np.arange(5)
    assert found.measures()["response_time"].value * means[SERVED] == pytest.approx(length, rel=1e-3)


# -- intervals --------------------------------------------------------------------------------------------------------


def test_intervals_cover_as_often_as_they_say():
    queue = RobotQueue(2, 2, 0.4)
    policy = queue.policy([1, 1, 0, 1, 1, 0, 1, 0, 0])
    exact = queue.measures(policy)
    simulated = SimulatedFleet(fleet_of(2, 2, 0.4), policy)
    hits = dict.fromkeys(("starvation", "loss_rate", "active_robots", "mean_length", "response_time"), 0)
    seeds = range(200)
    for seed in seeds:
        for name, one in simulate(simulated, time=1000.0, replications=10, seed=seed).measures().items():
            hits[name] += one.covers(getattr(exact, name))
    low, high = binom.ppf([0.0005, 0.9995], len(seeds), 0.95)
    assert all(low <= count <= high for count in hits.values()), hits


# -- runs -------------------------------------------------------------------------------------------------------------


def test_every_page_and_robot_is_accounted_for():
    rng = np.random.default_rng(14)
    for seed in range(20):
        fleet = random_fleet(rng)
        one = FleetRun(SimulatedFleet(fleet, random_actions(fleet, rng)), (seed,), 1e9, 0.0)
        assert not one.advance(3000)
        brought, lost, served, served_time = one.state.seen[:4]
        pages, now = int(one.state.places[LEVEL]), one.state.clocks[NOW]
        assert brought - lost - served == pages
        layout = one.fleet.layout
        levels = one.state.seen[layout.levels]
        assert levels.sum() == pytest.approx(now)
        for index, part in enumerate(layout.robots):
            assert one.state.seen[part].sum() == pytest.approx(now)
            phases = one.fleet.rules.first[index : index + 2]
            assert one.state.counts[slice(*phases)].sum() == one.state.out[index]
        # Pages times time, by levels and by pages; those that are inside have told nothing yet.
        behind = (one.state.places[HEAD] + np.arange(1, pages)) % fleet.capacity
        ages = one.state.clocks[AGE] - np.concatenate([[0.0], one.state.gaps[behind].cumsum()])[:pages]
        assert (ages >= 0).all()
        assert served_time + ages.sum() == pytest.approx(levels @ np.arange(len(levels)))


def test_the_same_seed_gives_the_same_answer_in_steps_of_any_size():
    fleet, actions = mistakes()["none"]
    simulated = SimulatedFleet(fleet, actions)
    whole = simulate(simulated, time=100.0, replications=3, seed=5).observations
    steps = replicate(simulated, time=100.0, seed=5, step=7)
    done = [one.observation for one in (next(steps) for _ in range(2000)) if one is not None][:3]
    np.testing.assert_array_equal(np.array(done), whole)
    assert not np.array_equal(simulate(simulated, time=100.0, replications=3, seed=6).observations, whole)


def test_it_begins_without_pages_and_robots_in_the_first_state_of_the_environment():
    """The only robot waits for good weather, which comes after a time of mean 1, and is back in no time then."""
    weather = Environment([[-1.0, 1.0], [1e-9, -1e-9]], [0.0, 1e6])
    fleet = replace(fleet_of(1, 2, 1.0, 1e6), environment=weather)
    simulated = SimulatedFleet(fleet, [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    waits = []
    for seed in range(400):
        one = FleetRun(simulated, (seed,), 1e5, 0.0)
        one.advance(3)  # the beginning, the change of weather, the arrival
        assert one.state.places[LEVEL] == 1
        waits.append(one.state.clocks[NOW])
    assert np.mean(waits) == pytest.approx(1.0, abs=4 / math.sqrt(400))


def test_a_warm_up_is_not_observed():
    queue = RobotQueue(50, 1000, 1.0)
    simulated = SimulatedFleet(fleet_of(50, 1000, 1.0), queue.base_stock(50))
    cold = simulate(simulated, time=20.0, warm_up=0.0, replications=3)
    warm = simulate(simulated, time=20.0, warm_up=100.0, replications=3)
    assert cold.measures()["mean_length"].value < 600
    assert warm.measures()["mean_length"].value > 990
    assert warm.observations[:, warm.model.layout.levels].sum(axis=1) == pytest.approx(1.0)


@pytest.mark.parametrize("ratio", [1e-9, 1e9])
def test_rates_that_lie_far_apart_cost_no_digits(ratio):
    """One robot, sent out when its page is served: it travels, the server works, in turn."""
    actions = [1, 0, 0, 0, 0, 0]
    measures = observed(fleet_of(1, 2, ratio), actions, seed=15).measures()
    assert_near([(measures["response_time"], 1.0), (measures["mean_length"], ratio / (1 + ratio))])
    assert measures["active_robots"].deviation(1 / (1 + ratio)) < 5


def test_the_unit_of_time_does_not_matter():
    rows = []
    for unit in (1e-200, 1.0, 1e200):
        fleet = RobotFleet((RobotClass(2, PHASES.scaled(unit)),), 3, unit)
        rows.append(observed(fleet, keep_out(fleet, (2,)), events=1e4, seed=16).measures()["mean_length"].value)
    assert rows == pytest.approx([rows[1]] * 3, rel=1e-9)


def test_slow_things_are_given_time():
    quick = SimulatedFleet(fleet_of(2, 3, 1.0), RobotQueue(2, 3, 1.0).base_stock(2))
    slow = Environment([[-1e-3, 1e-3], [1e-3, -1e-3]], [1.0, 2.0])
    actions = np.repeat(RobotQueue(2, 3, 1.0).base_stock(2).reshape(-1), 2)
    changing = SimulatedFleet(replace(fleet_of(2, 3, 1.0), environment=slow), actions)
    assert usual_time(quick, 10_000) < 1e4
    assert usual_time(changing, 10_000) == pytest.approx(50 * 2 / 1e-3)  # two stays from visit to visit
    happened = occurrences_of(changing, simulate(changing, time=2e3, replications=1).observations[0])
    assert happened["mean_length"] == (0.0, 0.0)
    wide = SimulatedFleet(fleet_of(1, 300, 1.0), RobotQueue(1, 300, 1.0).base_stock(1))
    assert usual_time(wide, 10_000) > 10 * usual_time(quick, 10_000)


def test_averages_that_are_still_on_their_way_are_told_and_given_time():
    """Two robots are out until, once in some hundred units, there is no page: four from then on."""
    fleet = replace(fleet_of(4, 6, 1.4), switching="any")
    grid = keep_out(fleet, (4,)).reshape(7, 5)
    at_once = SimulatedFleet(fleet, grid)
    late = grid.copy()
    late[:, :3] = 2 - np.arange(3)
    late[0, 2] = 2
    simulated = SimulatedFleet(fleet, late)
    assert drifting(simulated, simulate(simulated, time=500.0, replications=30).observations)
    settled = simulate(simulated, time=30_000.0, replications=30)
    assert not drifting(simulated, settled.observations)
    assert settled.measures()["active_robots"].deviation(4.0) == 0
    assert not drifting(at_once, simulate(at_once, time=500.0, replications=30).observations)
    assert usual_time(simulated, 10_000) > 3 * usual_time(at_once, 10_000)


def test_a_class_that_is_never_used_need_not_be_waited_for():
    fleet = RobotFleet((RobotClass(1, PhaseType.exponential(1.0)), RobotClass(1, PhaseType.exponential(1e-9))), 3)
    simulated = SimulatedFleet(fleet, keep_out(fleet, (1, 0)))
    found = simulate(simulated, time=usual_time(simulated, 10_000), replications=1)
    assert occurrences_of(simulated, found.observations[0])["mean_length"][0] > 0


def test_the_resolution_is_what_one_full_queue_would_change():
    simulated = SimulatedFleet(fleet_of(6, 4, 0.1, 2.0), RobotQueue(6, 4, 0.1, 2.0).base_stock(2))
    assert resolution_of(simulated, 1000.0) == pytest.approx(
        {"mean_length": 4 * 2 / 1000, "active_robots": 6 * 10 / 1000}
    )


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        ([1, 0, 1, 0, 1], "6 whole numbers"),
        ([1, 0, 1, 0, 1, 0.5], "6 whole numbers"),
        ([1, 0, 1, 0, 1, math.nan], "6 whole numbers"),
    ],
)
def test_actions_of_another_shape_are_refused(actions, words):
    with pytest.raises(ValueError, match=words):
        SimulatedFleet(fleet_of(1, 2, 1.0), actions)


@pytest.mark.parametrize(
    ("actions", "state"),
    [([0, 0, 1, 0, 1, 0], 0), ([1, 1, 1, 0, 1, 0], 1), ([2, 0, 1, 0, 1, 0], 0), ([-1] + [0] * 5, 0)],
)
def test_actions_that_cannot_be_done_are_refused_when_they_are_due(actions, state):
    simulated = SimulatedFleet(fleet_of(1, 2, 1.0), actions)
    with pytest.raises(ValueError, match=rf"actions\[{state}\] must send out robots that are idle"):
        FleetRun(simulated, (0,), 1000.0, 0.0).advance()


@pytest.mark.parametrize(("time", "warm_up"), [(0.0, 0.0), (math.nan, 0.0), (math.inf, 0.0), (1.0, -1.0)])
def test_times_that_make_no_sense_are_refused(time, warm_up):
    simulated = SimulatedFleet(fleet_of(1, 2, 1.0), [1, 0, 1, 0, 1, 0])
    with pytest.raises(ValueError, match="time must be between"):
        FleetRun(simulated, (0,), time, warm_up)


def test_events_that_lie_too_far_apart_are_refused():
    with pytest.raises(ValueError, match="measure time in larger units"):
        usual_time(SimulatedFleet(fleet_of(1, 2, 1e-305, 1e-305), [1, 0, 1, 0, 1, 0]), 10_000)


def test_closed_classes_of_too_many_states_are_not_looked_for():
    simulated = SimulatedFleet(fleet_of(1, 2, 1.0), [1, 0, 1, 0, 1, 0])
    assert closed_classes(simulated.rules).number == 1
    assert closed_classes(simulated.rules, most=2) is None


def test_nothing_done_is_no_simulation():
    with pytest.raises(ValueError, match="replications must not be empty"):
        FleetSimulation.of(SimulatedFleet(fleet_of(1, 2, 1.0), [1, 0, 1, 0, 1, 0]), [])
