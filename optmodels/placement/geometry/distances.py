"""Distances of any sort, and who is nearest in whole numbers: what searches and programs read off them.

Clients go to the nearest site, so of the distances of a cell only the order counts: the *rank* of a site is 1 for the
nearest sites of the cell, 2 for the next, and equal distances have equal ranks. What a site can take depends on
the clients that keep it waiting longest, so of the cells of a site only the order of their think times counts: the
*level* of a cell is 1 where they are shortest. Compiled loops and integer programs see ranks and levels alone; lengths
come back in measures. Where distances are steps counted from 1, all three are the same matrix.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...data import Refusal, is_number

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Entries of the largest matrix: ranks and orders of it take 1 GB.
MOST_PAIRS = 25_000_000

FORM = "distances are a list of rows, one for each site, of the same number of positive numbers, one for each cell."


def dense_ranks(rows: ArrayLike) -> tuple[Ints, Floats]:
    """Rank the numbers of each row, from 1, equal ones alike.

    Parameters
    ----------
    rows
        A matrix of numbers.

    Returns
    -------
    ranks
        A matrix of the same shape.
    values
        Per row and rank, in column ``rank - 1``: the number with that rank; ``inf`` beyond the largest of the row.

    Examples
    --------
    >>> from optmodels.placement.geometry import dense_ranks
    >>> ranks, values = dense_ranks([[2.5, 7.0, 2.5], [1.0, 3.0, 2.0]])
    >>> ranks.tolist(), values.tolist()
    ([[1, 2, 1], [1, 3, 2]], [[2.5, 7.0, inf], [1.0, 2.0, 3.0]])
    """
    matrix = np.asarray(rows, dtype=np.float64)
    order = np.argsort(matrix, axis=1, kind="stable")
    ordered = np.take_along_axis(matrix, order, axis=1)
    steps = np.ones(matrix.shape, dtype=np.int64)
    np.cumsum(ordered[:, 1:] > ordered[:, :-1], axis=1, out=steps[:, 1:])
    steps[:, 1:] += 1
    ranks = np.empty_like(steps)
    np.put_along_axis(ranks, order, steps, axis=1)
    values = np.full((len(matrix), int(steps.max(initial=1))), np.inf)
    np.put_along_axis(values, steps - 1, ordered, axis=1)
    return ranks, values


class Geometry(ABC):
    """Sites, cells, and the distance of each site to each cell."""

    @property
    @abstractmethod
    def sites(self) -> int:
        """How many sites there are."""

    @property
    def cells(self) -> int:
        """How many cells there are; they are the sites, unless said."""
        return self.sites

    @property
    @abstractmethod
    def distances(self) -> NDArray[Any]:
        """Distance of each site (rows) to each cell (columns)."""

    names: tuple[str, ...] | None = None  #: of the sites, where somebody says
    places: Floats | None = None  #: their coordinates, for pictures
    geographic: bool = False  #: whether these are degrees of longitude and latitude

    def whereabouts(self) -> dict[str, Any]:
        """Names and coordinates of the sites, in the form of an instance file."""
        names = {} if self.names is None else {"names": list(self.names)}
        return names if self.places is None else names | {"coordinates": self.places.tolist()}

    @property
    def shape(self) -> tuple[int, int] | None:
        """Rows and columns of a grid."""
        return None

    @property
    def stepwise(self) -> bool:
        """Whether distances are steps between sites that are cells, too, counted from 1: so they are their ranks."""
        return True

    @property
    def together(self) -> bool:
        """Whether the cells are the sites."""
        return True

    @abstractmethod
    def label(self, site: int) -> str:
        """How to call a site in a sentence."""

    def cell_label(self, cell: int) -> str:
        """How to call a cell in a sentence."""
        return self.label(cell)

    @abstractmethod
    def to_data(self) -> dict[str, Any]:
        """The form in an instance file."""

    @cached_property
    def _by_cell(self) -> tuple[Ints, Floats]:
        return dense_ranks(self.distances.T)

    @cached_property
    def _by_site(self) -> tuple[Ints, Floats]:
        return dense_ranks(self.distances)

    @property
    def lots(self) -> Ints:
        """Per site: the lot where it stands; of sites on one lot one is open at most."""
        return np.arange(self.sites)

    @property
    def ranks(self) -> Ints:
        """Per cell (rows): the rank of each site (columns), 1 for the nearest."""
        return self.distances if self.stepwise else self._by_cell[0]

    @cached_property
    def lengths(self) -> Floats:
        """Per cell, or one row for all: the distance of each rank; column 0 is that of no site, 0."""
        if self.stepwise:
            return np.arange(int(self.distances.max()) + 1.0)[None, :]
        values = self._by_cell[1]
        return np.hstack([np.zeros((len(values), 1)), np.where(np.isfinite(values), values, 0.0)])

    @property
    def levels(self) -> Ints:
        """Per site (rows): the level of each cell (columns), 1 for the nearest."""
        return self.distances if self.stepwise else self._by_site[0]

    @cached_property
    def reaches(self) -> Floats:
        """Per site, or one row for all: the distance of each level, from column 0; ``inf`` beyond the last."""
        return np.arange(1.0, int(self.distances.max()) + 1)[None, :] if self.stepwise else self._by_site[1]

    @cached_property
    def anchors(self) -> Ints:
        """Per site: its nearest cell, itself where cells are sites at distance 1."""
        return np.arange(self.sites) if self.stepwise else self.distances.argmin(axis=1).astype(np.int64)

    def around(self, demand: NDArray[Any]) -> NDArray[Any]:
        """Demand of the cells to which each site is the nearest, the first one where several are."""
        return demand if self.stepwise else np.bincount(self.ranks.argmin(axis=1), demand, self.sites)

    def away(self, nearest: Ints) -> NDArray[Any]:
        """The distance of each cell to its nearest open sites, given their rank; 0 where there is none."""
        return nearest if self.stepwise else self.lengths[np.arange(self.cells), nearest]


@dataclass(frozen=True, eq=False)
class DistanceMatrix(Geometry):
    """Sites at given distances from cells, the same both ways or not.

    Parameters
    ----------
    matrix
        Of each site (rows) to each cell (columns), positive.
    clients
        Number of cells, where they are not the sites; ``None``: they are if there are as many.
    names, places
        Of the sites, and their coordinates; ``None``: nobody says.

    Examples
    --------
    >>> import numpy as np
    >>> from optmodels.placement.geometry import DistanceMatrix
    >>> layout = DistanceMatrix(np.array([[3.0, 4.5, 8.0], [6.0, 4.5, 2.5]]))
    >>> layout.ranks.tolist(), layout.levels.tolist()
    ([[1, 2], [1, 1], [2, 1]], [[1, 2, 3], [3, 2, 1]])
    """

    matrix: Floats
    clients: int | None = None
    names: tuple[str, ...] | None = None
    places: Floats | None = None

    @property
    def sites(self) -> int:
        """Rows."""
        return int(self.matrix.shape[0])

    @property
    def cells(self) -> int:
        """Columns."""
        return int(self.matrix.shape[1])

    @property
    def distances(self) -> NDArray[Any]:
        """As given."""
        return self.matrix

    @property
    def stepwise(self) -> bool:
        """They are any numbers."""
        return False

    @property
    def together(self) -> bool:
        """Whether there are as many cells as sites, and nothing else is said."""
        return self.clients is None and self.sites == self.cells

    def label(self, site: int) -> str:
        """How to call a site in a sentence."""
        return f"site {site}"

    def cell_label(self, cell: int) -> str:
        """How to call a cell in a sentence."""
        return self.label(cell) if self.together else f"cell {cell}"

    def to_data(self) -> dict[str, Any]:
        """The form in an instance file."""
        clients = {} if self.clients is None else {"clients": self.clients}
        return {"distances": self.matrix.tolist(), **clients, **self.whereabouts()}


def read_matrix(rows: Any, form: str = FORM, rule: str = "distances are positive numbers.") -> Floats:
    """Read a matrix of positive numbers, a row for each site.

    Parameters
    ----------
    rows
        As they stand in the file.
    form, rule
        Told of what is no list of rows, and of what is no positive number.

    Returns
    -------
    array
        Which cannot be written to.
    """
    if not isinstance(rows, list | tuple) or not rows or not isinstance(rows[0], list | tuple) or not rows[0]:
        raise Refusal(form)
    columns = len(rows[0])
    if len(rows) * columns > MOST_PAIRS:
        raise Refusal(f"that is {len(rows)} sites x {columns} cells; at most {MOST_PAIRS} pairs are supported.")
    for site, row in enumerate(rows):
        if not isinstance(row, list | tuple) or len(row) != columns:
            found = f"{len(row)} numbers" if isinstance(row, list | tuple) else "no list"
            raise Refusal(f"row 0 has {columns} numbers, one for each cell, and here are {found}.", site)
        if {type(entry) for entry in row} - {int, float} or not all(is_number(entry) and entry > 0 for entry in row):
            cell = next(at for at, entry in enumerate(row) if not (is_number(entry) and entry > 0))
            raise Refusal(rule, site, cell)
    matrix = np.array(rows, dtype=np.float64)
    matrix.setflags(write=False)
    return matrix
