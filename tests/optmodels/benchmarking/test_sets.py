"""Benchmark sets: the shipped ones hold, draw what they promise, and broken ones are refused in one sentence."""

import itertools
import re

import pytest

from optmodels import generate
from optmodels.benchmarking import Member, instance_digest, read_set, read_solutions, shipped_sets
from optmodels.errors import InstanceError, RequestError, UnknownName

NAMES = ["crawl", "gautam-25", "mdp", "networks", "papers", "routing-random"]

GOOD = """
format = 1
name = "mine"
title = "Mine"
instances = ["gautam-2x3"]

[[family]]
name = "grid-{seed}"
generator = "placement"
seeds = [1, 2]
digests = ["%s", "%s"]
options = { rows = 2, columns = 2 }
"""


@pytest.fixture
def good():
    return GOOD % tuple(instance_digest(generate("placement", rows=2, columns=2, seed=seed)) for seed in (1, 2))


def test_these_sets_are_shipped():
    assert list(shipped_sets()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_set_draws_what_its_digests_say_and_has_a_solution_for_each(name):
    if name == "networks":
        pytest.importorskip("topohub")
    chosen = read_set(name)
    drawn = chosen.instances()
    assert [instance.name for instance in drawn] == [member.name for member in chosen.members]
    assert {instance.kind for instance in drawn} == set(chosen.kinds)
    assert all(member.digest for member in chosen.members if member.generator)
    assert list(read_solutions(chosen)) == [member.name for member in chosen.members]
    assert chosen.solution_file.is_file()


def test_the_digest_notices_another_number_and_no_other_name():
    one, other = generate("placement", rows=3, columns=3, seed=1), generate("placement", rows=3, columns=3, seed=2)
    assert instance_digest(one) == instance_digest(one.model_copy(update={"name": "x"})) != instance_digest(other)
    with pytest.raises(RequestError, match="draws another instance than the one in the set"):
        Member("x", "placement", {"rows": 3, "columns": 3, "seed": 2}, instance_digest(one)).instance()


def test_a_digest_forgives_the_last_bits_of_a_number():
    one = generate("placement", rows=2, columns=2)
    shifted = one.model_copy(update={"data": one.data | {"service_rate": 50.0 * (1 + 1e-15)}})
    moved = one.model_copy(update={"data": one.data | {"service_rate": 50.0 * (1 + 1e-8)}})
    assert instance_digest(shifted) == instance_digest(one) != instance_digest(moved)


# -- gautam-25 --------------------------------------------------------------------------------------------------------


def test_gautam_25_has_five_of_each_size():
    sizes = [(one.options["rows"], one.options["columns"]) for one in read_set("gautam-25").members]
    assert [sizes.count(size) for size in [(6, 6), (8, 9), (10, 12), (12, 12)]] == [5, 5, 5, 5]
    assert sizes[20:] == [(15, 20), (20, 20), (20, 30), (25, 25), (30, 30)]
    assert sum(rows == columns for rows, columns in sizes) == 13


def test_the_other_factors_of_gautam_25_come_in_equal_parts():
    options = [one.options for one in read_set("gautam-25").members]
    columns = {
        "size": [index // 5 for index in range(25)],
        "quality": [one["max_delay_probability"] for one in options],
        "rates": [one["service_rate"] for one in options],
        "variation": [one["cost_variation"] for one in options],
    }
    for values in columns.values():
        assert sorted(values.count(value) for value in set(values)) == [5] * 5
    for one, other in itertools.combinations(columns.values(), 2):
        assert len(set(zip(one, other, strict=True))) == 25, "any two levels meet once"
    assert sum(one["cost_law"] == "integers" for one in options) == 13
    assert sum(one["demand_law"] == "cluster" for one in options) == 13


def test_every_grid_of_gautam_25_has_a_feasible_placement_and_not_a_trivial_one():
    for instance in read_set("gautam-25").instances():
        problem = instance.problem()
        sites = problem.layout.sites
        assert problem.evaluate([1] * sites).feasible, instance.name
        assert not problem.evaluate([1] + [0] * (sites - 1)).feasible, instance.name


# -- names and files --------------------------------------------------------------------------------------------------


def test_a_misspelled_set_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match=r"no benchmark set 'gautam25'. Did you mean 'gautam-25'\?"):
        read_set("gautam25")


def test_a_set_of_ones_own(good, tmp_path):
    (tmp_path / "mine.toml").write_text(good)
    chosen = read_set(tmp_path / "mine.toml")
    assert [member.name for member in chosen.members] == ["gautam-2x3", "grid-1", "grid-2"]
    assert [instance.kind for instance in chosen.instances()] == ["placement"] * 3
    assert chosen.strategies == ("auto",) and read_solutions(chosen)["grid-1"].status == "unknown"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("format = 1", "format = 2", "format is 2; it is 1"),
        ("format = 1", "", "format is missing"),
        ('name = "mine"', 'name = "yours"', "name is \"yours\"; a set has the name of its file, 'mine'"),
        ('title = "Mine"', "title = 3", "title is 3; it is a printable text"),
        ('title = "Mine"', 'titel = "Mine"', "titel is \"Mine\"; there is no such field; did you mean 'title'?"),
        ("gautam-2x3", "gautam-2x4", 'instances[0] is "gautam-2x4"; no shipped instance has this name. Did you mean'),
        ('["gautam-2x3"]', "3", "instances is 3; it is a list"),
        ('"placement"', '"no-kind"', 'family[0].generator is "no-kind"; kinds that draw are'),
        ("[1, 2]", "[1, -2]", "family[0].seeds is [1, -2]"),
        ("[1, 2]", "[1, 1]", 'name is "grid-1"; no two instances of a set have one name'),
        ("[1, 2]", "[1]", "family[0].digests is"),
        ("grid-{seed}", "grid", 'family[0].name is "grid"'),
        ("rows = 2", "seed = 2", "family[0].options is"),
        ("rows = 2", "rows = [2]", "family[0].options.rows is [2]; an option is a text or a number"),
        ("format = 1", "format = 1\nseeds = 0", "seeds is 0; it is a whole number, 1 or more"),
        ("format = 1", "format = 1\nseconds = 0", "seconds is 0.0; it is above 0"),
        ("format = 1", "format = 1\nseconds = nan", "seconds is NaN; it is a finite number"),
        ("format = 1", "format = 1\nstrategies = []", "strategies is []"),
        ("format = 1", "format = ", "is no TOML"),
    ],
)
def test_a_broken_set_is_refused_with_file_field_value_and_rule(good, tmp_path, old, new, sentence):
    file = tmp_path / "mine.toml"
    assert old in good
    file.write_text(good.replace(old, new, 1))
    with pytest.raises(InstanceError, match=re.escape(sentence)) as refused:
        read_set(file)
    assert str(refused.value).startswith(f"{file}: ")


def test_a_file_that_is_absent_or_no_text(tmp_path):
    with pytest.raises(InstanceError, match="cannot be read: No such file"):
        read_set(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"format = \xff")
    with pytest.raises(InstanceError, match="is no text in UTF-8"):
        read_set(tmp_path / "bytes.toml")
    (tmp_path / "long.toml").write_bytes(b"#" * 1_000_001)
    with pytest.raises(InstanceError, match="has 1000001 bytes"):
        read_set(tmp_path / "long.toml")


# -- what the generator of placement draws for them -------------------------------------------------------------------


def test_costs_and_demands_with_a_coefficient_of_variation():
    drawn = generate("placement", rows=60, columns=60, cost_law="continuous", cost_variation=0.5, seed=3)
    costs = [cost for row in drawn.data["opening_cost"] for cost in row]
    mean = sum(costs) / len(costs)
    deviation = (sum((cost - mean) ** 2 for cost in costs) / len(costs)) ** 0.5
    assert mean == pytest.approx(10.0, rel=0.03) and deviation / mean == pytest.approx(0.5, rel=0.05)
    demand = generate("placement", rows=20, columns=20, demand_variation=2.0, largest_demand=12).data["demand"]
    flat = [one for row in demand for one in row]
    assert min(flat) == 1 and max(flat) == 12 and all(isinstance(one, int) for one in flat)


def test_published_demands_of_a_topology():
    pytest.importorskip("topohub")
    drawn = generate("placement", topology="sndlib/abilene", demand_law="published")
    assert len(drawn.data["demand"]) == drawn.data["network"]["nodes"] == 12
    assert max(drawn.data["demand"]) == 15
    with pytest.raises(RequestError, match="'topozoo/TataNld' comes without demands"):
        generate("placement", topology="topozoo/TataNld", demand_law="published")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"topology": "sndlib/abilene", "rows": 3}, "rows is drawn, and topology is 'sndlib/abilene'"),
        ({"demand_law": "published"}, "demand_law must be one that is drawn where no topology is named"),
        ({"cost_variation": -1.0}, "cost_variation must be between 0.001 and 10, got -1.0"),
        ({"topology": "../secret"}, "topology must be one of topohub"),
    ],
)
def test_options_that_cannot_be_meant(options, sentence):
    with pytest.raises(RequestError, match=re.escape(sentence)):
        generate("placement", **options)
