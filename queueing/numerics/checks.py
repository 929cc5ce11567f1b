"""Checks of numbers handed to the models: one sentence for each refusal."""

import math
import operator
from typing import SupportsIndex


def positive(name: str, value: float) -> float:
    """Return `value` as a float, or refuse it unless it is finite and above zero."""
    if isinstance(value, bool) or not _is_number(value) or not math.isfinite(value) or value <= 0:
        raise ValueError(f"{name} must be a finite number above 0, but it is {value!r}; give a positive number.")
    return float(value)


def not_negative(name: str, value: float) -> float:
    """Return `value` as a float, or refuse it unless it is finite and at least zero."""
    if isinstance(value, bool) or not _is_number(value) or not math.isfinite(value) or value < 0:
        raise ValueError(f"{name} must be a finite number of at least 0, but it is {value!r}; give such a number.")
    return float(value)


def whole(name: str, value: SupportsIndex, *, least: int) -> int:
    """Return `value` as an int, or refuse it unless it is a whole number of at least `least`."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or number < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, but it is {value!r}; give such a number.")
    return number


def comparable(service_rate: float, think_time: float) -> None:
    """Refuse a rate and a time whose product a double cannot hold."""
    if not 1e-250 < service_rate * think_time < 1e250:
        raise ValueError(
            f"service_rate x think_time must be between 1e-250 and 1e250, but it is {service_rate * think_time!r}; "
            "give rates and times that are nearer to one another."
        )


def _is_number(value: object) -> bool:
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False
    return not isinstance(value, str)
