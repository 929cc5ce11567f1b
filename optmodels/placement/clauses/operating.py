r"""Operating costs in clauses: what a site costs at least while others are closed.

Under the guarantee ``"worst-case"`` the operating cost of site j is :math:`b_j v_j`, with the utilisation of its exact
mix of clients. It never falls when sites are closed:

* When a site is opened, another keeps each of its cells, at the same level, with the same share or a smaller one, or
  loses it. So closing sites only adds clients to the mix of another.
* With think times :math:`f_i` and rate :math:`\lambda` the numbers at the server have weights
  :math:`W_n [y^n] \prod_i P_i(y)`, with :math:`P_i(y) = \lambda f_i + y` for one request of a client, and log-concave
  coefficients for several (`queueing.placement.tokens`). One more client multiplies the product by its :math:`P`. The
  coefficients of the product rise against those before by a factor that grows with n, as these are log-concave: the
  number rises in likelihood ratio, and with it :math:`v = E \min(n, s) / s`.

So there are two sorts of clauses. **Steps** of each site, :math:`\theta_1 < \theta_2 < \dots`, each a variable
:math:`y_{jl}` with the price of the step: with Z closed and all else open the utilisation is at least :math:`\theta_l`,

.. math::  \bar x_j \vee \bigvee_{i \in Z} x_i \vee y_{jl}, \qquad \bar y_{jl} \vee y_{j, l-1}.

What every site costs even with all others open is part of its price. Steps leave out a little. So a placement that they
make too cheap is cut off by a **dear** clause: its open sites A, with the sites of Z closed, cost as much as the best
placement known,

.. math::  \bigvee_{j \in A} \bar x_j \vee \bigvee_{i \in Z} x_i \qquad\text{if}\qquad
           \sum_{j \in A} c_j + b_j v_j(Z) \ge c^*,

and so does everything else that opens A and leaves Z closed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from queueing.placement import MixedSourceQueue

from ..measures import assign
from .kernels import losing
from .pool import Clause
from .sources import Overloads, setting_of

if TYPE_CHECKING:
    from ..problem import PlacementProblem

Bits = NDArray[np.uint8]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Steps of each site, at quantiles of its utilisation in so many random placements.
STEPS, TRIED = 12, 200

#: Of placements that overload nobody, so many are looked at for steps at a time.
SHOWN = 20

#: Steps and dear clauses are lower by this share than what was computed, so that last digits prove nothing.
LAST_DIGITS = 1e-12


@dataclass(frozen=True, eq=False)
class Servers:
    """Utilisation of sites: servers, and the think times of their clients by level."""

    rates: Floats
    processors: Ints
    curves: Floats
    tokens: tuple[int, float]
    known: dict[tuple[int, bytes], float] = field(default_factory=dict)

    def utilisation(self, site: int, mix: Ints) -> float:
        """Of a site with so many clients at each level; those out of reach are not served."""
        key = site, mix.tobytes()
        found = self.known.get(key)
        if found is None:
            here = np.flatnonzero((mix > 0) & np.isfinite(self.curves[site]))
            found = 0.0
            if len(here):
                times = tuple(self.curves[site, here].tolist())
                queue = MixedSourceQueue(float(self.rates[site]), times, int(self.processors[site]), *self.tokens)
                found = float(queue.measures_many(mix[None, here]).utilisation[0])
            self.known[key] = found
        return found


@dataclass(frozen=True, eq=False)
class Operated(Overloads):
    """Clauses of one demand, with operating costs.

    Parameters
    ----------
    servers
        Of the sites.
    opening, operating
        Price of each open site, and at full utilisation.
    least
        Utilisation of each site with all others open.
    steps
        Per site: utilisations that rise; each has a variable.
    """

    servers: Servers
    opening: Floats
    operating: Floats
    least: Floats
    steps: tuple[Floats, ...]

    @property
    def variables(self) -> int:
        """The sites, then the steps of each."""
        return self.sites + sum(map(len, self.steps))

    def priced(self, site_prices: Floats) -> Floats:
        """Prices of sites, with what they cost in any case, and of steps."""
        rises = [
            b * np.diff(steps, prepend=least)
            for b, steps, least in zip(self.operating, self.steps, self.least, strict=True)
        ]
        return np.concatenate([site_prices + self.operating * self.least, *rises])

    def first_step(self, site: int) -> int:
        """The variable, from 1, of the first step of a site."""
        return self.sites + 1 + sum(len(steps) for steps in self.steps[:site])

    def beginning(self) -> list[Clause]:
        """As without operating costs, and that no step is left out."""
        ladders = [
            (-(first + at), first + at - 1)
            for site, steps in enumerate(self.steps)
            for first in [self.first_step(site)]
            for at in range(1, len(steps))
        ]
        return [*super().beginning(), *ladders]

    def broken(self, placements: Bits, rng: np.random.Generator, most: int = 1 << 30) -> list[Clause]:
        """A clause for each overloaded site, and of each placement that overloads nobody the steps it takes."""
        found = super().broken(placements, rng, most)
        feasible = np.unique(placements[~losing(self.setting, placements)], axis=0)
        for placement in rng.permutation(feasible)[:SHOWN]:
            found += self.rises(np.pad(placement, (0, self.variables - self.sites)), rng)
        return found

    def point(self, placement: Bits) -> Floats:
        """The placement, and the steps it takes."""
        used = self.used(placement)
        taken = [(steps <= used[site]) & (placement[site] == 1) for site, steps in enumerate(self.steps)]
        return np.concatenate([placement, *taken]).astype(float)

    # -- costs --------------------------------------------------------------------------------------------------------

    def mixes(self, is_open: Bits) -> Ints:
        """Clients by site and level."""
        setting, most = self.setting, self.servers.curves.shape[1]
        found: Ints = assign(is_open, setting.ranks, setting.levels[0], setting.demand[0], most)[4]
        return found

    def used(self, is_open: Bits) -> Floats:
        """Utilisation of each site, 0 of closed ones."""
        mixes = self.mixes(is_open)
        return np.array(
            [self.servers.utilisation(site, mixes[site]) if is_open[site] else 0.0 for site in range(self.sites)]
        )

    def cost(self, placement: Bits) -> float:
        """What a placement costs."""
        return float(placement @ self.opening + self.operating @ self.used(placement))

    # -- clauses ------------------------------------------------------------------------------------------------------

    def rises(self, point: NDArray[np.generic], rng: np.random.Generator) -> list[Clause]:
        """Clauses of steps that a placement takes, and a point does not: of each site the highest."""
        placement = np.asarray(point[: self.sites], np.uint8)
        used, found = self.used(placement), []
        for site in np.flatnonzero(placement):
            steps, first = self.steps[site], self.first_step(int(site))
            taken = int((steps <= used[site]).sum())
            if taken and not point[first + taken - 2]:
                needed = self._needed(placement, int(site), float(steps[taken - 1]), rng)
                found.append(tuple(sorted((-(int(site) + 1), *(z + 1 for z in needed), first + taken - 1))))
        return found

    def _needed(self, placement: Bits, site: int, step: float, rng: np.random.Generator) -> list[int]:
        """Few closed sites with which a site takes a step, all others being open."""
        is_open, needed = placement.copy(), []
        closed = np.flatnonzero((placement == 0) & (self.allowed == 1))
        near = self.setting.ranks[:, closed].min(
            axis=0, initial=1 << 30, where=(self.mixes_of(placement, site))[:, None]
        )
        for other in closed[np.lexsort((rng.random(len(closed)), -near))]:
            is_open[other] = 1
            if self.servers.utilisation(site, self.mixes(is_open)[site]) < step:
                is_open[other] = 0
                needed.append(int(other))
        return needed

    def mixes_of(self, placement: Bits, site: int) -> NDArray[np.bool_]:
        """The cells that a site serves."""
        ranks, open_sites = self.setting.ranks, np.flatnonzero(placement)
        return np.asarray(
            (self.setting.demand[0] > 0) & (ranks[:, site] == ranks[:, open_sites].min(axis=1)), dtype=np.bool_
        )

    def dear(self, placement: Bits, best: float, rng: np.random.Generator) -> Clause:
        """Sites that, open and closed as they are in a placement, cost at least as much as the best one."""
        is_open, needed = placement.copy(), []
        wanted = best * (1 - 100 * LAST_DIGITS)
        kept = placement.copy()  # sites whose costs count

        def worth() -> float:
            return float(kept @ self.opening + (kept * self.operating) @ self.used(is_open))

        assert worth() >= wanted
        for other in rng.permutation(np.flatnonzero((placement == 0) & (self.allowed == 1))):
            is_open[other] = 1
            if worth() < wanted:
                is_open[other] = 0
                needed.append(int(other))
        for site in rng.permutation(np.flatnonzero(placement)):
            kept[site] = 0
            if worth() < wanted:
                kept[site] = 1
        return tuple(sorted([*(-(int(site) + 1) for site in np.flatnonzero(kept)), *(other + 1 for other in needed)]))


def source_of(problem: PlacementProblem) -> Overloads:
    """Take from a problem of one demand who is overloaded, and what sites cost where utilisation has a price."""
    setting, weight = setting_of(problem), (problem.weights or {}).get("operating", 0.0)
    if weight == 0 or problem.operating_cost is None:
        return Overloads(setting)
    servers = Servers(
        rates=problem.service_rate,
        processors=problem.processors,
        curves=problem.think_times,
        tokens=(problem.requests, problem.request_share),
    )
    sites = len(setting.allowed)
    opening, operating = problem.site_prices, weight * problem.operating_cost
    plain = Operated(setting, servers, opening, operating, np.zeros(sites), (np.zeros(0),) * sites)
    least = np.empty(sites)
    for site in range(sites):
        everything = setting.allowed.copy()
        everything[site] = 1
        least[site] = plain.used(everything)[site] * (1 - LAST_DIGITS)
    rng = np.random.default_rng(0)
    seen: list[list[float]] = [[] for _ in range(sites)]
    for share in rng.uniform(0.1, 0.7, TRIED):
        placement = (rng.random(sites) < share).astype(np.uint8) & setting.allowed
        mixes = plain.mixes(placement)
        load = mixes.sum(axis=1)
        for site in np.flatnonzero(placement).tolist():
            if 0 < load[site] <= problem.capacity[site, 0]:
                seen[site].append(servers.utilisation(site, mixes[site]) * (1 - LAST_DIGITS))
    steps = []
    for site in range(sites):
        values = np.array([value for value in seen[site] if value > least[site] and operating[site] > 0])
        quantiles = np.quantile(values, np.linspace(0, 1, STEPS), method="lower") if len(values) else values
        steps.append(np.unique(quantiles))
    return Operated(setting, servers, opening, operating, least, tuple(steps))
