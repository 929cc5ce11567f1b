from .allocation import Allocation as Allocation
from .allocation import allocate as allocate
from .allocation import allocate_randomized as allocate_randomized
from .large import Histogram as Histogram
from .large import PassSums as PassSums
from .large import PricedPages as PricedPages
from .large import frequencies_at as frequencies_at
from .large import histogram_of as histogram_of
from .large import objective_pass as objective_pass
from .large import price_pages as price_pages
from .page_traits import PageError as PageError
from .page_traits import Traits as Traits
from .page_traits import refuse_extremes as refuse_extremes
from .page_traits import traits as traits
from .prices import best_frequency as best_frequency
from .staleness import cost as cost
from .staleness import even_cost as even_cost
from .staleness import even_obsolescence as even_obsolescence
from .staleness import integer_bound as integer_bound
from .staleness import integer_obsolescence as integer_obsolescence
from .staleness import randomized_obsolescence as randomized_obsolescence
from .staleness import schedule_gaps as schedule_gaps
from .staleness import schedule_obsolescence as schedule_obsolescence

__all__ = [
    "Allocation",
    "Histogram",
    "PageError",
    "PassSums",
    "PricedPages",
    "Traits",
    "allocate",
    "allocate_randomized",
    "best_frequency",
    "cost",
    "even_cost",
    "even_obsolescence",
    "frequencies_at",
    "histogram_of",
    "integer_bound",
    "integer_obsolescence",
    "objective_pass",
    "price_pages",
    "randomized_obsolescence",
    "refuse_extremes",
    "schedule_gaps",
    "schedule_obsolescence",
    "traits",
]
