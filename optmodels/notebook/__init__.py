"""What people see of answers beside files and the command line: frames of pandas, tables in HTML, progress.

Results and studies have these as methods (``to_frame``, ``_repr_html_``) and arguments (``progress=True``); the room is
opened when one of them is used.

`following`
    Progress of a run, or of many: a line on stderr, in a notebook one that is rewritten, and a picture that grows.
`frames`
    Results as tables of pandas, a row for each run.
`html`
    Results as HTML: a table, and the picture where matplotlib can draw it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
