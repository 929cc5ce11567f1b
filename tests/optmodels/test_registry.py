"""Names and what they stand for."""

import doctest
import importlib.metadata
import sys

import pytest

import optmodels.registry
from optmodels.errors import BrokenPlugin, NameTaken, RequestError, UnknownName
from optmodels.registry import REGISTRIES, Registry, kinds, make_strategy, parse_strategy, solvers, strategies


class Walker:
    """A class to be registered."""


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
        monkeypatch.setattr(optmodels.registry, "_entry_points", lambda: found)
        return Registry("thing", "test.things", {"own": "collections:Counter"})

    return offer


def test_the_examples_in_the_documentation_hold():
    assert doctest.testmod(optmodels.registry).failed == 0
    assert doctest.testmod(optmodels.errors).failed == 0


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.group)
def test_every_built_in_name_can_be_loaded(registry):
    for entry in registry.entries():
        if entry.origin == "built in":
            target = registry[entry.name]
            if registry is solvers:  # records, not classes
                assert target.backend == f"optmodels.mip.{entry.name}:solve"
                continue
            assert (target.name if registry is kinds else registry.name_of(target)) == entry.name


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


def test_a_misspelled_parameter_is_answered_with_the_nearest_one():
    with pytest.raises(RequestError, match=r"'annealing' has no parameter 'step' \(did you mean 'steps'\?\); it takes"):
        make_strategy("annealing:step=5")
    with pytest.raises(RequestError, match=r"'exhaustive' has no parameter 'zzz'; it takes largest="):
        make_strategy("exhaustive:zzz=1")


def test_a_strategy_object_is_taken_as_it_is_and_a_class_is_not():
    strategy = make_strategy("exhaustive")
    assert make_strategy(strategy) is strategy
    for wrong in (type(strategy), 3, None):
        with pytest.raises(RequestError, match="a strategy is a name or an object"):
            make_strategy(wrong)
