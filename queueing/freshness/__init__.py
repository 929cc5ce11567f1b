"""How long pages of an index are out of date, and how often to visit them.

E. G. Coffman Jr., Z. Liu, R. R. Weber, "Optimal robot scheduling for web search engines", *Journal of Scheduling* 1
(1998), 15-29.

`allocation`
    How often to visit each page: the frequencies that cost least when visits are evenly spaced.
`inverse`
    How far apart visits should be when another one is worth a given price.
`page_traits`
    Pages that change and are visited by a robot: what of them matters, as numbers that doubles can hold.
`prices`
    The price of a visit: compiled loops over pages in decreasing order of worth.
`staleness`
    How long pages of a search index are out of date, for any way of visiting them.
`whole_gaps`
    The bound of whole gaps: what even spacing promises, and no schedule can keep.
`estimation`
    Change rates of pages from what visits found.
`large`
    Frequencies of any number of pages, by passes over them.
`simulation`
    Visits to pages, access by access.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
