"""Robots of several classes, on journeys of phases, in a random environment.

`plots`
    The picture of a robot fleet: up to how many robots are sent out, or who is sent in which state.
`problem`
    Fleets of robots: several classes, long journeys, a world that changes, several sent out at once; kind "robots".
`static`
    Fixed numbers of robots of a fleet: the best found, by closed forms where there are, else by search.
`structure`
    What a policy of a robot fleet does where it is: how often robots of each class go out, and up to which number.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
