"""What goes beyond the plain problem: shipped instances with their values, and bad input through the command line."""

import json
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

import optmodels as om
from optmodels.cli import main

INSTANCES = Path(__file__).parents[3] / "instances" / "placement"

SHIPPED = ["requests-4x4", "classes-4x4", "priorities-3x3", "scenarios-4x4", "types-4x4", "distances-9x16", "pairs-4x4"]


def shipped(name):
    instance = om.Instance.from_data(json.loads((INSTANCES / f"{name}.json").read_text()))
    return instance.problem(), instance.best_known


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_instances_have_their_values(name):
    problem, known = shipped(name)
    found = problem.evaluate(known.decision)
    assert found.feasible and found.objective == known.objective and known.proved
    assert problem.lower_bound() <= known.objective
    assert problem.infeasibility() is None
    assert problem.to_data() == type(problem).from_data(problem.to_data()).to_data()


@pytest.mark.parametrize("name", SHIPPED)
def test_nothing_near_a_shipped_optimum_is_better(name):
    """One site changed, or two exchanged: mistakes of a proof that an evaluation can see."""
    problem, known = shipped(name)
    neighbours = list(problem.space.neighbours(known.decision))
    assert len(neighbours) >= len(known.decision)
    judged = [problem.evaluate(one) for one in neighbours]
    assert min((one.objective for one in judged if one.feasible), default=np.inf) >= known.objective
    assert not all(one.feasible for one in judged)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SHIPPED if name not in ("types-4x4", "classes-4x4")])
def test_enumeration_proves_the_shipped_optimum_again(name):
    problem, known = shipped(name)
    found = om.solve(problem, "exhaustive")
    assert (found.status, found.objective) == ("optimal", known.objective)


def test_the_rarest_scenario_is_given_up():
    problem, known = shipped("scenarios-4x4")
    kept = [part.evaluate(known.decision).feasible for part in problem.parts]
    assert kept == [True, True, False]


def test_sites_of_a_matrix_serve_the_nearest_cells():
    problem, known = shipped("distances-9x16")
    told = problem.describe(known.decision)
    for cell, serving in enumerate(told["assignment"]):
        away = {site: problem.distances[site, cell] for site, is_open in enumerate(known.decision) if is_open}
        assert sorted(serving) == [site for site in away if away[site] == min(away.values())]
    shares = np.zeros(9, int)
    for cell, serving in enumerate(told["assignment"]):
        for site in serving:
            shares[site] += -(-int(problem.demand[cell]) // len(serving))
    assert [load or 0 for load in told["load"]] == shares.tolist()


def test_think_times_by_pair_are_no_function_of_the_distance():
    problem, _ = shipped("pairs-4x4")
    times = np.array(problem.think_time["by_pair"])
    alike = {}
    for (site, cell), time in np.ndenumerate(times):
        alike.setdefault(int(problem.distances[site, cell]), set()).add(float(time))
    assert any(len(some) > 1 for some in alike.values())


# -- bad input ---------------------------------------------------------------------------------------------------------


def changed(name, path, value):
    content = json.loads((INSTANCES / f"{name}.json").read_text())
    content.pop("best_known", None)
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    at = content["data"]
    for step in way:
        at = at[step]
    if value is ...:
        del at[last]
    else:
        at[last] = deepcopy(value)
    return content


@pytest.mark.parametrize(
    ("name", "path", "value", "sentence"),
    [
        ("scenarios-4x4", "scenarios.0.probability", 0.6, "probabilities sum to 1, and these to 0.9."),
        (
            "classes-4x4",
            "classes.1.demand",
            ...,
            "data.classes[1].demand is missing; a class needs its name, its demand",
        ),
        ("classes-4x4", "classes", [], "data.classes is []; classes are a list of"),
        ("requests-4x4", "requests", 0, "data.requests is 0; requests are a whole number from 1."),
        ("requests-4x4", "request_share", 1, "data.request_share is 1; a share is a number from 0, below 1."),
        ("distances-9x16", "distances.3.2", 0, "data.distances[3][2] is 0; distances are positive numbers."),
        ("distances-9x16", "distances.3.2", -1.5, "data.distances[3][2] is -1.5; distances are positive numbers."),
        ("distances-9x16", "clients", 15, "data.clients is 15; rows of distances have 16 numbers, one for each cell."),
        ("pairs-4x4", "think_time.by_pair.0.5", 0, "data.think_time.by_pair[0][5] is 0; think times are positive"),
        ("types-4x4", "server_types.0.name", ..., "data.server_types[0].name is missing; a server type needs its name"),
        ("types-4x4", "server_types.1.name", "small", 'data.server_types[1].name is "small"; every server type has'),
        ("types-4x4", "server_types", {}, "data.server_types is {}; server types are a list of"),
        ("priorities-3x3", "classes.1.priority", -1, "data.classes[1].priority is -1; priorities are whole numbers"),
        ("priorities-3x3", "processors", 3, "data.processors is 3; priorities are for sites of one processor."),
    ],
)
def test_bad_files_are_answered_in_a_sentence(name, path, value, sentence, tmp_path, capsys):
    file = tmp_path / "bad.json"
    file.write_text(json.dumps(changed(name, path, value)))
    assert main(["check", str(file)]) == 2
    told = capsys.readouterr().err
    assert sentence in told and "bad.json" in told
    assert "Traceback" not in told


def test_clients_that_no_site_reaches_are_told(tmp_path, capsys):
    """A network in two pieces is no network; where think times end, clients beyond are not served by anybody."""
    file = tmp_path / "bad.json"
    content = changed("gautam-2x3", "shape", [1, 4])
    data = {"network": {"nodes": 4, "edges": [[0, 1], [2, 3]]}, "demand": [1, 1, 1, 1], "opening_cost": [1, 1, 1, 1]}
    content["data"] = {name: value for name, value in content["data"].items() if name not in ("shape", *data)} | data
    file.write_text(json.dumps(content))
    assert main(["check", str(file)]) == 2
    assert "data.network.edges" in (told := capsys.readouterr().err) and "reach" in told
    content["data"] |= {
        "network": {"nodes": 4, "edges": [[0, 1], [1, 2], [2, 3]]},
        "think_time": {"by_distance": [1.0, 1.2]},
        "fixed_closed": [2, 3],
    }
    file.write_text(json.dumps(content))
    assert main(["solve", str(file), "--strategy", "exhaustive"]) == 3
    assert "infeasible" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("at", "sentence"),
    [
        (",".join(["0"] * 15 + ["3"]), "entry 15 is 3; it lies between 0 and 2."),
        (",".join(["0"] * 15 + ["-1"]), "entry 15 is -1; it lies between 0 and 2."),
        ("1,2", "expected 16 entries, got 2."),
        (",".join(["0.5"] * 16), "entries are whole numbers"),
    ],
)
def test_types_out_of_range_are_answered_in_a_sentence(at, sentence, capsys):
    assert main(["evaluate", str(INSTANCES / "types-4x4.json"), f"--at={at}"]) == 2
    told = capsys.readouterr().err
    assert sentence in told and "Traceback" not in told
