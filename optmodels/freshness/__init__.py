"""Kind "freshness": how often to visit each page.

E. G. Coffman Jr., Z. Liu, R. R. Weber, "Optimal robot scheduling for web search engines", *Journal of Scheduling* 1
(1998), 15-29.

`commands`
    Commands of kind "freshness": ``fit``, change rates from a crawl log, and ``visits``, when pages are visited next.
`cycles`
    The best cycle of so many slots: a discrete problem, for searches and for integer programs.
`data`
    The data of a freshness instance: every field with its rule, and what they make together.
`fitting`
    Change rates of pages from the log of a crawler.
`generate`
    Random pages to be kept fresh: instances of kind "freshness", from a hundred pages to hundreds of millions.
`kind`
    Kind "freshness" as one value: what `optmodels list freshness` tells, and where the rest is found.
`partition`
    Which robot visits which pages, how often, and frequencies in given proportions.
`plots`
    Pictures of kind "freshness": how often pages are visited, what orders of visits cost, and the first visits.
`problem`
    Which pages to visit how often, and in which order: kind "freshness".
`rules`
    What visits must keep to: totals, least frequencies, caps and gaps of hosts, one robot for each page.
`schedules`
    Orders of visits: strategies, what crawlers ship, and tables of next visits.
`simulation`
    Plans of visits, tried out access by access.
`space`
    What can be decided about visits: frequencies evenly spaced, frequencies drawn at random, or a cycle of pages.
`tables`
    Problems of so many pages that they stay in files.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
