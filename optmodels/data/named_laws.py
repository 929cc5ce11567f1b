"""Laws of times and of arrivals for Python: small values that fields of problems take where a file has an object.

>>> patience = exponential(mean=10)
>>> patience, patience.mean, patience.to_data()
(exponential(mean=10.0), 10.0, {'law': 'exponential', 'mean': 10.0})
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeAlias

from numpy.typing import ArrayLike

from .given import by_field, plain
from .laws import FORM, LAWS, PROCESSES
from .models import OneOf, Spoken, read_as


@dataclass(frozen=True, repr=False)
class NamedLaw(Spoken):
    """A law by its name and its parameters; equal to every other that says the same.

    Parameters
    ----------
    law
        The name, as in files.
    parameters
        Names and values, in the order of the function that makes it.
    mean
        Mean of the time; of arrivals, mean time from one to the next.

    Examples
    --------
    >>> import optmodels as om
    >>> om.erlang(3, mean=2.0)
    erlang(stages=3, mean=2.0)
    >>> om.erlang(3, mean=2.0) == om.erlang(stages=3, mean=2)
    True
    """

    law: str
    parameters: tuple[tuple[str, Any], ...]
    mean: float = field(compare=False)

    def __repr__(self) -> str:
        listed = ", ".join(f"{name}={_thawed(value)!r}" for name, value in self.parameters)
        return f"{self.law.replace('-', '_')}({listed})"

    def to_data(self) -> dict[str, Any]:
        """Write the law as it stands in a file.

        Returns
        -------
        dict
            ``law`` with its name, and its parameters.
        """
        return {"law": self.law, **{name: _thawed(value) for name, value in self.parameters}}


_Any: TypeAlias = Annotated[Any, OneOf(LAWS | PROCESSES, FORM)]


def _named(law: str, given: Mapping[str, Any]) -> NamedLaw:
    """Make the law of these parameters; what its model refuses is told of the parameter."""
    data = {name: plain(value) for name, value in given.items()}
    with by_field():
        made = read_as(_Any, {"law": law, **data}, "")
    process = getattr(made, "process", None)  # of arrivals that are a Markov chain
    mean = getattr(made, "law", made).mean if process is None or law not in PROCESSES else 1.0 / process.rate
    return NamedLaw(law, tuple((name, _frozen(value)) for name, value in data.items()), float(mean))


def _frozen(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(_frozen(entry) for entry in value)
    return value


def _thawed(value: Any) -> Any:
    return [_thawed(entry) for entry in value] if isinstance(value, tuple) else value


def _number(value: Any) -> Any:
    """A number as floating point; what is none is refused by the model of the law."""
    value = plain(value)
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


# -- times ------------------------------------------------------------------------------------------------------------


def constant(value: float) -> NamedLaw:
    """Say that every time is the same.

    Parameters
    ----------
    value
        The time, above 0.

    Returns
    -------
    NamedLaw
        For a field that holds the law of a time.

    Raises
    ------
    RequestError
        If the time is no number above 0.

    Examples
    --------
    >>> import optmodels as om
    >>> om.constant(0.5)
    constant(value=0.5)
    >>> om.constant(-1)
    Traceback (most recent call last):
    optmodels.errors.InstanceError: value is -1.0; times are finite numbers above 0.
    """
    return _named("constant", {"value": _number(value)})


def exponential(mean: float) -> NamedLaw:
    """Say that times are exponential.

    Parameters
    ----------
    mean
        Mean time, above 0.

    Returns
    -------
    NamedLaw
        For a field that holds the law of a time, by phases or not.

    Raises
    ------
    RequestError
        If the mean is no number above 0.

    Examples
    --------
    >>> import optmodels as om
    >>> om.exponential(mean=10).to_data()
    {'law': 'exponential', 'mean': 10.0}
    """
    return _named("exponential", {"mean": _number(mean)})


def erlang(stages: int, mean: float) -> NamedLaw:
    """Say that times are sums of exponential times of one mean.

    Parameters
    ----------
    stages
        How many times are summed.
    mean
        Mean of the sum, above 0.

    Returns
    -------
    NamedLaw
        For a field that holds the law of a time, by phases or not.

    Raises
    ------
    RequestError
        If a parameter is none of this.

    Examples
    --------
    >>> import optmodels as om
    >>> om.erlang(4, mean=2).mean
    2.0
    """
    return _named("erlang", {"stages": stages, "mean": _number(mean)})


def hyperexponential(probabilities: ArrayLike, means: ArrayLike) -> NamedLaw:
    """Say that times are exponential, and the mean of each is drawn first.

    Parameters
    ----------
    probabilities
        Of each mean; they sum to 1.
    means
        Mean times, above 0.

    Returns
    -------
    NamedLaw
        For a field that holds the law of a time, by phases or not.

    Raises
    ------
    RequestError
        If a parameter is none of this.

    Examples
    --------
    >>> import optmodels as om
    >>> om.hyperexponential([0.5, 0.5], [1.0, 3.0]).mean
    2.0
    """
    return _named("hyperexponential", {"probabilities": probabilities, "means": means})


def phase_type(initial: ArrayLike, generator: ArrayLike) -> NamedLaw:
    """Say that times are those until a chain of phases ends.

    Parameters
    ----------
    initial
        Probability of beginning in each phase; they sum to 1.
    generator
        Rates between phases; what a row lacks to 0 is the rate of ending.

    Returns
    -------
    NamedLaw
        For a field that holds the law of a time, by phases or not.

    Raises
    ------
    RequestError
        If a parameter is none of this.

    Examples
    --------
    >>> import optmodels as om
    >>> om.phase_type([1, 0], [[-1, 1], [0, -2]]).mean
    1.5
    """
    return _named("phase-type", {"initial": initial, "generator": generator})


# -- arrivals ---------------------------------------------------------------------------------------------------------


def poisson(rate: float) -> NamedLaw:
    """Say that arrivals are a Poisson process.

    Parameters
    ----------
    rate
        Arrivals per unit of time, above 0.

    Returns
    -------
    NamedLaw
        For a field that holds a source of arrivals.

    Raises
    ------
    RequestError
        If the rate is no number above 0.

    Examples
    --------
    >>> import optmodels as om
    >>> om.poisson(2.0).mean
    0.5
    """
    return _named("poisson", {"rate": _number(rate)})


def mmpp(generator: ArrayLike, rates: ArrayLike) -> NamedLaw:
    """Say that arrivals are a Poisson process whose rate follows a Markov chain.

    Parameters
    ----------
    generator
        Rates between the states of the chain; rows sum to 0.
    rates
        Arrivals per unit of time in each state.

    Returns
    -------
    NamedLaw
        For a field that holds a source of arrivals.

    Raises
    ------
    RequestError
        If a parameter is none of this.

    Examples
    --------
    >>> import optmodels as om
    >>> om.mmpp([[-1, 1], [1, -1]], [1, 3]).mean
    0.5
    """
    return _named("mmpp", {"generator": generator, "rates": rates})


def map(D0: ArrayLike, D1: ArrayLike) -> NamedLaw:
    """Say that arrivals are a Markovian arrival process.

    Parameters
    ----------
    D0
        Rates of changes of phase without an arrival.
    D1
        Rates of changes with one; the rows of D0 + D1 sum to 0.

    Returns
    -------
    NamedLaw
        For a field that holds a source of arrivals.

    Raises
    ------
    RequestError
        If a parameter is none of this.

    Examples
    --------
    >>> import optmodels as om
    >>> om.map([[-2, 1], [0, -1]], [[1, 0], [1, 0]])
    map(D0=[[-2, 1], [0, -1]], D1=[[1, 0], [1, 0]])
    """
    return _named("map", {"D0": D0, "D1": D1})
