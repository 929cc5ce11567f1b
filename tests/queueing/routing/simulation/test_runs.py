"""Simulated servers against exact costs, for every kind of source and service; and faults they must find."""

import ast
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import queueing.routing.simulation.runs
from queueing import BMAP, PhaseType
from queueing.processes import Constant, Erlang, Exponential, Hyperexponential, PhaseTypeTime, Samples
from queueing.routing import (
    MarkovArrivals,
    RenewalArrivals,
    TraceArrivals,
    freshness_costs,
    loss_costs,
    word_cost,
    word_gaps,
)
from queueing.routing.simulation import RoutingSimulation, SimulatedRouting, replicate, resolution_of, usual_time
from queueing.routing.simulation.runs import simulate
from queueing.simulation import joint_limit

COX = PhaseType([0.7, 0.3], [[-2.0, 1.0], [0.2, -0.5]])
SOURCES = {
    "poisson": RenewalArrivals(Exponential(0.8)),
    "constant": RenewalArrivals(Constant(0.8)),
    "erlang": RenewalArrivals(Erlang(3, 0.8)),
    "hyperexponential": RenewalArrivals(Hyperexponential((0.2, 0.8), (2.0, 0.4))),
    "phase-type": RenewalArrivals(PhaseTypeTime(COX)),
    "samples": RenewalArrivals(Samples((0.0, 0.2, 0.2, 2.0))),
    "mmpp": MarkovArrivals(BMAP.mmpp([[-0.3, 0.3], [0.7, -0.7]], [0.5, 4.0])),
    "map": MarkovArrivals(BMAP.map([[-3.0, 1.0], [0.2, -1.0]], [[0.5, 1.5], [0.0, 0.8]])),
    "trace": TraceArrivals((0.3, 2.0, 0.0, 0.5, 0.5)),
    "trace in step with the word": TraceArrivals((0.1, 3.0, 0.4, 0.2, 1.0, 0.8)),
}
SERVICES = {
    "rates": [0.4, 1.0, 3.0, 2.0],
    "phases": [COX, PhaseType.erlang(4, 3.0), 0.7, PhaseType.hyperexponential([0.9, 0.1], [4.0, 0.2])],
}
WORD = [0, 1, 2, 1, 2, 2]  # server 3 is never used
WEIGHTS = np.array([1.0, 0.5, 2.0, 0.3])
WRONG = 0.001


def deviations(found: RoutingSimulation, source, services):
    """Standard errors between simulated and exact values: both costs, and both of each server."""
    lost, stale = loss_costs(source, services, WEIGHTS), freshness_costs(source, services, WEIGHTS)
    gaps = word_gaps(WORD, 4)
    exact_lost = [lost.table(6)[m, gaps[m] - 1].sum() / 6 / WEIGHTS[m] for m in range(4)]
    exact_stale = [stale.table(6)[m, gaps[m] - 1].sum() / 6 / WEIGHTS[m] if len(gaps[m]) else 1.0 for m in range(4)]
    return [
        found.losses().deviation(word_cost(lost, WORD)),
        found.obsolescence().deviation(word_cost(stale, WORD)),
        *(one.deviation(exact) for one, exact in zip(found.losses_by_server(), exact_lost, strict=True)),
        *(one.deviation(exact) for one, exact in zip(found.obsolescence_by_server(), exact_stale, strict=True)),
    ]


@pytest.mark.parametrize("services", SERVICES.values(), ids=SERVICES)
@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_every_source_and_service_against_exact_costs(source, services):
    routing = SimulatedRouting(services, source, WORD, WEIGHTS)
    found = simulate(routing, time=6000.0, replications=30, seed=5)
    apart = deviations(found, source, services)
    assert max(map(abs, apart)) < joint_limit(len(apart), 29, WRONG)


@pytest.mark.parametrize("fault", ["service", "source", "order"])
def test_a_fault_is_found(fault):
    """What is simulated differs a little from what is evaluated."""
    source, services = SOURCES["map"], SERVICES["phases"]
    word = [0, 1, 2, 2, 1, 2] if fault == "order" else WORD
    slower = [COX.scaled(0.95), *services[1:]] if fault == "service" else services
    other = SOURCES["poisson"] if fault == "source" else source
    found = simulate(SimulatedRouting(slower, other, word, WEIGHTS), time=10000.0, replications=30, seed=6)
    apart = deviations(found, source, services)
    assert max(map(abs, apart)) > joint_limit(len(apart), 29, WRONG)


def test_a_source_that_hardly_ever_changes_begins_where_arrivals_find_it():
    """Phases last 1e9 slots, so every replication sees one of them; most packets come in the fast one."""
    source = MarkovArrivals(BMAP.mmpp([[-1e-9, 1e-9], [1e-9, -1e-9]], [1.0, 9.0]))
    found = simulate(SimulatedRouting([1.0], source, [0]), time=400.0, replications=2000, seed=7)
    assert found.losses().covers(0.1 * 1 / 2 + 0.9 * 9 / 10, confidence=0.999)
    assert found.losses().covers(word_cost(loss_costs(source, [1.0]), [0]), confidence=0.999)


def test_the_same_seed_gives_the_same_answer_in_pieces_of_any_size():
    routing = SimulatedRouting(SERVICES["phases"], SOURCES["mmpp"], WORD)
    one = simulate(routing, time=500.0, replications=3, seed=1)
    again = [seen for seen in islice(replicate(routing, time=500.0, seed=1, step=7), 1000) if seen is not None][:3]
    assert np.array_equal(one.observations, [seen.observation for seen in again])
    assert not np.array_equal(one.observations, simulate(routing, time=500.0, replications=3, seed=2).observations)


def test_time_is_that_of_so_many_packets():
    routing = SimulatedRouting(SERVICES["rates"], SOURCES["constant"], WORD)
    time = usual_time(routing, 1200)
    (seen,) = (one for one in islice(replicate(routing, time=time), 3) if one is not None)
    assert seen.events == 1200 + len(WORD)
    assert seen.observation[:2] * time == pytest.approx([1200, 960])


def test_what_is_rarer_than_could_be_seen():
    source = SOURCES["constant"]
    often = SimulatedRouting([1.0, 2.0], source, [0, 1])
    assert resolution_of(often, 1e4, freshness=True) == resolution_of(often, 1e4, freshness=False) == 0
    rare = SimulatedRouting([1e-5, 2.0], source, [0, 1], [3.0, 1.0])
    assert resolution_of(rare, 1e4, freshness=False) == pytest.approx(3 * 0.8 / 1e4)
    assert resolution_of(rare, 1e4, freshness=True) == pytest.approx(3 * 1.6 / 1e4)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: SimulatedRouting([], SOURCES["poisson"], []), "services must not be empty, but there is no server"),
        (lambda: SimulatedRouting([1.0], SOURCES["poisson"], [0, 1]), "servers from 0 to 0, but it is"),
        (lambda: SimulatedRouting([0.0], SOURCES["poisson"], [0]), r"services\[0\] must be a finite number above 0"),
        (lambda: SimulatedRouting([1.0], SOURCES["poisson"], [0], [1.0, 2.0]), "there are 1 and 2"),
        (lambda: SimulatedRouting([1.0], BMAP.poisson(1.0), [0]), "but BMAP is none"),
    ],
)
def test_what_is_wrong_gets_one_sentence(make, words):
    with pytest.raises(ValueError, match=words) as told:
        make()
    assert str(told.value).endswith(".") and "\n" not in str(told.value)


def test_nothing_is_shared_with_the_evaluators():
    """Only names of data are imported from modules that know transforms."""
    tree = ast.parse(Path(queueing.routing.simulation.runs.__file__).read_text())
    taken = {
        node.module: {name.name for name in node.names} for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
    }
    assert not {"costs", "cost_tables", "residual_service"} & taken.keys()
    assert taken["arrivals"] == {"Arrivals", "MarkovArrivals", "RenewalArrivals", "Service", "TraceArrivals"}
    assert taken["processes"] == {"Constant", "PhaseType", "not_negative_numbers"}
