"""Sources of packets in files: read with a sentence for every complaint, and written back."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, TypeAlias

from queueing.processes import Constant, Exponential, Samples
from queueing.routing import Arrivals, MarkovArrivals, RenewalArrivals, TraceArrivals

from ..data import LAWS, PROCESSES, TIME, Law, Number, OneOf, Refusal, entry, times, write_time
from ..errors import InstanceError

FORM = 'arrivals are an object such as {"law": "poisson", "rate": x} or {"law": "deterministic", "interval": x}.'

#: More times in a trace are refused: every window of it is looked at.
LONGEST_TRACE = 100_000


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


_SEEN = times("times between arrivals are zero or more.")


class DeterministicSource(Law):
    """Packets at even intervals."""

    law: Literal["deterministic"] = entry("name of the law")
    interval: Annotated[float, Number("intervals are finite numbers above 0.", above=0)] = entry(
        "time from one packet to the next", unit=TIME
    )

    def made(self) -> Arrivals:
        return RenewalArrivals(Constant(self.interval))


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
    **PROCESSES,
    "samples": SampledSource,
    "trace": TraceSource,
}


def _renewed(made: Any) -> Arrivals:
    """Return the source itself, or one of packets whose times have a law."""
    return made if _is_source(made) else RenewalArrivals(made)


def _is_source(value: Any) -> bool:
    return isinstance(value, RenewalArrivals | MarkovArrivals | TraceArrivals)


#: A field that holds a source of packets; a number is the rate of a Poisson source.
Source: TypeAlias = Annotated[
    Arrivals, OneOf(SOURCES, FORM, then=_renewed, short={"law": "poisson", "rate": ...}, ready=_is_source)
]
