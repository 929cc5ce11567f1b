"""Orders of visits: rules that turn frequencies into a schedule, slot by slot.

E. G. Coffman Jr., Z. Liu, R. R. Weber, "Optimal robot scheduling for web search engines", *Journal of Scheduling* 1
(1998), 15-29.

`apportionment`
    How often each page appears in a cycle: whole numbers near :math:`n f_i` that add up to n.
`calendar`
    Earliest due date first, with a calendar queue.
`plan`
    Visits without end, for a crawler to pull from: pages that stay the same, and pages that come and go.
`politeness`
    Schedules that leave every host in peace for a while after a visit.
`rules`
    In which order to visit pages whose frequencies are given: cycles with visits as evenly spaced as can be.
`whittle_index`
    Whittle's index: visit the page for which a visit now is worth most.
`words`
    Cycles by rules that need no queue of due dates: nested regular words, the golden ratio, powers of two.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
