from .data import ClientClass as ClientClass
from .problem import ClassPlacement as ClassPlacement
from .service import ClassServers as ClassServers

__all__ = ["ClassPlacement", "ClassServers", "ClientClass"]
