from .counter import Counter as Counter
from .refutation import Refutation as Refutation
from .refutation import keeping as keeping
from .strategy import Clauses as Clauses

__all__ = ["Clauses", "Counter", "Refutation", "keeping"]
