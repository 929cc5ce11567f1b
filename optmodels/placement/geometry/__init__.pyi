from .by_site import PerSite as PerSite
from .by_site import entries as entries
from .by_site import given_at as given_at
from .by_site import nested as nested
from .distances import DistanceMatrix as DistanceMatrix
from .distances import Geometry as Geometry
from .distances import dense_ranks as dense_ranks
from .distances import read_matrix as read_matrix
from .fixed import FixedField as FixedField
from .fixed import fixed_sites as fixed_sites

__all__ = [
    "DistanceMatrix",
    "FixedField",
    "Geometry",
    "PerSite",
    "dense_ranks",
    "entries",
    "fixed_sites",
    "given_at",
    "nested",
    "read_matrix",
]
