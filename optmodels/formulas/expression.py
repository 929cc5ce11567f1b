r"""The cost ``expression``: a formula over measures, such as ``5*loss_rate + 300*max(0, starvation - 0.1)**2``.

A formula is read once, when the cost is made (see `optmodels.formulas.parsing`), and turned into functions of ours that
call one another; no text is ever run. A formula that is affine in the measures,

.. math:: J = \sum_m w_m \, m + c,

is recognised, has its weights :math:`w` and is summed from them; with :math:`c = 0` it is as linear as a weighted sum,
and exact strategies take it. Nothing else is guessed: a formula may be convex, and nobody relies on it.

**No value.** Where a formula has no finite value (a division by zero, a logarithm or a root beyond its domain, a number
that is too large, a measure that is infinite) it costs plus infinity, whatever stands around that part: a search passes
such decisions by and goes on, and chooses one only if it saw no other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, TypeAlias

from ..costs import Measures, value_of
from ..errors import InstanceError
from .parsing import CHOICES, COMPARISONS, FUNCTIONS, FormulaError, Measure, Number, Operation, Term, is_name, parsed

Values: TypeAlias = tuple[float, ...]
Function: TypeAlias = Callable[[Values], float]

#: Largest number there is.
LARGEST = 1.7976931348623157e308


@dataclass(frozen=True)
class Expression:
    """A formula over measures: arithmetic, comparisons as 0 or 1, min, max, abs, exp, log, sqrt.

    Parameters
    ----------
    formula
        For example ``"5*loss_rate + 300*max(0, starvation - 0.1)**2"``.
    constants
        Numbers by name, for the formula to use.

    Attributes
    ----------
    weights
        Weight of each measure if the formula is affine, else ``None``.
    offset
        What an affine formula adds to the weighted sum.
    linear
        Whether the formula is a weighted sum: affine, and with an offset of 0.

    Examples
    --------
    >>> cost = Expression("5*loss_rate + a*max(0, starvation - 0.1)**2", {"a": 300})
    >>> cost({"loss_rate": 0.5, "starvation": 0.1}), cost.linear
    (2.5, False)
    >>> Expression("2*(opening + open_sites) - opening").weights
    {'opening': 1.0, 'open_sites': 2.0}
    """

    formula: str
    constants: Mapping[str, float] = field(default_factory=dict)

    weights: dict[str, float] | None = field(init=False, repr=False, compare=False)
    offset: float = field(init=False, repr=False, compare=False)
    linear: bool = field(init=False, repr=False, compare=False)
    _names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _function: Function = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check_constants(self.constants)
        if not isinstance(self.formula, str):
            raise InstanceError("cost.formula", self.formula, 'a formula is a text, such as "2*opening + open_sites".')
        constants = dict(self.constants)
        try:
            root = parsed(self.formula, constants)
        except FormulaError as failure:
            raise InstanceError("cost.formula", self.formula, str(failure)) from None
        names = tuple(dict.fromkeys(_measures(root)))
        if not names:
            raise InstanceError("cost.formula", self.formula, "a cost depends on one measure at least.")
        weights, offset = affine(root) or (None, 0.0)
        used = names if weights is None else tuple(name for name, weight in weights.items() if weight != 0)
        order = {name: index for index, name in enumerate(used)}
        function = _function(root, order) if weights is None else _weighted(weights, offset)
        made = {"constants": constants, "weights": weights, "offset": offset, "_names": used, "_function": function}
        for name, value in (made | {"linear": weights is not None and offset == 0.0}).items():
            object.__setattr__(self, name, value)

    def __call__(self, measures: Measures) -> float:
        found = []
        for name in self._names:
            value = measures.get(name)
            if value is None:
                value = value_of(measures, name)  # says what is wrong, unless this mapping answers to no `get`
            found.append(float(value))
        values = tuple(found)
        try:
            price = self._function(values)
        except (ArithmeticError, ValueError):
            price = math.nan
        if -LARGEST <= price <= LARGEST and _finite(values):
            return price
        return math.nan if any(value != value for value in values) else math.inf

    @property
    def reads(self) -> dict[str, tuple[str, Any]]:
        """The measures that stand in the formula, each with its place in the file."""
        names = self._names if self.weights is None else self.weights
        return {name: ("cost.formula", name) for name in names}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.formula, self.constants)


def affine(term: Term) -> tuple[dict[str, float], float] | None:
    """Recognise a weighted sum of measures plus a number.

    Parameters
    ----------
    term
        The root of a formula.

    Returns
    -------
    tuple or None
        Weights by measure and the number; ``None`` if the formula is none, or if they are too large.
    """
    if isinstance(term, Number):
        return {}, term.value
    if isinstance(term, Measure):
        return {term.name: 1.0}, 0.0
    parts = [affine(part) for part in term.parts] if term.sign in ("+", "-", "*", "/") else [None]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    if term.sign == "+":
        terms: dict[str, list[float]] = {}
        for weights, _ in known:
            for name, weight in weights.items():
                terms.setdefault(name, []).append(weight)
        try:
            total = {name: math.fsum(some) for name, some in terms.items()}, math.fsum(offset for _, offset in known)
        except OverflowError:
            return None
        return _checked(*total)
    factor = -1.0
    if term.sign == "-":
        inner = known[0]
    else:
        numbers = [isinstance(part, Number) for part in term.parts]
        if not numbers[1] and (term.sign == "/" or not numbers[0]):
            return None
        inner, (_, factor) = known if numbers[1] else reversed(known)
    if term.sign == "/":
        if factor == 0.0:
            return None
        return _checked({name: weight / factor for name, weight in inner[0].items()}, inner[1] / factor)
    return _checked({name: factor * weight for name, weight in inner[0].items()}, factor * inner[1])


def _checked(weights: dict[str, float], offset: float) -> tuple[dict[str, float], float] | None:
    return (weights, offset) if _finite(weights.values()) and math.isfinite(offset) else None


def _check_constants(constants: Any) -> None:
    if not isinstance(constants, Mapping):
        raise InstanceError("cost.constants", constants, 'constants are numbers by name, such as {"a": 1.0}.')
    for name, value in constants.items():
        if not isinstance(name, str) or not is_name(name) or name in FUNCTIONS or name in CHOICES:
            rule = "a constant is called by letters, digits and _, a letter first, and not as a function is."
            raise InstanceError("cost.constants", name, rule)
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not -LARGEST <= value <= LARGEST:
            raise InstanceError(f"cost.constants.{name}", value, "constants are finite numbers.")


def _measures(term: Term) -> list[str]:
    if isinstance(term, Measure):
        return [term.name]
    return [name for part in term.parts for name in _measures(part)] if isinstance(term, Operation) else []


def _finite(values: Any) -> bool:
    return all(-LARGEST <= value <= LARGEST for value in values)


# -- functions of ours -------------------------------------------------------------------------------------------------


def _weighted(weights: Mapping[str, float], offset: float) -> Function:
    used = tuple(weight for weight in weights.values() if weight != 0)

    def weighted(values: Values) -> float:
        return math.fsum([offset, *(weight * value for weight, value in zip(used, values, strict=True))])

    return weighted


def _function(term: Term, order: Mapping[str, int]) -> Function:
    """Turn a tree into a function of the values of its measures, which raises ``ArithmeticError`` or ``ValueError``."""
    if isinstance(term, Number):
        value = term.value
        return lambda values: value
    if isinstance(term, Measure):
        return itemgetter(order[term.name])
    sign, parts = term.sign, [_function(part, order) for part in term.parts]
    if sign == "-":
        (only,) = parts
        return lambda values: -only(values)
    if sign in FUNCTIONS:
        return _of_one(FUNCTIONS[sign], parts[0])
    if len(parts) > 2:
        choose: Callable[[list[float]], float] = math.fsum if sign == "+" else CHOICES[sign]
        return lambda values: choose([part(values) for part in parts])
    if sign == "**" and isinstance(term.parts[1], Number) and term.parts[1].value == 2.0:
        return _square(parts[0])
    return _of_two(sign, *parts)


def _of_one(function: Callable[[float], float], part: Function) -> Function:
    return lambda values: function(part(values))


def _square(part: Function) -> Function:
    def square(values: Values) -> float:
        value = part(values)
        found = value * value
        if found <= LARGEST:
            return found
        raise OverflowError

    return square


def _of_two(sign: str, first: Function, second: Function) -> Function:
    """Apply an operator to two parts; a number that is too large is no value, and no infinity to be computed with."""
    if sign == "+":

        def add(values: Values) -> float:
            found = first(values) + second(values)
            if -LARGEST <= found <= LARGEST:
                return found
            raise OverflowError

        return add
    if sign == "*":

        def multiply(values: Values) -> float:
            found = first(values) * second(values)
            if -LARGEST <= found <= LARGEST:
                return found
            raise OverflowError

        return multiply
    if sign == "/":

        def divide(values: Values) -> float:
            found = first(values) / second(values)
            if -LARGEST <= found <= LARGEST:
                return found
            raise OverflowError

        return divide
    if sign == "**":
        power = math.pow
        return lambda values: power(first(values), second(values))
    if sign in CHOICES:
        choose = CHOICES[sign]
        return lambda values: choose(first(values), second(values))
    compare = COMPARISONS[sign]
    return lambda values: 1.0 if compare(first(values), second(values)) else 0.0
