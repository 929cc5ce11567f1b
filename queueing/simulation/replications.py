"""Independent replications one after another, and what they have seen together: one harness for all kinds.

A kind says how one of its replications runs: a generator that yields None a few times a second, so that a caller can
look at its watch, and at last what was seen. Here such runs are strung together, counted and collected.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count, islice
from typing import Generic, Self, TypeVar

import numpy as np

from .intervals import Matrix, Vector

#: Events between two moments at which a caller can look at its watch.
STEP = 200_000

#: What happens less often has no error that could be told from what was seen.
MANY = 20.0


@dataclass(frozen=True, eq=False)
class Seen:
    """What a replication has seen.

    Attributes
    ----------
    observation
        What was counted, per unit of time; the kind says what stands where.
    events
        Events of the replication, those before counting included.
    """

    observation: Vector
    events: int


Model = TypeVar("Model")
Sight = TypeVar("Sight", bound=Seen)


def run_replications(run: Callable[[int], Iterator[Sight | None]]) -> Iterator[Sight | None]:
    """Run replications 0, 1, 2, ... without end.

    Parameters
    ----------
    run
        Starts the replication of a number, which has its own random numbers.

    Returns
    -------
    Iterator[Seen | None]
        What each of them yields: None in between, and what it has seen at its end.

    Examples
    --------
    >>> running = run_replications(lambda index: iter([None, Seen(np.array([float(index)]), 1)]))
    >>> [one and one.observation[0] for one, _ in zip(running, range(4))]
    [None, np.float64(0.0), None, np.float64(1.0)]
    """
    return chain.from_iterable(map(run, count()))


def first_finished(running: Iterator[Sight | None], number: int) -> list[Sight]:
    """Wait for so many replications.

    Parameters
    ----------
    running
        Replications under way, as of `run_replications`.
    number
        How many are waited for.

    Returns
    -------
    list[Seen]
        What they have seen.
    """
    return list(islice((one for one in running if one is not None), number))


@dataclass(frozen=True, eq=False)
class Observations(Generic[Model, Sight]):
    """What finished replications have seen together.

    Attributes
    ----------
    model
        What was simulated.
    replications
        What each replication has seen; two at least give confidence intervals.
    """

    model: Model
    replications: tuple[Sight, ...]

    @classmethod
    def of(cls, model: Model, replications: Sequence[Sight]) -> Self:
        """Put finished replications together."""
        if not replications:
            raise ValueError("replications must not be empty, but nothing came; run one at least.")
        return cls(model, tuple(replications))

    @cached_property
    def observations(self) -> Matrix:
        """A row for each replication."""
        return np.array([one.observation for one in self.replications])

    @property
    def events(self) -> int:
        """Events in all, those before counting included."""
        return sum(one.events for one in self.replications)
