r"""What robots bring when 1, ..., N of them are active: the four readings of Avrachenkov et al. (2011), section 2.

Each ends in a list of `Mode`, a number of active robots and the arrival process they make together, all driven by one
chain. The printed formula of the first reading multiplies generators that must be added; here stand Kronecker sums.

====================  ==============================================================================================
`independent_modes`   each robot its own BMAP; one that is switched off still runs its chain, without arrivals
`thinned_modes`       one BMAP, whose batches are kept with probability q_l when l robots are active
`marked_modes`        one chain whose batches carry the mark of a robot (BMMAP); those of inactive robots are not made
`Mode`                the matrices of each number of robots, as they are
====================  ==============================================================================================
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike

from ..numerics import Matrix, numbers, square, whole
from ..processes import BMAP


@dataclass(frozen=True)
class Mode:
    """A number of active robots, and the arrivals they make together.

    Parameters
    ----------
    robots
        how many are active, at least 0.
    arrivals
        the process of the pages that they bring.

    Examples
    --------
    >>> from queueing import BMAP, Mode
    >>> mode = Mode(2, BMAP.poisson(0.6))
    >>> mode.robots, mode.arrivals.rate
    (2, 0.6)
    """

    robots: int
    arrivals: BMAP

    def __post_init__(self) -> None:
        object.__setattr__(self, "robots", whole("robots", self.robots, least=0))
        if not isinstance(self.arrivals, BMAP):
            raise TypeError(f"arrivals must be a BMAP, but it is {self.arrivals!r}; give BMAP((D0, D1, ...)).")


def independent_modes(robots: Sequence[BMAP]) -> tuple[Mode, ...]:
    r"""Make modes of robots that know nothing of one another: 1, ..., N of them active.

    Parameters
    ----------
    robots
        the process of each robot; the first is the last to be switched off.

    Returns
    -------
    tuple of Mode
        one for each number of active robots l, with Kronecker sums
        :math:`D_k^{(1)} \oplus \dots \oplus D_k^{(l)}` of the active robots' matrices. The chain of a robot that is
        switched off runs on, without arrivals.

    Notes
    -----
    The first interpretation of Avrachenkov et al. (2011), section 2.

    Examples
    --------
    >>> from queueing import BMAP, independent_modes
    >>> [round(mode.arrivals.rate, 12) for mode in independent_modes([BMAP.poisson(0.5), BMAP.poisson(0.25)])]
    [0.5, 0.75]
    """
    _check_some("robots", robots)
    return tuple(Mode(active, _together(robots, active)) for active in range(1, len(robots) + 1))


def thinned_modes(arrivals: BMAP, probabilities: ArrayLike) -> tuple[Mode, ...]:
    """Make modes that keep each batch of one process with a probability that rises with the number of active robots.

    Parameters
    ----------
    arrivals
        the process of all robots together.
    probabilities
        q_1 < ... < q_N = 1: chance that a batch is kept when l robots are active.

    Returns
    -------
    tuple of Mode
        one for each number of robots, with :math:`D_0^{(l)} = q_l D_0 + (1 - q_l) D(1)` and
        :math:`D_k^{(l)} = q_l D_k`.

    Notes
    -----
    The second interpretation of Avrachenkov et al. (2011), section 2.

    Examples
    --------
    >>> from queueing import BMAP, thinned_modes
    >>> [mode.arrivals.rate for mode in thinned_modes(BMAP.poisson(2.0), [0.25, 0.5, 1.0])]
    [0.5, 1.0, 2.0]
    """
    chances = numbers("probabilities", probabilities, 1)
    steps = np.diff(np.concatenate([[0.0], chances]))
    if (steps <= 0).any() or chances[-1] != 1.0:
        raise ValueError(
            "probabilities must rise from above 0 to 1, the last one, but they are "
            f"{', '.join(str(float(chance)) for chance in chances)}; give one for each number of robots."
        )
    quiet, *batches = arrivals.blocks
    lost = np.sum(batches, axis=0)
    return tuple(
        Mode(active, BMAP((quiet + (1.0 - chance) * lost, *(chance * block for block in batches))))
        for active, chance in enumerate(chances, start=1)
    )


def marked_modes(quiet: ArrayLike, robots: Sequence[Sequence[ArrayLike]]) -> tuple[Mode, ...]:
    r"""Make modes of a marked process, whose batches each belong to a robot; those of inactive robots are not made.

    Parameters
    ----------
    quiet
        D_0: rates of transitions without a batch.
    robots
        for each robot the rates D_1, D_2, ... of transitions with a batch of its own.

    Returns
    -------
    tuple of Mode
        one for each number of robots l, with :math:`\mathcal{D}_0^{(l)} = D_0 + \sum_{m > l} \sum_k D_k^{(m)}` and
        :math:`\mathcal{D}_k^{(l)} = \sum_{m \le l} D_k^{(m)}`.

    Notes
    -----
    The third interpretation of Avrachenkov et al. (2011), section 2: a BMMAP, under which robots may depend on one
    another.

    Examples
    --------
    >>> from queueing import marked_modes
    >>> modes = marked_modes([[-1.0, 0.2], [0.1, -1.0]], [[[[0.5, 0.0], [0.0, 0.4]]], [[[0.3, 0.0], [0.0, 0.5]]]])
    >>> [round(mode.arrivals.rate, 6) for mode in modes]
    [0.433333, 0.866667]
    """
    _check_some("robots", robots)
    still = square("D0", quiet)
    made = [
        [square(f"robots[{index}][{size}]", block) for size, block in enumerate(blocks)]
        for index, blocks in enumerate(robots)
    ]
    for index, blocks in enumerate(made):
        _check_some(f"robots[{index}]", blocks)
        for size, block in enumerate(blocks):
            if block.shape != still.shape:
                raise ValueError(
                    f"robots[{index}][{size}] must have as many rows as D0, {len(still)}, but it has {len(block)}; "
                    "all matrices of an arrival process have one size."
                )
    largest = max(len(blocks) for blocks in made)
    modes = []
    for active in range(1, len(made) + 1):
        silent = [block for blocks in made[active:] for block in blocks]
        batches = [
            np.sum([blocks[size] for blocks in made[:active] if size < len(blocks)] or [np.zeros_like(still)], axis=0)
            for size in range(largest)
        ]
        modes.append(Mode(active, BMAP((np.sum([still, *silent], axis=0), *batches))))
    return tuple(modes)


def _together(robots: Sequence[BMAP], active: int) -> BMAP:
    """Return the superposition of the first `active` robots; the chains of the others run on without arrivals."""
    largest = max(len(robot.blocks) for robot in robots[:active])
    quiet = [robot.blocks[0] if index < active else robot.generator for index, robot in enumerate(robots)]
    batches = [
        [
            robot.blocks[size] if index < active and size < len(robot.blocks) else 0.0 * quiet[index]
            for index, robot in enumerate(robots)
        ]
        for size in range(1, largest)
    ]
    return BMAP(tuple(_kronecker_sum(blocks) for blocks in [quiet, *batches]))


def _kronecker_sum(matrices: Sequence[Matrix]) -> Matrix:
    return reduce(lambda left, right: np.kron(left, np.eye(len(right))) + np.kron(np.eye(len(left)), right), matrices)


def _check_some(name: str, values: Sequence[object]) -> None:
    if len(values) == 0:
        raise ValueError(f"{name} must not be empty, but nothing came; give one entry at least.")
