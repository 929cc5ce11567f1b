from .cluster_passes import cluster as cluster
from .cluster_passes import on_cluster as on_cluster
from .columns import HOST as HOST
from .columns import LABEL as LABEL
from .columns import RATE as RATE
from .columns import WEIGHT as WEIGHT
from .engine import in_order as in_order
from .pages import PageTable as PageTable
from .pages import open_pages as open_pages
from .pricing import price_table as price_table
from .problem import LargeFreshnessProblem as LargeFreshnessProblem
from .streaming import allocate_pages as allocate_pages
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
