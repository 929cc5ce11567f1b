"""Robots split over areas, each with a server of its own.

`limits`
    Robots split over areas under limits: a bound and a search, from a program over tables.
`mip`
    Robots split over areas as an integer program: a knapsack with one choice for each area.
`plots`
    The picture of robots split over areas: who gets how many, what that costs, and what another robot would be
    worth.
`problem`
    How to split crawler robots over areas of the web: kind "robots" with ``areas``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
