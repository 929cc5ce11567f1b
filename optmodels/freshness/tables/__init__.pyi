from .engine import cluster as cluster
from .engine import in_order as in_order
from .engine import on_cluster as on_cluster
from .pages import HOST as HOST
from .pages import LABEL as LABEL
from .pages import RATE as RATE
from .pages import WEIGHT as WEIGHT
from .pages import PageTable as PageTable
from .pages import open_pages as open_pages
from .problem import LargeFreshnessProblem as LargeFreshnessProblem
from .streaming import allocate_pages as allocate_pages
from .streaming import price_table as price_table
from .streaming import write_frequencies as write_frequencies

__all__ = [
    "HOST",
    "LABEL",
    "RATE",
    "WEIGHT",
    "LargeFreshnessProblem",
    "PageTable",
    "allocate_pages",
    "cluster",
    "in_order",
    "on_cluster",
    "open_pages",
    "price_table",
    "write_frequencies",
]
