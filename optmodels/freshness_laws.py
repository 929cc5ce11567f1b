"""Laws of the access time in files: read with a sentence for every complaint, and written back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from queueing.laws import AccessTime, Constant, Erlang, Exponential, Hyperexponential, PhaseTypeTime, Samples
from queueing.matrices import SUM_TOLERANCE

from .errors import InstanceError, MissingField, suggestion
from .placement_data import is_number
from .placement_layout import is_whole, refuse_unknown
from .threshold_data import read_law, read_numbers, told, write_law

FORM = 'a law is an object such as {"law": "constant", "value": x} or {"law": "exponential", "mean": x}.'


def read_time(value: Any, place: str) -> AccessTime:
    """The law of a time: ``{"law": name, ...}``."""
    if not isinstance(value, Mapping):
        raise InstanceError(place, value, FORM)
    if "law" not in value:
        raise MissingField(f"{place}.law", FORM)
    name = value["law"]
    if not isinstance(name, str) or name not in READERS:
        known = suggestion(name, READERS) if isinstance(name, str) else f"Known: {', '.join(sorted(READERS))}."
        raise InstanceError(f"{place}.law", name, f"there is no such law. {known}")
    return READERS[name](value, place)


def write_time(law: AccessTime) -> dict[str, Any]:
    """The form read by `read_time`."""
    match law:
        case Constant():
            return {"law": "constant", "value": law.value}
        case Exponential():
            return {"law": "exponential", "mean": law.mean}
        case Erlang():
            return {"law": "erlang", "stages": law.stages, "mean": law.mean}
        case PhaseTypeTime():
            return {"law": "phase-type", **write_law(law.law)}
        case Hyperexponential():
            chances, means = list(law.probabilities), list(law.means)
            return {"law": "hyperexponential", "probabilities": chances, "means": means}
        case Samples():
            return {"law": "samples", "values": list(law.values)}
    raise InstanceError("data.access_time", repr(law), "this law has no name a file could use.")


# -- one law each -----------------------------------------------------------------------------------------------------


def _constant(data: Mapping[str, Any], place: str) -> AccessTime:
    law_fields(data, place, "value")
    value = _positive(data["value"], f"{place}.value")
    return told(lambda: Constant(value), place, dict(data))


def _exponential(data: Mapping[str, Any], place: str) -> AccessTime:
    law_fields(data, place, "mean")
    mean = _positive(data["mean"], f"{place}.mean")
    return told(lambda: Exponential(mean), place, dict(data))


def _erlang(data: Mapping[str, Any], place: str) -> AccessTime:
    law_fields(data, place, "stages", "mean")
    stages, mean = data["stages"], _positive(data["mean"], f"{place}.mean")
    if not is_whole(stages) or stages < 1:
        raise InstanceError(f"{place}.stages", stages, "stages are counted in whole numbers, 1 or more.")
    return told(lambda: Erlang(int(stages), mean), place, dict(data))


def _phase_type(data: Mapping[str, Any], place: str) -> AccessTime:
    law = read_law({key: entry for key, entry in data.items() if key != "law"}, place)
    return told(lambda: PhaseTypeTime(law), place, dict(data))


def _hyperexponential(data: Mapping[str, Any], place: str) -> AccessTime:
    law_fields(data, place, "probabilities", "means")
    chances = read_numbers(data["probabilities"], f"{place}.probabilities")
    means = read_numbers(data["means"], f"{place}.means")
    for index, chance in enumerate(chances):
        if chance < 0:
            raise InstanceError(f"{place}.probabilities[{index}]", chance, "probabilities are zero or more.")
    if abs(sum(chances) - 1.0) > SUM_TOLERANCE:
        rule = f"probabilities sum to 1, and these sum to {sum(chances)!r}."
        raise InstanceError(f"{place}.probabilities", data["probabilities"], rule)
    if len(means) != len(chances):
        raise InstanceError(f"{place}.means", data["means"], f"each of the {len(chances)} probabilities needs a mean.")
    for index, mean in enumerate(means):
        _positive(mean, f"{place}.means[{index}]")
    return told(lambda: Hyperexponential(tuple(chances), tuple(means)), place, dict(data))


def _samples(data: Mapping[str, Any], place: str) -> AccessTime:
    law_fields(data, place, "values")
    values = read_numbers(data["values"], f"{place}.values")
    for index, value in enumerate(values):
        if value < 0:
            raise InstanceError(f"{place}.values[{index}]", value, "times are zero or more.")
    if not any(values):
        raise InstanceError(f"{place}.values", data["values"], "one time at least is above 0.")
    return told(lambda: Samples(tuple(values)), place, dict(data))


READERS: dict[str, Callable[[Mapping[str, Any], str], AccessTime]] = {
    "constant": _constant,
    "erlang": _erlang,
    "exponential": _exponential,
    "hyperexponential": _hyperexponential,
    "phase-type": _phase_type,
    "samples": _samples,
}


def law_fields(data: Mapping[str, Any], place: str, *names: str) -> None:
    """All of these fields and no others."""
    refuse_unknown(data, {"law", *names}, place)
    for name in names:
        if name not in data:
            raise MissingField(f"{place}.{name}", f"law {data['law']!r} needs it.")


def _positive(value: Any, place: str) -> float:
    if not is_number(value) or value <= 0:
        raise InstanceError(place, value, "times are finite numbers above 0.")
    return float(value)
