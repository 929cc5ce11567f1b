"""Constructors of problems: what Python gives, what is wrong with it, and what `dataclasses.replace` makes."""

import dataclasses
import json
import pickle
import subprocess
import sys
from functools import cache
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import optmodels as om
from optmodels.data import plain, shared
from optmodels.instance import read_instance
from queueing import BMAP, Mode, PhaseType

ROOT = Path(__file__).parents[3]
SHIPPED = sorted((ROOT / "instances").glob("*/*.json"))
#: One instance of each class, and of each form of it.
FORMS = [
    "placement/gautam-4x4",
    "placement/germany50",
    "threshold/avrachenkov-k5",
    "threshold/inria-batches-mended",
    "robots/talim-fig3",
    "robots/fleet-all-small",
    "robots/fleet-classes-2",
    "robots/areas-3",
    "freshness/coffman-4",
    "freshness/zipf-hosts-200",
    "freshness/robots-3",
    "routing/loss-3",
    "routing/phase-type-3",
    "routing/map-3",
    "routing/trace-3",
    "routing/horizon-40",
]
CLASSES = {
    "placement": om.PlacementProblem,
    "threshold": om.ThresholdProblem,
    "robots": om.RobotsProblem,
    "freshness": om.FreshnessProblem,
    "routing": om.RoutingProblem,
}


@cache
def instance(name):
    return read_instance(ROOT / "instances" / f"{name}.json")


@cache
def of(name):
    return om.load(ROOT / "instances" / f"{name}.json")


def natural(value):
    """What a file holds as a Python user would have it: arrays for lists of numbers, laws for objects."""
    if isinstance(value, dict):
        found = {name: natural(entry) for name, entry in value.items()}
        law = found.pop("law", None)
        made = None if law is None else getattr(om, law.replace("-", "_"), None)
        if made is not None:
            return made(**found)
        if set(found) == {"initial", "generator"}:
            return om.phase_type(**found)
        return found if law is None else {"law": law, **found}
    if isinstance(value, list):
        if value and all(type(entry) in (int, float) for entry in value):
            return np.array(value)
        entries = [natural(entry) for entry in value]
        same = all(isinstance(entry, np.ndarray) and entry.shape == entries[0].shape for entry in entries)
        return np.array(entries) if entries and same else entries
    return value


def beside(content):
    told = {"name": content.name, "cost": content.cost, "limits": content.limits}
    return {name: value for name, value in told.items() if value is not None}


def same(first, second):
    assert type(first) is type(second)
    assert first.to_data() == second.to_data()
    assert (first.name, first.cost, first.limits) == (second.name, second.cost, second.limits)
    assert (first == second, hash(first)) == (True, hash(second))


# -- every instance ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_constructors_make_what_files_make(file):
    content = read_instance(file)
    read = content.problem(folder=file.parent)
    made = CLASSES[content.kind](**natural(content.data), **beside(content))
    same(made, read)
    same(type(read)(**natural(read.to_data()), **beside(content)), read)
    same(dataclasses.replace(read), read)


@pytest.mark.parametrize("name", FORMS)
def test_best_known_decisions_are_evaluated_alike(name):
    content = instance(name)
    best = content.best_known.decision
    made = CLASSES[content.kind](**natural(content.data), **beside(content))
    assert om.evaluate(made, natural(best)).objective == om.evaluate(of(name), best).objective


@pytest.mark.parametrize("name", FORMS)
def test_problems_are_pickled_and_cannot_be_changed(name):
    problem = of(name)
    same(pickle.loads(pickle.dumps(problem)), problem)
    with pytest.raises(dataclasses.FrozenInstanceError, match="make another by dataclasses"):
        problem.name = "another"
    assert repr(problem).startswith(f"{type(problem).__name__}(")
    assert len(repr(problem)) < 1500


# -- replace ----------------------------------------------------------------------------------------------------------

CHANGES = {
    "placement/gautam-4x4": {
        "demand": np.arange(16).reshape(4, 4),
        "opening_cost": np.arange(16.0),
        "operating_cost": 0.5,
        "service_rate": 30,
        "processors": np.full((4, 4), 2),
        "think_time": {"by_distance": np.linspace(1.0, 2.0, 7)},
        "quality": {"min_throughput": 0.1, "max_delay_probability": 0.5, "delay": 0.9},
    },
    "placement/germany50": {"demand": np.ones(50), "network": nx.path_graph(50), "service_rate": np.full(50, 99.0)},
    "threshold/avrachenkov-k5": {
        "capacity": 7,
        "service": om.exponential(0.2),
        "patience": None,
        "modes": [{"robots": 1, "arrivals": om.poisson(1.0)}, {"robots": 2, "arrivals": 2.0}],
        "admission": "complete",
        "use_all_modes": True,
    },
    "robots/talim-fig3": {"robots": 3, "capacity": 9, "arrival_rate": 0.5, "service_rate": 2, "switching": "any"},
    "robots/fleet-erlang": {"travel_time": om.erlang(3, 2.0), "robots": 2},
    "robots/fleet-environment": {"environment": {"generator": [[-1, 1], [2, -2]], "factors": [1, 0.5]}, "capacity": 4},
    "robots/fleet-classes-2": {"classes": [{"robots": 1, "arrival_rate": 0.3}, {"robots": 2, "arrival_rate": 0.2}]},
    "robots/areas-3": {
        "robots": 4,
        "control": "static",
        "areas": [{"capacity": 3, "arrival_rate": 0.4, "service_rate": 1.0}],
    },
    "freshness/zipf-hosts-200": {
        "change_rates": np.full(200, 0.5),
        "weights": "change-rates",
        "access_time": 0.25,
        "hosts": np.arange(200) // 4,
        "urls": [f"page {index}" for index in range(200)],
        "host_caps": 0.9,
        "host_gap": 3,
        "min_frequency": 1e-4,
        "robots": 2,
    },
    "routing/loss-3": {
        "servers": np.array([1.0, 2.0]),
        "arrivals": om.mmpp([[-1, 1], [1, -1]], [1, 3]),
        "application": "freshness",
        "period": 4,
        "max_period": 7,
    },
    "routing/horizon-40": {"horizon": 12},
}


@pytest.mark.parametrize(("name", "field"), [(name, field) for name, found in CHANGES.items() for field in found])
def test_replace_makes_what_is_made_from_scratch(name, field):
    content, problem = instance(name), of(name)
    problem.evaluate(problem.space.sample(np.random.default_rng(0)))  # fills what is kept of earlier answers
    value = CHANGES[name][field]
    changed = dataclasses.replace(problem, **{field: value})
    data = {key: entry for key, entry in content.data.items() if key != field}
    scratch = CLASSES[content.kind](**data, **{field: value}, **beside(content))
    if type(problem) is type(scratch):
        same(changed, scratch)
    assert changed.to_data() == scratch.to_data() != problem.to_data()
    decision = scratch.space.sample(np.random.default_rng(1))
    assert changed.evaluate(decision) == scratch.evaluate(decision)


@pytest.mark.parametrize("name", FORMS)
def test_replace_takes_names_costs_and_limits(name):
    problem = of(name)
    measure = "starvation" if problem.kind == "robots" else problem.measure_names[0]
    named = dataclasses.replace(problem, name="other")
    assert named != problem != dataclasses.replace(problem, cost={measure: 7.5}) != problem.to_data()
    assert (named.name, named.to_data()) == ("other", problem.to_data())
    priced = dataclasses.replace(problem, cost={measure: 2})
    assert priced.cost.weights[measure] == 2
    filed = dataclasses.replace(problem, cost={"name": "weighted-sum", "weights": {measure: np.float64(2)}})
    assert filed.cost == priced.cost
    assert dataclasses.replace(problem, limits={measure: 3.0}).limits.to_data() == {measure: {"max": 3.0}}


def test_the_shape_is_that_of_a_nested_demand_or_another():
    problem = of("placement/gautam-4x4")
    wide = dataclasses.replace(problem, shape=(2, 8))
    assert wide.to_data()["demand"] == problem.demand.reshape(2, 8).tolist()
    assert wide.think_times.shape[1] == 9
    data = {name: value for name, value in instance("placement/gautam-4x4").data.items() if name != "shape"}
    assert om.PlacementProblem(**data).shape == (4, 4)


def test_replace_makes_tables_anew():
    problem = of("placement/germany50")
    path = dataclasses.replace(problem, network=nx.path_graph(50))
    assert problem.think_times.shape[1] < path.think_times.shape[1] == 50
    wide = dataclasses.replace(problem, service_rate=1e3)
    assert (wide.capacity >= problem.capacity).all() and (wide.capacity > problem.capacity).any()


def test_one_number_for_all_sites_holds_for_another_number_of_them():
    quality = {"min_throughput": 0.6, "max_delay_probability": 0.2, "delay": 0.6}
    small = om.PlacementProblem(
        demand=np.ones((2, 3)),
        opening_cost=np.ones((2, 3)),
        service_rate=20,
        think_time={"base": 0.8, "per_distance": 0.2},
        quality=quality,
    )
    larger = dataclasses.replace(small, shape=None, demand=np.ones((3, 3)), opening_cost=np.ones((3, 3)))
    assert (larger.shape, larger.service_rate.tolist()) == ((3, 3), [20.0] * 9)


def test_problems_that_differ_in_cost_share_their_queue():
    problem = of("threshold/avrachenkov-k5")
    assert dataclasses.replace(problem, cost=None).queue is problem.queue
    assert dataclasses.replace(problem, capacity=4).queue is not problem.queue
    routing = of("routing/phase-type-3")
    assert dataclasses.replace(routing, cost=None, period=3).routing is routing.routing


def test_shared_values_are_made_again_where_a_part_has_no_hash():
    assert shared(frozenset, (1, 2)) is not None
    first, second = (shared(np.ndarray, [2, 2]) for _ in range(2))
    assert first is not second


def test_forms_of_one_kind_become_one_another():
    base = of("robots/talim-fig3")
    fleet = dataclasses.replace(base, switching="any")
    assert type(fleet).__name__ == "RobotFleetProblem"
    area = {"capacity": 3, "arrival_rate": 0.4, "service_rate": 1.0}
    areas = dataclasses.replace(base, capacity=None, arrival_rate=None, service_rate=None, switching=None, areas=[area])
    assert type(areas).__name__ == "RobotAreasProblem"
    again = dataclasses.replace(areas, areas=None, control=None, **area)
    assert type(again) is type(base)
    word = of("routing/loss-3")
    once = dataclasses.replace(word, horizon=5, initial=[1, 2, None])
    assert type(once).__name__ == "RoutingHorizonProblem"
    assert dataclasses.replace(once, horizon=None, initial=None).to_data() == word.to_data()


# -- what is natural --------------------------------------------------------------------------------------------------


def test_numbers_stand_for_laws_where_they_can_mean_one_thing():
    pages = om.FreshnessProblem(change_rates=[1, 2, 5], weights=np.ones(3), access_time=0.1)
    assert pages.to_data()["access_time"] == {"law": "constant", "value": 0.1}
    routing = om.RoutingProblem(servers=[1, np.float64(2), om.erlang(2, 0.5)], arrivals=1, application="loss")
    data = routing.to_data()
    assert data["servers"][:2] == [{"rate": 1.0}, {"rate": 2.0}]
    assert data["arrivals"] == {"law": "poisson", "rate": 1.0}
    assert routing.servers[2].service.mean == pytest.approx(0.5)
    assert len(routing.servers) == routing.server_count == 3


def test_arrays_that_were_given_may_be_changed_later():
    rates, prices = np.array([1.0, 2.0]), np.ones((1, 2))
    pages = om.FreshnessProblem(change_rates=rates, weights=rates, access_time=1.0)
    rates[:] = 9.0
    assert pages.change_rates.tolist() == [1.0, 2.0]
    problem = dataclasses.replace(of("placement/gautam-2x3"), opening_cost=np.arange(6.0))
    assert problem.opening_cost.tolist() == [0, 1, 2, 3, 4, 5]
    assert plain({"a": prices}) == {"a": [[1.0, 1.0]]}


def test_graphs_are_networks():
    graph = nx.Graph([("a", "b"), ("b", "c")])
    data = instance("placement/germany50").data
    fields = {name: data[name] for name in ("service_rate", "think_time", "quality")}
    problem = om.PlacementProblem(network=graph, demand=[1, 2, 3], opening_cost=[1, 1, 1], **fields)
    assert problem.to_data()["network"] == {"nodes": 3, "edges": [[0, 1], [1, 2]]}
    with pytest.raises(om.RequestError, match=r"^network is .*give an undirected graph"):
        om.PlacementProblem(network=nx.DiGraph([(0, 1)]), demand=[1, 2], opening_cost=[1, 1], **fields)
    with pytest.raises(om.RequestError, match=r"^network\.nodes is 0; the number of nodes"):
        om.PlacementProblem(network=nx.Graph(), demand=[1, 2], opening_cost=[1, 1], **fields)


def test_modes_are_given_ready_made_too():
    fields = {"capacity": 3, "service": PhaseType.exponential(2.0), "patience": om.exponential(mean=10)}
    ready = om.ThresholdProblem(modes=[Mode(1, BMAP.poisson(0.5)), Mode(2, BMAP.poisson(1.5))], **fields)
    named = om.ThresholdProblem(
        modes=[{"robots": 1, "arrivals": 0.5}, {"robots": 2, "arrivals": om.poisson(1.5)}], **fields
    )
    same(ready, named)
    assert ready.patience.mean == 10
    robots = {"independent": [[[[-0.5]], [[0.5]]], om.poisson(1.0)]}
    assert [mode.arrivals.rate for mode in om.ThresholdProblem(modes=robots, **fields).modes] == [0.5, 1.5]


def test_tables_of_pages_are_given_by_their_path(tmp_path, monkeypatch):
    for name, values in (("change_rate", [0.5, 0.25]), ("weight", [1.0, 2.0])):
        np.save(tmp_path / f"{name}.npy", np.array(values))
    problem = om.FreshnessProblem(pages=tmp_path, access_time=1.0)
    assert problem.columns.weights.tolist() == [1.0, 2.0]
    changed = dataclasses.replace(problem, weights="change-rates", robots=2)
    assert changed.columns.weights.tolist() == [0.5, 0.25]
    monkeypatch.setattr("optmodels.freshness.data.LARGE", 1)
    large = om.FreshnessProblem(pages=tmp_path, access_time=1.0)
    assert type(large).__name__ == "LargeFreshnessProblem"
    assert dataclasses.replace(large, tell=None, robots=1).engine is large.engine
    held = dataclasses.replace(large, min_frequency=0.1)
    assert type(held) is om.FreshnessProblem
    assert om.evaluate(held, [0.5, 0.5]).objective == pytest.approx(om.evaluate(problem, [0.5, 0.5]).objective)


# -- what is wrong ----------------------------------------------------------------------------------------------------

WRONG = {
    "text": "nonsense",
    "object": object(),
    "nan": float("nan"),
    "array of nan": np.array([np.nan]),
    "negative": -3,
    "set": {1, 2},
    "function": len,
    "number of none": [None, None],
    "ragged": [[1.0, 2.0], [3.0]],
    "cube": np.ones((2, 2, 2)),
    "complex": 1j,
    "texts": np.array(["a", "b"]),
    "dates": np.array(["2020-01-01"], dtype="datetime64[D]"),
    "unknown object": {"nobody": "knows"},
    "odd keys": {1: 2},
    "law of arrivals": om.poisson(1.0),
    "empty": [],
}
NAMED = {"name": {"text"}, "cost": {"function"}, "pages": set(), "arrivals": {"law of arrivals"}}


def cases():
    for name in FORMS:
        problem = of(name)
        for field in dataclasses.fields(problem):
            if field.name in instance(name).data or field.name in ("name", "cost", "limits"):
                yield from ((name, field.name, wrong) for wrong in WRONG if wrong not in NAMED.get(field.name, ()))


@pytest.mark.parametrize(("name", "field", "wrong"), list(cases()))
def test_wrong_values_are_told_in_a_sentence_that_names_the_field(name, field, wrong):
    with pytest.raises(om.RequestError) as refused:
        dataclasses.replace(of(name), **{field: WRONG[wrong]})
    sentence = str(refused.value)
    assert sentence.startswith(field), sentence
    assert sentence.endswith((".", "..."))
    assert "pydantic" not in sentence and "data." not in sentence


NEEDED = {
    "placement/gautam-4x4": ("demand", "opening_cost", "service_rate", "think_time", "quality"),
    "threshold/avrachenkov-k5": ("capacity", "service", "patience", "modes"),
    "robots/talim-fig3": ("robots", "capacity", "arrival_rate", "service_rate"),
    "robots/areas-3": ("robots",),
    "freshness/coffman-4": ("change_rates", "weights", "access_time"),
    "routing/loss-3": ("servers", "arrivals", "application"),
    "routing/horizon-40": ("horizon", "initial"),
}


@pytest.mark.parametrize(("name", "field"), [(name, field) for name, found in NEEDED.items() for field in found])
def test_fields_that_are_needed_are_missed_by_name(name, field):
    content = instance(name)
    given = {key: value for key, value in content.data.items() if key != field}
    with pytest.raises(om.RequestError, match=f"^{field} is missing; "):
        CLASSES[content.kind](**given, **beside(content))


#: Room for all, pages that never go out of date, as many robots as ever help.
SAYING = {("threshold", "capacity"), ("threshold", "patience"), ("robots", "robots")}


@pytest.mark.parametrize(("name", "field"), [(name, field) for name, found in NEEDED.items() for field in found])
def test_none_is_refused_by_name_unless_it_says_something(name, field):
    content = instance(name)
    if (content.kind, field) in SAYING and name != "robots/areas-3":
        assert CLASSES[content.kind](**content.data | {field: None}, **beside(content)).to_data()[field] is None
        return
    with pytest.raises(om.RequestError, match=rf"^{field} is (missing|null)"):
        CLASSES[content.kind](**content.data | {field: None}, **beside(content) | {"limits": None})


def test_what_is_no_field_is_refused_with_the_nearest_one():
    with pytest.raises(om.RequestError, match=r"^servrs is .* no such field. Did you mean 'servers'"):
        om.RoutingProblem(servrs=[1, 2], arrivals=1.0, application="loss")
    with pytest.raises(om.RequestError, match="the fields of RoutingProblem are given by name, such as arrivals"):
        om.RoutingProblem([1, 2], arrivals=1.0)
    with pytest.raises(om.RequestError, match=r"^cost\.weights\.lost is 1; kind 'routing' has no such measure"):
        om.RoutingProblem(servers=[1, 2], arrivals=1.0, application="loss", cost={"lost": 1})
    with pytest.raises(om.RequestError, match=r"^demand\[1\]\[0\] is -2; demands are whole numbers, zero or more\."):
        dataclasses.replace(of("placement/gautam-2x3"), demand=[[1, 2, 3], [-2, 1, 1]])


# -- short forms in files ---------------------------------------------------------------------------------------------


def test_short_forms_stand_in_files_and_are_written_long(tmp_path, capsys):
    from optmodels.cli import main

    short = {"format": 1, "kind": "routing", "name": "short", "notes": "kept"}
    short |= {"data": {"servers": [1, {"rate": 2, "weight": 3}], "arrivals": 1.5, "application": "loss"}}
    file = tmp_path / "short.json"
    file.write_text(json.dumps(short))
    assert main(["check", "--normalise", str(file)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["notes"] == "kept"
    assert told["data"]["servers"] == [{"rate": 1.0}, {"rate": 2.0, "weight": 3.0}]
    assert told["data"]["arrivals"] == {"law": "poisson", "rate": 1.5}
    long = tmp_path / "long.json"
    assert main(["check", "--normalise", str(file), "--out", str(long)]) == 0
    same(om.load(long), om.load(file))
    assert main(["check", str(file), str(long), "--normalise"]) == 2
    assert main(["check", str(file), "--out", str(long)]) == 2


# -- types ------------------------------------------------------------------------------------------------------------

USER = """
from dataclasses import replace

import networkx as nx
import numpy as np

import optmodels as om

quality = {"min_throughput": 0.6, "max_delay_probability": 0.2, "delay": 0.6}
grid = om.PlacementProblem(
    demand=np.array([[4, 7, 2], [8, 3, 5]]),
    opening_cost=np.ones((2, 3)),
    service_rate=20,
    think_time={"base": 0.8, "per_distance": 0.2},
    quality=quality,
)
clients = int(replace(grid, service_rate=30).demand.sum())
network = om.PlacementProblem(
    network=nx.path_graph(3),
    demand=[1, 2, 3],
    opening_cost=[1, 1, 1],
    service_rate=[1, 2, 3.0],
    think_time={"by_distance": [1, 2, 3]},
    quality=quality,
    cost={"opening": 1.0},
    limits={"open_sites": 2},
)
pages = om.FreshnessProblem(
    change_rates=[1, 2, 5], weights=np.ones(3), access_time=0.1, hosts=[0, 0, 1], host_caps=[None, 0.5]
)
words = om.RoutingProblem(servers=[1, om.erlang(2, 1.0), {"rate": 2}], arrivals=om.poisson(1.0), application="loss")
once = om.RoutingProblem(servers=[1, 2], arrivals=1.5, application="loss", horizon=4, initial=[1, None])
modes = [{"robots": 1, "arrivals": om.poisson(1.0)}, {"robots": 2, "arrivals": [[[-2.0]], [[2.0]]]}]
queue = om.ThresholdProblem(capacity=5, service=om.exponential(1), patience=None, modes=modes, cost={"loss": 1.0})
robots = om.RobotsProblem(robots=2, capacity=3, arrival_rate=0.6, service_rate=1.0, cost={"starvation": 1.5})
"""


@pytest.mark.slow
def test_a_user_s_file_is_typed(tmp_path):
    file = tmp_path / "user.py"
    file.write_text(USER)
    exec(USER, {})
    told = [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={tmp_path}", str(file)]
    good = subprocess.run(told, cwd=ROOT, capture_output=True, text=True)
    assert good.returncode == 0, good.stdout
    file.write_text(f"{USER}\nom.RoutingProblem(servrs=[1])\nom.FreshnessProblem(access_time=[1, 2])\nom.solv\n")
    bad = subprocess.run(told, cwd=ROOT, capture_output=True, text=True).stdout
    for part in ('did you mean "servers"', 'Argument "access_time"', 'has no attribute "solv"'):
        assert part in bad
