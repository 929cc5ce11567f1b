from .commands import main as main

__all__ = [
    "main",
]
