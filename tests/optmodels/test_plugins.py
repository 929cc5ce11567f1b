"""Distributions of others that are broken, each in its own way: named once, and nothing else suffers."""

import contextlib
import json
import os
import re
import subprocess
import sys

import pytest

from optmodels import registry as plugins
from optmodels.cli import main
from optmodels.errors import BrokenPlugin
from optmodels.generating import generate
from optmodels.registry import REGISTRIES, kinds, make_strategy, strategies

MODULE = '''
class Useless:
    """A strategy without its `needs`."""
    name = "useless"
    def solve(self, oracle, rng): ...

class Wanting:
    """A strategy that needs what is no class."""
    name, needs = "wanting", "everything"
    def solve(self, oracle, rng): ...

class Problem:
    """A problem that fails on all data."""
    @classmethod
    def from_data(cls, data, **others):
        return data + 1

class Empty: ...

from optmodels.kinds import Kind

FAILING = Kind("failing", "Why?", "nobody", Problem, {"x": "how many"})
HOLLOW = Kind("hollow", "Why?", "nobody", Empty, {"x": "how many"}, generator="broken_things:Empty",
              picture="broken_things:nowhere", commands={"solve": "broken_things:Empty", "go": "broken_things:nowhere"})
NAMELESS = Kind("another", "Why?", "nobody", Problem, {"x": "how many"})
'''

COINS = '''
class Coins:
    """A problem with everything, which works as long as nothing is asked."""
    kind, name = "coins", "two"

    @classmethod
    def from_data(cls, data, **others):
        return cls()

    @property
    def space(self):
        from heuristics.spaces import BinaryVectors
        return BinaryVectors(2)

    def evaluate(self, decision):
        raise KeyError("evaluate")

    def experiment(self, decision):
        raise KeyError("experiment")

class Drawn:
    """Options of random coins."""
    kind = "coins"
    def instance(self):
        raise KeyError("instance")

def picture(problem, result):
    return None

def toss(json: bool = False):
    """Toss a coin."""
    raise KeyError("toss")

def read(json: bool = False):
    """Read a file that is not there."""
    from optmodels import load
    load("nowhere.json")

from optmodels.kinds import Kind

KIND = Kind("coins", "Why?", "nobody", Coins, {"x": "how many"}, generator=Drawn, picture=picture, simulated=True,
            commands={"toss": toss, "read": read})
'''

SOUND = "Metadata-Version: 2.1\nName: {name}\nVersion: 1\n"
STRATEGIES = "[optmodels.strategies]\n"

#: Name of a distribution, what its entry_points.txt holds, whether it has METADATA, and whether it is passed by.
DISTRIBUTIONS = {
    "bad_line": (STRATEGIES + "no equals sign here\n", True, True),
    "line_without_a_group": ("a = b\n" + STRATEGIES, True, False),
    "bad_bytes": (b"\xff\xfe\x00[optmodels", True, True),
    "no_metadata": (STRATEGIES + "lost = broken_things:Empty\n", False, True),
    "no_metadata_of_another": ("[console_scripts]\nx = y:z\n", False, False),
    "no_entry_points": (None, True, False),
    "no_needs": (
        STRATEGIES + "useless = broken_things:Useless\nwanting = broken_things:Wanting\nempty = broken_things:Empty\n",
        True,
        False,
    ),
    "bad_kind": (
        "[optmodels.kinds]\nfailing = broken_things:FAILING\nhollow = broken_things:HOLLOW\n",
        True,
        False,
    ),
    "bad_coins": ("[optmodels.kinds]\ncoins = failing_coins:KIND\n", True, False),
    "no_kind": (
        "[optmodels.kinds]\nabsent = no_such_module:KIND\nclass = broken_things:Problem\n"
        "nameless = broken_things:NAMELESS\nfieldless = kind_without_fields:KIND\nwrong = kind_of_wrong_type:KIND\n",
        True,
        False,
    ),
    "gone": (STRATEGIES + "gone = no_such_module:Gone\n", True, False),
}

#: Modules that cannot be imported, as their records are none.
RECORDS = {
    "kind_without_fields": 'from optmodels.kinds import Kind\nKIND = Kind("fieldless")\n',
    "kind_of_wrong_type": 'from optmodels.kinds import Kind\nKIND = Kind("wrong", "Why?", "nobody", 3, {"x": "y"})\n',
}

#: What of all this is named where kinds are listed, and where commands are besides.
BROKEN_KINDS = ("absent", "class", "fieldless", "nameless", "wrong")
PASSED_BY = sorted(name for name, (_, _, passed) in DISTRIBUTIONS.items() if passed)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of installed distributions."""
    place = tmp_path_factory.mktemp("installed")
    for name, text in {"broken_things": MODULE, "failing_coins": COINS, **RECORDS}.items():
        (place / f"{name}.py").write_text(text)
    for name, (points, metadata, _) in DISTRIBUTIONS.items():
        info = place / f"{name}-1.dist-info"
        info.mkdir()
        if metadata:
            (info / "METADATA").write_text(SOUND.format(name=name.replace("_", "-")))
        if points is not None:
            (info / "entry_points.txt").write_bytes(points if isinstance(points, bytes) else points.encode())
    return place


@pytest.fixture
def installed(folder, monkeypatch):
    """The distributions, on the path of this process."""

    def forget():
        plugins._entry_points.cache_clear()
        plugins._told.clear()
        for registry in REGISTRIES:
            registry._offered = None

    monkeypatch.syspath_prepend(str(folder))
    forget()
    yield folder
    for name in ("broken_things", "failing_coins", *RECORDS):
        sys.modules.pop(name, None)
    monkeypatch.undo()
    forget()


@pytest.fixture
def small(instances):
    return str(instances / "placement" / "gautam-2x3.json")


def test_each_is_named_once_and_everything_else_works(installed, small, caplog, capsys):
    for words in (["list"], ["solve", small, "--strategy", "exhaustive"], ["check", small], ["list", "genetic"]):
        assert main(words) == 0
    assert "defect" not in capsys.readouterr().err
    told = [record.getMessage() for record in caplog.records if record.name == "optmodels"]
    assert sorted(sentence.split("'")[1] for sentence in told) == sorted([*PASSED_BY, *BROKEN_KINDS])
    begin = ("optmodels: the distribution ", "optmodels: problem kind ")
    assert all(sentence.startswith(begin) and "\n" not in sentence for sentence in told)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("absent", r"'absent' \(no-kind\) cannot be loaded from no_such_module:KIND: ModuleNotFoundError"),
        ("class", r"'class' \(no-kind\) is invalid: broken_things:Problem is no optmodels.kinds.Kind"),
        ("nameless", r"'nameless' \(no-kind\) is invalid: broken_things:NAMELESS calls itself 'another'"),
        (
            "fieldless",
            r"'fieldless' \(no-kind\) cannot be loaded .* missing 4 required positional arguments",
        ),
        ("wrong", r"'wrong' \(no-kind\) cannot be loaded .*kind 'wrong': problem is 3; it is a class or a function"),
    ],
)
def test_a_record_that_is_none_is_told_to_those_who_ask_for_it(installed, name, sentence, capsys):
    with pytest.raises(BrokenPlugin, match=sentence):
        kinds[name]
    assert main(["list", name]) == 2
    assert f"problem kind '{name}'" in capsys.readouterr().err
    assert name not in [kind.name for kind in kinds.sound()]


def test_commands_that_are_none_are_named_once_and_all_others_are_offered(installed, caplog, capsys):
    for _ in range(2):
        with contextlib.suppress(SystemExit):
            main(["--help"])
    assert re.search(r"^  visits ", capsys.readouterr().out, re.MULTILINE)
    told = [record.getMessage() for record in caplog.records if "command" in record.getMessage()]
    assert len(told) == 2
    assert "optmodels: command 'solve' of kind 'hollow' is ignored: optmodels has one of this name." in told
    assert any("command 'go' (bad-kind) cannot be loaded from broken_things:nowhere" in sentence for sentence in told)
    assert main(["go"]) == 2
    assert "command 'go' (bad-kind) cannot be loaded" in capsys.readouterr().err


def test_what_is_sound_of_the_others_is_offered(installed):
    assert {entry.origin for entry in strategies.entries()} == {"built in", "no-needs", "gone"}


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("useless", r"strategy 'useless' \(no-needs\) is invalid: broken_things:Useless has no needs; choose another"),
        ("wanting", r"strategy 'wanting' \(no-needs\) is invalid: .* has no needs that is a class"),
        ("empty", r"strategy 'empty' \(no-needs\) is invalid: .* has no name, needs, solve"),
        ("gone", r"strategy 'gone' \(gone\) cannot be loaded .* No module named"),
    ],
)
def test_a_strategy_that_is_none_is_told_to_those_who_ask_for_it(installed, name, sentence, small, capsys):
    with pytest.raises(BrokenPlugin, match=sentence):
        make_strategy(name)
    assert main(["solve", small, "--strategy", name]) == 2
    assert capsys.readouterr().err.startswith(f"optmodels: strategy '{name}'")


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("failing", "problem kind 'failing' (bad-kind) fails on these data: TypeError: "),
        ("hollow", "problem kind 'hollow' (bad-kind) is invalid: broken_things:Empty has no from_data"),
    ],
)
def test_a_kind_that_fails_costs_its_own_file_alone(installed, tmp_path, small, capsys, kind, sentence):
    file = tmp_path / "a.json"
    file.write_text(json.dumps({"format": 1, "kind": kind, "name": "x", "data": {}}))
    assert main(["check", str(file), small]) == 2
    told = capsys.readouterr()
    assert "is well formed" in told.out  # of the other file
    assert sentence in told.err and "Traceback" not in told.err
    assert main(["generate", "hollow"]) == 2
    assert "generator 'hollow' (bad-kind) is invalid" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["generate", "coins"],
            "generator 'coins' (bad-coins) fails: KeyError: 'instance'; report this to its authors.",
        ),
        (["toss"], "command 'toss' (bad-coins) fails: KeyError: 'toss'; report this to its authors."),
        (["read"], "nowhere.json: there is no such file"),
        (["plot", "FILE", "--out", "a.svg"], "picture 'coins' (bad-coins) fails: AttributeError: "),
        (["simulate", "FILE", "--at", "0,1"], "simulation 'coins' (bad-coins) fails: KeyError: 'experiment'"),
        (["evaluate", "FILE", "--at", "0,1"], "the distribution 'bad-coins' fails: KeyError: 'evaluate'"),
        (["solve", "FILE", "--strategy", "exhaustive"], "the distribution 'bad-coins' fails: KeyError: 'evaluate'"),
    ],
)
def test_what_fails_is_the_defect_of_those_who_offer_it(installed, tmp_path, monkeypatch, capsys, words, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "FILE").write_text(json.dumps({"format": 1, "kind": "coins", "name": "x", "data": {}}))
    assert main(words) == 2
    told = capsys.readouterr().err
    assert sentence in told
    assert "defect of optmodels" not in told and "Traceback" not in told


def test_python_gets_the_cause_with_the_sentence(installed):
    with pytest.raises(BrokenPlugin, match="generator 'coins'") as failure:
        generate("coins")
    assert isinstance(failure.value.__cause__, KeyError)


def test_a_defect_of_a_built_in_kind_stays_a_defect(small, monkeypatch, capsys):
    def fails(*_, **__):
        raise TypeError("ours")

    monkeypatch.setattr("optmodels.placement.problem.PlacementProblem.from_data", fails)
    assert main(["check", small]) == 1
    assert "this is a defect of optmodels" in capsys.readouterr().err


def test_the_first_folder_on_the_path_counts(tmp_path, monkeypatch):
    for number in (1, 2):
        info = tmp_path / str(number) / f"Same_Name-{number}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(SOUND.format(name="same-name"))
        (info / "entry_points.txt").write_text(f"{STRATEGIES}same = module{number}:Same\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "1"), str(tmp_path / "2")])
    plugins._entry_points.cache_clear()
    try:
        assert [point.value for point in plugins._entry_points()] == ["module1:Same"]
    finally:
        plugins._entry_points.cache_clear()


@pytest.mark.slow
def test_processes_started_for_the_work_do_not_say_it_again(folder, small):
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    words = [sys.executable, "-m", "optmodels", "compare", small, "--strategies", "annealing", "--seeds", "4"]
    told = subprocess.run(
        [*words, "--evaluations", "50", "--workers", "2"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert told.returncode == 0, told.stderr
    assert sorted(line.split("'")[1] for line in told.stderr.splitlines()) == PASSED_BY
