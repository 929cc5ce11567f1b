"""Robots as a linear program, and under limits as an integer program, in Pyomo.

`beginning`
    Where the integer program of limited robots begins: policies that keep the limits, and a bound.
`constraints`
    Variables and constraints of the program of occupation measures, piece by piece.
`model`
    The program of occupation measures: what it says, why it is exact, and how decisions are read and written.
`plan`
    What the program is written from: states, answers to events, and the largest share of time in each state.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
