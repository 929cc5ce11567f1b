"""Formulas are read as arithmetic, and everything else is refused in a sentence."""

import random
import string

import pytest

from optmodels.errors import InstanceError
from optmodels.formulas import Expression
from optmodels.formulas.parsing import DEEPEST, LONGEST, FormulaError, Measure, Number, depth, parsed

REFUSED = {
    "": "a number, a measure, a constant or a function is expected",
    "   ": "at the end",
    "x +": "at the end",
    "(x": "a parenthesis is not closed",
    "x)": "an operator or the end is expected",
    "x y": "character 3, 'y'",
    "2x": r"as in 2\*x",
    "1_000*x": "an operator is expected",
    "0x10*x": "an operator is expected",
    "1.2.3*x": "an operator is expected",
    "x, y": "an operator or the end is expected",
    "min(x,)": "is expected",
    "max(x)": "of two terms or more",
    "abs(x, y)": "of one term",
    "log": "log is a function",
    "x(2)": "calls what is no function",
    "sin(x)": "calls what is no function",
    "eval(x)": "calls what is no function",
    "__import__('os').system('true')": "character 12",
    "import os": "'import'",
    "x.real": r"character 2 is '\.'",
    "().__class__": r"character 3 is '\.'",
    "()": "is expected",
    "__class__": "is no name of a measure",
    "_x": "is no name of a measure",
    "x[0]": r"character 2 is '\['",
    "[x]": r"character 1 is '\['",
    "{x}": r"character 1 is '\{'",
    "'x'": "character 1",
    '"x"': "character 1",
    "f'{x}'": "character 2",
    "lambda y: x": "character 9 is ':'",
    "(y := x)": "character 4 is ':'",
    "x if x else 1": "'if'",
    "x for x in y": "'for'",
    "x and y": "product of two comparisons",
    "x or y": r"max\(first, second\)",
    "not x": r"1 - \(comparison\)",
    "x < y < z": "comparisons are not chained",
    "x < y == z": "comparisons are not chained",
    "x // 2": "character 3 is '/'",
    "x % 2": "character 3 is '%'",
    "x ^ 2": r"write \*\* for powers",
    "x = 2": "write == to compare",
    "x; y": "character 2 is ';'",
    "x # y": "character 3 is '#'",
    "x @ y": "character 3 is '@'",
    "True": "is no name",
    "None + x": "is no name",
    "10**10**10*x": "a huge power",
    "x**1001": "a huge power",
    "x**-1001": "a huge power",
    "1e999*x": "too large for a number",
    "9" * 400 + "*x": "too large for a number",
    "1e300*1e300*x": r"1e300\*1e300 has no finite value",
    "x + 1/0": "1/0 has no finite value",
    "1 + x/(2 - 2)": r"x/\(2 - 2\) has no finite value",
    "x + log(0)": r"log\(0\) has no finite value",
    "x + sqrt(-1)": "no finite value",
    "x + (-8)**(1/3)": "no finite value",
    "x + exp(1000)": "no finite value",
    "x\0": "character 2",
    "x\u00a0+ 1": "character 2",
    "\uff0bx": "character 1",
    "\u0661*x": "character 1",
    "(" * 49 + "x" * 5 + ")" * 48: "a parenthesis is not closed",
    "(" * 51 + "x" + ")" * 51: "nested more than 50",
    "(" * 9_000: "nested more than 50",
    "-" * 9_000 + "x": "nested more than 50",
    "x" + "**x" * 3_000: "nested more than 50",
    "x" + "*x" * 60: "nested more than 50",
    "abs(" * 2_400: "nested more than 50",
    "x" * (LONGEST + 1): "at most 10000 characters",
    "x+" * 5_000_000 + "x": "at most 10000 characters",
    "17": "depends on one measure",
    "2*(3 < 4)": "depends on one measure",
}


@pytest.mark.parametrize("formula", REFUSED, ids=lambda text: repr(text[:24]))
def test_what_is_no_formula_is_refused_in_a_sentence(formula):
    with pytest.raises(InstanceError, match=REFUSED[formula]) as refusal:
        Expression(formula)
    told = str(refusal.value)
    assert told.startswith("cost.formula is ")
    assert told.endswith(".")
    assert "\n" not in told
    assert len(told) < 400


@pytest.mark.parametrize("formula", [None, 1, 2.5, ["x"], {"x": 1}, b"x", True])
def test_a_formula_is_a_text(formula):
    with pytest.raises(InstanceError, match="a formula is a text"):
        Expression(formula)


@pytest.mark.parametrize(
    ("constants", "rule"),
    [
        (None, "numbers by name"),
        ([1], "numbers by name"),
        ({"a": "1"}, "finite numbers"),
        ({"a": True}, "finite numbers"),
        ({"a": float("nan")}, "finite numbers"),
        ({"a": float("inf")}, "finite numbers"),
        ({"a": 10**400}, "finite numbers"),
        ({"a": None}, "finite numbers"),
        ({"max": 1}, "not as a function is"),
        ({"lambda": 1}, "a letter first"),
        ({"_a": 1}, "a letter first"),
        ({"a b": 1}, "a letter first"),
        ({"": 1}, "a letter first"),
        ({1: 1}, "a letter first"),
    ],
)
def test_constants_are_numbers_with_names(constants, rule):
    with pytest.raises(InstanceError, match=rule):
        Expression("x", constants)


def test_what_holds_numbers_alone_is_computed_at_once():
    assert parsed("2*(3 - 1)**2/max(4, a)", {"a": 8}) == Number(1.0)
    assert parsed("(x)", {}) == Measure("x")


def test_a_tree_is_never_deeper_than_its_limit():
    assert depth(parsed("(" * DEEPEST + "x" + ")" * DEEPEST, {})) == 1
    assert depth(parsed("x" + "*x" * (DEEPEST - 1), {})) == DEEPEST
    assert depth(parsed("+".join(["x*y"] * 2_000), {})) == 3  # sums are flat


def test_random_texts_are_read_or_refused():
    rng = random.Random(1)
    pieces = [
        *"+-*/()<>=!,. \t\n^%&|~@#$[]{}:;'\"\\0123456789_",
        *("**", "//", "<=", "==", "1e9", "1e-9", "9e999", ".5", "x", "loss", "min(", "max(", "abs(", "exp(", "log("),
        *("sqrt(", "lambda ", "import ", "__class__", " and ", " if ", " else ", ":=", "f'", "eval(", "\u00e9"),
    ]
    seen = {"read": 0, "refused": 0}
    for _ in range(20_000):
        text = "".join(rng.choice(pieces) for _ in range(rng.randint(1, 12)))
        try:
            parsed(text, {"a": 2.0})
            seen["read"] += 1
        except FormulaError as refusal:
            assert str(refusal).endswith(".")
            seen["refused"] += 1
    assert min(seen.values()) > 500


def test_random_characters_are_read_or_refused():
    rng = random.Random(2)
    for _ in range(5_000):
        text = "".join(chr(rng.choice((rng.randrange(128), rng.randrange(0xD800)))) for _ in range(rng.randint(0, 9)))
        try:
            parsed(text, {})
        except FormulaError as refusal:
            assert str(refusal).endswith(".")


def test_every_printable_character_alone_is_a_name_or_refused():
    for character in string.printable:
        try:
            term = parsed(character, {})
        except FormulaError:
            continue
        assert term == (Number(float(character)) if character.isdigit() else Measure(character))
