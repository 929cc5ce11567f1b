"""Exact answers for any problem that can write itself as a linear program with whole numbers.

The road: Pyomo model, standard form, arrays (`Program`), a solver in a process of its own, and back through the
problem's own evaluator. The solver is asked for a gap of 0, is stopped in time whatever it does, and is never believed:
each of its points is read back into a decision and evaluated, each claim compared, an optimum of continuous costs asked
for once more.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from heuristics import (
    AGREEMENT,
    OPTIMALITY_TOLERANCE,
    Bounded,
    BudgetSpent,
    Decision,
    Disagreement,
    Oracle,
    Problem,
    Result,
    UnsupportedProblem,
    agree,
    clock,
    interrupting,
    nonlinear_cost,
)

from ..protocols import (
    AlgebraicCost,
    AlgebraicLimits,
    AlmostFeasible,
    Distinguishing,
    LooseModel,
    Mistakable,
    NoisyModel,
    PerhapsNotAlgebraic,
    limits_of,
    objective_step,
)
from ..protocols import AlgebraicProblem as AlgebraicProblem
from ..protocols import Starting as Starting
from .process import EXPLAIN_SECONDS, SolverFailure, SolverProcess, close_infeasible, explain
from .program import FEASIBILITY, Bound, Incumbent, Indices, Message, Numbers, Outcome, Program, Request, raised_to_step
from .solvers import SOLVERS
from .timing import find_start, within

if TYPE_CHECKING:
    from .pyomo import CompiledModel
    from .relaxation import Companion

#: Entries of the matrix from which on a second process bounds the linear relaxation while the solver works.
COMPANION_ENTRIES = 100_000

#: Where costs are continuous: how far points may stray from rows, and how much better, relative, a decision is that is
#: asked for once more before an optimum is believed.
TOLERANCE, PROVED_TO = 1e-9, 1e-7

#: How often a solver is asked for something better than what it called optimal, before nothing it says is believed.
MOST_QUESTIONS = 20


class UnboundedProgram(ValueError):  # noqa: N818 - reads as what happened
    """The objective of a model has no limit."""


@dataclass(frozen=True)
class Highs:
    """Solve the problem's integer program: optimal and proved, or the best found and a bound.

    Parameters
    ----------
    solver
        ``"highs"``, or with the extras of these names ``"scip"`` and ``"cpsat"``; or one that another distribution
        offers: ``optmodels list`` names all.
    threads
        For the solver; by default what a comparison allows (``OPTMODELS_THREADS``), else what it chooses.
    gap
        Relative gap at which the solver may stop; 0 asks for a proof.
    start
        Look briefly for a good decision and hand it to the solver (problems that are `Incremental` or `Suggesting`).
    presolve
        Let the solver simplify the program first. "Infeasible" is believed only if it is found with and without.
    log
        Keep the solver's log in ``extra["solver_log"]``.
    """

    solver: str = "highs"
    threads: int | None = None
    gap: float = 0.0
    start: bool = True
    presolve: bool = True
    log: bool = False

    name: ClassVar[str] = "highs"
    needs: ClassVar[type] = AlgebraicProblem
    deterministic: ClassVar[bool] = True
    linear_cost_only: ClassVar[bool] = False  # see `refuses`
    beside: ClassVar[int] = 50  # by models, for good decisions to compare with, and of points of solvers
    takes_limits: ClassVar[bool] = True  # of problems whose model contains them, see `refuses`

    def __post_init__(self) -> None:
        if self.solver not in SOLVERS:
            raise ValueError(f"solver must be one of {', '.join(SOLVERS)}, got {self.solver!r}.")
        if self.threads is not None and (isinstance(self.threads, bool) or self.threads < 1):
            raise ValueError(f"threads must be 1 or more, got {self.threads!r}.")
        if not 0 <= self.gap < math.inf:
            raise ValueError(f"gap must be 0 or more, got {self.gap!r}.")

    def refuses(self, problem: Problem) -> str | None:
        """Refuse if the solver is not installed, or if the problem has a cost or limits its model does not contain."""
        missing = SOLVERS[self.solver].missing(self.solver)
        if missing:
            return missing
        if not getattr(problem, "linear_cost", True) and not (
            isinstance(problem, AlgebraicCost) and problem.algebraic_cost
        ):
            return nonlinear_cost(self, problem)
        if limits_of(problem) and not (isinstance(problem, AlgebraicLimits) and problem.algebraic_limits):
            return f"strategy {self.name!r} does not handle limits on measures, and {problem.name!r} has some."
        with clock.standing():  # models import Pyomo, for which no run pays
            import_module(".pyomo", __package__)
        return problem.algebraic_refusal() if isinstance(problem, PerhapsNotAlgebraic) else None

    def prepare(self, problem: Problem) -> None:
        """Import Pyomo; the solver is imported by its own process only."""
        from .pyomo import warm_up

        warm_up()

    def solve(self, oracle: Oracle[AlgebraicProblem], rng: np.random.Generator) -> Result:
        """Build the program, let the solver work on it in its own process, evaluate all it finds."""
        from .pyomo import InfeasibleConstraint, compile_model, quiet_pyomo

        problem = oracle.problem
        step = objective_step(problem)
        if isinstance(problem, Bounded):
            oracle.report(bound=raised_to_step(problem.lower_bound(), step))
        with SolverProcess(SOLVERS[self.solver].backend) as process:  # it imports the solver while we build the model
            if self.start:
                find_start(oracle, rng)
            if oracle.settled:
                told = {"name": self.solver, "status": "not needed"}
                return oracle.result(extra={"solver": told, "proved_to": 0.0 if step else OPTIMALITY_TOLERANCE})
            began = oracle.seconds
            try:
                with interrupting.immediate(), within(oracle.remaining_seconds), quiet_pyomo():
                    compiled = compile_model(problem.to_pyomo())
            except InfeasibleConstraint as broken:
                return close_infeasible(oracle, {"infeasible_subset": [broken.name]})
            except BudgetSpent as spent:
                detail = {"name": self.solver, "building_seconds": oracle.seconds - began}
                detail["status"] = "the model was not built in time"
                return oracle.result(stopped_by=spent.limit, extra={"solver": detail})
            run = _Run(self, oracle, compiled, step)
            run.detail["building_seconds"] = oracle.seconds - began
            if oracle.remaining_seconds <= 0:
                return run.close("seconds")
            return run.through(process)


@dataclass
class _Run:
    """One program on its way through a solver."""

    strategy: Highs
    oracle: Oracle[AlgebraicProblem]
    compiled: CompiledModel
    step: float | None
    detail: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    companion: Companion | None = None
    #: What solvers see: the program in a unit that suits them, and the unit.
    scaled: Program = field(init=False)
    unit: float = field(init=False)
    program: Program = field(init=False)
    #: The number of which all objectives are multiples, if the problem or the program knows one.
    quantum: float | None = field(init=False)
    cut_off: list[tuple[Numbers, Indices | None]] = field(default_factory=list)
    #: The largest bound that the solver claims; what is proved without it; points of the best decision and the last.
    claimed: float = -math.inf
    safe: float | None = None
    point: Numbers | None = None
    last: Numbers | None = None
    #: The program that is asked once more, for what objective; and whether nothing better was found then.
    doubted: Program | None = None
    doubted_at: float = math.inf
    proved: bool = False
    #: Least objective of the feasible decisions that were cut off: bounds of what is left do not speak of them.
    least_cut_off: float = math.inf
    #: By so much values of a `NoisyModel` may differ from those of the evaluator, and by so much they did.
    noise: float = 0.0
    error: float = 0.0

    def __post_init__(self) -> None:
        best, self.program = self.oracle.best, self.compiled.program
        known = None if best is None else self.program.sign * best.evaluation.objective
        self.scaled, self.unit = self.program.in_unit(known)
        self.safe, self.quantum = self.oracle.bound, self.step or (self.unit if self.scaled.counted else None)
        rows, columns = self.program.shape
        self.detail |= {
            "name": self.strategy.solver,
            "rows": rows,
            "columns": columns,
            "entries": len(self.program.values),
            "whole_columns": int(self.program.whole.sum()),
        }

    def through(self, process: SolverProcess) -> Result:
        """Ask the solver; ask again before believing that there is no solution."""
        from ..cluster import allowed_threads

        with interrupting.immediate():  # filling in a large model takes its time
            start = self.start_point()
        threads = self.strategy.threads or allowed_threads()
        self.detail |= {} if threads is None else {"threads": threads}
        request = Request(
            self.scaled,
            gap=self.strategy.gap,
            threads=threads,
            presolve=self.strategy.presolve,
            start=start,
            tolerance=self.tolerance,
        )
        with contextlib.ExitStack() as stack:
            if len(self.program.values) >= COMPANION_ENTRIES:
                from .relaxation import Companion

                self.companion = stack.enter_context(Companion(self.scaled, self.oracle.remaining_seconds))
            active, backend = process, SOLVERS[self.strategy.solver].backend
            try:
                outcome = self.listen(active, request)
                while self.cut_off and outcome.status == "optimal":
                    for point, columns in self.cut_off:
                        request = replace(request, program=request.program.without(point, columns))
                    self.detail["decisions_cut_off"] = request.program.shape[0] - self.program.shape[0]
                    self.cut_off.clear()
                    active = stack.enter_context(SolverProcess(backend))
                    outcome = self.listen(active, request)
                if outcome.status == "gave up" and self.program.tolerance is not None:
                    # What presolve made of equations that hold roughly may be beyond the solver: once more without.
                    active = stack.enter_context(SolverProcess(backend))
                    request = replace(request, presolve=not request.presolve)
                    outcome = self.listen(active, request)
                if outcome.status in ("infeasible", "unclear"):
                    active = stack.enter_context(SolverProcess(backend))
                    outcome = self.listen(active, replace(request, presolve=not request.presolve))
                    if outcome.status == "infeasible":
                        self.detail["infeasible_with_and_without_presolve"] = True
                self.note_bound(outcome.bound)
                while self.in_doubt(outcome):
                    self.detail |= outcome.detail
                    request = self.asked_again(request)
                    active = stack.enter_context(SolverProcess(backend))
                    outcome = self.listen(active, request)
                    if outcome.status == "gave up":  # a proof is worth another try, and noise depends on presolve
                        active = stack.enter_context(SolverProcess(backend))
                        outcome = self.listen(active, replace(request, presolve=not request.presolve))
                    outcome = self.answered(outcome)
            except KeyboardInterrupt:
                self.settled()
                self.salvage(active.wind_up())
                return self.close("interrupt")
        return self.conclude(outcome)

    @property
    def tolerance(self) -> float | None:
        """How far solvers may stray: as far as the model says, else little where objectives are not counted."""
        usual = TOLERANCE if self.quantum is None else None
        return usual if self.program.tolerance is None else self.program.tolerance

    def start_point(self) -> Numbers | None:
        """The best decision so far as a point of the program, if the problem can say and the program agrees."""
        problem, best = self.oracle.problem, self.oracle.best
        if not self.strategy.start or best is None or not isinstance(problem, Starting):
            return None
        problem.start_pyomo(self.compiled.model, best.decision)
        point, broken = self.compiled.start()
        self.detail["start"] = f"refused: {broken}" if broken else best.evaluation.objective
        return point

    def listen(self, process: SolverProcess, request: Request) -> Outcome:
        """Take in what the solver says until its last word, and what the companion found meanwhile."""
        for message in process.ask(request, self.oracle.remaining_seconds, settled=self.settled):
            if isinstance(message, Outcome):
                return message
            self.take(message)
        raise SolverFailure("the solver's process ended without a last word.")

    def settled(self) -> bool:
        """Whether the best bound so far, the solver's or the companion's, meets the best decision so far."""
        if self.doubted is not None:
            return False
        bound = None if self.companion is None else self.companion.bound
        if bound is not None:
            known = -math.inf if self.safe is None else self.safe
            self.safe = max(min(self.in_units(bound), self.least_cut_off), known)
            self.oracle.report(bound=self.safe)
        return self.oracle.settled or self.oracle.meets(self.claimed)

    def take(self, message: Message) -> None:
        """Evaluate an incumbent, note a bound, keep the detail of a last word or a line of the log."""
        if isinstance(message, Incumbent):
            self.judge(message)
        elif isinstance(message, Bound):
            self.note_bound(message.value)
        elif isinstance(message, Outcome):
            self.note_bound(message.bound)
            self.detail |= message.detail
        elif self.strategy.log:
            self.log.append(message.text)

    def salvage(self, messages: Iterable[Message]) -> None:
        """Take the last of what an interrupted solver had still to say: there is little time."""
        for message in {type(message): message for message in messages}.values():
            self.take(message)

    def judge(self, incumbent: Incumbent) -> None:
        """Show a solver's point to the oracle, comparing its values by the solver, the program and the evaluator.

        The solver computes with noise in its whole numbers, the evaluator without. So the solver's claim is held
        against its own point, and the point without noise against the evaluator.
        """
        problem, program = self.oracle.problem, self.program
        try:
            model = self.compiled.load(incumbent.point)
            decision = problem.space.check(problem.from_pyomo(model))
        except ValueError as error:
            raise Disagreement(f"{problem.name}: the solver's point is no decision: {error}") from error
        told, recomputed = self.unit * incumbent.objective, program.objective(incumbent.point)
        size = program.size(incumbent.point)
        if isinstance(problem, NoisyModel):
            self.noise = max(self.noise, problem.model_noise * size)
        if not agree(told, recomputed, size):
            raise Disagreement(f"{problem.name}: the solver claims {told!r} for a point whose value is {recomputed!r}.")
        judged = self.oracle.confirm(decision)
        if self.oracle.best is not None and self.oracle.best.decision == decision:
            self.point = incumbent.point
        self.last = incumbent.point
        if self.doubted is not None and judged.feasible and judged.objective < self.doubted_at:
            self.detail["claims_refuted"] = self.doubted_at
            self.oracle.withdraw(self.safe)
        if not judged.feasible and isinstance(problem, AlmostFeasible) and problem.almost_feasible(decision):
            self.cut(incumbent.point, decision)
            return
        claimed = program.sign * program.objective(program.rounded(incumbent.point))
        if isinstance(problem, LooseModel) and not problem.objective_exact:
            # Slack in the point's cost variables is no claim about the decision.
            claimed = min(claimed, judged.objective)
        if abs(claimed - judged.objective) <= self.noise:
            self.error = max(self.error, abs(claimed - judged.objective))
            claimed = judged.objective
        if isinstance(problem, Mistakable) and problem.model_mistakable and judged.feasible:
            # What is no whole number at all cannot be cut off, and is a claim that must hold.
            below = claimed < judged.objective and not agree(claimed, judged.objective, size)
            if below and program.whole.any():
                self.least_cut_off = min(self.least_cut_off, judged.objective)
                self.cut(incumbent.point, decision)
                return
        self.oracle.confirm(decision, claimed, size)

    def cut(self, point: Numbers, decision: Decision) -> None:
        """Keep a point to be cut off, with the columns that make its decision what it is."""
        columns, problem = None, self.oracle.problem
        if isinstance(problem, Distinguishing):
            places = {id(variable): place for place, variable in enumerate(self.compiled.variables)}
            deciding = problem.deciding_variables(self.compiled.model, decision)
            columns = np.array([places[id(variable)] for variable in deciding], dtype=np.int32)
        self.cut_off.append((point, columns))

    def note_bound(self, value: float | None) -> None:
        """Report a bound of the solver; one that does not count in steps, less what solvers err by."""
        if value is None or not math.isfinite(value) or self.doubted is not None:
            return
        bound, best = min(self.in_units(value), self.least_cut_off), self.oracle.best
        if best is not None:
            above = bound - best.evaluation.objective
            if AGREEMENT * abs(best.evaluation.objective) < above <= self.noise:
                bound -= self.noise
        self.claimed = max(self.claimed, bound)
        self.oracle.report(bound=bound if self.counts(bound) else bound - PROVED_TO * max(abs(bound), self.unit))

    def in_units(self, value: float) -> float:
        """A bound as the problem states it, in whose unit what is next to nothing is noise."""
        least = self.program.sign * value
        return raised_to_step(0.0 if 0 < least <= FEASIBILITY else self.unit * least, self.step)

    def counts(self, value: float) -> bool:
        """Whether objectives of this size differ by more than solvers err by."""
        if not self.scaled.cost.any():
            return True
        return self.quantum is not None and AGREEMENT * max(self.quantum, abs(value)) < self.quantum / 2

    # -- asking once more ----------------------------------------------------------------------------------------------

    def in_doubt(self, outcome: Outcome) -> bool:
        """Whether an optimum is claimed for which nothing but the solver's word, and its tolerances, speaks."""
        best = self.oracle.best
        if best is None or self.proved or outcome.status not in ("optimal", "settled"):
            return False
        if self.doubted is not None:
            return True
        safe = self.safe is not None and self.oracle.meets(self.safe)
        return not safe and not self.counts(best.evaluation.objective) and self.oracle.meets(self.claimed)

    def asked_again(self, request: Request) -> Request:
        """Ask for what is better by `PROVED_TO`; with another pattern, where patterns tell all about a point."""
        assert self.oracle.best is not None
        self.doubted = request.program if self.doubted is None else self.doubted
        if self.doubted.binary and self.point is not None:
            self.doubted = self.doubted.without(self.point)
        self.point, self.last, self.doubted_at = None, None, self.oracle.best.evaluation.objective
        least = self.doubted_at / self.unit
        least -= PROVED_TO * max(abs(least), 1.0)
        self.detail["asked_once_more"] = self.detail.get("asked_once_more", 0) + 1
        program = self.doubted.better_than(self.scaled.sign * least)
        return replace(request, program=program, start=None, presolve=self.strategy.presolve)

    def answered(self, outcome: Outcome) -> Outcome:
        """What the answer is worth: "infeasible" alone proves the best decision."""
        assert self.oracle.best is not None and self.doubted is not None
        best = self.oracle.best.evaluation.objective
        claim = Outcome("optimal", best / self.unit, message=f"optimal: nothing is better by {PROVED_TO:g}")
        if outcome.status == "infeasible":
            if self.error > PROVED_TO * max(abs(best), self.unit):
                told = f"the program and the evaluator differ by {self.error:g}, too much for a proof"
                return Outcome("gave up", message=told)
            self.proved = True
            return claim
        if outcome.status in ("unclear", "unbounded", "refused", "error"):
            return Outcome("gave up", message=f"asked for something better: {outcome.message or outcome.status}")
        if outcome.status != "optimal":
            return outcome
        if self.detail["asked_once_more"] >= MOST_QUESTIONS:
            return Outcome("gave up", message="its optima are none")
        if best < self.doubted_at:
            return claim
        points = self.cut_off or [(point, None) for point in (self.last,) if point is not None]
        with contextlib.suppress(ValueError):  # whole numbers beyond 0 and 1 have no pattern to be forbidden
            for point, columns in points:
                self.doubted = self.doubted.without(point, columns)
            self.cut_off.clear()
            if points:
                return claim
        return Outcome("gave up", message="a pattern cannot be forbidden")

    def conclude(self, outcome: Outcome) -> Result:
        """Close the run after the solver's last word."""
        name = self.oracle.problem.name
        self.detail |= outcome.detail
        self.detail["status"] = outcome.message or outcome.status
        if outcome.status == "infeasible" and self.least_cut_off < math.inf:  # nothing else is left
            self.oracle.report(bound=self.least_cut_off)
            return self.close("complete")
        if outcome.status == "infeasible":
            return self.close_infeasible()
        if outcome.status == "refused":
            raise UnsupportedProblem(outcome.message)
        if outcome.status == "error":
            said = outcome.message.strip().splitlines()[-1]
            raise SolverFailure(f"{name}: solver {self.strategy.solver!r} failed: {said}")
        if outcome.status == "unbounded":
            told = "its objective can be improved without end; give bounds to the variables that lack them."
            raise UnboundedProgram(f"the program of {name!r} is unbounded: {told}")
        if outcome.status == "unclear":
            raise UnboundedProgram(f"the program of {name!r} is infeasible or unbounded, the solver cannot tell which.")
        if outcome.status == "optimal":
            if outcome.objective is None or self.oracle.best is None:
                raise SolverFailure(f"{name}: the solver speaks of an optimum and shows no point.")
            return self.close("complete" if self.proved or self.oracle.settled else "gap")
        words = {"died": f"solver ended by {outcome.message}", "gave up": f"solver gave up: {outcome.message}"}
        return self.close(({"settled": "complete"} | words).get(outcome.status, outcome.status))

    def close_infeasible(self) -> Result:
        """Close on "infeasible", with the names of constraints that cannot all be kept."""
        if self.oracle.remaining_seconds > 0:
            with contextlib.suppress(KeyboardInterrupt):  # what is proved is proved
                self.extra |= explain(self.scaled, min(EXPLAIN_SECONDS, self.oracle.remaining_seconds))
        self.extra["solver"] = self.detail
        return close_infeasible(self.oracle, self.extra)

    def close(self, stopped_by: str) -> Result:
        """Close on the best decision so far."""
        self.extra["solver"] = self.detail
        if self.log:
            self.extra["solver_log"] = "".join(self.log)
        best = self.oracle.best
        if best is not None and (self.proved or self.oracle.settled):
            rest = PROVED_TO if self.proved else OPTIMALITY_TOLERANCE
            self.extra["proved_to"] = 0.0 if self.counts(best.evaluation.objective) else rest
        return self.oracle.result(proved=self.proved, stopped_by=stopped_by, extra=self.extra)
