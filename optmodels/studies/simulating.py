"""Exact and simulated side by side: a simulation that shares nothing with the evaluator confirms it, or not.

A kind of problem takes part by a method ``experiment(decision)`` that returns an `Experiment`: independent replications
of the same thing, seeded, in pieces between which a run can be ended. What they tell about each measure, with its
confidence interval, is set beside the exact value, and all comparisons are judged together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heuristics import clock, interrupting
from queueing.simulation import CONFIDENCE, Estimate, jackknife, jackknives, joint_limit

from ..data import as_real, as_whole, columns, number, refuse_masked
from ..errors import RequestError, short
from ..protocols import Drifting, Experiment, Judging, Resolving, Settling, Simulable, has_objective, kind_of
from ..registry import kinds
from ..results import plain
from ..solving import ProblemLike, as_problem, check_seed, versions
from .runs import following_batch

#: Replications unless said, and the most that are kept.
REPLICATIONS, MOST_REPLICATIONS = 30, 100_000

#: Seconds after which a run ends that was given no limit, nor a time of its replications: the usual time of a queue
#: whose rates lie far apart may be too long. One more for each replication that is asked for.
PATIENCE = 60.0

#: Numbers that are kept of all replications together: what a replication has seen may be long.
MOST_NUMBERS = 20_000_000

#: Events of one replication, about, unless its time is given.
EVENTS = 100_000

#: What happened in fewer replications than this share of them, and should not have happened more often than this
#: number of times in all, is too rare to be judged.
OFTEN, MANY = 2 / 3, 1000.0

#: What is told of a simulation in JSON, beside its measures and the verdict.
_TOLD = ("problem", "kind", "decision", "seed", "replications", "time", "events", "seconds", "stopped_by")

#: How often all comparisons together go wrong by chance when everything is right: rarely enough that people who
#: simulate every day need not learn to shrug.
WRONG_BY_CHANCE = 0.001

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Line:
    """One measure: exact, simulated, and how far apart.

    Attributes
    ----------
    name, exact, estimate
        of the measure.
    deviation
        standard errors between the two; ``None`` where they cannot be compared.
    remark
        why not.
    """

    name: str
    exact: float | None
    estimate: Estimate
    deviation: float | None
    remark: str = ""


@dataclass(frozen=True, repr=False)
class Confrontation:
    """Exact and simulated side by side.

    Attributes
    ----------
    lines
        one for each measure, and one for the objective where it is linear in them.
    agree
        whether all deviations together are what chance would do; ``None`` if nothing could be compared.
    largest, limit
        the largest deviation, and what the largest of so many exceeds by chance once in a thousand times.
    replications, time, events, seconds, stopped_by
        what was run: so many, of so many units of time each, and why no more: ``complete``, ``seconds``, ``interrupt``,
        or ``memory``.
    """

    problem: str
    kind: str | None
    decision: Any
    seed: int
    lines: tuple[Line, ...]
    agree: bool | None
    largest: float | None
    limit: float | None
    replications: int
    time: float
    events: int
    seconds: float
    stopped_by: str
    extra: Mapping[str, Any]

    @property
    def verdict(self) -> str:
        """Whether exact and simulated agree, in one sentence."""
        compared = sum(line.deviation is not None for line in self.lines)
        if self.agree is None or self.largest is None:
            return "nothing could be compared"
        told = (
            f"the largest of {compared} deviations is {self.largest:.2f} standard errors, and by chance alone it "
            f"exceeds {self.limit:.2f} in one simulation of {1 / WRONG_BY_CHANCE:.0f} at most"
        )
        return f"they agree: {told}" if self.agree else f"THEY DISAGREE: {told}; another --seed shows if it was chance"

    def table(self) -> str:
        """The measures as text, a line each, and the verdict."""
        rows = [["measure", "exact", "simulated", f"+- ({100 * CONFIDENCE:g} %)", "z", ""]]
        for line in self.lines:
            half = line.estimate.half_width(CONFIDENCE)
            half_width = "-" if half is None else f"{half:.2g}"
            z = "-" if line.deviation is None else f"{line.deviation:.2f}"
            rows.append([line.name, number(line.exact), number(line.estimate.value), half_width, z, line.remark])
        head = (
            f"{self.problem} at {short(plain(self.decision))}: {self.replications} replications of "
            f"{self.time:.6g} units of time, {self.events} events in {self.seconds:.1f} s, seed {self.seed}"
        )
        return f"{head}\n{columns(rows, '  ')}\n{self.verdict}"

    def __repr__(self) -> str:
        return f"<Confrontation of {self.problem}: {self.verdict}>"

    def __str__(self) -> str:
        return self.table()

    def to_data(self) -> dict[str, Any]:
        """Everything as one JSON object."""
        measures = {
            line.name: {
                "exact": line.exact,
                "simulated": line.estimate.value,
                "half_width": line.estimate.half_width(CONFIDENCE),
                "z": line.deviation,
                "remark": line.remark or None,
            }
            for line in self.lines
        }
        told: dict[str, Any] = plain({name: getattr(self, name) for name in _TOLD})
        judged = {"agree": self.agree, "largest_z": self.largest, "limit_z": self.limit, "extra": self.extra}
        further = {"confidence": CONFIDENCE, "measures": measures, **judged, "versions": versions()}
        return {"format": 1, **told, **plain(further)}


def simulate(
    problem: ProblemLike,
    decision: Any,
    *,
    replications: int | None = None,
    seconds: float | None = None,
    time: float | None = None,
    seed: int = 0,
    progress: bool | Progress | None = None,
) -> Confrontation:
    """Evaluate a decision, try it out, and compare.

    Parameters
    ----------
    problem
        A problem, its instance, the path of its file, or the name of a shipped instance.
    decision
        As for `optmodels.evaluate`.
    replications
        How many; 30 unless said, or as many as `seconds` allow.
    seconds
        When to stop; the replication under way is lost. Compilation and the exact evaluation are not counted. With
        neither this nor `time`: a minute, and a second for each replication.
    time
        Units of the problem's time that each replication observes, after a warm-up of a tenth of it, or longer where
        it is short; chosen by a pilot run unless said.
    seed
        Same seed, same answer, but for what `seconds` cut off.
    progress
        Called with what is done, what is to do, and a word on it; ``True`` tells it in a line on stderr, or in a
        notebook.

    Returns
    -------
    Confrontation
        With no more than the exact values if the run was ended (Ctrl-C, seconds) before two replications were finished.

    Raises
    ------
    RequestError
        If the problem cannot be simulated, or the decision is none of its space.

    Examples
    --------
    >>> from optmodels import simulate
    >>> seen = simulate("avrachenkov-k5", [-1, 2, 2], replications=5, time=1000.0)
    >>> seen.replications, seen.agree
    (5, True)
    """
    most = _check_replications(replications, seconds)
    _check_positive("seconds", seconds)
    _check_positive("time", time)
    seed = check_seed(seed)
    refuse_masked("decision", decision)
    asked = as_problem(problem)
    if not isinstance(asked, Simulable):
        raise RequestError(
            f"problems of kind {kind_of(asked) or type(asked).__name__!r} cannot be simulated, only those of "
            f"kind {', '.join(kinds.having('simulated')) or '(none)'}; {asked.name!r} can only be evaluated."
        )
    try:
        checked = asked.space.check(tuple(decision) if isinstance(decision, list) else decision)
    except (ValueError, TypeError) as failure:
        raise RequestError(
            f"{short(decision)} is not a valid decision for {asked.name!r}: {' '.join(str(failure).split())}"
        ) from None
    with kinds.blame(kind_of(asked), "simulation"):
        experiment = asked.experiment(checked)
        exact = asked.evaluate(checked)
        span = experiment.usual_time(EVENTS, seed) if time is None else float(time)
        if seconds is None and time is None:
            seconds = PATIENCE + most
        with following_batch(progress, f"simulation of {asked.name}") as follow:
            done, lasted, stopped_by = _run(experiment, span, seed, most, seconds, follow)
        observations = np.array([one.observation for one in done])
        if len(done) < 2:
            nothing = Estimate(None, None, 0)
            lines = [Line(name, value, nothing, None, "not simulated") for name, value in exact.measures.items()]
        else:
            lines = _lines(experiment, exact.measures, observations, span)
            if has_objective(asked) and isinstance(asked, Judging) and asked.linear_cost:
                lines.append(_objective(asked, experiment, exact.measures, lines, observations, span))
        agree, largest, limit = _judged(lines, len(done))
        if agree is False and _drifting(experiment, observations, span):
            lines = [replace(line, deviation=None, remark="averages still drift: give more --time") for line in lines]
            agree, largest, limit = _judged(lines, len(done))
        return Confrontation(
            problem=asked.name,
            kind=kind_of(asked),
            decision=checked,
            seed=seed,
            lines=tuple(lines),
            agree=agree,
            largest=largest,
            limit=limit,
            replications=len(done),
            time=span,
            events=sum(one.events for one in done),
            seconds=lasted,
            stopped_by=stopped_by,
            extra=experiment.describe(done) if len(done) > 1 else {},
        )


# -- inside -----------------------------------------------------------------------------------------------------------


def _run(
    experiment: Experiment, span: float, seed: int, most: int, seconds: float | None, progress: Progress | None
) -> tuple[list[Any], float, str]:
    """Replications until there are enough, the time is up, or somebody ends it."""
    done: list[Any] = []
    stopped_by = "complete"
    began = clock.start()
    try:
        interrupting.check()
        with interrupting.deferred():
            for one in experiment.replications(span, seed):
                interrupting.check()
                if one is not None:
                    done.append(one)
                if progress:
                    progress(len(done), most, "replications")
                if len(done) >= most:
                    break
                if len(done) > 1 and len(done) * done[0].observation.size >= MOST_NUMBERS:
                    stopped_by = "memory"
                    break
                if seconds is not None and clock.now() - began >= seconds:
                    stopped_by = "seconds"
                    break
    except KeyboardInterrupt:
        stopped_by = "interrupt"
        interrupting.answered()
    return done, clock.now() - began, stopped_by


def _lines(
    experiment: Experiment, exact: Mapping[str, float | None], observations: NDArray[np.float64], span: float
) -> list[Line]:
    by_replication = [experiment.occurrences(row) for row in observations]
    finest = _resolution(experiment, span * len(observations))
    lines = []
    for name, estimate in jackknives(experiment.measures, observations).items():
        if name not in exact:
            continue
        counted = [row[name] for row in by_replication if name in row]
        totals = np.array(counted) * span if counted else None
        lines.append(_line(name, exact[name], estimate, totals, finest.get(name, 0.0)))
    return lines


def _judged(lines: Sequence[Line], replications: int) -> tuple[bool | None, float | None, float | None]:
    """Whether all deviations together are what chance would do, the largest of them, and what it may be."""
    deviations = [abs(line.deviation) for line in lines if line.deviation is not None]
    if not deviations:
        return None, None, None
    limit = joint_limit(len(deviations), replications - 1, WRONG_BY_CHANCE)
    return max(deviations) <= limit, max(deviations), limit


def _drifting(experiment: Experiment, observations: NDArray[np.float64], span: float) -> bool:
    drifting = isinstance(experiment, Drifting) and experiment.drifting(observations)
    return drifting or (isinstance(experiment, Settling) and not experiment.settled(span))


def _resolution(experiment: Experiment, time: float) -> Mapping[str, float]:
    return experiment.resolution(time) if isinstance(experiment, Resolving) else {}


def _line(
    name: str, exact: float | None, estimate: Estimate, counted: NDArray[np.float64] | None, finest: float
) -> Line:
    """Compare one measure; what happens too rarely to be compared is told apart from what should have happened."""
    if exact is None and estimate.value is None:
        return Line(name, exact, estimate, None, "undefined")
    error = estimate.error
    if counted is not None:
        among = float(counted[:, 1].sum())
        expected = 0.0 if exact is None else exact * among
        if exact == 0 and not counted[:, 0].any():
            return Line(name, exact, estimate, 0.0, "never happens")
        often = (counted[:, 0] > 0).mean() >= OFTEN
        if not often and max(expected, float(counted[:, 0].sum())) < MANY:
            return Line(name, exact, estimate, None, "too rare to compare")
        if among > 0:
            error = _error_of_number(error, expected, float(counted[:, 0].sum()), among, often)
    if exact is None or estimate.value is None or error is None:
        return Line(name, exact, estimate, None, "not seen often enough" if exact is not None else "undefined")
    deviation = Estimate(estimate.value, error, estimate.degrees).deviation(exact)
    if deviation and error < finest:
        deviation = (estimate.value - exact) / finest
    return Line(name, exact, estimate, deviation)


def _error_of_number(error: float | None, expected: float, seen: float, among: float, often: bool) -> float | None:
    """The error of a share of things that are counted, had they happened as often as expected.

    Where fewer were seen, by chance, their error is small by chance too (a number of things, or of bursts of things,
    that happen at random has a variance that grows with its mean), and a deviation would be told that is none. What
    happens a few times in all has the error of things that happen at random at least: replications may be alike by
    chance.
    """
    if error is None:
        return None if often else math.sqrt(expected) / among
    if seen > 0:
        error *= math.sqrt(max(1.0, expected / seen))
    return error if often and expected >= MANY else max(error, math.sqrt(expected) / among)


def _objective(
    problem: Judging,
    experiment: Experiment,
    exact: Mapping[str, float | None],
    lines: Sequence[Line],
    observations: NDArray[np.float64],
    span: float,
) -> Line:
    def price(measures: Mapping[str, float | None]) -> float | None:
        judged = problem.judge(measures)
        undefined = any("undefined" in name for name in judged.violations)
        return None if undefined else float(judged.objective)

    estimate = jackknife(lambda means: price(experiment.measures(means)), observations)
    known = price(exact)

    def moved(changes: Mapping[str, float]) -> float:
        """By how much the price moves when measures change, one at a time."""
        if known is None:
            return 0.0
        prices = [price({**exact, name: (exact[name] or 0.0) + by}) for name, by in changes.items() if name in exact]
        return sum(abs(one - known) for one in prices if one is not None)

    finest = moved(_resolution(experiment, span * len(observations)))
    wider = moved({line.name: _widened(line) for line in lines if line.exact is not None})
    judged = estimate if estimate.error is None else replace(estimate, error=math.hypot(estimate.error, wider))
    line = replace(_line("objective", known, judged, None, finest), estimate=estimate)
    rare = {
        line.name: line.estimate.value or 0.0 for line in lines if line.deviation is None and line.exact is not None
    }
    if line.deviation is None or line.exact is None or not rare:
        return line
    seen = price({**exact, **rare})
    if seen is not None and abs(seen - line.exact) <= 0.1 * (estimate.error or 0.0):
        return line
    return Line("objective", line.exact, estimate, None, "rests on what is too rare to compare")


def _widened(line: Line) -> float:
    """By how much the error by which a measure was judged exceeds the one that was seen, as errors that add up."""
    if not line.deviation or line.exact is None or line.estimate.value is None or line.estimate.error is None:
        return 0.0
    used, seen = abs((line.estimate.value - line.exact) / line.deviation), line.estimate.error
    return math.sqrt(used - seen) * math.sqrt(used + seen) if used > seen else 0.0


def _check_replications(replications: int | None, seconds: float | None) -> int:
    if replications is None:
        return REPLICATIONS if seconds is None else MOST_REPLICATIONS
    count = as_whole(replications)
    if count is None or not 2 <= count <= MOST_REPLICATIONS:
        raise RequestError(
            f"replications are a whole number from 2, for an error to be known, to {MOST_REPLICATIONS}, "
            f"got {replications!r}."
        )
    return count


def _check_positive(name: str, value: float | None) -> None:
    if value is not None and not (as_real(value) or 0.0) > 0:
        raise RequestError(f"{name} is a finite number above 0, got {value!r}.")
