"""Search strategies, and the contract between them and the problems they are asked about.

A problem evaluates decisions, an oracle asks it on behalf of a strategy, and the result is closed on the best decision
shown:

>>> from heuristics import Exhaustive, run
>>> from heuristics.testing import Separable
>>> print(run(Separable(), Exhaustive()).status)
optimal

`allocation`
    A budget shared among many: Lagrangian frequencies, marginal analysis.
`clock`
    The clock of runs, which stands still while code is compiled.
`dynamic`
    Markov decision processes: average and fractional costs, policy and value iteration.
`interrupting`
    Ctrl-C that neither breaks anything nor gets lost.
`multimodular`
    Local search on multimodular functions.
`oracle`
    The one door between a strategy and a problem.
`oracle_share`
    An oracle for one of several strategies that work for the same run.
`oracle_walk`
    Walks through decisions whose steps an oracle counts and pays for.
`protocols`
    What a strategy may ask of a problem, and what a problem says about one decision.
`result`
    What a run may spend, and what came of it.
`routing`
    Sequences of servers: minimum mean cycles, closed forms, balanced words, backward induction.
`running`
    One run: problem, strategy, budget and seed in, result out.
`search`
    Strategies that need little of a problem: exhaustive, annealing, local search, genetic.
`sequencing`
    Orders of visits: rules that turn frequencies into a schedule, slot by slot.
`siting`
    DEJAVU, the heuristic of Gautam (2002).
`spaces`
    Spaces of decisions.
`testing`
    Checks that any strategy must pass, and toy problems.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
