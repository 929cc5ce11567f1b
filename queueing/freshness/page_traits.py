r"""Pages that change and are visited by a robot: what of them matters, as numbers that doubles can hold.

A page that changes at rate :math:`\mu` and costs c per unit of time out of date, visited in accesses that take an
independent time X each, matters by its load :math:`q = \mu E[X]`, its decay :math:`\ell = -\ln E e^{-\mu X}` and its
worth :math:`a = c / q`, the most that one more visit per slot can save. The notation is that of Coffman, Liu and Weber
(1998), see :mod:`queueing.freshness.staleness`.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from ..numerics import Vector, equally_many
from ..processes import AccessTime, decays_and_deficits, not_negative_numbers

#: Smaller loads have squares that no double can hold, larger numbers have such sums.
LEAST, MOST = 1e-140, 1e290


class PageError(ValueError):
    """A page whose numbers doubles cannot hold, with their squares and sums.

    Parameters
    ----------
    page, rate
        which one, and its change rate.
    weight
        its weight.
    mean
        mean time of an access.

    Attributes
    ----------
    rule
        what they must be, as the rest of a sentence.

    Examples
    --------
    >>> from queueing import Constant, traits
    >>> from queueing.freshness import PageError
    >>> try:
    ...     traits([0.5, 1e-320], [1.0, 1.0], Constant(1.0))
    ... except PageError as error:
    ...     print(error.page)
    1
    """

    def __init__(self, page: int, rate: float, weight: float, mean: float) -> None:
        self.page, self.rate = page, rate
        self.rule = (
            f"with the weight {weight!r} and the mean access time {mean!r}, rate x time and weight over it must be "
            f"numbers that a double can hold with their squares and sums ({LEAST:g} to {MOST:g}); choose units in "
            "which they are nearer to 1."
        )
        super().__init__(f"rates[{page}] is {rate!r}; {self.rule}")


@dataclass(frozen=True, eq=False)
class Traits:
    """What matters about pages that change and are visited by a robot; `traits` makes it.

    Attributes
    ----------
    rates
        mu: changes of each page per unit of time.
    weights
        c: what a unit of time out of date costs.
    mean
        E[X]: mean time of an access.
    decays
        l = -ln E exp(-mu X).
    deficits
        mu E[X] - l.
    worths
        a = c / (mu E[X]): the largest value of one more visit per slot; 0 for a page that never changes.

    Examples
    --------
    >>> from queueing import Constant, traits
    >>> pages = traits(rates=[0.5, 0.1], weights=[1.0, 2.0], law=Constant(1.0))
    >>> len(pages), pages.decays, pages.worths
    (2, array([0.5, 0.1]), array([ 2., 20.]))
    """

    rates: Vector
    weights: Vector
    mean: float
    decays: Vector
    deficits: Vector
    worths: Vector

    def __len__(self) -> int:
        return len(self.rates)

    @cached_property
    def loads(self) -> Vector:
        """Changes q = mu E[X] of each page in the time of one access."""
        return self.rates * self.mean

    @property
    def columns(self) -> tuple[Vector, Vector, Vector, Vector, Vector]:
        """What bounds are made of: weights, loads, decays, deficits, worths."""
        return self.weights, self.loads, self.decays, self.deficits, self.worths

    def of(self, chosen: NDArray[np.int64]) -> "Traits":
        """The traits of some of the pages."""
        weights, _, decays, deficits, worths = (column[chosen] for column in self.columns)
        return Traits(self.rates[chosen], weights, self.mean, decays, deficits, worths)


def refuse_where(
    wrong: NDArray[np.bool_], name: str, values: NDArray[np.generic], rule: str, remedy: str = "give one"
) -> None:
    """Refuse the first number with which something is wrong: its place, the rule, and what to do."""
    if wrong.any():
        place = int(np.argmax(wrong))
        raise ValueError(f"{name}[{place}] must be {rule}, but it is {values[place].item()!r}; {remedy}.")


def traits(rates: ArrayLike, weights: ArrayLike, law: AccessTime) -> Traits:
    """Compute the traits of pages with these change rates and weights, visited in accesses of this law.

    Parameters
    ----------
    rates, weights
        mu, changes of each page per unit of time, and c, what a unit of time out of date costs; at least 0.
    law
        of the time X of one access.

    Returns
    -------
    Traits
        loads, decays and worths of the pages; `PageError` is raised for numbers that doubles cannot hold.

    Examples
    --------
    >>> from queueing import Exponential, traits
    >>> traits([0.5, 0.1], [1.0, 2.0], Exponential(1.0)).decays.round(6)
    array([0.405465, 0.09531 ])
    """
    changes, costs = not_negative_numbers("rates", rates), not_negative_numbers("weights", weights)
    equally_many("rates and weights", len(changes), len(costs), "give one weight for each page.")
    mean = law.mean
    decays, deficits = decays_and_deficits(*law.kernel(), changes)
    worths, wrong = _worths(changes, costs, mean, decays)
    if wrong >= 0:
        raise PageError(wrong, float(changes[wrong]), float(costs[wrong]), mean)
    return Traits(changes, costs, mean, decays, deficits, worths)


@njit(cache=True)
def _worths(rates: Vector, weights: Vector, mean: float, decays: Vector) -> tuple[Vector, int]:
    worths = np.zeros(len(rates))
    for index in range(len(rates)):
        load = rates[index] * mean
        if not load < np.inf or not decays[index] < np.inf:
            return worths, index
        if rates[index] > 0.0 and weights[index] > 0.0:
            if load == 0.0 or decays[index] == 0.0:
                return worths, index
            worths[index] = weights[index] / load
            if not worths[index] < np.inf:
                return worths, index
    return worths, -1


def refuse_extremes(pages: Traits) -> None:
    """Refuse pages with numbers that are too small to be squared, or too large for sums: costs would be rounding.

    Parameters
    ----------
    pages
        what `traits` made of them; `PageError` is raised for the first that is refused.

    Examples
    --------
    >>> from queueing import Constant, traits
    >>> from queueing.freshness import PageError, refuse_extremes
    >>> refuse_extremes(traits([0.5, 0.1], [1.0, 2.0], Constant(1.0)))
    >>> try:
    ...     refuse_extremes(traits([0.5, 1e-200], [1.0, 2.0], Constant(1.0)))
    ... except PageError as error:
    ...     print(error.page)
    1
    """
    wrong = int(_first_extreme(pages.rates, pages.weights, pages.mean, pages.worths))
    if wrong >= 0:
        raise PageError(wrong, float(pages.rates[wrong]), float(pages.weights[wrong]), pages.mean)


@njit(cache=True)
def _first_extreme(rates: Vector, weights: Vector, mean: float, worths: Vector) -> int:
    for index in range(len(rates)):
        load = rates[index] * mean
        if max(load, rates[index], weights[index], worths[index]) > MOST or (worths[index] > 0.0 and load < LEAST):
            return index
    return -1
