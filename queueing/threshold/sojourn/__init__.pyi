from .distribution import SojournLaw as SojournLaw
from .distribution import SojournTimes as SojournTimes
from .distribution import sojourn_times as sojourn_times
from .transient import PageClock as PageClock

__all__ = [
    "PageClock",
    "SojournLaw",
    "SojournTimes",
    "sojourn_times",
]
