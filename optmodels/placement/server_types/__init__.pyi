from .data import ServerType as ServerType
from .problem import TypePlacement as TypePlacement

__all__ = ["ServerType", "TypePlacement"]
