"""Kind "threshold": at how many pages robots are switched.

K. Avrachenkov, A. Dudin, V. Klimenok, P. Nain, O. Semenova, "Optimal threshold control by the robots of web search
engines with obsolescence of documents", *Computer Networks* 55 (2011), 1880-1893.

`data`
    The data of a threshold instance: every field with its rule, and what they make together.
`generate`
    Random queues with robots that are switched: instances of kind "threshold".
`kind`
    Kind "threshold" as one value: what `optmodels list threshold` tells, and where the rest is found.
`mip`
    The integer program of thresholds: how much of the time is spent where, and which mode runs at which level.
`occupation`
    What the integer program of a threshold queue is written from: moves, yields, and how often each level can be seen.
`optimal_policy`
    The best policy there is: strategy `optimal-policy` for kind "threshold".
`plots`
    The picture of a threshold problem: its cost landscape, what a policy does at each level, and how long pages
    stay.
`policy_pairs`
    Policies by level, arrival phase and service phase: a table of any policy, and good ones found on these pairs
    alone.
`policy_plots`
    The picture of a policy that sees the state: robots by number of pages and phases, and how often each is in
    force.
`problem`
    When to switch crawler robots on and off: kind "threshold".
`simulation`
    Policies of a threshold queue, tried out event by event.
`sojourn`
    How long pages stay in a threshold queue: quantiles for results, and a panel for pictures.
`space`
    Threshold vectors, the steps between policies that are alike, and policies that see more than the level.
`subsets`
    The best thresholds of every sub-set of modes: the rows of Tables 1 and 5 of Avrachenkov et al. (2011).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
