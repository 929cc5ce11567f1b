from .beginning import begin as begin
from .model import build as build
from .model import deciding as deciding
from .model import read as read
from .model import start as start
from .plan import refuses as refuses

__all__ = [
    "begin",
    "build",
    "deciding",
    "read",
    "refuses",
    "start",
]
