"""Strategies for kind "freshness": draws at random, cycles by several rules, and what crawlers do without a model.

Frequencies of least cost come first (strategy `lagrangian`), then an order of visits that realises them, which is
evaluated exactly. The bound of all is that of the frequencies; ``extra.schedule_bound`` is a sharper one for cycles.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from heuristics import Decision, Oracle, Result, interrupting, last_word, require_fields, sequencing
from heuristics.allocation import SeparableProblem
from heuristics.sequencing import FEWEST_SLOTS, SLOTS_FOR_EACH, cycle_gain, fibonacci_below
from queueing.freshness import Allocation, allocate_randomized, even_cost, traits
from queueing.processes import Exponential

from ..partition import Part, allocate_within, best_parts, given_parts, in_proportion
from ..rules import CAPS, LEAST, TOLERANCE, Indices, Rules, Vector
from ..space import padded
from .cycle_frequencies import fitted, once_or_never
from .refusals import refuses_cycle, refuses_gap

#: A cycle has whole numbers of visits, which may break a cap or a least frequency: so often frequencies are found anew.
ATTEMPTS = 12

#: The most slots where nobody says how many; so few are put in order at once, whatever the clock says, or without one.
MOST_SLOTS, QUICK, SOON = 100_000_000, 200_000, 5_000_000

#: The part of the time left that a longer cycle is planned to take.
TIME_USED = 0.5

#: Rules that cost no more than so many times the bound are not held to `power-of-two`.
NEAR_THE_BOUND = 1.05


class _Late(Exception):  # noqa: N818 - it ends a computation, it is not an error
    """A cycle is not ready in time."""


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
        """Refuse gaps, which draws do not keep, and problems that ask for a cycle."""
        return refuses_gap(self.name, problem) or refuses_cycle(self.name, problem)

    def solve(self, oracle: Oracle[VisitProblem], rng: np.random.Generator) -> Result:
        """Find the best probabilities of each robot, and show the draws."""
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
        price = max(price for price in prices if price is not None)
        oracle.extra["multiplier"] = price * (problem.scale or 1.0)
        drawn: dict[str, Any] = {"randomized": frequencies}
        _show(oracle, drawn if rules.robots == 1 else drawn | {"robot": robot})
        return oracle.result()


@dataclass(frozen=True)
class Sequencing(ABC):
    """Frequencies of least cost, put in order.

    A rule that is asked for with parameters does what it is told. Without them it is held to what is to be had anyway:
    where its cycle costs more than `uniform`, or more than 5 % above the bound while `power-of-two` does not, theirs is
    the answer; ``extra.rule`` names the rule whose cycle it is.

    Parameters
    ----------
    slots
        The most slots of a cycle, of one robot; by default 50 for each of its pages, and 1000 at least, but of all
        robots together 1e8. Where rare pages would be left out (:mod:`optmodels.freshness.schedules.cycle_frequencies`)
        up to 16 times that. Of a long cycle a short form is made first, two slots for each page, so that an interrupt
        finds an answer. With a time limit the next one is as long as the speed of the one before promises to be ready
        in time; one that is not ready is given up.
    """

    slots: int | None = None

    name: ClassVar[str] = "sequencing"
    needs: ClassVar[type] = VisitProblem
    deterministic: ClassVar[bool] = True
    keeps_gaps: ClassVar[bool] = False
    baseline: ClassVar[bool] = False
    shortest: ClassVar[int] = 2  # slots for each page of the cycle that is made first where time is limited

    def __post_init__(self) -> None:
        require_fields(self, slots=(self.slots is None or self.slots >= 1, "1 or more"))

    def refuses(self, problem: VisitProblem) -> str | None:
        """Refuse gaps between visits to a host, unless the rule keeps them, and lengths that its cycles cannot have."""
        if not self.keeps_gaps and (gaps := refuses_gap(self.name, problem)) is not None:
            return gaps
        slots = problem.rules.cycle
        return None if slots is None or self.makes(slots) else refuses_cycle(self.name, problem)

    def prepare(self, problem: VisitProblem) -> None:
        """Compile, before any clock starts."""
        few = traits([1.0, 2.0, 3.0], [1.0, 1.0, 1.0], Exponential(1.0))
        part = Part(np.arange(3), few, np.array([0.5, 0.25, 0.25]), np.arange(3), 0.1, Rules(3))
        gap = min(problem.rules.gap, 2)
        for rule in (*self.variants(), *(self.others(problem) if self._falls_back else ())):
            cycle_gain(rule.order(part, gap), few.worths, few.decays)
        once_or_never(part, 3)

    def solve(self, oracle: Oracle[VisitProblem], rng: np.random.Generator) -> Result:
        """Find frequencies, put visits in order, evaluate; look at other rules where they may cost less."""
        problem: Any = oracle.problem
        whole: Allocation = problem.allocation()
        oracle.extra["multiplier"] = whole.multiplier * (problem.scale or 1.0)
        if problem.rules.cycle is not None:
            self = replace(self, slots=problem.rules.cycle)
        complete = True
        for rule in self.variants():
            late = oracle.best is not None and oracle.remaining_seconds <= 0
            complete &= not late and rule.shown(oracle, whole)
        own = None if oracle.best is None else oracle.best.evaluation.objective
        for other in self.others(problem) if self._falls_back else ():
            if oracle.remaining_seconds > 0 and other.may_cost_less(oracle):
                complete &= other.shown(oracle, whole)
        if own is not None and oracle.best is not None and oracle.best.evaluation.objective < own:
            rule_name = oracle.extra["rule"]
            oracle.extra["note"] = f"{self.name} itself would cost {own:.10g}; these are the visits of {rule_name}."
        return oracle.result(stopped_by="complete" if complete and oracle.remaining_seconds > 0 else "seconds")

    def shown(self, oracle: Oracle[Any], whole: Allocation) -> bool:
        """Show cycles to the oracle, as long as there is time for; whether the last one is as long as it should be."""
        rules: Rules = oracle.problem.rules
        wanted = self.wanted(rules)
        if wanted <= (QUICK if math.isfinite(oracle.remaining_seconds) else SOON):
            self.settle(oracle, whole, self.slots)
            return True
        slots, made = min(wanted, max(self.shortest * rules.pages, QUICK)), 0
        while made < wanted:
            begun = oracle.seconds
            try:
                with interrupting.within(partial(_in_time, oracle)) if made else nullcontext():
                    self.settle(oracle, whole, max(1, slots // rules.robots), fit=made > 0)
            except _Late:  # the shorter one is the answer
                return False
            made, pace = slots, (oracle.seconds - begun) / slots
            slots = int(min(wanted, TIME_USED * oracle.remaining_seconds / pace))
            if made < wanted and slots < 2 * made:
                return False
        return True

    def wanted(self, rules: Rules) -> int:
        """Count the slots of the cycles of all robots."""
        if self.slots is not None:
            return self.slots * rules.robots
        usual = max(SLOTS_FOR_EACH * rules.pages, FEWEST_SLOTS * rules.robots)
        return min(usual, max(MOST_SLOTS, 2 * rules.pages))

    def settle(self, oracle: Oracle[Any], whole: Allocation, slots: int | None, fit: bool = True) -> None:
        """Put visits in order and show them; again with more room as long as whole numbers break a rule."""
        problem = oracle.problem
        rules: Rules = problem.rules
        rule = self if slots == self.slots else replace(self, slots=slots)
        for attempt in range(ATTEMPTS):
            parts = _parts_or_reason(oracle, partial(self.parts, problem, rules, whole))
            if parts is None:
                return
            cycles = [padded(part.pages[rule.order(part, rules.gap, fit, rules.cycle)], rules.cycle) for part in parts]
            decision = problem.space.check({"schedules": cycles})
            before = oracle.best
            broken = _show(oracle, decision)
            if oracle.best is not before:
                oracle.extra["rule"] = self.label
            if not broken & {CAPS, LEAST} or oracle.remaining_seconds <= 0:
                return
            rules = tightened(rules, problem.rules, problem.visits_of(decision).frequencies, 2.0**attempt)
            try:
                whole = allocate_within(problem.traits, rules)
            except ValueError:  # no room for all visits is left
                return

    def order(self, part: Part, gap: int, fit: bool = True, exact: int | None = None) -> Indices:
        """Order the visits of a robot, in `exact` slots; of few pages the better of two: fit for rare ones, or not."""
        usual = exact or self.length(part)
        held, slots = fitted(part, usual, self.allowed, longer=self.slots is None) if fit else (part, usual)
        cycle = self.cycle(held, slots, gap)
        free = part.rules is not None and part.rules.shares is None and part.rules.minimum is None
        if held is part or not free or len(part.pages) > sequencing.SOME_PAGES:
            return cycle
        own = part.traits.worths, part.traits.decays
        return max((cycle, self.cycle(part, usual, gap)), key=lambda one: cycle_gain(one, *own))

    def parts(self, problem: Any, rules: Rules, whole: Allocation) -> Sequence[Part]:
        """Hand out pages to robots, with their frequencies."""
        return best_parts(problem.traits, rules, whole)

    @abstractmethod
    def cycle(self, part: Part, slots: int, gap: int) -> Indices:
        """Order the pages of a robot, numbered as in its part, in so many slots."""

    def length(self, part: Part) -> int:
        """Choose a number of slots in which whole visits are near to the frequencies."""
        return sequencing.cycle_length(part.frequencies, self.slots)

    def allowed(self, slots: int) -> int:
        """Find the most slots, up to so many, that a cycle can have."""
        return slots

    def makes(self, slots: int) -> bool:
        """Whether a cycle can have exactly so many slots."""
        return self.allowed(slots) == slots

    # -- other rules --------------------------------------------------------------------------------------------------

    @property
    def label(self) -> str:
        """What ``extra.rule`` says of cycles of this rule."""
        return self.name

    @property
    def _falls_back(self) -> bool:
        return not self.baseline and self == type(self)()

    def variants(self) -> Sequence[Sequencing]:
        """List the rules of which the best is the answer."""
        return (self,)

    def others(self, problem: VisitProblem) -> Sequence[Sequencing]:
        """List the rules that this one is held to."""
        known: tuple[Sequencing, ...] = (Uniform(),) if problem.rules.gap > 1 else (PowerOfTwo(), Uniform())
        return [other for other in known if type(other) is not type(self)]

    def may_cost_less(self, oracle: Oracle[Any]) -> bool:
        """Whether cycles of this rule may cost less than what was found, as far as can be told without them."""
        problem = oracle.problem
        if oracle.best is None or problem.scale is None:
            return True
        return bool(oracle.best.evaluation.objective > NEAR_THE_BOUND * problem.lower_bound())


@dataclass(frozen=True)
class Regular(Sequencing):
    """Make visits as regular as frequencies allow: the "promising candidates" of Coffman et al. (1998).

    Parameters
    ----------
    slots
        The most slots of a cycle, of one robot; by default 50 for each of its pages, and 1000 at least, but of all
        robots together 1e8. Where rare pages would be left out up to 16 times that; less if time is short.
    rule
        ``"words"``: regular words inside regular words (Hajek's bracket sequences along Huffman's tree);
        ``"chairmen"``: no page is ever a visit off (Tijdeman); ``"best"``: whichever costs less.
    """

    rule: Literal["best", "words", "chairmen"] = "best"

    name: ClassVar[str] = "regular"

    @property
    def label(self) -> str:
        """Which of the two it is."""
        return f"{self.name}:rule={self.rule}"

    def variants(self) -> Sequence[Sequencing]:
        """Both rules, or the one asked for."""
        return [replace(self, rule=rule) for rule in ("words", "chairmen")] if self.rule == "best" else [self]

    def cycle(self, part: Part, slots: int, gap: int) -> Indices:
        """Order visits by regular words, or by chairmen."""
        return (sequencing.tijdeman if self.rule == "chairmen" else sequencing.regular)(part.frequencies, slots)


@dataclass(frozen=True)
class GoldenRatio(Sequencing):
    """Visit by the multiples of the golden ratio: gaps of three Fibonacci numbers (Coffman et al., 1998, section 5).

    "Within 5 %", their Corollary 5.1, is wrong: many pages may cost up to 1.109 times the bound, few up to 9/8. Where
    they do, the answer is that of another rule unless `slots` or `form` are given; see `Sequencing`.

    Parameters
    ----------
    slots
        The cycle has as many slots as the largest Fibonacci number that is not above this; by default 50 for each page,
        and 1000 at least, or the shortest cycle that holds the frequencies, if that is a Fibonacci number.
    form
        ``"sorted"``: the multiples in order of size, as published; ``"stateless"``: the page of slot t is the one in
        whose stretch of [0, 1) the fraction of t / phi lies, so that any robot can compute any slot.
    """

    form: Literal["sorted", "stateless"] = "sorted"

    name: ClassVar[str] = "golden-ratio"
    shortest: ClassVar[int] = 3

    def length(self, part: Part) -> int:
        """Choose a Fibonacci number of slots."""
        exact = super().length(part)
        most = max(SLOTS_FOR_EACH * len(part.pages), FEWEST_SLOTS) if self.slots is None else self.slots
        return self.allowed(exact if self.allowed(exact) == exact else most)

    def allowed(self, slots: int) -> int:
        """Find the largest Fibonacci number that is not above these slots."""
        return fibonacci_below(slots)[0]

    def makes(self, slots: int) -> bool:
        """Whether a cycle can have exactly so many slots; without memory, any number."""
        return self.form == "stateless" or super().makes(slots)

    def cycle(self, part: Part, slots: int, gap: int) -> Indices:
        """Order visits by the golden ratio, in a Fibonacci number of slots."""
        if self.form == "sorted":
            return sequencing.golden_ratio(part.frequencies, slots)
        return sequencing.golden_page(np.cumsum(part.frequencies), np.arange(slots))


@dataclass(frozen=True)
class Greedy(Sequencing):
    """Visit the page that is due earliest, with the required gaps between visits to a host.

    Parameters
    ----------
    slots
        The most slots of a cycle, of one robot; by default 50 for each of its pages, and 1000 at least, but of all
        robots together 1e8. Where rare pages would be left out up to 16 times that; less if time is short.
    """

    name: ClassVar[str] = "greedy"
    keeps_gaps: ClassVar[bool] = True

    def cycle(self, part: Part, slots: int, gap: int) -> Indices:
        """Visit in order of due dates, gaps between visits to a host kept."""
        return sequencing.greedy(part.frequencies, slots, part.hosts, gap)


@dataclass(frozen=True)
class LargestIndex(Sequencing):
    """Visit the page for which a visit now is worth most (Whittle's index); it keeps gaps between visits to a host.

    The rule of strategy `whittle` for visits, see `heuristics.dynamic.whittle`.

    Parameters
    ----------
    slots
        The most slots of a cycle, of one robot; by default 50 for each of its pages, and 1000 at least, but of all
        robots together 1e8. Where rare pages would be left out up to 16 times that; less if time is short.
    """

    name: ClassVar[str] = "whittle"
    keeps_gaps: ClassVar[bool] = True

    def cycle(self, part: Part, slots: int, gap: int) -> Indices:
        """Visit in order of indices, gaps between visits to a host kept."""
        exact, own = part.rules is not None and part.rules.cycle is not None, part.traits
        return sequencing.whittle(own.decays, own.worths, part.frequencies, slots, part.hosts, gap, exact=exact)


@dataclass(frozen=True)
class PowerOfTwo(Sequencing):
    """Round the best frequencies to powers of two, which can be spaced evenly.

    Parameters
    ----------
    slots
        The cycle has as many slots as the largest power of two that is not above this; by default as many as the rarest
        page asks for, but 64 for each page at most.
    """

    name: ClassVar[str] = "power-of-two"
    shortest: ClassVar[int] = 4

    def length(self, part: Part) -> int:
        """Choose a power of two."""
        return sequencing.power_length(part.frequencies, self.slots)

    def allowed(self, slots: int) -> int:
        """Find the largest power of two that is not above these slots."""
        return 1 << slots.bit_length() - 1

    def cycle(self, part: Part, slots: int, gap: int) -> Indices:
        """Perfectly even spacing in so many slots."""
        return sequencing.power_of_two(part.frequencies, slots)


@dataclass(frozen=True)
class Uniform(Greedy):
    """Visit every page as often as every other, as far as the rules allow: visits in turn, without a model.

    Parameters
    ----------
    slots
        The most slots of a cycle, of one robot; by default each page is visited once, unless caps of hosts or
        least frequencies ask for more; less if time is short.
    """

    name: ClassVar[str] = "uniform"
    baseline: ClassVar[bool] = True

    def wanted(self, rules: Rules) -> int:
        """Each page once, where that is all."""
        simple = self.slots is None and rules.shares is None and rules.minimum is None
        return min(super().wanted(rules), 2 * rules.pages) if simple else super().wanted(rules)

    def parts(self, problem: Any, rules: Rules, whole: Allocation) -> Sequence[Part]:
        """Hand out pages with equal frequencies, as far as the rules allow."""
        return given_parts(problem.traits, rules, in_proportion(np.ones(rules.pages), rules))

    def may_cost_less(self, oracle: Oracle[Any]) -> bool:
        """Whether visits in turn cost less if they could be spaced evenly."""
        problem = oracle.problem
        if oracle.best is None or problem.scale is None:
            return True
        even = even_cost(problem.traits, in_proportion(np.ones(problem.rules.pages), problem.rules))
        return bool(problem.scale * even < oracle.best.evaluation.objective)


@dataclass(frozen=True)
class Proportional(Greedy):
    """Visit pages in proportion to how often they change, as far as the rules allow: intuitive, but not optimal.

    Parameters
    ----------
    slots
        The most slots of a cycle, of one robot; by default 50 for each of its pages, and 1000 at least, but of all
        robots together 1e8. Where rare pages would be left out up to 16 times that; less if time is short.
    """

    name: ClassVar[str] = "proportional"
    baseline: ClassVar[bool] = True

    def parts(self, problem: Any, rules: Rules, whole: Allocation) -> Sequence[Part]:
        """Hand out pages with frequencies in proportion to change rates, as far as the rules allow."""
        return given_parts(problem.traits, rules, in_proportion(problem.traits.rates, rules))


def tightened(rules: Rules, wanted: Rules, visits: Vector, factor: float = 1.0) -> Rules:
    """Make rules with less room: caps lower, least frequencies higher, by a multiple of what visits miss."""
    caps, minimum = rules.shares, rules.minimum
    if wanted.shares is not None and caps is not None:
        excess = rules.by_host(visits) - wanted.shares
        caps = np.where(excess > TOLERANCE * wanted.shares, np.maximum(caps - factor * excess, caps / 2), caps)
    if wanted.minimum is not None and minimum is not None:
        short = wanted.minimum - visits
        minimum = np.where(short > TOLERANCE * wanted.minimum, np.minimum(minimum + factor * short, 1.0), minimum)
    return replace(rules, caps=caps, minimum=minimum)


# -- inside -----------------------------------------------------------------------------------------------------------


def _parts_or_reason(oracle: Oracle[Any], find: Callable[[], Sequence[Part]]) -> Sequence[Part] | None:
    """Find the pages of each robot; ``None``, and why, where the rules leave one of them no room for its visits."""
    try:
        return find()
    except ValueError as refusal:
        oracle.extra["reason"] = f"pages could not be handed out to robots within the rules: {refusal}"
        return None


def _in_time(oracle: Oracle[Any]) -> None:
    if oracle.remaining_seconds <= 0:
        raise _Late


def _show(oracle: Oracle[Any], decision: Decision) -> set[str]:
    """Ask about a decision, report the bound, and tell which rules are broken."""
    judged = last_word(oracle, decision)
    bound = oracle.problem.lower_bound()
    if np.isfinite(bound):
        oracle.report(bound=bound)
    return {name for name, amount in judged.violations.items() if amount > 0}
