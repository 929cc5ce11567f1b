"""The scalar measures of a placement, those that need queues computed only if somebody reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .problem import PlacementProblem

MEASURES = ("opening", "operating", "open_sites", "worst_throughput", "worst_delay_probability", "mean_delay")


class PlacementMeasures(Mapping[str, float | None]):
    """Measures of one placement.

    Searches judge many thousands of placements by their opening costs alone and keep what they judged, so nothing but
    the placement itself is held here until a measure of the queues is asked for.
    """

    def __init__(self, problem: PlacementProblem, is_open: NDArray[np.uint8]) -> None:
        self._problem, self._is_open = problem, is_open
        self._known: dict[str, float | None] = {
            "opening": float(np.dot(problem.opening_cost, is_open)),
            "open_sites": float(is_open.sum()),
        }
        if problem.operating_cost is None:
            self._known["operating"] = 0.0

    def __getitem__(self, name: str) -> float | None:
        if name not in MEASURES:
            raise KeyError(name)
        if name not in self._known:
            report = self._problem.report(self._is_open)
            self._known |= {
                "operating": report.operating(self._problem.operating_cost),
                "worst_throughput": report.worst_throughput,
                "worst_delay_probability": report.worst_delay_probability,
                "mean_delay": report.mean_delay,
            }
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(MEASURES)

    def __len__(self) -> int:
        return len(MEASURES)

    def __contains__(self, name: object) -> bool:
        return name in MEASURES


class DefinedMeasures(Mapping[str, float]):
    """Measures of an infeasible placement for a cost: those that are not defined count 0."""

    def __init__(self, measures: PlacementMeasures) -> None:
        self._measures = measures

    def __getitem__(self, name: str) -> float:
        return self._measures[name] or 0.0

    def __iter__(self) -> Iterator[str]:
        return iter(self._measures)

    def __len__(self) -> int:
        return len(self._measures)
