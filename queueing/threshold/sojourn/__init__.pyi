from .law import SojournLaw as SojournLaw
from .law import SojournTimes as SojournTimes
from .law import sojourn_times as sojourn_times
from .transient import PageClock as PageClock

__all__ = [
    "PageClock",
    "SojournLaw",
    "SojournTimes",
    "sojourn_times",
]
