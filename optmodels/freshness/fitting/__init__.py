"""Change rates of pages from the log of a crawler.

`estimate`
    From a crawl log to change rates: estimated, summed up, and written as a table of pages or an instance.
`log`
    Crawl logs: which page was visited when, and whether it had changed.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
