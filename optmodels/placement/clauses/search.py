"""One run of the strategy `clauses`: what its engines share, and how they take turns."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heuristics import OPTIMALITY_TOLERANCE, Budget, BudgetSpent, Oracle, Result, interrupting
from heuristics.search import Annealing

from ...cluster import processors
from ...mip import raised_to_step
from ...mip.process import SolverFailure, SolverProcess
from ...mip.program import Bound, Incumbent, Outcome
from ...mip.timing import START_STEPS, find_start
from ..engines.master import columns, rows
from ..engines.rounds import Learnt, MasterRequest
from ..geometry.fixed import OPEN as FIXED_OPEN
from .counter import Counter, counter
from .implied import shortened
from .operating import Operated
from .pool import Clause, Pool
from .refutation import KEEPER, Keeper, Limited, Refutation
from .sources import Source
from .units import Units

if TYPE_CHECKING:
    from ..engines.sat import Sat
    from ..problem import PlacementProblem

#: Configurations from which clauses are made: drawn at random, of these shares of open sites, and near the best known,
#: so many and so many for each site, of which these shares of sites are flipped.
DRAWN, OPEN = 600, (0.15, 0.6)
NEAR, EACH, FLIPPED = 1200, 20, (0.02, 0.2)

#: Where there are many scenarios, so many configurations of each sort are drawn at least.
LEAST = 60

#: Orders in which a placement that keeps all clauses known, and is infeasible, is looked at for more; and others near
#: it, of which this share of sites is flipped.
ORDERS, NEARBY, MOVED = 4, 10, 0.03

#: Most units in the best cost: for CP-SAT, which counts in 64 bits, and for HiGHS, whose bounds are rounded.
FINEST = {"cpsat": 2**44, "highs": 2**16}

#: Annealing goes on while others prove: this share of the time after some seconds, in runs of so many steps a site.
SHARE, STEPS, LATER = 0.15, 5_000, 2.0

#: Evaluations for each site from which a run begins where each costs a full evaluation.
SLOW_STEPS = 50

#: Share of the time after which a solver is asked although the engine `sat` has not made all clauses shorter yet.
PREPARING = 0.2

#: Seconds between two looks where nothing else waits.
LOOK = 0.02


@dataclass(eq=False)
class Search:
    """Clauses, the best placement and the bound of one run.

    Parameters
    ----------
    oracle
        Of the run.
    rng
        For seeds of clauses, orders and annealing.
    engines
        Those that take part.
    threads
        For HiGHS; ``None``: as it likes.
    """

    oracle: Oracle[PlacementProblem]
    rng: np.random.Generator
    engines: tuple[str, ...]
    threads: int | None = None
    pool: Pool = field(default_factory=Pool)
    log: list[str] = field(default_factory=list)
    spent: dict[str, float] = field(default_factory=dict)
    detail: dict[str, Any] = field(default_factory=dict)
    sat: Sat | None = None
    proved_by: str | None = None
    source: Source = field(init=False)
    scout: np.random.Generator = field(init=False)  #: of annealing, which is timed: clauses do not depend on it
    dear: list[Clause] = field(default_factory=list)
    keeper: Keeper | None = field(default_factory=KEEPER.get)

    def __post_init__(self) -> None:
        self.source = self.problem.clause_source()
        self.scout = self.rng.spawn(1)[0]

    @property
    def problem(self) -> PlacementProblem:
        """What is asked about."""
        return self.oracle.problem

    @property
    def cost(self) -> float:
        """The best cost known: that of all sites, and a little more, without a placement."""
        best = self.oracle.best
        return self._everything if best is None else best.evaluation.objective

    @property
    def _everything(self) -> float:
        operating = self.source.operating.sum() if isinstance(self.source, Operated) else 0.0
        return float(self.problem.site_prices.sum() + operating) * (1 + 1e-6) + 1e-300

    @property
    def slow(self) -> bool:
        """Whether every step of a search is a full evaluation."""
        return not self.problem.quick_walks or isinstance(self.source, Operated)

    @property
    def bound(self) -> float:
        """The best bound proved, 0 without one: prices are not negative."""
        return max(0.0, self.oracle.bound or 0.0)

    @property
    def settled(self) -> bool:
        """Whether nothing is left to prove; whoever keeps a proof wants one, even where a bound settles all."""
        return self.proved_by is not None or (self.keeper is None and self.oracle.settled)

    def units(self, finest: int) -> Units:
        """Prices of all variables in whole units, so many in the best cost at most."""
        return Units.of(self.source.priced(self.problem.site_prices), self.problem.objective_step, self.cost, finest)

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """A block whose seconds are counted."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.spent[name] = self.spent.get(name, 0.0) + time.monotonic() - began

    def note(self, text: str) -> None:
        """Write a line of the log."""
        self.log.append(f"{self.oracle.seconds:.2f} s: {text}")

    # -- what is learnt -----------------------------------------------------------------------------------------------

    def learn(self, placement: NDArray[np.uint8]) -> list[Clause]:
        """Make clauses that a placement breaks, or others near it; return the new ones; none if it overloads nobody."""
        new = self.pool.add(self.source.broken(np.repeat(placement[None], ORDERS, axis=0), self.rng))
        if not new:
            return new
        near = np.repeat(placement[None], max(1, NEARBY // self.source.copies), axis=0)
        near ^= (self.rng.random(near.shape) < MOVED).astype(np.uint8)
        return new + self.pool.add(self.source.broken(near & self.source.allowed, self.rng))

    def judge(self, placement: NDArray[np.uint8]) -> bool | None:
        """Show a placement to the evaluator.

        Returns
        -------
        bool or None
            Whether it is better than all before; ``None`` if it is not feasible: then it is repaired, and that shown.
        """
        before = self.cost
        evaluation = self.oracle.confirm(tuple(int(value) for value in placement))
        if not evaluation.feasible:
            self.oracle.confirm(self.problem.repair(tuple(int(value) for value in placement), self.rng))
        if self.cost < before:
            self.note(f"cost {self.cost:.12g}")
        return evaluation.objective < before * (1 - OPTIMALITY_TOLERANCE) if evaluation.feasible else None

    def cut_off(self, placement: NDArray[np.uint8]) -> None:
        """Leave out a placement that is no cheaper than the best, with all that opens more sites."""
        if isinstance(self.source, Operated):  # which may be cheaper: others are used less
            self.dear.append(self.source.dear(placement, self.cost, self.rng))
        else:
            self.dear.append(tuple(-(int(site) + 1) for site in np.flatnonzero(placement)))

    def prove_bound(self, bound: float) -> None:
        """Take in a bound; what was cut off costs as much as the best at least."""
        bound = raised_to_step(bound, self.problem.objective_step)
        if self.oracle.best is not None:
            bound = min(bound, self.cost)
        if bound > self.bound:
            self.note(f"bound {bound:.12g}")
            self.oracle.report(bound=bound)

    def prove(self, engine: str) -> None:
        """Nothing is cheaper than the best placement."""
        self.proved_by = engine
        self.note(f"{engine}: nothing is cheaper than {self.cost:.12g}")

    # -- limits on the number of open sites ---

    @property
    def numbers(self) -> tuple[int, int | None]:
        """How many sites must and may be open."""
        least, most = self.problem.numbers
        fewest = 0 if least == -math.inf else max(0, math.ceil(least - 1e-9))
        return fewest, None if most == math.inf else math.floor(most + 1e-9)

    def cardinality(self, first: int) -> list[Limited]:
        """Limits on the number of open sites as clauses, with variables from `first` on."""
        fewest, most = self.numbers
        count = self.problem.layout.sites
        ones, order = [1] * count, list(range(count))
        found = []
        if most is not None and most < count:
            found.append(Limited("open", most, tuple(order), counter(ones, order, most, first)))
            first = found[-1].counter.variables + 1
        if fewest > 0:  # the others are closed, and counted: their literals change sign
            closed = counter(ones, order, count - fewest, first)
            sites = np.abs(closed.clauses) <= count
            turned = np.where(sites, -closed.clauses, closed.clauses)
            turned_round = Counter(turned, closed.first, closed.places, closed.levels)
            found.append(Limited("closed", count - fewest, tuple(order), turned_round))
        return found

    # -- the run ------------------------------------------------------------------------------------------------------

    def run(self) -> Result:
        """Find a start, make clauses, let the engines prove."""
        oracle = self.oracle
        oracle.report(bound=raised_to_step(self.problem.lower_bound(), self.problem.objective_step))
        with contextlib.ExitStack() as stack:
            backend = next((name for name in self.engines if name != "sat"), None)
            process = stack.enter_context(SolverProcess(_backend(backend))) if backend else None
            try:
                with self.phase("start"):
                    if not self.take_up():
                        find_start(oracle, self.scout, SLOW_STEPS if self.slow else START_STEPS)
                if self.settled:
                    return self.close("complete")
                with self.phase("clauses"):
                    self.make_clauses()
                if "sat" in self.engines:
                    from ..engines.sat import Sat

                    spare = self.keeper is None or processors() > 1
                    self.sat = Sat(self, alone=backend is None and spare)
                    stack.callback(self.sat.close)
                patient = oracle.seconds + PREPARING * oracle.remaining_seconds
                while self.sat and not (self.sat.ready or self.settled or oracle.seconds > patient):
                    self.tick()  # short clauses are worth waiting for, whoever proves
                while not self.settled and oracle.remaining_seconds > 0:
                    if process is None or backend is None:
                        self.tick()
                        time.sleep(LOOK)
                        continue
                    going = self.ask(process, backend)
                    if not going:
                        break
                    process = stack.enter_context(SolverProcess(_backend(backend)))
            except KeyboardInterrupt:
                return self.close("interrupt")
        return self.close("complete" if self.settled else "seconds")

    def take_up(self) -> bool:
        """Go on from what an earlier run kept; whether there is a placement."""
        if self.keeper is None:
            return False
        self.pool.add(self.keeper.clauses)
        if self.keeper.decision is not None:
            self.judge(self.keeper.decision)
        return self.oracle.best is not None

    def checkpoint(self) -> None:
        """Keep what is known."""
        if self.keeper is not None:
            self.keeper.keep(self.known(self.units(FINEST["highs"])))

    def known(self, units: Units, **more: Any) -> Refutation:
        """What is known, as it is kept; `more` of it for a proof."""
        best, bound = self.oracle.best, self.bound
        known: dict[str, Any] = {
            "clauses": tuple(self.pool),
            "prices": tuple(units.prices.tolist()),
            "unit": units.unit,
            "decision": None if best is None else tuple(int(entry) for entry in best.decision),
            "objective": None if best is None else best.evaluation.objective,
            "bound": bound if math.isfinite(bound) else None,
            "log": tuple(self.log),
        }
        return Refutation(**known | more)

    def make_clauses(self) -> None:
        """Fill the pool: around every client, from random configurations, and from some near the best known."""
        source = self.source
        self.pool.add(source.beginning())
        self.pool.add((int(site) + 1,) for site in np.flatnonzero(self.problem.fixed == FIXED_OPEN))
        wanted = DRAWN, max(NEAR, EACH * source.sites)
        drawn, near = (max(number // source.copies, LEAST) for number in wanted)
        placements = self.rng.random((drawn, source.sites)) < self.rng.uniform(*OPEN, (drawn, 1))
        if self.oracle.best is not None:
            best = np.array(self.oracle.best.decision, bool)
            others = best ^ (self.rng.random((near, source.sites)) < self.rng.uniform(*FLIPPED, (near, 1)))
            placements = np.concatenate([placements, others])
        for part in np.array_split(placements.astype(np.uint8) & source.allowed, max(20, source.sites // 8)):
            interrupting.check()
            if self.oracle.remaining_seconds <= 0:
                break
            self.pool.add(source.broken(part, self.rng))
        self.note(f"{len(self.pool)} clauses")

    def tick(self) -> None:
        """Let the engine `sat` do a little, then annealing, if it has not had its share; Ctrl-C is heard here."""
        interrupting.check()
        if self.keeper is not None and self.keeper.due:
            self.checkpoint()
        if self.sat is not None:
            with self.phase("sat"):
                self.sat.tick()
            if not self.sat.ready:
                return
        if not self.settled and self.spent.get("annealing", 0.0) < SHARE * (self.oracle.seconds - LATER):
            with self.phase("annealing"):
                self.anneal()

    def anneal(self) -> None:
        """Look for something cheaper, from a random start; what it takes is charged."""
        oracle = self.oracle
        steps = min(STEPS * self.source.sites, oracle.remaining_evaluations)
        seconds = min(2.0 + 0.1 * oracle.seconds, oracle.remaining_seconds)
        if steps < 1 or seconds <= 0:
            return
        scout: Oracle[Any] = Oracle(self.problem, Budget(seconds=seconds, evaluations=int(steps)))
        before = self.cost
        try:
            with contextlib.suppress(BudgetSpent):
                Annealing().solve(scout, self.scout)
        finally:  # Ctrl-C does not lose what was found
            oracle.charge(scout.evaluations)
            oracle.judged_in_full += scout.judged_in_full
            if scout.best is not None:
                oracle.confirm(scout.best.decision, scout.best.evaluation.objective)
            if self.cost < before:
                self.note(f"annealing: cost {self.cost:.12g}")

    def ask(self, process: SolverProcess, backend: str) -> bool:
        """Let a solver of integer programs work until its last word; whether it should be asked again."""
        units = self.units(FINEST[backend])
        fewest, most = self.numbers
        with self.phase("writing"):
            clauses = (*self.strong(), *self.dear)
            program = rows(units, clauses, fewest, most, self.source) if backend == "highs" else columns(units)
        best = self.oracle.best
        request = MasterRequest(
            program,
            threads=self.threads,
            start=None if best is None else self.source.point(np.array(best.decision, np.uint8)),
            source=self.source,
            best=self.cost,
            unit=units.unit,
            clauses=clauses if backend == "cpsat" else (),
            fewest=fewest,
            most=most,
            seed=int(self.rng.integers(2**31)),
        )
        outcome = Outcome("gave up")
        last: NDArray[np.uint8] | None = None
        for message in process.ask(request, self.oracle.remaining_seconds, self.tick, lambda: self.settled):
            if isinstance(message, Incumbent):
                last = (message.point[: self.source.sites] > 0.5).astype(np.uint8)
                self.judge(last)
            elif isinstance(message, Learnt):
                self.share(message.clauses)
            elif isinstance(message, Bound):
                self.prove_bound(units.worth(math.ceil(message.value - 0.01)))
            elif isinstance(message, Outcome):
                outcome = message
        self.dear += outcome.detail.pop("dear", [])
        self.share(outcome.detail.pop("clauses", []))
        self.detail["rounds"] = self.detail.get("rounds", 0) + outcome.detail.pop("rounds", 0)
        self.detail[backend] = outcome.detail.get("version", "")
        return self.conclude(outcome, units, backend, last)

    def strong(self) -> Iterable[Clause]:
        """All clauses known, as short as they are by now."""
        if self.sat is not None:
            return self.sat.strong if self.sat.whole else self.pool
        return shortened(list(self.pool), self.source.variables, self.rng)

    def share(self, clauses: Iterable[Clause]) -> None:
        """Take in what a solver learnt, for all."""
        new = self.pool.add(tuple(clause) for clause in clauses)
        if self.sat is not None and not self.settled:
            self.sat.take(new)

    def conclude(self, outcome: Outcome, units: Units, backend: str, last: NDArray[np.uint8] | None) -> bool:
        """Take in a solver's last word; whether there is more to ask."""
        if outcome.status == "error":
            raise SolverFailure(f"{self.problem.name}: {outcome.message.strip().splitlines()[-1]}")
        if outcome.bound is not None:
            self.prove_bound(units.worth(math.ceil(outcome.bound - 0.01)))
        if outcome.status == "infeasible":  # whatever is left costs as much as the best
            self.prove(backend)
            return False
        if outcome.status != "optimal" or self.settled or last is None:
            return False
        if units.exact:
            self.prove(backend)
            return False
        self.cut_off(last)  # rounded down it is the cheapest
        return True

    def close(self, stopped_by: str) -> Result:
        """Close on the best placement and bound."""
        if self.proved_by is None:
            self.checkpoint()
        told = {
            "engine": "+".join(self.engines),
            "proved_by": self.proved_by,
            "clauses": len(self.pool),
            "seconds": {name: round(value, 3) for name, value in self.spent.items()},
            "log": list(self.log),
        } | self.detail
        if self.sat is not None:
            told |= {"shortened": len(self.sat.strong), **self.sat.counts}
        return self.oracle.result(proved=self.proved_by is not None, stopped_by=stopped_by, extra={"clauses": told})


def _backend(engine: str) -> str:
    return f"optmodels.placement.engines.{engine}:solve"
