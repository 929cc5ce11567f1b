from .splits import Splits as Splits
from .vectors import LONGEST_TUPLE as LONGEST_TUPLE
from .vectors import TOTAL_TOLERANCE as TOTAL_TOLERANCE
from .vectors import BinaryVectors as BinaryVectors
from .vectors import IntegerBox as IntegerBox
from .vectors import Integers as Integers
from .vectors import OrderedIntegers as OrderedIntegers
from .vectors import Policies as Policies
from .vectors import Simplex as Simplex
from .vectors import Words as Words

__all__ = [
    "LONGEST_TUPLE",
    "TOTAL_TOLERANCE",
    "BinaryVectors",
    "IntegerBox",
    "Integers",
    "OrderedIntegers",
    "Policies",
    "Simplex",
    "Splits",
    "Words",
]
