r"""How good a run was at every moment, from its trace.

A run is a step curve: from :math:`t_i` on its best objective is :math:`v_i` and its best bound :math:`b_i`. Time is
seconds or evaluations. With :math:`r` the reference (an optimum, or the best value known), the *primal gap* of Berthold
(2013), for minimization, is

.. math::

   \gamma(v, r) = \begin{cases} 0 & v \le r, \\ 1 & \text{nothing found, or } v > 0 > r, \\
                                \dfrac{v - r}{\max(|v|, |r|)} & \text{otherwise.} \end{cases}

It lies in [0, 1] whatever the signs and units. Berthold's :math:`r` is an optimum; where it is only the best known and
a run beats it, the gap is 0 here. The *primal integral* over a horizon :math:`T` is

.. math::  P(T) = \int_0^T \gamma(v(t), r) \, dt,

and :math:`P(T) / T`, in [0, 1], is the mean gap over the horizon. What a run found it keeps until the horizon, however
early it ended. The *primal-dual integral* (Achterberg, Berthold and Hendel 2012) has :math:`\gamma(v(t), b(t))`
instead, which is 1 while there is no bound: it needs no reference, and punishes late proofs.

A *target* is a relative gap :math:`g`, reached when :math:`v - r \le (g + 10^{-9}) |r|`; the tolerance is the one of
proofs. The *time to target* is the first such moment, infinite without one. Of runs with times to target
:math:`\tau_k` that spent :math:`s_k`, the *expected running time* (Hansen et al. 2021) is

.. math::  \mathrm{ERT} = \frac{\sum_k \min(\tau_k, s_k)}{|\{k : \tau_k < \infty\}|},

the mean time until the first success if runs were repeated until there is one; infinite without a success.

References
----------
.. [1] T. Berthold, "Measuring the impact of primal heuristics", Operations Research Letters 41 (2013) 611-614.
.. [2] T. Achterberg, T. Berthold, G. Hendel, "Rounding and propagation heuristics for mixed integer programming",
   Operations Research Proceedings 2011 (2012) 71-76.
.. [3] N. Hansen, A. Auger, R. Ros, O. Mersmann, T. Tusar, D. Brockhoff, "COCO: a platform for comparing continuous
   optimizers in a black-box setting", Optimization Methods and Software 36 (2021) 114-144.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heuristics import OPTIMALITY_TOLERANCE, Result

from ..errors import RequestError
from .distributions import Distribution, Matrix, Vector, distribution_of

#: What time is counted in.
Clock = Literal["seconds", "evaluations"]

#: Targets that are told unless others are asked for: relative gaps to the reference.
TARGETS = (0.1, 0.01, 0.001, 0.0)


@dataclass(frozen=True, eq=False)
class StepCurve:
    """The best objective and the best bound of a run at every moment.

    Parameters
    ----------
    times
        When something improved, ascending, in units of `clock`.
    objectives
        The best from each of these moments on, never rising; infinite while nothing was found.
    bounds
        The best proved from each of these moments on, never falling; minus infinity while nothing was.
    end
        What the run spent.
    clock
        What time is counted in.
    """

    times: Vector
    objectives: Vector
    bounds: Vector
    end: float
    clock: Clock = "seconds"

    def at(self, times: ArrayLike) -> tuple[Vector, Vector]:
        """Look up objective and bound at each of some moments: infinite and minus infinite before the first."""
        place = np.searchsorted(self.times, np.asarray(times, float), side="right")
        return np.append(math.inf, self.objectives)[place], np.append(-math.inf, self.bounds)[place]


def curve_of(result: Result, clock: Clock = "seconds") -> StepCurve:
    """Read the step curve of a run from its trace, and from what it ended with.

    Parameters
    ----------
    result
        Of the run; a bound or objective that its trace does not have counts from the end of the run.
    clock
        What time is counted in.

    Returns
    -------
    StepCurve
        Times ascending, objectives never rising, bounds never falling.

    Examples
    --------
    >>> from heuristics import Exhaustive, run
    >>> from heuristics.testing import Knapsack
    >>> curve = curve_of(run(Knapsack(), Exhaustive()), "evaluations")
    >>> curve.objectives[-1], curve.bounds[-1], curve.end
    (np.float64(-18.0), np.float64(-18.0), 256.0)
    """
    _check_clock(clock)
    trace = result.trace
    end = float(getattr(result, clock))
    times = np.array([*(getattr(point, clock) for point in trace), end], float)
    objectives = _filled([*(point.objective for point in trace), result.objective], math.inf)
    bounds = _filled([*(point.bound for point in trace), result.bound], -math.inf)
    if (times[1:] < times[:-1]).any():  # a file may hold anything
        order = np.argsort(times, kind="stable")
        times, objectives, bounds = times[order], objectives[order], bounds[order]
    return StepCurve(times, np.fmin.accumulate(objectives), np.fmax.accumulate(bounds), end, clock)


def _filled(values: Iterable[float | None], missing: float) -> Vector:
    array = np.array([missing if value is None else value for value in values], float)
    array[np.isnan(array)] = missing
    return array


def _check_clock(clock: str) -> None:
    if clock not in ("seconds", "evaluations"):
        raise RequestError(f"time is counted in 'seconds' or 'evaluations', got {clock!r}.")


# -- gaps and integrals ------------------------------------------------------------------------------------------------


def primal_gap(objectives: ArrayLike, reference: float) -> Vector:
    """Measure the primal gap of Berthold (2013), which lies between 0 and 1.

    Parameters
    ----------
    objectives
        Values to judge; infinite (or not a number) where nothing was found.
    reference
        The optimum, or the best value known.

    Returns
    -------
    Vector
        0 at the reference and below it, 1 where nothing was found and where the value is positive and the reference
        negative, else their distance relative to the larger of the two.

    Raises
    ------
    RequestError
        If the reference is not a finite number.

    Examples
    --------
    >>> primal_gap([10.0, 12.5, -1.0, float("inf")], 10.0).tolist()
    [0.0, 0.2, 0.0, 1.0]
    >>> primal_gap([-4.0, 0.0, 3.0], -5.0).tolist()
    [0.2, 1.0, 1.0]
    """
    _check_reference(reference)
    return _gap(np.asarray(objectives, float), np.float64(reference))


def primal_dual_gap(objectives: ArrayLike, bounds: ArrayLike) -> Vector:
    """Measure the distance of objectives to bounds, relative to the larger of the two.

    Parameters
    ----------
    objectives
        Best values; infinite where nothing was found.
    bounds
        Best bounds, as many; minus infinity where nothing was proved.

    Returns
    -------
    Vector
        0 where the bound meets the objective, 1 where one of them is missing or their signs differ.

    Examples
    --------
    >>> primal_dual_gap([10.0, 10.0, 10.0], [10.0, 5.0, float("-inf")]).tolist()
    [0.0, 0.5, 1.0]
    """
    return _gap(np.asarray(objectives, float), np.asarray(bounds, float))


def _gap(values: Vector, references: Vector | np.float64) -> Vector:
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        gaps = (values - references) / np.maximum(np.abs(values), np.abs(references))
        opposed = (values > 0) & (references < 0)
        missing = ~(np.isfinite(values) & np.isfinite(references))
        return np.where(missing | opposed, 1.0, np.where(values <= references, 0.0, gaps))


def primal_integral(curve: StepCurve, reference: float, horizon: float, *, normalized: bool = False) -> float:
    """Integrate the primal gap of a run from its start to a horizon (Berthold 2013).

    Parameters
    ----------
    curve
        Of the run.
    reference
        The optimum, or the best value known.
    horizon
        Until when, in the unit of the curve's clock; the same for all runs that are compared.
    normalized
        Divide by the horizon, which gives the mean gap, between 0 and 1.

    Returns
    -------
    float
        In the unit of the clock, or without a unit.

    Examples
    --------
    Nothing for 1 s, a gap of 0.5 for 2 s, then the optimum:

    >>> import numpy as np
    >>> curve = StepCurve(np.array([1.0, 3.0]), np.array([20.0, 10.0]), np.array([-np.inf, 10.0]), end=4.0)
    >>> primal_integral(curve, 10.0, 10.0), primal_integral(curve, 10.0, 10.0, normalized=True)
    (2.0, 0.2)
    """
    return _integral(curve.times, primal_gap(curve.objectives, reference), horizon, normalized)


def primal_dual_integral(curve: StepCurve, horizon: float, *, normalized: bool = False) -> float:
    """Integrate the gap between objective and bound of a run from its start to a horizon.

    Parameters
    ----------
    curve
        Of the run.
    horizon
        Until when, in the unit of the curve's clock; the same for all runs that are compared.
    normalized
        Divide by the horizon, which gives the mean gap, between 0 and 1.

    Returns
    -------
    float
        In the unit of the clock, or without a unit; the whole horizon if nothing was ever proved.

    Examples
    --------
    >>> import numpy as np
    >>> curve = StepCurve(np.array([1.0, 3.0]), np.array([20.0, 10.0]), np.array([-np.inf, 10.0]), end=4.0)
    >>> primal_dual_integral(curve, 10.0)
    3.0
    """
    return _integral(curve.times, primal_dual_gap(curve.objectives, curve.bounds), horizon, normalized)


def _integral(times: Vector, gaps: Vector, horizon: float, normalized: bool) -> float:
    """Integrate steps; before the first of them the gap is 1."""
    if not (0 < horizon < math.inf):
        raise RequestError(f"a horizon is a positive, finite number, got {horizon!r}.")
    edges = np.concatenate([[0.0], np.clip(times, 0.0, horizon), [horizon]])
    total = float(np.diff(edges) @ np.append(1.0, gaps))
    return total / horizon if normalized else total


# -- targets -----------------------------------------------------------------------------------------------------------


def times_to_targets(curve: StepCurve, reference: float, targets: ArrayLike = TARGETS) -> Vector:
    """Find when a run first came within relative gaps of a reference.

    Parameters
    ----------
    curve
        Of the run.
    reference
        The optimum, or the best value known.
    targets
        Relative gaps, zero or more; proofs have a tolerance of 1e-9, and so have these.

    Returns
    -------
    Vector
        A moment for each target, in the unit of the curve's clock; infinite where it was never reached.

    Examples
    --------
    >>> import numpy as np
    >>> curve = StepCurve(np.array([1.0, 3.0]), np.array([10.5, 10.0]), np.full(2, -np.inf), end=4.0)
    >>> times_to_targets(curve, 10.0, [0.1, 0.01, 0.0]).tolist()
    [1.0, 3.0, 3.0]
    >>> times_to_targets(curve, 9.0, [0.1]).tolist()
    [inf]
    """
    _check_reference(reference)
    gaps = np.atleast_1d(np.asarray(targets, float))
    if not (gaps >= 0).all():
        raise RequestError(f"targets are relative gaps, zero or more, got {np.asarray(targets).tolist()}.")
    with np.errstate(over="ignore"):
        above = curve.objectives - reference
        # The objectives never rise, so that those above a target come first: count them.
        first = np.searchsorted(-above, -((gaps + OPTIMALITY_TOLERANCE) * abs(reference)), side="left")
    return np.append(curve.times, math.inf)[first]


def expected_running_time(times: ArrayLike, spent: ArrayLike) -> Vector:
    """Estimate the time until the first success if runs are repeated until there is one.

    Parameters
    ----------
    times
        Times to targets, infinite without success: runs along the first axis, anything along the others.
    spent
        What each run spent in all, or is charged.

    Returns
    -------
    Vector
        The expected running time along the first axis: what all runs took until they succeeded or ended, over the
        number of successes; infinite without one.

    Examples
    --------
    Two runs succeed after 1 s and 3 s, a third fails after 10 s:

    >>> float(expected_running_time([1.0, 3.0, float("inf")], [10.0, 10.0, 10.0]))
    7.0
    """
    hits = np.asarray(times, float)
    ends = np.asarray(spent, float).reshape(-1, *[1] * (hits.ndim - 1))
    successes = np.isfinite(hits).sum(axis=0)
    taken = np.where(np.isfinite(hits), hits, ends).sum(axis=0)
    return np.where(successes > 0, taken / np.maximum(successes, 1), math.inf)


def ecdf(times: Matrix | Sequence[Matrix]) -> Distribution:
    """Make the distribution of times to targets over all triples of instance, seed and target (COCO).

    Parameters
    ----------
    times
        Times to targets, infinite where a target was never reached: an array of any shape, or one for each instance.

    Returns
    -------
    Distribution
        The share of triples whose target was reached, by time.

    Examples
    --------
    >>> import numpy as np
    >>> reached = ecdf([np.array([[1.0, 2.0], [1.0, np.inf]]), np.array([[4.0, np.inf]])])
    >>> reached.at([1.0, 2.0, 10.0]).tolist()
    [0.3333333333333333, 0.5, 0.6666666666666666]
    """
    arrays: list[NDArray[np.float64]] = [np.asarray(one, float).ravel() for one in times]
    return distribution_of(np.concatenate(arrays) if arrays else np.empty(0))


def _check_reference(reference: float) -> None:
    if not math.isfinite(reference):
        raise RequestError(f"a reference is a finite number, got {reference!r}.")
