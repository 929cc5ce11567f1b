"""Names one can write in a file or on the command line, and the classes they stand for.

Built-in names are ``"module:Class"`` strings, so that the package works from a plain checkout and imports nothing
before it is asked to; entry points of the same group are listed at first use and loaded when asked for by name, so that
a plug-in whose libraries are missing hurts only those who ask for it.

>>> strategies.origin("exhaustive")
'built in'
>>> parse_strategy("genetic:population=100,mutation=0.1")
('genetic', {'population': '100', 'mutation': '0.1'})
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any

from .errors import BrokenPlugin, NameTaken, RequestError, UnknownName, nearest, short, suggestion
from .plugins import entry_points

if TYPE_CHECKING:
    from heuristics import Strategy

BUILT_IN = "built in"
REGISTERED = "this process"


@dataclass(frozen=True)
class Entry:
    """One claim to a name: where the class is found, and who says so."""

    name: str
    origin: str
    target: str
    load: Callable[[], Any]


class Registry:
    """Classes by name.

    Parameters
    ----------
    noun
        What the names stand for, as used in sentences: "strategy".
    group
        Entry-point group in which other distributions offer theirs.
    built_in
        Name to ``"module:Class"``.
    asks
        What a class must have to be of use.
    """

    def __init__(self, noun: str, group: str, built_in: Mapping[str, str], asks: tuple[str, ...] = ()) -> None:
        self.noun, self.group, self.asks = noun, group, asks
        self._own = [
            Entry(name, BUILT_IN, target, EntryPoint(name, target, group).load) for name, target in built_in.items()
        ]
        self._registered: dict[str, Entry] = {}
        self._offered: list[Entry] | None = None

    def __repr__(self) -> str:
        return f"<Registry of {self.group}: {', '.join(self)}>"

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({entry.name for entry in self.entries()}))

    def __contains__(self, name: object) -> bool:
        return any(entry.name == name for entry in self.entries())

    def __getitem__(self, name: str) -> Any:
        """Load the class called `name`.

        Raises
        ------
        UnknownName
            If there is none; the sentence names the nearest.
        NameTaken
            If two distributions claim the name.
        BrokenPlugin
            If its module cannot be imported, or what it offers is none of these.
        """
        entry = self._entry(name)
        try:
            target = entry.load()
        except KeyboardInterrupt:
            raise
        except BaseException as failure:  # a plug-in may fail in any way, and must not take the house down
            if entry.origin == BUILT_IN and not isinstance(failure, ImportError):
                raise  # a defect of ours keeps its traceback
            reason = " ".join(str(failure).split()) or type(failure).__name__
            raise BrokenPlugin(
                f"{self.noun} {name!r} ({entry.origin}) cannot be loaded from {entry.target}: "
                f"{type(failure).__name__}: {reason}; install what it needs, or choose another."
            ) from failure
        lacking = lacks(target, self.asks)
        if lacking:
            raise BrokenPlugin(
                f"{self.noun} {name!r} ({entry.origin}) is none: {entry.target} has no {', '.join(lacking)}; "
                "choose another, and tell those who offer it."
            )
        return target

    def entries(self) -> list[Entry]:
        """All claims to names, including clashing ones, without loading anything."""
        if self._offered is None:
            self._offered = [
                Entry(point.name, point.dist.name if point.dist else "unknown distribution", point.value, point.load)
                for point in entry_points(group=self.group)
            ]
        return [*self._own, *self._offered, *self._registered.values()]

    def origin(self, name: str) -> str:
        """Who offers `name`: "built in", the name of a distribution, or "this process"."""
        return self._entry(name).origin

    def register(self, name: str, target: Any, *, replace: bool = False) -> None:
        """Offer `target` under `name` for the life of this process, as a notebook or a test does.

        Parameters
        ----------
        replace
            Allow a name registered in this process before to be given anew (a notebook cell run twice).
        """
        if not isinstance(name, str) or not name or any(c in name for c in ":,= \t\n"):
            raise RequestError(f"a name is text without spaces, colons, commas and equals signs, got {name!r}.")
        for owner in self.entries():
            if owner.name == name and not (replace and owner.origin == REGISTERED):
                raise NameTaken(
                    f"{self.noun} {name!r} is taken by {owner.target} ({owner.origin}); "
                    f"{_spelled(target)} needs another name."
                )
        self._registered[name] = Entry(name, REGISTERED, _spelled(target), lambda: target)

    def unregister(self, name: str) -> None:
        """Withdraw a name given by `register`."""
        if self._registered.pop(name, None) is None:
            raise UnknownName(f"no {self.noun} called {name!r} was registered in this process.")

    def name_of(self, target: type) -> str | None:
        """The name under which a class is offered, ``None`` if it is not."""
        spelled = _spelled(target)
        return next((entry.name for entry in self.entries() if entry.target.replace(" ", "") == spelled), None)

    def _entry(self, name: str) -> Entry:
        claims = [entry for entry in self.entries() if entry.name == name]
        if not claims:
            raise UnknownName(f"no {self.noun} is called {name!r}. {suggestion(str(name), self)}")
        if len(claims) > 1:
            owners = " and by ".join(f"{entry.target} ({entry.origin})" for entry in claims)
            raise NameTaken(f"{self.noun} {name!r} is claimed by {owners}; uninstall one of the two.")
        return claims[0]


strategies = Registry(
    "strategy",
    "optmodels.strategies",
    {
        "adaptive": "optmodels.freshness.schedules.adaptive:Adaptive",
        "annealing": "heuristics.search.annealing:Annealing",
        "backward-induction": "heuristics.routing.backward_induction:BackwardInduction",
        "balanced": "heuristics.routing.balanced:Balanced",
        "dejavu": "heuristics.siting.dejavu:Dejavu",
        "exhaustive": "heuristics.search.exhaustive:Exhaustive",
        "genetic": "heuristics.search.genetic:Genetic",
        "golden-ratio": "optmodels.freshness.schedules.strategies:GoldenRatio",
        "greedy": "optmodels.freshness.schedules.strategies:Greedy",
        "highs": "optmodels.mip.strategy:Highs",
        "lagrangian": "heuristics.allocation.lagrangian:Lagrangian",
        "linear-program": "optmodels.robots.linear_program.strategy:LinearProgram",
        "local-search": "heuristics.search.local_search:LocalSearch",
        "marginal-analysis": "heuristics.allocation.marginal_analysis:MarginalAnalysis",
        "min-mean-cycle": "heuristics.routing.min_mean_cycle:MinMeanCycle",
        "multimodular": "heuristics.multimodular.search:Multimodular",
        "optimal-policy": "optmodels.threshold.optimal_policy:OptimalPolicy",
        "policy-iteration": "heuristics.dynamic.policy_improvement:PolicyIteration",
        "power-of-two": "optmodels.freshness.schedules.strategies:PowerOfTwo",
        "proportional": "optmodels.freshness.schedules.strategies:Proportional",
        "randomized": "optmodels.freshness.schedules.strategies:Randomized",
        "regular": "optmodels.freshness.schedules.strategies:Regular",
        "static": "optmodels.robots.static:Static",
        "two-server": "heuristics.routing.two_server:TwoServer",
        "uniform": "optmodels.freshness.schedules.strategies:Uniform",
        "value-iteration": "heuristics.dynamic.value_iteration:ValueIteration",
        "whittle": "heuristics.dynamic.whittle:Whittle",
    },
    asks=("name", "needs", "solve"),
)
costs = Registry(
    "cost",
    "optmodels.costs",
    {"lexicographic": "optmodels.costs:Lexicographic", "weighted-sum": "optmodels.costs:WeightedSum"},
)
problems = Registry(
    "problem kind",
    "optmodels.problems",
    {
        "freshness": "optmodels.freshness.problem:FreshnessProblem",
        "placement": "optmodels.placement.problem:PlacementProblem",
        "robots": "optmodels.robots.problem:RobotsProblem",
        "routing": "optmodels.routing.problem:RoutingProblem",
        "threshold": "optmodels.threshold.problem:ThresholdProblem",
    },
    asks=("from_data",),
)
generators = Registry(
    "generator",
    "optmodels.generators",
    {
        "freshness": "optmodels.freshness.generate:FreshnessGenerator",
        "placement": "optmodels.placement.generate:PlacementGenerator",
        "robots": "optmodels.robots.generate:RobotsGenerator",
        "routing": "optmodels.routing.generate:RoutingGenerator",
        "threshold": "optmodels.threshold.generate:ThresholdGenerator",
    },
    asks=("instance",),
)

gap_costs = Registry(
    "gap cost",
    "optmodels.gap_costs",
    {
        "linear-exponential": "optmodels.routing.gap_costs:LinearExponential",
        "power": "optmodels.routing.gap_costs:Power",
        "table": "optmodels.routing.gap_costs:Table",
    },
)

#: In the order in which `optmodels list` prints them.
REGISTRIES: tuple[Registry, ...] = (problems, strategies, costs, gap_costs, generators)


# -- strategies by string ---------------------------------------------------------------------------------------------


def parse_strategy(text: str) -> tuple[str, dict[str, str]]:
    """Split ``"name:parameter=value,..."`` into the name and its parameters, still as text."""
    name, colon, rest = text.strip().partition(":")
    name = name.strip()
    if not name:
        raise RequestError(f'a strategy is written "name" or "name:parameter=value,...", got {text!r}.')
    given: dict[str, str] = {}
    for part in rest.split(",") if colon else ():
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not key or not equals:
            raise RequestError(f'parameters are written "name:parameter=value,...", got {part!r} in {text!r}.')
        key = key.replace("-", "_")
        if key in given:
            raise RequestError(f"parameter {key!r} is given twice in {text!r}.")
        given[key] = value
    return name, given


def make_strategy(strategy: str | Strategy) -> Strategy:
    """The strategy a string stands for; a strategy object is returned as it is."""
    if not isinstance(strategy, str):
        if not callable(getattr(strategy, "solve", None)) or isinstance(strategy, type):
            raise RequestError(f"a strategy is a name or an object with a method 'solve', got {strategy!r}.")
        if lacking := lacks(strategy, strategies.asks):
            raise RequestError(f"a strategy has {', '.join(strategies.asks)}; {strategy!r} has no {lacking[0]}.")
        return strategy
    name, given = parse_strategy(strategy)
    made: Strategy = build(strategies[name], given, f"strategy {name!r}")
    return made


def build(target: Any, given: Mapping[str, Any], noun: str) -> Any:
    """Make an object of a dataclass from its parameters, as text or as they are.

    Parameters
    ----------
    target
        A dataclass; its fields are the parameters.
    given
        Field name to value; a text is converted as the annotation of the field says.
    noun
        What is made, for the sentences: ``strategy 'genetic'``.
    """
    offered = parameter_fields(target)
    hints = field_types(target)
    unknown = [key for key in given if key not in offered]
    if unknown:
        meant = nearest(unknown[0], offered)
        question = "" if meant is None else f" (did you mean {meant!r}?)"
        raise RequestError(f"{noun} has no parameter {unknown[0]!r}{question}; it takes {parameter_list(target)}.")
    lacking = [name for name, field in offered.items() if is_required(field) and name not in given]
    if lacking:
        raise RequestError(f"{noun} needs the parameter {lacking[0]!r}; it takes {parameter_list(target)}.")
    values = {}
    for key, text in given.items():
        try:
            values[key] = from_text(text, hints.get(key, Any)) if isinstance(text, str) else text
        except ValueError as failure:
            raise RequestError(f"{noun}: parameter {key!r} {failure}, got {text!r}.") from None
    try:
        return target(**values)
    except RequestError:
        raise
    except (ValueError, TypeError) as failure:
        raise RequestError(f"{noun}: {' '.join(str(failure).split())}") from failure


def parameter_fields(target: Any) -> dict[str, Field[Any]]:
    """Fields of a dataclass that can be given when it is made; none for another class."""
    return {field.name: field for field in fields(target) if field.init} if is_dataclass(target) else {}


def parameter_list(target: Any) -> str:
    """The parameters of a class and their defaults, for a sentence."""
    offered = parameter_fields(target)
    return ", ".join(f"{name}{_default(field)}" for name, field in offered.items()) or "no parameters"


def is_required(field: Field[Any]) -> bool:
    """Whether a field has no default."""
    return field.default is MISSING and field.default_factory is MISSING


def field_types(target: Any) -> dict[str, Any]:
    """Annotations of a class, resolved; where one names something that is not there, the type of the default."""
    try:
        return typing.get_type_hints(target)
    except (NameError, TypeError, AttributeError):
        return {
            name: type(field.default) if field.default not in (MISSING, None) else Any
            for name, field in parameter_fields(target).items()
        }


def from_text(text: str, annotation: Any) -> Any:
    """Read `text` as a value of the annotated type; ``ValueError`` with the end of a sentence if it is none.

    >>> from_text("1e3", int), from_text("none", int | None), from_text("yes", bool)
    (1000, None, True)
    """
    options = _options(annotation)
    if type(None) in options and text.lower() in ("none", "null"):
        return None
    rules = []
    for option in sorted((option for option in options if option is not type(None)), key=_preference):
        try:
            return _from_text(text, option)
        except ValueError as failure:
            rules.append(str(failure))
    raise ValueError(" or ".join(dict.fromkeys(rules)) or "takes no value")


def whole_from_text(text: str) -> int:
    """A whole number as people write it, ``1e6`` too; ``ValueError`` with the end of a sentence if it is none."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        number = 0.5
    if not number.is_integer() or abs(number) > 2**53:
        raise ValueError("is a whole number")
    return int(number)


def _from_text(text: str, kind: Any) -> Any:
    if typing.get_origin(kind) is typing.Literal:
        choices = typing.get_args(kind)
        for choice in choices:
            if text == str(choice):
                return choice
        raise ValueError(f"is one of {', '.join(map(str, choices))}")
    if kind is bool:
        known = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if text.lower() not in known:
            raise ValueError("is true or false")
        return known[text.lower()]
    if kind is int:
        return whole_from_text(text)
    if kind is float:
        try:
            number = float(text)
        except ValueError:
            raise ValueError("is a number") from None
        if number != number:
            raise ValueError("is a number")
        return number
    if kind is str or kind is Any:
        return text
    raise ValueError("cannot be written as text")


def from_json(value: Any, annotation: Any) -> Any:
    """A value read from a file as one of the annotated type; ``ValueError`` with the end of a sentence if it is none.

    Types that JSON does not know (mappings, tuples of names) are left to the class itself to judge.
    """
    options = _options(annotation)
    if value is None:
        if type(None) in options or Any in options:
            return None
        raise ValueError("must not be null")
    plain = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
    if not options or any(option not in plain and option is not type(None) for option in options):
        return tuple(value) if isinstance(value, list) else value
    if isinstance(value, bool):
        accepted = bool in options
    elif isinstance(value, int):
        accepted = int in options or float in options
    else:
        accepted = type(value) in options
    if accepted:
        return value
    raise ValueError(f"is {' or '.join(plain[option] for option in options if option in plain)}")


def _options(annotation: Any) -> tuple[Any, ...]:
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return typing.get_args(annotation)
    return (annotation,)


def _preference(kind: Any) -> int:
    order = [bool, int, float]
    return order.index(kind) if kind in order else 4 if kind is str else 3


def _default(field: Field[Any]) -> str:
    if field.default is not MISSING:
        return f"={field.default}" if isinstance(field.default, str) else f"={short(field.default)}"
    if field.default_factory is not MISSING:
        return f"={short(field.default_factory())}"
    return " (required)"


def lacks(target: Any, asked: Iterable[str]) -> list[str]:
    """Which of these a class or an object has not; a field without a default is had by what is made of the class."""
    given = parameter_fields(target)
    lacking = [name for name in asked if not hasattr(target, name) and name not in given]
    needs = getattr(target, "needs", object)
    return [*lacking, "needs that is a class"] if "needs" in asked and not isinstance(needs, type) else lacking


def _spelled(target: Any) -> str:
    module, name = getattr(target, "__module__", None), getattr(target, "__qualname__", None)
    return f"{module}:{name}" if module and name else repr(target)
