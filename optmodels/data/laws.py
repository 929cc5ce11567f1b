"""Laws of times and of arrivals in instance files: read with a sentence for every complaint, written back, drawn.

`read_time` and `write_time` know every law by its name; `write_law` and `draw_law` are of phase-type laws, which stand
in files without a name. A model of another data file has fields of the types `Time` and `Phases`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from queueing import processes
from queueing.numerics import SUM_TOLERANCE

from ..errors import InstanceError
from .models import Data, Made, Matrix, Number, OneOf, Reader, Refusal, Spoken, entry, numbers, read_as, square

if TYPE_CHECKING:
    from queueing.processes import BMAP, AccessTime, PhaseType
else:  # who reads no law loads none
    BMAP = AccessTime = PhaseType = Any

FORM = 'a law is an object such as {"law": "constant", "value": x} or {"law": "exponential", "mean": x}.'

#: Digits after the point of rates and probabilities: few enough to read.
DIGITS = 4

#: How a time, and a rate, is measured.
TIME, RATE = "units of time", "per unit of time"

#: More phases of a source are refused: matrices have the square of them, and phases of services multiply.
MOST_SOURCE_PHASES = 100

Positive: TypeAlias = Annotated[float, Number("times are finite numbers above 0.", above=0)]


# -- phase-type laws --------------------------------------------------------------------------------------------------


def _chances(noun: str) -> Reader:
    """Probabilities that sum to 1."""
    listed = numbers("probabilities are zero or more.")

    def read(value: Any) -> list[float]:
        chances: list[float] = listed.function(value)
        if abs(sum(chances) - 1.0) > SUM_TOLERANCE:
            raise Refusal(f"{noun} sum to 1, and these sum to {sum(chances)!r}.")
        return chances

    return Reader(read, {**listed.described, "rule": f"{noun} are zero or more and sum to 1."})


class PhaseTypeData(Data):
    """The time until a chain of phases ends."""

    form = 'a phase-type law is {"initial": [..], "generator": [[..]]}.'

    initial: Annotated[list[float], _chances("initial probabilities")] = entry("probability of beginning in each phase")
    generator: Annotated[Matrix, square("rates between phases are zero or more.")] = entry(
        "rates between phases; minus the sum of a row is its rate of ending", unit=RATE
    )
    scale: Annotated[float, Number("a scale multiplies all rates and is a positive number.", above=0)] = entry(
        "multiplies all rates", default=1.0
    )

    def made(self) -> Any:
        generator = self.generator
        for row, total in enumerate(generator.sum(axis=1)):
            if total > SUM_TOLERANCE * abs(generator[row, row]):
                ends = "its rows sum to at most 0 (what lacks is the rate of ending)"
                rule = f"{ends}, this one sums to {float(total)!r}."
                raise InstanceError(f"generator[{row}]", generator[row].tolist(), rule)
        if len(self.initial) != len(generator):
            rule = f"one probability for each of the {len(generator)} phases of the generator is needed."
            raise Refusal(rule, "initial")
        return processes.PhaseType(np.array(self.initial), generator * self.scale)


def _with_phases(value: Any) -> Any:
    """Return the phase-type law that Python gave, ready made or by its name; ``None``: it is an object of a file."""
    if isinstance(value, Spoken) or _is_time(value):
        return phases_of(read_as(Time, value, ""))
    return value if isinstance(value, processes.PhaseType) else None


def phases_of(law: Any) -> PhaseType:
    """Write the law of a time by phases.

    Parameters
    ----------
    law
        An exponential, Erlang, hyperexponential or phase-type law.

    Returns
    -------
    PhaseType
        The same law.

    Raises
    ------
    Refusal
        If it has no phases, as constant times and samples have not.
    """
    match law:
        case processes.Exponential():
            return processes.PhaseType.exponential(1.0 / law.mean)
        case processes.Erlang():
            return processes.PhaseType.erlang(law.stages, law.stages / law.mean)
        case processes.Hyperexponential():
            return processes.PhaseType.hyperexponential(law.probabilities, [1.0 / mean for mean in law.means])
        case processes.PhaseTypeTime():
            return law.law
    raise Refusal("it has no phases; an exponential, erlang, hyperexponential or phase-type law has.")


#: A field that holds a phase-type law.
Phases: TypeAlias = Annotated[PhaseType, Made(PhaseTypeData, _with_phases)]


def write_law(law: PhaseType) -> dict[str, Any]:
    """Write a phase-type law in the form of a file.

    Parameters
    ----------
    law
        The law.

    Returns
    -------
    dict
        ``initial`` and ``generator``, as a field of type `Phases` reads them.
    """
    return {"initial": law.initial.tolist(), "generator": law.generator.tolist()}


# -- laws by name -----------------------------------------------------------------------------------------------------


class Law(Data):
    """A law by its name; its method ``made`` makes the law itself.

    Parameters
    ----------
    law
        The name.
    """

    form: ClassVar[str] = FORM
    law: str

    @classmethod
    def why(cls, name: str) -> str:
        """The law cannot do without."""
        return f"law {get_args(cls.model_fields['law'].annotation)[0]!r} needs it."


class ConstantLaw(Law):
    """Every time is the same."""

    law: Literal["constant"] = entry("name of the law")
    value: Positive = entry("the time", unit=TIME)

    def made(self) -> AccessTime:
        return processes.Constant(self.value)


class ExponentialLaw(Law):
    """Exponential times."""

    law: Literal["exponential"] = entry("name of the law")
    mean: Positive = entry("mean time", unit=TIME)

    def made(self) -> AccessTime:
        return processes.Exponential(self.mean)


class ErlangLaw(Law):
    """Sums of exponential times of one mean."""

    law: Literal["erlang"] = entry("name of the law")
    stages: Annotated[int, Number("stages are counted in whole numbers, 1 or more.", least=1, whole=True)] = entry(
        "how many times are summed"
    )
    mean: Positive = entry("mean of the sum", unit=TIME)

    def made(self) -> AccessTime:
        return processes.Erlang(self.stages, self.mean)


class HyperexponentialLaw(Law):
    """Exponential times, the mean of each drawn first."""

    law: Literal["hyperexponential"] = entry("name of the law")
    probabilities: Annotated[list[float], _chances("probabilities")] = entry("probability of each mean")
    means: Annotated[list[float], numbers("times are finite numbers above 0.", above=True)] = entry(
        "mean times that are drawn from", unit=TIME
    )

    def made(self) -> AccessTime:
        if len(self.means) != len(self.probabilities):
            raise Refusal(f"each of the {len(self.probabilities)} probabilities needs a mean.", "means")
        return processes.Hyperexponential(tuple(self.probabilities), tuple(self.means))


class PhaseTypeLaw(PhaseTypeData, Law):
    """The time until a chain of phases ends."""

    law: Literal["phase-type"] = entry("name of the law")

    def made(self) -> AccessTime:
        return processes.PhaseTypeTime(super().made())


def times(rule: str) -> Reader:
    """Read a list of times that were seen, not all of them 0.

    Parameters
    ----------
    rule
        Told of negative times.

    Returns
    -------
    Reader
        Of a field that becomes a tuple of floats.
    """
    listed = numbers(rule)

    def read(value: Any) -> tuple[float, ...]:
        found: list[float] = listed.function(value)
        if not any(found):
            raise Refusal("one time at least is above 0.")
        return tuple(found)

    return Reader(read, listed.described)


class SamplesLaw(Law):
    """Times drawn from those listed, each as often as any other."""

    law: Literal["samples"] = entry("name of the law")
    values: Annotated[tuple[float, ...], times("times are zero or more.")] = entry("times that were seen", unit=TIME)

    def made(self) -> AccessTime:
        return processes.Samples(self.values)


#: Laws of times, ready made.
TIMES = ("Constant", "Erlang", "Exponential", "Hyperexponential", "PhaseTypeTime", "Samples")

LAWS: dict[str, type[Law]] = {
    "constant": ConstantLaw,
    "erlang": ErlangLaw,
    "exponential": ExponentialLaw,
    "hyperexponential": HyperexponentialLaw,
    "phase-type": PhaseTypeLaw,
    "samples": SamplesLaw,
}


def _is_time(value: Any) -> bool:
    """Tell whether Python gave the law of a time ready made: whoever has no such law loads none."""
    if not type(value).__module__.startswith("queueing.processes"):
        return False
    return isinstance(value, tuple(getattr(processes, name) for name in TIMES))


#: A field that holds a law by its name; a number is a constant time.
Time: TypeAlias = Annotated[AccessTime, OneOf(LAWS, FORM, short={"law": "constant", "value": ...}, ready=_is_time)]


def read_time(value: Any, place: str) -> AccessTime:
    """Read the law of a time: ``{"law": name, ...}``.

    Parameters
    ----------
    value
        As it stands in the file.
    place
        Where it stands.

    Returns
    -------
    AccessTime
        The law.

    Raises
    ------
    InstanceError
        If it is none.
    """
    law: AccessTime = read_as(Time, value, place)
    return law


def write_time(law: AccessTime) -> dict[str, Any]:
    """Write the law of a time in the form that `read_time` reads.

    Parameters
    ----------
    law
        The law.

    Returns
    -------
    dict
        ``law`` with its name, and its parameters.

    Raises
    ------
    InstanceError
        If the law has no name a file could use.
    """
    match law:
        case processes.Constant():
            return {"law": "constant", "value": law.value}
        case processes.Exponential():
            return {"law": "exponential", "mean": law.mean}
        case processes.Erlang():
            return {"law": "erlang", "stages": law.stages, "mean": law.mean}
        case processes.PhaseTypeTime():
            return {"law": "phase-type", **write_law(law.law)}
        case processes.Hyperexponential():
            chances, means = list(law.probabilities), list(law.means)
            return {"law": "hyperexponential", "probabilities": chances, "means": means}
        case processes.Samples():
            return {"law": "samples", "values": list(law.values)}
    raise InstanceError("data.access_time", repr(law), "this law has no name a file could use.")


# -- sources of arrivals by name --------------------------------------------------------------------------------------


def _phases(rule: str, *, diagonal: bool = False) -> Reader:
    """Read rates between so many phases of a source as are supported."""
    matrix = square(rule, diagonal=diagonal)

    def read(value: Any) -> Matrix:
        found: Matrix = matrix.function(value)
        if len(found) > MOST_SOURCE_PHASES:
            raise Refusal(f"a source has {MOST_SOURCE_PHASES} phases at most, and here are {len(found)}.")
        return found

    return Reader(read, {**matrix.described, "maxItems": MOST_SOURCE_PHASES})


_BLOCKS = "rates are zero or more, but for the diagonal of D0."


class PoissonSource(Law):
    """Packets at exponential times."""

    law: Literal["poisson"] = entry("name of the law")
    rate: Annotated[float, Number("rates are finite numbers above 0.", above=0)] = entry("rate of packets", unit=RATE)

    def made(self) -> Any:
        from queueing.routing import RenewalArrivals

        return RenewalArrivals(processes.Exponential(1.0 / self.rate))

    def process(self) -> BMAP:
        return processes.BMAP.poisson(self.rate)


class MmppSource(Law):
    """A Poisson source whose rate follows a Markov chain."""

    law: Literal["mmpp"] = entry("name of the law")
    generator: Annotated[Matrix, _phases("rates between phases are zero or more.")] = entry(
        "rates between phases of the chain; rows sum to 0 (1e-9 relative)", unit=RATE
    )
    rates: Annotated[list[float], numbers("rates of arrivals are zero or more.")] = entry(
        "rate of packets in each phase", unit=RATE
    )

    def made(self) -> Any:
        from queueing.routing import MarkovArrivals

        return MarkovArrivals(self.process())

    def process(self) -> BMAP:
        _refuse_leaks(self.generator, self.generator, "generator", "the rates of this row")
        if len(self.rates) != len(self.generator):
            rule = f"each of the {len(self.generator)} phases needs a rate of arrivals, and here are {len(self.rates)}."
            raise Refusal(rule, "rates")
        return processes.BMAP.mmpp(self.generator, self.rates)


class MapSource(Law):
    """A Markovian arrival process; the rows of D0 + D1 sum to 0 (1e-9 relative)."""

    law: Literal["map"] = entry("name of the law")
    D0: Annotated[Matrix, _phases(_BLOCKS)] = entry("rates of changes of phase without a packet", unit=RATE)
    D1: Annotated[Matrix, _phases(_BLOCKS, diagonal=True)] = entry("rates of changes with a packet", unit=RATE)

    def made(self) -> Any:
        from queueing.routing import MarkovArrivals

        return MarkovArrivals(self.process())

    def process(self) -> BMAP:
        if len(self.D1) != len(self.D0):
            raise Refusal(f"D1 has as many rows as D0, {len(self.D0)}.", "D1")
        _refuse_leaks(self.D0 + self.D1, self.D0, "D0", "the rates of this row, summed over D0 and D1,")
        return processes.BMAP.map(self.D0, self.D1)


#: Sources that are Markov chains, by name; their method ``process`` makes the process itself.
PROCESSES: dict[str, type[Law]] = {"map": MapSource, "mmpp": MmppSource, "poisson": PoissonSource}


def _refuse_leaks(total: Matrix, quiet: Matrix, place: str, names: str) -> None:
    for row, missed in enumerate(total.sum(axis=1).tolist()):
        if abs(missed) > SUM_TOLERANCE * abs(float(quiet[row, row])):
            rule = f"{names} make {missed!r} and must make 0 (1e-9 relative)."
            raise InstanceError(f"{place}[{row}]", quiet[row].tolist(), rule)


# -- at random --------------------------------------------------------------------------------------------------------


def draw_law(law: str, order: int, mean: float, rng: np.random.Generator) -> dict[str, Any]:
    """Draw a phase-type law of this mean, up to rounding, as in an instance file.

    Parameters
    ----------
    law
        ``"erlang"``, ``"hyperexponential"``, or anything else for a law without a structure.
    order
        Number of phases.
    mean
        Mean time.
    rng
        Where random numbers come from.

    Returns
    -------
    dict
        ``initial`` and ``generator``.
    """
    initial = np.zeros(order)
    if law == "erlang":
        initial[0] = 1.0
        generator = np.diag(np.full(order, -1.0)) + np.diag(np.ones(order - 1), 1)
    else:
        initial = rng.dirichlet(np.full(order, 2.0))
        if law == "hyperexponential":
            generator = np.diag(-np.geomspace(1.0, 0.05, order))
        else:
            generator = rng.uniform(0.1, 1.0, (order, order))
            np.fill_diagonal(generator, 0.0)
            np.fill_diagonal(generator, -generator.sum(axis=1) - rng.uniform(0.1, 1.0, order))
    initial = np.round(initial, DIGITS)
    initial[-1] = round(1.0 - float(initial[:-1].sum()), DIGITS)
    factor = float(initial @ np.linalg.solve(-generator, np.ones(order))) / mean
    return {"initial": initial.tolist(), "generator": _rounded(generator * factor).tolist()}


def _rounded(generator: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rates rounded to some digits of the slowest phase, so that each phase can still be left."""
    digits = max(DIGITS, DIGITS - math.floor(math.log10(float(np.abs(np.diagonal(generator)).min()))))
    return np.asarray(np.round(generator, digits))
