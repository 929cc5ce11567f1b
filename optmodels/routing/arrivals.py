"""Sources of packets in files: read with a sentence for every complaint, and written back."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, TypeAlias

from queueing import BMAP
from queueing.numerics import SUM_TOLERANCE
from queueing.processes import Constant, Exponential, Samples
from queueing.routing import Arrivals, MarkovArrivals, RenewalArrivals, TraceArrivals

from ..data import (
    LAWS,
    RATE,
    TIME,
    Law,
    Matrix,
    Number,
    OneOf,
    Reader,
    Refusal,
    entry,
    numbers,
    square,
    times,
    write_time,
)
from ..errors import InstanceError

FORM = 'arrivals are an object such as {"law": "poisson", "rate": x} or {"law": "deterministic", "interval": x}.'

#: More times in a trace are refused: every window of it is looked at.
LONGEST_TRACE = 100_000

#: More phases of the source are refused: matrices have the square of them, and phases of services multiply.
MOST_PHASES = 100


def write_arrivals(arrivals: Arrivals) -> dict[str, Any]:
    """Write a source of packets as it stands in a file."""
    match arrivals:
        case TraceArrivals():
            return {"law": "trace", "values": list(arrivals.values)}
        case MarkovArrivals():
            quiet, arrival = arrivals.process.blocks
            return {"law": "map", "D0": quiet.tolist(), "D1": arrival.tolist()}
        case RenewalArrivals(law=Constant() as constant):
            return {"law": "deterministic", "interval": constant.value}
        case RenewalArrivals(law=Exponential() as exponential):
            near = 1.0 / exponential.mean
            for rate in (near, math.nextafter(near, math.inf), math.nextafter(near, 0.0)):
                if 1.0 / rate == exponential.mean:
                    return {"law": "poisson", "rate": rate}
            return write_time(exponential)
        case RenewalArrivals():
            return write_time(arrivals.law)
    raise InstanceError("data.arrivals", repr(arrivals), "this source has no name a file could use.")


# -- one law each -----------------------------------------------------------------------------------------------------


def _phases(rule: str, *, diagonal: bool = False) -> Reader:
    """Read rates between so many phases of a source as are supported."""
    matrix = square(rule, diagonal=diagonal)

    def read(value: Any) -> Matrix:
        found: Matrix = matrix.function(value)
        if len(found) > MOST_PHASES:
            raise Refusal(f"a source has {MOST_PHASES} phases at most, and here are {len(found)}.")
        return found

    return Reader(read, {**matrix.described, "maxItems": MOST_PHASES})


_SEEN = times("times between arrivals are zero or more.")
_BLOCKS = "rates are zero or more, but for the diagonal of D0."


class PoissonSource(Law):
    """Packets at exponential times."""

    law: Literal["poisson"] = entry("name of the law")
    rate: Annotated[float, Number("rates are finite numbers above 0.", above=0)] = entry("of packets", unit=RATE)

    def made(self) -> Arrivals:
        return RenewalArrivals(Exponential(1.0 / self.rate))


class DeterministicSource(Law):
    """Packets at even intervals."""

    law: Literal["deterministic"] = entry("name of the law")
    interval: Annotated[float, Number("intervals are finite numbers above 0.", above=0)] = entry(
        "time from one packet to the next", unit=TIME
    )

    def made(self) -> Arrivals:
        return RenewalArrivals(Constant(self.interval))


class MmppSource(Law):
    """A Poisson source whose rate follows a Markov chain."""

    law: Literal["mmpp"] = entry("name of the law")
    generator: Annotated[Matrix, _phases("rates between phases are zero or more.")] = entry(
        "of the chain; rows sum to 0 (1e-9 relative)", unit=RATE
    )
    rates: Annotated[list[float], numbers("rates of arrivals are zero or more.")] = entry(
        "of packets, by phase", unit=RATE
    )

    def made(self) -> Arrivals:
        _refuse_leaks(self.generator, self.generator, "generator", "the rates of this row")
        if len(self.rates) != len(self.generator):
            rule = f"each of the {len(self.generator)} phases needs a rate of arrivals, and here are {len(self.rates)}."
            raise Refusal(rule, "rates")
        return MarkovArrivals(BMAP.mmpp(self.generator, self.rates))


class MapSource(Law):
    """A Markovian arrival process; the rows of D0 + D1 sum to 0 (1e-9 relative)."""

    law: Literal["map"] = entry("name of the law")
    D0: Annotated[Matrix, _phases(_BLOCKS)] = entry("rates of changes of phase without a packet", unit=RATE)
    D1: Annotated[Matrix, _phases(_BLOCKS, diagonal=True)] = entry("rates of changes with a packet", unit=RATE)

    def made(self) -> Arrivals:
        if len(self.D1) != len(self.D0):
            raise Refusal(f"D1 has as many rows as D0, {len(self.D0)}.", "D1")
        _refuse_leaks(self.D0 + self.D1, self.D0, "D0", "the rates of this row, summed over D0 and D1,")
        return MarkovArrivals(BMAP.map(self.D0, self.D1))


class SampledSource(Law):
    """Independent times drawn from those listed."""

    law: Literal["samples"] = entry("name of the law")
    values: Annotated[tuple[float, ...], _SEEN] = entry("times between packets", unit=TIME)

    def made(self) -> Arrivals:
        return RenewalArrivals(Samples(self.values))


class TraceSource(Law):
    """Times in the order listed, over and over."""

    law: Literal["trace"] = entry("name of the law")
    values: Annotated[tuple[float, ...], _SEEN] = entry("times between packets, 100 000 at most", unit=TIME)

    def made(self) -> Arrivals:
        if len(self.values) > LONGEST_TRACE:
            raise Refusal(f"a trace has {LONGEST_TRACE} times at most, and here are {len(self.values)}.", "values")
        return TraceArrivals(self.values)


#: Sources by name; the laws of times that have no name here are those between packets.
SOURCES: dict[str, type[Law]] = LAWS | {
    "deterministic": DeterministicSource,
    "map": MapSource,
    "mmpp": MmppSource,
    "poisson": PoissonSource,
    "samples": SampledSource,
    "trace": TraceSource,
}


def _renewed(made: Any) -> Arrivals:
    """Return the source itself, or one of packets whose times have a law."""
    known = RenewalArrivals | MarkovArrivals | TraceArrivals
    return made if isinstance(made, known) else RenewalArrivals(made)


#: A field that holds a source of packets.
Source: TypeAlias = Annotated[Arrivals, OneOf(SOURCES, FORM, then=_renewed)]


def _refuse_leaks(total: Matrix, quiet: Matrix, place: str, names: str) -> None:
    for row, missed in enumerate(total.sum(axis=1).tolist()):
        if abs(missed) > SUM_TOLERANCE * abs(float(quiet[row, row])):
            rule = f"{names} make {missed!r} and must make 0 (1e-9 relative)."
            raise InstanceError(f"{place}[{row}]", quiet[row].tolist(), rule)
