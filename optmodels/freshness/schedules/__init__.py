"""Orders of visits: strategies, what crawlers ship, and tables of next visits.

`adaptive`
    What crawlers ship: intervals that are divided when a page has changed and multiplied when it has not.
`cycle_frequencies`
    Frequencies that a cycle can hold: a page is visited once in the cycle or more often, or not at all.
`refusals`
    Sentences of strategies that cannot do what a problem asks of visits.
`strategies`
    The strategies `whittle`, `greedy`, `regular`, `golden-ratio`, `power-of-two`, `randomized`, `uniform` and
    `proportional`: draws at random, cycles by several rules, and what crawlers do without a model.
`visits`
    When pages are visited next: a table for a crawler, as CSV or Parquet.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
