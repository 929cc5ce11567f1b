"""The rules of the rooms: small folders, small modules, doors, and kinds that do not know one another.

There are no exceptions, but for modules on a list that may only become shorter: one that is no longer too long must
leave it.
"""

import ast
import re
import tomllib
from pathlib import Path

import house
import pytest
import rooms

TOOLS = Path(__file__).parents[1] / "tools"


MOST_FILES = 15
MOST_LINES = 500
MOST_LEVELS = 2

#: Modules of ours that are loaded once the first name of the smallest kind of queues is used; 6 were measured.
LOADED_BY_ONE_QUEUE = 8


def doors(root):
    """Every folder of the packages, and its door, which may not be there."""
    found = {folder for package in rooms.PACKAGES for folder in [root / package, *(root / package).rglob("*")]}
    return {folder: folder / rooms.DOOR for folder in found if folder.is_dir() and folder.name != "__pycache__"}


def large_folders(root):
    """Folders with too many modules, and how many they have."""
    return {folder: count for folder, count in rooms.folders(root).items() if count > MOST_FILES}


def deep_folders(root):
    """Folders that lie too deep below their package."""
    return [folder for folder in rooms.folders(root) if folder.count("/") > MOST_LEVELS]


def long_modules(root):
    """Modules with too many lines."""
    lengths = {name: len(file.read_text(encoding="utf-8").splitlines()) for name, file in rooms.modules(root).items()}
    return {name for name, lines in lengths.items() if lines > MOST_LINES}


def door_complaints(root):
    """What is missing at the doors, one sentence each."""
    complaints = []
    for folder, door in doors(root).items():
        if not door.is_file():
            complaints.append(f"{folder.relative_to(root).as_posix()} has no {rooms.DOOR}")
            continue
        shown = door.relative_to(root).as_posix()
        if not ast.get_docstring(ast.parse(door.read_text(encoding="utf-8"))):
            complaints.append(f"{shown} has no docstring")
        if rooms.exported_by(door) is None:
            complaints.append(f"{shown} has no __all__")
    return sorted(complaints)


def map_complaints(root):
    """Modules and folders that the docstring of their door has no line for, and lines for what is not there."""
    wrong = []
    for folder, door in doors(root).items():
        inside = {file.stem for file in folder.glob("[!_]*.py")}
        inside |= {file.parent.name for file in folder.glob(f"*/{rooms.DOOR}")}
        told = re.findall(r"^`([a-z]\w*)`$", ast.get_docstring(ast.parse(door.read_text(encoding="utf-8"))), re.M)
        public = set(rooms.exported_by(door) or ())
        wrong += [f"{folder.relative_to(root)}: {name}" for name in sorted(inside ^ (set(told) - (public - inside)))]
    return sorted(wrong)


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
    assert large_folders(root) == {}


def test_no_folder_lies_too_deep(root):
    assert deep_folders(root) == []


def test_no_module_is_too_long(root):
    assert long_modules(root) == set()


def test_every_folder_has_a_door_that_says_what_is_inside(root):
    assert door_complaints(root) == []


def test_no_module_hides_a_name_of_its_door(root):
    """Once a module is imported it is an attribute of its folder, in place of what the door exports by that name."""
    hidden = [
        (door, name)
        for door, file in rooms.modules(root).items()
        if rooms.is_door(file)
        for name in rooms.exported_by(file) or ()
        if f"{door}.{name}" in rooms.modules(root)
        and f"from . import {name} as {name}\n" not in file.with_suffix(".pyi").read_text(encoding="utf-8")
    ]
    assert hidden == []


def test_every_module_has_a_line_on_the_map_of_its_door(root):
    assert map_complaints(root) == []


def test_a_kind_knows_no_other_kind(root):
    assert rooms.kind_edges(rooms.imports(root)) == [], "what two kinds need belongs to neither"


def test_kinds_that_are_folders_are_kept_apart_by_contract(root):
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    assert without_contract(root, project["tool"]["importlinter"]["contracts"]) == []


def test_one_queue_loads_few_modules(root):
    assert house.loaded(house.ONE_QUEUE, root) <= LOADED_BY_ONE_QUEUE


@pytest.mark.parametrize("kind", house.SOLVED)
def test_a_solve_loads_what_it_uses(root, kind):
    """Commands, studies, simulations, pictures and methods that it does without are loaded when they are used."""
    program = house.COMMAND.format(words=["optmodels", *house.solving(kind)])
    assert house.loaded(program, root) <= house.LOADED[kind]


# -- the rules notice --------------------------------------------------------------------------------------------------


@pytest.fixture
def toy(tmp_path):
    """A small tree that keeps all rules."""
    for folder in rooms.PACKAGES:
        write(tmp_path / folder / rooms.DOOR, DOOR)
    write(tmp_path / "queueing/robots/__init__.py", DOOR)
    write(tmp_path / "queueing/robots/queue.py", "from ..numerics import X\n")
    write(tmp_path / "queueing/numerics.py", "X = 1\n")
    return tmp_path


DOOR = '"""Say what is inside."""\n\n__all__ = []\n'


def write(file, text):
    """A file with its folders."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def broken(root):
    """The rules that a tree breaks, with what breaks them."""
    rooms.modules.cache_clear()  # the tree has grown
    found = {
        "files": large_folders(root),
        "levels": deep_folders(root),
        "lines": long_modules(root),
        "doors": door_complaints(root),
        "kinds": rooms.kind_edges(rooms.imports(root)),
    }
    return {rule: what for rule, what in found.items() if what}


def test_a_tree_that_keeps_the_rules_is_not_complained_about(toy):
    assert broken(toy) == {}


def test_a_module_that_is_missing_on_the_map_is_noticed(toy):
    expected = ["queueing/robots: queue", "queueing: numerics", "queueing: robots"]
    assert map_complaints(toy) == expected
    write(
        toy / "queueing/__init__.py",
        '"""What is inside.\n\n`numerics`\n    Sums.\n`robots`\n    Queues.\n`gone`\n"""\n',
    )
    write(toy / "queueing/robots/__init__.py", '"""What is inside.\n\n`queue`\n    A queue.\n"""\n')
    assert map_complaints(toy) == ["queueing: gone"]


def test_a_large_folder_is_noticed(toy):
    for number in range(MOST_FILES - 3):
        write(toy / f"queueing/robots/part{number}.py", "")
    assert broken(toy) == {}  # 14 with the door and the queue
    write(toy / "queueing/robots/more.py", "")
    assert broken(toy) == {}
    write(toy / "queueing/robots/too_much.py", "")
    assert broken(toy) == {"files": {"queueing/robots": MOST_FILES + 1}}


def test_a_deep_folder_is_noticed(toy):
    write(toy / "queueing/robots/fleet/__init__.py", DOOR)
    assert broken(toy) == {}
    write(toy / "queueing/robots/fleet/classes/__init__.py", DOOR)
    assert broken(toy) == {"levels": ["queueing/robots/fleet/classes"]}


def test_a_long_module_is_noticed(toy):
    write(toy / "queueing/numerics.py", "X = 1\n" * MOST_LINES)
    assert broken(toy) == {}
    write(toy / "queueing/numerics.py", "X = 1\n" * (MOST_LINES + 1))
    assert broken(toy) == {"lines": {"queueing.numerics"}}


@pytest.mark.parametrize(
    ("door", "complaint"),
    [
        (None, "queueing/robots has no __init__.py"),
        ("__all__ = []\n", "queueing/robots/__init__.py has no docstring"),
        ('"""Say what is inside."""\n', "queueing/robots/__init__.py has no __all__"),
    ],
)
def test_a_poor_door_is_noticed(toy, door, complaint):
    (toy / "queueing/robots/__init__.py").unlink()
    if door is not None:
        write(toy / "queueing/robots/__init__.py", door)
    assert broken(toy) == {"doors": [complaint]}


@pytest.mark.parametrize(
    "statement",
    ["from .robots import queue", "from .robots.queue import X", "def f():\n    import queueing.robots.queue"],
)
def test_a_kind_that_knows_another_is_noticed(toy, statement):
    write(toy / "queueing/routing/__init__.py", DOOR)
    write(toy / "queueing/routing/costs.py", statement.replace("from .", "from ..") + "\n")
    assert broken(toy) == {"kinds": [("queueing.routing.costs", "queueing.robots.queue")]}


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
