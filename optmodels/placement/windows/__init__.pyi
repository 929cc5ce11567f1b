from .walk import PlacementWindows as PlacementWindows
from .walk import refusal as refusal
from .walk import windows_of as windows_of

__all__ = [
    "PlacementWindows",
    "refusal",
    "windows_of",
]
