"""The rules of the rooms: small folders, small modules, doors, and kinds that do not know one another.

The flat folders break some of them. What they break is listed here, and the lists may only become shorter: a new
exception fails, and so does one that is no longer needed. When the modules have moved into rooms, the lists are empty.
"""

import ast
import importlib.util
import sys
import tomllib
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[1] / "tools"


def tool(name):
    """A module of the folder `tools`, which is no package."""
    sys.path.insert(0, str(TOOLS))
    try:
        spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(TOOLS))


rooms = tool("rooms")
house = tool("house")

MOST_FILES = 15
MOST_LINES = 500
MOST_LEVELS = 2

#: Folders with more files than that, and how many they have: lower a number when files leave.
LARGE_FOLDERS = {}

#: Modules with more lines than that.
LONG_MODULES = {"optmodels.cli.commands"}

#: Modules of ours that are loaded once the first name of the smallest kind of queues is used; 8 is the aim.
LOADED_BY_ONE_QUEUE = 8


def doors(root):
    """Every folder of the packages, and its door, which may not be there."""
    found = {folder for package in rooms.PACKAGES for folder in [root / package, *(root / package).rglob("*")]}
    return {folder: folder / rooms.DOOR for folder in found if folder.is_dir() and folder.name != "__pycache__"}


def independent(contracts, package):
    """The modules of a package that some `independence` contract, without exceptions, keeps apart."""
    return {
        frozenset(module for module in contract["modules"] if module.partition(".")[0] == package)
        for contract in contracts
        if contract["type"] == "independence" and not contract.get("ignore_imports")
    }


def without_contract(root, contracts):
    """Packages whose kinds are folders, two of them at least, that no contract keeps apart."""
    kinds = {
        package: frozenset(f"{package}.{kind}" for kind in rooms.KINDS if (root / package / kind).is_dir())
        for package in rooms.PACKAGES
    }
    return [
        package
        for package, there in kinds.items()
        if len(there) > 1 and not any(there <= kept for kept in independent(contracts, package))
    ]


def test_no_folder_has_too_many_files(root):
    assert {folder: n for folder, n in rooms.folders(root).items() if n > MOST_FILES} == LARGE_FOLDERS


def test_no_folder_lies_too_deep(root):
    assert [folder for folder in rooms.folders(root) if folder.count("/") > MOST_LEVELS] == []


def test_no_module_is_too_long(root):
    lengths = {name: len(file.read_text(encoding="utf-8").splitlines()) for name, file in rooms.modules(root).items()}
    assert {name for name, lines in lengths.items() if lines > MOST_LINES} == LONG_MODULES


def test_every_folder_has_a_door_that_says_what_is_inside(root):
    for folder, door in doors(root).items():
        assert door.is_file(), f"{folder.relative_to(root)} has no {rooms.DOOR}"
        source = door.read_text(encoding="utf-8")
        assert ast.get_docstring(ast.parse(source)), f"{door.relative_to(root)} has no docstring"
        assert rooms.exported_by(door) is not None, f"{door.relative_to(root)} has no __all__"


def test_a_kind_knows_no_other_kind(root):
    assert sorted(rooms.kind_edges(rooms.imports(root))) == [], "what two kinds need belongs to neither"


def test_kinds_that_are_folders_are_kept_apart_by_contract(root):
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    assert without_contract(root, project["tool"]["importlinter"]["contracts"]) == []


def test_one_queue_loads_few_modules(root):
    assert house.loaded(house.ONE_QUEUE, root) <= LOADED_BY_ONE_QUEUE


# -- the rules notice --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("contract", "missing"),
    [
        (None, ["queueing"]),
        ({"type": "layers", "layers": ["queueing.robots", "queueing.routing"]}, ["queueing"]),
        ({"type": "independence", "modules": ["queueing.robots", "optmodels.routing"]}, ["queueing"]),
        ({"type": "independence", "modules": ["queueing.robots", "queueing.routing"], "ignore_imports": ["a -> b"]},
         ["queueing"]),
        ({"type": "independence", "modules": ["queueing.robots", "queueing.routing", "queueing.more"]}, []),
    ],
    ids=["none", "layers", "not-all", "exceptions", "kept"],
)  # fmt: skip
def test_a_contract_that_is_missing_is_noticed(tmp_path, contract, missing):
    for folder in ("queueing/robots", "queueing/routing", "optmodels/robots"):
        (tmp_path / folder).mkdir(parents=True)
    assert without_contract(tmp_path, [contract] if contract else []) == missing
