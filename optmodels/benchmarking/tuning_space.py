"""What a strategy can be tuned over: ranges of its parameters, and configurations drawn from them.

A strategy declares them in a class variable, in the notation of the option ``--vary``::

    tunable: ClassVar[Mapping[str, str]] = {"population": "10..200:log", "repair": "true,false"}

Commas separate alternatives, each a value or a range ``low..high`` of whole or of real numbers, as the parameter is
annotated; ``:log`` spreads a range evenly over orders of magnitude. An alternative is as likely as any other, so that
``none,0.1..10:log`` leaves a parameter alone in half of the configurations.

>>> Dimension.of("population", "10..200:log", int).value(0.5)
44
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from itertools import product
from typing import Any, get_args

import numpy as np

from heuristics import Strategy

from ..data import field_types, from_text, parameter_fields, parameter_list
from ..errors import RequestError, nearest, short
from ..registry import make_strategy, parse_strategy
from ..studies import label_of

#: Real numbers are drawn with so many significant digits: what is found is typed again.
DIGITS = 3

#: Configurations drawn for each that is wanted, before a space is taken for exhausted.
DRAWS = 50

#: What a range is written like, for sentences.
WRITTEN = '"population=10..200:log", "improvement=first,best" or "end_temperature=none,0.1..10"'


@dataclass(frozen=True)
class Span:
    """Numbers from a low to a high one, both included.

    Parameters
    ----------
    low, high
        The ends.
    log
        Spread over orders of magnitude.
    whole
        Whole numbers only.
    """

    low: float
    high: float
    log: bool
    whole: bool

    @property
    def count(self) -> float:
        """How many there are."""
        return self.high - self.low + 1 if self.whole else math.inf if self.low < self.high else 1

    def value(self, place: float) -> int | float:
        """Take the number at a place from 0 to 1."""
        widened = 0.5 if self.whole else 0.0  # so that the ends are as likely as those between
        low, high = self.low - widened, self.high + widened
        if self.log:
            low = max(low, self.low / 2)
            found = math.exp(math.log(low) + place * (math.log(high) - math.log(low)))
        else:
            found = low + place * (high - low)
        if self.whole:
            return int(min(max(round(found), self.low), self.high))
        return min(max(float(f"{found:.{DIGITS}g}"), self.low), self.high)


@dataclass(frozen=True)
class Dimension:
    """A parameter, and the values it may take.

    Parameters
    ----------
    name
        Of the parameter.
    text
        As it was declared or given.
    alternatives
        Values and spans.
    """

    name: str
    text: str
    alternatives: tuple[Any, ...]

    @classmethod
    def of(cls, name: str, given: str | Sequence[Any], annotation: Any) -> Dimension:
        """Read a range.

        Parameters
        ----------
        name
            Of the parameter.
        given
            A text as above, or a list of values.
        annotation
            Type of the parameter.

        Returns
        -------
        Dimension
            With the values.

        Raises
        ------
        RequestError
            If it is no range of such a parameter.
        """
        if not isinstance(given, str):
            if not isinstance(given, Iterable):
                raise RequestError(f"what {name!r} may be is a text such as '10..200:log' or a list, got {given!r}.")
            values = tuple(given)
            return cls(name, ",".join(map(written, values)), _distinct(name, values))
        parts = [part.strip() for part in given.split(",")]
        return cls(name, given.strip(), _distinct(name, tuple(_alternative(name, part, annotation) for part in parts)))

    @property
    def count(self) -> float:
        """How many values there are, infinite for real numbers."""
        return sum(one.count if isinstance(one, Span) else 1 for one in self.alternatives)

    def value(self, place: float) -> Any:
        """Take the value at a place from 0 to 1, 1 excluded."""
        scaled = place * len(self.alternatives)
        chosen = self.alternatives[int(scaled)]
        return chosen.value(scaled - int(scaled)) if isinstance(chosen, Span) else chosen

    def values(self) -> Iterator[Any]:
        """Take all values, of a dimension that has finitely many."""
        for one in self.alternatives:
            yield from (range(int(one.low), int(one.high) + 1) if isinstance(one, Span) and one.whole else _single(one))

    def ends(self) -> Iterator[Any]:
        """Take what the strategy must accept if the range is sound."""
        for one in self.alternatives:
            yield from (one.value(0.0), one.value(1.0)) if isinstance(one, Span) else (one,)


@dataclass(frozen=True)
class TuningSpace:
    """A strategy, and what may be varied of it.

    Parameters
    ----------
    base
        The strategy as it is without tuning.
    dimensions
        What is varied.
    """

    base: Strategy
    dimensions: tuple[Dimension, ...]

    @property
    def label(self) -> str:
        """The base as text."""
        return label_of(self.base)

    @property
    def ranges(self) -> dict[str, str]:
        """What is varied, as text."""
        return {one.name: one.text for one in self.dimensions}

    @property
    def size(self) -> float:
        """How many configurations there are at most, infinite with real numbers."""
        return math.prod(one.count for one in self.dimensions)

    def draw(self, count: int, rng: np.random.Generator) -> dict[str, Strategy]:
        """Draw configurations, the base among them.

        Where there are no more than wanted, all are taken. Otherwise each dimension is cut into as many equal parts as
        configurations are drawn, and each part is used once (a Latin hypercube); what is no configuration, because
        parameters contradict each other, and what was drawn before is drawn anew, independently.

        Parameters
        ----------
        count
            How many are wanted, 2 or more.
        rng
            Draws them.

        Returns
        -------
        dict of str to Strategy
            By the text of each, the base first; fewer than wanted where there are no more.

        Raises
        ------
        RequestError
            If there is none besides the base.
        """
        drawn = {self.label: self.base}
        failure = ""
        for values in self._candidates(count, rng):
            try:
                made: Any = replace(self.base, **values)  # type: ignore[type-var]
            except (ValueError, TypeError) as wrong:
                failure = f" The last one that was tried is none: {' '.join(str(wrong).split())}"
                continue
            drawn.setdefault(label_of(made), made)
            if len(drawn) == count:
                break
        if len(drawn) == 1:
            raise RequestError(f"there is no configuration of {self.label!r} other than itself to try.{failure}")
        return drawn

    def _candidates(self, count: int, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
        names = [one.name for one in self.dimensions]
        if self.size < count:  # the base takes one place
            for values in product(*(one.values() for one in self.dimensions)):
                yield dict(zip(names, values, strict=True))
            return
        strata = np.stack([rng.permutation(count) for _ in names], axis=1)
        for row in (strata + rng.random(strata.shape)) / count:
            yield {one.name: one.value(float(place)) for one, place in zip(self.dimensions, row, strict=True)}
        for _ in range(DRAWS * count):
            yield {one.name: one.value(float(rng.random())) for one in self.dimensions}


def space_of(
    strategy: str | Strategy, vary: str | Iterable[str] | Mapping[str, str | Sequence[Any]] | None = None
) -> TuningSpace:
    """Find what may be varied of a strategy.

    Parameters
    ----------
    strategy
        A name, with parameters that stay as they are if any are given: ``genetic:repair=false``; or an object.
    vary
        Parameters to vary, with ranges, or with nothing but their names for the declared ranges; by default all that
        are declared and not given.

    Returns
    -------
    TuningSpace
        At least one parameter.

    Raises
    ------
    RequestError
        If there is nothing to vary, or what is asked for is no parameter or no range of it.

    Examples
    --------
    >>> space_of("local-search", "swaps=0..100").ranges
    {'swaps': '0..100'}
    """
    base = make_strategy(strategy)
    target = type(base)
    if not is_dataclass(target) or not parameter_fields(target):
        raise RequestError(f"strategy {base.name!r} has no parameters: there is nothing to tune.")
    fixed = set(parse_strategy(strategy)[1]) if isinstance(strategy, str) else set()
    declared = dict(getattr(target, "tunable", {}))
    asked = _asked(vary) or {name: None for name in declared if name not in fixed}
    if not asked:
        if declared:
            raise RequestError(f"{strategy!r} gives all parameters that could be tuned; leave one of them out.")
        raise RequestError(
            f"strategy {base.name!r} declares no ranges to tune over; give some by --vary, as in {WRITTEN}, or declare "
            f"them in the class variable 'tunable'. It takes {parameter_list(target)}."
        )
    hints = field_types(target)
    dimensions = []
    for name, given in asked.items():
        _check_name(name, target, base.name, fixed)
        if given is None and name not in declared:
            known = f"those of {', '.join(declared)} are" if declared else "none is"
            raise RequestError(f"no range of {name!r} is declared ({known}); write one, as in {WRITTEN}.")
        dimension = Dimension.of(name, declared[name] if given is None else given, hints.get(name, Any))
        _check_ends(base, dimension)
        dimensions.append(dimension)
    return TuningSpace(base, tuple(dimensions))


def written(value: Any) -> str:
    """Write a value as it is typed after ``name=``."""
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


# -- inside -----------------------------------------------------------------------------------------------------------


def _single(value: Any) -> Iterator[Any]:
    yield value.low if isinstance(value, Span) else value


def _asked(vary: str | Iterable[str] | Mapping[str, Any] | None) -> dict[str, Any]:
    if vary is None:
        return {}
    if isinstance(vary, Mapping):
        return dict(vary)
    asked: dict[str, Any] = {}
    for one in [vary] if isinstance(vary, str) else vary:
        if not isinstance(one, str) or not one.partition("=")[0].strip():
            raise RequestError(f"what to vary is written {WRITTEN}; got {short(one)}.")
        name, equals, text = one.partition("=")
        if name.strip() in asked:
            raise RequestError(f"parameter {name.strip()!r} is varied twice; give all its values at once.")
        asked[name.strip()] = text if equals else None
    return asked


def _check_name(name: str, target: type, strategy: str, fixed: set[str]) -> None:
    known = list(parameter_fields(target))
    if name not in known:
        meant = nearest(name, known)
        question = "" if meant is None else f" (did you mean {meant!r}?)"
        raise RequestError(
            f"strategy {strategy!r} has no parameter {name!r}{question}; it takes {parameter_list(target)}."
        )
    if name in fixed:
        raise RequestError(f"parameter {name!r} is given and varied, too; do one of them.")


def _alternative(name: str, part: str, annotation: Any) -> Any:
    low, dots, rest = part.partition("..")
    try:
        if not dots:
            return from_text(part, annotation)
        high, colon, scale = rest.partition(":")
        if colon and scale.strip() != "log":
            raise ValueError(f"has the scale 'log' or none, not {scale.strip()!r}")
        whole = _is_whole(annotation)
        kind = int if whole else float
        ends = from_text(low.strip(), kind), from_text(high.strip(), kind)
    except ValueError as failure:
        raise RequestError(f"parameter {name!r} {failure}, got {part!r}; a range is written {WRITTEN}.") from None
    if not all(map(math.isfinite, ends)) or ends[0] > ends[1]:
        raise RequestError(f"a range of {name!r} goes from a finite number to a higher one, got {part!r}.")
    if colon and ends[0] <= 0:
        raise RequestError(f"a range of {name!r} on a logarithmic scale is above 0, got {part!r}.")
    return Span(*ends, bool(colon), whole)


def _is_whole(annotation: Any) -> bool:
    options = set(get_args(annotation) or (annotation,)) - {type(None)}
    if float in options or annotation is Any:
        return False
    if int in options:
        return True
    raise ValueError("is no number and has no range, only values")


def _distinct(name: str, alternatives: tuple[Any, ...]) -> tuple[Any, ...]:
    found = tuple(dict.fromkeys(alternatives))
    if not found or (len(found) == 1 and (not isinstance(found[0], Span) or found[0].low == found[0].high)):
        raise RequestError(f"parameter {name!r} has one value only to choose from; give two or more, or a range.")
    return found


def _check_ends(base: Strategy, dimension: Dimension) -> None:
    """Refuse values that the strategy does not take, whatever its other parameters are."""
    for value in dimension.ends():
        try:
            replace(base, **{dimension.name: value})  # type: ignore[type-var]
        except (ValueError, TypeError) as failure:
            sentence = " ".join(str(failure).split())
            if sentence.startswith(dimension.name):  # of others, another value may do
                raise RequestError(
                    f"strategy {base.name!r} does not take all of {dimension.name}={dimension.text}: {sentence}"
                ) from None
