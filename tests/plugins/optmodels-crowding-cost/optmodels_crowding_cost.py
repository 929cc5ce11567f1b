"""A cost from outside, for placement: an instance file names it, and optmodels finds it by its entry point."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class CrowdingCost:
    """Opening costs, and a price for every pair of open sites, which must be kept in step with each other.

    Parameters
    ----------
    per_pair
        Price of one pair of open sites.
    """

    per_pair: float

    linear: ClassVar[bool] = False  # quadratic in `open_sites`: not for linear programs

    def __call__(self, measures: Mapping[str, float | None]) -> float:
        opening, sites = measures["opening"], measures["open_sites"]
        if opening is None or sites is None:
            raise ValueError("the crowding cost needs the measures opening and open_sites, and one is undefined here.")
        return opening + self.per_pair * sites * (sites - 1) / 2
