"""Comparing like a referee: what runs were worth at every moment, who was better, and how sure that is.

Pure functions on arrays: nothing is read or written here, and lower values are better throughout. `judge` computes all
of it for the runs of a comparison.

`anytime`
    Step curves of runs, primal and primal-dual integrals, times to targets, expected running time, ECDF.
`distributions`
    Shares of cases by what they took: the steps of which ECDF and profiles are made.
`intervals`
    Bootstrap intervals of medians, over seeds within instances.
`pairs`
    Wilcoxon signed-rank tests of every two strategies, Holm's correction, effects.
`profiles`
    Performance profiles (Dolan and Moré 2002) and data profiles (Moré and Wild 2009).
`ranks`
    Mean ranks, the Friedman test, and critical differences.
`referee`
    `judge`: all of it for the runs of a comparison.
`references`
    What gaps are measured from: the best value known of a problem, and whether it is proved.
`scores`
    What is told of a strategy on a problem, on all problems, and of all strategies together.
`sentences`
    The same in words, which claim no more than the tests support.
`tables`
    Statistics as a table of strategies with sentences below it, and as JSON.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
