"""`import optmodels as om`."""

import importlib
import pkgutil
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import optmodels as om
from heuristics import Budget, Problem, Result, Status, Strategy


@pytest.mark.parametrize("name", om.__all__)
def test_every_name_at_the_front_door_is_there(name):
    assert getattr(om, name) is not None
    assert name in dir(om)


def test_the_contract_is_handed_on_unchanged():
    assert (om.Budget, om.Problem, om.Status, om.Strategy) == (Budget, Problem, Status, Strategy)
    assert issubclass(om.Result, Result)


def test_a_type_checker_sees_the_same_names():
    stub = Path(om.__file__).with_suffix(".pyi").read_text(encoding="utf-8").partition("__all__")[0]
    for name in om.__all__:
        assert f"import {name} as {name}\n" in stub or f"{name}: str\n" in stub, name


def test_no_public_function_shares_the_name_of_a_module():
    modules = {module.name for module in pkgutil.iter_modules(om.__path__)}
    shared = {name for name in om.__all__ if name in modules}
    assert shared == {"costs", "registry"}
    for name in shared:
        assert getattr(om, name) is importlib.import_module(f"optmodels.{name}")


def test_the_version_is_that_of_the_distribution(root):
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert om.__version__ == project["version"]


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'optmodels' has no attribute 'slove'"):
        om.slove  # noqa: B018
    assert not hasattr(om, "slove")


def test_ten_lines_from_the_file_to_the_table(instances, tmp_path):
    problem = om.load(instances / "placement" / "gautam-2x3.json")
    exact = om.solve(problem, "exhaustive")
    quick = om.solve(problem, "annealing", budget=om.Budget(evaluations=300), seed=1)
    assert exact.status == "optimal"
    assert quick.gap(exact.objective) >= 0
    comparison = om.compare(problem, ["exhaustive", "annealing"], seeds=range(2), evaluations=300)
    assert "gap to best known" in comparison.table()
    comparison.to_csv(tmp_path / "runs.csv")
    om.write_instance(om.generate("placement", rows=2, columns=2), tmp_path / "g.json")
    assert om.read_instance(tmp_path / "g.json").kind == "placement"


def test_what_verbs_return_is_short_on_one_line():
    answer = om.solve("loss-3", "min-mean-cycle")
    tried = om.simulate("loss-3", answer.decision, replications=2, time=1000)
    shown = [repr(om.verify(answer, "loss-3")), repr(tried), repr(om.read_instance("gautam-11x22"))]
    assert all("\n" not in text and len(text) < 300 for text in shown)
    assert shown[0].startswith("<Verification of loss-3: verified") and "Confrontation of loss-3" in shown[1]
    assert str(tried) == tried.table()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: om.verify(None, "gautam-2x3"), "a result, or the path of one; got null"),
        (lambda: om.verify({"a": 1}, "gautam-2x3"), "a result, or the path of one"),
        (lambda: om.compare(None, ["dejavu"]), "a problem is the path of a file"),
        (lambda: om.sweep("gautam-2x3", None), "what to vary is written"),
        (lambda: om.pareto("gautam-2x3", None), "needs two measures, got None"),
        (lambda: om.fit(None), "a log is the path of a file"),
        (lambda: om.solve("gautam-2x3", progress=3), "progress is True, False, or a function"),
        (lambda: om.compare("gautam-2x3", "dejavu", progress=3), "progress is True, False, or a function"),
        (lambda: om.generate("routing", servers=2.5), "is a whole number, got 2.5"),
    ],
)
def test_what_cannot_be_meant_gets_a_sentence(call, sentence):
    with pytest.raises(om.RequestError, match=sentence):
        call()


def test_whole_numbers_may_be_floats_of_python_and_integers_of_numpy():
    assert om.generate("placement", rows=2.0, columns=3).data["shape"] == [2, 3]
    swept = om.sweep("gautam-2x3", {"data.service_rate": np.array([20, 30])}, "exhaustive")
    assert list(swept.to_frame()["status"]) == ["optimal", "optimal"]


def test_a_decision_alone_is_drawn():
    heading = om.plot("gautam-2x3", [0, 0, 1, 1, 1, 0]).get_suptitle()
    assert "objective 8" in heading
    assert om.plot("coffman-4", {"schedule": [0, 1, 2, 3]}).axes


def test_auto_proves_small_placements_without_an_integer_program():
    problem = replace(om.load("gautam-2x3"), cost=lambda measures: measures["opening"] + measures["mean_delay"])
    answer = om.solve(problem)
    assert (answer.strategy, answer.status) == ("exhaustive", "optimal")
