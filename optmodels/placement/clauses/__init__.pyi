from .counter import Counter as Counter
from .refutation import Limited as Limited
from .refutation import Refutation as Refutation
from .strategy import Clauses as Clauses

__all__ = ["Clauses", "Counter", "Limited", "Refutation"]
