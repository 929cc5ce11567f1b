"""Instance files: what is read, what is refused, and in which words."""

import json
import math
import os
import pickle
import stat
from dataclasses import dataclass, field
from typing import ClassVar

import pytest

from heuristics import BinaryVectors, Evaluation
from optmodels import registry
from optmodels.costs import Limits, WeightedSum
from optmodels.data import parse_json, read_json, write_text
from optmodels.errors import InstanceError, MissingField, RequestError, UnreadableFile
from optmodels.instance import Instance, check_best_known, inside, load, pretty, read, schema, write
from optmodels.kinds import Kind


@dataclass(frozen=True)
class Shopping:
    """Buy things: at most `room` of them."""

    name: str
    prices: tuple[float, ...]
    room: int = 9
    cost: object = None
    limits: Limits = field(default_factory=Limits)
    kind: ClassVar[str] = "shopping"
    measure_names: ClassVar[tuple[str, ...]] = ("price", "things")

    @classmethod
    def from_data(cls, data, *, name, cost=None, limits=None, folder=None):
        if "prices" not in data:
            raise MissingField("data.prices", "what does it cost?")
        if set(data) - {"prices", "room"}:
            raise ValueError("unknown\nfields.")
        for index, price in enumerate(data["prices"]):
            if price < 0:
                raise InstanceError(f"data.prices[{index}]", price, "prices are not negative.")
        return cls(name, tuple(data["prices"]), data.get("room", 9), cost, limits or Limits())

    def to_data(self):
        return {"prices": list(self.prices), "room": self.room}

    @property
    def space(self):
        return BinaryVectors(len(self.prices))

    def evaluate(self, decision):
        price = sum(p for p, chosen in zip(self.prices, decision, strict=True) if chosen)
        measures = {"price": float(price), "things": float(sum(decision))}
        violations = {"room": float(sum(decision) - self.room)} if sum(decision) > self.room else {}
        cost = self.cost or WeightedSum({"price": -1.0})
        return Evaluation(cost(measures), violations | self.limits.violations(measures), measures)


@pytest.fixture(autouse=True)
def shopping():
    meanings = {"price": "what the things cost", "things": "how many there are"}
    registry.kinds.register("shopping", Kind("shopping", "What is bought?", "nobody", Shopping, meanings))
    yield
    registry.kinds.unregister("shopping")


def content(**changes):
    base = {"format": 1, "kind": "shopping", "name": "three", "data": {"prices": [1, 2, 4.5], "room": 2}}
    return {key: value for key, value in (base | changes).items() if value is not ...}


@pytest.fixture
def file(tmp_path):
    def make(text):
        path = tmp_path / "a.json"
        data = text if isinstance(text, bytes) else (text if isinstance(text, str) else json.dumps(text)).encode()
        path.write_bytes(data)
        return path

    return make


# -- reading ----------------------------------------------------------------------------------------------------------


def test_an_instance_becomes_its_problem_with_cost_and_limits(file):
    cost = {"name": "weighted-sum", "weights": {"price": 2.0}}
    problem = load(file(content(cost=cost, limits={"things": 1})))
    assert (problem.name, problem.prices, problem.cost) == ("three", (1, 2, 4.5), WeightedSum({"price": 2.0}))
    assert problem.evaluate((1, 1, 0)).violations == {"things above 1": 1.0}


def test_a_byte_order_mark_does_no_harm(file):
    assert read(file(b"\xef\xbb\xbf" + json.dumps(content()).encode())).name == "three"


def test_an_instance_survives_writing_and_reading(tmp_path):
    best = {"objective": -6.5, "decision": [0, 1, 1], "proved": True, "by": "hand"}
    instance = Instance.from_data(
        content(source="a shop", notes="ä\n€", limits={"things": {"max": 2}}, best_known=best)
    )
    write(instance, tmp_path / "a.json")
    assert read(tmp_path / "a.json") == instance
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == instance.to_data()


def test_a_problem_can_be_written_as_an_instance():
    problem = Shopping("p", (1.0, 2.0), 1, WeightedSum({"price": 3.0}), Limits.from_data({"things": 1}))
    instance = Instance.from_problem(problem, notes="made up", best_known={"objective": 0})
    assert instance.problem() == problem
    assert (instance.notes, instance.source, instance.best_known.objective) == ("made up", None, 0)


def test_nothing_in_a_file_is_executed(file, monkeypatch):
    monkeypatch.setattr(os, "system", lambda command: pytest.fail("executed"))
    for changes in ({"kind": "os:system"}, {"cost": {"name": "os:system", "command": "true"}}):
        with pytest.raises(InstanceError, match="os:system"):
            load(file(content(**changes)))


# -- refusing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"format": ...}, "format is missing; this version reads format 1."),
        ({"format": 2}, "format is 2; this version reads format 1."),
        ({"format": "1"}, 'format is "1"; this version reads format 1.'),
        ({"format": True}, "format is true; this version reads format 1."),
        ({"kind": ...}, "kind is missing; name the kind of problem as a text, see `optmodels list`."),
        ({"kind": 3}, "kind is 3; name the kind of problem as a text, see `optmodels list`."),
        ({"kind": "shoping"}, "kind is \"shoping\"; no problem kind is called 'shoping'. Did you mean 'shopping'?"),
        ({"name": ""}, 'name is ""; give the instance a short name of 1 to 200 characters.'),
        ({"name": "a\nb"}, 'name is "a\\nb"; names are printable text on one line.'),
        ({"name": "\u001b[31m"}, 'name is "\\u001b[31m"; names are printable text on one line.'),
        ({"name": "n" * 300}, "give the instance a short name of 1 to 200 characters."),
        ({"data": ...}, "data is missing; the data of the kind are an object."),
        ({"data": [1]}, "data is [1]; the data of the kind are an object."),
        ({"data": {}}, "data.prices is missing; what does it cost?"),
        ({"data": {"prices": [1, -2]}}, "data.prices[1] is -2; prices are not negative."),
        ({"data": {"prices": [], "x": 1}}, "kind 'shopping' refuses the data: unknown fields."),
        ({"note": "x"}, "note is \"x\"; there is no such field. Did you mean 'notes'?"),
        ({"notes": 1}, "notes is 1; notes are a text."),
        ({"cost": "cheap"}, 'cost is "cheap"; a cost is an object'),
        ({"cost": {"name": "x"}}, 'cost.name is "x"; no cost is called'),
        ({"cost": {"name": "weighted-sum", "weights": {"prize": 1}}}, "cost.weights.prize is 1; kind 'shopping' has"),
        ({"cost": {"name": "lexicographic", "measures": ["loss"]}}, 'cost.measures[0] is "loss"; kind'),
        ({"limits": [1]}, "limits is [1]; limits are an object"),
        ({"limits": {"thing": 1}}, "limits.thing is 1; kind 'shopping' has no such measure. Did you mean 'things'?"),
        ({"limits": {"things": "few"}}, 'limits.things.max is "few"; limits are finite numbers.'),
        ({"best_known": 8}, "best_known is 8; the best known is an object"),
        ({"best_known": {}}, "best_known.objective is missing; the objective is a finite number."),
        ({"best_known": {"objective": "8"}}, 'best_known.objective is "8"; the objective is a finite number.'),
        (
            {"best_known": {"objective": 8, "proven": 1}},
            "best_known.proven is 1; there is no such field. Did you mean 'proved'?",
        ),
        (
            {"best_known": {"objective": 8, "decision": 3}},
            "best_known.decision is 3; a decision is a list or an object.",
        ),
    ],
)
def test_an_envelope_not_understood_is_refused_with_file_field_value_and_rule(file, changes, sentence):
    path = file(content(**changes))
    with pytest.raises(InstanceError) as failure:
        load(path)
    assert str(failure.value).startswith(f"{path}: ")
    assert sentence in str(failure.value)
    assert "\n" not in str(failure.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "it is empty; a JSON object was expected."),
        (" \n", "it is empty; a JSON object was expected."),
        ("{", "this is not JSON: Expecting property name"),
        ('{"format": 1,}', "this is not JSON:"),
        ("hello", "this is not JSON:"),
        ("[]", "an instance is a JSON object, and this is a list."),
        ("3", "an instance is a JSON object, and this is a number."),
        ("null", "an instance is a JSON object, and this is null."),
        (b"\x89PNG\r\n\x1a\n\x00\xff", "this is not a text file: byte 0 is not UTF-8."),
        (json.dumps({"format": 1}).encode("utf-16"), "this is not a text file"),
        ("[" * 100_000, "lists and objects are nested deeper than 60 levels."),
        ('{"a":' * 70 + "1" + "}" * 70, "lists and objects are nested deeper than 60 levels."),
        ('{"format": ' + "9" * 5000 + "}", "a number has thousands of digits"),
        (
            '{"format": 1, "data": {"x": 9223372036854775808}}',
            "data.x is 9223372036854775808; whole numbers lie below 2^63.",
        ),
        ('{"format": 1, "format": 1}', "format is 1; this key stands twice in its object."),
        ('{"data": {"a": [{"b": 1, "b": 2}]}}', "data.a[0].b is 2; this key stands twice in its object."),
        ('{"data": {"a": [1, NaN]}}', "data.a[1] is NaN; numbers are finite."),
        ('{"data": {"a": -Infinity}}', "data.a is -Infinity; numbers are finite."),
        ('{"data": {"a": [1.5, 1e999]}}', "data.a[1] is Infinity; numbers are finite."),
        ('{"name": "\\ud800"}', 'name is "\\ud800"; texts are valid Unicode.'),
    ],
)
def test_a_file_that_is_no_instance_is_refused_in_one_sentence(file, text, sentence):
    path = file(text)
    with pytest.raises(InstanceError) as failure:
        read(path)
    assert str(failure.value).startswith(f"{path}: ")
    assert sentence in str(failure.value)
    assert "\n" not in str(failure.value)


def test_a_file_that_is_not_there_or_cannot_be_one_is_refused(tmp_path):
    with pytest.raises(UnreadableFile, match="there is no such file"):
        read(tmp_path / "none.json")
    with pytest.raises(UnreadableFile, match="this is a directory; name an instance file"):
        read(tmp_path)
    with pytest.raises(UnreadableFile, match=r"cannot be read|no such file"):
        read("a\0b")
    with pytest.raises(UnreadableFile):
        read("x" * 5000)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnreadableFile, match="not a regular file"):
        read(tmp_path / "pipe")


def test_a_file_too_large_is_refused_unread(file, monkeypatch):
    monkeypatch.setattr("optmodels.data.strict_json.LARGEST_FILE", 10)
    with pytest.raises(UnreadableFile, match="at most 10 are read"):
        read(file(content()))


def test_numbers_python_code_passes_are_held_to_the_same_rules():
    with pytest.raises(InstanceError, match=r"data.prices\[0\] is NaN; numbers are finite"):
        Instance.from_data(content(data={"prices": [math.nan]}))


def test_an_error_travels_between_processes():
    for error in (
        InstanceError("data.x", [1], "no.", "f.json"),
        MissingField("data.x", "needed.", "f.json"),
        UnreadableFile("torn.", "f.json"),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert str(again.at("g.json")).startswith("g.json: ")


def test_json_from_elsewhere_is_held_to_the_same_rules():
    assert parse_json("[1, 2]", "--at") == [1, 2]
    with pytest.raises(InstanceError, match=r"^--at: \[0\] is NaN; numbers are finite"):
        parse_json("[NaN]", "--at")


# -- writing ----------------------------------------------------------------------------------------------------------


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UnreadableFile, match="cannot be written: No space left on device"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_an_interrupted_write_leaves_no_litter(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_text(tmp_path / "a.txt", "new")
    assert os.listdir(tmp_path) == []


def test_a_file_is_written_with_the_usual_permissions(tmp_path):
    write_text(tmp_path / "a.txt", "x")
    (tmp_path / "b.txt").write_text("x")
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == stat.S_IMODE((tmp_path / "b.txt").stat().st_mode)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(RequestError, match="cannot be written: No such file or directory"):
        write_text(tmp_path / "none" / "a.txt", "x")


def test_matrices_are_written_row_by_row():
    text = pretty({"shape": [2, 3], "demand": [[row * 100 + i for i in range(30)] for row in range(2)]})
    assert json.loads(text)["demand"][1][0] == 100
    lines = text.splitlines()
    assert lines[1] == '  "shape": [2, 3],'
    assert lines[3].startswith("    [0, 1, 2")
    assert len(lines) == 7


# -- paths in files ---------------------------------------------------------------------------------------------------


def test_a_path_in_a_file_stays_inside_its_folder(tmp_path):
    (tmp_path / "sub").mkdir()
    assert inside(tmp_path, "sub/pages.npy") == tmp_path.resolve() / "sub" / "pages.npy"


@pytest.mark.parametrize("path", ["../a", "sub/../../a", "/etc/passwd", "", "a\0b", 3, None, "..\\a"])
def test_a_path_that_leads_out_is_refused(tmp_path, path):
    with pytest.raises(InstanceError, match=r"^data.pages is .*(inside its folder|relative)"):
        inside(tmp_path, path, "data.pages")


def test_a_link_that_leads_out_is_refused(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "secret").write_text("x")
    (tmp_path / "inner" / "link").symlink_to(tmp_path / "secret")
    with pytest.raises(InstanceError, match="inside its folder"):
        inside(tmp_path / "inner", "link")


def test_data_that_come_from_no_file_can_name_none():
    with pytest.raises(InstanceError, match="only an instance read from a file"):
        inside(None, "pages.npy")


# -- best known -------------------------------------------------------------------------------------------------------


def verdict(**best):
    instance = Instance.from_data(content(best_known=best))
    return check_best_known(instance, instance.problem())


def test_a_best_known_decision_is_evaluated_again():
    assert verdict(objective=-6.5, decision=[0, 1, 1]).objective == -6.5
    assert verdict(objective=-6.5 * (1 + 5e-7), decision=[0, 1, 1]) is not None
    assert verdict(objective=-7.0) is None


@pytest.mark.parametrize(
    ("best", "sentence"),
    [
        ({"objective": -6.0, "decision": [0, 1, 1]}, r"best_known.objective is -6.0; the evaluator finds -6.5"),
        ({"objective": -6.5 * (1 + 2e-6), "decision": [0, 1, 1]}, r"the evaluator finds -6.5"),
        ({"objective": -7.5, "decision": [1, 1, 1]}, r"it is not feasible: it breaks room by 1"),
        ({"objective": -6.5, "decision": [0, 1]}, r"best_known.decision is \[0, 1\]"),
        ({"objective": -6.5, "decision": [0, 1, 2]}, r"best_known.decision is \[0, 1, 2\]"),
        ({"objective": -6.5, "bound": -6.0}, r"best_known.bound is -6.0; the objective, -6.5, lies below this bound"),
    ],
)
def test_a_wrong_best_known_is_found(best, sentence):
    with pytest.raises(InstanceError, match=sentence):
        verdict(**best)


def test_the_schema_describes_the_envelope():
    described = schema()
    assert set(described["properties"]) == set(Instance.model_fields)
    assert set(described["required"]) == {"format", "kind", "name", "data"}
    assert described["additionalProperties"] is False
    json.dumps(described)


def test_a_large_file_is_read_in_one_piece(tmp_path):
    matrix = [[float(i) for i in range(1000)] for _ in range(100)]
    (tmp_path / "a.json").write_text(json.dumps({"data": matrix}))
    assert read_json(tmp_path / "a.json")["data"] == matrix
