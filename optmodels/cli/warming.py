"""The command ``warm-up``: compile once what strategies, evaluators and simulations would compile at their first use.

Compiled code is kept on disk by Numba, beside the packages or in the folder that NUMBA_CACHE_DIR names.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import RequestError, UnknownName, suggestion
from .arguments import ANSWERED, NOT_UNDERSTOOD, Json, complete_kind
from .output import deliver, note, say

if TYPE_CHECKING:
    from heuristics import Problem, Result

#: Limits of each run: enough to have everything called once.
EVALUATIONS, SECONDS = 30, 2.0

#: Instances of a kind, in bytes, up to which one is read to find a strategy something it takes.
CHEAP = 5_000

#: Instances on which a strategy is run: small ones do not call everything.
MOST = 2


@dataclass(frozen=True)
class Case:
    """One thing to do: a strategy to run on a problem, or a simulation."""

    kind: str
    problems: tuple[Problem, ...]
    strategy: str | None

    @property
    def shown(self) -> str:
        """What people read while it is done."""
        return f"{self.kind} by {self.strategy}" if self.strategy else f"{self.kind}, simulated"

    def call(self) -> None:
        """Do it."""
        if self.strategy is None:
            self._simulate()
            return
        for problem in self.problems:
            _solved(problem, self.strategy)

    def _simulate(self) -> None:
        """Try out the first decision that can be: some are bounds only, some problems have no arrivals."""
        from ..registry import kinds
        from ..studies import simulating

        for problem in self.problems:
            for strategy in kinds[self.kind].recommended:
                with contextlib.suppress(RequestError, TypeError):  # a strategy that does not take it is a TypeError
                    found = _solved(problem, strategy)
                    if found.decision is not None:
                        seen = simulating.simulate(problem, found.decision, replications=2, seconds=SECONDS)
                        _end_if_interrupted(seen.stopped_by)
                        return


def _solved(problem: Problem, strategy: str) -> Result:
    """Make a short run; Ctrl-C, which a run takes for its end, ends everything here."""
    from .. import solving

    found = solving.solve(problem, strategy, evaluations=EVALUATIONS, seconds=SECONDS)
    _end_if_interrupted(found.stopped_by)
    return found


def _end_if_interrupted(stopped_by: str) -> None:
    if stopped_by == "interrupt":
        raise KeyboardInterrupt


def warm_up(
    kind: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KIND]...", help="Kinds of problems; by default all.", autocompletion=complete_kind),
    ] = None,
    json: Json = False,
) -> int:
    """Compile the numerical code in advance.

    The first answer then need not wait for it. Takes a minute or two: every strategy is run on small instances. The
    compiled code is kept on disk (`optmodels doctor` says where).

    For example:
        optmodels warm-up
        optmodels warm-up placement routing
    """
    from heuristics import clock

    clock.watch()
    cases = cases_of(_asked(kind or []))
    failed: list[str] = []
    for index, case in enumerate(cases, 1):
        note(f"{index} of {len(cases)}: {case.shown}")
        try:
            case.call()
        except RequestError as failure:
            failed.append(f"{case.shown}: {failure}")
        except Exception as failure:  # a cache that cannot be written, a library that is broken: the others go on
            failed.append(f"{case.shown}: {type(failure).__name__}: {' '.join(str(failure).split())}")
    for sentence in failed:
        say(sentence)
    seconds = clock.lost()
    told = {"runs": len(cases), "failed": failed, "compiling": seconds}
    deliver(told, lambda: note(f"done; {seconds:.0f} s were spent on compiling code, or loading it."), as_json=json)
    return ANSWERED if not failed else NOT_UNDERSTOOD


def _asked(names: Sequence[str]) -> list[str]:
    """The kinds that are asked for, each once."""
    from ..registry import kinds

    for name in names:
        if name not in kinds:
            raise UnknownName(f"no {kinds.noun} is called {name!r}. {suggestion(name, kinds)}")
    return list(dict.fromkeys(names)) or [kind.name for kind in kinds.sound()]


def cases_of(names: Sequence[str]) -> list[Case]:
    """List what is run: each strategy of a kind on small instances that it takes, and a simulation.

    Parameters
    ----------
    names
        Of kinds; one without an instance that is here is passed by.

    Returns
    -------
    list of Case
        In the order of kinds and strategies.
    """
    from heuristics import refusal

    from ..registry import kinds, make_strategy

    cases: list[Case] = []
    for name in names:
        kind = kinds[name]
        problems = _problems(kind)
        for strategy in kind.strategies or kind.recommended:
            made = _made(make_strategy, strategy)
            if made is None:
                continue
            taken = tuple(one for one in problems if refusal(one, made) is None)
            if not taken:  # it asks for more than a class of problems, such as a period
                taken = tuple(islice((one for one in _cheap(kind) if refusal(one, made) is None), 1))
            if taken:
                cases.append(Case(name, taken[:MOST], strategy))
        if kind.simulated and problems:
            cases.append(Case(name, tuple(problems), None))
    return cases


def _made(make: Any, name: str) -> Any:
    """The strategy of a name; ``None`` where it is not installed."""
    try:
        return make(name)
    except RequestError:
        return None


def _problems(kind: Any) -> list[Problem]:
    """The example of a kind, what the demo shows, and one small shipped instance of each further class of problems."""
    from ..data import shipped_files
    from .demo import SHOWN

    shipped = shipped_files()
    first = [kind.example_file(), shipped.get(SHOWN[kind.name].name) if kind.name in SHOWN else None]
    found: dict[Any, Problem] = {file: problem for file in dict.fromkeys(first) for problem in _readable([file])}
    for problem in _cheap(kind, but=first):
        found.setdefault((type(problem), bool(getattr(problem, "limits", None))), problem)
    return list(found.values())


def _cheap(kind: Any, but: Sequence[Path | None] = ()) -> Iterator[Problem]:
    """Small shipped instances of a kind."""
    from ..data import shipped_files

    shipped = shipped_files().values()
    small = (file for file in shipped if file.parent.name == kind.name and file.stat().st_size <= CHEAP)
    return _readable(file for file in small if file not in but)


def _readable(files: Iterable[Path | None]) -> Iterator[Problem]:
    """The problems of files that can be read here."""
    from ..instance import load

    for file in files:
        if file is not None:
            with contextlib.suppress(RequestError):
                yield load(file)
