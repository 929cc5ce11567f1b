"""Laws of the access time as a simulation draws them: from their parameters alone, never from a transform."""

import numpy as np

from .freshness_simulation_kernel import CONSTANT, ERLANG, EXPONENTIAL, HYPEREXPONENTIAL, PHASES, SAMPLES, Drawn
from .laws import AccessTime, Constant, Erlang, Exponential, Hyperexponential, PhaseTypeTime, Samples
from .simulation_queue import law_of

_ONE = np.ones((1, 1))
_NO_PHASES = law_of("access time", None)


def drawn_law(law: AccessTime) -> Drawn:
    """The tables by which times are drawn, or one sentence if nothing is known of the law but its transform."""
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
