"""Pictures of problems, queues and runs.

`canvas`
    What all pictures share: figures without a window, plain texts, safe colours, files that are whole or not there.
`problems`
    Pictures of problems and answers; matplotlib is needed only when one is drawn.
`queues`
    Pictures of queues.
`runs`
    Pictures of runs: objectives over time, gaps of strategies, answers along a parameter.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
