"""Sources of packets in files: read with a sentence for every complaint, and written back."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from queueing import BMAP
from queueing.numerics import SUM_TOLERANCE
from queueing.processes import Constant, Exponential, Samples
from queueing.routing import Arrivals, MarkovArrivals, RenewalArrivals, TraceArrivals

from ..data import READERS as LAWS
from ..data import Matrix, is_number, law_fields, read_matrix, read_numbers, refuse_negative, told, write_time
from ..errors import InstanceError, MissingField, suggestion

FORM = 'arrivals are an object such as {"law": "poisson", "rate": x} or {"law": "deterministic", "interval": x}.'

#: More times in a trace are refused: every window of it is looked at.
LONGEST_TRACE = 100_000

#: More phases of the source are refused: matrices have the square of them, and phases of services multiply.
MOST_PHASES = 100


def read_arrivals(value: Any, place: str = "data.arrivals") -> Arrivals:
    """The source of packets: ``{"law": name, ...}``, of independent times of any law in `optmodels.data.laws` too."""
    if not isinstance(value, Mapping):
        raise InstanceError(place, value, FORM)
    if "law" not in value:
        raise MissingField(f"{place}.law", FORM)
    name = value["law"]
    if isinstance(name, str) and name in READERS:
        return READERS[name](value, place)
    if isinstance(name, str) and name in LAWS:
        law = LAWS[name](value, place)
        return told(lambda: RenewalArrivals(law), place, dict(value))
    known = sorted({*READERS, *LAWS})
    rule = suggestion(name, known) if isinstance(name, str) else f"Known: {', '.join(known)}."
    raise InstanceError(f"{place}.law", name, f"there is no such law. {rule}")


def write_arrivals(arrivals: Arrivals) -> dict[str, Any]:
    """The form read by `read_arrivals`."""
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


def _poisson(data: Mapping[str, Any], place: str) -> Arrivals:
    law_fields(data, place, "rate")
    rate = _positive(data["rate"], f"{place}.rate", "rates are finite numbers above 0.")
    return told(lambda: RenewalArrivals(Exponential(1.0 / rate)), place, dict(data))


def _deterministic(data: Mapping[str, Any], place: str) -> Arrivals:
    law_fields(data, place, "interval")
    interval = _positive(data["interval"], f"{place}.interval", "intervals are finite numbers above 0.")
    return told(lambda: RenewalArrivals(Constant(interval)), place, dict(data))


def _mmpp(data: Mapping[str, Any], place: str) -> Arrivals:
    law_fields(data, place, "generator", "rates")
    generator = _square(data["generator"], f"{place}.generator")
    refuse_negative(generator, f"{place}.generator", "rates between phases are zero or more.", diagonal=False)
    _refuse_leaks(generator, generator, f"{place}.generator", "the rates of this row")
    rates = read_numbers(data["rates"], f"{place}.rates")
    if len(rates) != len(generator):
        rule = f"each of the {len(generator)} phases needs a rate of arrivals, and here are {len(rates)}."
        raise InstanceError(f"{place}.rates", data["rates"], rule)
    for index, rate in enumerate(rates):
        if rate < 0:
            raise InstanceError(f"{place}.rates[{index}]", rate, "rates of arrivals are zero or more.")
    return told(lambda: MarkovArrivals(BMAP.mmpp(generator, rates)), place, dict(data))


def _map(data: Mapping[str, Any], place: str) -> Arrivals:
    law_fields(data, place, "D0", "D1")
    quiet, arrival = _square(data["D0"], f"{place}.D0"), _square(data["D1"], f"{place}.D1")
    rule = "rates are zero or more, but for the diagonal of D0."
    refuse_negative(quiet, f"{place}.D0", rule, diagonal=False)
    refuse_negative(arrival, f"{place}.D1", rule, diagonal=True)
    if len(arrival) != len(quiet):
        raise InstanceError(f"{place}.D1", data["D1"], f"D1 has as many rows as D0, {len(quiet)}.")
    _refuse_leaks(quiet + arrival, quiet, f"{place}.D0", "the rates of this row, summed over D0 and D1,")
    return told(lambda: MarkovArrivals(BMAP.map(quiet, arrival)), place, dict(data))


def _samples(data: Mapping[str, Any], place: str) -> Arrivals:
    values = _times(data, place)
    return told(lambda: RenewalArrivals(Samples(values)), place, dict(data))


def _trace(data: Mapping[str, Any], place: str) -> Arrivals:
    values = _times(data, place)
    if len(values) > LONGEST_TRACE:
        rule = f"a trace has {LONGEST_TRACE} times at most, and here are {len(values)}."
        raise InstanceError(f"{place}.values", data["values"], rule)
    return told(lambda: TraceArrivals(values), place, dict(data))


READERS: dict[str, Callable[[Mapping[str, Any], str], Arrivals]] = {
    "deterministic": _deterministic,
    "map": _map,
    "mmpp": _mmpp,
    "poisson": _poisson,
    "samples": _samples,
    "trace": _trace,
}


# -- inside -----------------------------------------------------------------------------------------------------------


def _positive(value: Any, place: str, rule: str) -> float:
    if not is_number(value) or value <= 0:
        raise InstanceError(place, value, rule)
    return float(value)


def _square(value: Any, place: str) -> Matrix:
    matrix = read_matrix(value, place)
    if len(matrix) > MOST_PHASES:
        raise InstanceError(place, value, f"a source has {MOST_PHASES} phases at most, and here are {len(matrix)}.")
    return matrix


def _times(data: Mapping[str, Any], place: str) -> tuple[float, ...]:
    law_fields(data, place, "values")
    values = read_numbers(data["values"], f"{place}.values")
    for index, value in enumerate(values):
        if value < 0:
            raise InstanceError(f"{place}.values[{index}]", value, "times between arrivals are zero or more.")
    if not any(values):
        raise InstanceError(f"{place}.values", data["values"], "one time at least is above 0.")
    return tuple(values)


def _refuse_leaks(total: Matrix, quiet: Matrix, place: str, names: str) -> None:
    for row, missed in enumerate(total.sum(axis=1).tolist()):
        if abs(missed) > SUM_TOLERANCE * abs(float(quiet[row, row])):
            rule = f"{names} make {missed!r} and must make 0 (1e-9 relative)."
            raise InstanceError(f"{place}[{row}]", quiet[row].tolist(), rule)
