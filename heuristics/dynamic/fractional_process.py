r"""Markov decision processes whose cost is an average plus a quotient of averages, with a certificate.

Let x be the share of time in each state and action; averages are linear in x, and the shares of all policies, also
randomised ones, form a polytope X. To be minimised is

.. math::  J(x) = c(x) + n(x) / d(x), \qquad d > 0.

*From above.* At a policy with averages c, n, d the linear cost :math:`c + n/d_0 - (n_0/d_0^2)\, d` has the slope of J;
the policy that minimises it is the next, until J no longer falls.

*From below.* With :math:`\alpha = 1/d(x)`, for any number :math:`\lambda`,

.. math::  J(x) = c + \alpha n + \lambda d - \lambda/\alpha \ge G(\alpha, \lambda) - \lambda/\alpha, \qquad
           G(\alpha, \lambda) = \min_X [c + \alpha n + \lambda d],

G an ordinary decision process, and concave in both arguments as a minimum of linear functions. So two points
:math:`(\alpha_i, \lambda_i)` with lower bounds :math:`G_i` of G bound J for all x with :math:`1/d(x)` between
:math:`\alpha_1` and :math:`\alpha_2`: with G and :math:`\lambda` interpolated linearly in :math:`\alpha` the bound is

.. math::  J \ge g_0 + g_1 \alpha - (l_0 + l_1 \alpha)/\alpha,

whose least value on the interval is known in closed form. Intervals that cover all of X are halved where the bound is
lowest, until it meets the best policy. At one :math:`\alpha` the best :math:`\lambda` makes the bound exact (duality of
linear programs), and at a best policy that is better than its neighbours the bound of a whole interval around it is; so
few intervals are needed. The bound holds for randomised policies too. Where one of these is better than every
deterministic policy, the gap stays open and its size is the answer: the value of the best randomised policy is told.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..protocols import Vector
from .decision_process import Actions, DecisionProcess, EvaluatedPolicy, Watch, evaluate_policy, solve_process

#: Columns of the costs of a fractional process.
LINEAR, NUMERATOR, DENOMINATOR = range(3)

#: Relative gap at which the bound is good enough.
GAP = 1e-11

#: Rounding of costs that cancel, relative to their size.
ROUNDING = 1e-15

#: Most intervals.
PIECES = 500

#: Steps, each to a tenth, towards denominators that vanish.
FARTHER = 6

#: Steps in search of the best multiplier at one point.
MULTIPLIERS = 60

#: Factor from one multiplier to the next where all policies lean to one side, as long as the best is this far away.
PUSH, FAR = 8.0, 1e-7


@dataclass(frozen=True)
class Point:
    """A lower bound of G at one place.

    Attributes
    ----------
    inverse, multiplier
        alpha and lambda.
    lowest
        no policy has c + alpha n + lambda d below this.
    """

    inverse: float
    multiplier: float
    lowest: float

    @property
    def value(self) -> float:
        """The bound of J at this alpha."""
        return self.lowest - self.multiplier / self.inverse


@dataclass(frozen=True)
class Piece:
    """All policies whose 1/d lies between two points."""

    left: Point
    right: Point

    @cached_property
    def lowest(self) -> tuple[float, float]:
        r"""Least bound between the points, and where it is.

        At :math:`\alpha = a + \theta w` the bound is :math:`q(0) + \theta (\Delta G - k/\alpha)`, k the change of
        :math:`\lambda` beyond that of :math:`\alpha \lambda_1/a`: differences are taken of near numbers only.
        """
        left, right = self.left, self.right
        a, b = left.inverse, right.inverse
        rise = right.lowest - left.lowest
        turn = right.multiplier - left.multiplier - (b - a) * left.multiplier / a
        places = [(left.value, a), (right.value, b)]
        if turn > 0 and rise > 0:  # convex: it may dip in between
            place = math.sqrt(turn * a / rise)
            if a < place < b:
                places.append((left.value + (place - a) / (b - a) * (rise - turn / place), place))
        return min(places)


@dataclass
class FractionalSearch:
    """A search under way: it can be ended at any moment, and what it knows then stands.

    Attributes
    ----------
    process
        Columns of its costs: c, n, d. The average of d must be positive under some policy, and never negative.
    watch
        Called before each evaluation of a policy.
    policy, value
        The best policy met and its J.
    averages
        Its averages of c, n, d.
    bound
        No policy, randomised or not, has a lower J; minus infinity before anything is known.
    randomised
        Least J of a randomised policy met.
    evaluations
        Policies evaluated.
    pieces
        Intervals that prove the bound.
    """

    process: DecisionProcess
    watch: Watch | None = None
    policy: Actions | None = None
    value: float = math.inf
    averages: tuple[float, float, float] = (math.nan, math.nan, math.nan)
    bound: float = -math.inf
    randomised: float = math.inf
    evaluations: int = 0
    pieces: int = 0
    _met: list[tuple[NDArray[Any], Vector]] = field(default_factory=list)

    # -- from above ----------------------------------------------------------------------------------------------------

    def descend(self, start: Actions | None = None) -> None:
        """Go from policy to policy by the slope of J until it no longer falls.

        A first policy without anything in the denominator is replaced by the one with the most.
        """
        if start is None:
            first = self._solve(0.0, 0.0, None)
        else:
            self._count(None)
            first = evaluate_policy(self.process, (1.0, 0.0, 0.0), start)
            self._meet(first)
        if not first.gains[DENOMINATOR] > 0:
            self._solve(0.0, -1.0, first.policy, linear=0.0)
        if self.policy is None:
            raise ValueError("the denominator is 0 under every policy, so that the cost has no value.")
        while True:
            before = self.value
            _, numerator, denominator = self.averages
            self._solve(1.0 / denominator, -numerator / denominator**2, self.policy)
            if not self.value < before - self._slack(before):
                return

    # -- from below ----------------------------------------------------------------------------------------------------

    def certify(self) -> None:
        """Raise the bound until it meets the best policy, or the best randomised one, or nothing more is gained."""
        most = -self._solve(0.0, -1.0, self.policy, linear=0.0).bound
        fewest = self._solve(0.0, 1.0, self.policy, linear=0.0).bound
        low = 1.0 / most
        # A denominator that is nothing but rounding is none.
        tail = fewest <= 1e-12 * most
        high = 1e3 * low if tail else 1.0 / fewest
        high = max(high, low * (1.0 + 1e-12))
        end = self._point(high)
        pieces = [Piece(self._point(low), end)]
        rest = math.inf
        if tail:
            rest = self._beyond(end)
            for _ in range(FARTHER):
                if rest >= self._goal():
                    break
                before, end = end, self._point(10.0 * end.inverse)
                pieces.append(Piece(before, end))
                rest = self._beyond(end)
        while True:
            pieces.sort(key=lambda piece: piece.lowest[0])
            first = pieces[0]
            lowest, where = first.lowest
            self.bound = max(self.bound, min(lowest, rest))
            self.pieces = len(pieces)
            left, right = first.left.inverse, first.right.inverse
            if lowest >= self._goal() or right - left <= 1e-13 * right or len(pieces) >= PIECES:
                return
            # Near an end the lowest place would be cut off in ever thinner slices.
            margin = 0.1 * (right - left)
            middle = self._point(min(max(where, left + margin), right - margin))
            pieces[:1] = [Piece(first.left, middle), Piece(middle, first.right)]

    def _goal(self) -> float:
        """Compute a bound that is good enough: no more than what is attained."""
        known = min(self.value, self.randomised)
        return known - self._slack(known)

    def _slack(self, value: float) -> float:
        """Compute what is too little to matter: a part of the value, and rounding where its two parts cancel."""
        linear, numerator, denominator = self.averages
        return GAP * abs(value) + ROUNDING * (abs(linear) + abs(numerator / denominator))

    def _point(self, inverse: float) -> Point:
        """Find the multiplier that makes the bound at one alpha as high as possible.

        Every policy is a line over multipliers, c + alpha n + lambda (d - 1/alpha); G is below all of them. The lowest
        rising and the lowest falling line cross above the best multiplier, and the search ends where G meets the cross.
        """
        denominator = 1.0 / inverse
        multiplier, best, push = 0.0, Point(inverse, 0.0, -math.inf), 1.0
        for _ in range(MULTIPLIERS):
            heights, slopes = self._lines(inverse)
            multiplier, level = _highest(heights, slopes - denominator, multiplier)
            leaning = math.isinf(level)
            if leaning:  # the least or the most denominator there is: the farther out, the better
                multiplier, push = push * multiplier, PUSH * push
            known = len(self._met)
            found = self._solve(inverse, multiplier, self._nearest(inverse, multiplier))
            tried = Point(inverse, multiplier, found.bound)
            gained = tried.value > best.value + 0.1 * self._slack(tried.value)
            best = max(best, tried, key=lambda point: point.value)
            distance = abs(float(found.gains[DENOMINATOR]) / denominator - 1.0)
            if leaning and gained and distance > FAR and push < PUSH**8:
                continue
            close = found.gain - multiplier * denominator >= level - 0.1 * self._slack(level)
            if close and slopes.min() <= denominator <= slopes.max():
                # Policies of either slope cross here: a mixture of two has just this denominator, and this J.
                self.randomised = min(self.randomised, level)
            if close or len(self._met) == known:
                break
        return best

    def _beyond(self, end: Point) -> float:
        r"""Bound J for all smaller denominators, down to 0.

        If n >= t d everywhere, :math:`G(\alpha + s, \lambda - s t) \ge G(\alpha, \lambda)` for s >= 0, and J is at
        least :math:`G - (\lambda - s t)/(\alpha + s)`, which moves from :math:`G - \lambda/\alpha` to :math:`G + t`.
        """
        _, numerator, denominator = self.averages
        quotient = numerator / denominator
        sizes = np.abs(self.process.costs).max(axis=(1, 2))
        for _ in range(50):  # Dinkelbach: the least quotient of all
            found = self._solve(1.0, -quotient, None, linear=0.0)
            if found.bound >= -1e-12 * (sizes[NUMERATOR] + abs(quotient) * sizes[DENOMINATOR]):
                return min(end.value, end.lowest + quotient)
            if not found.gains[DENOMINATOR] > 0:
                return -math.inf  # something is paid for nothing
            quotient = float(found.gains[NUMERATOR] / found.gains[DENOMINATOR])
        return -math.inf

    # -- inside --------------------------------------------------------------------------------------------------------

    def _lines(self, inverse: float) -> tuple[Vector, Vector]:
        """Return c + alpha n and d of each policy met."""
        gains = np.array([gains for _, gains in self._met])
        return gains[:, LINEAR] + inverse * gains[:, NUMERATOR], gains[:, DENOMINATOR]

    def _nearest(self, inverse: float, multiplier: float) -> Actions:
        """Find the policy that is best here, of all that were met."""
        heights, slopes = self._lines(inverse)
        return self._met[int(np.argmin(heights + multiplier * slopes))][0].astype(np.int64)

    def _solve(self, inverse: float, multiplier: float, start: Actions | None, linear: float = 1.0) -> EvaluatedPolicy:
        """Minimise the weighted sum of c, n and d."""
        found = solve_process(self.process, (linear, inverse, multiplier), start, watch=self._count)
        self._meet(found)
        return found

    def _count(self, best: EvaluatedPolicy | None) -> None:
        """Note a policy that was met, and count the next."""
        if best is not None:
            self._meet(best)
        if self.watch is not None:
            self.watch(best)
        self.evaluations += 1

    def _meet(self, found: EvaluatedPolicy) -> None:
        """Remember a policy, and whether it is the best."""
        linear, numerator, denominator = (float(value) for value in found.gains)
        small = found.policy.astype(np.min_scalar_type(self.process.actions))
        if not any(np.array_equal(small, policy) for policy, _ in self._met):
            self._met.append((small, found.gains))
        if denominator > 0:
            value = linear + numerator / denominator
            if value < self.value:
                self.value, self.policy, self.averages = value, found.policy, (linear, numerator, denominator)


def _highest(heights: Vector, slopes: Vector, start: float) -> tuple[float, float]:
    """Find where the lowest of some lines over multipliers is highest; far out where all lean to one side."""
    rising, falling = slopes > 0, slopes < 0
    if not rising.any() or not falling.any():
        spread = float(np.ptp(heights)) or float(np.abs(heights).max()) or 1.0
        step = 4.0 * spread / max(float(np.abs(slopes).max()), 1e-300)
        place = step if rising.any() else -step if falling.any() else start
        return place, math.inf if place else float(heights.min())
    one = int(np.argmin(np.where(rising, heights, np.inf)))
    other = int(np.argmin(np.where(falling, heights, np.inf)))
    for _ in range(2 * len(heights)):
        place = (heights[other] - heights[one]) / (slopes[one] - slopes[other])
        level = heights[one] + place * slopes[one]
        lowest = int(np.argmin(heights + place * slopes))
        if lowest in (one, other) or heights[lowest] + place * slopes[lowest] >= level - 1e-15 * abs(level):
            break
        if slopes[lowest] > 0:
            one = lowest
        elif slopes[lowest] < 0:
            other = lowest
        else:
            return float(place), float(heights[lowest])
    return float(place), float(level)
