"""Reports: a comparison as one HTML file, for screens, phones and paper, that asks no other host for anything.

>>> from optmodels import compare
>>> from optmodels.reporting import report_html
>>> page = report_html(compare("gautam-2x3", ["exhaustive", "dejavu"]))
>>> len(page) < 100_000
True

`charts`
    Line charts as data that a page draws as inline SVG.
`commands`
    The command ``report``: the report of folders that ``optmodels compare --out`` has written.
`figures`
    Which charts there are: profiles, ECDF, anytime curves.
`page`
    The page: what is told in words, its sections, and the file. Beside it are its template, style and script.
`pictures`
    Pictures of instances and their best answers, as parts of a page.
`tables`
    The tables: strategies, pairs of them, strategies on instances, runs.
`writing`
    How names, numbers and sentences are written.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
