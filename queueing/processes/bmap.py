r"""Batch Markovian arrival processes (BMAP).

A chain :math:`\nu_t` moves by :math:`D_0` without arrivals and by :math:`D_k` with a batch of k. Its generator is
:math:`D(1) = \sum_k D_k`, its stationary distribution :math:`\theta`. In the words of Avrachenkov et al.
(2011), section 2:

=====================  =========================================================================================
`rate`                 :math:`\lambda = \theta \sum_k k D_k e`, customers per unit of time
`group_rate`           :math:`\lambda_g = \theta \sum_{k \ge 1} D_k e`, batches per unit of time
`interval_variance`    :math:`v = 2 \lambda_g^{-1} \theta (-D_0)^{-1} e - \lambda_g^{-2}`, of times between batches
`correlation`          :math:`c_{cor} = (\lambda_g\, \theta (-D_0)^{-1} (D(1) - D_0) (-D_0)^{-1} e - 1)
                       / (v \lambda_g^2)`, of successive times between batches
=====================  =========================================================================================
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ..numerics import (
    SUM_TOLERANCE,
    Matrix,
    Vector,
    check_generator,
    check_irreducible,
    distribution,
    not_negative,
    not_negative_rates,
    numbers,
    positive,
    refuse_rows,
    square,
    stationary_of_rates,
    transient_solution,
)


@dataclass(frozen=True, eq=False)
class BMAP:
    r"""A batch Markovian arrival process.

    A Markov chain makes transitions at the rates :math:`D_0` without arrivals and at the rates :math:`D_k` with a batch
    of k customers. Poisson processes, Markov-modulated Poisson processes and MAPs are special cases with constructors.

    Parameters
    ----------
    blocks
        D_0, D_1, ..., D_m: rates of transitions with 0, 1, ..., m arrivals, square and of one size. Their sum is the
        generator of an irreducible chain. All of D_1, ..., D_m may be zero: nothing ever arrives then.

    Notes
    -----
    With :math:`\theta` the stationary distribution of :math:`D(1) = \sum_k D_k`, customers come at the rate
    :math:`\lambda = \theta \sum_k k D_k e`, batches at the rate :math:`\lambda_g = \theta \sum_{k \ge 1} D_k e`, and
    times between batches have

    .. math::  v = \frac{2}{\lambda_g}\, \theta (-D_0)^{-1} e - \frac{1}{\lambda_g^2}, \qquad
               c_{cor} = \frac{\lambda_g\, \theta (-D_0)^{-1} (D(1) - D_0) (-D_0)^{-1} e - 1}{v \lambda_g^2}

    as variance and as correlation of successive ones.

    References
    ----------
    .. [1] K. Avrachenkov, A. Dudin, V. Klimenok, P. Nain, O. Semenova, "Optimal threshold control by the robots of web
       search engines with obsolescence of documents", *Computer Networks* 55 (2011), 1880-1893; section 2.

    Examples
    --------
    >>> from queueing import BMAP
    >>> bursts = BMAP.mmpp([[-0.1, 0.1], [0.3, -0.3]], [1.0, 9.0])
    >>> round(bursts.rate, 6), round(bursts.correlation, 6)
    (3.0, 0.309598)
    >>> pairs = BMAP.batches(BMAP.poisson(2.0), [0.5, 0.5])
    >>> pairs.rate, pairs.mean_batch
    (3.0, 1.5)
    """

    blocks: tuple[Matrix, ...]

    def __post_init__(self) -> None:
        try:
            given = list(self.blocks)
        except TypeError:
            given = []
        if len(given) < 2:
            raise ValueError(
                f"blocks must be two matrices or more, D0 and D1 at least, but {len(given)} came; give D0, D1, ..., Dm."
            )
        blocks = tuple(square(f"D{index}", block) for index, block in enumerate(given))
        for index, block in enumerate(blocks):
            if block.shape != blocks[0].shape:
                raise ValueError(
                    f"D{index} must have as many rows as D0, {len(blocks[0])}, but it has {len(block)}; "
                    "all matrices of an arrival process have one size."
                )
            not_negative_rates(f"D{index}", block, diagonal=index > 0)
        name = "D0 + D1" if len(blocks) == 2 else f"D0 + ... + D{len(blocks) - 1}"
        total = np.sum(blocks, axis=0)
        sums, diagonal = total.sum(axis=1), np.abs(np.diagonal(blocks[0]))
        advice = "set the diagonal of D0 to minus the sum of all other rates of its row."
        refuse_rows(name, sums, np.abs(sums) > SUM_TOLERANCE * diagonal, "0", advice)
        check_irreducible(name, total)
        object.__setattr__(self, "blocks", blocks)

    @classmethod
    def poisson(cls, rate: float) -> "BMAP":
        """Make single arrivals at times that know nothing of one another."""
        speed = positive("rate", rate)
        return cls((np.array([[-speed]]), np.array([[speed]])))

    @classmethod
    def mmpp(cls, generator: ArrayLike, rates: ArrayLike) -> "BMAP":
        """Make single arrivals at the rate rates[s] while a chain with this generator is in state s."""
        matrix = check_generator("generator", generator)
        speeds = numbers("rates", rates, 1)
        if len(speeds) != len(matrix):
            raise ValueError(
                f"rates must have one rate for each state, but it has {len(speeds)} and generator has {len(matrix)} "
                "states; give equally many."
            )
        for index, rate in enumerate(speeds):
            not_negative(f"rates[{index}]", rate)
        return cls((matrix - np.diag(speeds), np.diag(speeds)))

    @classmethod
    def map(cls, quiet: ArrayLike, arrival: ArrayLike) -> "BMAP":
        """Make single arrivals: D_0, the moves without one, and D_1, the moves with one."""
        return cls((square("D0", quiet), square("D1", arrival)))

    @classmethod
    def batches(cls, arrivals: "BMAP", sizes: ArrayLike) -> "BMAP":
        """Make each single arrival of a process a batch: of k customers with probability sizes[k - 1]."""
        if len(arrivals.blocks) != 2:
            raise ValueError(
                f"arrivals must come one by one, but they come in batches of up to {len(arrivals.blocks) - 1}; "
                "give a process of two matrices, D0 and D1."
            )
        quiet, single = arrivals.blocks
        return cls((quiet, *(chance * single for chance in distribution("sizes", sizes))))

    @property
    def phases(self) -> int:
        """Number of states of the chain behind the arrivals."""
        return len(self.blocks[0])

    @property
    def largest_batch(self) -> int:
        """The largest k with D_k not zero; 0 where nothing ever arrives."""
        return max((index for index, block in enumerate(self.blocks) if index and block.any()), default=0)

    @cached_property
    def generator(self) -> Matrix:
        """D(1), the generator of the chain behind the arrivals."""
        total = np.asarray(np.sum(self.blocks, axis=0))
        total.flags.writeable = False
        return total

    @cached_property
    def stationary(self) -> Vector:
        """theta, the stationary distribution of the chain behind the arrivals."""
        result = stationary_of_rates(self.generator)
        result.flags.writeable = False
        return result

    @cached_property
    def batch_rates(self) -> tuple[float, ...]:
        """Batches of 1, 2, ..., m customers per unit of time."""
        return tuple(float(self.stationary @ block.sum(axis=1)) for block in self.blocks[1:])

    @property
    def group_rate(self) -> float:
        """lambda_g: batches per unit of time."""
        return sum(self.batch_rates)

    @property
    def rate(self) -> float:
        """Lambda: customers per unit of time."""
        return sum(size * rate for size, rate in enumerate(self.batch_rates, start=1))

    @property
    def mean_batch(self) -> float:
        """Customers per batch."""
        self._check_arrives()
        return self.rate / self.group_rate

    @property
    def interval_variance(self) -> float:
        """Variance of the time between batches."""
        self._check_arrives()
        rate = self.group_rate
        return 2 * float(self.stationary @ self._until_arrival(np.ones(self.phases))) / rate - 1 / rate**2

    @property
    def correlation(self) -> float:
        """c_cor: correlation coefficient of successive times between batches."""
        self._check_arrives()
        rate = self.group_rate
        met = np.sum(self.blocks[1:], axis=0) @ self._until_arrival(np.ones(self.phases))
        product = rate * float(self.stationary @ self._until_arrival(met))
        return (product - 1) / (self.interval_variance * rate**2)

    def scaled(self, factor: float) -> "BMAP":
        """Return the process with time running `factor` times as fast."""
        speed = positive("factor", factor)
        return BMAP(tuple(block * speed for block in self.blocks))

    def _until_arrival(self, right: Vector) -> Vector:
        """Return (-D_0)^-1 right, what is collected until the next batch."""
        exits = np.sum(self.blocks[1:], axis=0).sum(axis=1)
        return transient_solution(self.blocks[0], exits, right)

    def _check_arrives(self) -> None:
        if self.largest_batch == 0:
            raise ValueError("Times between batches exist only where something arrives, but D1, ..., Dm are all zero.")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BMAP):
            return NotImplemented
        return np.array_equal(self.blocks, other.blocks)

    def __hash__(self) -> int:
        return hash(tuple(block.tobytes() for block in self.blocks))

    def __reduce__(self) -> tuple[type["BMAP"], tuple[tuple[Matrix, ...]]]:
        return BMAP, (self.blocks,)


def check_same_phases(processes: Sequence[BMAP]) -> None:
    """Refuse processes whose chains differ in size: one chain must drive them all.

    Parameters
    ----------
    processes
        one for each mode.

    Raises
    ------
    ValueError
        if their numbers of phases differ; the first mode that differs from mode 0 is named.
    """
    for index, process in enumerate(processes):
        if process.phases != processes[0].phases:
            raise ValueError(
                f"All modes must be driven by one chain, but mode {index} has {process.phases} phases and mode 0 has "
                f"{processes[0].phases}; write them with the same phases."
            )
