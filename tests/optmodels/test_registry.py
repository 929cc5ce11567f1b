"""Names and what they stand for."""

import doctest
import importlib.metadata
import sys
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import pytest

import optmodels.registry
from optmodels.errors import BrokenPlugin, NameTaken, RequestError, UnknownName
from optmodels.registry import (
    REGISTRIES,
    Registry,
    build,
    from_json,
    from_text,
    make_strategy,
    parameter_list,
    parse_strategy,
    strategies,
)


@dataclass(frozen=True)
class Walker:
    """A strategy with one field of each type."""

    steps: int = 100
    start: float = 1.5
    careful: bool = False
    rule: str = "first"
    limit: int | None = None
    law: Literal["up", "down"] = "up"
    name: ClassVar[str] = "walker"


@pytest.fixture
def offered(monkeypatch):
    """Let distributions offer entry points without being installed."""

    def offer(*points: tuple[str, str, str]) -> Registry:
        class Point(importlib.metadata.EntryPoint):
            pass

        found = []
        for name, value, distribution in points:
            point = Point(name, value, "test.things")
            vars(point)["dist"] = type("Distribution", (), {"name": distribution})()
            found.append(point)
        monkeypatch.setattr(optmodels.registry, "entry_points", lambda group: found)
        return Registry("thing", "test.things", {"own": "collections:Counter"})

    return offer


def test_the_examples_in_the_documentation_hold():
    assert doctest.testmod(optmodels.registry).failed == 0
    assert doctest.testmod(optmodels.errors).failed == 0


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.group)
def test_every_built_in_name_can_be_loaded(registry):
    for entry in registry.entries():
        if entry.origin == "built in":
            assert registry.name_of(registry[entry.name]) == entry.name


def test_a_strategy_is_registered_under_the_name_it_gives_itself():
    for entry in strategies.entries():
        if entry.origin == "built in":
            assert strategies[entry.name].name == entry.name


def test_an_entry_point_is_found_by_name_and_says_where_it_comes_from(offered):
    registry = offered(("deque", "collections:deque", "theirs"))
    assert list(registry) == ["deque", "own"]
    assert registry["deque"].__name__ == "deque"
    assert (registry.origin("deque"), registry.origin("own")) == ("theirs", "built in")
    assert "deque" in registry
    assert "stack" not in registry


def test_listing_loads_nothing(offered):
    registry = offered(("broken", "no_such_module_at_all:Thing", "theirs"))
    assert [entry.name for entry in registry.entries()] == ["own", "broken"]
    assert registry.origin("broken") == "theirs"
    assert "no_such_module_at_all" not in sys.modules


def test_a_broken_plug_in_hurts_only_those_who_ask_for_it(offered):
    registry = offered(("broken", "no_such_module_at_all:Thing", "theirs"))
    assert registry["own"]
    with pytest.raises(BrokenPlugin, match=r"'broken' \(theirs\) cannot be loaded .* No module named") as failure:
        registry["broken"]
    assert "\n" not in str(failure.value)


def test_a_plug_in_that_calls_exit_on_import_is_no_end(offered, tmp_path, monkeypatch):
    (tmp_path / "leaving_plugin.py").write_text("raise SystemExit('bye')")
    monkeypatch.syspath_prepend(str(tmp_path))
    registry = offered(("leaving", "leaving_plugin:Thing", "theirs"))
    with pytest.raises(BrokenPlugin, match="SystemExit: bye"):
        registry["leaving"]


def test_a_name_taken_twice_names_both_owners_when_asked_for(offered):
    registry = offered(("own", "collections:deque", "theirs"), ("other", "collections:deque", "theirs"))
    assert registry["other"]
    with pytest.raises(NameTaken, match=r"collections:Counter \(built in\) and by collections:deque \(theirs\)"):
        registry["own"]


def test_registering_a_taken_name_names_both_owners(offered):
    registry = offered(("deque", "collections:deque", "theirs"))
    with pytest.raises(NameTaken, match=r"taken by collections:deque \(theirs\); .*Walker needs another name"):
        registry.register("deque", Walker)


def test_a_notebook_can_register_replace_and_withdraw(offered):
    registry = offered()
    registry.register("walker", Walker)
    assert registry["walker"] is Walker
    assert registry.origin("walker") == "this process"
    assert registry.name_of(Walker) == "walker"
    with pytest.raises(NameTaken):
        registry.register("walker", Walker)
    registry.register("walker", dict, replace=True)
    assert registry["walker"] is dict
    registry.unregister("walker")
    assert "walker" not in registry
    with pytest.raises(UnknownName):
        registry.unregister("walker")
    with pytest.raises(NameTaken):
        registry.register("own", dict, replace=True)


@pytest.mark.parametrize("name", ["", "a b", "a:b", "a=b", "a,b", 3])
def test_a_name_that_could_not_be_written_is_not_registered(offered, name):
    with pytest.raises(RequestError, match="a name is text"):
        offered().register(name, dict)


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(
        UnknownName, match=r"no strategy is called 'genetik'. Did you mean 'genetic'\? Known: adaptive, annealing"
    ):
        strategies["genetik"]
    with pytest.raises(LookupError, match="Did you mean 'local-search'"):
        strategies["Local_Search"]


def test_nothing_is_suggested_for_a_name_like_no_other():
    with pytest.raises(UnknownName) as failure:
        strategies["zzzz"]
    assert "Did you mean" not in str(failure.value)


# -- strategies by string ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", ":a=1", "x:", "x:a", "x:=1", "x:a=1,", "x:a=1,a=2", "x:a=1,,b=2"])
def test_a_malformed_strategy_is_refused_in_one_sentence(text):
    with pytest.raises(RequestError) as failure:
        parse_strategy(text)
    assert "\n" not in str(failure.value)


def test_a_value_may_hold_colons_and_equals_signs():
    assert parse_strategy("best-of:strategies=genetic:population=3") == (
        "best-of",
        {"strategies": "genetic:population=3"},
    )


def test_dashes_in_parameters_are_underscores():
    assert parse_strategy(" annealing : start-temperature = 3 ") == ("annealing", {"start_temperature": "3"})


def test_parameters_are_converted_as_annotated():
    given = {"steps": "1e3", "start": "2", "careful": "yes", "rule": "best", "limit": "none", "law": "down"}
    assert build(Walker, given, "walker") == Walker(1000, 2.0, True, "best", None, "down")
    assert build(Walker, {"limit": "7", "start": 3.5}, "walker") == Walker(limit=7, start=3.5)


@pytest.mark.parametrize(
    ("key", "text", "rule"),
    [
        ("steps", "many", "is a whole number"),
        ("steps", "1.5", "is a whole number"),
        ("steps", "1e400", "is a whole number"),
        ("steps", "nan", "is a whole number"),
        ("start", "hot", "is a number"),
        ("start", "nan", "is a number"),
        ("careful", "perhaps", "is true or false"),
        ("law", "sideways", "is one of up, down"),
        ("limit", "few", "is a whole number"),
        ("steps", "none", "is a whole number"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused(key, text, rule):
    with pytest.raises(RequestError, match=rf"walker: parameter '{key}' {rule}, got '{text}'"):
        build(Walker, {key: text}, "walker")


def test_an_unknown_parameter_is_answered_with_fields_and_defaults():
    with pytest.raises(
        RequestError,
        match=r"no parameter 'stepz' \(did you mean 'steps'\?\); "
        r"it takes steps=100, start=1.5, careful=false, rule=first",
    ):
        build(Walker, {"stepz": "1"}, "walker")


def test_a_misspelled_parameter_is_answered_with_the_nearest_one():
    with pytest.raises(RequestError, match=r"'annealing' has no parameter 'step' \(did you mean 'steps'\?\); it takes"):
        make_strategy("annealing:step=5")
    with pytest.raises(RequestError, match=r"'exhaustive' has no parameter 'zzz'; it takes largest="):
        make_strategy("exhaustive:zzz=1")


def test_a_class_without_fields_takes_no_parameters():
    assert parameter_list(object) == "no parameters"
    with pytest.raises(RequestError, match="it takes no parameters"):
        build(object, {"x": "1"}, "thing")


def test_a_required_parameter_is_asked_for():
    @dataclass
    class Needy:
        budget: int

    with pytest.raises(RequestError, match=r"needs the parameter 'budget'; it takes budget \(required\)"):
        build(Needy, {}, "needy")


def test_what_a_class_itself_refuses_is_one_sentence():
    @dataclass
    class Strict:
        size: int = 1

        def __post_init__(self) -> None:
            raise ValueError("size must be\n odd.")

    with pytest.raises(RequestError, match=r"strict: size must be odd."):
        build(Strict, {"size": "2"}, "strict")


def test_annotations_that_cannot_be_resolved_fall_back_on_the_defaults():
    @dataclass
    class Odd:
        steps: "NotImportedHere" = 3  # noqa: F821

    assert build(Odd, {"steps": "4"}, "odd").steps == 4


def test_a_strategy_object_is_taken_as_it_is_and_a_class_is_not():
    strategy = make_strategy("exhaustive")
    assert make_strategy(strategy) is strategy
    for wrong in (type(strategy), 3, None):
        with pytest.raises(RequestError, match="a strategy is a name or an object"):
            make_strategy(wrong)


def test_text_is_read_in_the_order_of_the_narrowest_type():
    assert from_text("1", int | float | str) == 1
    assert isinstance(from_text("1.5", int | float | str), float)
    assert from_text("x", int | float | str) == "x"
    with pytest.raises(ValueError, match="cannot be written as text"):
        from_text("x", dict)


def test_json_values_are_held_against_annotations():
    assert from_json(3, float) == 3
    assert from_json(["a", "b"], tuple[str, ...]) == ("a", "b")
    assert from_json(None, int | None) is None
    assert from_json({"a": 1}, Any) == {"a": 1}
    for value, annotation in ((True, float), (1.5, int), ("1", int), (None, int), (1, bool), (3, str)):
        with pytest.raises(ValueError):
            from_json(value, annotation)
