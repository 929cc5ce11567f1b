from .apportionment import FEWEST_SLOTS as FEWEST_SLOTS
from .apportionment import NEAR as NEAR
from .apportionment import SLOTS_FOR_EACH as SLOTS_FOR_EACH
from .apportionment import apportion as apportion
from .apportionment import cycle_length as cycle_length
from .apportionment import missing as missing
from .calendar import KEY as KEY
from .calendar import LEFT as LEFT
from .calendar import greedy_record as greedy_record
from .calendar import next_gap as next_gap
from .calendar import phases as phases
from .calendar import pop as pop
from .calendar import sink as sink
from .plan import VisitPlan as VisitPlan
from .plan import visits as visits
from .rules import SOME_PAGES as SOME_PAGES
from .rules import golden_ratio as golden_ratio
from .rules import greedy as greedy
from .rules import power_length as power_length
from .rules import power_of_two as power_of_two
from .rules import regular as regular
from .rules import tijdeman as tijdeman
from .rules import visit_distances as visit_distances
from .rules import whittle as whittle
from .whittle_index import cycle_gain as cycle_gain
from .words import fibonacci_below as fibonacci_below
from .words import golden_page as golden_page

__all__ = [
    "FEWEST_SLOTS",
    "KEY",
    "LEFT",
    "NEAR",
    "SLOTS_FOR_EACH",
    "SOME_PAGES",
    "VisitPlan",
    "apportion",
    "cycle_gain",
    "cycle_length",
    "fibonacci_below",
    "golden_page",
    "golden_ratio",
    "greedy",
    "greedy_record",
    "missing",
    "next_gap",
    "phases",
    "pop",
    "power_length",
    "power_of_two",
    "regular",
    "sink",
    "tijdeman",
    "visit_distances",
    "visits",
    "whittle",
]
