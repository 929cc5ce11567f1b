"""Names one can write in a file or on the command line, and what they stand for: kinds, strategies, costs, solvers.

Built-in names are ``"module:Class"`` strings, so that the package works from a plain checkout and imports nothing
before it is asked to; entry points of the same group are listed at first use and loaded when asked for by name, so that
a plug-in whose libraries are missing hurts only those who ask for it.

>>> strategies.origin("exhaustive")
'built in'
>>> parse_strategy("genetic:population=100,mutation=0.1")
('genetic', {'population': '100', 'mutation': '0.1'})
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, EntryPoint, EntryPoints, distributions
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from .data import build, parameter_fields
from .errors import BrokenPlugin, NameTaken, RequestError, UnknownName, brief, printable, short, suggestion
from .kinds import Kind, resolve

if TYPE_CHECKING:
    from heuristics import Strategy

BUILT_IN = "built in"
#: The strategy that chooses one: it has no line of its own below, since every answer is that of another.
AUTO = "auto"
REGISTERED = "this process"
OURS = ("heuristics", "optmodels", "queueing")

#: Entry-point groups that concern us begin so.
PREFIX = "optmodels."

#: Packages whose exceptions are sentences for those who ask, also where code of others raises them.
SPEAKING = ("click", "heuristics", "typer")

#: What was named, see `tell_once`.
_told = set[str]()


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
        return _loaded(self._entry(name), self.noun, self.asks)

    def entries(self) -> list[Entry]:
        """All claims to names, including clashing ones, without loading anything."""
        if self._offered is None:
            self._offered = [
                Entry(point.name, point.dist.name if point.dist else "unknown distribution", point.value, point.load)
                for point in _entry_points()
                if point.group == self.group
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
        if self is strategies and name == AUTO:
            raise NameTaken(f"strategy {name!r} is the one that chooses; {_spelled(target)} needs another name.")
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
        if not isinstance(name, str):
            raise UnknownName(f"the name of a {self.noun} is text, got {short(name)}. {suggestion('', self)}")
        claims = [entry for entry in self.entries() if entry.name == name]
        if not claims:
            known = [*self, AUTO] if self is strategies else self
            raise UnknownName(f"no {self.noun} is called {name!r}. {suggestion(name, known)}")
        if len(claims) > 1:
            owners = " and by ".join(f"{entry.target} ({entry.origin})" for entry in claims)
            raise NameTaken(f"{self.noun} {name!r} is claimed by {owners}; uninstall one of the two.")
        return claims[0]


class Kinds(Registry):
    """Kinds of problems by name; what a record refers to is loaded when it is asked for."""

    def __getitem__(self, name: str) -> Kind:
        """The record of the kind called `name`."""
        record = super().__getitem__(name)
        entry = self._entry(name)
        if not isinstance(record, Kind):
            rule = f"{entry.target} is no optmodels.kinds.Kind"
        elif record.name != name:
            rule = f"{entry.target} calls itself {record.name!r}"
        else:
            return record
        raise BrokenPlugin(
            f"{self.noun} {name!r} ({entry.origin}) is invalid: {rule}; choose another, and report this to its authors."
        )

    def sound(self) -> list[Kind]:
        """All records, in the order of their names; one that cannot be loaded is named once, and passed by."""
        found = []
        for name in self:
            try:
                found.append(self[name])
            except RequestError as failure:
                tell_once(f"{self.group}:{name}", f"{failure} It is ignored.")
        return found

    def part(self, name: str, part: str) -> Any:
        """What the kind called `name` refers to by a field of `optmodels.kinds.PARTS`; ``None`` if it has none.

        Raises
        ------
        BrokenPlugin
            If it cannot be imported, or is of no use.
        """
        reference = getattr(self[name], part)
        asked = {"problem": ("from_data",), "generator": ("instance",)}.get(part, ())
        noun = self.noun if part == "problem" else part.replace("_", " ")
        return None if reference is None else self._resolved(name, name, noun, reference, asked)

    def command(self, name: str, command: str) -> Any:
        """The function behind a command that the kind called `name` adds to the command line."""
        return self._resolved(name, command, "command", self[name].commands[command])

    def _resolved(self, kind: str, name: str, noun: str, reference: Any, asked: tuple[str, ...] = ()) -> Any:
        spelled = reference if isinstance(reference, str) else _spelled(reference)
        return _loaded(Entry(name, self.origin(kind), spelled, lambda: resolve(reference)), noun, asked)

    @contextlib.contextmanager
    def blame(self, kind: str | None, part: str, name: str | None = None, on: str = "") -> Iterator[None]:
        """Name the distribution of a kind where a part of it, which is at work in the block, fails.

        Sentences for those who ask pass as they are, and a defect of ours keeps its traceback.
        """
        try:
            yield
        except Exception as failure:
            owner = BUILT_IN if kind is None or kind not in self else self.origin(kind)
            if owner == BUILT_IN or _speaks(failure):
                raise
            raise _broken(f"{part} {name or kind!r} ({owner})", failure, on) from failure

    def having(self, part: str) -> list[str]:
        """Names of the kinds whose field `part` says something; nothing that it refers to is loaded."""
        return [kind.name for kind in self.sound() if getattr(kind, part)]

    def of(self, problem: Any) -> Kind | None:
        """The kind of a problem; ``None`` if it is of none that has a name here."""
        name = getattr(problem, "kind", None)
        return self[name] if isinstance(name, str) and name in self else None

    def beside(self, problem: Any, file: str | os.PathLike[str]) -> tuple[Path, ...]:
        """The files that were read with the instance `file` of a problem, besides itself."""
        kind = self.of(problem)
        find: Callable[[Any, Path], Iterable[Path]] | None = None if kind is None else self.part(kind.name, "beside")
        if kind is None or find is None:
            return ()
        with self.blame(kind.name, "beside"):
            return tuple(find(problem, Path(file)))


def blamed(failure: Exception) -> BrokenPlugin | None:
    """Name the distribution whose code raised an exception; ``None`` if that was ours, or nobody's that we know.

    The innermost line that is ours, or that of a distribution with a name here, tells; libraries are passed over.
    """
    owners = {
        re.split(r"[.:]", entry.target)[0]: entry.origin
        for registry in REGISTRIES
        for entry in registry.entries()
        if entry.origin not in (BUILT_IN, REGISTERED)
    }
    for frame, _ in reversed(list(traceback.walk_tb(failure.__traceback__))):
        package = str(frame.f_globals.get("__name__")).partition(".")[0]
        if package in OURS:
            return None
        if package in owners:
            return _broken(f"the distribution {owners[package]!r}", failure)
    return None


def _speaks(failure: Exception) -> bool:
    """Whether an exception is a sentence for those who ask, or tells of this machine, whoever raised it."""
    spoken = isinstance(failure, RequestError) or type(failure).__module__.partition(".")[0] in SPEAKING
    return spoken or isinstance(failure, MemoryError) or (isinstance(failure, OSError) and failure.filename is None)


def _broken(whose: str, failure: Exception, on: str = "") -> BrokenPlugin:
    reason = " ".join(f"{type(failure).__name__}: {failure}".split())
    return BrokenPlugin(f"{whose} fails{on}: {reason}; report this to its authors.")


def _loaded(entry: Entry, noun: str, asks: tuple[str, ...]) -> Any:
    """What an entry stands for; a sentence that names it if that cannot be had."""
    try:
        target = entry.load()
    except KeyboardInterrupt:
        raise
    except BaseException as failure:  # a plug-in may fail in any way, and must not take the house down
        if entry.origin == BUILT_IN and not isinstance(failure, ImportError):
            raise  # a defect of ours keeps its traceback
        reason = " ".join(str(failure).split()) or type(failure).__name__
        raise BrokenPlugin(
            f"{noun} {entry.name!r} ({entry.origin}) cannot be loaded from {entry.target}: "
            f"{type(failure).__name__}: {reason}; install what it needs, or choose another."
        ) from failure
    lacking = lacks(target, asks)
    if lacking:
        raise BrokenPlugin(
            f"{noun} {entry.name!r} ({entry.origin}) is invalid: {entry.target} has no {', '.join(lacking)}; "
            "choose another, and report this to its authors."
        )
    return target


kinds = Kinds(
    "problem kind",
    "optmodels.kinds",
    {name: f"optmodels.{name}.kind:KIND" for name in ("freshness", "placement", "robots", "routing", "threshold")},
)
strategies = Registry(
    "strategy",
    "optmodels.strategies",
    {
        "adaptive": "optmodels.freshness.schedules.adaptive:Adaptive",
        "annealing": "heuristics.search.annealing:Annealing",
        "backward-induction": "heuristics.routing.backward_induction:BackwardInduction",
        "balanced": "heuristics.routing.balanced:Balanced",
        "best-of": "optmodels.portfolio.strategy:BestOf",
        "clauses": "optmodels.placement.clauses.strategy:Clauses",
        "dejavu": "heuristics.siting.dejavu:Dejavu",
        "exhaustive": "heuristics.search.exhaustive:Exhaustive",
        "genetic": "heuristics.search.genetic:Genetic",
        "golden-ratio": "optmodels.freshness.schedules.strategies:GoldenRatio",
        "greedy": "optmodels.freshness.schedules.strategies:Greedy",
        "highs": "optmodels.mip.strategy:Highs",
        "lagrangian": "heuristics.allocation.lagrangian:Lagrangian",
        "large-neighbourhood": "heuristics.siting.large_neighbourhood:LargeNeighbourhood",
        "linear-program": "optmodels.robots.linear_program.strategy:LinearProgram",
        "local-search": "heuristics.search.local_search:LocalSearch",
        "marginal-analysis": "heuristics.allocation.marginal_analysis:MarginalAnalysis",
        "min-mean-cycle": "heuristics.routing.min_mean_cycle:MinMeanCycle",
        "multimodular": "heuristics.multimodular.search:Multimodular",
        "optimal-policy": "optmodels.threshold.optimal_policy:OptimalPolicy",
        "policy-iteration": "heuristics.dynamic.policy_iteration:PolicyIteration",
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
    {"expression": "optmodels.formulas.expression:Expression"}
    | {"lexicographic": "optmodels.costs:Lexicographic", "weighted-sum": "optmodels.costs:WeightedSum"},
)
gap_costs = Registry(
    "gap cost",
    "optmodels.gap_costs",
    {"linear-exponential": "optmodels.routing.gap_costs:LinearExponential"}
    | {"power": "optmodels.routing.gap_costs:Power", "table": "optmodels.routing.gap_costs:Table"},
)
solvers = Registry(
    "solver",
    "optmodels.solvers",
    {name: f"optmodels.mip.solvers:{name.upper()}" for name in ("cpsat", "highs", "scip")},
    asks=("backend", "package", "missing"),
)

#: In the order in which `optmodels list` prints them.
REGISTRIES: tuple[Registry, ...] = (kinds, strategies, costs, gap_costs, solvers)


# -- strategies by string ---------------------------------------------------------------------------------------------


def parse_strategy(text: str) -> tuple[str, dict[str, str]]:
    """Split ``"name:parameter=value,..."`` into the name and its parameters, still as text."""
    name, colon, rest = (piece.strip() for piece in text.partition(":"))
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
    if name == AUTO:
        from .solving import Auto

        own: Strategy = build(Auto, given, f"strategy {name!r}")
        return own
    made: Strategy = build(strategies[name], given, f"strategy {name!r}")
    return made


def lacks(target: Any, asked: Iterable[str]) -> list[str]:
    """Which of these a class or an object has not; a field without a default is had by what is made of the class."""
    given = parameter_fields(target)
    lacking = [name for name in asked if not hasattr(target, name) and name not in given]
    needs = getattr(target, "needs", object)
    return [*lacking, "needs that is a class"] if "needs" in asked and not isinstance(needs, type) else lacking


def _spelled(target: Any) -> str:
    module, name = getattr(target, "__module__", None), getattr(target, "__qualname__", None)
    return f"{module}:{name}" if module and name else repr(target)


# -- distributions of others ------------------------------------------------------------------------------------------


def shield() -> None:
    """Let no malformed distribution stop this process: its entry points count as none, for every library.

    numba, networkx, pydantic and matplotlib look for plug-ins of their own among all distributions, and fail where one
    is malformed. For processes that are ours: the command line and its workers.
    """
    if Distribution.entry_points is not _shielded:
        Distribution.entry_points = _shielded  # type: ignore[method-assign,assignment]


_ORIGINAL: Any = Distribution.entry_points


@property  # type: ignore[misc]
def _shielded(distribution: Distribution) -> EntryPoints:
    try:
        found: EntryPoints = _ORIGINAL.__get__(distribution)
        return found
    except Exception as failure:  # whatever a file of others may hold
        _tell(_label(distribution), failure)
        return EntryPoints(())


@cache
def _entry_points() -> tuple[EntryPoint, ...]:
    """Entry points in groups of ours; where two folders hold one distribution, the first on the path counts."""
    found: list[EntryPoint] = []
    seen = set[str]()
    for distribution in _installed():
        label = _label(distribution)
        name = re.sub(r"[-_.]+", "-", label).lower()
        if name in seen:
            continue
        seen.add(name)
        try:
            offered = [point for point in distribution.entry_points if point.group.startswith(PREFIX)]
            if offered and not isinstance(distribution.name, str):
                raise ValueError("it has no METADATA with a name")
        except Exception as failure:  # whatever a file of others may hold
            _tell(label, failure)
        else:
            found += offered
    return tuple(found)


def _installed() -> Iterator[Distribution]:
    going = iter(distributions())
    while True:
        try:
            yield next(going)
        except StopIteration:
            return
        except Exception as failure:  # a folder on the path that cannot be looked through
            _tell("of a name that cannot be read", failure)
            return


def _label(distribution: Distribution) -> str:
    """What a distribution is called: its folder tells without a file being read, and where there is none to read."""
    folder = PurePath(str(getattr(distribution, "_path", "")))
    if folder.suffix in (".dist-info", ".egg-info"):
        return folder.stem.partition("-")[0]
    try:
        return str(distribution.name)
    except Exception:
        return folder.name or "without a name"


def _tell(label: str, failure: Exception) -> None:
    text = " ".join(str(failure).split())
    reason = brief(f"{type(failure).__name__}: {text}" if text else type(failure).__name__, 200)
    tell_once(label, f"the distribution {brief(label)!r} is ignored: its entry points cannot be read ({reason}).")


def tell_once(label: str, sentence: str) -> None:
    """Name what is broken in a sentence, on stderr unless loggers say otherwise, if it was not named before."""
    import multiprocessing  # loaded by those who have something to say

    if label in _told or multiprocessing.parent_process() is not None:  # whoever started this process has said it
        return
    _told.add(label)
    logging.getLogger("optmodels").warning("%s", printable(f"optmodels: {sentence}"))
