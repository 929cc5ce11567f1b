from .data import ClientClass as ClientClass
from .data import prioritised as prioritised
from .priorities import PriorityPlacement as PriorityPlacement
from .problem import ClassPlacement as ClassPlacement
from .service import ClassServers as ClassServers

__all__ = ["ClassPlacement", "ClassServers", "ClientClass", "PriorityPlacement", "prioritised"]
