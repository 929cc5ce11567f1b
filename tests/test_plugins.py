"""Distributions from outside, a strategy, a cost, a kind and a solver: wheels installed with ours, found by name."""

import json
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PLUGINS = ("optmodels-tabu", "optmodels-crowding-cost", "optmodels-staffing", "optmodels-branching")
NAMES = ("tabu", "crowding", "staffing", "branching")
PER_PAIR = 2.0


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True)


def succeed(*command: str | Path, cwd: Path) -> str:
    answer = run(*command, cwd=cwd)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout


def records(tree: object) -> list[dict]:
    """Every JSON object in a JSON value, however deep."""
    if isinstance(tree, dict):
        return [tree, *(found for value in tree.values() for found in records(value))]
    return [found for value in tree for found in records(value)] if isinstance(tree, list) else []


@pytest.fixture(scope="module")
def environment(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of a fresh environment that holds all wheels.

    The libraries (numpy, highspy, ...) are not downloaded again: a .pth file lends those of the environment the tests
    run in. Only the path is lent, so .pth files in there, an editable optmodels among them, are not followed, and the
    fresh environment's own packages come first: what is imported of ours comes from the wheels.
    """
    here = tmp_path_factory.mktemp("plugins")
    ignored = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "dist", "demo")
    shutil.copytree(root, here / "sources", ignore=ignored)  # a build writes beside the sources
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    for source in (".", *(f"tests/plugins/{plugin}" for plugin in PLUGINS)):
        succeed(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", here / "wheels", source,
                cwd=here / "sources")  # fmt: skip
    wheels = sorted((here / "wheels").glob("*.whl"))
    assert len(wheels) == 1 + len(PLUGINS)

    venv.create(here / "fresh", with_pip=False)
    scripts = here / "fresh" / Path(sys.executable).parent.name
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(succeed(scripts / "python", "-c", where, cwd=here).strip())
    lent = dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))
    (packages / "lent.pth").write_text("\n".join(lent) + "\n")
    succeed(*pip, "--python", scripts / "python", "install", "--no-deps", "--no-index", "--force-reinstall", *wheels,
            cwd=here)  # fmt: skip
    return scripts


@pytest.fixture(scope="module")
def crowded(instances: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The 2 x 3 instance (64 decisions) under the cost from outside."""
    instance = json.loads((instances / "placement" / "gautam-2x3.json").read_text(encoding="utf-8"))
    instance.pop("best_known", None)
    instance["name"] = "crowded-2x3"
    instance["cost"] = {"name": "crowding", "per_pair": PER_PAIR}
    file = tmp_path_factory.mktemp("instance") / "crowded-2x3.json"
    file.write_text(json.dumps(instance), encoding="utf-8")
    return file


def test_what_is_imported_comes_from_the_wheels(environment, tmp_path):
    theirs = [plugin.replace("-", "_") for plugin in PLUGINS]
    for package in ("optmodels", "heuristics", "queueing", *theirs):
        file = succeed(environment / "python", "-c", f"import {package}; print({package}.__file__)", cwd=tmp_path)
        assert environment.parent in Path(file.strip()).parents


@pytest.mark.parametrize(("name", "distribution"), list(zip(NAMES, PLUGINS, strict=True)))
def test_a_name_is_listed_with_the_distribution_it_comes_from(environment, tmp_path, name, distribution):
    lines = succeed(environment / "optmodels", "list", cwd=tmp_path).splitlines()
    assert any({name, distribution} <= set(line.replace("│", " ").split()) for line in lines)
    listed = json.loads(succeed(environment / "optmodels", "list", "--json", cwd=tmp_path))
    assert [entry for entry in records(listed) if entry.get("name") == name and distribution in entry.values()]


def test_the_registry_names_the_distributions(environment, tmp_path):
    code = (
        "from optmodels.registry import costs, kinds, solvers, strategies; "
        "print(strategies.origin('tabu'), costs.origin('crowding'), kinds.origin('staffing'), "
        "solvers.origin('branching'))"
    )
    assert succeed(environment / "python", "-c", code, cwd=tmp_path).split() == list(PLUGINS)


def test_the_strategy_solves_an_instance_that_names_the_cost(environment, crowded, tmp_path):
    def solve(strategy: str) -> dict:
        return json.loads(
            succeed(environment / "optmodels", "solve", crowded, "--strategy", strategy, "--seed", "1", "--json",
                    cwd=tmp_path)
        )  # fmt: skip

    found, best = solve("tabu:steps=100"), solve("exhaustive")
    assert (found["strategy"], found["parameters"]["steps"], found["status"]) == ("tabu", 100, "feasible")
    assert found["stopped_by"] == "steps"
    assert found["checked"] and best["checked"]
    for result in (found, best):
        sites = sum(result["decision"])
        assert result["objective"] == pytest.approx(result["measures"]["opening"] + PER_PAIR * sites * (sites - 1) / 2)
    assert best["status"] == "optimal"
    assert found["objective"] >= best["objective"]


def test_a_strategy_for_linear_costs_refuses_the_cost_in_one_sentence(environment, crowded, tmp_path):
    answer = run(environment / "optmodels", "solve", crowded, "--strategy", "highs", cwd=tmp_path)
    assert answer.returncode == 2, answer.stdout + answer.stderr
    assert "linear" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_the_strategy_keeps_the_house_rules(environment, tmp_path):
    check = "from heuristics.testing import check_strategy; from optmodels_tabu import Tabu; check_strategy(Tabu())"
    succeed(environment / "python", "-c", check, cwd=tmp_path)


@pytest.fixture(scope="module")
def staffed(environment: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example that the kind from outside ships."""
    code = "from optmodels.registry import kinds; print(kinds['staffing'].example_file())"
    return Path(succeed(environment / "python", "-c", code, cwd=tmp_path_factory.mktemp("staffing")).strip())


def test_a_kind_from_outside_is_told_like_our_own(environment, tmp_path):
    kind, generator = json.loads(succeed(environment / "optmodels", "list", "staffing", "--json", cwd=tmp_path))
    assert (kind["what"], generator["what"], kind["origin"]) == ("problem kind", "generator", "optmodels-staffing")
    assert {"highs", "exhaustive", "annealing"} <= set(kind["strategies"])
    assert not {"dejavu", "lagrangian", "policy-iteration"} & set(kind["strategies"])
    assert "in hours" in kind["meanings"]["worst_mean_wait"]
    assert kind["commands"] == ["erlang"]


def test_a_kind_from_outside_is_checked_solved_and_drawn(environment, staffed, tmp_path):
    command = environment / "optmodels"
    assert "is well formed" in succeed(command, "check", staffed, cwd=tmp_path)

    def solve(strategy: str) -> dict:
        return json.loads(succeed(command, "solve", staffed, "--strategy", strategy, "--json", cwd=tmp_path))

    exact, listed = solve("highs"), solve("exhaustive")
    assert exact["status"] == listed["status"] == "optimal"
    assert exact["objective"] == listed["objective"] == 15.0
    assert exact["measures"]["worst_waiting_probability"] <= 0.3
    (tmp_path / "answer.json").write_text(json.dumps(exact), encoding="utf-8")
    succeed(command, "plot", staffed, "--result", "answer.json", "--out", "day.svg", cwd=tmp_path)
    assert (tmp_path / "day.svg").stat().st_size > 1000


def test_a_kind_from_outside_makes_instances_and_adds_its_command(environment, tmp_path):
    command = environment / "optmodels"
    succeed(command, "generate", "staffing", "--hours", "3", "--seed", "1", "--out", "day.json", cwd=tmp_path)
    assert "is well formed" in succeed(command, "check", "day.json", cwd=tmp_path)
    answer = run(command, "generate", "staffing", "--days", "3", cwd=tmp_path)
    assert answer.returncode == 2 and "generator 'staffing' has no parameter 'days'" in answer.stderr
    assert re.search(r"^  erlang ", succeed(command, "--help", cwd=tmp_path), re.MULTILINE)
    assert float(succeed(command, "erlang", "2", "3", cwd=tmp_path)) == pytest.approx(4 / 9, rel=1e-5)


def test_a_kind_from_outside_describes_its_fields(environment, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")  # a row of the table is a line then
    command = environment / "optmodels"
    table = succeed(command, "schema", "staffing", "--table", cwd=tmp_path)
    assert re.search(
        r"^max_mean_wait +number +hours +null +it is a number above 0\. +that no hour may exceed", table, re.M
    )
    described = json.loads(succeed(command, "schema", "staffing", "--json", cwd=tmp_path))
    assert described["$defs"]["StaffingData"]["properties"]["most_servers"]["maximum"] == 1000


def test_the_kind_keeps_the_house_rules(environment, tmp_path):
    succeed(environment / "python", "-c", "import optmodels as om; om.check_kind('staffing')", cwd=tmp_path)


def test_a_kind_from_outside_is_simulated(environment, staffed, tmp_path):
    words = ("simulate", staffed, "--at", "3,6,4", "--replications", "5", "--json")
    found = json.loads(succeed(environment / "optmodels", *words, cwd=tmp_path))
    assert found["agree"] is True
    assert set(found["measures"]) == {"worst_waiting_probability", "worst_mean_wait"}
    answer = run(environment / "optmodels", "simulate", staffed, "--at", "1,6,4", cwd=tmp_path)
    assert answer.returncode == 2 and "in hour 0 the queue grows for ever" in answer.stderr


def test_a_solver_from_outside_keeps_the_contract_and_solves(environment, instances, tmp_path):
    succeed(environment / "python", "-c", "import optmodels as om; om.check_solver('branching')", cwd=tmp_path)
    file = instances / "placement" / "gautam-2x3.json"
    words = ("solve", file, "--strategy", "highs:solver=branching", "--json")
    answer = json.loads(succeed(environment / "optmodels", *words, cwd=tmp_path))
    assert (answer["status"], answer["objective"], answer["extra"]["solver"]["name"]) == ("optimal", 8.0, "branching")


def test_a_wrong_field_of_a_kind_from_outside_is_named(environment, staffed, tmp_path):
    instance = json.loads(staffed.read_text(encoding="utf-8"))
    instance["data"]["wages"][1] = -1
    (tmp_path / "wrong.json").write_text(json.dumps(instance), encoding="utf-8")
    answer = run(environment / "optmodels", "check", "wrong.json", cwd=tmp_path)
    assert answer.returncode == 2
    assert "wrong.json: data.wages[1] is -1; it is a number above 0." in answer.stderr


def test_without_the_plug_in_the_name_is_not_known(crowded, tmp_path):
    answer = run(Path(sys.executable).with_name("optmodels"), "solve", crowded, "--strategy", "tabu", cwd=tmp_path)
    assert answer.returncode == 2, answer.stdout + answer.stderr
    assert "Traceback" not in answer.stderr
