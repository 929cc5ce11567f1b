"""Pictures of problems, queues and runs.

`canvas`
    What all pictures share: one style, figures without a window, plain texts, files that are whole or not there.
`panels`
    What panels share: titles and legends that hide nothing, ticks in plain numbers, headings that tell what is known.
`problems`
    Pictures of problems and answers; matplotlib is needed only when one is drawn.
`queues`
    Pictures of queues.
`rows`
    What pictures of runs share: rows of comparisons, what they are called, and what their marks mean.
`runs`
    Pictures of runs: gaps of strategies, answers along a parameter.
`traces`
    Pictures of runs over time: the best objective so far, the bound, and the best known.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
