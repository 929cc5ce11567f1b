from .shares import LONGEST_TUPLE as LONGEST_TUPLE
from .shares import TOTAL_TOLERANCE as TOTAL_TOLERANCE
from .shares import Simplex as Simplex
from .shares import Splits as Splits
from .vectors import BinaryVectors as BinaryVectors
from .vectors import IntegerBox as IntegerBox
from .vectors import Integers as Integers
from .vectors import OrderedIntegers as OrderedIntegers
from .vectors import Policies as Policies
from .vectors import Vectors as Vectors
from .vectors import flattened as flattened
from .words import Words as Words

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
    "Vectors",
    "Words",
    "flattened",
]
