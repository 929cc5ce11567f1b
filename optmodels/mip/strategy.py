"""Exact answers for any problem that can write itself as a linear program with whole numbers.

The road: Pyomo model, standard form, arrays (`Program`), a solver in a process of its own, and back through the
problem's own evaluator. The solver is asked for a gap of 0, is stopped in time whatever it does, and is never believed:
each of its points is read back into a decision and evaluated, each claim compared.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from heuristics import (
    AGREEMENT,
    Bounded,
    BudgetSpent,
    Decision,
    Disagreement,
    Oracle,
    Problem,
    Result,
    UnsupportedProblem,
    agree,
    interrupting,
)

from .. import protocols
from ..protocols import AlgebraicLimits, AlmostFeasible, LooseModel, PerhapsNotAlgebraic, limits_of
from .process import SolverProcess
from .program import FEASIBILITY, Bound, Incumbent, Message, Numbers, Outcome, Program, Request
from .solvers import SOLVERS
from .timing import find_start, within

if TYPE_CHECKING:
    from .pyomo import CompiledModel
    from .relaxation import Companion

#: Entries of the matrix from which on a second process bounds the linear relaxation while the solver works.
COMPANION_ENTRIES = 100_000

#: Seconds to look for an infeasible sub-set, and names shown of it.
EXPLAIN_SECONDS, EXPLAIN_NAMES = 10.0, 20


@runtime_checkable
class AlgebraicProblem(Problem, Protocol):
    """A problem that can be written as a linear Pyomo model.

    The objective of the model is the objective of the evaluator, or its negative if the model maximises.

    A problem may offer more: a bound to begin with (`heuristics.protocols.Bounded`), a proof that nothing is feasible
    (`heuristics.protocols.Explaining`), a start (`Starting`), and what `optmodels.protocols` says of integer programs
    and of objectives that are multiples of a number.
    """

    def to_pyomo(self) -> Any:
        """The problem as a new concrete model."""

    def from_pyomo(self, model: Any) -> Decision:
        """The decision that the values of the model's variables stand for; whole numbers are whole."""


@runtime_checkable
class Starting(Protocol):
    """A problem that can write a decision into its model."""

    def start_pyomo(self, model: Any, decision: Decision) -> None:
        """Give every variable of the model its value for this decision."""


class SolverFailure(RuntimeError):  # noqa: N818 - reads as what happened
    """A solver ended with an error: a defect of ours or of the solver, not an answer."""


class UnboundedProgram(ValueError):  # noqa: N818 - reads as what happened
    """The objective of a model has no limit."""


_EXPLAINER = "optmodels.mip.highs:explain"


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
    linear_cost_only: ClassVar[bool] = True
    takes_limits: ClassVar[bool] = True  # of problems whose model contains them, see `refuses`

    def __post_init__(self) -> None:
        if self.solver not in SOLVERS:
            raise ValueError(f"solver must be one of {', '.join(SOLVERS)}, got {self.solver!r}.")
        if self.threads is not None and (isinstance(self.threads, bool) or self.threads < 1):
            raise ValueError(f"threads must be 1 or more, got {self.threads!r}.")
        if not 0 <= self.gap < math.inf:
            raise ValueError(f"gap must be 0 or more, got {self.gap!r}.")

    def refuses(self, problem: Problem) -> str | None:
        """Refuse if the solver is not installed, or if the problem has limits that its model does not contain."""
        missing = SOLVERS[self.solver].missing(self.solver)
        if missing:
            return missing
        if limits_of(problem) and not (isinstance(problem, AlgebraicLimits) and problem.algebraic_limits):
            return f"strategy {self.name!r} does not handle limits on measures, and {problem.name!r} has some."
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
                return oracle.result(extra={"solver": {"name": self.solver, "status": "not needed"}})
            began = oracle.seconds
            try:
                with interrupting.immediate(), within(oracle.remaining_seconds), quiet_pyomo():
                    compiled = compile_model(problem.to_pyomo())
            except InfeasibleConstraint as broken:
                return _close_infeasible(oracle, {"infeasible_subset": [broken.name]})
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
    cut_off: list[Numbers] = field(default_factory=list)

    def __post_init__(self) -> None:
        best, self.program = self.oracle.best, self.compiled.program
        known = None if best is None else self.program.sign * best.evaluation.objective
        self.scaled, self.unit = self.program.in_unit(known)
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
        )
        with contextlib.ExitStack() as stack:
            if len(self.program.values) >= COMPANION_ENTRIES:
                from .relaxation import Companion

                self.companion = stack.enter_context(Companion(self.scaled, self.oracle.remaining_seconds))
            active, backend = process, SOLVERS[self.strategy.solver].backend
            try:
                outcome = self.listen(active, request)
                while self.cut_off and outcome.status == "optimal":
                    for point in self.cut_off:
                        request = replace(request, program=request.program.without(point))
                    self.detail["decisions_cut_off"] = request.program.shape[0] - self.program.shape[0]
                    self.cut_off.clear()
                    active = stack.enter_context(SolverProcess(backend))
                    outcome = self.listen(active, request)
                if outcome.status in ("infeasible", "unclear"):
                    active = stack.enter_context(SolverProcess(backend))
                    outcome = self.listen(active, replace(request, presolve=not request.presolve))
                    if outcome.status == "infeasible":
                        self.detail["infeasible_with_and_without_presolve"] = True
            except KeyboardInterrupt:
                self.settled()
                self.salvage(active.wind_up())
                return self.close("interrupt")
        return self.conclude(outcome)

    def start_point(self) -> Any:
        """The best decision so far as a point of the program, if the problem can say and the program agrees."""
        problem, best = self.oracle.problem, self.oracle.best
        if not self.strategy.start or best is None or not isinstance(problem, Starting):
            return None
        problem.start_pyomo(self.compiled.model, best.decision)
        point = self.compiled.point()
        broken = None if point is None else self.program.broken_row(point)
        if point is None or broken is not None:
            reason = f"it breaks {broken}" if broken else "start_pyomo left a variable without a value"
            self.detail["start"] = f"refused: {reason}"
            return None
        self.detail["start"] = best.evaluation.objective
        return self.program.rounded(point)

    def listen(self, process: SolverProcess, request: Request) -> Outcome:
        """Take in what the solver says until its last word, and what the companion found meanwhile."""
        for message in process.ask(request, self.oracle.remaining_seconds, settled=self.settled):
            if isinstance(message, Outcome):
                return message
            self.take(message)
        raise SolverFailure("the solver's process ended without a last word.")

    def settled(self) -> bool:
        """Whether the best bound so far, the solver's or the companion's, meets the best decision so far."""
        if self.companion is not None:
            self.note_bound(self.companion.bound)
        return self.oracle.settled

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
        if not agree(told, recomputed, size):
            raise Disagreement(f"{problem.name}: the solver claims {told!r} for a point whose value is {recomputed!r}.")
        judged = self.oracle.confirm(decision)
        if not judged.feasible and isinstance(problem, AlmostFeasible) and problem.almost_feasible(decision):
            self.cut_off.append(incumbent.point)
            return
        claimed = program.sign * program.objective(program.rounded(incumbent.point))
        if isinstance(problem, LooseModel) and not problem.objective_exact:
            # Slack in the point's cost variables is no claim about the decision.
            claimed = min(claimed, judged.objective)
        self.oracle.confirm(decision, claimed, size)

    def note_bound(self, value: float | None) -> None:
        """Report a bound of the solver, in whose unit what is next to nothing is noise."""
        if value is None or not math.isfinite(value):
            return
        least = self.program.sign * value
        noise = 0 < least <= FEASIBILITY
        self.oracle.report(bound=raised_to_step(0.0 if noise else self.unit * least, self.step))

    def conclude(self, outcome: Outcome) -> Result:
        """Close the run after the solver's last word."""
        name = self.oracle.problem.name
        self.detail |= outcome.detail
        self.detail["status"] = outcome.message or outcome.status
        if outcome.status == "infeasible":
            return self.close_infeasible()
        if outcome.status == "refused":
            raise UnsupportedProblem(outcome.message)
        if outcome.status == "error":
            raise SolverFailure(
                f"{name}: solver {self.strategy.solver!r} failed: {outcome.message.strip().splitlines()[-1]}"
            )
        if outcome.status == "unbounded":
            raise UnboundedProgram(
                f"the program of {name!r} is unbounded: its objective can be improved without end; "
                "give bounds to the variables that lack them."
            )
        if outcome.status == "unclear":
            raise UnboundedProgram(f"the program of {name!r} is infeasible or unbounded, the solver cannot tell which.")
        self.note_bound(outcome.bound)
        if outcome.status == "optimal":
            if outcome.objective is None or self.oracle.best is None:
                raise SolverFailure(f"{name}: the solver speaks of an optimum and shows no point.")
            return self.close("complete" if self.oracle.settled else "gap")
        words = {"died": f"solver ended by {outcome.message}", "gave up": f"solver gave up: {outcome.message}"}
        return self.close(({"settled": "complete"} | words).get(outcome.status, outcome.status))

    def close_infeasible(self) -> Result:
        """Close on "infeasible", with the names of constraints that cannot all be kept."""
        if self.oracle.remaining_seconds > 0:
            with contextlib.suppress(KeyboardInterrupt):  # what is proved is proved
                self.extra |= explain(self.scaled, min(EXPLAIN_SECONDS, self.oracle.remaining_seconds))
        self.extra["solver"] = self.detail
        return _close_infeasible(self.oracle, self.extra)

    def close(self, stopped_by: str) -> Result:
        """Close on the best decision so far."""
        self.extra["solver"] = self.detail
        if self.log:
            self.extra["solver_log"] = "".join(self.log)
        return self.oracle.result(stopped_by=stopped_by, extra=self.extra)


def explain(program: Program, seconds: float) -> dict[str, Any]:
    """Constraints and bounds that cannot all be kept, as ``infeasible_subset``; its size if some are not shown."""
    with SolverProcess(_EXPLAINER) as process:
        *_, outcome = process.ask(Request(program), seconds)
    if not isinstance(outcome, Outcome) or outcome.status != "infeasible":
        return {}
    names = [*outcome.detail["rows"], *(f"bounds of {column}" for column in outcome.detail["columns"])]
    shown: dict[str, Any] = {"infeasible_subset": names[:EXPLAIN_NAMES]}
    if len(names) > EXPLAIN_NAMES:
        shown["infeasible_subset_size"] = len(names)
    return shown


def objective_step(problem: Problem) -> float | None:
    """The number of which all objectives are multiples, if the problem knows one."""
    step = protocols.objective_step(problem)
    if step is not None and not 0 < step < math.inf:
        raise ValueError(f"objective_step of {problem.name!r} must be positive, got {step!r}.")
    return step


def raised_to_step(bound: float, step: float | None) -> float:
    r"""Raise a bound to the least multiple of `step` that is not below it, up to the noise of a solver.

    Parameters
    ----------
    bound
        A lower bound on the objective, perhaps infinite.
    step
        A positive number of which all objectives are multiples; ``None``: there is none, and the bound stays.

    Returns
    -------
    float
        A bound that is as valid, and no lower but for noise.

    Notes
    -----
    With :math:`\epsilon = 10^{-6} \max(s, |b|)`, this is :math:`s \lceil (b - \epsilon) / s \rceil`: a bound just above
    a multiple is taken for that multiple. Where the noise is as large as half a step, the bound stays as it is.
    """
    if step is None or not math.isfinite(bound):
        return bound
    noise = AGREEMENT * max(step, abs(bound))
    if noise >= step / 2:
        return bound
    return step * math.ceil((bound - noise) / step)


def _close_infeasible(oracle: Oracle[Any], extra: dict[str, Any]) -> Result:
    if oracle.best is not None:
        raise Disagreement(
            f"{oracle.problem.name}: the program has no solution, but the evaluator knows a feasible decision "
            f"of objective {oracle.best.evaluation.objective!r}."
        )
    return oracle.result(proved=True, extra=extra)
