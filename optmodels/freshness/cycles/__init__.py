"""The best cycle of so many slots: kind "freshness" with the field ``cycle``.

A discrete problem: which page is visited in each of the T slots of a cycle, of each robot. Searches walk through the
cycles, and the integer program proves the best.

`counts`
    How often pages are visited in the best cycle at least: a bound, and beginnings for searches.
`kernel`
    Cycles of visits changed slot by slot, in compiled code.
`mip`
    The integer program of the best cycles: visits, the gaps between them, and how often pages are visited.
`problem`
    The best cycle of so many slots, as a problem.
`reduction`
    What cycles that cost no more than a known one cannot have: numbers of visits of a page, and gaps of a page.
`space`
    Cycles of one length: a space of decisions.
`walk`
    Walks through cycles of visits, each step at the price of the gaps that it changes.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
