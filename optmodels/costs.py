"""From measures to one number to minimise, and limits on measures.

A cost is any callable from measures to a number. It says by ``linear`` whether it is linear in the measures, because
exact strategies can only take those; without the attribute it counts as not linear. Costs that are formulas are in
`optmodels.formulas`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, ClassVar, Protocol, TypeAlias, runtime_checkable

from .data import check_called, field_types, from_json, is_required, parameter_fields, parameter_list
from .errors import InstanceError, MissingField, RequestError, UnknownName, suggestion
from .registry import costs

Measures: TypeAlias = Mapping[str, float | None]

#: Two computations of one measure differ by rounding: a limit that is met this closely, relative, is kept. Otherwise a
#: limit at the very value of a decision would hold by one road and be broken by another.
ROUNDING = 1e-9


@runtime_checkable
class CostFunction(Protocol):
    """Price of what the queue said. Optional: ``linear`` (class variable), ``weights`` (by measure, if linear)."""

    def __call__(self, measures: Measures) -> float: ...


#: Costs and limits as Python gives them, see `as_cost` and `as_limits`.
CostLike: TypeAlias = CostFunction | Mapping[str, Any]
LimitsLike: TypeAlias = "Limits | Mapping[str, Any]"


class UnknownMeasure(RequestError, LookupError):  # noqa: N818 - reads as what happened
    """A cost or a limit names a measure this model does not offer."""


def value_of(measures: Measures, name: str) -> float:
    """The measure called `name`; ``UnknownMeasure`` if there is none, ``nan`` never."""
    if name not in measures:
        raise UnknownMeasure(f"no measure called {name!r}; this model offers {', '.join(measures)}.")
    value = measures[name]
    if value is None:
        raise UnknownMeasure(f"measure {name!r} is not defined for this decision; a cost or limit cannot use it.")
    return value


def price_of(cost: CostFunction, measures: Measures) -> float:
    """The number that a cost makes of measures; a cost of others may return anything, or ask for what is not there.

    >>> price_of(lambda measures: None, {"loss": 0.1})
    Traceback (most recent call last):
    optmodels.errors.InstanceError: cost is null; the function <lambda> returned this, and a cost returns a number.
    """
    try:
        price: Any = cost(measures)
    except KeyError as failure:
        name = failure.args[0] if failure.args else None
        if not isinstance(name, str) or name in measures:
            raise
        rule = f"no measure called {name!r}, which the cost {_called(cost)} asks for; this model offers"
        raise UnknownMeasure(f"{rule} {', '.join(measures)}.") from failure
    if type(price) is float and price == price:
        return price
    if getattr(price, "ndim", None) == 0:  # a number of numpy
        price = price.item()
    number = float(price) if isinstance(price, (int, float)) else math.nan
    if number == number or any(value != value for value in measures.values()):  # the second is no fault of the cost
        return number
    raise InstanceError("cost", price, f"the function {_called(cost)} returned this, and a cost returns a number.")


def _called(cost: Any) -> str:
    return getattr(cost, "__name__", type(cost).__name__)


@dataclass(frozen=True)
class WeightedSum:
    """Sum of weight times measure.

    Parameters
    ----------
    weights
        Measure name to weight, any sign.
    """

    weights: Mapping[str, float]
    linear: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.weights, Mapping) or not self.weights:
            raise InstanceError("cost.weights", self.weights, "name at least one measure and its weight.")
        for name, weight in self.weights.items():
            if not _is_number(weight):
                raise InstanceError(f"cost.weights.{name}", weight, "weights are finite numbers.")

    def __call__(self, measures: Measures) -> float:
        return math.fsum(weight * value_of(measures, name) for name, weight in self.weights.items() if weight != 0)


@dataclass(frozen=True)
class Lexicographic:
    r"""Compare by the first measure; ties are decided by the second, and so on.

    One number must carry the order, so values closer than `resolution` are ties, and the later measure is squeezed into
    that room: with :math:`r` the resolution and :math:`s(x) = 1/2 + \arctan(x)/\pi`,

    .. math:: J = r \lfloor m_1 / r + 1/2 \rfloor + r \, s(m_2)

    and so on inwards. Read the measures, not the objective.

    Parameters
    ----------
    measures
        Names in order of importance.
    resolution
        Smallest difference that counts, for all but the last measure.
    """

    measures: tuple[str, ...]
    resolution: float = 1e-4
    linear: ClassVar[bool] = False

    def __post_init__(self) -> None:
        names = self.measures
        if isinstance(names, str) or len(names) == 0 or not all(isinstance(name, str) for name in names):
            raise InstanceError(
                "cost.measures", names, "list the names of one to three measures, most important first."
            )
        if len(names) > 3:
            raise InstanceError("cost.measures", list(names), "one number has room for three measures at most.")
        if not _is_number(self.resolution) or not 1e-6 <= self.resolution <= 1e6:
            raise InstanceError("cost.resolution", self.resolution, "resolutions lie between 1e-6 and 1e6.")
        object.__setattr__(self, "measures", tuple(names))

    def __call__(self, measures: Measures) -> float:
        *leading, last = (value_of(measures, name) for name in self.measures)
        inner = last
        for value in reversed(leading):
            inner = self.resolution * (math.floor(value / self.resolution + 0.5) + 0.5 + math.atan(inner) / math.pi)
        return inner


@dataclass(frozen=True)
class Limit:
    """Smallest and largest value a measure may take."""

    minimum: float = -math.inf
    maximum: float = math.inf


@dataclass(frozen=True)
class Limits:
    """Limits on scalar measures, broken by an amount or kept.

    A measure that is undefined for a decision (``None``) breaks no limit, and neither does one that misses it by
    rounding (`ROUNDING`).
    """

    by_measure: Mapping[str, Limit] = field(default_factory=dict)

    @classmethod
    def from_data(cls, data: Mapping[str, Any] | None) -> Limits:
        """Read ``{"loss": {"max": 0.02}, "mean_length": 7}``; a bare number means max."""
        limits: dict[str, Limit] = {}
        for name, entry in (data or {}).items():
            bounds = entry if isinstance(entry, Mapping) else {"max": entry}
            if not bounds or set(bounds) - {"min", "max"}:
                raise InstanceError(
                    f"limits.{name}", entry, 'a limit is a number, or an object with "min" and/or "max".'
                )
            for side, value in bounds.items():
                if not _is_number(value):
                    raise InstanceError(f"limits.{name}.{side}", value, "limits are finite numbers.")
            limit = Limit(bounds.get("min", -math.inf), bounds.get("max", math.inf))
            if limit.minimum > limit.maximum:
                raise InstanceError(f"limits.{name}", entry, "the minimum must not exceed the maximum.")
            limits[name] = limit
        return cls(limits)

    def to_data(self) -> dict[str, dict[str, float]]:
        """The form read by `from_data`."""
        sides = {name: {"min": limit.minimum, "max": limit.maximum} for name, limit in self.by_measure.items()}
        return {name: {side: v for side, v in entry.items() if math.isfinite(v)} for name, entry in sides.items()}

    def violations(self, measures: Measures) -> dict[str, float]:
        """Broken limits and by how much."""
        return {f"{name} {side} {bound:g}": amount for name, side, bound, amount in self._broken(measures)}

    def excess(self, measures: Measures) -> float:
        r"""How far away broken limits are, on one scale: the sum of :math:`\ln(1 + v / |b|)` for v beyond the limit b.

        A loss of 2e-6 where 1e-6 is allowed is as far away as a length of 20 where 10 are; a limit of 0 counts as 1.
        """
        return sum(math.log1p(amount / (abs(bound) or 1.0)) for _, _, bound, amount in self._broken(measures))

    def _broken(self, measures: Measures) -> Iterator[tuple[str, str, float, float]]:
        """Measure, side, limit and amount of each broken limit."""
        for name, limit in self.by_measure.items():
            if name not in measures:
                raise UnknownMeasure(f"no measure called {name!r}; this model offers {', '.join(measures)}.")
            value = measures[name]
            if value is None:
                continue
            if value > limit.maximum + ROUNDING * abs(limit.maximum):
                yield name, "above", limit.maximum, value - limit.maximum
            if value < limit.minimum - ROUNDING * abs(limit.minimum):
                yield name, "below", limit.minimum, limit.minimum - value

    def __bool__(self) -> bool:
        return bool(self.by_measure)


def is_linear(cost: CostFunction | None) -> bool:
    """Whether a cost says it is linear in the measures."""
    return cost is None or bool(getattr(cost, "linear", False))


def linear_weights(cost: CostFunction | None) -> Mapping[str, float] | None:
    """Weights of a cost that is a weighted sum of measures, ``None`` for any other and without one.

    It need not be a `WeightedSum`: a cost that says ``linear`` and has ``weights`` is as good.
    """
    weights = getattr(cost, "weights", None)
    if cost is None or not is_linear(cost) or not isinstance(weights, Mapping):
        return None
    return weights if weights and all(_is_number(weight) for weight in weights.values()) else None


def sole_price(cost: CostFunction | None, measure: str) -> float | None:
    """Price of a measure where nothing else has one, 1 where no cost is given; ``None`` where something else has."""
    if cost is None:
        return 1.0
    weights = linear_weights(cost)
    if weights is None:
        return None
    priced = {name: weight for name, weight in weights.items() if weight != 0}
    return priced[measure] if set(priced) == {measure} and priced[measure] > 0 else None


def cost_from_data(data: Any) -> CostFunction | None:
    """The cost an instance file asks for: ``{"name": "weighted-sum", "weights": {"opening": 1.0}}``.

    The name is looked up in the registry and everything else must be a field of the class found there; a file never
    names code to import.
    """
    if data is None:
        return None
    if not isinstance(data, Mapping):
        raise InstanceError("cost", data, 'a cost is an object such as {"name": "weighted-sum", "weights": {...}}.')
    if "name" not in data:
        raise MissingField("cost.name", f"name one of {', '.join(costs)}.")
    name = data["name"]
    if not isinstance(name, str):
        raise InstanceError("cost.name", name, f"name one of {', '.join(costs)}.")
    try:
        target = costs[name]
    except UnknownName as unknown:
        raise InstanceError("cost.name", name, str(unknown)) from None
    cost: CostFunction = from_fields(target, data, "name", "cost", f"cost {name!r}")
    return cost


def as_cost(value: Any) -> CostFunction | None:
    """The cost that Python gives: one, the object of a file, or weights by measure; ``None``: that of the kind.

    >>> as_cost({"opening": 2}) == as_cost({"name": "weighted-sum", "weights": {"opening": 2}})
    True
    """
    if isinstance(value, Mapping):
        from .data import plain  # which knows arrays, and most costs come from files

        data = plain(value)
        return cost_from_data(data) if isinstance(data.get("name"), str) else WeightedSum(data)
    if value is not None and not callable(value):
        rule = 'a cost is a function of measures, weights such as {"opening": 1.0}, or the object of a file.'
        raise InstanceError("cost", value, rule)
    if value is not None:
        check_called("cost", value, ("the measures",))
    cost: CostFunction | None = value
    return cost


def as_limits(value: Any) -> Limits:
    """The limits that Python gives: some, or the object of a file; ``None``: none.

    >>> as_limits({"loss": 0.02}).to_data()
    {'loss': {'max': 0.02}}
    """
    if isinstance(value, Limits):
        return value
    if value is not None and not isinstance(value, Mapping):
        raise InstanceError("limits", value, 'limits are an object such as {"loss": {"max": 0.02}}.')
    from .data import plain

    return Limits.from_data(plain(value))


def check_measures(
    kind: str, offered: Collection[str], cost: CostFunction | None, limits: Mapping[str, Any] | None
) -> None:
    """Refuse costs and limits of measures that a kind has not, and constants of a cost that hide one it has."""
    limited = ((name, (f"limits.{name}", limit)) for name, limit in (limits or {}).items())
    for name, (place, value) in chain(measures_used(cost).items(), limited):
        if name not in offered:
            told = ", and cost.constants no such name" if place == "cost.formula" else ""
            raise InstanceError(place, value, f"kind {kind!r} has no such measure{told}. {suggestion(name, offered)}")
    constants = getattr(cost, "constants", None) if hasattr(cost, "reads") else None  # those of a formula
    constants = constants if isinstance(constants, Mapping) else {}
    for name in sorted(set(offered) & set(constants)):
        rule = f"kind {kind!r} has a measure of this name: call the constant something else."
        raise InstanceError(f"cost.constants.{name}", constants[name], rule)


def from_fields(target: Any, data: Mapping[str, Any], name: str, place: str, noun: str) -> Any:
    """An object of a class that a file names: all fields but `name` are its parameters.

    Parameters
    ----------
    target
        The class, a dataclass, or what else the registry has.
    data
        The fields.
    name
        The field that names the class.
    place, noun
        Where the fields stand, and what is made, for the sentences.
    """
    offered, hints = parameter_fields(target), field_types(target)
    given = {key: value for key, value in data.items() if key != name}
    values = {}
    for key, value in given.items():
        if key not in offered:
            raise InstanceError(f"{place}.{key}", value, f"{noun} takes {parameter_list(target)}.")
        try:
            values[key] = from_json(value, hints.get(key, Any))
        except ValueError as failure:
            raise InstanceError(f"{place}.{key}", value, f"this field {failure}.") from None
    for key, offer in offered.items():
        if is_required(offer) and key not in given:
            raise MissingField(f"{place}.{key}", f"{noun} takes {parameter_list(target)}.")
    try:
        return target(**values)
    except RequestError:
        raise
    except (ValueError, TypeError) as failure:
        raise InstanceError(place, dict(data), f"{noun} says: {' '.join(str(failure).split())}") from failure


def cost_to_data(cost: CostFunction | None) -> dict[str, Any] | None:
    """The form read by `cost_from_data`; a cost no registry knows cannot be written and is refused."""
    if cost is None:
        return None
    name = costs.name_of(type(cost))
    if name is None:
        raise RequestError(
            f"the cost {cost!r} has no name a file could use; register it first: "
            f"optmodels.registry.costs.register('my-cost', {type(cost).__name__})."
        )
    return {"name": name} | {key: _plain(getattr(cost, key)) for key in parameter_fields(type(cost))}


def measures_used(cost: CostFunction | None) -> dict[str, tuple[str, Any]]:
    """Measures a cost says it reads, each with its place in the file and what stands there; none if it does not say.

    It says so by ``reads``, which is such a mapping, by ``weights`` or by ``measures``.
    """
    reads = getattr(cost, "reads", None)
    if isinstance(reads, Mapping):
        return dict(reads)
    weights, names = getattr(cost, "weights", None), getattr(cost, "measures", None)
    if isinstance(weights, Mapping):
        return {name: (f"cost.weights.{name}", weight) for name, weight in weights.items()}
    if isinstance(names, tuple):
        return {name: (f"cost.measures[{index}]", name) for index, name in enumerate(names)}
    return {}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, (tuple, list)) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
