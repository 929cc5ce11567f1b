"""Laws of times in instance files: read with a sentence for every complaint, written back, drawn at random.

`read_time` and `write_time` know every law by its name; `read_law`, `write_law` and `draw_law` are of phase-type laws,
which stand in files without a name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queueing import PhaseType
from queueing.numerics import SUM_TOLERANCE
from queueing.processes import AccessTime, Constant, Erlang, Exponential, Hyperexponential, PhaseTypeTime, Samples

from ..errors import InstanceError, MissingField, suggestion
from .fields import is_number, is_whole, read_matrix, read_numbers, read_object, refuse_negative, refuse_unknown, told

FORM = 'a law is an object such as {"law": "constant", "value": x} or {"law": "exponential", "mean": x}.'

#: Digits after the point of rates and probabilities: few enough to read.
DIGITS = 4


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


# -- phase-type laws --------------------------------------------------------------------------------------------------


def read_law(value: Any, place: str) -> PhaseType:
    """A phase-type law ``{"initial": [..], "generator": [[..]]}``, all rates multiplied by ``scale`` if given."""
    form = 'a phase-type law is {"initial": [..], "generator": [[..]]}.'
    known = read_object(value, place, {"initial", "generator", "scale"}, form)
    for name in ("initial", "generator"):
        if name not in known:
            raise MissingField(f"{place}.{name}", form)
    generator = read_matrix(known["generator"], f"{place}.generator")
    refuse_negative(generator, f"{place}.generator", "rates between phases are zero or more.", diagonal=False)
    for row, total in enumerate(generator.sum(axis=1)):
        if total > SUM_TOLERANCE * abs(generator[row, row]):
            rule = f"its rows sum to at most 0 (what lacks is the rate of ending), this one sums to {float(total)!r}."
            raise InstanceError(f"{place}.generator[{row}]", generator[row].tolist(), rule)
    initial = _probabilities(known["initial"], f"{place}.initial")
    if len(initial) != len(generator):
        rule = f"one probability for each of the {len(generator)} phases of the generator is needed."
        raise InstanceError(f"{place}.initial", known["initial"], rule)
    scale = known.get("scale", 1)
    if not is_number(scale) or scale <= 0:
        raise InstanceError(f"{place}.scale", scale, "a scale multiplies all rates and is a positive number.")
    return told(lambda: PhaseType(np.array(initial), generator * float(scale)), place, dict(known))


def write_law(law: PhaseType) -> dict[str, Any]:
    """The form read by `read_law`."""
    return {"initial": law.initial.tolist(), "generator": law.generator.tolist()}


def _probabilities(value: Any, place: str) -> list[float]:
    chances = read_numbers(value, place)
    for index, chance in enumerate(chances):
        if chance < 0:
            raise InstanceError(f"{place}[{index}]", chance, "probabilities are zero or more.")
    if abs(sum(chances) - 1.0) > SUM_TOLERANCE:
        raise InstanceError(place, value, f"initial probabilities sum to 1, and these sum to {sum(chances)!r}.")
    return chances


# -- at random --------------------------------------------------------------------------------------------------------


def draw_law(law: str, order: int, mean: float, rng: np.random.Generator) -> dict[str, Any]:
    """A phase-type law of this mean, up to rounding, as in an instance file."""
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
