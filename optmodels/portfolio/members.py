"""Which strategies take part, which are left out and why, and what each of them did."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from heuristics import Problem, Result, Status, Strategy, refusal

from ..errors import RequestError
from ..registry import AUTO, kinds, make_strategy, strategies

#: Written between the strategies of a portfolio, and between the parameters of one of them.
PLUS, SEMICOLON = "+", ";"

#: Who takes part, of those that fit, where a problem is of no kind that recommends any.
ANYWHERE = ("highs", "exhaustive", "annealing", "local-search")

#: Words of a result that ended because its share, or that of all, was spent: it may have more to find.
CUT_SHORT = ("seconds", "evaluations", "stall", "settled")

#: A strategy that ends by itself so often in a row, and finds nothing better, is not asked again.
IDLE = 2


@dataclass
class Member:
    """A strategy that takes part, and what it did so far.

    Attributes
    ----------
    label
        As it was written: the name with its parameters.
    strategy
        Who answers.
    objective, bound, status, stopped_by
        The best of its own decisions, the best of its own bounds, the most that it said of its answer, and its last
        word; ``None`` before there is any.
    seconds, evaluations, turns
        What it took, in how many turns.
    beyond
        Whether it has shown decisions that the space does not list.
    retired
        Whether asking it again would be of no use.
    """

    label: str
    strategy: Strategy
    objective: float | None = None
    bound: float | None = None
    status: Status = Status.UNKNOWN
    stopped_by: str | None = None
    seconds: float = 0.0
    evaluations: int = 0
    turns: int = 0
    beyond: bool = False
    retired: bool = False
    idle: int = 0
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def begins_anew(self) -> bool:
        """Whether it calls a solver, which goes on from nothing that it did in an earlier turn."""
        return getattr(self.strategy, "beside", 0) > 0

    def take(self, result: Result, seconds: float, *, improved: bool) -> None:
        """Note what came of a turn: its result, its time, and whether the best decision of all became better."""
        self.turns += 1
        self.seconds += seconds
        self.evaluations += result.evaluations
        self.stopped_by = result.stopped_by
        if result.objective is not None and (self.objective is None or result.objective < self.objective):
            self.objective = result.objective
            self.extra |= result.extra
        if result.bound is not None and (self.bound is None or result.bound > self.bound):
            self.bound = result.bound
            self.extra |= result.extra
        order = (Status.UNKNOWN, Status.FEASIBLE, Status.OPTIMAL, Status.INFEASIBLE)
        self.status = max(self.status, result.status, key=order.index)
        if result.stopped_by in CUT_SHORT:
            self.idle = 0
            return
        self.idle = 0 if improved else self.idle + 1
        proved = result.status in (Status.OPTIMAL, Status.INFEASIBLE)
        once = getattr(self.strategy, "deterministic", False) or result.stopped_by == "repeats"
        self.retired = proved or once or self.idle >= IDLE

    def to_data(self) -> dict[str, Any]:
        """As ``extra`` tells it."""
        return {
            "strategy": self.label,
            "status": str(self.status),
            "objective": self.objective,
            "bound": self.bound,
            "evaluations": self.evaluations,
            "seconds": self.seconds,
            "turns": self.turns,
            "stopped_by": self.stopped_by,
        }


def written(text: str) -> tuple[str, ...]:
    """Split the parameter ``strategies`` into specifications as `make_strategy` takes them.

    Raises
    ------
    ValueError
        If one is empty, stands there twice, or is a portfolio itself.

    >>> written("highs:solver=scip+genetic:population=50;mutation=0.1")
    ('highs:solver=scip', 'genetic:population=50,mutation=0.1')
    """
    labels = tuple(part.strip().replace(SEMICOLON, ",") for part in text.split(PLUS))
    if not all(labels):
        raise ValueError(f"strategies must be names with {PLUS} between them, such as highs+annealing, got {text!r}.")
    for label in labels:
        if label.partition(":")[0] == "best-of":
            raise ValueError(f"strategies must not hold best-of itself, got {text!r}; name its members instead.")
    twice = [label for label in labels if labels.count(label) > 1]
    if twice:
        raise ValueError(f"strategies must be different from one another, and {twice[0]!r} is named twice.")
    return labels


def fitting_members(problem: Problem, strategies_given: str | None) -> tuple[list[Member], dict[str, str]]:
    """Find who takes part, and who is left out and why, in a sentence each.

    Without names, those who take part are what the kind shares a budget among (``Kind.portfolio``); else what ``auto``
    would choose, then the strategies recommended for the kind.
    """
    found: list[Member] = []
    left_out: dict[str, str] = {}
    for label, strategy in _offered(problem, strategies_given):
        sentence = refusal(problem, strategy)
        if sentence is None:
            found.append(Member(label, strategy))
        elif strategies_given is not None:
            left_out[label] = sentence
    return found, left_out


def _offered(problem: Problem, given: str | None) -> list[tuple[str, Strategy]]:
    from ..solving import choose

    if given is not None:
        pairs = [(label, choose(make_strategy(label), problem)[0]) for label in written(given)]
        return [pair for pair in pairs if pair[1].name != "best-of"]
    kind = kinds.of(problem)
    shared = None if kind is None else kinds.part(kind.name, "portfolio")
    if kind is not None and shared is not None:
        with kinds.blame(kind.name, "portfolio"):
            return [(str(name), make_strategy(str(name))) for name in shared(problem)]
    names = ANYWHERE if kind is None else kind.recommended
    chosen = choose(make_strategy(AUTO), problem)[0]
    offered = {} if chosen.name in (AUTO, "best-of") else {chosen.name: chosen}
    for name in names:
        if name in offered or name not in strategies or name == "best-of":
            continue
        try:
            offered[name] = make_strategy(name)
        except RequestError:  # it is broken, or has parameters that must be given
            continue
    return list(offered.items())
