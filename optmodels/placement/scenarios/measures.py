"""Measures over scenarios: the worst of some, the expectation of others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..measures import MEASURES, PlacementMeasures

#: Measures of which the least, or the largest, of all scenarios counts; of the others it is the expectation.
WORST = {"worst_throughput": min, "worst_delay_probability": max}


class ScenarioMeasures(Mapping[str, float | None]):
    """The measures of one placement over all scenarios, given up or not, computed when they are read.

    What is not defined in a scenario, such as the mean delay without clients, is left out there, and expectations are
    those under the condition that it is defined.
    """

    def __init__(self, parts: Sequence[PlacementMeasures], probabilities: Sequence[float]) -> None:
        self._parts, self._probabilities = parts, probabilities
        self._known: dict[str, float | None] = {}

    def __getitem__(self, name: str) -> float | None:
        if name not in MEASURES:
            raise KeyError(name)
        if name in ("opening", "open_sites"):
            return self._parts[0][name]
        if name not in self._known:
            self._known[name] = self._over_scenarios(name)
        return self._known[name]

    def _over_scenarios(self, name: str) -> float | None:
        values = [(p, value) for p, part in zip(self._probabilities, self._parts, strict=True)
                  if (value := part[name]) is not None]  # fmt: skip
        if not values:
            return None
        if name in WORST:
            return WORST[name](value for _, value in values)
        return sum(p * value for p, value in values) / sum(p for p, _ in values)

    def __iter__(self) -> Iterator[str]:
        return iter(MEASURES)

    def __len__(self) -> int:
        return len(MEASURES)

    def __contains__(self, name: object) -> bool:
        return name in MEASURES
