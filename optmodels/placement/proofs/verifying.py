r"""Holding a proof against the problem: every step again, by means that share nothing with the solver that found it.

What must be trusted is

* the *evaluator* of placements, which says who is overloaded, and what a placement costs;
* a *counter* by its definition: its clauses hold for all placements whose cost is within the limit;
* the *checker* of `optmodels.placement.proofs.checker`: unit clauses, nothing else.

Each clause over sites says "site j is closed, or one of Z is open" (or only "one of Z is open"). Opening a site never
raises the load of another, nor the distance of its farthest client. So with Z closed and all else open, sites that are
overloaded are closed in every feasible placement that leaves Z closed; they are closed, loads counted anew, and so on
until nobody is overloaded. The clause holds if j is closed then, or if all are, while there are clients. Sites that are
fixed closed are closed from the beginning, and a clause whose closed sites include one that is fixed open holds, too.
How the solver came by the clause does not matter.

With prices :math:`p_j` in units :math:`u` so that :math:`u p_j \le c_j`, to their last digits, a placement cheaper
than :math:`u (m + 1)` has :math:`\sum_j p_j x_j \le m`, and with it the clauses of the counter can be kept. If they
contradict the others, nothing is cheaper; clauses that cut off dear placements lower this to the least of their costs.
"""

from __future__ import annotations

import math
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics import OPTIMALITY_TOLERANCE, interrupting

from ...errors import InstanceError
from ..geometry.fixed import CLOSED, OPEN
from .checker import check_refutation
from .matching import refuse
from .proof import PROOF, QUESTION, Clause, Counted, Proof, dimacs, read_proof

if TYPE_CHECKING:
    from ..problem import PlacementProblem

#: Seconds that drat-trim may take, where it is installed.
PATIENCE = 3600

#: Multiples of a unit that is no binary fraction, such as 3 times 0.1, miss the price that is written 0.3 by so much.
LAST_DIGITS = Fraction(1, 10**13)

#: Measures whose price is a sum over open sites.
PRICED = ("opening", "open_sites")

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Step:
    """One thing that was checked.

    Parameters
    ----------
    name
        Of the step.
    confirmed
        Whether it holds; ``None``: it is taken on trust.
    told
        What was found, in a clause of a sentence.
    seconds
        How long it took.
    """

    name: str
    confirmed: bool | None
    told: str
    seconds: float


@dataclass(frozen=True)
class Verified:
    """What became of a proof.

    Parameters
    ----------
    problem
        Its name.
    steps
        In the order in which they were taken; after one that does not hold there are no others.
    bound
        Below which nothing lies, if all steps are confirmed.
    objective
        Of the placement that it is about.
    sha256
        Of its clauses.
    """

    problem: str
    steps: tuple[Step, ...]
    bound: float | None = None
    objective: float | None = None
    sha256: str = ""

    @property
    def verified(self) -> bool:
        """Whether every step is confirmed."""
        return all(step.confirmed for step in self.steps)

    @property
    def complaint(self) -> str | None:
        """What does not hold, or is taken on trust, as a sentence; ``None`` if everything is confirmed."""
        wrong = next((step for step in self.steps if not step.confirmed), None)
        return None if wrong is None else f"{wrong.name}: {wrong.told}."

    def to_data(self) -> dict[str, Any]:
        """As JSON has it."""
        words = {True: "confirmed", False: "refuted", None: "taken on trust"}
        steps = [
            {"name": step.name, "verdict": words[step.confirmed], "told": step.told, "seconds": round(step.seconds, 3)}
            for step in self.steps
        ]
        told = {"problem": self.problem, "verified": self.verified, "objective": self.objective, "bound": self.bound}
        return told | {"sha256": self.sha256, "steps": steps}

    def __str__(self) -> str:
        """One line for each step, and what follows."""
        words = {True: "confirmed", False: "REFUTED", None: "on trust"}
        lines = [f"{words[step.confirmed]:9}  {step.seconds:7.1f} s  {step.name}: {step.told}" for step in self.steps]
        end = f"proved: nothing costs less than {self.bound:.12g}" if self.verified else "not proved"
        optimal = self.verified and self.objective == self.bound
        return "\n".join([*lines, f"{end}, and the placement costs just that: it is optimal" if optimal else end])


class _Wrong(Exception):  # noqa: N818 - carries a clause of a sentence, nothing is raised to the outside
    """A step that does not hold."""


@dataclass
class _Steps:
    """The steps so far."""

    progress: Progress | None
    done: list[Step] = field(default_factory=list)

    def take(self, name: str, check: Callable[[Callable[[float], None]], tuple[bool | None, str]]) -> bool:
        """Take a step; say whether to go on."""
        began = time.monotonic()

        def tell(share: float) -> None:
            interrupting.check()
            if self.progress is not None:
                self.progress(name, share)

        tell(0.0)
        try:
            confirmed, told = check(tell)
        except _Wrong as failure:
            confirmed, told = False, str(failure)
        self.done.append(Step(name, confirmed, told, time.monotonic() - began))
        return confirmed is not False


def verify_proof(path: str | Path, problem: PlacementProblem, progress: Progress | None = None) -> Verified:
    """Check a proof that a placement is the cheapest.

    Parameters
    ----------
    path
        Of the proof, as ``optmodels solve --proof`` writes it.
    problem
        What it must be about.
    progress
        Told the step under way, and which share of it is done.

    Returns
    -------
    Verified
        What became of each step.

    Raises
    ------
    InstanceError
        If the file is no proof, is one of another problem, or is a checkpoint of a run that has not ended.

    Examples
    --------
    >>> import optmodels as om
    >>> from optmodels.placement.proofs import verify_proof
    >>> verify_proof("README.md", om.load("gautam-2x3"))
    Traceback (most recent call last):
    optmodels.errors.UnreadableFile: README.md: this is no proof of `optmodels solve --proof`, or it is damaged: ...
    """
    steps = _Steps(progress)
    began = time.monotonic()
    proof = read_proof(path)
    try:
        refuse(proof, problem)
    except InstanceError as failure:
        raise failure.at(str(path)) from None
    header = proof.header
    told = f"{header.overloads} overloads, {header.dear} dear placements, {len(header.counters)} counters"
    told += f", SHA-256 {proof.sha256}"
    steps.done.append(Step("file", True, f"a proof about {problem.name!r}: {told}", time.monotonic() - began))
    checks: list[tuple[str, Callable[[Callable[[float], None]], tuple[bool | None, str]]]] = [
        ("placement", lambda _: _placement(proof, problem)),
        ("overloads", lambda tell: _overloads(proof, problem, tell)),
        ("dear placements", lambda _: _dear(proof, problem)),
        ("limits", lambda _: _limits(proof, problem)),
        ("counters", lambda tell: _counters(proof, tell)),
        ("contradiction", lambda tell: _contradiction(proof, tell)),
    ]
    if proof.drat and shutil.which("drat-trim"):
        checks.append(("drat-trim", lambda _: _drat_trim(proof)))
    for name, check in checks:
        if (name != "dear placements" or proof.dear) and not steps.take(name, check):
            break
    sound = all(step.confirmed for step in steps.done)
    bound = proved_bound(proof, problem) if sound else None
    return Verified(problem.name, tuple(steps.done), bound, header.objective, proof.sha256)


def proved_bound(proof: Proof, problem: PlacementProblem) -> float:
    """The cost below which nothing lies if all steps hold: see the top of this module."""
    least = Fraction(proof.header.unit) * (_cost_counter(proof).most + 1)
    dear = [_exact_cost(problem, clause) for clause in proof.dear]
    bound = float(min([least, *dear]))
    objective = proof.header.objective
    within = objective is not None and abs(bound - objective) <= OPTIMALITY_TOLERANCE * abs(objective)
    return objective if within and objective is not None else bound


def _exact_cost(problem: PlacementProblem, clause: Clause) -> Fraction:
    """What the sites that a clause wants closed cost together, without rounding."""
    prices = problem.site_prices
    return sum((Fraction(float(prices[abs(literal) - 1])) for literal in clause), Fraction(0))


def _cost_counter(proof: Proof) -> Counted:
    found = [counter for counter in proof.header.counters if counter.sum == "cost"]
    if len(found) != 1:
        raise _Wrong(f"there are {len(found)} counters of the cost, and a proof has one")
    return found[0]


# -- the steps ---------------------------------------------------------------------------------------------------------


def _placement(proof: Proof, problem: PlacementProblem) -> tuple[bool, str]:
    """The placement is feasible and costs what is said."""
    header = proof.header
    if header.decision is None or header.objective is None:
        raise _Wrong("there is none")
    try:
        decision = problem.space.check(header.decision)
    except (ValueError, TypeError, OverflowError) as failure:
        raise _Wrong(" ".join(str(failure).rstrip(".").split())) from None
    found = problem.evaluate(decision)
    if not found.feasible:
        raise _Wrong(f"it is not feasible: it breaks {', '.join(found.violations)}")
    if not math.isclose(found.objective, header.objective, rel_tol=OPTIMALITY_TOLERANCE):
        raise _Wrong(f"it costs {found.objective!r}, and the proof says {header.objective!r}")
    return True, f"feasible, and it costs {found.objective:.12g}, as the evaluator finds"


def _overloads(proof: Proof, problem: PlacementProblem, tell: Callable[[float], None]) -> tuple[bool, str]:
    """Every clause of an overload is one."""
    alone = getattr(problem, "parts", (problem,))  # classes share the queues, and each has capacities alone
    if any((np.diff(part.capacity, axis=1) > 0).any() for part in alone):
        raise _Wrong("capacities grow with the distance, so an overload need not stay one when sites are closed")
    total = len(proof.overloads)
    for number, clause in enumerate(proof.overloads):
        if number % 500 == 0:
            tell(number / total)
        if not is_overload(problem, clause):
            shown = " ".join(map(str, clause[:12])) + (" ..." if len(clause) > 12 else "")
            raise _Wrong(
                f"clause {number + 1} ({shown}) does not follow: with its open sites closed nobody is overloaded"
            )
    return True, f"{total} clauses hold, each by the evaluator"


def is_overload(problem: PlacementProblem, clause: Clause) -> bool:
    """Tell whether every feasible placement keeps a clause over sites: see the module for what is looked at.

    Parameters
    ----------
    problem
        The placement.
    clause
        In signs of DIMACS: site j is j + 1.

    Returns
    -------
    bool
        Whether it holds.
    """
    fixed = problem.fixed
    is_open = (fixed != CLOSED).astype(np.uint8)
    is_open[[literal - 1 for literal in clause if literal > 0]] = 0
    closed = [-literal - 1 for literal in clause if literal < 0]
    while (not closed or is_open[closed].all()) and is_open[fixed == OPEN].all():
        excess = problem.overloaded(is_open)
        if not excess.any():
            return not is_open.any() and bool(problem.demand.any())
        is_open[excess > 0] = 0
    return True


def _dear(proof: Proof, problem: PlacementProblem) -> tuple[bool, str]:
    """Whatever opens all sites of such a clause costs as much as the placement, at least."""
    objective = proof.header.objective or 0.0
    for number, clause in enumerate(proof.dear):
        if any(literal > 0 for literal in clause) or len(set(clause)) < len(clause):
            raise _Wrong(f"clause {number + 1} of them opens a site, or names one twice")
        cost = float(_exact_cost(problem, clause))
        if cost < objective * (1 - OPTIMALITY_TOLERANCE):
            raise _Wrong(f"the sites of clause {number + 1} of them cost {cost!r}, less than {objective!r}")
    return True, f"{len(proof.dear)} sets of sites cost {objective:.12g} or more"


def _limits(proof: Proof, problem: PlacementProblem) -> tuple[bool, str]:
    """What counters count are prices that are not too high, and numbers of sites that the instance limits."""
    header, weights = proof.header, problem.weights
    if weights is None or any(weights[name] < 0 for name in weights if name not in PRICED):
        raise _Wrong("the cost is no sum of prices of sites and of what is not negative")
    prices = problem.site_prices
    unit = Fraction(header.unit)
    for site, price in enumerate(header.prices):
        if not 0 <= unit * price <= Fraction(float(prices[site])) * (1 + LAST_DIGITS):
            raise _Wrong(f"site {site} is counted with {price} units, and it costs {float(prices[site])!r}")
    limit = problem.limits.by_measure.get("open_sites")
    count = len(header.prices)
    for counter in header.counters:
        if counter.sum == "open" and (limit is None or counter.most < math.floor(min(limit.maximum, count) + 1e-9)):
            raise _Wrong(f"{counter.most} open sites at most are counted, and the instance has no such limit")
        if counter.sum == "closed" and (
            limit is None or counter.most < count - math.ceil(max(limit.minimum, 0) - 1e-9)
        ):
            raise _Wrong(f"{counter.most} closed sites at most are counted, and the instance has no such limit")
    bound, objective = proved_bound(proof, problem), header.objective
    if header.bound is not None and bound < header.bound * (1 - OPTIMALITY_TOLERANCE):
        raise _Wrong(f"a limit of {_cost_counter(proof).most} units proves the bound {bound!r}, not {header.bound!r}")
    told = (
        "exactly"
        if all(
            abs(unit * p - Fraction(float(c))) <= LAST_DIGITS * Fraction(float(c))
            for p, c in zip(header.prices, prices, strict=True)
        )
        else "from below"
    )
    reached = "" if objective is None or bound < objective else ", what the placement costs"
    return (
        True,
        f"prices are counted {told}; a contradiction at {_cost_counter(proof).most} units proves {bound:.12g}{reached}",
    )


def _counters(proof: Proof, tell: Callable[[float], None]) -> tuple[bool, str]:
    """Every clause of a counter holds by what its variables mean."""
    total = 0
    used = len(proof.header.prices)
    for counter, clauses in proof.counted():
        tell(0.5)
        if counter.first <= used or len(counter.places) != len(counter.levels):
            raise _Wrong("variables of a counter are its own, and each has a place and a level")
        used = counter.first + len(counter.places) - 1
        prices = proof.header.prices if counter.sum == "cost" else (1,) * len(proof.header.prices)
        wrong = unsound(counter, clauses, prices)
        if wrong is not None:
            raise _Wrong(
                f"a clause of a counter ({' '.join(map(str, clauses[wrong]))}) does not follow from its definition"
            )
        total += len(clauses)
    return True, f"{total} clauses hold by the definition of a counter"


def unsound(counter: Counted, clauses: tuple[Clause, ...], prices: tuple[int, ...]) -> int | None:
    r"""Find a clause of a counter that does not hold, if there is one.

    A clause of a counter may have a literal of a site j (closed; open where closed sites are counted), one
    :math:`\lnot S_{pv}` and one :math:`S_{qw}`. Suppose that the first p sites of the order add up to v, and that j is
    among those after them, up to the q-th: then the first q add up to :math:`v + p_j` at least, so the clause holds if
    :math:`w \le v + p_j`. Without :math:`\lnot S_{pv}` p and v are 0, without j its price is 0, and without
    :math:`S_{qw}` the sum of all, which must be beyond the limit, takes its place.

    Parameters
    ----------
    counter
        What its variables mean.
    clauses
        Those of this counter.
    prices
        Of the sites.

    Returns
    -------
    int or None
        Number of the first such clause.
    """
    if counter.most < 0:
        return None  # sums of prices are not negative: nothing is within the limit, and anything follows
    sites, length = len(prices), len(counter.order)
    if len(set(counter.order)) < length or not all(0 <= site < sites for site in counter.order):
        return 0
    position = {site: at for at, site in enumerate(counter.order)}
    last = counter.first + len(counter.places) - 1
    site_sign = 1 if counter.sum == "closed" else -1
    for number, clause in enumerate(clauses):
        own = [literal for literal in clause if abs(literal) <= sites]
        below = [-literal - counter.first for literal in clause if -last <= literal <= -counter.first]
        above = [literal - counter.first for literal in clause if counter.first <= literal <= last]
        if len(own) + len(below) + len(above) < len(clause) or max(len(own), len(below), len(above)) > 1:
            return number
        before, least = (counter.places[below[0]], counter.levels[below[0]]) if below else (0, 0)
        after, claimed = (counter.places[above[0]], counter.levels[above[0]]) if above else (length, counter.most + 1)
        if own:
            site = abs(own[0]) - 1
            if own[0] * site_sign < 0 or not before <= position.get(site, -1) < after:
                return number
            least += prices[site]
        if not 0 <= before <= after <= length or claimed > least:
            return number
    return None


def _contradiction(proof: Proof, tell: Callable[[float], None]) -> tuple[bool | None, str]:
    """The clauses contradict one another."""
    header = proof.header
    if not proof.drat:
        found = check_refutation(proof.clauses, b"")  # some contradict one another at once
        if found.proved:
            return (
                True,
                f"{len(found.core)} of {len(proof.clauses)} clauses contradict one another by propagation alone",
            )
        versions = ", ".join(f"{name} {version}" for name, version in header.versions.items())
        return None, f"that the clauses contradict one another is the word of {header.engine} ({versions}) alone"
    found = check_refutation(proof.clauses, proof.drat, progress=tell)
    if found.mistake is not None:
        raise _Wrong(found.mistake)
    of = f"{len(found.core)} of {len(proof.clauses)} clauses"
    return (
        True,
        f"{of} contradict one another, by {found.checked} of {found.lemmas} lemmas, each checked by propagation",
    )


def _drat_trim(proof: Proof) -> tuple[bool | None, str]:
    """The same asked of drat-trim, which is installed."""
    with tempfile.TemporaryDirectory(prefix="optmodels-") as folder:
        Path(folder, QUESTION).write_bytes(dimacs(proof.clauses))
        Path(folder, PROOF).write_bytes(proof.drat)
        command = ["drat-trim", QUESTION, PROOF, "-t", str(PATIENCE)]
        try:
            said = subprocess.run(
                command,
                cwd=folder,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=PATIENCE + 60,
                check=False,
            ).stdout
        except (OSError, subprocess.TimeoutExpired) as failure:
            raise _Wrong(f"it could not be run: {' '.join(str(failure).split())}") from None
    if "s VERIFIED" in said.splitlines():
        return True, "it says that the proof is verified"
    verdicts = [line for line in said.splitlines() if line.startswith("s ")]
    raise _Wrong(f"it says {(verdicts or ['nothing'])[-1]!r}")
