"""Strategies for kind "freshness": draws at random, cycles by several rules, and what crawlers do without a model.

Frequencies of least cost come first (strategy `lagrangian`), then an order of visits that realises them, which is
judged exactly. The bound of all is that of the frequencies; ``extra.schedule_bound`` is a sharper one for cycles.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from heuristics import sequencing
from heuristics.evaluation import Decision
from heuristics.lagrangian import SeparableProblem, last_word
from heuristics.oracle import Oracle
from heuristics.policy_iteration import report_bound
from heuristics.result import Result
from heuristics.searching import require_fields
from heuristics.sequencing_counts import FEWEST_SLOTS, SLOTS_FOR_EACH
from heuristics.sequencing_words import fibonacci_below
from queueing.freshness import schedule_gaps, traits
from queueing.freshness_allocation import Allocation, allocate_randomized
from queueing.laws import Exponential

from .freshness_parts import Part, allocate_within, best_parts, given_parts, in_proportion
from .freshness_rules import CAPS, LEAST, TOLERANCE, Indices, Rules
from .freshness_space import Visits

#: A cycle has whole numbers of visits, which may break a cap or a least frequency: so often frequencies are found anew.
ATTEMPTS = 12

#: Slots that are put in order in a second, on any machine; and the most where nobody says how many.
PACE, MOST_SLOTS = 1_000_000, 100_000_000


@runtime_checkable
class VisitProblem(SeparableProblem, Protocol):
    """A problem of kind "freshness"; the frequencies of least cost, and what visits must keep to."""

    @property
    def rules(self) -> Rules: ...
    def allocation(self) -> Allocation: ...


@dataclass(frozen=True)
class Randomized:
    """Draw every slot at random, with the best probabilities (Theorem 4.1, water-filling for other weights).

    ``extra.multiplier`` is the price of a visit that is drawn. Several robots draw from their own pages. Where hosts
    have caps or pages least frequencies, those of `lagrangian` are drawn.
    """

    name: ClassVar[str] = "randomized"
    needs: ClassVar[type] = VisitProblem
    deterministic: ClassVar[bool] = True

    def refuses(self, problem: VisitProblem) -> str | None:
        """Refuse gaps: draws keep none."""
        return _refuses_gap(self.name, problem)

    def solve(self, oracle: Oracle[VisitProblem], rng: np.random.Generator) -> Result:
        """Show the draws."""
        problem: Any = oracle.problem
        rules: Rules = problem.rules
        frequencies, robot, prices = np.zeros(rules.pages), np.zeros(rules.pages, dtype=np.int64), []
        limited = rules.shares is not None or rules.minimum is not None
        parts = _parts_or_reason(oracle, lambda: best_parts(problem.traits, rules, problem.allocation()))
        if parts is None:
            return oracle.result()
        for number, part in enumerate(parts):
            found = None if limited else allocate_randomized(part.traits)
            frequencies[part.pages] = part.frequencies if found is None else found.frequencies
            robot[part.pages] = number
            prices.append(part.multiplier if found is None else found.multiplier)
        oracle.extra["multiplier"] = _scaled(problem, max(price for price in prices if price is not None))
        drawn: dict[str, Any] = {"randomized": frequencies}
        _show(oracle, drawn if rules.robots == 1 else drawn | {"robot": robot})
        return oracle.result()


@dataclass(frozen=True)
class Sequencing(ABC):
    """Frequencies of least cost, put in order.

    Parameters
    ----------
    slots
        The most slots of a cycle, of one robot; by default 50 for each of its pages, and 1000 at least, but of all
        robots together 1e8, and 1e6 for each second of a time limit, or two for each page if that is more.
    """

    slots: int | None = None

    name: ClassVar[str] = "sequencing"
    needs: ClassVar[type] = VisitProblem
    deterministic: ClassVar[bool] = True
    keeps_gaps: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_fields(self, slots=(self.slots is None or self.slots >= 1, "1 or more"))

    def refuses(self, problem: VisitProblem) -> str | None:
        """Refuse gaps between visits to a host, unless the rule keeps them."""
        return None if self.keeps_gaps else _refuses_gap(self.name, problem)

    def prepare(self, problem: VisitProblem) -> None:
        """Compile, before any clock starts."""
        few = traits([1.0, 2.0, 3.0], [1.0, 1.0, 1.0], Exponential(1.0))
        self.cycle(Part(np.arange(3), few, np.array([0.5, 0.25, 0.25]), np.arange(3), 0.1), min(problem.rules.gap, 2))

    def solve(self, oracle: Oracle[VisitProblem], rng: np.random.Generator) -> Result:
        """Find frequencies, put visits in order, judge; and again with more room where whole numbers break a rule."""
        problem: Any = oracle.problem
        rules: Rules = problem.rules
        whole: Allocation = problem.allocation()
        oracle.extra["multiplier"] = _scaled(problem, whole.multiplier)
        stopped_by, rule = "complete", self.within_reach(rules, oracle.remaining_seconds)
        for attempt in range(ATTEMPTS):
            parts = _parts_or_reason(oracle, partial(self.parts, problem, rules, whole))
            if parts is None:
                break
            cycles = [part.pages[rule.cycle(part, rules.gap)] for part in parts]
            decision: Visits = problem.space.check({"schedules": cycles})
            stopped_by = "seconds" if oracle.remaining_seconds <= 0 else "complete"
            if not _show(oracle, decision) & {CAPS, LEAST} or stopped_by == "seconds":
                break
            rules = tightened(rules, problem.rules, decision.cycles, 2.0**attempt)
            try:
                whole = allocate_within(problem.traits, rules)
            except ValueError:  # no room for all visits is left
                break
        return oracle.result(stopped_by=stopped_by)

    def within_reach(self, rules: Rules, seconds: float) -> Sequencing:
        """The same with shorter cycles, where usual ones would take too long: half a cycle is no answer."""
        usual = max(SLOTS_FOR_EACH * rules.pages, FEWEST_SLOTS * rules.robots)
        most = max(min(MOST_SLOTS, max(1.0, seconds) * PACE), 2 * rules.pages)
        return self if self.slots is not None or usual <= most else replace(self, slots=int(most) // rules.robots)

    def parts(self, problem: Any, rules: Rules, whole: Allocation) -> Sequence[Part]:
        """The pages of each robot and their frequencies."""
        return best_parts(problem.traits, rules, whole)

    @abstractmethod
    def cycle(self, part: Part, gap: int) -> Indices:
        """Pages of a robot in order, numbered as in its part."""

    def length(self, part: Part) -> int:
        """A number of slots in which whole visits are near to the frequencies."""
        return sequencing.cycle_length(part.frequencies, self.slots)


@dataclass(frozen=True)
class Regular(Sequencing):
    """Visits as regular as frequencies allow: the "promising candidates" of the paper.

    Parameters
    ----------
    rule
        ``"words"``: regular words inside regular words (Hajek's bracket sequences along Huffman's tree);
        ``"chairmen"``: no page is ever a visit off (Tijdeman).
    """

    rule: Literal["words", "chairmen"] = "words"

    name: ClassVar[str] = "regular"

    def cycle(self, part: Part, gap: int) -> Indices:
        """Regular words, or chairmen."""
        make = sequencing.regular if self.rule == "words" else sequencing.tijdeman
        return make(part.frequencies, self.length(part))


@dataclass(frozen=True)
class GoldenRatio(Sequencing):
    """The policy of the paper: visits by the multiples of the golden ratio, gaps of three Fibonacci numbers.

    The paper's "within 5 %" is wrong: many pages may cost up to 1.109 times the bound, few pages up to 9/8 times.

    Parameters
    ----------
    slots
        The cycle has as many slots as the largest Fibonacci number that is not above this; by default 50 for each page,
        and 1000 at least, or the shortest cycle that holds the frequencies, if that is a Fibonacci number.
    form
        ``"sorted"``: the multiples in order of size, as in the paper; ``"stateless"``: the page of slot t is the one in
        whose stretch of [0, 1) the fraction of t / phi lies, so that any robot can compute any slot.
    """

    form: Literal["sorted", "stateless"] = "sorted"

    name: ClassVar[str] = "golden-ratio"

    def cycle(self, part: Part, gap: int) -> Indices:
        """A Fibonacci number of slots."""
        exact = self.length(part)
        most = max(SLOTS_FOR_EACH * len(part.pages), FEWEST_SLOTS) if self.slots is None else self.slots
        slots = fibonacci_below(exact if fibonacci_below(exact)[0] == exact else most)[0]
        if self.form == "sorted":
            return sequencing.golden_ratio(part.frequencies, slots)
        return sequencing.golden_page(np.cumsum(part.frequencies), np.arange(slots))


@dataclass(frozen=True)
class Greedy(Sequencing):
    """The page that is due earliest; keeps gaps between visits to a host."""

    name: ClassVar[str] = "greedy"
    keeps_gaps: ClassVar[bool] = True

    def cycle(self, part: Part, gap: int) -> Indices:
        """Earliest due date."""
        return sequencing.greedy(part.frequencies, self.length(part), part.hosts, gap)


@dataclass(frozen=True)
class Whittle(Sequencing):
    """The page for which a visit now is worth most (Whittle's index); keeps gaps between visits to a host."""

    name: ClassVar[str] = "whittle"
    keeps_gaps: ClassVar[bool] = True

    def cycle(self, part: Part, gap: int) -> Indices:
        """Largest index."""
        decays, worths = part.traits.decays, part.traits.worths
        return sequencing.whittle(decays, worths, part.frequencies, self.length(part), part.hosts, gap)


@dataclass(frozen=True)
class PowerOfTwo(Sequencing):
    """Frequencies rounded to powers of two, which can be spaced evenly.

    Parameters
    ----------
    slots
        The cycle has as many slots as the largest power of two that is not above this; by default as many as the rarest
        page asks for, but 64 for each page at most.
    """

    name: ClassVar[str] = "power-of-two"

    def cycle(self, part: Part, gap: int) -> Indices:
        """Perfectly even spacing."""
        return sequencing.power_of_two(part.frequencies, self.slots)


@dataclass(frozen=True)
class Uniform(Greedy):
    """Every page as often as every other, as far as the rules allow: visits in turn, without a model."""

    name: ClassVar[str] = "uniform"

    def parts(self, problem: Any, rules: Rules, whole: Allocation) -> Sequence[Part]:
        """Equal frequencies."""
        return given_parts(problem.traits, rules, in_proportion(np.ones(rules.pages), rules))


@dataclass(frozen=True)
class Proportional(Greedy):
    """Every page as often as it changes, as far as the rules allow: what seems fair, and is not best."""

    name: ClassVar[str] = "proportional"

    def parts(self, problem: Any, rules: Rules, whole: Allocation) -> Sequence[Part]:
        """Frequencies in proportion to change rates."""
        return given_parts(problem.traits, rules, in_proportion(problem.traits.rates, rules))


def tightened(rules: Rules, wanted: Rules, cycles: Sequence[Indices], factor: float = 1.0) -> Rules:
    """Rules with less room: caps lower, and least frequencies higher, by a multiple of what cycles miss them by."""
    visits = np.zeros(rules.pages)
    for cycle in cycles:
        visits += schedule_gaps(cycle, rules.pages).visits / len(cycle)
    caps, minimum = rules.shares, rules.minimum
    if wanted.shares is not None and caps is not None:
        excess = rules.by_host(visits) - wanted.shares
        caps = np.where(excess > TOLERANCE * wanted.shares, np.maximum(caps - factor * excess, caps / 2), caps)
    if wanted.minimum is not None and minimum is not None:
        short = wanted.minimum - visits
        minimum = np.where(short > TOLERANCE * wanted.minimum, np.minimum(minimum + factor * short, 1.0), minimum)
    return replace(rules, caps=caps, minimum=minimum)


# -- inside -----------------------------------------------------------------------------------------------------------


def _refuses_gap(name: str, problem: VisitProblem) -> str | None:
    if problem.rules.gap <= 1:
        return None
    return (
        f"strategy {name!r} keeps no visits apart, and {problem.name!r} asks for {problem.rules.gap} slots between "
        "visits to a host; greedy and whittle do."
    )


def _parts_or_reason(oracle: Oracle[Any], find: Callable[[], Sequence[Part]]) -> Sequence[Part] | None:
    """The pages of each robot; ``None``, and why, where the rules leave one of them no room for its visits."""
    try:
        return find()
    except ValueError as refusal:
        oracle.extra["reason"] = f"pages could not be handed out to robots within the rules: {refusal}"
        return None


def _scaled(problem: Any, price: float) -> float:
    """The price of a visit in units of the objective, or of the obsolescence where that is not all of it."""
    return price * (problem.scale or 1.0)


def _show(oracle: Oracle[Any], decision: Decision) -> set[str]:
    """Ask about a decision, report the bound, and tell which rules are broken."""
    judged = last_word(oracle, decision)
    bound = oracle.problem.lower_bound()
    if np.isfinite(bound):
        report_bound(oracle, bound)
    return {name for name, amount in judged.violations.items() if amount > 0}
