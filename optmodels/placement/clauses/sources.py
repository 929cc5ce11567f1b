r"""Where clauses come from: what one demand, several classes of clients, or scenarios of demand forbid.

With scenarios there is a variable :math:`g_s` for each: it is given up. A clause of scenario s holds unless s is given
up, and scenarios given up have a probability of :math:`1 - P` at most. That sum is counted in whole units, rounded so
that every placement that the evaluator takes for feasible stays possible; what slips through is held back by *covers*:
of scenarios that together are too probable, by the evaluator's own sum, one is not given up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .kernels import Setting, losing
from .pool import Clause, around_clients, from_placements

if TYPE_CHECKING:
    from ..classes import ClassPlacement
    from ..problem import PlacementProblem
    from ..scenarios import ScenarioPlacement

Bits = NDArray[np.uint8]
Floats = NDArray[np.float64]

#: Units in which probabilities are counted: the least number up to this one of which all are nearly multiples.
FINEST_PROBABILITY = 4096

#: How near a multiple must be.
NEARLY = 1e-7


class Within(NamedTuple):
    """A weighted sum of variables, numbered from 0, is within a limit."""

    variables: tuple[int, ...]
    weights: tuple[int, ...]
    most: int


class Source(Protocol):
    """Says what a placement breaks, in clauses over variables: those of sites come first, from 1."""

    @property
    def sites(self) -> int:
        """How many sites there are."""

    @property
    def variables(self) -> int:
        """How many variables there are: the sites, and what else clauses speak of."""

    @property
    def allowed(self) -> Bits:
        """Sites that are open in some feasible placement."""

    @property
    def copies(self) -> int:
        """How many demands are looked at for each placement."""

    @property
    def limits(self) -> tuple[Within, ...]:
        """What must hold beside clauses."""

    def beginning(self) -> list[Clause]:
        """Clauses to begin with: sites that are closed, and who can serve whom."""

    def broken(self, placements: Bits, rng: np.random.Generator, most: int = 1 << 30) -> list[Clause]:
        """Clauses that placements break, one in each row; together with those known they leave none of them."""

    def keeps(self, placement: Bits) -> bool:
        """Whether a placement breaks nothing."""

    def point(self, placement: Bits) -> Floats:
        """Values of all variables for a placement."""

    def priced(self, site_prices: Floats) -> Floats:
        """Prices of all variables, of which the cost of a placement is the sum, or a little more."""


@dataclass(frozen=True, eq=False)
class Overloads:
    """Clauses of one demand: a site is closed, or one of those whose absence overloads it is open."""

    setting: Setting

    @property
    def sites(self) -> int:
        """How many sites there are."""
        return len(self.setting.allowed)

    @property
    def variables(self) -> int:
        """The sites alone."""
        return self.sites

    @property
    def allowed(self) -> Bits:
        """Sites that are open in some feasible placement."""
        return self.setting.allowed

    @property
    def copies(self) -> int:
        """One demand."""
        return 1

    @property
    def limits(self) -> tuple[Within, ...]:
        """None."""
        return ()

    def beginning(self) -> list[Clause]:
        """Sites that are closed, and who can serve whom."""
        closed = [(-(int(site) + 1),) for site in np.flatnonzero(self.allowed == 0)]
        return [*closed, *around_clients(self.setting)]

    def broken(self, placements: Bits, rng: np.random.Generator, most: int = 1 << 30) -> list[Clause]:
        """A clause for each overloaded site, see `from_placements`."""
        return from_placements(self.setting, placements, rng, most)

    def keeps(self, placement: Bits) -> bool:
        """Whether a placement overloads nobody."""
        return not losing(self.setting, placement[None])[0]

    def point(self, placement: Bits) -> Floats:
        """The placement itself."""
        return placement.astype(float)

    def priced(self, site_prices: Floats) -> Floats:
        """Prices of the sites."""
        return site_prices


@dataclass(frozen=True, eq=False)
class GivenUp:
    """Clauses of scenarios, each of which holds unless its scenario is given up.

    Parameters
    ----------
    settings
        Of each scenario; sites that are overloaded in it whatever else is open are not allowed there.
    probabilities, least
        Of the scenarios, and of those that are kept at least.
    allowed
        Sites that are open in some feasible placement.
    limits
        The probability of scenarios that are given up, in units: see `in_units`.
    """

    settings: tuple[Setting, ...]
    probabilities: Floats
    least: float
    allowed: Bits
    limits: tuple[Within, ...]

    @property
    def sites(self) -> int:
        """How many sites there are."""
        return len(self.allowed)

    @property
    def variables(self) -> int:
        """The sites, then the scenarios."""
        return self.sites + self.copies

    @property
    def copies(self) -> int:
        """How many scenarios there are."""
        return len(self.settings)

    def beginning(self) -> list[Clause]:
        """Sites that are closed, always or in a scenario, and who can serve whom in each."""
        found: list[Clause] = [(-(int(site) + 1),) for site in np.flatnonzero(self.allowed == 0)]
        for number, setting in enumerate(self.settings, self.sites + 1):
            barred = np.flatnonzero((self.allowed == 1) & (setting.allowed == 0))
            found += [(-(int(site) + 1), number) for site in barred]
            found += [tuple(sorted((*clause, number))) for clause in around_clients(setting)]
        return found

    def broken(self, placements: Bits, rng: np.random.Generator, most: int = 1 << 30) -> list[Clause]:
        """Clauses of overloads in all scenarios, and covers of those that are not kept."""
        lost = np.array([losing(setting, placements) for setting in self.settings])
        found: list[Clause] = []
        for number, (setting, here) in enumerate(zip(self.settings, lost, strict=True), self.sites + 1):
            made = from_placements(setting, placements[here], rng, most)
            found += [tuple(sorted((*clause, number))) for clause in made]
        for column in {tuple(column) for column in lost.T.tolist()}:
            cover = self.cover(np.flatnonzero(column), rng)
            if cover is not None:
                found.append(cover)
        return found

    def cover(self, lost: Sequence[int] | NDArray[np.int64], rng: np.random.Generator) -> Clause | None:
        """Some of these scenarios that together are too probable to be given up; ``None`` if all can be."""
        if self.enough(lost):
            return None
        kept = [int(scenario) for scenario in lost]
        for scenario in rng.permutation(kept):
            rest = [other for other in kept if other != scenario]
            if not self.enough(rest):
                kept = rest
        return tuple(sorted(-(self.sites + 1 + scenario) for scenario in kept))

    def enough(self, lost: Sequence[int] | NDArray[np.int64]) -> bool:
        """Whether the evaluator is content with the scenarios that are left: its own sum, in its own order."""
        from ..scenarios.reaching import to_mend

        excess = np.zeros(self.copies, np.int64)
        excess[list(lost)] = 1
        return not excess[to_mend(excess, self.probabilities, self.least)].any()

    def lost(self, placement: Bits) -> NDArray[np.bool_]:
        """Which scenarios a placement does not keep."""
        return np.array([losing(setting, placement[None])[0] for setting in self.settings])

    def keeps(self, placement: Bits) -> bool:
        """Whether a placement keeps enough scenarios."""
        return self.enough(np.flatnonzero(self.lost(placement)))

    def point(self, placement: Bits) -> Floats:
        """The placement, and which scenarios it does not keep."""
        return np.concatenate([placement, self.lost(placement)]).astype(float)

    def priced(self, site_prices: Floats) -> Floats:
        """Prices of the sites; to give up a scenario is free."""
        return np.pad(site_prices, (0, self.copies))


def in_units(probabilities: Floats, least: float) -> tuple[tuple[int, ...], int]:
    r"""Count probabilities in whole units, so that no set of scenarios that may be given up counts too much.

    With D units, :math:`w_s = \lfloor D p_s + \eta \rfloor` with a small :math:`\eta`, and the limit is D times what
    may be given up, with the evaluator's tolerance and :math:`\eta` for each scenario, rounded down: if
    :math:`\sum_{s \in G} p_s` is within what may be given up, :math:`\sum_{s \in G} w_s` is within the limit.

    Parameters
    ----------
    probabilities, least
        Of the scenarios, and of those that are kept at least.

    Returns
    -------
    weights, most
        Of each scenario, and of those given up at most.

    Examples
    --------
    >>> import numpy as np
    >>> in_units(np.array([0.5, 0.3, 0.2]), 0.7)
    ((5, 3, 2), 3)
    """
    from ..scenarios.reaching import ROUNDING

    for units in range(1, FINEST_PROBABILITY + 1):
        whole = np.round(probabilities * units)
        if (whole >= 1).all() and (np.abs(probabilities * units - whole) < NEARLY).all():
            break
    spare = float(probabilities.sum()) - least + ROUNDING + 1e-12 * len(probabilities)
    weights = np.floor(probabilities * units + NEARLY)
    most = math.floor(units * spare + NEARLY * len(probabilities))
    return tuple(int(weight) for weight in weights), most


# -- of problems -------------------------------------------------------------------------------------------------------


def setting_of(problem: PlacementProblem, allowed: NDArray[np.bool_] | None = None) -> Setting:
    """Take from a problem of one demand what decides who is overloaded."""
    ranks = np.ascontiguousarray(problem.layout.ranks, dtype=np.int64)
    none = np.zeros(0, np.int64)
    return Setting(
        ranks=ranks,
        order=np.argsort(ranks, axis=1, kind="stable").astype(np.int64),
        levels=np.ascontiguousarray(problem.levels, dtype=np.int64)[None],
        demand=np.array(problem.demand, dtype=np.int64)[None],
        capacity=np.ascontiguousarray(problem.capacity, dtype=np.int64)[None],
        allowed=(problem.allowed if allowed is None else allowed).astype(np.uint8),
        servers=none,
        offsets=none,
        strides=none.reshape(0, 1),
        deepest=none.reshape(0, 1),
    )


def source_of_scenarios(problem: ScenarioPlacement) -> GivenUp:
    """Take from a problem of scenarios who is overloaded in each."""
    settings = tuple(setting_of(part, problem.allowed & part.allowed) for part in problem.parts)
    allowed = problem.allowed.astype(np.uint8)
    probabilities, least = problem.probabilities, problem.scenario_probability
    weights, most = in_units(probabilities, least)
    scenarios = range(len(allowed), len(allowed) + len(settings))
    return GivenUp(settings, probabilities, least, allowed, (Within(tuple(scenarios), weights, most),))


def source_of_classes(problem: ClassPlacement) -> Overloads:
    """Take from a problem of classes who is overloaded by all together."""
    alone = [setting_of(part, problem.allowed) for part in problem.parts]
    offsets, strides, deepest = problem.servers.tables
    levels = max(setting.capacity.shape[2] for setting in alone)
    widened = [np.pad(setting.capacity, ((0, 0), (0, 0), (0, levels - setting.capacity.shape[2]))) for setting in alone]
    return Overloads(
        alone[0]._replace(
            levels=np.concatenate([setting.levels for setting in alone]),
            demand=np.concatenate([setting.demand for setting in alone]),
            capacity=np.concatenate(widened),
            servers=problem.servers.numbers,
            offsets=offsets,
            strides=strides,
            deepest=deepest,
        )
    )
