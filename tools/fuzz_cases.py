"""Broken files with the structure of good ones: mutations of instance and result documents.

A case changes a document that loads in one to three places, each by an operator that knows JSON: another number or
type, a key lost, misspelt or added, a list cut, doubled or made ragged, a part of another file put in its place. A few
cases break the text itself. Everything is drawn from one seed, so a case is named by its number alone.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

Path = tuple[str | int, ...]

#: Numbers that fields rarely expect. 10**400 is no float, and 5e-324 is the smallest one.
NUMBERS: tuple[Any, ...] = (
    0, -1, 1, 2, 3, -0.0, 0.5, 2.5, 1e-9, 1e-300, 5e-324, 1e9, 1e15, 1e100, 1e200, 1e300, 1.7e308, -1e300,
    10**6, 10**9, 10**30, 10**400, float("nan"), float("inf"), float("-inf"),
)  # fmt: skip

#: Texts that names, labels and paths rarely are.
TEXTS: tuple[str, ...] = (
    "", " ", "x", "=1+1", "@x", "../../etc/passwd", "/dev/null", "a\x00b", "\x1b[31mred", "é" * 50, "\u202e",
    "n" * 20_000, "weighted-sum", "expression", "constant", "exponential", "phase-type", "samples", "placement", "null",
)  # fmt: skip

#: Pieces of formulas, good and bad: most of what they make is no formula, and some of it is.
PIECES: tuple[str, ...] = (
    "loss", "starvation", "opening", "cost", "obsolescence", "x", "a", "0", "1", "0.1", "1e-3", "1e300", "9e999", "2",
    "+", "-", "*", "/", "**", "//", "%", "^", "<", ">=", "==", "=", ":=", "(", ")", ",", ".", "[", "]", "'", '"', "#",
    "max(0, ", "min(", "abs(", "exp(", "log(", "sqrt(", "eval(", "__import__(", "__class__", "lambda x: ", " if ",
    " and ", "not ", "f'{", "\n", "\x00", "é", "\uff0b", "10**10**10", "(" * 60, "-" * 3_000, "x*" * 6_000,
)  # fmt: skip

#: Values of other types.
OTHERS: tuple[Any, ...] = (None, True, False, [], {}, [[]], [None], [1, [2, [3]]], {"a": 1}, {"law": "constant"}, "")


def mutate(document: Any, rng: random.Random, donors: list[Any]) -> str:
    """The text of a file that differs from `document` in a few places.

    Parameters
    ----------
    document
        A document as JSON gives it; left as it is.
    donors
        Other documents, parts of which may be put in.
    """
    changed = copy.deepcopy(document)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        changed = _change(changed, rng, donors)
    if rng.random() < 0.05 and isinstance(changed, dict):
        changed["cost"] = {"name": "expression", "formula": _formula(rng), "constants": {"a": rng.choice(NUMBERS)}}
    text = json.dumps(changed)
    if rng.random() < 0.06:
        text = _break(text, rng)
    return text


def paths(document: Any, prefix: Path = ()) -> Iterator[Path]:
    """Every place of a document, the whole first; of long lists the first places only."""
    yield prefix
    if isinstance(document, dict):
        for key, value in document.items():
            yield from paths(value, (*prefix, key))
    elif isinstance(document, list):
        for index, value in enumerate(document[:12]):
            yield from paths(value, (*prefix, index))


def _change(document: Any, rng: random.Random, donors: list[Any]) -> Any:
    places = [path for path in paths(document) if path]
    if not places:
        return rng.choice(OTHERS)
    # A level first, then a place: else the entries of one long list would take all the cases.
    depth = rng.choice(sorted({len(path) for path in places}))
    path = rng.choice([path for path in places if len(path) == depth])
    parent = document
    for step in path[:-1]:
        parent = parent[step]
    here = parent[path[-1]]
    kind = rng.random()
    if kind < 0.12:
        _remove(parent, path[-1])
    elif kind < 0.20 and isinstance(parent, dict):
        _rename(parent, str(path[-1]), rng)
    elif kind < 0.30 and donors:
        parent[path[-1]] = _donated(path, rng, donors)
    elif kind < 0.40:
        parent[path[-1]] = copy.deepcopy(rng.choice(OTHERS))
    elif isinstance(here, (dict, list)):
        _restructure(here, rng)
    elif path[-1] == "formula":
        parent[path[-1]] = _formula(rng)
    elif isinstance(here, str):
        parent[path[-1]] = rng.choice((*TEXTS, here.upper(), here[:-1], here + here))
    elif isinstance(here, (int, float)) and not isinstance(here, bool):
        factor = rng.choice((10.0 ** rng.randint(-9, 9), 1 + 1e-9))
        scaled = (here * factor if abs(here) < 1e300 else here, -here, here + 1)
        parent[path[-1]] = rng.choice((*NUMBERS, *scaled))
    else:
        parent[path[-1]] = copy.deepcopy(rng.choice((*NUMBERS, *OTHERS)))
    return document


def _formula(rng: random.Random) -> str:
    """A formula of a measure that some kind has, or pieces put together."""
    if rng.random() < 0.5:
        return "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 8)))
    measure = rng.choice(("loss", "starvation", "opening", "mean_delay", "cost", "obsolescence", "open_sites"))
    form = rng.choice(
        ("{0}", "1/{0}", "-log({0})", "exp(1e3*{0})", "{0}**2 - {0}", "5*({0} > 0.1)", "a*{0}", "{0} + 1", "1e300*{0}")
    )
    return form.format(measure)


def _remove(parent: Any, step: str | int) -> None:
    del parent[step]


def _rename(parent: dict[str, Any], key: str, rng: random.Random) -> None:
    letters = list(key) or ["k"]
    place = rng.randrange(len(letters))
    letters[place] = rng.choice(("x", "", letters[place] * 2, "_"))
    value = parent[key] if rng.random() < 0.5 else parent.pop(key)
    parent["".join(letters)] = value


def _donated(path: Path, rng: random.Random, donors: list[Any]) -> Any:
    """What stands at the same place of another document, or anywhere in one."""
    donor = rng.choice(donors)
    try:
        found = donor
        for step in path:
            found = found[step]
    except (KeyError, IndexError, TypeError):
        found = donor
        for step in rng.choice(list(paths(donor))):
            found = found[step]
    return copy.deepcopy(found)


def _restructure(here: Any, rng: random.Random) -> None:
    if isinstance(here, dict):
        if rng.random() < 0.5 and here:
            first, second = rng.choice(list(here)), rng.choice(list(here))
            here[first], here[second] = here[second], here[first]
        else:
            here[rng.choice(("extra", "Data", "law", "cost", "__class__", ""))] = copy.deepcopy(rng.choice(OTHERS))
        return
    kind = rng.randrange(6)
    if kind == 0:
        here.clear()
    elif kind == 1:
        here.extend(copy.deepcopy(here[:1]))
    elif kind == 2 and here:
        here.pop(rng.randrange(len(here)))
    elif kind == 3:
        rng.shuffle(here)
    elif kind == 4 and here:
        here[rng.randrange(len(here))] = copy.deepcopy(rng.choice((*OTHERS, *NUMBERS)))
    else:
        here.extend(copy.deepcopy(here) * rng.choice((1, 3, 20)))


def _break(text: str, rng: random.Random) -> str:
    """The text of a document, no longer quite JSON."""
    place = rng.randrange(len(text) + 1)
    return rng.choice(
        (
            text[:place],
            "",
            text + text,
            "\ufeff" + text,
            text[:place] + rng.choice('{}[],:"\\0\t') + text[place:],
            "[" * 5_000 + text,
            text.replace("{", '{"name": 1, ', 1),
            text.replace("e", "\\u0000", 1),
            "null",
            "NaN",
        )
    )
