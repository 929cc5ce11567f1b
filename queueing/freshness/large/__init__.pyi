from .histogram import FEW as FEW
from .histogram import Histogram as Histogram
from .histogram import PricedPages as PricedPages
from .histogram import histogram_of as histogram_of
from .histogram import marginal_within as marginal_within
from .histogram import pages_between as pages_between
from .histogram import price_pages as price_pages
from .histogram import solved_nodes as solved_nodes
from .histogram import tied_pages as tied_pages
from .histogram import window_of as window_of
from .nodes import NEAR as NEAR
from .nodes import Nodes as Nodes
from .nodes import bin_of as bin_of
from .nodes import cost_at as cost_at
from .nodes import cut_out as cut_out
from .nodes import priced as priced
from .passes import Marginal as Marginal
from .passes import PassSums as PassSums
from .passes import added as added
from .passes import frequencies_at as frequencies_at
from .passes import objective_pass as objective_pass

__all__ = [
    "FEW",
    "NEAR",
    "Histogram",
    "Marginal",
    "Nodes",
    "PassSums",
    "PricedPages",
    "added",
    "bin_of",
    "cost_at",
    "cut_out",
    "frequencies_at",
    "histogram_of",
    "marginal_within",
    "objective_pass",
    "pages_between",
    "price_pages",
    "priced",
    "solved_nodes",
    "tied_pages",
    "window_of",
]
