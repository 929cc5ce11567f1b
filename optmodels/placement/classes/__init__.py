"""Where to put sites for several classes of clients: section 7.2 of Gautam (2002).

`data`
    Classes of clients in a file, and which fields stand beside which.
`priorities`
    Where to put sites for classes of clients, of which some go first.
`problem`
    Where to put sites for several classes of clients, as a problem.
`service`
    Whether a site serves every class well enough, and how many clients are too many.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
