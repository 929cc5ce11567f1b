"""Seeded random instances.

A generator is a frozen dataclass whose fields are its options and whose method ``instance()`` returns an `Instance`.
Each kind has its own (`optmodels.placement_generating`, `optmodels.threshold_generating`), offered in the registry
`optmodels.registry.generators`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol

from .errors import RequestError
from .instance import Instance
from .registry import build, generators, problems


class Generator(Protocol):
    """Options of a family of random instances.

    A class method ``contradiction(options)`` may say in a sentence why the options that were given, by name, cannot all
    be meant; defaults are not among them.
    """

    kind: ClassVar[str]

    def instance(self) -> Instance: ...


def generate(kind: str, **options: Any) -> Instance:
    """A random instance of a kind; the same options and seed give the same instance.

    >>> generate("placement", rows=2, columns=3, seed=1).name
    'placement-2x3-1'

    Raises
    ------
    RequestError
        If an option is unknown, contradicts another, or makes an instance that the kind itself refuses.
    """
    target = generators[kind]
    contradiction: Callable[[Mapping[str, Any]], str | None] | None = getattr(target, "contradiction", None)
    sentence = contradiction(options) if contradiction else None
    if sentence:
        raise RequestError(f"generator {kind!r}: {sentence}")
    made: Generator = build(target, options, f"generator {kind!r}")
    instance = made.instance()
    if instance.kind in problems:
        instance.problem()  # what no reader would take is not written
    return instance
