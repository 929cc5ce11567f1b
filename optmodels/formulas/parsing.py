r"""From the text of a formula to a tree: numbers, names, six functions and nothing else.

A formula may come from a file of strangers, so its text is never given to Python. It is cut into tokens, and read by
this grammar, in which operators bind as they do in Python:

.. code-block:: text

    comparison  =  sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
    sum         =  product { ("+" | "-") product }
    product     =  factor { ("*" | "/") factor }
    factor      =  ("+" | "-") factor | power
    power       =  atom [ "**" factor ]
    atom        =  number | name | function "(" comparison { "," comparison } ")" | "(" comparison ")"

What holds numbers alone is computed at once, and refused if it has no finite value, so that ``10**10**10`` is a
sentence and not an afternoon. Length and depth are limited, because whoever reads a tree goes as deep as it is.
"""

from __future__ import annotations

import keyword
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

#: Most characters of a formula, most levels of its tree, and the largest power that is written as a number.
LONGEST, DEEPEST, LARGEST_POWER = 10_000, 50, 1000.0

#: Functions of one number.
FUNCTIONS: dict[str, Callable[[float], float]] = {"abs": abs, "exp": math.exp, "log": math.log, "sqrt": math.sqrt}

#: Functions of two numbers or more.
CHOICES: dict[str, Callable[..., float]] = {"min": min, "max": max}

COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}

#: What a formula may hold, as the end of a sentence.
ALLOWED = (
    "a formula has numbers, measures, constants, + - * / **, comparisons, parentheses, and the functions "
    "min, max, abs, exp, log and sqrt"
)

#: What to write for what other languages have.
INSTEAD = {
    "and": "the product of two comparisons",
    "or": "max(first, second) of two comparisons",
    "not": "1 - (comparison)",
    "^": "** for powers",
    "=": "== to compare",
    "&": "the product of two comparisons",
    "|": "max(first, second) of two comparisons",
}

#: Words of Python that no measure has for its name.
KEYWORDS = frozenset(keyword.kwlist)

_NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_NAME = r"[^\W\d]\w*"
_TOKEN = re.compile(rf"(?P<number>{_NUMBER})|(?P<name>{_NAME})|(?P<sign>\*\*|//|<=|>=|==|!=|[-+*/<>(),])")
_SPACE = re.compile(r"[ \t\r\n]*")


class FormulaError(ValueError):
    """A text is no formula; the message says where and why."""


@dataclass(frozen=True)
class Number:
    """A number, written or computed from others."""

    value: float


@dataclass(frozen=True)
class Measure:
    """A measure by its name."""

    name: str


@dataclass(frozen=True)
class Operation:
    """An operator or a function of terms: ``+`` (of any number), ``*``, ``/``, ``**``, ``-`` (of one), or a name."""

    sign: str
    parts: tuple[Term, ...]


Term: TypeAlias = Number | Measure | Operation


def parsed(formula: str, constants: Mapping[str, float]) -> Term:
    """Read a formula.

    Parameters
    ----------
    formula
        The text.
    constants
        Names that stand for numbers.

    Returns
    -------
    Number, Measure or Operation
        The root of the tree; sums are flat, and what holds no measure is a number.

    Raises
    ------
    FormulaError
        If the text is no formula, is too long or too deep, or a part without measures has no finite value.
    """
    if len(formula) > LONGEST:
        raise FormulaError(f"a formula has at most {LONGEST} characters, and this one has {len(formula)}.")
    reader = _Reader(list(_tokens(formula)), formula, constants)
    term = reader.comparison()
    if reader.here.kind != "end":
        reader.refuse("an operator or the end is expected")
    return term


def is_name(text: str) -> bool:
    """Tell whether a text may be the name of a measure or of a constant."""
    return bool(re.fullmatch(_NAME, text)) and not text.startswith("_") and text not in KEYWORDS


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int


def _tokens(formula: str) -> Iterator[_Token]:
    at = 0
    while True:
        space = _SPACE.match(formula, at)
        at = at if space is None else space.end()
        if at == len(formula):
            yield _Token("end", "", at)
            return
        found = _TOKEN.match(formula, at)
        if found is None or found.group() == "//":
            sign = formula[at]
            raise FormulaError(f"character {at + 1} is {sign!r}: {_instead(sign)}.")
        kind = found.lastgroup or ""
        after = formula[found.end() : found.end() + 1]
        if kind == "number" and (after.isalnum() or after in ("_", ".")) and after:
            rule = f"after the number {_brief(found.group())} an operator is expected, as in 2*x, not {after!r}"
            raise FormulaError(f"at character {found.end() + 1}: {rule}.")
        yield _Token(kind, found.group(), at)
        at = found.end()


@dataclass
class _Reader:
    """Reads tokens from left to right by one function for each line of the grammar."""

    tokens: list[_Token]
    formula: str
    constants: Mapping[str, float]
    at: int = 0
    level: int = field(default=0)

    @property
    def here(self) -> _Token:
        return self.tokens[self.at]

    def takes(self, *texts: str) -> str | None:
        """Go past the next token if it is one of these."""
        token = self.here
        if token.kind != "sign" or token.text not in texts:
            return None
        self.at += 1
        return token.text

    def refuse(self, rule: str) -> None:
        token = self.here
        where = "at the end" if token.kind == "end" else f"at character {token.start + 1}, {_brief(token.text)!r}"
        raise FormulaError(f"{where}: {rule}; {_instead(token.text)}.")

    def comparison(self) -> Term:
        start = self.here.start
        first = self.sum()
        sign = self.takes(*COMPARISONS)
        if sign is None:
            return first
        term = self.made(sign, (first, self.sum()), start)
        if self.here.text in COMPARISONS:
            self.refuse("comparisons are not chained: multiply two of them, as in (a < b)*(b < c)")
        return term

    def sum(self) -> Term:
        start = self.here.start
        terms = [self.product()]
        while sign := self.takes("+", "-"):
            begun = self.here.start
            term = self.product()
            terms.append(term if sign == "+" else self.made("-", (term,), begun))
        return terms[0] if len(terms) == 1 else self.made("+", tuple(terms), start)

    def product(self) -> Term:
        start = self.here.start
        term = self.factor()
        while sign := self.takes("*", "/"):
            term = self.made(sign, (term, self.factor()), start)
        return term

    def factor(self) -> Term:
        start = self.here.start
        sign = self.takes("+", "-")
        if sign is None:
            return self.power()
        with self:
            term = self.factor()
        return term if sign == "+" else self.made("-", (term,), start)

    def power(self) -> Term:
        start = self.here.start
        base = self.atom()
        if not self.takes("**"):
            return base
        with self:
            exponent = self.factor()
        if isinstance(exponent, Number) and abs(exponent.value) > LARGEST_POWER:
            text = _brief(self.formula[start : self.here.start].strip())
            raise FormulaError(f"{text} is a huge power: powers go from {-LARGEST_POWER:g} to {LARGEST_POWER:g}.")
        return self.made("**", (base, exponent), start)

    def atom(self) -> Term:
        token = self.here
        self.at += 1
        if token.kind == "number":
            value = float(token.text)
            if not math.isfinite(value):
                raise FormulaError(f"{_brief(token.text)} is too large for a number.")
            return Number(value)
        if token.kind == "name":
            return self.named(token)
        if token.text == "(":
            with self:
                term = self.comparison()
            self.closed()
            return term
        self.at -= 1
        self.refuse("a number, a measure, a constant or a function is expected")
        raise AssertionError

    def named(self, token: _Token) -> Term:
        name = token.text
        function = name in FUNCTIONS or name in CHOICES
        called = self.here.kind == "sign" and self.here.text == "("
        if called and not function:
            raise FormulaError(f"{_brief(name)}(...) calls what is no function of formulas; {_instead(name)}.")
        if function and not called:
            raise FormulaError(f"{name} is a function: write {name}(...) with what it is of.")
        if not function:
            if name in self.constants:
                return Number(float(self.constants[name]))
            if not is_name(name):
                raise FormulaError(f"{_brief(name)!r} is no name of a measure or a constant; {_instead(name)}.")
            return Measure(name)
        self.at += 1
        with self:
            parts = [self.comparison()]
            while self.takes(","):
                parts.append(self.comparison())
        self.closed()
        if name in CHOICES and len(parts) < 2:
            raise FormulaError(f"{name} is of two terms or more, as in {name}(0, x).")
        if name in FUNCTIONS and len(parts) > 1:
            raise FormulaError(f"{name} is of one term, as in {name}(x).")
        return self.made(name, tuple(parts), token.start)

    def closed(self) -> None:
        if not self.takes(")"):
            self.refuse("a parenthesis is not closed")

    def made(self, sign: str, parts: tuple[Term, ...], start: int) -> Term:
        """Make an operation, or its value where it is of numbers alone."""
        term = Operation(sign, parts)
        divided_by_zero = sign == "/" and parts[1] == Number(0.0)
        if not divided_by_zero and not all(isinstance(part, Number) for part in parts):
            if depth(term) > DEEPEST:
                self.too_deep()
            return term
        try:
            value = applied(sign, [part.value for part in parts if isinstance(part, Number)])
        except (ArithmeticError, ValueError):
            value = math.nan
        if not math.isfinite(value):
            text = _brief(self.formula[start : self.here.start].strip())
            raise FormulaError(f"{text} has no finite value.")
        return Number(value)

    def too_deep(self) -> None:
        raise FormulaError(f"it is nested more than {DEEPEST} levels deep: write a simpler one.")

    def __enter__(self) -> None:
        self.level += 1
        if self.level > DEEPEST:
            self.too_deep()

    def __exit__(self, *_: object) -> None:
        self.level -= 1


def depth(term: Term) -> int:
    """Count the levels of a tree."""
    levels, row = 0, [term]
    while row:
        levels += 1
        row = [part for one in row if isinstance(one, Operation) for part in one.parts]
    return levels


def applied(sign: str, values: list[float]) -> float:
    """Apply an operator or a function to numbers; what has no value raises ``ArithmeticError`` or ``ValueError``."""
    if sign == "+":
        return math.fsum(values)
    if sign == "-":
        return -values[0]
    if sign in CHOICES:
        return CHOICES[sign](values)
    if sign in FUNCTIONS:
        return FUNCTIONS[sign](values[0])
    first, second = values
    if sign in COMPARISONS:
        return float(COMPARISONS[sign](first, second))
    return first * second if sign == "*" else first / second if sign == "/" else math.pow(first, second)


def _instead(text: str) -> str:
    return f"write {INSTEAD[text]}" if text in INSTEAD else ALLOWED


def _brief(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:30]}..."
