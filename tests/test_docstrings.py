"""What the doors export says how it is used: a summary, every parameter by its name, what is returned, an example.

Two rules. What the front doors (``optmodels``, ``heuristics``, ``queueing``) and the doors of the kinds export has all
of these, and its examples are run. What other doors export has parameters and returns.

numpydoc has a validator as well, but brings Sphinx with it. The parts are looked for by `documented` of
``tools/house.py``, so that the table of figures and this test agree.
"""

import doctest
import inspect
import re
from enum import Enum
from functools import cache
from importlib import import_module
from pathlib import Path

import house
import pytest
import rooms

ROOT = Path(__file__).parents[1]

SECTION = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}\n", re.M)


# -- reading -----------------------------------------------------------------------------------------------------------


@cache
def exports():
    """Every function and class that a door exports, by the name of its home; and whether a main door does."""
    found = {}
    for door, file in rooms.modules(ROOT).items():
        if not rooms.is_door(file):
            continue
        for word in rooms.exported_by(file) or ():
            thing = getattr(import_module(door), word)
            if house.is_documentable(thing) and thing.__module__.partition(".")[0] in rooms.PACKAGES:
                name = f"{thing.__module__}.{thing.__qualname__}"
                found[name] = (thing, door in rooms.MAIN_DOORS or (name in found and found[name][1]))
    return found


def sections(text):
    """The sections of a docstring in numpy's form, by title; the text above the first one has the title ''."""
    pieces = SECTION.split(text)
    return {"": pieces[0], **dict(zip(pieces[1::2], pieces[2::2], strict=True))}


def entries(section):
    """Names that a section of parameters or attributes explains: ``x``, ``x, y`` or ``x : float`` at the margin."""
    lines = [line for line in section.splitlines() if line and not line[0].isspace() and not line.startswith(">>>")]
    return [name.strip().lstrip("*") for line in lines for name in line.partition(" : ")[0].split(",")]


def parameters(thing):
    """Names of the arguments that somebody may give: those that begin with an underscore are private."""
    if inspect.isclass(thing) and issubclass(thing, Enum):
        return []  # it is asked for by a value
    try:
        names = inspect.signature(thing).parameters
    except (ValueError, TypeError):  # classes of the language say nothing
        return []
    return [name for name in names if not name.startswith("_")]


def faults(thing, full):
    """What a docstring lacks, in words; nothing if it complies."""
    text = inspect.getdoc(thing) or ""
    parts = sections(text)
    lacking = [part for part, there in house.documented(thing).items() if not there and (full or part != "example")]
    if not parts[""].strip().partition("\n\n")[0].rstrip().endswith("."):
        lacking.append("a summary that is a sentence")
    explained = entries(parts.get("Parameters", "")) + entries(parts.get("Attributes", ""))
    if "Parameters" not in lacking and not getattr(thing, "_is_protocol", False):
        lacking += [f"parameter {name}" for name in parameters(thing) if name not in explained]
    lacking += [
        f"{name}, which is no parameter, among them"
        for name in entries(parts.get("Parameters", ""))
        if name not in parameters(thing)
    ]
    return lacking


# -- rules -------------------------------------------------------------------------------------------------------------


def test_what_doors_export_is_documented():
    found = {name: faults(thing, full) for name, (thing, full) in sorted(exports().items())}
    assert {name: some for name, some in found.items() if some} == {}


@pytest.mark.parametrize("name", [name for name, (thing, _) in exports().items() if ">>> " in (thing.__doc__ or "")])
def test_examples_print_what_they_say(name):
    thing = exports()[name][0]
    globs = dict(vars(import_module(thing.__module__)))
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    said = []
    for example in doctest.DocTestFinder(recurse=True).find(thing, name, module=False, globs=globs):
        runner.run(example, out=said.append)
    assert runner.tries > 0
    assert runner.failures == 0, "".join(said)


# -- the checker itself ------------------------------------------------------------------------------------------------


def whole(x: int, *more: int) -> int:
    """Add numbers.

    Parameters
    ----------
    x : int
        A number.
    *more
        Others.

    Returns
    -------
    int
        Their sum.

    Examples
    --------
    >>> whole(1, 2)
    3
    """
    return x + sum(more)


def wrong(x: int, y: int) -> int:
    """Add numbers

    Parameters
    ----------
    x, z
        Numbers.
    """
    return x + y


def test_faults_are_named():
    assert faults(whole, full=True) == []
    assert faults(wrong, full=False) == [
        "Returns",
        "a summary that is a sentence",
        "parameter y",
        "z, which is no parameter, among them",
    ]
    assert "example" in faults(wrong, full=True)
