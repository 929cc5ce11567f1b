r"""Scenarios of demand in a file: listed with their probabilities, or drawn from a law.

A law becomes `count` scenarios that are equally probable, drawn by inversion of uniform numbers: row by row, cell by
cell, :math:`u_{sk}` is the next number of ``numpy.random.default_rng(seed).random()``, and the demand of cell k in
scenario s is

* of law ``"poisson"`` the least n with :math:`P(N \le n) \ge u_{sk}`, where N is Poisson with the cell's mean;
* of law ``"normal"`` the whole number nearest to :math:`m_k + \sigma_k \Phi^{-1}(u_{sk})` (halves to the even one), or
  0 if that is negative; with :math:`\sigma_k = 0` the mean, rounded.

So the same seed gives the same scenarios, and with larger means no demand of any scenario is smaller.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...data import Choice, Data, Number, OneOf, Reader, Refusal, Rows, entry, is_number
from ...errors import InstanceError
from .reaching import ROUNDING

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Scenarios of a problem: each has loads of its own.
MOST_SCENARIOS = 500

#: Means and deviations up to this; sums over cells stay exact.
MOST = 1e9

FORM = 'scenarios are a list of {"probability": p, "demand": clients of each site}, one at least, or a law of demand.'


@dataclass(frozen=True, eq=False)
class Scenario:
    """What the demand may be.

    Parameters
    ----------
    probability
        How probable it is.
    demand
        Clients of each cell.
    """

    probability: float
    demand: Ints


@dataclass(frozen=True)
class DrawnScenarios:
    """A law from which scenarios are drawn, see `optmodels.placement.scenarios.data`.

    Parameters
    ----------
    law
        ``"poisson"`` or ``"normal"``.
    mean
        Of the demand of each cell, as in the file.
    deviation
        Standard deviation, one number or one for each cell; of law ``"normal"`` alone.
    count
        How many scenarios, all equally probable.
    seed
        Same seed: same scenarios.
    """

    law: Literal["poisson", "normal"]
    mean: Any
    deviation: Any = None
    count: int = 20
    seed: int = 0

    def to_data(self) -> dict[str, Any]:
        """The form in an instance file."""
        return {name: value for name, value in vars(self).items() if value is not None}

    def draw(self, mean: Floats, deviation: Floats | None) -> list[Scenario]:
        """Draw the scenarios, given mean and deviation of each cell."""
        uniform = np.random.default_rng(self.seed).random((self.count, len(mean)))
        if self.law == "poisson":
            drawn = _poisson(uniform, mean)
        else:
            from scipy.special import ndtri

            assert deviation is not None
            # An infinite quantile (of the number 0, which is drawn once in 2^53) times deviation 0 is no number.
            spread = np.where(deviation > 0, deviation * ndtri(np.maximum(uniform, 2.0**-54)), 0.0)
            drawn = np.maximum(np.rint(mean + spread), 0.0)
        return [Scenario(1.0 / self.count, row) for row in drawn.astype(np.int64)]


def _poisson(uniform: Floats, mean: Floats) -> Floats:
    """Find the least n of which a Poisson number with such a mean is no larger, with a probability of `uniform`."""
    from scipy.special import pdtr, pdtrik

    least: Floats = np.zeros(uniform.shape)
    some = np.broadcast_to(mean > 0, uniform.shape)
    wanted, means = uniform[some], np.broadcast_to(mean, uniform.shape)[some]
    found = np.maximum(np.ceil(np.nan_to_num(pdtrik(wanted, means))), 0.0)
    while (low := (found > 0) & (pdtr(found - 1, means) >= wanted)).any():
        found -= low
    while (high := pdtr(found, means) < wanted).any():
        found += high
    least[some] = found
    return least


# -- fields -----------------------------------------------------------------------------------------------------------

_NOT_NEGATIVE = "means and deviations of demand are numbers, zero or more."


def _by_site(form: str, kind: str, rule: str) -> Reader:
    """A field of numbers by site, which is looked at once the sites are known."""
    number = {"type": kind, "minimum": 0}
    listed = {"type": "array", "items": {"anyOf": [number, {"type": "array", "items": number}]}}
    return Reader(lambda value: value, {**listed, "form": form, "rule": rule})


class ScenarioData(Data):
    """One of the scenarios of demand."""

    form = FORM
    needed = "a scenario needs its probability and its demand."

    probability: Annotated[float, Number("probabilities are above 0 and at most 1.", above=0, most=1)] = entry(
        "how probable the scenario is; all of them sum to 1"
    )
    demand: Annotated[Any, _by_site("whole number by site", "integer", "demands are whole numbers, zero or more.")] = (
        entry("number of clients at each site")
    )


class LawData(Data):
    """A law of demand."""

    form = FORM
    needed = 'a law of demand needs "law", "mean" and "count".'

    law: Annotated[Literal["poisson", "normal"], Choice('a law of demand is "poisson" or "normal".')] = entry(
        "instead: scenarios are drawn, independent and equally probable"
    )
    mean: Annotated[Any, _by_site("number by site", "number", _NOT_NEGATIVE)] = entry("mean number of clients")
    deviation: Annotated[Any, _by_site("number, or one by site", "number", _NOT_NEGATIVE)] = entry(
        'standard deviation, for "normal" alone', optional=True
    )
    count: Annotated[
        int,
        Number(
            f"the number of scenarios is whole, from 1 to {MOST_SCENARIOS}.", least=1, most=MOST_SCENARIOS, whole=True
        ),
    ] = entry("how many scenarios")
    seed: Annotated[int, Number("a seed is a whole number, zero or more.", least=0, whole=True)] = entry(
        "same seed: same scenarios", default=0
    )

    def made(self) -> DrawnScenarios:
        """Make the law that is described."""
        if self.law == "normal" and self.deviation is None:
            raise InstanceError("law", self.law, "a normal demand needs its deviation.")
        if self.law == "poisson" and self.deviation is not None:
            raise InstanceError(
                "deviation", self.deviation, "that of a Poisson demand is the root of its mean; leave it out."
            )
        return DrawnScenarios(self.law, self.mean, self.deviation, self.count, self.seed)


def _form(value: Any) -> str:
    if isinstance(value, Mapping):
        return "law"
    if not isinstance(value, list | tuple):
        raise Refusal(FORM)
    return "listed"


_LISTED = Annotated[
    list[ScenarioData],
    Rows(FORM, most=MOST_SCENARIOS, many="at most {most} scenarios are supported, and there are {count}."),
]

#: What reads the field ``scenarios``: a list of `ScenarioData`, or `DrawnScenarios`.
ScenariosField = OneOf({"listed": _LISTED, "law": LawData}, tag=_form)


def check_probabilities(listed: list[ScenarioData], data: Any) -> None:
    """Refuse probabilities that do not sum to one."""
    total = math.fsum(one.probability for one in listed)
    if abs(total - 1.0) > ROUNDING:
        probabilities = [one["probability"] for one in data]
        raise InstanceError("data.scenarios", probabilities, f"probabilities sum to 1, and these to {total:.12g}.")


def numbers_by_site(values: list[tuple[str, Any]]) -> Floats:
    """Read entries with their places as numbers, zero or more."""
    for place, value in values:
        if not is_number(value) or value < 0:
            raise InstanceError(place, value, _NOT_NEGATIVE)
        if value > MOST:
            raise InstanceError(place, value, f"at most {MOST:.0f} is supported.")
    return np.array([float(value) for _, value in values])


# -- as they come from Python -----------------------------------------------------------------------------------------


def natural_scenarios(given: Any) -> Any:
    """Make plain data of scenarios that were kept."""
    if isinstance(given, DrawnScenarios):
        return given.to_data()
    if not isinstance(given, list | tuple):
        return given
    return [
        {"probability": one.probability, "demand": one.demand.tolist()} if isinstance(one, Scenario) else one
        for one in given
    ]


def rows_of(scenarios: Any) -> list[int] | None:
    """Rows and columns of the demand, or the mean, of the first scenario; ``None`` if it is no list of rows."""
    if isinstance(scenarios, Mapping):
        values = scenarios.get("mean")
    else:
        first = scenarios[0] if isinstance(scenarios, list) and scenarios else None
        values = first.get("demand") if isinstance(first, Mapping) else None
    if not isinstance(values, list) or not values or not isinstance(values[0], list):
        return None
    return [len(values), len(values[0])]


def by_rows(scenarios: Any, in_rows: Callable[[Any], Any]) -> Any:
    """Write flat lists by site as rows of a grid."""
    if isinstance(scenarios, Mapping):
        return {name: in_rows(value) if name in ("mean", "deviation") else value for name, value in scenarios.items()}
    if not isinstance(scenarios, list):
        return scenarios
    return [
        {**one, "demand": in_rows(one["demand"])} if isinstance(one, Mapping) and "demand" in one else one
        for one in scenarios
    ]
