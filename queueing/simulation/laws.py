"""Laws of the access time as a simulation draws them: from their parameters alone, never from a transform."""

from typing import NamedTuple

import numpy as np
from numba import njit

from ..processes import AccessTime, Constant, Erlang, Exponential, Hyperexponential, PhaseTypeTime, Samples
from .draws import Law, choose, law_of
from .intervals import Matrix, Vector

CONSTANT, EXPONENTIAL, ERLANG, HYPEREXPONENTIAL, PHASES, SAMPLES = range(6)

_ONE = np.ones((1, 1))
_NO_PHASES = law_of("access time", None)


class Drawn(NamedTuple):
    """The law of an access as it is drawn.

    Attributes
    ----------
    form
        which of the laws.
    values, chances
        its times (constants, means, samples), and in one row sums of their chances.
    phases
        the chain of phases, if it is one.
    """

    form: int
    values: Vector
    chances: Matrix
    phases: Law


def drawn_law(law: AccessTime) -> Drawn:
    """Make the tables by which access times are drawn.

    Parameters
    ----------
    law
        Of the time of an access.

    Returns
    -------
    Drawn
        The tables; a ValueError is raised if nothing is known of the law but its transform.
    """
    match law:
        case Constant():
            return Drawn(CONSTANT, np.array([law.value]), _ONE, _NO_PHASES)
        case Exponential():
            return Drawn(EXPONENTIAL, np.array([law.mean]), _ONE, _NO_PHASES)
        case Erlang():
            return Drawn(ERLANG, np.array([float(law.stages), law.mean / law.stages]), _ONE, _NO_PHASES)
        case Hyperexponential():
            return Drawn(
                HYPEREXPONENTIAL, np.array(law.means), np.cumsum(law.probabilities)[None, :].copy(), _NO_PHASES
            )
        case Samples():
            return Drawn(SAMPLES, np.array(law.values), _ONE, _NO_PHASES)
        case PhaseTypeTime():
            return Drawn(PHASES, np.ones(1), _ONE, law_of("access time", law.law))
    raise ValueError(
        f"access times must be of a law that can be drawn, but {type(law).__name__} has only a transform; "
        "give a constant, exponential, Erlang, hyperexponential or phase-type law, or samples."
    )


@njit(cache=True, inline="always")
def draw_time(law: Drawn, rng: np.random.Generator) -> float:
    """Draw how long an access takes.

    Parameters
    ----------
    law
        Tables made by `drawn_law`.
    rng
        Source of random numbers.

    Returns
    -------
    float
        The time.
    """
    if law.form == CONSTANT:
        return float(law.values[0])
    if law.form == EXPONENTIAL:
        return float(law.values[0] * rng.standard_exponential())
    if law.form == ERLANG:  # stages, and the mean of one
        return float(law.values[1] * rng.standard_gamma(law.values[0]))
    if law.form == SAMPLES:
        return float(law.values[int(rng.random() * len(law.values))])
    if law.form == HYPEREXPONENTIAL:
        return float(law.values[choose(law.chances, 0, rng)] * rng.standard_exponential())
    phase = choose(law.phases.start, 0, rng)
    spent = 0.0
    while phase < law.phases.rates.shape[0]:
        spent += rng.standard_exponential() / law.phases.rates[phase]
        phase = choose(law.phases.moves, phase, rng)
    return spent
