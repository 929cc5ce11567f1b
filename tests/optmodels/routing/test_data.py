"""Reading and writing instances of kind "routing": every complaint is one sentence that names its place."""

import json
import math
import re

import numpy as np
import pytest

from optmodels.data import read_as
from optmodels.errors import InstanceError, RequestError
from optmodels.instance import Instance
from optmodels.routing import RoutingProblem
from optmodels.routing.arrivals import Source, write_arrivals
from optmodels.routing.horizon import RoutingHorizonProblem
from optmodels.testing import check_problem
from queueing import BMAP
from queueing.processes import Exponential
from queueing.routing import MarkovArrivals, RenewalArrivals, TraceArrivals

POISSON = {"law": "poisson", "rate": 2.0}
PLAIN = {"servers": [{"rate": 1.0}, {"rate": 3.0}], "arrivals": POISSON, "application": "loss"}
LAW = {"initial": [0.5, 0.5], "generator": [[-2.0, 1.0], [0.0, -3.0]]}
SOURCES = [
    POISSON,
    {"law": "deterministic", "interval": 0.5},
    {"law": "samples", "values": [0.0, 1.0, 2.5]},
    {"law": "trace", "values": [0.0, 1.0, 2.5]},
    {"law": "map", "D0": [[-3.0, 0.5], [0.25, -0.75]], "D1": [[2.0, 0.5], [0.0, 0.5]]},
    {"law": "erlang", "stages": 3, "mean": 2.0},
    {"law": "hyperexponential", "probabilities": [0.25, 0.75], "means": [4.0, 1.0]},
    {"law": "phase-type", **LAW},
]
COSTS = [
    {"gap_cost": "power", "factor": 2.0, "exponent": 1.5},
    {"gap_cost": "linear-exponential", "linear": 0.5, "constant": -1.0, "factor": 2.0, "decay": 0.25},
    {"gap_cost": "table", "values": [3.0, 2.0, 1.5], "slope": 0.5},
]


def instance(data):
    content = {"format": 1, "kind": "routing", "name": "servers", "data": data}
    return Instance.from_data(json.loads(json.dumps(content))).problem()


def read_arrivals(source):
    return read_as(Source, source, "data.arrivals")


# -- what is read ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source["law"])
def test_a_source_survives_the_way_to_a_file_and_back(source):
    read = read_arrivals(source)
    assert write_arrivals(read) == source
    assert read_arrivals(write_arrivals(read)).mean == read.mean


def test_sources_are_those_of_the_queueing_package():
    assert read_arrivals(POISSON) == RenewalArrivals(Exponential(0.5))
    assert isinstance(read_arrivals(SOURCES[3]), TraceArrivals)
    mmpp = read_arrivals({"law": "mmpp", "generator": [[-1.0, 1.0], [2.0, -2.0]], "rates": [3.0, 0.0]})
    assert isinstance(mmpp, MarkovArrivals)
    assert mmpp.process == BMAP.mmpp([[-1.0, 1.0], [2.0, -2.0]], [3.0, 0.0])
    assert mmpp.mean == pytest.approx(1 / 2.0)  # two thirds of the time at rate 3


@pytest.mark.parametrize("rate", [0.1, 1 / 3, 3.7, 49.0, 1e-7, 123456.789])
def test_a_rate_of_packets_is_written_so_that_it_is_read_back_to_the_same_source(rate):
    once = read_arrivals({"law": "poisson", "rate": rate})
    written = write_arrivals(once)
    assert read_arrivals(written) == once
    assert written.get("rate", 1 / written.get("mean", 1)) == pytest.approx(rate, rel=1e-15)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"period": 4},
        {"max_period": 5},
        {"horizon": 5, "initial": [1, None]},
        {"application": "freshness"},
        {"servers": [{"rate": 1.0, "weight": 0.25}, {"service": LAW}]},
        {"servers": [{"rate": 1.0}]},
        *({"arrivals": source} for source in SOURCES),
    ],
    ids=lambda more: str(more)[:30],
)
def test_a_problem_keeps_the_rules_of_the_house_and_survives_a_file(more):
    check_problem(instance(PLAIN | more), decisions=6)


@pytest.mark.parametrize("cost", COSTS, ids=lambda cost: cost["gap_cost"])
def test_costs_of_gaps_survive_a_file(cost):
    problem = instance({"servers": [cost, {"gap_cost": "table", "values": [1.0]}], "period": 4})
    assert problem.to_data()["servers"][0] == cost
    check_problem(problem, decisions=6)


def test_which_problem_a_file_stands_for():
    free, fixed = instance(PLAIN | {"period": None, "max_period": None}), instance(PLAIN | {"period": 3})
    assert type(instance(PLAIN)) is type(free) is type(fixed) is RoutingProblem
    assert (free.period, free.max_period, fixed.period, fixed.relaxed().period) == (None, None, 3, None)
    assert type(instance(PLAIN | {"horizon": 3, "initial": [1, 1]})) is RoutingHorizonProblem


def test_weights_multiply_what_servers_cost():
    one = instance(PLAIN | {"servers": [{"rate": 1.0}, {"rate": 3.0, "weight": 2.5}]}).costs.table(9)
    assert one == pytest.approx(instance(PLAIN).costs.table(9) * np.array([[1.0], [2.5]]), rel=1e-15)


# -- what is refused ---------------------------------------------------------------------------------------------------

MANY = [{"rate": 1.0}] * 1001


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"arrivals": POISSON, "application": "loss"}, "data.servers is missing; list the servers, one at least."),
        (PLAIN | {"servers": []}, "data.servers is []; list the servers, one at least."),
        (PLAIN | {"servers": {"rate": 1}}, "list the servers, one at least."),
        (PLAIN | {"servers": MANY}, "1000 servers at most are routed to, and here are 1001."),
        (PLAIN | {"servers": ["3"]}, 'data.servers[0] is "3"; a server is {"rate": x}'),
        (PLAIN | {"servers": [3, -1]}, "data.servers[1] is -1; rates are finite numbers above 0."),
        (PLAIN | {"servers": [{}]}, "data.servers[0] is {}; a server is"),
        (PLAIN | {"servers": [{"rate": 1, "service": LAW}]}, 'a server is {"rate": x}, {"service": phase-type law}'),
        (PLAIN | {"servers": [{"rate": 0}]}, "data.servers[0].rate is 0; rates are finite numbers above 0."),
        (PLAIN | {"servers": [{"rate": 1}, {"rate": -2}]}, "data.servers[1].rate is -2; rates are finite numbers"),
        (PLAIN | {"servers": [{"rate": True}]}, "data.servers[0].rate is true"),
        (PLAIN | {"servers": [{"rate": 1, "weigth": 2}]}, "data.servers[0].weigth is 2; no such field"),
        (PLAIN | {"servers": [{"rate": 1, "weight": -1}]}, "data.servers[0].weight is -1; weights are finite numbers"),
        (PLAIN | {"servers": [{"service": {"initial": [1]}}]}, "data.servers[0].service.generator is missing"),
        (
            PLAIN | {"servers": [{"service": {"initial": [1], "generator": [[1]]}}]},
            "data.servers[0].service.generator[0] is",
        ),
        (PLAIN | {"servers": [{"rate": 1}, COSTS[0]]}, "data.servers[1] is {"),
        (PLAIN | {"servers": [COSTS[0]]}, "data.arrivals is {"),
        ({"servers": [COSTS[0]], "application": "loss"}, "servers have gap costs of their own; leave it out."),
        (
            PLAIN | {"server": []},
            "data.server is []; no such field (did you mean 'servers'?); known are application, arrivals",
        ),
        ({"servers": [{"rate": 1}], "application": "loss"}, "data.arrivals is missing; the source of packets"),
        ({"servers": [{"rate": 1}], "arrivals": POISSON}, 'data.application is missing; say "loss" or "freshness".'),
        (PLAIN | {"application": "fresh"}, 'data.application is "fresh"; the application is "loss" or "freshness".'),
        (PLAIN | {"period": 0}, "data.period is 0; periods are whole numbers of slots from 1 to 10000."),
        (PLAIN | {"period": 2.5}, "data.period is 2.5; periods are whole numbers"),
        (PLAIN | {"period": 100_000}, "data.period is 100000; periods are whole numbers of slots from 1 to 10000."),
        (PLAIN | {"max_period": 0}, "data.max_period is 0; periods are whole numbers of slots from 1 to 1000."),
        (
            PLAIN | {"period": 4, "max_period": 5},
            "data.max_period is 5; the period is fixed at 4; give one of the",
        ),
        (PLAIN | {"horizon": 4}, "data.initial is missing; list for each server how many slots ago"),
        (PLAIN | {"initial": [1, 1]}, "data.horizon is missing; an initial state is that of a finite horizon"),
        (PLAIN | {"horizon": 0, "initial": [1, 1]}, "data.horizon is 0; the horizon is a whole number of slots"),
        (PLAIN | {"horizon": 10**6, "initial": [1, 1]}, "data.horizon is 1000000; the horizon is a whole number"),
        (PLAIN | {"horizon": 4, "initial": [1]}, "data.initial is [1]; each of the 2 servers needs a gap"),
        (PLAIN | {"horizon": 4, "initial": 1}, "data.initial is 1; this is a list, one gap for each server."),
        (PLAIN | {"horizon": 4, "initial": [1, 0]}, "data.initial[1] is 0; gaps are whole numbers of slots from 1"),
        (PLAIN | {"horizon": 4, "initial": [1, 1.5]}, "data.initial[1] is 1.5; gaps are whole numbers"),
        (
            PLAIN | {"horizon": 4, "initial": [1, None], "application": "freshness"},
            "data.initial[1] is null; null stands for a server never used",
        ),
        (
            {"servers": [COSTS[0]], "horizon": 4, "initial": [None]},
            "data.initial[0] is null; null stands for a server never used",
        ),
        (PLAIN | {"horizon": 4, "initial": [1, 1], "period": 2}, "data.period is 2; a finite horizon has no period"),
        (
            PLAIN | {"servers": MANY[:1000], "horizon": 100_000, "initial": [1] * 1000},
            "data.horizon is 100000; gaps of up to 100001 slots at 1000 servers make a table",
        ),
    ],
    ids=lambda value: value[:60] if isinstance(value, str) else None,
)
def test_data_that_make_no_sense_are_refused_in_one_sentence(data, sentence):
    with pytest.raises(InstanceError) as refused:
        RoutingProblem.from_data(data)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("3", 'data.arrivals is "3"; arrivals are an object such as'),
        (-3, "data.arrivals is -3; rates are finite numbers above 0."),
        ({}, "data.arrivals.law is missing; arrivals are an object"),
        ({"law": "poison", "rate": 1}, "there is no such law. Did you mean 'poisson'?"),
        ({"law": 3}, "data.arrivals.law is 3; there is no such law. Known: constant, deterministic"),
        ({"law": "poisson"}, "data.arrivals.rate is missing; law 'poisson' needs it."),
        ({"law": "poisson", "rate": 0}, "data.arrivals.rate is 0; rates are finite numbers above 0."),
        ({"law": "poisson", "rate": 1, "mean": 1}, "data.arrivals.mean is 1; no such field; known are law, rate."),
        (
            {"law": "deterministic", "interval": -1},
            "data.arrivals.interval is -1; intervals are finite numbers above",
        ),
        ({"law": "samples", "values": []}, "data.arrivals.values is []; this is a list of numbers."),
        ({"law": "samples", "values": [1, -1]}, "data.arrivals.values[1] is -1.0; times between arrivals are zero or"),
        ({"law": "trace", "values": [0, 0]}, "data.arrivals.values is [0, 0]; one time at least is above 0."),
        ({"law": "trace", "values": [1.0] * 100_001}, "a trace has 100000 times at most, and here are 100001."),
        ({"law": "mmpp", "generator": [[-1, 1], [1, -1]], "rates": [1]}, "each of the 2 phases needs a rate"),
        ({"law": "mmpp", "generator": [[-1, 1], [1, -1]], "rates": [1, -1]}, "data.arrivals.rates[1] is -1.0"),
        (
            {"law": "mmpp", "generator": [[-1, 1], [1, -2]], "rates": [1, 1]},
            "data.arrivals.generator[1] is [1.0, -2.0",
        ),
        ({"law": "mmpp", "generator": [[-1, 1], [0, 0]], "rates": [1, 1]}, "must let every state reach every other"),
        ({"law": "mmpp", "generator": [[-1, 1], [1, -1]], "rates": [0, 0]}, "D1 is zero and nothing ever arrives"),
        ({"law": "map", "D0": [[-1]]}, "data.arrivals.D1 is missing; law 'map' needs it."),
        ({"law": "map", "D0": [[-1]], "D1": [[1, 0], [0, 1]]}, "D1 has as many rows as D0, 1."),
        ({"law": "map", "D0": [[-1]], "D1": [[-1]]}, "data.arrivals.D1[0][0] is -1.0; rates are zero or more"),
        (
            {"law": "map", "D0": [[-2, 1], [1, -3]], "D1": [[1, 0], [0, 1]]},
            "data.arrivals.D0[1] is [1.0, -3.0]; the rates of this row, summed over D0 and D1, make -1.0 and must make",
        ),
        ({"law": "map", "D0": [[-1, 0], [0, -1]], "D1": [[1, 0], [0, 1]]}, "must let every state reach every other"),
        ({"law": "map", "D0": np.diag([-1.0] * 101).tolist(), "D1": np.eye(101).tolist()}, "100 phases at most"),
    ],
    ids=lambda value: value[:60] if isinstance(value, str) else None,
)
def test_sources_that_make_no_sense_are_refused_in_one_sentence(source, sentence):
    with pytest.raises(InstanceError) as refused:
        RoutingProblem.from_data(PLAIN | {"arrivals": source})
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("cost", "sentence"),
    [
        ({"gap_cost": 3}, "data.servers[0].gap_cost is 3; name one of linear-exponential, power, table."),
        ({"gap_cost": "powr"}, "no gap cost is called 'powr'. Did you mean 'power'?"),
        ({"gap_cost": "power", "exponents": 2}, "gap cost 'power' takes factor=1.0, exponent=2.0."),
        ({"gap_cost": "power", "exponent": "2"}, 'data.servers[0].exponent is "2"; this field is a number.'),
        ({"gap_cost": "power", "exponent": 0.5}, "gap cost 'power' says: factor must be 0 or more and exponent 1"),
        ({"gap_cost": "power", "exponent": 400}, "must be a finite number"),
        ({"gap_cost": "linear-exponential", "factor": -1}, "factor must be 0 or more, got -1."),
        ({"gap_cost": "table"}, "data.servers[0].values is missing; gap cost 'table' takes values (required)"),
        ({"gap_cost": "table", "values": []}, "values must be a list of numbers, one at least"),
        ({"gap_cost": "table", "values": [1, "a"]}, "values[1] must be a finite number, got 'a'."),
        ({"gap_cost": "table", "values": [1, 2, 2.5]}, "data.servers is [{"),
        ({"gap_cost": "table", "values": [3, 2, 2]}, None),
        ({"gap_cost": "table", "values": [3, 4]}, "Costs of gaps must be convex, but server 0 has f(1) = 3.0"),
        ({"gap_cost": "power", "weight": 2}, "data.servers[0].weight is 2; gap cost 'power' takes"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_costs_of_gaps_that_make_no_sense_are_refused_in_one_sentence(cost, sentence):
    if sentence is None:
        assert RoutingProblem.from_data({"servers": [cost]}).costs.table(4)[0].tolist() == [3.0, 2.0, 2.0, 2.0]
        return
    with pytest.raises(InstanceError) as refused:
        RoutingProblem.from_data({"servers": [cost]})
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_cost_without_a_name_cannot_be_written():
    problem = RoutingProblem.of_costs([lambda n: n * n], slopes=[math.inf])
    with pytest.raises(RequestError, match=re.escape("registry.gap_costs.register('my-cost'")):
        problem.to_data()


def test_functions_that_are_not_convex_are_refused():
    with pytest.raises(ValueError, match=r"Costs of gaps must be convex, but server 1 has f\(1\)"):
        RoutingProblem.of_costs([lambda n: n * n, lambda n: math.sqrt(n)])
