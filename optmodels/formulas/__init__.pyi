from .expression import Expression as Expression

__all__ = ["Expression"]
