"""Random demand: kind "placement" with the field ``scenarios``.

The demand is one of several, each with a probability, and sites keep their quality in scenarios of a given probability
(Gautam, 2002, section 8: "in future a demand distribution will be used").

`data`
    Scenarios of demand in a file: listed with their probabilities, or drawn from a law.
`measures`
    Measures over scenarios: the worst of some, the expectation of others.
`mending`
    Which scenarios are kept, which may be given up, and what it takes to keep enough of them.
`problem`
    Where to put sites for one of several demands, as a problem.
`reaching`
    When scenarios are probable enough.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
