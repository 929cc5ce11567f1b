r"""Fleets: robots of several classes, on journeys of phases, in a random environment.

`banded`
    Chains whose states can be ordered so that transitions are short, eliminated without a subtraction.
`control`
    Policies of a robot fleet: what they achieve, and the best one with a certificate.
`krylov`
    Chains of a million states: relative values and stationary distributions by a Krylov method.
`mixed`
    Policies of a robot fleet that leave decisions to chance: what they achieve.
`model`
    Robots of several classes, on long journeys, in a world that changes: the robot queue in general.
`policies`
    Policies of a robot fleet: which actions are possible, where to begin, and how to lead them to a set of states.
`relative_values`
    The step of policy iteration of a robot fleet, and the bracket of its least cost.
`stationary`
    Stationary distribution of the chain of a policy, from the start: no pages, no robots, a decision due.
`transitions`
    Transitions of a robot fleet: its events and changes as flat arrays, and the chain that a policy makes of them.
`value_iteration`
    Value iteration for a robot fleet: a sweep replaces values J by :math:`J + b / \Lambda`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
